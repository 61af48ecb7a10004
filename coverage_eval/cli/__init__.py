"""The command ``coverage-eval``: each of its commands parses, evaluates texts, and prints."""

from coverage_eval.cli.main import cli, main

__all__ = ["cli", "main"]
