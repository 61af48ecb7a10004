"""coverage-eval: finds and explains coverage errors in machine translation."""

__version__ = "0.1.0"
