"""``python -m coverage_eval`` is the command ``coverage-eval``."""

from coverage_eval.cli import main

if __name__ == "__main__":
    main()
