"""The two papers: what they print, and what they claim.

Bottom to top: ``printed`` (tables, figures and translations as data, and your own table beside
them), ``claims`` (claims, the facts that they rest on, verdicts) and ``audit_tables`` (the audits,
also by name). The experiments are in ``notebooks/reproduction``.
"""
