"""What users are told of their input: errors, warnings and findings, each message in one line.

Library code raises these, and only :mod:`coverage_eval.cli` turns them into exit codes. The word
aligner raises ``fast_align_wrapper.AlignerError``.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import IntEnum
from numbers import Integral
from typing import NamedTuple


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


class SegmentError(DataError):
    """A segment that a metric cannot count; the loop that counts adds the text and the line.

    Args:
        message: Why, and what to do.
        row: The segment's row in its batch.
        system: The number of its system, counted from 0.
    """

    def __init__(self, message: str, row: int, system: int) -> None:
        super().__init__(message, row, system)  # all of them, for it comes from other processes
        self.message, self.row, self.system = message, row, system

    def __str__(self) -> str:
        return self.message


class UnequalLinesError(DataError):
    """Texts whose lines should belong together have unequal numbers of lines.

    The message names the texts that differ from most, and the first one of those.

    Args:
        counts: The name of each text in messages, and its number of lines.
        cause: Why the numbers are unequal, with what to do, if that is known.
    """

    def __init__(self, counts: Sequence[tuple[str, int]], cause: str = "") -> None:
        ((usual, _),) = Counter(number for _, number in counts).most_common(1)
        first = next(index for index, (_, number) in enumerate(counts) if number == usual)
        listed = ", ".join(
            f"{name} has {number}"
            for index, (name, number) in enumerate(counts)
            if number != usual or index == first
        )
        advice = cause or "line N of one file must belong to line N of the other"
        super().__init__(f"unequal numbers of lines: {listed}; {advice}")
        self.is_explained = bool(cause)


class MissingDependencyError(CoverageEvalError, ImportError):
    """A package or program that a feature needs is not installed; the message names the command."""


class CorpusWarning(UserWarning):
    """A text was repaired on reading, or looks wrong; the message names it."""


class ReadingNote(UserWarning):
    """A text was read in a way that is worth knowing, but nothing is wrong with it."""


class Severity(IntEnum):
    """How much a finding matters, the most serious first."""

    FATAL = 0
    """The score means nothing: the command ends with an error."""
    WARNING = 1
    """The score may mislead: a warning."""
    NOTE = 2
    """Something to know when reading the score."""


class Finding(NamedTuple):
    """Something in the input that is probably a mistake, or that readers of scores must know.

    Attributes:
        message: One line: the texts, what was seen, with figures, and what to do.
        severity: How much it matters.
        texts: The names of the texts; empty if it is about all of them.
        kind: What was found, such as ``blank``; empty if no other finding suppresses it. A note
            without a kind is not printed on standard error.
        labels: What was seen in each of the texts; empty if the message is about them together.
        advice: The end of the message: what to do.
        suppresses: Kinds of findings that have the same cause in the same text.
        sample: Segments of the sample in which it was found, if the text is larger; else 0.
    """

    message: str
    severity: Severity = Severity.WARNING
    texts: tuple[str, ...] = ()
    kind: str = ""
    labels: tuple[str, ...] = ()
    advice: str = ""
    suppresses: frozenset[str] = frozenset()
    sample: int = 0

    @classmethod
    def of_text(
        cls,
        text: str,
        label: str,
        advice: str,
        kind: str = "",
        severity: Severity = Severity.WARNING,
        suppresses: Iterable[str] = (),
    ) -> Finding:
        """A finding in one text.

        Args:
            text: The name of the text; empty for all texts.
            label: What was seen in it.
            advice: What to do.
            kind: What was found, if another finding may suppress it.
            severity: How much it matters.
            suppresses: As the attribute.
        """
        message = f"{text}: {label}; {advice}" if text else f"{label}; {advice}"
        texts, labels = ((text,), (label,)) if text else ((), ())
        return cls(message, severity, texts, kind, labels, advice, frozenset(suppresses))


def warn_of(findings: Iterable[Finding], stacklevel: int = 2) -> None:
    """Issue a Python warning for each finding that is not a note.

    Args:
        findings: The findings.
        stacklevel: As in :func:`warnings.warn`, counted from the caller.
    """
    for finding in findings:
        if finding.severity < Severity.NOTE:
            warnings.warn(finding.message, CorpusWarning, stacklevel=stacklevel + 1)


# What settings may be


def check_encodable(texts: Iterable[str], what: str) -> None:
    """Raise if a text has half a character (a lone surrogate), which no file or picture can show.

    Python makes them of names of files and strings of JSON that are not valid Unicode.

    Args:
        texts: The texts.
        what: What they are, for the message.

    Raises:
        DataError: One of them has.
    """
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:  # noqa: PERF203 (names the text)
            shown = text.encode("ascii", "backslashreplace").decode()
            raise DataError(
                f"{what}: {shown:.60} has half a character at {error.start + 1}, which is not "
                "valid Unicode"
            ) from None


def require_flag(name: str, value: object) -> None:
    """Raise unless a setting is True or False: a string such as ``no`` would turn it on.

    Raises:
        TypeError: It is something else.
    """
    if not isinstance(value, bool):
        raise TypeError(f"{name} is True or False, not {value!r}")


def require_integer(name: str, value: object, minimum: int, maximum: int | None = None) -> None:
    """Raise unless a setting is a whole number within its range.

    Raises:
        TypeError: It is not a whole number.
        ValueError: It is below ``minimum`` or above ``maximum``.
    """
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if int(value) < minimum or (maximum is not None and int(value) > maximum):
        allowed = f"at least {minimum}" if maximum is None else f"from {minimum} to {maximum:,}"
        raise ValueError(f"{name} must be {allowed}, not {value}")
