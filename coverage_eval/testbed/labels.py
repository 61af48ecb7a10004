"""Labels of translation errors, in any of five formats.

**Plain labels** are a TSV file with the column ``label`` (or the name of the kind of error, such as
``omission``): 0 for no error, above 0 for an error, higher for a worse one. These columns are
optional: ``segment`` (from 1; by default the rows are numbered), ``system``, ``source`` (a name for
the source sentence; by default the segment), ``words`` (the source words concerned, counted from 1,
such as ``3 4 9``, or ``?`` if nobody told them) and ``raters`` (the verdict of each rater, such as
``1 0 1``). A file without a header has one label per line.

**WMT's MQM annotation** (Freitag et al., TACL 2021) has one row for each marked error, with the
columns ``system doc docSegId globalSegId rater source target category severity`` and without
quoting; the files of the first years have ``doc_id seg_id`` as third and fourth column. ``<v>`` and
``</v>`` mark the error: an omission in the source, if the annotators kept it, any other error in
the target. A rater who found no error has one row with the severity ``no-error``. A translation may
have several raters. Some of them changed its text by mistake (in newstest2020 in more than one row
of ten), so the text that most rows have is used. The kind ``any`` pools all errors by MQM's
weights: major and critical 5, minor 1, minor punctuation 0.1, non-translation 25; a translation's
grade is their sum, averaged over its raters.

**Human scores** of the WMT metrics task (``en-de.mqm.seg.score``) have a line ``SYSTEM SCORE`` for
each segment of each system, higher for better, or ``None`` if nobody judged it. The grade is the
distance from the best score, which is 0 in MQM; every score below the best counts as an error.

**HalOmi** (Dale et al., EMNLP 2023) has degrees of omission and hallucination, and their spans, in
the columns ``src_lang tgt_lang src_text mt_text omit_spans hall_spans class_hall class_omit``,
quoted as by pandas. ``<<<`` and ``>>>`` mark an omission in the source. A degree is a number from 1
or a name that begins with it, from ``1_No_omission`` to ``4_Full_omission``. If a file has the
column ``perturbation``, only rows with the value ``natural`` are read, as the authors recommend.

**Gold files** from ``coverage-eval inject`` list the injected errors.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coverage_eval.data.files import Source, read_segments, source_name, write_lines
from coverage_eval.data.mqm import (
    Key,
    has_mqm_columns,
    marked_words,
    mqm_weight,
    read_mqm_rows,
    without_marks,
)
from coverage_eval.data.tables import Record, bad_line, read_header, read_records
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.data.wmt import is_score_line, read_score_file
from coverage_eval.errors import DataError
from coverage_eval.testbed.gold_errors import GoldError, read_gold_errors

_HALOMI_COLUMNS = ("src_lang", "tgt_lang", "src_text", "mt_text", "omit_spans", "hall_spans")
_HALOMI_DEGREES = {"omission": "class_omit", "hallucination": "class_hall"}
UNKNOWN_WORDS = "?"
"""In the column ``words`` of plain labels: nobody said which words are concerned."""

ANY = "any"
"""The kind of all errors together."""
_FAMILY = {"early-stop": "omission"}
"""Injected kind → the kind that it belongs to, if its name does not begin with that."""


MAX_WORDS = 1 << 20
"""More than any segment has."""


@dataclass(frozen=True)
class Judgement:
    """A translation and its errors of one kind.

    Attributes:
        segment: Number of its segment in the system's output, from 1.
        positive: Whether it has such an error.
        grade: How bad the error is, in the labels' unit; 0 without an error.
        system: Name of the system; empty if there is only one.
        raters: Whether each rater marked such an error; empty if unknown.
        source: Identifies the source sentence: translations of one source share it.
        source_text: The source segment; None if the labels do not contain it.
        target_text: The translation; None if the labels do not contain it.
        words: Positions of the source words concerned, from 0; None if unknown.
        source_words: Number of words of the source; None if unknown.
        line: Line of the file, for messages; 0 if there is none.
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
    def key(self) -> Key:
        """System and segment, which identify the translation."""
        return self.system, self.segment


@dataclass(frozen=True)
class Labels:
    """The judgements of one file.

    Attributes:
        name: The file's name, for messages.
        judgements: One for each translation, in the order of the file.
        complete: If True, unlisted segments were not judged; if False, they have no error, as in
            gold files of injected errors.
        grade: The meaning of the grades, for people.
    """

    name: str
    judgements: tuple[Judgement, ...]
    complete: bool = True
    grade: str = "label"

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, in the order of the file."""
        return tuple(dict.fromkeys(item.system for item in self.judgements))

    def of_system(self, system: str) -> Labels:
        """The labels of one system.

        Raises:
            DataError: There is no such system.
        """
        kept = tuple(item for item in self.judgements if item.system == system)
        if not kept:
            known = ", ".join(self.systems)
            raise DataError(f"{self.name}: no labels of {system!r}; there are: {known}")
        return replace(self, judgements=kept)


def read_labels(
    source: Source,
    kind: str = "omission",
    tokens: Tokenizer | None = None,
    label_format: str | None = None,
) -> Labels:
    """Read the labels of one kind of error.

    In MQM files, an error is of a kind if its category or a part of it has that name: ``omission``
    and ``accuracy`` both match ``Accuracy/Omission``. A translation is positive if any rater marked
    such an error, of any severity; its grade is the share of raters who did. In HalOmi, the kind is
    ``omission`` or ``hallucination``, each language pair is a system, its segments are numbered in
    the order of the file, and the grade is the degree minus 1. In gold files, ``omission`` also
    matches ``omission-phrase`` and ``early-stop``, and the grade is the number of source words
    concerned, or of errors if these words are unknown. The kind ``any`` includes all errors of a
    file; human scores do not distinguish kinds.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked).
        kind: The kind of error, by its name in the file.
        tokens: Splits sources into words, to find the marked ones; by default at spaces.
        label_format: A name of :data:`LABEL_FORMATS`; by default the first line decides.

    Raises:
        DataError: The format is unknown, a line is damaged, or a format that names kinds has no
            error of that kind.
    """
    name = label_format or _recognise(source)
    if name is None:
        raise DataError(
            f"{source_name(source)}: line 1: not a known format of labels; known are TSV files "
            "with the columns segment and label, WMT's MQM files and human scores, HalOmi and gold "
            "files of 'inject'"
        )
    return LABEL_FORMATS[name](source, kind, tokens or Tokenizer())


def _recognise(source: Source) -> str | None:
    """The format of a file, by its first line; None if it is unknown."""
    line = next(read_segments(source), "")
    header = line.split("\t")
    if has_mqm_columns(header):
        return "wmt-mqm"
    if set(_HALOMI_COLUMNS) <= set(header):
        return "halomi"
    if line.startswith("{"):
        return "injected"
    if is_score_line(line):
        return "human-scores"
    return "plain" if "label" in header or _is_label(header) else None


def _is_label(header: Sequence[str]) -> bool:
    """Whether the first line of a plain file is a label, not a header."""
    return len(header) == 1 and header[0].replace(".", "", 1).isdigit()


def _read_plain(source: Source, kind: str, _: Tokenizer) -> Labels:
    """Read plain labels from the column named like the kind, or else from ``label``."""
    header = read_header(source)
    column = kind if kind in header else "label"
    records: Iterator[tuple[int, Record]] = (
        ((line, {"label": text}) for line, text in enumerate(read_segments(source), start=1))
        if _is_label(header)
        else read_records(source, [column])
    )
    judgements = []
    for number, (line, record) in enumerate(records, start=1):
        label = record[column]
        try:
            grade = float(label)
            if not 0 <= grade < float("inf"):
                raise ValueError(f"label {label!r} is not a number from 0")
            segment = int(record.get("segment", number))
            told = record.get("words", UNKNOWN_WORDS)
            words = frozenset(int(word) - 1 for word in told.split() if told != UNKNOWN_WORDS)
            if segment < 1 or min(words, default=0) < 0:
                raise ValueError("segments and words are counted from 1")
            if max(words, default=0) >= MAX_WORDS:
                raise ValueError(f"no segment has {max(words) + 1:,} words")
            raters = tuple(float(mark) > 0 for mark in record.get("raters", "").split())
        except ValueError as error:
            raise bad_line(source, line, error) from None
        judgements.append(
            Judgement(
                segment, grade > 0, grade, record.get("system", ""), raters,
                record.get("source", segment), words=None if told == UNKNOWN_WORDS else words,
                line=line,
            )
        )  # fmt: skip
    return Labels(source_name(source), tuple(judgements))


def write_texts(labels: Labels, folder: Path) -> None:
    """Write the judged translations, to score them, and plain labels for them.

    The files are ``src.txt`` and ``hyp.txt``, in the order of the labels, and ``labels.tsv``, which
    numbers their lines as segments. It has the columns ``words`` and ``raters`` only if they are
    known for all translations.

    Raises:
        DataError: The labels have no texts, a text has more than one line, or the files cannot be
            written.
    """
    items = labels.judgements
    sources, targets = [], []
    for item in items:
        if item.source_text is None or item.target_text is None:
            raise DataError(f"{labels.name}: has no texts; score the texts that it labels")
        if "\n" in item.source_text + item.target_text:
            raise bad_line(labels.name, item.line, "a text of more than one line")
        sources.append(item.source_text)
        targets.append(item.target_text)
    numbers = {source: n for n, source in enumerate(dict.fromkeys(i.source for i in items), 1)}
    table = [
        ["segment", *map(str, range(1, len(items) + 1))],
        ["system", *(item.system for item in items)],
        ["source", *(str(numbers[item.source]) for item in items)],
        ["label", *(repr(item.grade) for item in items)],
    ]
    if all(item.words is not None for item in items):
        positions = (sorted(item.words or ()) for item in items)
        table.append(["words", *(" ".join(str(word + 1) for word in own) for own in positions)])
    if all(item.raters for item in items):
        marks = (map(int, item.raters) for item in items)
        table.append(["raters", *(" ".join(map(str, own)) for own in marks)])
    folder.mkdir(parents=True, exist_ok=True)
    write_lines(folder / "src.txt", sources)
    write_lines(folder / "hyp.txt", targets)
    write_lines(folder / "labels.tsv", ("\t".join(row) for row in zip(*table, strict=True)))


def _read_injected(source: Source, kind: str, _: Tokenizer) -> Labels:
    """Read the errors of a kind, such as ``omission-phrase``, or ``omission`` for all of them."""
    errors = list(read_gold_errors(source))
    meant = [
        error
        for error in errors
        if kind in {ANY, error.kind, error.kind.partition("-")[0], _FAMILY.get(error.kind)}
    ]
    if not meant:
        seen = ", ".join(sorted({error.kind for error in errors})) or "none"
        raise DataError(
            f"{source_name(source)}: no error of the kind {kind!r}; its kinds are: {seen}"
        )
    return Labels(source_name(source), label_errors(meant), complete=False, grade="words concerned")


def label_errors(errors: Iterable[GoldError], system: str = "") -> tuple[Judgement, ...]:
    """Judgements of the segments with errors, by segment."""
    found: dict[int, list[tuple[int, ...] | None]] = defaultdict(list)
    for error in errors:
        found[error.segment].append(error.source)
    judgements = []
    for segment, positions in sorted(found.items()):
        known = [word for position in positions for word in position or ()]
        words = None if None in positions else frozenset(known)
        grade = float(len(words or positions))
        judgements.append(Judgement(segment, True, grade, system, source=segment, words=words))
    return tuple(judgements)


def _read_mqm(source: Source, kind: str, tokens: Tokenizer) -> Labels:
    categories: set[str] = set()

    def weigh(row: Record) -> float:
        if row["severity"].strip().lower() == "no-error":
            return 0.0
        categories.add(row["category"])
        if kind == ANY:
            return mqm_weight(row["category"], row["severity"])
        whole = row["category"].strip().lower()
        return float(kind.lower() in {whole, *(part.strip() for part in whole.split("/"))})

    translations = read_mqm_rows(source, weigh)
    if not any(item.marks for item in translations.values()):
        seen = ", ".join(sorted(categories))
        raise DataError(
            f"{source_name(source)}: no error of the kind {kind!r}; its categories are: {seen}"
        )
    judgements = []
    for (system, segment), item in translations.items():
        weights = item.raters.values()
        raters = tuple(weight > 0 for weight in weights)
        mean = sum(weights if kind == ANY else raters) / len(raters)
        # Most other errors concern words of the translation.
        words, length = (None if kind == ANY else item.words(tokens)) or (None, None)
        judgements.append(
            Judgement(
                segment, mean > 0, mean, system, raters, segment, item.source, item.target,
                words, length, item.line,
            )
        )  # fmt: skip
    grade = "MQM score, negated" if kind == ANY else "share of the raters who marked it"
    return Labels(source_name(source), tuple(judgements), grade=grade)


def _read_halomi(source: Source, kind: str, tokens: Tokenizer) -> Labels:
    if kind not in {*_HALOMI_DEGREES, ANY}:
        known = " and ".join(_HALOMI_DEGREES)
        raise DataError(f"{source_name(source)}: HalOmi has labels of {known}, not of {kind}")
    chosen = [_HALOMI_DEGREES[one] for one in _HALOMI_DEGREES if kind in {one, ANY}]
    numbers: Counter[str] = Counter()
    judgements = []
    for line, row in read_records(source, [*_HALOMI_COLUMNS, *chosen], quoted=True):
        if row.get("perturbation", "natural") != "natural":
            continue
        grade = 0
        for column in chosen:
            degree, _, _ = row[column].partition("_")
            if not re.fullmatch("[0-9]{1,9}", degree) or int(degree) < 1:
                said = f"{column} {row[column]!r:.60} does not begin with a degree from 1"
                raise bad_line(source, line, said)
            grade = max(grade, int(degree) - 1)
        text = row["src_text"]
        found = None
        if kind == "omission" and not grade:
            found = marked_words(text, [False] * len(text), tokens)
        elif kind == "omission":
            try:
                copy, inside = without_marks(row["omit_spans"], "<<<", ">>>")
            except DataError as error:
                raise bad_line(source, line, error) from None
            # If the marked copy differs from the text, its words may differ.
            found = marked_words(text, inside, tokens) if copy == text and any(inside) else None
        words, length = found or (None, None)
        pair = f"{row['src_lang']}-{row['tgt_lang']}"
        numbers[pair] += 1
        judgements.append(
            Judgement(
                numbers[pair], grade > 0, grade, pair, source=(pair, text), source_text=text,
                target_text=row["mt_text"], words=words, source_words=length, line=line,
            )
        )  # fmt: skip
    return Labels(source_name(source), tuple(judgements), grade="degree")


def _read_human_scores(source: Source, _: str, __: Tokenizer) -> Labels:
    scores = read_score_file(source)
    best = max([0.0, *(v for own in scores.values() for v in own if v is not None)])
    judgements = tuple(
        Judgement(number, value < best, best - value, system, source=number)
        for system, own in scores.items()
        for number, value in enumerate(own, start=1)
        if value is not None
    )
    if not judgements:
        raise DataError(f"{source_name(source)}: no segment has a score")
    return Labels(source_name(source), judgements, grade=f"points below {best:g}, the best score")


LABEL_FORMATS: Mapping[str, Callable[[Source, str, Tokenizer], Labels]] = {
    "wmt-mqm": _read_mqm,
    "halomi": _read_halomi,
    "human-scores": _read_human_scores,
    "injected": _read_injected,
    "plain": _read_plain,
}
"""Format → its reader, which takes the file, the kind of error and the tokeniser."""
