"""``python -m coverage_eval`` is the command ``coverage-eval``."""

import sys

from coverage_eval.cli import main

if __name__ == "__main__":
    sys.exit(main())
