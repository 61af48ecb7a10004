"""Whether line N of one text belongs to line N of another, as words and lengths show.

A text is read as runs of lines: in a run, each line fits its own line of the other text, or one
that is up to two lines off (it has slipped), or none. The best reading is found by dynamic
programming (Viterbi): a line adds how much better it fits so than its own line, and each change
between runs costs :data:`CHANGE`, so that a few odd lines start none.
:mod:`coverage_eval.checks.model` reads what a model says of lines in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.core.batches import BLOCK_ROWS
from coverage_eval.core.errors import Finding, Severity
from coverage_eval.core.metric import Floats
from coverage_eval.core.sampled_texts import SampledText, SampledTexts

LAGS = (-2, -1, 1, 2)
"""How many lines further on in the other text a line may belong."""

CHANGE = 2.0
"""What a change between runs costs, where a line fits another one by 0 to 1. In 46 outputs of WMT
and TED, and captions with half of the words wrong, no run of a slip gains more than 0.4 (0.6 where
80% of the words are wrong, 1.4 with 95%), but for 17 lines of a TED talk that have slipped: 9.8.
Twenty lines of these outputs that are moved gain 6 to 12."""

MIN_SLIP = 10
"""Lines that have slipped, below which nothing is said of them."""

NO_RELATION = 0.03
"""How much better a line fits its own one than those around it, at least, if 1 is perfect: 0.5 for
real systems, 0.1 where 90% of the words are wrong, 0 +- 0.03 in 50 shuffled lines."""

WRONG_SHARE = 0.2
"""Share of lines that have slipped from which on a score means nothing."""

MAX_GAP = 10_000
"""Lines around the end of a run that are read to find its exact end."""

_OTHER_ORDER = "the lines are in another order, or the texts do not belong together"


class LineRun(NamedTuple):
    """Lines that do not belong to those of the same numbers.

    Attributes:
        first: The number of the first of them, from 1.
        last: The number of the last.
        lag: How many lines further on they belong; None if nowhere.
    """

    first: int
    last: int
    lag: int | None


def look_for_other_order(texts: SampledTexts) -> Iterator[Finding]:
    """Texts whose lines are not those of the first reference, or else of the first output.

    Slips are found in a sample and in the last lines; then the lines around their ends are read.
    """
    first, *others = _compared(texts)
    parts = [texts, *texts.last_lines]
    for index, text in enumerate(others, start=1):
        by_part = [_runs_by_words(part, index) for part in parts]
        slips = [run for runs in by_part for run in runs if run.lag]
        if slips and len(texts.lines) < texts.size and texts.read:
            around = texts.read([_around(texts, end) for run in slips for end in run[:2]])
            slips = [run for run in _runs_by_words(around, index) if run.lag]
        strays = [run for run in by_part[0] if run.lag is None]
        yield from judge_order(texts, text, first, [*slips, *strays], "out-of-step")


def _compared(texts: SampledTexts) -> list[SampledText]:
    return [*texts.references, *texts.hypotheses]


def _around(texts: SampledTexts, line: int) -> range:
    """The lines around the end of a run, as far as the sample's lines that tell on either side."""
    edge = LAGS[-1]  # rows at the edge of a block have no neighbour that tells
    before = max((other for other in texts.lines if other < line - edge), default=1)
    behind = min((other for other in texts.lines if other > line + edge), default=texts.size)
    first = max(1, before - BLOCK_ROWS, line - MAX_GAP)
    return range(first, min(behind + BLOCK_ROWS, line + MAX_GAP, texts.size) + 1)


def _runs_by_words(texts: SampledTexts, index: int) -> list[LineRun]:
    """The runs of a text by the words that it shares with the first one."""
    other, text = _compared(texts)[0], _compared(texts)[index]
    near = neighbours(texts, text)
    fits = count_shared(text, other, near)
    least = np.where([*map(bool, text.words)], NO_RELATION * near[1:].mean(axis=0), 0.0)
    runs = find_runs(texts.lines, fits, least, is_odd=fits[0] == 0)
    if any(run.lag is None for run in runs):
        # Where the lines of the other text are alike, nobody can tell where one belongs.
        alike = count_shared(other, other, near)
        least *= alike[0] - alike[1:].mean(axis=0)
        runs = find_runs(texts.lines, fits, least, is_odd=fits[0] == 0)
    return runs


def count_shared(text: SampledText, other: SampledText, near: NDArray[np.bool_]) -> Floats:
    """The share of words that each line has in common with its own line, and with each lag.

    It is Dice's coefficient of the words, of which frequent ones weigh little, since they say
    little about where a line belongs. A line fits a neighbour that tells nothing as well as its
    own line.

    Returns:
        ``[1 + len(LAGS), rows]``, 0 to 1.
    """
    rows = len(text.rows)
    vocabulary = frozenset().union(*text.words, *other.words)
    numbers = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
    words, other_words = (
        np.array([numbers[word] for word in chain.from_iterable(side.words)], dtype=np.int64)
        for side in (text, other)
    )
    rows_of = [np.repeat(np.arange(rows), [*map(len, side.words)]) for side in (text, other)]
    frequency = np.bincount(other_words, minlength=len(numbers))
    weights = np.log((1 + rows) / np.maximum(frequency, 1))
    sizes, other_sizes = (
        np.bincount(number, weights[word], minlength=rows)
        for number, word in zip(rows_of, (words, other_words), strict=True)
    )
    present = np.sort(rows_of[1] * len(numbers) + other_words)
    fits = np.zeros((1 + len(LAGS), rows))
    for place, lag in enumerate((0, *LAGS)):
        wanted = (rows_of[0] + lag) * len(numbers) + words
        found = np.searchsorted(present, wanted).clip(max=max(len(present) - 1, 0))
        is_shared = present[found] == wanted if len(present) else np.zeros(len(wanted), dtype=bool)
        shared = np.bincount(rows_of[0][is_shared], weights[words[is_shared]], minlength=rows)
        total = sizes + np.roll(other_sizes, -lag)
        fits[place] = np.divide(2 * shared, total, out=np.zeros(rows), where=total > 0)
        fits[place] = np.where(near[place], fits[place], fits[0])
    return fits


def neighbours(texts: SampledTexts, text: SampledText) -> NDArray[np.bool_]:
    """Whether each row has a neighbour that tells where it belongs, for each lag.

    It tells nothing if the text has the same line there, or if the source is the same, as in tables
    with a row for each system.

    Returns:
        ``[1 + len(LAGS), rows]``; the first for the row itself, which tells always.
    """
    lines = np.asarray(texts.lines)
    differ = []
    for rows in (text.rows, *([texts.source.rows] if texts.source else [])):
        known: dict[tuple[str, ...], int] = {}
        differ.append(np.array([known.setdefault(tuple(row), len(known)) for row in rows]))
    return np.array(
        [
            np.logical_and.reduce([ids != np.roll(ids, -lag) for ids in differ])
            & (np.roll(lines, -lag) == lines + lag)
            if lag
            else np.ones(len(lines), dtype=bool)
            for lag in (0, *LAGS)
        ]
    )


def find_runs(
    lines: Sequence[int], fits: Floats, least: Floats, is_odd: NDArray[np.bool_]
) -> list[LineRun]:
    """The runs of lines that do not belong to their own ones.

    Args:
        lines: The number of each row's line in the whole text.
        fits: How well each row fits its own line, and each lag, ``[1 + len(LAGS), rows]``.
        least: How much better each row fits its own line than those around it, at least, if it
            belongs to it; 0 where nothing tells.
        is_odd: The rows that do not fit their own line at all; they belong to a slip beside them.
    """
    own, others = fits[0], fits[1:]
    gains = np.vstack([others - own, least - (own - others.mean(axis=0))])
    sums = np.hstack([np.zeros((len(gains), 1)), gains.cumsum(axis=1)])
    rises = (sums - np.minimum.accumulate(sums, axis=1)).max(axis=1)
    # Cheap first test: no run is worth the changes that it costs.
    if (rises <= CHANGE).all() and (sums[:, -1] <= 0).all():
        return []
    states = best_states(np.vstack([np.zeros(len(own)), gains]))
    ends = np.flatnonzero(np.diff(states, prepend=-1, append=-1))
    runs = []
    for start, end in pairwise(ends.tolist()):
        lag = (0, *LAGS, None)[states[start]]
        first, last = start, end - 1
        while lag and first and is_odd[first - 1] and states[first - 1] == 0:
            first -= 1
        while lag and last + 1 < len(own) and is_odd[last + 1] and states[last + 1] == 0:
            last += 1
        if lag != 0 and lines[last] - lines[first] + 1 >= MIN_SLIP:
            runs.append(LineRun(lines[first], lines[last], lag))
    return runs


def best_states(gains: Floats) -> NDArray[np.intp]:
    """The state of each row, so that the sum of gains less the cost of changes is greatest.

    Args:
        gains: What each row gains in each state, ``[states, rows]``; the last but the first and the
            last cost a change even where they begin the text, since few lines fit anything by
            chance.
    """
    states, rows = gains.shape
    total = gains[:, 0] - CHANGE
    total[[0, -1]] += CHANGE
    came_from = np.zeros((rows, states), dtype=np.intp)
    for row in range(1, rows):
        best = total.argmax()
        stays = total >= total[best] - CHANGE
        came_from[row] = np.where(stays, np.arange(states), best)
        total = np.maximum(total, total[best] - CHANGE) + gains[:, row]
    path = np.empty(rows, dtype=np.intp)
    path[-1] = total.argmax()
    for row in range(rows - 1, 0, -1):
        path[row - 1] = came_from[row, path[row]]
    return path


_MAX_RUNS = 3
"""Runs that a message names."""


def judge_order(
    texts: SampledTexts,
    text: SampledText,
    other: SampledText,
    runs: Sequence[LineRun],
    unrelated: str = "reordered",
) -> Iterator[Finding]:
    """What is wrong with the order of a text's lines, if anything is.

    Args:
        texts: All texts.
        text: The text.
        other: The text that has the same lines.
        runs: The lines that do not belong to those of the other text.
        unrelated: What it is if most lines fit nowhere.
    """
    slips = [run for run in runs if run.lag]
    if slips:
        listed = [f"{_where(texts, run)} {_how_far(run, other)}" for run in slips[:_MAX_RUNS]]
        if len(slips) > _MAX_RUNS:
            listed.append(f"and {len(slips) - _MAX_RUNS} more stretches")
        share = sum(run.last - run.first + 1 for run in slips) / _size(texts)
        yield Finding.of_text(
            text.name,
            ", ".join(listed),
            "lines have slipped: find the missing or extra line",
            "shifted",
            Severity.FATAL if share >= WRONG_SHARE else Severity.WARNING,
            suppresses={"out-of-step"},
        )
    strays = [run for run in runs if run.lag is None]
    if strays:
        lost = sum(run.first <= line <= run.last for run in strays for line in texts.lines)
        kind = unrelated if 2 * lost >= len(texts.lines) else "out-of-step"
        is_certain = kind == "reordered"
        where = ", ".join(_where(texts, run) for run in strays[:_MAX_RUNS])
        yield Finding.of_text(
            text.name,
            f"{where} fit their own lines of {other.name} no better than the lines around them",
            _OTHER_ORDER,
            kind,
            Severity.FATAL if is_certain else Severity.WARNING,
            suppresses={"out-of-step"} if is_certain else (),
        )


def _size(texts: SampledTexts) -> int:
    return max(texts.size, len(texts.lines))


def _where(texts: SampledTexts, run: LineRun) -> str:
    is_whole = run.last - run.first + 1 >= _size(texts)
    return "all lines" if is_whole else f"lines {run.first:,} to {run.last:,}"


def _how_far(run: LineRun, other: SampledText) -> str:
    assert run.lag
    how = "late" if run.lag < 0 else "early"
    number = f"{abs(run.lag)} line{'s' * (abs(run.lag) > 1)}"
    return f"are {number} {how} (line N fits line N{run.lag:+d} of {other.name})"


MIN_LENGTHS = 200
"""Rows for a correlation of lengths, which is 0 ± 0.07 by chance."""

LENGTH_CORRELATION = 0.1
"""Correlation of the logarithms of source and target lengths: 0.47 to 0.89, and 0.28 to 0.78 where
30% of the target's words were dropped; -0.36 to 0.16 where lines are out of step."""


def look_for_other_lengths(texts: SampledTexts) -> Iterator[Finding]:
    """Texts whose lengths are not those of their sources, with which they share no names."""
    source = texts.source
    assert source is not None
    for target in texts.targets:
        rows = [i for i, row in enumerate(target.rows) if row and source.rows[i]]
        if len(rows) < MIN_LENGTHS:
            continue
        lengths = ([math.log1p(len(text.rows[i])) for i in rows] for text in (source, target))
        words = [(source.words[i], target.words[i]) for i in rows]
        shared = sum(len(a & b) for a, b in words)
        shared_with_next = sum(len(a & b) for (a, _), (_, b) in pairwise(words))
        from statistics import StatisticsError, correlation  # slow to import

        try:
            is_related = correlation(*lengths) >= LENGTH_CORRELATION
        except StatisticsError:  # all lengths of a side are equal
            continue
        if not is_related and shared <= 2 * shared_with_next + 5:
            yield Finding.of_text(
                target.name,
                f"long lines of {source.name} do not have long translations",
                _OTHER_ORDER,
                "out-of-step",
            )
