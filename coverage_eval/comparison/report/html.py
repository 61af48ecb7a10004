"""A comparison as an HTML report: statements, tables, and the data of the browser of segments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from coverage_eval.checks.model import unknown_words_of_result
from coverage_eval.comparison.breakdowns import BREAKDOWNS
from coverage_eval.comparison.evidence import (
    flags_segments,
    function_words,
    listed_kinds,
    mark_kinds,
)
from coverage_eval.comparison.report.answer import find_flags, write_answer
from coverage_eval.comparison.report.data import segment_records
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
from coverage_eval.comparison.statements import Statement, remarks
from coverage_eval.comparison.table import (
    Comparison,
    brief_note,
    comparison_notes,
    comparison_table,
)
from coverage_eval.core.mark import LIST_PHRASES, LIST_WORDS
from coverage_eval.core.report import Table
from coverage_eval.core.sampled_texts import percent
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

LISTS = {"dropped-words": LIST_WORDS, "repeated-ngrams": LIST_PHRASES}
"""The lists of errors, and how metrics call marks that they count."""

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
    <Page, 0.1 MB of HTML>

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
        *_blocks(comparison, options, values),
    ]
    styles = ("report.css", "document_table.css")
    return Page(render_page("report.html", "report.js", styles, blocks=packed(blocks), **values))


def report_values(comparison: Comparison, options: ReportOptions) -> dict[str, Any]:
    """What the report's template and its script show.

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
    words = function_words(result)
    flags = find_flags(comparison, words)
    stated = comparison.statements
    told = stated.deciding
    opened, worst = _worst(comparison, told)
    deciding = told.metric if told else opened
    picture = draw_scores(comparison, deciding, flags.get(deciding))
    lists = list(_lists(comparison, words))
    doubtful = _doubtful(comparison)
    shown = min(result.segments, MAX_OUTPUTS // len(systems))
    examples = find_examples(comparison, shown, doubtful, words)
    table = comparison_table(comparison)
    listed = ", ".join(shown_names) if len(systems) <= 4 else f"{len(systems)} systems"
    answer = write_answer(comparison, flags, worst, _commonest(comparison, lists, worst, opened))
    return {
        "title": options.title or f"Coverage errors of {listed}",
        "places": {name: index % len(SYSTEM_COLOURS) for index, name in enumerate(systems)},
        "labels": labels,
        "answer": [sentence(line, shown_names) for line in answer],
        "statements": [sentence(text, shown_names) for text in stated.write(names.__getitem__)],
        "remarks": [*remarks(result)],
        "worth": _worth(comparison),
        "faults": list(find_faults(comparison)),
        "scores": table,
        "picture": picture,
        "deciding": comparison.metrics[deciding],
        "is_sorted": told is not None,
        "flagged": {system: sum(column) for system, column in flags.get(deciding, {}).items()},
        "note": sentence(brief_note(comparison, names[comparison.baseline]), shown_names),
        "examples": {name: examples[name] for name in picture.rows if name in examples},
        "worst": worst,
        "opened": opened,
        "flags": flags,
        "function_words": words,
        "printed": worst_examples(comparison, opened, shown, doubtful, words),
        "lists": lists,
        "documents": documents,
        "left_out": left_out,
        "max_lines": MAX_LINES,
        "topics": list(_topics(comparison, options)),
        "segments": result.segments,
        "shown": shown,
        "max_outputs": MAX_OUTPUTS,
    }


def _commonest(
    comparison: Comparison, lists: Sequence[tuple[Table, Sequence[str]]], system: str, opened: str
) -> tuple[str, int] | None:
    """What a system has wrong most often, and how often, by the list of a metric's marks."""
    listed = {kind.listed for kind in comparison.metrics[opened].presentation.kinds}
    for table, _ in lists:
        rows = [row for row in table.rows if row[0] == system]
        if rows and LISTS[table.name] in listed:
            return str(rows[0][1]), next(cell for cell in rows[0] if isinstance(cell, int))
    return None


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
    """How many words the model does not know, if they are many; empty without a model."""
    unknown = max(unknown_words_of_result(comparison.result).values(), default=0.0)
    share = percent(unknown)
    return f"{share} of the words are unknown to the model." if unknown >= FEW_UNKNOWN else ""


def _doubtful(comparison: Comparison) -> Collection[str]:
    """Metrics whose marks prove little: there are plainer ones, or they only hint."""
    metrics = comparison.result.metrics
    plain = {
        kind.error
        for metric in metrics.values()
        if flags_segments(metric)
        for kind in metric.presentation.kinds
    }
    doubtful = set()
    for name, metric in metrics.items():
        errors = {kind.error for kind in metric.presentation.kinds}
        is_plainer = plain & errors if comparison.result.num_references else plain
        if is_plainer and not flags_segments(metric):
            doubtful.add(name)
    return doubtful


def _lists(
    comparison: Comparison, function_words: Set[str]
) -> Iterator[tuple[Table, Sequence[str]]]:
    """The words and n-grams with most errors, and links to their segments.

    Punctuation and function words are left out.
    """
    result = comparison.result
    for name, what in LISTS.items():
        metrics = {metric for metric, _ in listed_kinds(result, what)} - {*_doubtful(comparison)}
        if not metrics or (what == LIST_WORDS and not result.has_source):
            continue
        # All entries are asked for, because the lists have those that tell a system from others.
        table = BREAKDOWNS[name].make(result, max(1, result.segments) * 1_000_000)
        rows = [
            row
            for row in _most_special(table.rows)
            if what != LIST_WORDS or row[1].lower() not in function_words
        ][:MAX_LISTED]
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
    yield "Intervals and tests", comparison_notes(comparison), ()
    if unknown := unknown_words_of_result(result):
        shares = [
            f"{name.replace('_', ' ')}: {100 * share:.1f}%" for name, share in unknown.items()
        ]
        yield "Words that the aligner's model does not know", shares, ()
    messages = [finding.message for finding in result.findings]
    yield "Warnings and notes", messages or ["There were none."], ()
    yield "Made by", [f"coverage-eval {__version__}"], [options.command] if options.command else []


def _worst(comparison: Comparison, told: Statement | None) -> tuple[str, str]:
    """The metric and the system that the browser opens with, those with most errors.

    Args:
        comparison: The systems.
        told: The statement that decides; None if tests tell nothing apart.
    """
    metrics, rows = comparison.result.metrics, comparison.rows
    systems = comparison.statements.systems or [*rows]
    if told and metrics[told.metric].presentation.kinds:
        return told.metric, told.worse[0]
    errors = {
        name
        for name, metric in metrics.items()
        if metric.presentation.higher_is_better is False and metric.presentation.kinds
    } - {*_doubtful(comparison)}
    if errors:
        _, name, system = max(
            (rows[s][name].score.score, name, s) for s in systems for name in errors
        )
    else:
        name = next(iter(metrics))
        system = min(systems, key=lambda system: rows[system][name].score.score)
    return name, system


def _contents(comparison: Comparison, values: Mapping[str, Any]) -> dict[str, Any]:
    result = comparison.result
    return {
        "worst": {
            "metric": result.metrics[values["opened"]].presentation.name,
            "system": values["worst"],
        },
        "systems": list(comparison.rows),
        "labels": [*values["labels"].values()],
        "colours": [f"var(--system-{place})" for place in values["places"].values()],
        "metrics": [
            {
                "name": m.presentation.name,
                "figure": m.presentation.segment_unit or m.presentation.name,
                "higherIsBetter": m.presentation.higher_is_better,
                "flags": flags_segments(m),
            }
            for name, m in result.metrics.items()
        ],
        "kinds": list(_kinds(comparison)),
        "functionWords": sorted(values["function_words"]),
        "text": "source" if result.has_source else "reference",
        "segments": values["shown"],
        "block": BLOCK,
    }


def _kinds(comparison: Comparison) -> Iterator[dict[str, Any]]:
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
    comparison: Comparison, options: ReportOptions, values: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """The segments that are shown, in blocks, and their scores and flags."""
    result, shown = comparison.result, values["shown"]
    records = islice(
        segment_records(comparison, options.attention, values["function_words"]), shown
    )
    for number, block in enumerate(iter(lambda: list(islice(records, BLOCK)), [])):
        yield f"segments/{number}", block
    for name, metric in result.metrics.items():
        for system in comparison.rows:
            scores = result.segment_scores(name, system)[:shown]
            yield f"score/{metric.presentation.name}/{system}", scores
            if flagged := values["flags"].get(name):
                yield f"flags/{metric.presentation.name}/{system}", flagged[system][:shown]
