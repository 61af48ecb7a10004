"""The two papers: what they print, and what they claim.

Bottom to top: ``printed`` (tables, figures and translations as data), ``claims`` (claims, the facts
that they rest on, verdicts), ``audit_tables`` (the audits), ``audits`` (all of them by name) and
``user_scores`` (your own table beside the printed ones). The experiments are in
``notebooks/reproduction``.
"""
