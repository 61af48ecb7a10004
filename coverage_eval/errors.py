"""The errors that a user can cause; each message can be printed unchanged.

Library code raises these, and only :mod:`coverage_eval.cli` turns them into exit codes. The word
aligner has its own: :class:`AlignerError`.
"""

from __future__ import annotations

from numbers import Integral

from fast_align_wrapper.errors import AlignerError

__all__ = [
    "AlignerError",
    "CoverageEvalError",
    "DataError",
    "MissingDependencyError",
    "require_integer",
]


class CoverageEvalError(Exception):
    """Base of all errors that this package raises on purpose.

    >>> import coverage_eval as ce
    >>> try:
    ...     ce.rep(["a house", "a dog"], ["a house"])
    ... except ce.CoverageEvalError as error:
    ...     print(error)
    unequal numbers of segments: the hypothesis has 2, the reference has 1

    The message is one line: what is wrong, in which file and line, and what to do.
    """


class DataError(CoverageEvalError, ValueError):
    """Input that cannot be scored: unequal files, invalid text, links out of range.

    >>> import coverage_eval as ce
    >>> try:
    ...     list(ce.read_segments("no-such-file"))
    ... except ce.DataError as error:
    ...     print(error)
    no-such-file: no such file
    """


class MissingDependencyError(CoverageEvalError, ImportError):
    """A package or program that a feature needs is not installed; the message names the command."""


def require_integer(name: str, value: object, least: int, most: int | None = None) -> None:
    """Raise unless a setting is a whole number within its range.

    Raises:
        TypeError: It is not a whole number.
        ValueError: It is below ``least`` or above ``most``.
    """
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if int(value) < least or (most is not None and int(value) > most):
        allowed = f"at least {least}" if most is None else f"from {least} to {most:,}"
        raise ValueError(f"{name} must be {allowed}, not {value}")
