"""The two papers: what they print, what they claim, and their experiments run again.

Bottom to top: ``printed`` (tables, figures and translations as data), ``claims`` (claims, the facts
that they rest on, verdicts), ``audit_*`` (the audits), ``audits`` (all of them by name),
``user_scores`` (your own table beside the printed ones) and ``reproduction`` (the experiments).
"""
