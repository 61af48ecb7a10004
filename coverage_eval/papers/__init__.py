"""The two papers: what they print, and what they claim.

Bottom to top: ``printed`` (tables, figures and translations as data, and your own table beside
them), ``claims`` (claims, the facts that they rest on, verdicts), ``audit_tables`` and
``audit_figures``, and with ``problems`` (random problems and derivatives) ``audit_equations``,
``audit_report`` and ``audit_scripts``; ``audits`` has all by name. The experiments are in
``notebooks/reproduction``.
"""
