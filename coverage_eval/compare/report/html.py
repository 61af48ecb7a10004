"""A comparison as an HTML report: sentences, tables, and the data of the browser of segments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice
from typing import Any
from urllib.parse import urlencode

from coverage_eval.compare.breakdowns import break_down
from coverage_eval.compare.evidence import find_metric, marking, required_metric
from coverage_eval.compare.report.document_view import ViewedDocument
from coverage_eval.compare.report.examples import ErrorExample, find_examples
from coverage_eval.compare.report.page import (
    CardSegment,
    Document,
    ErrorList,
    MarkedWords,
    Report,
    SystemCard,
    Topic,
    render_report,
)
from coverage_eval.compare.report.segments import (
    Record,
    ReportOptions,
    segment_records,
)
from coverage_eval.compare.table import (
    Comparison,
    comparison_notes,
    comparison_table,
)
from coverage_eval.core.mark import PHRASES, SIDES, WORDS, MarkKind
from coverage_eval.core.measure import Result
from coverage_eval.core.show.table import SYSTEM_COLOURS, format_figure
from coverage_eval.coverage.trust import doubtful_metrics, trust_sentences
from coverage_eval.version import __version__

MAX_OUTPUTS = 1_000_000
"""The most outputs of segments in a report; with more, browsers open it too slowly."""

MAX_LINES = 10_000
"""The most source lines of documents side by side in a report; ``segment -o X.html`` shows any."""

BLOCK = 100
"""Segments in a block of data; the page unpacks a whole block to show one."""

WORST = 3
"""Worst segments on each system's card."""

LISTED = 10
"""Words or n-grams of each system in a list."""

EXCERPT = 40
"""Words of a text on a card."""

BROKEN = {
    "empty": "empty",
    "copy": "copied from the source",
    "refusal": "that refuse, or say the same for every source",
    "wrong-language": "in another language",
    "loop": "with a phrase over and over",
}
"""Named errors that leave nothing of an output, and what the page calls outputs with them."""


def shown_segments(comparison: Comparison) -> int:
    """How many segments, from the first on, the report's browser of segments shows."""
    return min(comparison.segments, MAX_OUTPUTS // len(comparison.rows))


def make_document(comparison: Comparison, options: ReportOptions) -> Document:
    """The report of a comparison.

    Raises:
        ValueError: There are only statistics, or maps belong to an unknown system or to
            other segments.
    """
    _check_sizes(comparison, "attention", options.attention)
    doubtful = doubtful_metrics(comparison.trust)
    documents, left_out = _documents(comparison)
    return Document(
        title=options.title or _title(comparison),
        verdict=comparison.verdict,
        cards=list(_cards(comparison, options, doubtful)),
        scores=comparison_table(comparison),
        question=_question(comparison.measured),
        lists=list(_lists(comparison.measured)),
        documents=documents,
        documents_notice=left_out,
        topics=list(_topics(comparison, options)),
        notice=_notice(comparison),
        blocks=[
            ("contents", _contents(comparison, options, doubtful)),
            *_segment_blocks(comparison, options),
            *_score_columns(comparison),
        ],
    )


def _documents(comparison: Comparison) -> tuple[dict[str, list[ViewedDocument]], str]:
    """By system, its documents if they were cut, and a sentence if some are left out."""
    found: dict[str, list[ViewedDocument]] = {}
    rows = left_out = 0
    for system in comparison.rows:
        for cut in comparison.measured.documents.get(system, ()):
            rows += len(cut.document.source)
            if rows <= MAX_LINES:
                found.setdefault(system, []).append(ViewedDocument.of(cut))
            else:
                left_out += 1
    if not left_out:
        return found, ""
    return found, (
        f"Outputs of documents that are not shown here: {left_out:,}. A report shows "
        f"{MAX_LINES:,} source lines side by side; coverage-eval segment -o PAGE.html shows any "
        "document."
    )


def _title(comparison: Comparison) -> str:
    names = list(comparison.rows)
    return f"Coverage errors of {', '.join(names) if len(names) <= 4 else f'{len(names)} systems'}"


def _question(result: Result) -> str:
    """What the lists of words answer."""
    kinds = [
        required_metric(result, what)[1].key
        for what in (PHRASES, WORDS)
        if find_metric(result, what)
    ]
    return f"What is {' and '.join(kinds)}?" if kinds else "Which texts are hard?"


def _lists(result: Result) -> Iterator[ErrorList]:
    """The words and n-grams with most errors, those with punctuation apart and folded."""
    names = [
        name
        for name, what in (("dropped-words", WORDS), ("repeated-ngrams", PHRASES))
        if find_metric(result, what) and (what == PHRASES or result.has_source)
    ]
    # All entries are asked for, because those with punctuation are listed apart.
    tables = break_down(result, names, max(1, result.segments) * 1_000_000)
    for is_punctuation in (False, True):
        for table in tables:
            kept: dict[Any, list[Any]] = {}
            for row in table.rows:
                system, entry = row[:2]
                own = any(not any(map(str.isalnum, word)) for word in str(entry).split())
                if own == is_punctuation:
                    kept.setdefault(system, []).append(row)
            rows = [row for own in kept.values() for row in own[:LISTED]]
            links = [
                urlencode({"found": table.name, "entry": entry, "of": system})
                for system, entry, *_ in rows
            ]
            if rows:
                ending = ("-punctuation", ": punctuation") if is_punctuation else ("", "")
                shown = replace(
                    table, rows=rows, name=table.name + ending[0], title=table.title + ending[1]
                )
                yield ErrorList(shown, table.header[1], links, folded=is_punctuation)


def _worst(comparison: Comparison, doubtful: Collection[str]) -> tuple[str, str]:
    """The metric and the system with the highest score of errors; the browser opens there."""
    rows, metrics = comparison.rows, comparison.metrics
    scores = [
        (rows[system][name].score.score, name, system)
        for name, metric in metrics.items()
        if metric.higher_is_better is False and metric.decides and name not in doubtful
        for system in rows
    ]
    if scores:
        _, name, system = max(scores)
    else:
        name, metric = next(iter(metrics.items()))
        choose = max if metric.higher_is_better is False else min
        system = choose(rows, key=lambda who: rows[who][name].score.score)
    return metrics[name].name, system


def _cards(
    comparison: Comparison, options: ReportOptions, doubtful: Collection[str]
) -> Iterator[SystemCard]:
    """Each system with the segments that show its errors best."""
    shown = shown_segments(comparison)
    worst = find_examples(comparison, shown, WORST, options.marked, doubtful)
    kinds = _kinds(comparison, options)
    wanted = sorted({item.place for found in worst.values() for item in found})
    records = dict(zip(wanted, segment_records(comparison, options, set(wanted)), strict=True))
    for number, system in enumerate(comparison.rows):
        segments = [
            _card_segment(comparison, kinds, records[item.place], number, item)
            for item in worst[system]
        ]
        named = comparison.measured.named.get(system, {})
        odd = {
            words: [
                n + 1 for n, own in named.items() if n < shown and kind in {e.kind for e in own}
            ]
            for kind, words in BROKEN.items()
        }
        yield SystemCard(system, system == comparison.baseline, segments, odd)


def _card_segment(
    comparison: Comparison,
    kinds: Mapping[str, MarkKind],
    record: Record,
    number: int,
    found: ErrorExample,
) -> CardSegment:
    output, metric = record["outputs"][number], comparison.metrics[found.metric]
    marked: dict[str, dict[int, str]] = {side: {} for side in SIDES}
    # Where words have several marks, the plainest is shown.
    for mark in sorted(output["marks"], key=lambda mark: kinds[mark["kind"]].striking):
        kind = kinds[mark["kind"]]
        for position in mark["positions"] if mark["amount"] >= kind.striking else ():
            marked[mark["side"]].setdefault(position, kind.style)
    view = {
        "sort": metric.name,
        "whose": list(comparison.rows)[number],
        "descending": "yes" if metric.higher_is_better is False else "",
        "segment": found.place + 1,
    }
    return CardSegment(
        found.place + 1,
        urlencode(view),
        f"{metric.name} {format_figure(found.score)}",
        _excerpt(record.get("sourcePieces") or _spaced(record["source"] or ()), marked["source"]),
        _excerpt(output.get("pieces") or _spaced(output["words"]), marked["output"]),
    )


def _spaced(words: Sequence[str]) -> list[str]:
    return [f"{word} " for word in words]


def _excerpt(pieces: Sequence[str], marks: Mapping[int, str]) -> MarkedWords:
    """The words around the first mark; those in a row with the same mark are one phrase."""
    first = min(marks, default=0)
    start = max(0, min(first - EXCERPT // 4, len(pieces) - EXCERPT))
    end = start + EXCERPT
    runs = groupby(enumerate(pieces[start:end], start), lambda item: marks.get(item[0], ""))
    phrases = [("".join(word for _, word in run), kind) for kind, run in runs]
    shown = [(text.rstrip(" "), kind, " " * text.endswith(" ")) for text, kind in phrases]
    before, behind = [("…", "", " ")] * (start > 0), [("…", "", "")] * (end < len(pieces))
    return [*before, *shown, *behind]


def _check_sizes(comparison: Comparison, what: str, items: Mapping[str, Sequence[Any]]) -> None:
    """Raise for unknown systems, or another number of segments."""
    for system, found in items.items():
        if system not in comparison.rows:
            raise ValueError(f"{what} of {system!r}, which is not one of the systems")
        if len(found) != comparison.segments:
            raise ValueError(
                f"{what} of {system}: {len(found)} segments, but there are {comparison.segments}"
            )


def _notice(comparison: Comparison) -> str:
    shown = shown_segments(comparison)
    if shown == comparison.segments:
        return ""
    return (
        f"Only the first {shown:,} of {comparison.segments:,} segments can be read here, because "
        f"a report holds {MAX_OUTPUTS:,} outputs. All figures above are of the whole text. To "
        "read the other segments, make reports of fewer systems or of parts of the text."
    )


def _topics(comparison: Comparison, options: ReportOptions) -> Iterator[Topic]:
    """How each score was measured."""
    for name, metric in comparison.metrics.items():
        score = comparison.rows[comparison.baseline][name].score
        yield Topic(metric.name, [metric.limits] if metric.limits else [], [str(score.signature)])
    result = _marked(comparison, options)
    for name, metric in result.metrics.items():
        if name not in comparison.metrics:
            signature = str(metric.sign(references=result.references))
            yield Topic(f"{metric.name}, marked only", [metric.limits], [signature])
    if comparison.trust:
        planted = trust_sentences(result, comparison.trust)
        yield Topic("Errors planted in these texts", planted)
    yield Topic("Intervals and tests", comparison_notes(comparison))
    yield Topic("Empty segments", [_empty_segments(comparison)])
    if options.model:
        shares = [f"{name.replace('_', ' ')}: {100 * share:.1f}%" for name, share in
                  options.model.items()]  # fmt: skip
        yield Topic("Words that the aligner's model does not know", shares)
    said = [finding.message for finding in comparison.measured.findings]
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


def _contents(
    comparison: Comparison, options: ReportOptions, doubtful: Collection[str]
) -> dict[str, Any]:
    metric, system = _worst(comparison, doubtful)
    return {
        "worst": {"metric": metric, "system": system},
        "systems": list(comparison.rows),
        "colours": [
            f"var(--system-{place % len(SYSTEM_COLOURS)})" for place in range(len(comparison.rows))
        ],
        "metrics": [
            {"name": metric.name, "higherIsBetter": metric.higher_is_better}
            for metric in comparison.metrics.values()
        ],
        "kinds": list(_kind_records(comparison, options, metric)),
        "segments": shown_segments(comparison),
        "block": BLOCK,
    }


def _segment_blocks(comparison: Comparison, options: ReportOptions) -> Iterator[tuple[str, Any]]:
    """The segments that are shown, in blocks, and how many marks of each kind they have."""
    shown, systems = shown_segments(comparison), list(comparison.rows)
    counts: Counter[tuple[str, str, int]] = Counter()
    records = enumerate(islice(segment_records(comparison, options), shown))
    for number, numbered in enumerate(iter(lambda: list(islice(records, BLOCK)), [])):
        for index, record in numbered:
            for system, output in zip(systems, record["outputs"], strict=True):
                for mark in output["marks"]:
                    counts[mark["kind"], system, index] += 1
        yield f"segments/{number}", [record for _, record in numbered]
    for kind, system in dict.fromkeys(key[:2] for key in counts):
        yield f"count/{kind}/{system}", [counts[kind, system, i] for i in range(shown)]


def _score_columns(comparison: Comparison) -> Iterator[tuple[str, Any]]:
    """Scores of the segments that are shown."""
    result, shown = comparison.measured, shown_segments(comparison)
    for name, metric in comparison.metrics.items():
        for system in comparison.rows:
            scores = result.segment_scores(name, system)[:shown]
            yield f"score/{metric.name}/{system}", scores


def _marked(comparison: Comparison, options: ReportOptions) -> Result:
    """The texts by all metrics whose marks are shown."""
    return options.marked or comparison.measured


def _kinds(comparison: Comparison, options: ReportOptions) -> dict[str, MarkKind]:
    """The kinds of marks that this report can have, by key."""
    listed = [kind for own in marking(_marked(comparison, options)).values() for kind in own]
    return {kind.key: kind for kind in reversed(listed)}


def _kind_records(
    comparison: Comparison, options: ReportOptions, worst: str
) -> Iterator[dict[str, Any]]:
    """What the page says of each kind of mark; ``worst`` is a metric."""
    kinds = _kinds(comparison, options)
    for key in reversed(kinds):
        kind = kinds[key]
        own = _metrics_with(comparison, "key", key)
        near = _metrics_with(comparison, "error", kind.error)
        plainer = any(one.side == kind.side and not one.faint for one in kinds.values())
        yield {
            "key": key,
            "style": kind.style,
            "side": kind.side,
            "many": kind.many,
            "meaning": kind.meaning,
            "error": kind.error,
            "amount": kind.amount,
            "listed": kind.listed,
            "faint": kind.faint,
            "shown": not kind.faint or worst in own or not plainer,
            "metrics": [*own, *(name for name in near if name not in own)],
        }


def _metrics_with(comparison: Comparison, what: str, value: str) -> list[str]:
    """The names of the metrics with a kind of mark whose key or error this is."""
    return [
        metric.name
        for metric in comparison.metrics.values()
        if any(getattr(kind, what) == value for kind in metric.kinds)
    ]


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
