"""One module for each audit; :mod:`coverage_eval.published.catalogue` names them."""
