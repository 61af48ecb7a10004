"""Gold links, and how well links agree with them: AER, precision, recall, F1.

With links A, sure gold links S and possible ones P ⊇ S (Och and Ney, A Systematic Comparison of
Various Statistical Alignment Models, 2003)::

    AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)
    precision = |A ∩ P| / |A|    recall = |A ∩ S| / |S|

all as percentages, with the counts summed over the corpus. F1 is the harmonic mean of the last two.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.align.links import read_links
from coverage_eval.core.checks import MIN_SEGMENTS
from coverage_eval.core.errors import DataError, Finding
from coverage_eval.core.files import PathLike, file_name, zip_lines
from coverage_eval.core.metric import Formula, Statistics
from coverage_eval.core.texts import check_stdin, open_text, read_segments
from coverage_eval.core.tokenizers import tokenize
from fast_align_wrapper.links import Link, Links

_LINK = re.compile(r"([0-9]{1,9})([-p])([0-9]{1,9})")


class Gold(NamedTuple):
    """The gold links of a pair.

    Attributes:
        sure: Links that a good aligner must find.
        possible: Links that it may find, including the sure ones.
    """

    sure: Links
    possible: Links


def read_gold(source: PathLike) -> Iterator[Gold]:
    """Read gold links: one pair per line, ``1-2`` for sure links and ``3p4`` otherwise.

    A sure link is a possible one, too.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked) or ``-`` for standard input.

    Raises:
        DataError: As :func:`~coverage_eval.core.tables.read_segments`; a malformed line
            (file, line).
    """
    for number, line in enumerate(read_segments(source), start=1):
        where = f"{file_name(source)}: line {number}"
        sure: set[Link] = set()
        possible: set[Link] = set()
        for token in tokenize(line):
            parts = _LINK.fullmatch(token)
            if parts is None:
                raise DataError(f"{where}: '{token}' is not a link (i-j, or ipj if it is possible)")
            (sure if parts[2] == "-" else possible).add((int(parts[1]), int(parts[3])))
        yield Gold(tuple(sorted(sure)), tuple(sorted(sure | possible)))


def read_with_gold(links: PathLike, gold: PathLike) -> Iterator[tuple[Links, Gold]]:
    """Read links and the gold links of the same pairs.

    Args:
        links: A file of Pharaoh lines.
        gold: A file of gold links, as in :func:`read_gold`.

    Raises:
        DataError: As :func:`read_gold`; unequal numbers of lines (names, counts), or
            standard input twice.
    """
    check_stdin([open_text(links), open_text(gold)])
    return zip_lines([file_name(links), file_name(gold)], [read_links(links), read_gold(gold)])


class LinkCounts(NamedTuple):
    """|A|, |S|, |A ∩ S| and |A ∩ P|: numbers, or arrays of one shape."""

    links: Any
    sure_links: Any
    sure_links_found: Any
    possible_links_found: Any


@dataclass(frozen=True)
class LinkMetric(Formula, ABC):
    """A figure of links against gold links; all share the same statistics."""

    statistic_names: ClassVar[tuple[str, ...]] = LinkCounts._fields

    @staticmethod
    def count(rows: Iterable[tuple[Iterable[Link], Gold]]) -> Statistics:
        """Statistics ``[pairs, 4]``: |A|, |S|, |A ∩ S|, |A ∩ P|.

        Args:
            rows: The links and the gold links of each pair.

        Raises:
            DataError: There is no pair.
        """
        counts = []
        for links, gold in rows:
            found, sure = set(links), set(gold.sure)
            possible = sure.union(gold.possible)
            counts.append((len(found), len(sure), len(found & sure), len(found & possible)))
        if not counts:
            raise DataError("no pairs to compare: the files are empty")
        return np.array(counts, dtype=np.int64)

    def settings(self) -> Mapping[str, object]:
        """Links with NULL are always left out."""
        return {"null": "no"}

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """The figure, in percent; NaN if its denominator is zero."""
        counts = LinkCounts(*np.moveaxis(np.asarray(summed, dtype=np.float64), -1, 0))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(100 * self._ratio(counts), dtype=np.float64)

    @abstractmethod
    def _ratio(self, n: LinkCounts) -> Any:
        """The figure between 0 and 1."""


@dataclass(frozen=True)
class AER(LinkMetric):
    """Alignment error rate, 0 to 100."""

    name: ClassVar[str] = "AER"
    higher_is_better: ClassVar[bool] = False
    undefined: ClassVar[str] = "there are neither links nor sure gold links"

    def _ratio(self, n: LinkCounts) -> Any:
        return 1 - (n.sure_links_found + n.possible_links_found) / (n.links + n.sure_links)


@dataclass(frozen=True)
class Precision(LinkMetric):
    """Percentage of the links that are possible, 0 to 100."""

    name: ClassVar[str] = "precision"
    higher_is_better: ClassVar[bool] = True
    undefined: ClassVar[str] = "there are no links"

    def _ratio(self, n: LinkCounts) -> Any:
        return n.possible_links_found / n.links


@dataclass(frozen=True)
class Recall(LinkMetric):
    """Percentage of the sure gold links that were found, 0 to 100."""

    name: ClassVar[str] = "recall"
    higher_is_better: ClassVar[bool] = True
    undefined: ClassVar[str] = "there are no sure gold links"

    def _ratio(self, n: LinkCounts) -> Any:
        return n.sure_links_found / n.sure_links


@dataclass(frozen=True)
class F1(LinkMetric):
    """Harmonic mean of precision and recall, 0 to 100; 0 if nothing was found."""

    name: ClassVar[str] = "F1"
    higher_is_better: ClassVar[bool] = True
    undefined: ClassVar[str] = "there are no links or no sure gold links"

    def _ratio(self, n: LinkCounts) -> Any:
        precision, recall = n.possible_links_found / n.links, n.sure_links_found / n.sure_links
        product, total = 2 * precision * recall, precision + recall
        return np.where(total == 0, 0.0, product / total)


LINK_METRICS = (AER, Precision, Recall, F1)
"""All figures, in the order in which they are reported."""


BETTER_LINKS = 5.0
"""By how many standard errors changed gold links must fit better than those of the file. On 20
pairs, changing right links makes the fit worse by 6 or more, even with links of Model 1, and
changing wrong links improves it as much."""

_FROM_ZERO = r"perl -pe 's/(\d+)(\D)(\d+)/($1-1).$2.($3-1)/ge' GOLD > NEW"
"""The line that makes gold links count from 0."""

_SWAPPED_LINKS = r"perl -pe 's/(\d+)(\D)(\d+)/$3$2$1/g' GOLD > NEW"
"""The line that swaps the sides of gold links."""


def _swap(link: Link) -> Link:
    return link[1], link[0]


def _count_from_zero(link: Link) -> Link:
    return link[0] - 1, link[1] - 1


def _count_from_one(link: Link) -> Link:
    return link[0] + 1, link[1] + 1


_GOLD_CHANGES = (
    (_swap, f"with source and target swapped; swap them: {_SWAPPED_LINKS}"),
    (_count_from_zero, f"counted from 0: {_FROM_ZERO}"),
    (_count_from_one, "if the links count from 1; count both from 0"),
)
"""What may be wrong with gold links, and what to do."""


def check_gold(
    links: Sequence[Links], golds: Sequence[Gold], *, name: str = "the gold links"
) -> list[Finding]:
    """Check that gold links count from the same number as the links and have the same direction.

    Args:
        links: The links of each pair, or of some of the pairs.
        golds: The gold links of the same pairs.
        name: Name of the gold links in messages.

    Raises:
        ValueError: Unequal numbers of pairs.
    """
    pairs = [(set(found), set(gold.possible)) for found, gold in zip(links, golds, strict=True)]
    pairs = [pair for pair in pairs if all(pair)]
    if len(pairs) < MIN_SEGMENTS:
        return []
    for side, word in ((0, "source"), (1, "target")):
        if not any(link[side] == 0 for _, gold in pairs for link in gold):
            message = (
                f"{name}: no link of {len(pairs):,} pairs has {word} position 0; if positions "
                f"count from 1: {_FROM_ZERO}"
            )
            return [Finding(message)]
    for change, remedy in _GOLD_CHANGES:
        # Only links that the change adds or removes tell which version is right.
        changed = [(found, gold, {change(link) for link in gold}) for found, gold in pairs]
        better = sum(len(found & (new - gold)) for found, gold, new in changed)
        worse = sum(len(found & (gold - new)) for found, gold, new in changed)
        if better - worse > BETTER_LINKS * math.sqrt(better + worse):
            counts = f"{better:,} links against {worse:,}"
            return [Finding(f"{name}: fit the links better ({counts}) {remedy}")]
    return []
