"""A comparison as an HTML report: the verdict, tables, and the data of the browser of segments."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from coverage_eval.compare.breakdowns import break_down
from coverage_eval.compare.evidence import flagged_segments, flags, listed_kinds, marking
from coverage_eval.compare.report.document_view import ViewedDocument
from coverage_eval.compare.report.examples import ErrorExample, find_examples
from coverage_eval.compare.report.page import Report, packed, render_page, sentence
from coverage_eval.compare.report.segments import ReportOptions, segment_records
from coverage_eval.compare.table import Comparison, brief_note, comparison_notes, comparison_table
from coverage_eval.compare.verdict import ComparisonVerdict, certain_errors, decide, missing_lines
from coverage_eval.core.mark import PHRASES, WORDS
from coverage_eval.core.show.table import (
    SYSTEM_COLOURS,
    Table,
    notes_with_marks,
    survey,
)
from coverage_eval.coverage.trust import doubtful_metrics, trust_sentences
from coverage_eval.outputs.named import KINDS
from coverage_eval.version import __version__

MAX_OUTPUTS = 1_000_000
"""The most outputs of segments in a report; with more, browsers open it too slowly."""

MAX_LINES = 10_000
"""The most source lines of documents side by side in a report; ``segment -o X.html`` shows any."""

BLOCK = 100
"""Segments in a block of data; the page unpacks a whole block to show one."""

LISTED = 10
"""Words or n-grams of each system in a list."""


@dataclass(frozen=True)
class ErrorList:
    """A table of errors; each row leads to its segments.

    Attributes:
        table: The table; its second column has the links.
        links: For each row, the URL's fragment, without ``#``, that shows the segments it counts.
    """

    table: Table
    links: Sequence[str]


@dataclass(frozen=True)
class Fault:
    """What needs no score.

    Attributes:
        system: The system.
        said: What is wrong with it, such as ``lacks 2 of 60 lines: 13, 31``.
        segments: Numbers of the segments, from 1; none for lines of documents.
    """

    system: str
    said: str
    segments: Sequence[int] = ()


@dataclass(frozen=True)
class Topic:
    """A heading with paragraphs on how something was measured.

    Attributes:
        heading: The heading.
        paragraphs: Text that wraps.
        lines: Text to show verbatim, such as a signature or a command.
    """

    heading: str
    paragraphs: Sequence[str] = ()
    lines: Sequence[str] = ()


@dataclass(frozen=True)
class Document:
    """One report.

    Attributes:
        title: Its title.
        verdict: Which system to take; sentences call the systems by number, as ``⟦0⟧``.
        systems: Their names; the baseline's is ``baseline``.
        faults: Missing lines and named errors.
        scores: The table of scores.
        flagged: For each row and column of it, how many segments are flagged, or nothing.
        examples: By system, an error that a reader can check; none without errors.
        lists: The commonest errors.
        documents: By system, its documents if they were cut.
        left_out: How many documents are left out.
        topics: How it was measured.
        notice: What the report leaves out; empty for nothing.
        blocks: Data for the script, by name.
    """

    title: str
    verdict: ComparisonVerdict
    systems: Sequence[str]
    baseline: str
    faults: Sequence[Fault]
    scores: Table
    flagged: Sequence[Sequence[str]]
    examples: Mapping[str, ErrorExample]
    lists: Sequence[ErrorList]
    documents: Mapping[str, Sequence[ViewedDocument]]
    left_out: int
    topics: Sequence[Topic]
    notice: str
    blocks: Sequence[tuple[str, Any]]


def make_report(comparison: Comparison, **settings: Any) -> Report:
    """One HTML file to read, with a browser of segments; a notebook shows it.

    >>> import coverage_eval as ce
    >>> systems = {"good": ["a house"], "bad": ["a house house"]}
    >>> report = ce.make_report(ce.compare(systems, ["a house"], metrics=["rep"]))
    >>> "1 segments are too few to show a difference." in report.html
    True

    Its ``save`` writes the file.

    Args:
        comparison: The systems.
        **settings: What the report shows besides the scores: the fields of
            :class:`coverage_eval.compare.report.segments.ReportOptions`, such as ``attention``
            (maps of each segment by system) or ``title``.

    Raises:
        ValueError: The comparison was made from statistics alone, or maps are of an unknown
            system or of other segments.
    """
    return render_report(make_document(comparison, ReportOptions(**settings)))


def render_report(document: Document) -> Report:
    """Make the report's file."""
    places = {name: place for place, name in enumerate(document.systems)}
    return Report(
        render_page(
            "report.html",
            "report.js",
            ("report.css", "document_table.css"),
            document=document,
            places={name: place % len(SYSTEM_COLOURS) for name, place in places.items()},
            sentences=[sentence(said, document.systems) for said in document.verdict.sentences],
            notes=notes_with_marks(document.scores, survey(document.scores)),
            max_lines=MAX_LINES,
            blocks=packed(document.blocks),
        )
    )


def make_document(comparison: Comparison, options: ReportOptions) -> Document:
    """The report of a comparison.

    Raises:
        ValueError: There are only statistics, or maps belong to an unknown system or to
            other segments.
    """
    result, systems = comparison.measured, list(comparison.rows)
    for system, maps in options.attention.items():
        if system not in systems:
            raise ValueError(f"attention of {system!r}, which is not one of the systems")
        if len(maps) != result.segments:
            raise ValueError(
                f"attention of {system}: {len(maps)} segments, but there are {result.segments}"
            )
    doubtful = doubtful_metrics(comparison.trust)
    documents = [(system, cut) for system in systems for cut in result.documents.get(system, ())]
    shown: dict[str, list[ViewedDocument]] = {}
    lines = 0
    for system, cut in documents:
        lines += len(cut.document.source)
        if lines <= MAX_LINES:
            shown.setdefault(system, []).append(ViewedDocument.of(cut))
    names = ", ".join(systems) if len(systems) <= 4 else f"{len(systems)} systems"
    return Document(
        title=options.title or f"Coverage errors of {names}",
        verdict=decide(comparison.situation.called(lambda name: f"⟦{systems.index(name)}⟧")),
        systems=systems,
        baseline=comparison.baseline,
        faults=list(_faults(comparison)),
        scores=replace(comparison_table(comparison), notes=(brief_note(comparison),)),
        flagged=[[_count_flagged(comparison, m, s) for m in result.metrics] for s in systems],
        examples=find_examples(comparison, shown_segments(comparison), doubtful),
        lists=list(_lists(comparison)),
        documents=shown,
        left_out=len(documents) - sum(map(len, shown.values())),
        topics=list(_topics(comparison, options)),
        notice=_notice(comparison),
        blocks=[
            ("contents", _contents(comparison, doubtful)),
            *_blocks(comparison, options),
        ],
    )


def shown_segments(comparison: Comparison) -> int:
    """How many segments, from the first on, the report's browser of segments shows."""
    return min(comparison.segments, MAX_OUTPUTS // len(comparison.rows))


def _notice(comparison: Comparison) -> str:
    shown = shown_segments(comparison)
    if shown == comparison.segments:
        return ""
    return (
        f"Only the first {shown:,} of {comparison.segments:,} segments can be read here, because "
        f"a report holds {MAX_OUTPUTS:,} outputs. All figures above are of the whole text. To "
        "read the other segments, make reports of fewer systems or of parts of the text."
    )


def _faults(comparison: Comparison) -> Iterator[Fault]:
    """Missing lines, then outputs of which nothing is left."""
    result = comparison.measured
    for system in comparison.rows:
        _, said = missing_lines(result, system)
        if said:
            yield Fault(system, said)
        for kind, segments in certain_errors(result, system).items():
            said = f"{len(segments):,} of {result.segments:,} outputs {KINDS[kind]}"
            yield Fault(system, said, [segment + 1 for segment in segments])


def _count_flagged(comparison: Comparison, name: str, system: str) -> str:
    if not flags(comparison.metrics[name]):
        return ""
    flagged = int(flagged_segments(comparison.measured, name, system).sum())
    return f"{flagged:,} of {comparison.segments:,} flagged"


def _lists(comparison: Comparison) -> Iterator[ErrorList]:
    """The words and n-grams with most errors, without those of punctuation."""
    result = comparison.measured
    names = [
        name
        for name, what in (("dropped-words", WORDS), ("repeated-ngrams", PHRASES))
        if listed_kinds(result, what) and (what == PHRASES or result.has_source)
    ]
    # All entries are asked for, because those of punctuation are left out.
    for table in break_down(result, names, max(1, result.segments) * 1_000_000):
        rows = [
            row
            for system in result.systems
            for row in islice(
                (r for r in table.rows if r[0] == system and _is_of_words(str(r[1]))), LISTED
            )
        ]
        if rows:
            links = [
                urlencode({"found": table.name, "entry": entry, "whose": system})
                for system, entry, *_ in rows
            ]
            yield ErrorList(replace(table, rows=rows), links)


def _is_of_words(entry: str) -> bool:
    return all(any(map(str.isalnum, word)) for word in entry.split())


def _topics(comparison: Comparison, options: ReportOptions) -> Iterator[Topic]:
    """How each score was measured."""
    result = comparison.measured
    for metric in comparison.metrics.values():
        signature = comparison.signatures[metric.name]
        yield Topic(metric.name, [metric.limits] if metric.limits else [], [signature])
    if comparison.trust:
        planted = trust_sentences(result, comparison.trust)
        yield Topic("Errors planted in these texts", planted)
    yield Topic("Intervals and tests", comparison_notes(comparison))
    yield Topic("Empty segments", [_empty_segments(comparison)])
    if result.unknown_words:
        shares = [
            f"{name.replace('_', ' ')}: {100 * share:.1f}%"
            for name, share in result.unknown_words.items()
        ]
        yield Topic("Words that the aligner's model does not know", shares)
    said = [finding.message for finding in result.findings]
    yield Topic("Warnings and notes", said or ["There were none."])
    command = [options.command] if options.command else []
    yield Topic("Made by", [f"coverage-eval {__version__}"], command)


def _empty_segments(comparison: Comparison) -> str:
    result = comparison.measured
    rows, tokens = result.rows, result.tokens
    counts = {}
    if result.references:
        counts["the reference"] = sum(not any(map(tokens, row.references)) for row in rows)
    if result.has_source:
        counts["the source"] = sum(not result.source_tokens(row.source or "") for row in rows)
    for index, system in enumerate(result.systems):
        counts[system] = sum(not tokens(row.hypotheses[index]) for row in rows)
    listed = ", ".join(f"{count:,} in {name}" for name, count in counts.items() if count)
    return f"{listed}; they are scored like all others." if listed else "There are none."


def _worst(comparison: Comparison, doubtful: Collection[str]) -> tuple[str, str]:
    """The metric and the system with the highest score of errors; the browser opens there."""
    metrics = comparison.metrics
    scores = {
        (name, system): cells[name].score.score
        for system, cells in comparison.rows.items()
        for name in metrics
    }
    errors = [
        key
        for key in scores
        if metrics[key[0]].higher_is_better is False
        and metrics[key[0]].decides
        and key[0] not in doubtful
    ]
    if errors:
        name, system = max(errors, key=lambda key: (scores[key], *key))
    else:
        first = next(iter(metrics))
        name, system = min((key for key in scores if key[0] == first), key=scores.__getitem__)
    return metrics[name].name, system


def _contents(comparison: Comparison, doubtful: Collection[str]) -> dict[str, Any]:
    metric, system = _worst(comparison, doubtful)
    kinds = {kind.key: kind for own in marking(comparison.measured).values() for kind in own}
    return {
        "worst": {"metric": metric, "system": system},
        "systems": list(comparison.rows),
        "colours": [
            f"var(--system-{place % len(SYSTEM_COLOURS)})" for place in range(len(comparison.rows))
        ],
        "metrics": [
            {"name": m.name, "higherIsBetter": m.higher_is_better, "flags": flags(m)}
            for m in comparison.metrics.values()
        ],
        "kinds": [
            {
                "key": kind.key,
                "style": kind.style,
                "side": kind.side,
                "meaning": kind.meaning,
                "error": kind.error,
                "listed": kind.listed,
                "shown": not kind.faint
                or all(other.faint for other in kinds.values() if other.side == kind.side),
            }
            for kind in sorted(kinds.values(), key=lambda kind: kind.striking)
        ],
        "segments": shown_segments(comparison),
        "block": BLOCK,
    }


def _blocks(comparison: Comparison, options: ReportOptions) -> Iterator[tuple[str, Any]]:
    """The segments that are shown, in blocks, and their scores and flags."""
    result, shown = comparison.measured, shown_segments(comparison)
    records = islice(segment_records(comparison, options), shown)
    for number, block in enumerate(iter(lambda: list(islice(records, BLOCK)), [])):
        yield f"segments/{number}", block
    for name, metric in comparison.metrics.items():
        for system in comparison.rows:
            scores = result.segment_scores(name, system)[:shown]
            yield f"score/{metric.name}/{system}", scores
            if flags(metric):
                flagged = flagged_segments(result, name, system)[:shown].tolist()
                yield f"flags/{metric.name}/{system}", flagged
