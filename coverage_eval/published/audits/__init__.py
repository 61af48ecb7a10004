"""One module for each audit; :mod:`coverage_eval.published.registry` names them."""
