"""What is known of the errors of translations, whoever marked them or put them in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Judgement:
    """A translation and what is known of its errors of one kind.

    Attributes:
        segment: Number of its segment in the system's output, from 1.
        system: Name of the system; empty where there is only one.
        positive: Whether it has such an error.
        grade: How bad it is, in the labels' own unit; 0 without an error.
        raters: Whether each rater marked such an error; empty if they are not known.
        source: What tells its source from others: translations of one source share it.
        source_text: The source segment; None if the labels do not have it.
        target_text: The translation; None likewise.
        words: Positions of the source words concerned, from 0; None if they are not known.
        source_words: Number of words of the source; None if it is not known.
        line: The line of the file that says so, for messages; 0 if none does.
    """

    segment: int
    positive: bool
    grade: float
    system: str = ""
    raters: tuple[bool, ...] = ()
    source: object = None
    source_text: str | None = None
    target_text: str | None = None
    words: frozenset[int] | None = None
    source_words: int | None = None
    line: int = 0

    @property
    def key(self) -> tuple[str, int]:
        """System and segment, which name the translation."""
        return self.system, self.segment


@dataclass(frozen=True)
class Labels:
    """Judgements from one file.

    Attributes:
        name: The file's name, for messages.
        judgements: One a translation, in the order of the file.
        complete: Whether a segment that is not listed was not looked at. Otherwise it has no error,
            as in gold files of injected errors.
        grade: What the grades are, for people.
    """

    name: str
    judgements: tuple[Judgement, ...]
    complete: bool = True
    grade: str = "label"

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, in the order of the file."""
        return tuple(dict.fromkeys(item.system for item in self.judgements))
