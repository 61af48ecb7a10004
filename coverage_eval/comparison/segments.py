"""Segments of a comparison: rows of scores, records of all evidence, and examples for a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlencode

import numpy as np

from coverage_eval.align.aligner import ModelAligner, aligner_of
from coverage_eval.comparison.breakdowns import segment_scores
from coverage_eval.comparison.evidence import marking, marks_of, runs, styled_runs
from coverage_eval.comparison.table import Comparison
from coverage_eval.core.machine import LazyRows
from coverage_eval.core.mark import Mark, MarkKind, plain_columns
from coverage_eval.core.report import NUMBERS, PEOPLE, ROWS, Cell, Report, Table, format_figure
from coverage_eval.core.result import Result
from coverage_eval.core.tokenizers import Segment, Span, segment_text
from coverage_eval.version import __version__

if TYPE_CHECKING:
    from coverage_eval.attention_maps.maps import AttentionMap


def comparison_segments_report(comparison: Comparison, worst: int | None = None) -> Report:
    """A row for each segment and system, with a column for each metric.

    Args:
        comparison: The systems.
        worst: How many rows to show, the worst by the first metric; None for all.
    """
    header, rows = comparison.segment_rows()
    shown: Sequence[tuple[Cell, ...]] = rows
    if worst is not None:
        first = next(iter(comparison.metrics.values()))
        sign = -1 if first.higher_is_better is False else 1
        defined = [row for row in rows if isinstance(row[2], float)]
        shown = sorted(defined, key=lambda row: sign * float(str(row[2])))[:worst]
    signatures = comparison.signatures
    table = Table(header, shown, formats=(PEOPLE | ROWS | NUMBERS) - {"jsonl"})
    records = Table((), (), objects=evidence_records(comparison), formats=frozenset({"jsonl"}))
    values = {"signatures": signatures, "sentences": table}
    return Report((table, records), values, signatures=tuple(signatures.values()))


def evidence_records(comparison: Comparison) -> Sequence[dict[str, Any]]:
    """One record that describes the comparison, then one for each system and segment.

    ``kind`` tells them apart. A segment's record has its number from 1, its texts as they were
    written, and by metric the score (None where it is undefined), the statistics by name, the
    probability of an error if there is one, the marks
    (:meth:`~coverage_eval.core.mark.Mark.to_dict`) and what else explains the score. A mark says
    at which characters of its text it starts and ends, from 0. The first record says what each
    kind of mark is.

    Raises:
        ValueError: The comparison was made from statistics alone.
    """
    result, metrics = comparison.measured, comparison.metrics
    scores = {
        (name, system): result.segment_scores(name, system)
        for name in metrics
        for system in result.systems
    }

    def record(number: int) -> dict[str, Any]:
        if number == 0:
            return _description(comparison)
        position, index = divmod(number - 1, result.segments)
        system, row = result.systems[position], result.rows[index]
        references = list(map(segment_text, row.references))
        by_metric = {}
        for name, metric in metrics.items():
            values = result.statistics_of(name, system)[index].tolist()
            by_metric[metric.name] = {
                "score": scores[name, system][index],
                "statistics": dict(zip(metric.statistic_names, values, strict=True)),
                **plain_columns(result.evidence(name)[index][position].columns),
            }
        return {
            "kind": "segment",
            "segment": index + 1,
            "system": system,
            "source": None if row.source is None else segment_text(row.source),
            "reference": references[0] if len(references) == 1 else references,
            "hypothesis": segment_text(row.hypotheses[position]),
            "metrics": by_metric,
        }

    return LazyRows(record, range(1 + len(result.systems) * result.segments))


def _description(comparison: Comparison) -> dict[str, Any]:
    """The first record."""
    metrics = comparison.metrics.values()
    return {
        "kind": "comparison",
        "version": __version__,
        "segments": comparison.segments,
        "systems": list(comparison.rows),
        "baseline": comparison.baseline,
        "signatures": comparison.signatures,
        "kinds": {m.name: [kind.to_dict() for kind in m.kinds] for m in metrics},
    }


# The report's

READABLE = range(20, 250)
"""Characters of a text that proves something, and can be read at a glance."""

EXCERPT = 250
"""Characters of a text in an example."""

MAX_PRINTED = 10
"""Outputs that are printed on paper, where nobody can browse."""

MOST_MARKED = 2 / 3
"""Of a source of which a greater share is marked, the model knows too little."""

MarkedWord: TypeAlias = tuple[str, str, Span]
"""A marked word: the metric, the side, and its characters."""

MarkedText = Sequence[tuple[str, str]]
"""A text in pieces, each with the style of its marks, or nothing."""


@dataclass(frozen=True)
class ReportOptions:
    """What a report shows besides the scores.

    Attributes:
        title: The title; by default it names the systems.
        command: The command that made it.
        attention: Attention maps by system, one for each segment.
    """

    title: str | None = None
    command: str | None = None
    attention: Mapping[str, Sequence[AttentionMap]] = field(default_factory=dict)


@dataclass(frozen=True)
class ErrorExample:
    """A segment of a system, and what makes it worth showing.

    Attributes:
        segment: Its number, from 1.
        score: The metric that marks most of its words, and its score.
        link: The URL's fragment, without ``#``, that shows it.
        texts: Source, reference and output as far as they are known, with the error marked.
    """

    segment: int
    score: str
    link: str
    texts: Mapping[str, MarkedText]


def find_examples(
    comparison: Comparison, shown: int, doubtful: Collection[str] = ()
) -> dict[str, ErrorExample]:
    """The segment of each system that shows its errors best; none for systems without errors.

    The longest run of words lost or repeated comes first, and only words that another system has
    right count, as they prove that it can be done. Very short or long segments, and those of which
    nearly all is marked though there is an output, are shown only if there are no others. Words
    that the aligner's model does not know do not count, since it can only guess their translation.

    Args:
        comparison: The systems.
        shown: Only the first segments are looked at.
        doubtful: Keys of metrics whose marks prove nothing.
    """
    result = comparison.measured
    marked = {system: _marked_words(result, system, shown, doubtful) for system in result.systems}
    examples = {}
    for system, segments in marked.items():
        others = [other for name, other in marked.items() if name != system]
        ranked = []
        for index, words in enumerate(segments):
            proven = words.difference(
                word for word in words if others and all(word in other[index] for other in others)
            )
            if words:
                run = _longest_run(result, system, index, proven)
                ranked.append((_is_readable(result, system, index, words), run, len(words), -index))
        if ranked:
            index = -max(ranked)[-1]
            counts = Counter(metric for metric, *_ in segments[index])
            name = max(result.metrics, key=counts.__getitem__)  # the first of equal ones
            examples[system] = _example(comparison, system, index, name, doubtful)
    return examples


def worst_examples(
    comparison: Comparison, name: str, shown: int, doubtful: Collection[str] = ()
) -> list[tuple[str, ErrorExample]]:
    """The outputs with the worst scores, at most :data:`MAX_PRINTED`, with their systems.

    Args:
        comparison: The systems.
        name: The key of the metric.
        shown: Only the first segments are looked at.
        doubtful: Keys of metrics whose marks prove nothing.
    """
    result, sign = comparison.measured, 1 if comparison.metrics[name].higher_is_better else -1
    scored = [
        (sign * score, index, system)
        for system in result.systems
        for index, score in enumerate(segment_scores(result, name, system)[:shown].tolist())
        if score > 0 or (sign > 0 and score == 0)  # not undefined
    ]
    return [
        (system, _example(comparison, system, index, name, doubtful))
        for _, index, system in sorted(scored)[:MAX_PRINTED]
    ]


def _is_readable(result: Result, system: str, index: int, words: Collection[MarkedWord]) -> bool:
    """Whether both texts prove something, and can be read at a glance; an empty output can."""
    row = result.rows[index]
    length = len(segment_text(row.hypotheses[result.systems.index(system)]))
    text = segment_text(row.source or "")
    source = len(text) or length
    missing = runs(text, {span for _, side, span in words if side == "source"})
    marked = sum(end - start for start, end in missing)
    is_whole = not length or marked <= MOST_MARKED * source
    return is_whole and source in READABLE and (length in READABLE or not length)


def _longest_run(result: Result, system: str, index: int, words: Collection[MarkedWord]) -> int:
    """How many marked words there are in the longest run of them."""
    row = result.rows[index]
    output = row.hypotheses[result.systems.index(system)]
    longest = 0
    for side, text in (("source", row.source or ""), ("output", output)):
        spans = sorted({span for _, of_side, span in words if of_side == side})
        for start, end in runs(segment_text(text), spans):
            longest = max(longest, sum(start <= first < end for first, _ in spans))
    return longest


def _marked_words(
    result: Result, system: str, shown: int, doubtful: Collection[str]
) -> list[set[MarkedWord]]:
    """The marked words of each segment that are worth showing."""
    aligner = aligner_of(result.metrics.values())
    known = aligner.model.vocabulary()[0] if isinstance(aligner, ModelAligner) else None
    names = {kind.key: name for name, kinds in marking(result).items() for kind in kinds}
    found = []
    for row, marks, _ in zip(result.rows, marks_of(result, system), range(shown), strict=False):
        source = segment_text(row.source or "")
        found.append({
            (names[kind.key], mark.side, span)
            for kind, mark in marks
            if names[kind.key] not in doubtful
            for span in mark.spans
            if mark.side == "output" or _is_known(source[slice(*span)], known)
        })  # fmt: skip
    return found


def _is_known(word: str, known: Collection[str] | None) -> bool:
    """Whether the model knows a word; without letters or digits, it is no example."""
    return any(map(str.isalnum, word)) and (known is None or word in known or word.lower() in known)


def _example(
    comparison: Comparison, system: str, index: int, name: str, doubtful: Collection[str]
) -> ErrorExample:
    result, metric = comparison.measured, comparison.metrics[name]
    row, position = result.rows[index], result.systems.index(system)
    names = {kind.key: name for name, kinds in marking(result).items() for kind in kinds}
    marks = [item for item in marks_of(result, system)[index] if names[item[0].key] not in doubtful]
    output = row.hypotheses[position]
    sides = {"source": row.source or "", "output": output}
    # Text without a mark is shown where the other text has it, as far as lengths tell.
    center = max(
        (
            ((start + end) / 2 / len(segment_text(text)), end - start)
            for side, text in sides.items()
            for (start, end), _ in styled_runs(segment_text(text), marks, side)
        ),
        key=lambda item: item[1],
        default=(0.0, 0),
    )[0]
    texts = {}
    if row.source is not None:
        texts["source"] = _excerpt(row.source, center, marks, "source")
    if row.references:
        texts["reference"] = _excerpt(row.references[0], center)
    texts["output"] = _excerpt(output, center, marks, "output")
    view = {
        "sort": metric.name,
        "whose": system,
        "descending": "yes" if metric.higher_is_better is False else "",
        "segment": index + 1,
    }
    score = float(np.nan_to_num(segment_scores(result, name, system)[index]))
    return ErrorExample(
        index + 1,
        f"{metric.segment_figure or metric.name} {format_figure(score)}",
        urlencode(view),
        texts,
    )


def _excerpt(
    segment: Segment, center: float, marks: Sequence[tuple[MarkKind, Mark]] = (), side: str = ""
) -> MarkedText:
    """The characters around the longest run of marked words, which is a piece.

    Args:
        segment: The text.
        center: What to show of a text without marks, from 0 for its start to 1 for its end.
        marks: The marks of both sides.
        side: Which side the text is.
    """
    text = segment_text(segment)
    styled = sorted(styled_runs(text, marks, side))
    longest = max((span for span, _ in styled), key=lambda span: span[1] - span[0], default=None)
    first = longest[0] if longest else round(center * len(text))
    before = EXCERPT // 4 if longest else EXCERPT // 2
    at = max(0, min(first - before, len(text) - EXCERPT))
    end = at + EXCERPT
    if at:  # from the beginning of a word to the end of one
        at = text.find(" ", at, first) + 1 or at
    if end < len(text):
        end = max(text.rfind(" ", first, end), 0) or end
    pieces = [("… ", "")] if at else []
    for (start, stop), style in styled:
        if at < stop and start < end:
            pieces += [(text[at:start], ""), (text[max(at, start) : min(stop, end)], style)]
            at = min(stop, end)
    pieces += [(text[at:end], ""), (" …" if end < len(text) else "", "")]
    return [(piece, style) for piece, style in pieces if piece]
