"""The command ``coverage-eval``: each command parses, calls one library function, and prints."""

from coverage_eval.cli.main import cli, main

__all__ = ["cli", "main"]
