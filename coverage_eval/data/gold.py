"""Checks of gold links against the links that they are to judge."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from coverage_eval.data.findings import Finding
from coverage_eval.data.sample import FEWEST_SEGMENTS

if TYPE_CHECKING:  # importing the aligner takes longer than the checks
    from coverage_eval.alignment.gold_links import Gold
    from fast_align_wrapper.links import Links

BETTER_LINKS = 5.0
"""Standard errors by which changed gold links must fit better than those given. On 20 pairs right
ones fit worse by 6 and more, even with links of Model 1, and wrong ones better by as much."""


def check_gold(
    links: Sequence[Links], golds: Sequence[Gold], *, name: str = "the gold links"
) -> list[Finding]:
    """Look at whether gold links count as the links do, and in the same direction.

    Args:
        links: The links of each pair, or of a part of the pairs.
        golds: The gold links of the same pairs.
        name: Name of the gold links for the messages.

    Raises:
        ValueError: Unequal numbers of pairs.
    """
    pairs = [(set(ours), set(gold.possible)) for ours, gold in zip(links, golds, strict=True)]
    pairs = [pair for pair in pairs if all(pair)]
    if len(pairs) < FEWEST_SEGMENTS:
        return []
    for side, word in ((0, "source"), (1, "target")):
        if not any(link[side] == 0 for _, gold in pairs for link in gold):
            return [
                Finding(
                    "gold-from-one",
                    f"{name}: no link of {len(pairs):,} pairs has {word} position 0; if positions "
                    "count from 1, say so",
                )
            ]
    for change, message in _CHANGES:
        # Only links that the change gives or takes tell which is right.
        changed = [(ours, gold, {change(link) for link in gold}) for ours, gold in pairs]
        better = sum(len(ours & (new - gold)) for ours, gold, new in changed)
        worse = sum(len(ours & (gold - new)) for ours, gold, new in changed)
        if better - worse > BETTER_LINKS * math.sqrt(better + worse):
            return [
                Finding(
                    "gold-changed",
                    f"{name}: fit the links better {message} ({better:,} links against {worse:,})",
                )
            ]
    return []


_CHANGES: tuple[tuple[Callable[[tuple[int, int]], tuple[int, int]], str], ...] = (
    (lambda link: (link[1], link[0]), "with source and target swapped; say so, or swap them"),
    (lambda link: (link[0] - 1, link[1] - 1), "counted from 1; say so"),
    (lambda link: (link[0] + 1, link[1] + 1), "if the links count from 1; count both from 0"),
)
