"""Error spans of WMT's MQM annotation (Freitag et al., TACL 2021), one row a marked error.

The columns are ``system doc docSegId globalSegId rater source target category severity``, without
any quoting; the first years' files have ``doc_id seg_id`` for the third and fourth. An error's span
stands between ``<v>`` and ``</v>``: of omissions in the source, if it was kept, of other categories
in the target. A rater who found no error has one row of the severity ``no-error``. Several raters
may have marked the same translation; some changed its text on the way, in the files of newstest2020
in more than one row of ten, so a translation's text is that of most of its rows.
"""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from coverage_eval.data.files import CorpusWarning, Source, source_name
from coverage_eval.data.tables import Record, SystemTexts, bad_line, read_header, read_records
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError
from coverage_eval.meta.judgements import Judgement, Labels
from coverage_eval.meta.labels.marked_text import marked_words, without_marks

_COLUMNS = ("system", "rater", "source", "target", "category", "severity")
_SEGMENT = ("globalSegId", "seg_id")
_MARKS = ("<v>", "</v>")


def recognise(source: Source) -> bool:
    """Whether the header is that of WMT's files."""
    return has_columns(read_header(source))


def has_columns(names: Sequence[str]) -> bool:
    """Whether columns of these names make a file of WMT's."""
    return set(_COLUMNS) <= set(names) and any(name in names for name in _SEGMENT)


@dataclass
class _Marked:
    """A translation and what its rows say.

    Attributes:
        line: Its first row's.
        sources: The sources that rows of its segment have, of whatever system.
        targets: The targets that its rows have.
        raters: Whether each marked such an error.
        marks: Of each such error, the row's source and which of its characters are marked.
    """

    line: int
    sources: Counter[str]
    targets: Counter[str] = field(default_factory=Counter)
    raters: dict[str, bool] = field(default_factory=dict)
    marks: list[tuple[str, list[bool]]] = field(default_factory=list)

    def add(self, source: str, target: str, rater: str, marked: list[bool] | None) -> None:
        """Take up a row; ``marked`` tells that it is such an error, and where in the source."""
        self.sources[source] += 1
        self.targets[target] += 1
        self.raters[rater] = self.raters.get(rater, False) or marked is not None
        if marked is not None:
            self.marks.append((source, marked))

    @property
    def source(self) -> str:
        """The source of most rows."""
        return _most_common(self.sources)

    @property
    def target(self) -> str:
        """The target of most rows."""
        return _most_common(self.targets)

    def characters(self) -> list[bool] | None:
        """Which characters of the source are marked; None where a row marks another text."""
        source = self.source
        if any(text != source for text, _ in self.marks):
            return None
        marks = [inside for _, inside in self.marks]
        return [any(flags) for flags in zip([False] * len(source), *marks, strict=True)]


def _most_common(texts: Counter[str]) -> str:
    """Of equally many, the first."""
    return max(texts, key=texts.__getitem__)


def read(source: Source, kind: str, tokens: Tokenizer) -> Labels:
    """Read a file; errors are of a kind if their category or a part of it has that name.

    A translation is positive if any rater marked such an error, whatever its severity; its grade is
    the share of its raters who did.

    Args:
        source: The file.
        kind: Such as ``omission``, of ``Accuracy/Omission``, or ``accuracy``.
        tokens: What cuts sources into words, to find the marked ones.

    Raises:
        DataError: Another header, unbalanced marks, or no error of that kind.
    """
    categories: Counter[str] = Counter()

    def is_meant(row: Record) -> bool:
        is_error = row["severity"].strip().lower() != "no-error"
        categories[row["category"]] += is_error
        return is_error and _is_of(kind, row["category"])

    translations = _read_rows(source, is_meant)
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
    translations = _read_rows(source, lambda _: False)
    found = SystemTexts(source, ("source",))
    for (system, segment), item in translations.items():
        found.add(f"line {item.line}", system, str(segment), item.target, (item.source,))
    return found


def _is_of(kind: str, category: str) -> bool:
    whole = category.strip().lower()
    return kind.lower() in {whole, *(part.strip() for part in whole.split("/"))}


def _read_rows(
    source: Source, is_meant: Callable[[Record], bool]
) -> dict[tuple[str, int], _Marked]:
    """What the rows say of each translation, by system and segment."""
    translations: dict[tuple[str, int], _Marked] = {}
    sources: dict[int, Counter[str]] = defaultdict(Counter)
    for line, row in read_records(source, _COLUMNS):
        try:
            segment = int(next(row[name] for name in _SEGMENT if name in row))
            text, inside = without_marks(row["source"], *_MARKS)
            target, _ = without_marks(row["target"], *_MARKS)
        except StopIteration:
            raise bad_line(source, 1, f"no column {' or '.join(_SEGMENT)}") from None
        except (ValueError, DataError) as error:
            raise bad_line(source, line, error) from None
        new = _Marked(line, sources[segment])
        translations.setdefault((row["system"], segment), new).add(
            text, target, row["rater"], inside if is_meant(row) else None
        )
    _warn_of_changed(source, list(translations.values()))
    return translations


def _warn_of_changed(source: Source, translations: Sequence[_Marked]) -> None:
    changed = [item.line for item in translations if len(item.sources) > 1 or len(item.targets) > 1]
    if changed:
        message = (
            f"{source_name(source)}: raters changed the source or the translation of "
            f"{len(changed):,} of {len(translations):,} translations (the first: line "
            f"{changed[0]}); the texts of most rows are used"
        )
        warnings.warn(message, CorpusWarning, stacklevel=4)


def _judgement(key: tuple[str, int], marked: _Marked, tokens: Tokenizer) -> Judgement:
    system, segment = key
    share = sum(marked.raters.values()) / len(marked.raters)
    inside = marked.characters()
    words = None if inside is None else marked_words(marked.source, inside, tokens)
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
