"""The errors that a user can cause, each with a message fit to be printed as it is.

Library code raises these; only :mod:`coverage_eval.cli` turns them into exit codes. The word
aligner has a family of its own, of which :class:`AlignerError` is the base.
"""

from fast_align_wrapper.errors import AlignerError

__all__ = ["AlignerError", "CoverageEvalError", "DataError", "MissingDependencyError"]


class CoverageEvalError(Exception):
    """Base of all errors that this package raises on purpose.

    The message is one line for a person: what is wrong, in which file and line, what to do.
    """


class DataError(CoverageEvalError, ValueError):
    """Input that cannot be scored: unequal files, invalid text, links out of range."""


class MissingDependencyError(CoverageEvalError, ImportError):
    """A package or program that a feature needs is not installed; the message names the command."""
