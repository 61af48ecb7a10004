"""Scores of segments, from this package's commands or from any table.

CSV (or TSV) has a column ``segment`` (from 1), perhaps ``system``, and columns of numbers, as
``--sentence-level -f csv`` prints it. JSON from ``--sentence-level -f json`` also has the words
that a score marks. JSON Lines from ``compare --details`` have all systems. JSON from
``comet-score --to_json`` can be read, and ``.seg.score`` files of the WMT metrics task
(:mod:`coverage_eval.data.wmt`), with a system and a score on each line, can be read and written.
"""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coverage_eval.comparison.comparison import Comparison
from coverage_eval.data.files import Source, read_segments, source_name, write_lines
from coverage_eval.data.json_objects import check_object, parse_object, read_objects
from coverage_eval.data.mqm import Key
from coverage_eval.data.numbers import is_number, parse_number
from coverage_eval.data.tokenizers import TOKENIZERS, Tokenizer
from coverage_eval.data.wmt import (
    SEGMENT_SCORES,
    is_score_line,
    read_score_file,
    score_lines,
    wmt_name,
)
from coverage_eval.errors import DataError
from coverage_eval.metrics.figures import FIGURES
from coverage_eval.metrics.given_scores import GivenScores
from coverage_eval.metrics.mark import Mark
from coverage_eval.metrics.registry import METRICS, metric_class

_MARKS = "marks"
"""The column of marks."""

_OTHER_FORM = (AttributeError, KeyError, TypeError, ValueError, OverflowError)
"""Errors from reading marks of another form."""


@dataclass(frozen=True)
class ScoreColumn:
    """One score for every segment.

    Attributes:
        name: Its name in tables.
        origin: Its file, for messages.
        values: System and segment → value; None if undefined.
        higher_is_better: Whether low values point at errors.
        probability: Whether it is the probability of an error.
        words: System and segment → the source positions from 0 that the score points at, with
            their strengths; None if it points at no words.
        source_tokens: The tokeniser of these words, from the score's signature; None if unknown.
    """

    name: str
    origin: str
    values: Mapping[Key, float | None]
    higher_is_better: bool = False
    probability: bool = False
    words: Mapping[Key, Mapping[int, float]] | None = None
    source_tokens: Tokenizer | None = None

    @property
    def systems(self) -> set[str]:
        """The file's systems; an empty name if it names none."""
        return {system for system, _ in self.values}

    @property
    def by_system(self) -> bool:
        """Whether the file names systems."""
        return any(self.systems)


def choose_columns(
    columns: Sequence[ScoreColumn],
    names: Sequence[str] | None = None,
    turned: Sequence[str] = (),
) -> list[ScoreColumn]:
    """Choose columns, and reverse the direction of some.

    Args:
        columns: All columns.
        names: The chosen ones, in this order; None for all.
        turned: The ones to reverse: low values point at errors instead of high ones, or high
            instead of low ones.

    Raises:
        DataError: No column, or more than one, has one of the names.
    """
    by_name: dict[str, ScoreColumn] = {}
    for column in columns:
        if column.name in by_name:
            raise DataError(
                f"{column.origin}: a score {column.name!r} is also in "
                f"{by_name[column.name].origin}; give files names as NAME=FILE"
            )
        by_name[column.name] = column
    for name in (*(names or ()), *turned):
        if name not in by_name:
            raise DataError(f"there is no score {name!r}; there are: {', '.join(by_name)}")
    for name in set(turned):
        column = by_name[name]
        by_name[name] = replace(column, higher_is_better=not column.higher_is_better)
    return [by_name[name] for name in (by_name if names is None else names)]


def read_scores(
    source: Source, name: str | None = None, *, unknown_is_better: bool = False
) -> list[ScoreColumn]:
    """Read the scores of a file.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked).
        name: The name of its column ``score``, and the prefix of the others; by default the column
            ``score`` has the file's name, and the others keep theirs.
        unknown_is_better: Whether higher values of unknown scores are better.

    Raises:
        DataError: There is no column of segments, a segment occurs twice, or a value is not a
            finite number.
    """
    first = next(read_segments(source), "")
    own = Path(source).name.removesuffix(".gz")
    label = name or own.removesuffix(
        SEGMENT_SCORES if own.endswith(SEGMENT_SCORES) else Path(own).suffix
    )
    file = _ScoreFile(source, label, "" if name is None else f"{name}.", unknown_is_better)
    if is_score_line(first):
        columns = file.of_wmt()
    elif first.startswith('{"kind"'):
        columns = file.of_details()
    else:
        columns = file.of_json() if first.startswith("{") else file.of_csv()
    found = list(columns)
    if not found:
        raise DataError(f"{source_name(source)}: has no score of segments")
    return found


@dataclass(frozen=True)
class _ScoreFile:
    """A file of scores.

    Attributes:
        source: The file.
        label: The name of its column ``score``.
        prefix: The prefix of the others' names.
        unknown_is_better: As in :func:`read_scores`.
    """

    source: Source
    label: str
    prefix: str
    unknown_is_better: bool = False

    def _at(self, place: str) -> str:
        return f"{source_name(self.source)}: {place}"

    def of_csv(self) -> Iterator[ScoreColumn]:
        """The columns of numbers: ``score``, and those that begin with a number."""
        lines = [f"{line}\n" for line in read_segments(self.source)]
        tabs = bool(lines) and "\t" in lines[0]
        reader = csv.DictReader(lines, delimiter="\t" if tabs else ",", strict=True)
        rows: dict[Key, tuple[str, Mapping[str, Any]]] = {}
        try:
            header = reader.fieldnames or ()
            if "segment" not in header:
                raise DataError(
                    self._at("line 1: no column 'segment'; print scores with --sentence-level "
                             "-f csv, or number the segments from 1")
                )  # fmt: skip
            for row in reader:
                where = self._at(f"line {reader.line_num}")
                if None in row or None in row.values():
                    raise DataError(f"{where}: not as many fields as line 1")
                rows[_segment(where, row["segment"], row.get("system"), rows)] = where, row
        except csv.Error as error:
            raise DataError(self._at(f"line {reader.reader.line_num}: {error}")) from error
        for column in header:
            if column in {"segment", "system", _MARKS}:
                continue
            first = next((row[column] for _, row in rows.values() if row[column]), "")
            if column == "score" or is_number(first):
                values = {
                    key: _finite(f"{where}, column {column!r}", row[column])
                    for key, (where, row) in rows.items()
                }
                yield self._column(self.label, column, values)

    def of_wmt(self) -> Iterator[ScoreColumn]:
        """The score of a file of the WMT metrics task; higher is better."""
        values = {
            (system, number): score
            for system, own in read_score_file(self.source).items()
            for number, score in enumerate(own, start=1)
        }
        yield replace(self._column(self.label, "score", values), higher_is_better=True)

    def of_comet(self, systems: Mapping[str, Any]) -> Iterator[ScoreColumn]:
        """COMET's scores: for each system's file, a list with an object per segment."""
        rows: dict[Key, Mapping[str, Any]] = {}
        for system, segments in systems.items():
            for number, segment in enumerate(segments, start=1):
                where = self._at(f"{system}, segment {number}")
                values = check_object(segment, where)
                if "COMET" not in values:
                    raise DataError(f"{where}: no score 'COMET'")
                rows[system, number] = {"score": values["COMET"]}
        yield from self._numbers(self.label, rows, True)

    def of_json(self) -> Iterator[ScoreColumn]:
        """The numbers in the sentences of each score."""
        text = "\n".join(read_segments(self.source))
        whole = parse_object(text, self._at("the file"))
        is_comet = all(isinstance(item, list) and item for item in whole.values())
        if whole and is_comet and "scores" not in whole:
            yield from self.of_comet(whole)
            return
        scores = whole.get("scores")
        listed = scores if isinstance(scores, list) else []
        with_segments = [s for s in listed if isinstance(s, dict) and s.get("sentences")]
        if not with_segments:
            raise DataError(self._at("has no scores of segments; print them with --sentence-level"))
        for score in with_segments:
            rows: dict[Key, Mapping[str, Any]] = {}
            sentences = score["sentences"] if isinstance(score["sentences"], list) else [None]
            for number, sentence in enumerate(sentences, start=1):
                where = self._at(f"sentence {number}")
                check_object(sentence, where)
                rows[_segment(where, sentence.get("segment"), score.get("system"), rows)] = sentence
            points = self._points_at_source(score.get("kinds"), "kinds")
            better, signature = score.get("higher_is_better"), score.get("signature")
            yield from self._numbers(self.label, rows, better, signature, points=points)

    def of_details(self) -> Iterator[ScoreColumn]:
        """The numbers of each metric, under its name."""
        by_metric: dict[str, dict[Key, Mapping[str, Any]]] = {}
        signatures: Mapping[str, Any] = {}
        kinds: Mapping[str, Any] = {}
        for where, record in read_objects(self.source):
            if "signatures" in record:
                signatures = check_object(record["signatures"], f"{where}: 'signatures'")
                kinds = check_object(record.get("kinds", {}), f"{where}: 'kinds'")
            metrics = check_object(record.get("metrics", {}), f"{where}: 'metrics'")
            for name, cell in metrics.items():
                check_object(cell, f"{where}: {name!r:.60}")
                rows = by_metric.setdefault(name, {})
                rows[_segment(where, record.get("segment"), record.get("system"), rows)] = cell
        for name, rows in by_metric.items():
            points = self._points_at_source(kinds.get(name), f"kinds of {name!r:.60}")
            signature = signatures.get(name)
            yield from self._numbers(self.prefix + name, rows, None, signature, points=points)

    def _points_at_source(self, kinds: object, what: str) -> bool:
        """Whether marks of these kinds, as in JSON, are on source words."""
        listed = kinds if isinstance(kinds, list) else []
        return any(check_object(one, self._at(what)).get("side") == "source" for one in listed)

    def _numbers(
        self,
        label: str,
        rows: Mapping[Key, Mapping[str, Any]],
        higher_is_better: bool | None,
        signature: object = None,
        *,
        points: bool = False,
    ) -> Iterator[ScoreColumn]:
        """The sentences' numbers by name; the one called ``score`` gets the marked source words."""
        for name, value in next(iter(rows.values())).items():
            is_score = name == "score"
            is_figure = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not is_score and (name == "segment" or not is_figure):
                continue
            values = {
                key: _finite(self._at(f"segment {key[1]}"), row.get(name))
                for key, row in rows.items()
            }
            column = self._column(label, name, values)
            if is_score:
                higher = column.higher_is_better if higher_is_better is None else higher_is_better
                words = self._words(rows) if points else None
                tokens = signed_tokenizer(str(signature))
                column = replace(column, higher_is_better=higher, words=words, source_tokens=tokens)
            yield column

    def _column(self, label: str, column: str, values: Mapping[Key, float | None]) -> ScoreColumn:
        name, called = (label, label) if column == "score" else (self.prefix + column, column)
        known = [value for value in values.values() if value is not None]
        probability = column.lower().startswith(("p(", "prob"))
        if probability and not all(0 <= value <= 1 for value in known):
            raise DataError(self._at(f"column {column!r} is not a probability"))
        if not known:
            raise DataError(self._at(f"column {column!r} has no number"))
        better = (
            self.unknown_is_better if (known_better := _better(called)) is None else known_better
        )
        return ScoreColumn(name, str(self.source), values, better, probability)

    def _words(self, rows: Mapping[Key, Mapping[str, Any]]) -> dict[Key, Mapping[int, float]]:
        """The marked source words of each segment."""
        found: dict[Key, Mapping[int, float]] = {}
        for key, row in rows.items():
            try:
                found[key] = pointed_words(_read_mark(mark) for mark in row[_MARKS])
            except _OTHER_FORM as error:  # noqa: PERF203 (names the segment)
                said = f"segment {key[1]}: unreadable marks: {error}"
                raise DataError(self._at(said)) from None
        return found


def signed_tokenizer(signature: str) -> Tokenizer | None:
    """The tokeniser of the source in a signature; None if it names none.

    >>> signed_tokenizer("DROP|refs:1|case:lc|tok:zh>13a|version:0.1.0")
    Tokenizer(name='zh', lowercase=True, stem=0)
    """
    settings = dict(pair.partition(":")[::2] for pair in signature.split("|"))
    name = settings.get("tok", "").partition(">")[0]
    return Tokenizer(name, settings.get("case") == "lc") if name in TOKENIZERS else None


def common_tokenizer(columns: Sequence[ScoreColumn]) -> Tokenizer | None:
    """The tokeniser of the source words that scores point at; None if no file names it.

    Raises:
        DataError: The scores' signatures name different tokenisers.
    """
    tokenizers = {
        column.source_tokens: column
        for column in columns
        if column.words is not None and column.source_tokens is not None
    }
    if len(tokenizers) > 1:
        listed = ", ".join(
            f"{column.name} by {tokens.name}" for tokens, column in tokenizers.items()
        )
        raise DataError(
            f"scores point at words of different tokenisers: {listed}; evaluate them one by one, "
            "or name the labels' tokeniser with --tokenize"
        )
    return next(iter(tokenizers), None)


def _finite(where: str, value: Any) -> float | None:
    """A cell as a number; None for an empty one."""
    if value is None or value == "":
        return None
    return parse_number(value, where)


def _segment(where: str, value: Any, system: Any, seen: Mapping[Key, Any]) -> Key:
    text = str(value)
    if not re.fullmatch("[0-9]{1,9}", text) or int(text) < 1:
        raise DataError(f"{where}: segment {value!r:.60} is not a number from 1")
    key = str(system or ""), int(text)
    if key in seen:
        raise DataError(f"{where}: segment {text} occurs twice")
    return key


_ERRORS = {"ter", "wer", "cer", "metricx"}
"""Other metrics that count errors: lower is better."""


def _better(name: str) -> bool | None:
    """Whether higher values of the metric or figure with this name are better; None if unknown."""
    figures = {figure.key.lower(): figure.better for figure in FIGURES}
    metrics = {metric_class(key).name.lower(): metric_class(key) for key in METRICS}
    if name.lower() in metrics:
        # The only one without a better direction is the length ratio, which omissions lower.
        return metrics[name.lower()].higher_is_better is not False
    if name.lower() in figures:
        return figures[name.lower()] != "↓"
    return False if name.lower() in _ERRORS else None


def pointed_words(marks: Iterable[Mark]) -> dict[int, float]:
    """The source positions that marks name, from 0, with their amounts."""
    return {
        place: mark.amount for mark in marks if mark.side == "source" for place in mark.positions
    }


def _read_mark(values: Mapping[str, Any]) -> Mark:
    """A mark from JSON, as far as meta-evaluation needs it.

    Raises:
        AttributeError, KeyError, TypeError, ValueError, OverflowError: It has another form.
    """
    amount, positions = float(values.get("amount", 1.0)), values["positions"]
    if not math.isfinite(amount):
        raise ValueError(f"the amount {amount} is not a finite number")
    if not all(type(place) is int and place >= 0 for place in positions):
        raise ValueError(f"positions are whole numbers from 0, not {positions!r:.60}")
    return Mark(values["side"], tuple(positions), values.get("kind", ""), amount=amount)


def read_given(name: str, file: Source, systems: Sequence[str], *, lower: bool) -> GivenScores:
    """Another program's scores, as a metric of some systems.

    The file names a system by its name, or by its file's name with or without folder and ending. A
    file that names no system has the scores of a single one.

    Args:
        name: The metric's name.
        file: A file of scores. From several columns, the one named ``score`` or like the metric is
            used.
        systems: The systems to compare.
        lower: Whether lower scores are better, even if the metric is known for the opposite.

    Raises:
        DataError: As :func:`read_scores`; several columns have other names, a system has no scores,
            or segments are not numbered from 1.
    """
    columns = read_scores(file, name, unknown_is_better=True)
    chosen = [column for column in columns if column.name in {name, f"{name}.{name}"}]
    if len(columns) == 1:
        chosen = columns
    if len(chosen) != 1:
        listed = ", ".join(column.name.removeprefix(f"{name}.") for column in columns)
        raise DataError(
            f"{source_name(file)}: has several scores: {listed}; give a file with one of them, or "
            "name the column 'score'"
        )
    (column,) = chosen
    by_system: dict[str, dict[int, float | None]] = {}
    for (system, segment), value in column.values.items():
        by_system.setdefault(system, {})[segment] = value
    values: dict[str, list[float | None]] = {}
    for system in systems:
        found = _of_system(system, by_system, alone=len(systems) == 1)
        if found is None:
            named = ", ".join(filter(None, by_system)) or "no system"
            raise DataError(f"{source_name(file)}: no scores of {system}; it names {named}")
        if set(found) != set(range(1, len(found) + 1)):
            raise DataError(
                f"{source_name(file)}: the segments of {system} are not 1 to {len(found)}"
            )
        values[system] = [found[number] for number in range(1, len(found) + 1)]
    better = column.higher_is_better and not lower
    return GivenScores(name, values, source_name(file), higher_is_better=better)


def _of_system(
    system: str, by_system: Mapping[str, dict[int, float | None]], *, alone: bool
) -> dict[int, float | None] | None:
    """The scores of a system, by the closest match of its name; None if there are none."""
    if alone and list(by_system) == [""]:
        return by_system[""]
    for write in (str, lambda name: Path(name).name, lambda name: Path(name).stem):
        matching = [found for name, found in by_system.items() if write(name) == write(system)]
        if len(matching) == 1:
            return matching[0]
    return None


NOTE = "coverage-eval.txt"
"""The file that describes the scores, beside them."""


def write_wmt(
    comparison: Comparison, folder: str | os.PathLike[str], references: Sequence[str]
) -> int:
    """Write scores in the format of the WMT metrics task, and a file that describes them.

    For each metric there are ``NAME-REF.seg.score`` and ``NAME-REF.sys.score``; REF names the
    references, or is ``src`` for a metric without references. Metrics of errors are negated,
    because the task expects higher to be better. The task allows no undefined scores of segments:
    they are written as 0. Scores of other programs are left out.

    Args:
        comparison: The systems.
        folder: Where to write; created if missing.
        references: The references' names, of letters, digits and ``_``.

    Returns:
        The number of undefined scores.

    Raises:
        DataError: A system's name has a space, two systems have one name in these files, or the
            files cannot be written.
        ValueError: The comparison was made from statistics alone.
    """
    spaced = [system for system in comparison.rows if len(system.split()) != 1]
    if spaced:
        raise DataError(
            f"the name {spaced[0]!r} has a space, which separates columns in the task's files"
        )
    systems: dict[str, str] = {}
    for system in comparison.rows:
        if (other := systems.setdefault(wmt_name(system), system)) != system:
            raise DataError(
                f"{other} and {system} are both {wmt_name(system)!r} in the task's files; give "
                "them other names: NAME=FILE"
            )
    notes = []
    undefined = 0
    for name, metric in comparison.metrics.items():
        if isinstance(metric, GivenScores):
            continue
        sign = -1.0 if metric.higher_is_better is False else 1.0
        signature = comparison.signatures[metric.name]
        used = {"refs", "nrefs"} & {pair.partition(":")[0] for pair in signature.split("|")}
        label = re.sub(r"[^\w.]+", "_", metric.name)
        file = f"{label}-{'.'.join(references) if used else 'src'}"
        segments, whole = {}, {}
        for system, cells in comparison.rows.items():
            scores = comparison.measured.segment_scores(name, system)
            undefined += scores.count(None)
            # 0.0 is added so that no zero has a sign.
            segments[wmt_name(system)] = [sign * (score or 0.0) + 0.0 for score in scores]
            whole[wmt_name(system)] = [sign * cells[name].score.score + 0.0]
        Path(folder).mkdir(parents=True, exist_ok=True)
        write_lines(Path(folder) / f"{file}{SEGMENT_SCORES}", score_lines(segments))
        write_lines(Path(folder) / f"{file}.sys.score", score_lines(whole))
        negated = ", negated: higher is better" if metric.higher_is_better is False else ""
        notes.append(f"{file}: {signature}{negated}")
    if undefined:
        notes.append(f"{undefined} undefined scores of segments are 0")
    write_lines(Path(folder) / NOTE, notes)
    return undefined
