"""Whether line N of one text belongs to line N of another, as far as their words and lengths show.

The thresholds were set as those of :mod:`coverage_eval.data.input_checks`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from statistics import StatisticsError, fmean, pstdev
from statistics import correlation as pearson
from typing import TypeVar

from coverage_eval.data.input_checks import MIN_CASED, Finding, forms_of, percent, shown
from coverage_eval.data.sample import MIN_SEGMENTS, Sample, SampledText

T = TypeVar("T")


def check_lines(sample: Sample) -> list[Finding]:
    """Check that the texts of a command belong together line by line."""
    return [*check_relations(sample), *check_source_order(sample)]


def check_relations(sample: Sample) -> Iterator[Finding]:
    """Compare each hypothesis, and each further reference, with the first reference.

    A text gets one finding: the first one explains the others.
    """
    if not sample.references:
        return
    reference, *others = sample.references
    for text in (*sample.hypotheses, *others):
        if sample.source is not None and text.key == sample.source.key:
            continue  # check_equal says so
        message = _nearer_source(sample, text, reference)
        if message is not None:
            yield Finding("nearer-source", f"{text.name}: {message}", text.name)
            continue
        message = _cut_otherwise(text, reference)
        found = Finding("cut-otherwise", message) if message else None
        found = found or _out_of_step(sample, text, reference)
        # Texts of different forms, such as subwords and words, do not compare; check_forms says so.
        if found and forms_of(text).keys() == forms_of(reference).keys():
            yield found._replace(message=f"{text.name}: {found.message}", text=text.name)


NEARER_SOURCE = 0.25
"""How many more of its words a hypothesis shares with the source than the reference does, as a
share of its words: 0.9 for copies, at most 0.06 for translations, with their names and numbers."""


def _nearer_source(sample: Sample, text: SampledText, reference: SampledText) -> str | None:
    if sample.source is None:
        return None
    words = zip(text.words, sample.source.words, reference.words, strict=True)
    rows = [row for row in words if row[0] and row[1]]
    if len(rows) < MIN_SEGMENTS:
        return None
    to_source = fmean(len(h & s) / len(h) for h, s, _ in rows)
    to_reference = fmean(len(h & r) / len(h) for h, _, r in rows)
    usual = fmean(len(r & s) / max(len(r), 1) for _, s, r in rows)
    if to_source <= max(to_reference, usual + NEARER_SOURCE):
        return None
    return (
        f"{percent(to_source)} of its words are in the source {sample.source.name}, "
        f"{percent(to_reference)} in {reference.name}; check that it is a translation"
    )


CUT_OTHERWISE = 0.04
"""Words of one text that the other has only with a space inside ("do n't" for "don't"): 0.4% in
outputs of real systems, 0.2% in Japanese from the same segmenter, 9% where long words were cut in
two, 10 to 20% in untokenised text, 70% in text split into letters."""


def _cut_otherwise(text: SampledText, reference: SampledText) -> str | None:
    if not text.has_enough:
        return None
    for one, other in ((text, reference), (reference, text)):
        words = crossing = 0
        example = ""
        for row, against in zip(one.rows, other.rows, strict=True):
            known = set(against)
            joined, spaced = "".join(against), " ".join(against)
            for token in row:
                if len(token) > 1:
                    words += 1
                    if token not in known and token in joined and token not in spaced:
                        crossing += 1
                        example = example or token
        share = crossing / max(words, MIN_CASED)
        if share > CUT_OTHERWISE:
            return (
                f"{percent(share)} of the words of {one.name}, such as {shown(example)}, are in "
                f"more than one piece in {other.name}; tokenise both alike"
            )
    return None


NO_RELATION = 0.03
"""How much better a line fits its own reference than those around it: 1 for a perfect hypothesis,
0.5 for real systems, 0.1 where 90% of the words are wrong, 0 ± 0.03 in 50 shuffled lines."""

BETTER_ELSEWHERE = 0.1
"""How much better a neighbouring line fits: 0.5 to 0.75 where lines are shifted, at most 0.05 where
they are shuffled, and below 0 where they are in order."""

BAD_PIECES = 0.2
"""Smallest share of bad pieces in a bad text, because a part of a text may be out of step."""

LAGS = (-2, -1, 1, 2)
"""The neighbours that a line is compared with."""


def _out_of_step(sample: Sample, text: SampledText, reference: SampledText) -> Finding | None:
    """Find lines that share no more words with their own reference than with its neighbours."""
    seen, bad, lags, pieces = [], [], [], {}
    frequency = Counter(chain.from_iterable(reference.words))
    # Frequent words say little about where a segment belongs.
    weights = {w: math.log((1 + len(reference.rows)) / n) for w, n in frequency.items()}
    for piece in sample.pieces:
        rows = [i for i in piece if text.words[i] and reference.words[i]]
        if len(rows) < MIN_SEGMENTS:
            continue
        one, two = [text.words[i] for i in rows], [reference.words[i] for i in rows]
        own, others = count_shared(one, two, weights)
        most, least = count_shared(two, two, weights)
        scale = most - fmean(least)
        # If all segments are alike, nobody can tell where one belongs.
        if scale < most / 5 or scale <= 0:
            continue
        seen.append(piece[0])
        best = max(range(len(LAGS)), key=others.__getitem__)
        if others[best] > own + BETTER_ELSEWHERE * scale:
            lags.append(LAGS[best])
            pieces[piece[0]] = LAGS[best]
        elif own - fmean(others) >= NO_RELATION * scale:
            continue
        bad.append(piece[0])
    tail = _shifted_tail(seen, pieces)
    if tail and len(bad) < BAD_PIECES * len(seen):
        bad = tail
        lags = [pieces[row] for row in tail]
    if not tail and len(bad) < max(1, BAD_PIECES * len(seen)):
        return None
    lag, times = Counter(lags).most_common(1)[0] if lags else (0, 0)
    if 2 * times > len(bad):
        first = _first_shifted(sample, text, reference, weights, bad, seen, lag)
        return Finding("shifted", shifted(lag, reference.name, where(sample, bad, seen), first))
    place = where(sample, bad, seen)
    return Finding(
        "out-of-step",
        f"shares no more words with its own line of {reference.name} than with the lines around "
        f"it, {place}; lines are in another order, or the texts do not belong together",
    )


def _shifted_tail(seen: Sequence[int], shifts: Mapping[int, int]) -> list[int]:
    """The last pieces, if all of them fit the same number of lines later; they may be few."""
    tail: list[int] = []
    for row in reversed(seen):
        if shifts.get(row) != shifts.get(seen[-1]) or row not in shifts:
            break
        tail.insert(0, row)
    return tail


def _first_shifted(
    sample: Sample,
    text: SampledText,
    reference: SampledText,
    weights: Mapping[str, float],
    bad: Sequence[int],
    seen: Sequence[int],
    lag: int,
) -> int | None:
    """The line from which on lines are shifted to the end; None if they are not, or for a sample.

    In the piece before the first bad one, it is where the rows before fit their own lines best, and
    those from there on the lines ``lag`` later.
    """
    if list(bad) != list(seen[-len(bad) :]) or len(bad) == len(seen):
        return None
    before = seen[seen.index(bad[0]) - 1]
    start = sample.line(before)
    ends = next((piece for piece in sample.pieces if piece[0] == bad[0]), range(0))
    if start is None or sample.line(bad[0]) != start + bad[0] - before:
        return None  # the lines between were not looked at

    def fit(row: int, other: int) -> float:
        if not 0 <= other < len(reference.words):
            return 0.0
        return math.fsum(weights[w] for w in text.words[row] & reference.words[other])

    rows = range(before, ends.stop)
    gains = [fit(row, row) - fit(row, row + lag) for row in rows]
    sums = [0.0, *accumulate(gains)]
    return start + max(range(len(sums)), key=sums.__getitem__)


def shifted(lag: int, name: str, place: str, first: int | None = None) -> str:
    """The message on lines that fit the lines of another text ``lag`` lines later.

    Args:
        lag: By how many lines.
        name: The other text.
        place: Where, as :func:`where` says it.
        first: The first line that is shifted, if all from there on are.
    """
    if first is not None:
        return (
            f"from line {first:,} on, line n fits line n{lag:+d} of {name} better than line n; "
            f"lines are shifted: find the {'missing' if lag > 0 else 'extra'} line there"
        )
    return (
        f"line N fits line N{lag:+d} of {name} better than line N, {place}; lines are shifted: "
        "find the missing or extra line"
    )


def count_shared(
    one: Sequence[frozenset[str]], two: Sequence[frozenset[str]], weights: Mapping[str, float]
) -> tuple[float, list[float]]:
    """Mean weight of the words shared with the own line, and with each of :data:`LAGS`."""

    def mean(pairs: Iterable[tuple[frozenset[str], frozenset[str]]]) -> float:
        return fmean(math.fsum(map(weights.__getitem__, a & b)) for a, b in pairs)

    others = [mean(zip(*find_moved(one, two, lag), strict=True)) for lag in LAGS]
    return mean(zip(one, two, strict=True)), others


def find_moved(one: Sequence[T], two: Sequence[T], lag: int) -> tuple[Sequence[T], Sequence[T]]:
    """Two columns side by side, the second one moved up by ``lag`` rows."""
    return one[max(0, -lag) : len(one) - max(0, lag)], two[max(0, lag) : len(two) - max(0, -lag)]


def where(sample: Sample, bad: Sequence[int], seen: Sequence[int]) -> str:
    """Say where the bad pieces are among those that were seen, given the first row of each."""
    if len(bad) == len(seen):
        return "throughout"
    line = sample.line(bad[0])
    if line is not None and list(bad) == list(seen[-len(bad) :]):
        return f"from about line {line:,} on"
    return f"in {len(bad)} of {len(seen)} places"


SOURCE_ROWS = 200
"""Rows for a correlation of lengths, which is 0 ± 0.07 by chance."""

LENGTH_CORRELATION = 0.1
"""Correlation of the logarithms of source and target lengths: 0.47 to 0.89, and 0.28 to 0.78 where
30% of the target's words were dropped; -0.36 to 0.16 where lines are out of step."""

LENGTHS_ELSEWHERE = 0.2
"""How much better the lengths of neighbouring lines correlate: 0.2 to 1.1 where lines are shifted,
else below -0.2; in sorted files, neighbouring lines correlate too."""

MIN_LENGTHS = 0.1
"""Smallest standard deviation of the logarithms of lengths; 0.17 to 0.35 in usual text."""


def check_source_order(sample: Sample) -> Iterator[Finding]:
    """Find sources and targets in different orders by their lengths and common words."""
    source = sample.source
    if source is None:
        return
    for target in sample.targets:
        seen, bad = [], []
        parts = len(source.rows) // SOURCE_ROWS
        for part in range(parts):
            start, end = (len(source.rows) * (part + i) // parts for i in (0, 1))
            rows = [i for i in range(start, end) if source.rows[i] and target.rows[i]]
            one, two = ([math.log1p(len(text.rows[i])) for i in rows] for text in (source, target))
            if len(rows) < SOURCE_ROWS / 2 or min(pstdev(one), pstdev(two)) < MIN_LENGTHS:
                continue
            seen.append(start)
            own = correlation(one, two)
            elsewhere = max(correlation(*find_moved(one, two, lag)) for lag in LAGS)
            strange = own < LENGTH_CORRELATION or elsewhere > own + LENGTHS_ELSEWHERE
            if strange and not share_words(source, target, rows):
                bad.append(start)
        if bad and len(bad) >= BAD_PIECES * len(seen):
            yield Finding(
                "source-out-of-step",
                f"{source.name} and {target.name}: long sources do not have long translations, "
                f"{where(sample, bad, seen)}; lines are in another order, or the texts do not "
                "belong together",
            )


def correlation(one: Sequence[float], two: Sequence[float]) -> float:
    """Pearson's correlation; 0 if all values of a side are equal."""
    try:
        return pearson(one, two)
    except StatisticsError:
        return 0.0


def share_words(source: SampledText, target: SampledText, rows: Sequence[int]) -> bool:
    """Whether sources share many more words (names, numbers) with their own line than the next."""
    one, two = [source.words[i] for i in rows], [target.words[i] for i in rows]
    own = sum(len(a & b) for a, b in zip(one, two, strict=True))
    next_ = sum(len(a & b) for a, b in zip(one, two[1:], strict=False))
    return own > 2 * next_ + 5


NEAR = 0.08
"""How many more words two outputs share with each other than with a reference, as a share of both:
0.11 to 0.15 for similar systems."""

RELATED = 0.5
"""Words that a hypothesis shares with the last reference, divided by those it shares with an
output: about 0.8; 0.3 if lines are out of step."""


def check_second_output(sample: Sample) -> Iterator[Finding]:
    """Outputs given as references: they are nearer to the hypothesis than the last reference is.

    Only for commands that take ``HYP REF …``, whose user may have meant ``HYP HYP REF``.
    """
    if not sample.pieces:
        return
    (output,), (*first, last) = sample.hypotheses, sample.references
    usual = shared_words(output, last)
    near = [
        text
        for text in first
        if usual / RELATED
        > shared_words(output, text)
        > max(usual, shared_words(text, last)) + NEAR
    ]
    if near:
        outputs = " ".join(text.name for text in [output, *near])
        yield Finding(
            "second-output",
            f"{near[0].name}: shares {percent(shared_words(output, near[0]))} of its words with "
            f"{output.name}, which shares {percent(usual)} with {last.name}: it looks like the "
            f"output of another system, not like a reference; to compare systems, type "
            f"coverage-eval compare --ref {last.name} {outputs}",
        )


def shared_words(one: SampledText, two: SampledText) -> float:
    """Words that two texts share segment by segment, as a share of both (Dice's coefficient)."""
    pairs = zip(one.words, two.words, strict=True)
    return fmean(2 * len(a & b) / max(len(a) + len(b), 1) for a, b in pairs)
