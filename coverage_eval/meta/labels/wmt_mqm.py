"""Error spans of WMT's MQM annotation (Freitag et al., TACL 2021), one row a marked error.

The columns are ``system doc docSegId globalSegId rater source target category severity``, without
any quoting. An error's span stands between ``<v>`` and ``</v>``: of omissions in the source, of
other categories in the target. A rater who found no error has one row of the severity
``no-error``. Several raters may have marked the same translation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from coverage_eval.errors import DataError
from coverage_eval.meta.judgements import Judgement, Labels
from coverage_eval.meta.labels.marked_text import marked_words, without_marks
from coverage_eval.text.by_system import SystemRow, SystemTexts
from coverage_eval.text.corpus import Source, source_name
from coverage_eval.text.delimited import Record, bad_line, read_header, read_records
from coverage_eval.text.tokenizers import Tokenizer

__all__ = ["read", "read_translations", "recognise"]

_COLUMNS = ("system", "globalSegId", "rater", "source", "target", "category", "severity")
_MARKS = ("<v>", "</v>")


def recognise(source: Source) -> bool:
    """Whether the header is that of WMT's files."""
    return has_columns(read_header(source))


def has_columns(names: Sequence[str]) -> bool:
    """Whether columns of these names make a file of WMT's."""
    return set(_COLUMNS) <= set(names)


@dataclass
class _Marked:
    """A translation while its rows are read."""

    line: int
    source: str
    target: str
    raters: dict[str, bool] = field(default_factory=dict)
    characters: list[bool] = field(default_factory=list)

    def mark(self, inside: Sequence[bool]) -> None:
        self.characters = [a or b for a, b in zip(self.characters, inside, strict=True)]


def read(source: Source, kind: str, tokens: Tokenizer) -> Labels:
    """Read a file; errors are of a kind if their category or a part of it has that name.

    A translation is positive if any rater marked such an error, whatever its severity; its grade is
    the share of its raters who did.

    Args:
        source: The file.
        kind: Such as ``omission``, of ``Accuracy/Omission``, or ``accuracy``.
        tokens: What cuts sources into words, to find the marked ones.

    Raises:
        DataError: Another header, unbalanced marks, two sources or targets of one translation, or
            no error of that kind.
    """
    translations: dict[tuple[str, int], _Marked] = {}
    categories: dict[str, int] = defaultdict(int)
    for line, row in read_records(source, _COLUMNS):
        is_error = row["severity"].strip().lower() != "no-error"
        is_meant = is_error and _is_of(kind, row["category"])
        categories[row["category"]] += is_error
        _add(translations, source, line, row, is_meant=is_meant)
    if not any(any(item.raters.values()) for item in translations.values()):
        seen = ", ".join(sorted(name for name, count in categories.items() if count))
        raise DataError(
            f"{source_name(source)}: no error of the kind {kind!r}; its categories are: {seen}"
        )
    judgements = tuple(_judgement(*item, tokens) for item in translations.items())
    return Labels(source_name(source), judgements, grade="share of the raters who marked it")


def read_translations(source: Source) -> SystemTexts:
    """The translations that a file is about, with their sources, each once and without marks.

    Raises:
        DataError: As :func:`read`, but for kinds of errors.
    """
    translations: dict[tuple[str, int], _Marked] = {}
    for line, row in read_records(source, _COLUMNS):
        _add(translations, source, line, row, is_meant=False)
    found = SystemTexts(source, ("source",))
    for (system, segment), item in translations.items():
        place = f"line {item.line}"
        found.add(SystemRow(place, system, str(segment), item.target, (item.source,)))
    return found


def _is_of(kind: str, category: str) -> bool:
    whole = category.strip().lower()
    return kind.lower() in {whole, *(part.strip() for part in whole.split("/"))}


def _add(
    translations: dict[tuple[str, int], _Marked],
    source: Source,
    line: int,
    row: Record,
    *,
    is_meant: bool,
) -> None:
    """Take up one row."""
    try:
        segment = int(row["globalSegId"])
        text, inside = without_marks(row["source"], *_MARKS)
        target, _ = without_marks(row["target"], *_MARKS)
    except (ValueError, DataError) as error:
        raise bad_line(source, line, error) from None
    key = row["system"], segment
    found = translations.setdefault(key, _Marked(line, text, target, {}, [False] * len(text)))
    if (found.source, found.target) != (text, target):
        said = f"another text of {key[0]}, segment {segment}, than in line {found.line}"
        raise bad_line(source, line, said)
    found.raters[row["rater"]] = found.raters.get(row["rater"], False) or is_meant
    if is_meant:
        found.mark(inside)


def _judgement(key: tuple[str, int], marked: _Marked, tokens: Tokenizer) -> Judgement:
    system, segment = key
    share = sum(marked.raters.values()) / len(marked.raters)
    words = marked_words(marked.source, marked.characters, tokens)
    # An error without a span in the source says nothing about its words.
    known = words if words and bool(words[0]) == (share > 0) else None
    return Judgement(
        segment,
        share > 0,
        share,
        system,
        tuple(marked.raters.values()),
        source=segment,
        source_text=marked.source,
        target_text=marked.target,
        words=known and known[0],
        source_words=known and known[1],
        line=marked.line,
    )
