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


class UnequalLinesError(DataError):
    """Texts whose lines should belong together have unequal numbers of lines.

    The message names the texts that differ from most, and the first one of those.

    Args:
        counts: The name of each text in messages, and its number of lines.
        advice: What to do.
    """

    def __init__(self, counts: Sequence[tuple[str, int]], advice: str) -> None:
        ((usual, _),) = Counter(number for _, number in counts).most_common(1)
        first = next(index for index, (_, number) in enumerate(counts) if number == usual)
        listed = ", ".join(
            f"{name} has {number}"
            for index, (name, number) in enumerate(counts)
            if number != usual or index == first
        )
        super().__init__(f"unequal numbers of lines: {listed}; {advice}")
        self.counts = dict(counts)


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
    UNUSABLE = 1
    """The low scores of one text mean nothing: a warning, and it is never the best."""
    WARNING = 2
    """The score may mislead: a warning."""
    NOTE = 3
    """Something to know when reading the score."""


class CheckId(IntEnum):
    """What checks find. Findings are sorted by this number, and one may explain only later ones.

    Findings of whole outputs and systems (:attr:`EMPTY`, :attr:`OUTLIER`), and those without an
    id, come first, in the order in which they were found.
    """

    EMPTY = -1
    OUTLIER = 0
    SUBWORDS = 1
    UNSEGMENTED = 2
    OTHER_TOKENS = 3
    UNTOKENISED = 4
    CHARACTERS = 5
    SAME_AS_REFERENCE = 6
    EQUAL = 7
    COPY = 8
    SWAPPED_SIDES = 9
    CASE = 10
    WRONG_MODEL = 11
    FOREIGN_OUTPUT = 12
    UNKNOWN_WORDS = 13
    SMALL_MODEL = 14
    NO_LINKS = 15
    SAYS_LITTLE = 16
    BLANK = 17
    OTHER_WORDS = 18
    SHIFTED = 19
    REORDERED = 20
    OUT_OF_STEP = 21
    TOKENISED = 22


class Finding(NamedTuple):
    """Something in the input that is probably a mistake, or that readers of scores must know.

    Attributes:
        message: One line: the texts, what was seen, with figures, and what to do.
        severity: How much it matters.
        texts: The names of the texts; empty if it is about all of them.
        check: What was looked for; None if nobody asks.
        labels: What was seen in each of the texts; empty if the message is about them together.
        advice: The end of the message: what to do.
        explains: What checks find for the same reason in the same text, so that it is left out.
    """

    message: str
    severity: Severity = Severity.WARNING
    texts: tuple[str, ...] = ()
    check: CheckId | None = None
    labels: tuple[str, ...] = ()
    advice: str = ""
    explains: frozenset[CheckId] = frozenset()

    @classmethod
    def of_text(
        cls,
        text: str,
        label: str,
        advice: str,
        check: CheckId | None = None,
        severity: Severity = Severity.WARNING,
        explains: Iterable[CheckId] = (),
    ) -> Finding:
        """A finding in one text.

        Args:
            text: The name of the text; empty for all texts.
            label: What was seen in it.
            advice: What to do.
            check: What was looked for, if it may be explained by another finding.
            severity: How much it matters.
            explains: As the attribute.
        """
        message = f"{text}: {label}; {advice}" if text else f"{label}; {advice}"
        texts, labels = ((text,), (label,)) if text else ((), ())
        return cls(message, severity, texts, check, labels, advice, frozenset(explains))


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
