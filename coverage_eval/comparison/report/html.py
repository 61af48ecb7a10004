"""A comparison as an HTML report: statements, tables, and the data of the browser of segments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from coverage_eval.checks.model import unknown_words_of_result
from coverage_eval.comparison.breakdowns import BREAKDOWNS
from coverage_eval.comparison.evidence import (
    flagged_segments,
    flags_segments,
    listed_kinds,
    mark_kinds,
)
from coverage_eval.comparison.report.data import ContentsRecord, KindRecord, segment_records
from coverage_eval.comparison.report.examples import find_examples, worst_examples
from coverage_eval.comparison.report.faults import find_faults
from coverage_eval.comparison.report.page import (
    Page,
    ViewedDocument,
    packed,
    render_page,
    sentence,
)
from coverage_eval.comparison.report.picture import draw_scores, shared_ending
from coverage_eval.comparison.table import (
    Comparison,
    brief_note,
    comparison_notes,
    comparison_table,
)
from coverage_eval.core.layout import legend
from coverage_eval.core.mark import LIST_PHRASES, LIST_WORDS
from coverage_eval.core.report import Table
from coverage_eval.core.sampled_texts import percent
from coverage_eval.coverage.trust import trust_sentences
from coverage_eval.plotting import SYSTEM_COLOURS
from coverage_eval.version import __version__

if TYPE_CHECKING:
    from coverage_eval.attention_maps.maps import AttentionMap
    from coverage_eval.documents.segmentation import Segmentation

MAX_OUTPUTS = 1_000_000
"""The most outputs of segments in a report; with more, browsers open it too slowly."""

MAX_LINES = 10_000
"""The most source lines of documents side by side in a report; ``segment -o X.html`` shows any."""

BLOCK = 100
"""Segments in a block of data; the page unpacks a whole block to show one."""

FEW_UNKNOWN = 0.01
"""The share of words unknown to the model from which on it is said below the statements."""

MAX_LISTED = 8
"""Words or n-grams in a list."""


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


def make_report(comparison: Comparison, **settings: Any) -> Page:
    """One HTML file to read, with a browser of segments; a notebook shows it.

    >>> import coverage_eval as ce
    >>> systems = {"good": ["a house"], "bad": ["a house house"]}
    >>> report = ce.make_report(ce.compare(systems, ["a house"], metrics=["rep"]))
    >>> report
    <Page, 0.0 MB of HTML>

    Its ``save`` writes the file.

    Args:
        comparison: The systems.
        **settings: What the report shows besides the scores: the fields of
            :class:`ReportOptions`, such as ``attention`` (maps of each segment by system) or
            ``title``.

    Raises:
        DataError: No metric has scores.
        ValueError: The comparison was made from statistics alone, or maps are of an unknown
            system or of other segments.
    """
    result, options = comparison.result, ReportOptions(**settings)
    result.require_scores()
    for system, maps in options.attention.items():
        if system not in result.systems:
            raise ValueError(f"attention of {system!r}, which is not one of the systems")
        if len(maps) != result.segments:
            raise ValueError(
                f"attention of {system}: {len(maps)} segments, but there are {result.segments}"
            )
    values = report_values(comparison, options)
    blocks = [
        ("contents", _contents(comparison, values)),
        *_blocks(comparison, options, values["shown"]),
    ]
    styles = ("report.css", "document_table.css")
    return Page(render_page("report.html", "report.js", styles, blocks=packed(blocks), **values))


def report_values(comparison: Comparison, options: ReportOptions) -> dict[str, Any]:
    """What the report's template shows.

    Raises:
        ValueError: There are only statistics.
    """
    result, systems = comparison.result, list(comparison.rows)
    documents: dict[str, list[ViewedDocument]] = {}
    left_out = 0
    if result.texts and result.texts.documents:
        documents, left_out = _viewed_documents(result.texts.documents, systems)
    names = {system: f"⟦{number}⟧" for number, system in enumerate(systems)}
    ending = shared_ending(systems)
    labels = {system: system.removesuffix(ending) for system in systems}
    shown_names = list(labels.values())
    table, stated = comparison_table(comparison), comparison.statements
    note = " ".join([*legend(table), brief_note(comparison, names[comparison.baseline])])
    listed = ", ".join(shown_names) if len(systems) <= 4 else f"{len(systems)} systems"
    worst, _ = _worst(comparison)
    # The first statement decides the order; without one, the metric with most errors.
    told = [item.metric for item in stated.statements]
    picture = draw_scores(comparison, told[0] if told else worst)
    shown = min(result.segments, MAX_OUTPUTS // len(systems))
    doubtful = _doubtful(comparison)
    examples = find_examples(comparison, shown, doubtful)
    return {
        "title": options.title or f"Coverage errors of {listed}",
        "places": {name: index % len(SYSTEM_COLOURS) for index, name in enumerate(systems)},
        "baseline": comparison.baseline,
        "statements": [sentence(text, shown_names) for text in stated.write(names.__getitem__)],
        "remarks": comparison.remarks,
        "worth": _worth(comparison),
        "faults": list(find_faults(comparison)),
        "labels": labels,
        "scores": table,
        "picture": picture,
        "note": sentence(note, shown_names),
        # The worst system's comes first, beside the table.
        "examples": {name: examples[name] for name in [*picture.rows][::-1] if name in examples},
        "worst": worst_examples(comparison, worst, shown, doubtful),
        "lists": list(_lists(comparison)),
        "documents": documents,
        "left_out": left_out,
        "max_lines": MAX_LINES,
        "topics": list(_topics(comparison, options)),
        "segments": result.segments,
        "shown": shown,
        "max_outputs": MAX_OUTPUTS,
    }


def _viewed_documents(
    matched: Mapping[str, Sequence[Segmentation]], systems: Sequence[str]
) -> tuple[dict[str, list[ViewedDocument]], int]:
    """The first documents of each system, and how many are left out."""
    documents: dict[str, list[ViewedDocument]] = {}
    lines = left_out = 0
    for system in systems:
        for document in matched.get(system, ()):
            lines += len(document.source)
            if lines <= MAX_LINES:
                documents.setdefault(system, []).append(ViewedDocument.of(document))
            else:
                left_out += 1
    return documents, left_out


def _worth(comparison: Comparison) -> str:
    """What the flags are worth on these texts, in a sentence; empty without a model."""
    clauses = []
    if comparison.trust:
        finds = " and ".join(trust.finds for trust in comparison.trust.values())
        clauses.append(f"This model {finds}")
    unknown = max(unknown_words_of_result(comparison.result).values(), default=0.0)
    if unknown >= FEW_UNKNOWN:
        model = "it" if clauses else "the model"
        clauses.append(f"{percent(unknown)} of the words are unknown to {model}")
    return f"{'; '.join(clauses)}." if clauses else ""


def _doubtful(comparison: Comparison) -> Collection[str]:
    """Metrics whose marks prove little: there are plainer ones, or they only hint."""
    metrics = comparison.result.metrics
    plain = {
        kind.error
        for metric in metrics.values()
        if flags_segments(metric)
        for kind in metric.presentation.kinds
    }
    doubtful = {*comparison.doubts}
    for name, metric in metrics.items():
        errors = {kind.error for kind in metric.presentation.kinds}
        is_plainer = plain & errors if comparison.result.num_references else plain
        if is_plainer and not flags_segments(metric):
            doubtful.add(name)
    return doubtful


def _lists(comparison: Comparison) -> Iterator[tuple[Table, Sequence[str]]]:
    """The words and n-grams with most errors, without punctuation, and links to their segments."""
    result = comparison.result
    for name, what in (("dropped-words", LIST_WORDS), ("repeated-ngrams", LIST_PHRASES)):
        metrics = {metric for metric, _ in listed_kinds(result, what)} - {*_doubtful(comparison)}
        if not metrics or (what == LIST_WORDS and not result.has_source):
            continue
        # All entries are asked for, because the lists have those that tell a system from others.
        table = BREAKDOWNS[name].make(result, max(1, result.segments) * 1_000_000)
        rows = _most_special(table.rows)[:MAX_LISTED]
        views = [{"found": table.name, "entry": str(row[1]), "whose": row[0]} for row in rows]
        if rows:
            yield replace(table, rows=rows), list(map(urlencode, views))


def _most_special(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows of words that other systems have less often, by how much less; no punctuation.

    Args:
        rows: Rows of a system, what is listed, and how often.
    """
    totals: Counter[Any] = Counter()
    counted = []
    for row in rows:
        at = next(index for index, cell in enumerate(row) if isinstance(cell, int))
        totals[row[1:at]] += row[at]
        counted.append((row, row[1:at], row[at]))
    others = max(1, len({row[0] for row in rows}) - 1)
    excess = [(count - (totals[entry] - count) / others, row) for row, entry, count in counted]
    excess.sort(key=lambda item: -item[0])
    return [
        row
        for more, row in excess
        if more > 0 and all(any(map(str.isalnum, word)) for word in row[1].split())
    ]


Topic = tuple[str, Sequence[str], Sequence[str]]
"""A heading, paragraphs, and lines to show verbatim, such as a signature or a command."""


def _topics(comparison: Comparison, options: ReportOptions) -> Iterator[Topic]:
    """How each score was measured."""
    result = comparison.result
    for metric in result.metrics.values():
        limits = [metric.presentation.caveat] if metric.presentation.caveat else []
        yield metric.presentation.name, limits, [comparison.signatures[metric.presentation.name]]
    if comparison.trust:
        yield "Errors planted in these texts", trust_sentences(result, comparison.trust), ()
    yield "Intervals and tests", comparison_notes(comparison), ()
    if unknown := unknown_words_of_result(result):
        shares = [
            f"{name.replace('_', ' ')}: {100 * share:.1f}%" for name, share in unknown.items()
        ]
        yield "Words that the aligner's model does not know", shares, ()
    messages = [finding.message for finding in result.findings]
    yield "Warnings and notes", messages or ["There were none."], ()
    yield "Made by", [f"coverage-eval {__version__}"], [options.command] if options.command else []


def _worst(comparison: Comparison) -> tuple[str, str]:
    """The metric and the system with the highest score of errors; the browser opens there."""
    metrics, rows = comparison.result.metrics, comparison.rows
    errors = {
        name
        for name, metric in metrics.items()
        if metric.presentation.higher_is_better is False and metric.presentation.kinds
    } - {*_doubtful(comparison)}
    if errors:
        _, name, system = max((rows[s][name].score.score, name, s) for s in rows for name in errors)
    else:
        name = next(iter(metrics))
        system = min(rows, key=lambda system: rows[system][name].score.score)
    return name, system


def _contents(comparison: Comparison, values: Mapping[str, Any]) -> ContentsRecord:
    result = comparison.result
    name, system = _worst(comparison)
    return {
        "worst": {"metric": result.metrics[name].presentation.name, "system": system},
        "systems": list(comparison.rows),
        "labels": [*values["labels"].values()],
        "colours": [f"var(--system-{place})" for place in values["places"].values()],
        "metrics": [
            {
                "name": m.presentation.name,
                "figure": m.presentation.segment_unit or m.presentation.name,
                "higherIsBetter": m.presentation.higher_is_better,
                "flags": flags_segments(m),
                "rule": result.fitted[name].flag_rule,
            }
            for name, m in result.metrics.items()
        ],
        "kinds": list(_kinds(comparison)),
        "text": "source" if result.has_source else "reference",
        "segments": values["shown"],
        "block": BLOCK,
    }


def _kinds(comparison: Comparison) -> Iterator[KindRecord]:
    """The kinds of marks, the plainest first; those that prove little are shown on demand."""
    doubtful = _doubtful(comparison)
    of_metrics = mark_kinds(comparison.result).items()
    for name, kinds in sorted(of_metrics, key=lambda item: item[1][0].error_threshold):
        for kind in {kind.key: kind for kind in kinds}.values():
            yield {
                "key": kind.key,
                "style": kind.style,
                "side": kind.side,
                "meaning": kind.meaning,
                "error": kind.error,
                "listed": kind.listed,
                "shown": name not in doubtful,
            }


def _blocks(
    comparison: Comparison, options: ReportOptions, shown: int
) -> Iterator[tuple[str, Any]]:
    """The segments that are shown, in blocks, and their scores and flags."""
    result = comparison.result
    records = islice(segment_records(comparison, options.attention), shown)
    for number, block in enumerate(iter(lambda: list(islice(records, BLOCK)), [])):
        yield f"segments/{number}", block
    for name, metric in result.metrics.items():
        for system in comparison.rows:
            scores = result.segment_scores(name, system)[:shown]
            yield f"score/{metric.presentation.name}/{system}", scores
            if flags_segments(metric):
                flagged = flagged_segments(result, name, system)[:shown].tolist()
                yield f"flags/{metric.presentation.name}/{system}", flagged
