"""Segments that show an error: one of each system at the top of a report, the worst on paper."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple, TypeAlias
from urllib.parse import urlencode

from coverage_eval.align.aligner import Aligner, ModelAligner, aligner_of
from coverage_eval.align.rows import AlignedRow
from coverage_eval.comparison.evidence import (
    linking_metric,
    mark_kinds,
    marks_of,
    runs,
    styled_runs,
)
from coverage_eval.comparison.table import Comparison
from coverage_eval.core.mark import Mark, MarkKind
from coverage_eval.core.report import format_number
from coverage_eval.core.result import Result
from coverage_eval.core.tokenizers import Segment, Span, segment_text
from fast_align_wrapper.links import Links

MIN_CHARACTERS = 20
"""Of a text that proves something."""

EXCERPT = 170
"""Characters of a text in an example."""

MAX_RUN = EXCERPT // 2
"""Characters of a run of marked words that is seen at a glance, with the words around it."""

NEIGHBOURS = 3
"""Linked words on each side of the place in question, whose links say where other texts have it."""

MAX_PRINTED = 10
"""Outputs that are printed on paper, where nobody can browse."""

MOST_MARKED = 2 / 3
"""Of a source of which a greater share is marked, the model knows too little."""

MarkedWord: TypeAlias = tuple[str, str, Span]
"""A marked word: the metric, the side, and its characters."""

MarkedText = Sequence[tuple[str, str]]
"""A text in pieces, each with the style of its marks, or nothing."""


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


class WordLinks(NamedTuple):
    """The links of a source with another text.

    Attributes:
        source: The characters of each source word.
        target: The characters of each word of the other text.
        links: The numbers of source and other words that are linked, from 0.
    """

    source: Sequence[Span]
    target: Sequence[Span]
    links: Links


@dataclass(frozen=True)
class Place:
    """An output with an error: its system, its segment from 0, and the key of the metric."""

    system: str
    index: int
    metric: str


def find_examples(
    comparison: Comparison,
    shown: int,
    doubtful: Collection[str] = (),
    function_words: Set[str] = frozenset(),
) -> dict[str, ErrorExample]:
    """The segment of each system that shows its errors best; none for systems without errors.

    The run of words whose marks weigh most comes first, if it is short enough to be seen at a
    glance, and only words that another system has right count, as they prove that it can be done.
    Very short segments, and those of which nearly all is marked though there is an output, are
    shown only if there are no others. Words that the aligner's model does not know do not count,
    since it can only guess their translation.

    Args:
        comparison: The systems.
        shown: Only the first segments are looked at.
        doubtful: Keys of metrics whose marks prove nothing.
        function_words: Words that are no error alone.
    """
    result = comparison.result
    marked = {
        system: _marked_words(result, system, shown, doubtful, function_words)
        for system in result.systems
    }
    places = []
    for system, segments in marked.items():
        others = [other for name, other in marked.items() if name != system]
        ranked = []
        for index, words in enumerate(segments):
            if not words:
                continue
            row = result.rows[index]
            output = row.hypotheses[result.systems.index(system)]
            texts = {"source": segment_text(row.source or ""), "output": segment_text(output)}
            proven = {
                word: amount
                for word, amount in words.items()
                if not others or not all(word in other[index] for other in others)
            }
            weight = _clearest_run(texts, proven)
            ranked.append((_is_readable(texts, words), weight, len(words), -index))
        if ranked:
            index = -max(ranked)[-1]
            counts = Counter(metric for metric, *_ in segments[index])
            name = max(result.metrics, key=counts.__getitem__)  # the first of equal ones
            places.append(Place(system, index, name))
    shown_examples = _examples(comparison, places, doubtful, function_words)
    return {place.system: found for place, found in zip(places, shown_examples, strict=True)}


def worst_examples(
    comparison: Comparison,
    name: str,
    shown: int,
    doubtful: Collection[str] = (),
    function_words: Set[str] = frozenset(),
) -> list[tuple[str, ErrorExample]]:
    """The outputs with the worst scores, at most :data:`MAX_PRINTED`, with their systems.

    Args:
        comparison: The systems.
        name: The key of the metric.
        shown: Only the first segments are looked at.
        doubtful: Keys of metrics whose marks prove nothing.
        function_words: Words that are no error alone.
    """
    result = comparison.result
    higher_is_better = bool(result.metrics[name].presentation.higher_is_better)
    scored = [
        (score if higher_is_better else -score, index, system)
        for system in result.systems
        for index, score in enumerate(result.segment_scores(name, system)[:shown])
        if score is not None and (score > 0 or (higher_is_better and score == 0))
    ]
    places = [Place(system, index, name) for _, index, system in sorted(scored)[:MAX_PRINTED]]
    systems = [place.system for place in places]
    return list(zip(systems, _examples(comparison, places, doubtful, function_words), strict=True))


# Which segment


def _is_readable(texts: Mapping[str, str], words: Collection[MarkedWord]) -> bool:
    """Whether both texts prove something: they are not short, and not marked nearly everywhere."""
    length = len(texts["output"])
    source = len(texts["source"]) or length
    missing = runs(texts["source"], {span for _, side, span in words if side == "source"})
    marked = sum(end - start for start, end in missing)
    is_whole = not length or marked <= MOST_MARKED * source
    is_short = source < MIN_CHARACTERS or 0 < length < MIN_CHARACTERS
    return is_whole and not is_short


def _clearest_run(texts: Mapping[str, str], words: Mapping[MarkedWord, float]) -> float:
    """How much is wrong in the run of marked words where most is, of those seen at a glance."""
    most = 0.0
    for side, text in texts.items():
        amounts = sorted((span, amount) for (_, of, span), amount in words.items() if of == side)
        for start, end in runs(text, {span for span, _ in amounts}):
            if end - start <= MAX_RUN:
                first, last = (bisect_left(amounts, ((at,),)) for at in (start, end))
                most = max(most, sum(amount for _, amount in amounts[first:last]))
    return most


def _marked_words(
    result: Result, system: str, shown: int, doubtful: Collection[str], function_words: Set[str]
) -> list[dict[MarkedWord, float]]:
    """The marked words of each segment that are worth showing, and how much is wrong with each."""
    aligner = aligner_of(result.metrics.values())
    known = aligner.model.vocabulary()[0] if isinstance(aligner, ModelAligner) else None
    names = {kind.key: name for name, kinds in mark_kinds(result).items() for kind in kinds}
    found: list[dict[MarkedWord, float]] = []
    for row, marks, _ in zip(
        result.rows, marks_of(result, system, function_words), range(shown), strict=False
    ):
        source = segment_text(row.source or "")
        words: defaultdict[MarkedWord, float] = defaultdict(float)
        for kind, mark in marks:
            name = names[kind.key]
            for span in mark.spans if name not in doubtful else ():
                if mark.side == "output" or _is_known(source[slice(*span)], known):
                    words[name, mark.side, span] += mark.amount / len(mark.spans)
        found.append(words)
    return found


def _is_known(word: str, known: Collection[str] | None) -> bool:
    """Whether the model knows a word; without letters or digits, it is no example."""
    return any(map(str.isalnum, word)) and (known is None or word in known or word.lower() in known)


# What is shown of it


def _examples(
    comparison: Comparison,
    places: Sequence[Place],
    doubtful: Collection[str],
    function_words: Set[str],
) -> Iterator[ErrorExample]:
    result = comparison.result
    names = {kind.key: name for name, kinds in mark_kinds(result).items() for kind in kinds}
    for place, links in zip(places, _links(result, places), strict=True):
        row, metric = result.rows[place.index], result.metrics[place.metric]
        texts: dict[str, Segment] = {} if row.source is None else {"source": row.source}
        texts |= dict(zip(["reference"], row.nonblank_references, strict=False))
        texts["output"] = row.hypotheses[result.systems.index(place.system)]
        marks = [
            (kind, mark)
            for kind, mark in marks_of(result, place.system, function_words)[place.index]
            if names[kind.key] not in doubtful
        ]
        view = {
            "sort": metric.presentation.name,
            "whose": place.system,
            "segment": place.index + 1,
        }
        score = result.segment_scores(place.metric, place.system)[place.index]
        shown = metric.presentation
        yield ErrorExample(
            place.index + 1,
            f"{shown.segment_unit or shown.name} {format_number(score or 0.0)}",
            urlencode(view),
            _excerpts(texts, marks, links),
        )


def _links(result: Result, places: Sequence[Place]) -> Iterator[Mapping[str, WordLinks]]:
    """The links of each place's source with its reference and output; none without an aligner."""
    linker = linking_metric(result)
    aligner: Aligner | None = linker.aligner if linker else aligner_of(result.metrics.values())
    if aligner is None:
        yield from ({} for _ in places)
        return
    if linker:
        answers: Sequence[AlignedRow] = result.answers(linker.requests()[0])
        rows = iter([answers[place.index] for place in places])
    else:
        rows = aligner.align(result.rows[place.index] for place in places)
    for place, linked in zip(places, rows, strict=True):
        row, position = result.rows[place.index], result.systems.index(place.system)
        source = aligner.source_tokenizer.locate(row.source or "").spans
        output = aligner.tokenizer.locate(row.hypotheses[position]).spans
        found = {"output": WordLinks(source, output, linked.hypotheses[position])}
        for text, links in zip(row.nonblank_references[:1], linked.references, strict=False):
            found["reference"] = WordLinks(source, aligner.tokenizer.locate(text).spans, links)
        yield found


def _excerpts(
    texts: Mapping[str, Segment],
    marks: Sequence[tuple[MarkKind, Mark]],
    links: Mapping[str, WordLinks],
) -> dict[str, MarkedText]:
    """What each text says of the place in question, the longest run of marked words.

    Another text is shown where the words beside that run are linked to. Without links, it is shown
    where it has marks itself, or else where lengths lead.
    """
    plain = {side: segment_text(text) for side, text in texts.items()}
    styled = {side: sorted(styled_runs(text, marks, side)) for side, text in plain.items()}
    longest = {
        side: max((span for span, _ in found), key=_seen_length)
        for side, found in styled.items()
        if found
    }
    centers: dict[str, int] = {}
    if longest:
        side = max(longest, key=lambda side: _seen_length(longest[side]))
        share = sum(longest[side]) / 2 / len(plain[side])
        centers = {name: round(share * len(text)) for name, text in plain.items()}
        linked = _linked_centers(side, longest[side], links)
        centers |= linked
        longest = {of: run for of, run in longest.items() if of == side or of not in linked}
    return {
        side: _excerpt(text, styled[side], longest.get(side), centers.get(side, 0))
        for side, text in plain.items()
    }


def _seen_length(span: Span) -> tuple[bool, int]:
    """Whether a run is seen at a glance, and its characters."""
    length = span[1] - span[0]
    return length <= MAX_RUN, length


def _linked_centers(side: str, run: Span, links: Mapping[str, WordLinks]) -> dict[str, int]:
    """The character of each text in the middle of what is linked to the words beside a run."""
    if "output" not in links:
        return {}
    source, target, pairs = links["output"]
    if side == "source":
        anchors = _beside(run, source, {first for first, _ in pairs})
    else:
        words = _beside(run, target, {second for _, second in pairs})
        anchors = {first for first, second in pairs if second in words}
    found = {"source": [source[word] for word in anchors]}
    for name, linked in links.items():
        found[name] = [linked.target[second] for first, second in linked.links if first in anchors]
    return {name: round(median(map(sum, spans)) / 2) for name, spans in found.items() if spans}


def _beside(run: Span, spans: Sequence[Span], linked: Collection[int]) -> set[int]:
    """The linked words nearest to a run on each side."""
    before = [word for word in sorted(linked) if spans[word][1] <= run[0]]
    behind = [word for word in sorted(linked) if spans[word][0] >= run[1]]
    return {*before[-NEIGHBOURS:], *behind[:NEIGHBOURS]}


def _excerpt(
    text: str, styled: Sequence[tuple[Span, str]], longest: Span | None, center: int
) -> MarkedText:
    """The characters around a run of marked words, which is a piece.

    Args:
        text: The text.
        styled: The runs of marked words and their styles.
        longest: The run; None for a text without marks.
        center: The character to show of a text without marks.
    """
    first = longest[0] if longest else center
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
