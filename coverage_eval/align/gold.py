"""Gold links, and how well links agree with them: AER, precision, recall, F1.

With links A, sure gold links S and possible ones P ⊇ S (Och and Ney, A Systematic Comparison of
Various Statistical Alignment Models, 2003)::

    AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)
    precision = |A ∩ P| / |A|    recall = |A ∩ S| / |S|

all as percentages, with the counts summed over the corpus. F1 is the harmonic mean of the last two.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.align.links import (
    Gold,
    LinkSource,
    LinkText,
    compare_positions,
    look_for_other_positions,
)
from coverage_eval.core.errors import CorpusWarning, DataError, Finding
from coverage_eval.core.files import PathLike, file_name, zip_lines
from coverage_eval.core.metric import Formula, Presentation, Statistics
from coverage_eval.core.score import Score
from coverage_eval.core.texts import check_stdin, open_text
from fast_align_wrapper.links import Link, Links


def read_gold(source: PathLike) -> Iterator[Gold]:
    """Read gold links: ``1-2`` for sure links and ``3p4`` otherwise, or NAACL's format.

    A line has the links of a pair, and a sure link is a possible one, too. NAACL's format has a
    line for each link, ``sentence source target S|P``, counted from 1.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked) or ``-`` for standard input.

    Raises:
        DataError: As :meth:`~coverage_eval.align.links.LinkText.golds`.
    """
    return (gold for _, gold in LinkText(source, file_name(source)).golds())


def read_with_gold(links: PathLike, gold: PathLike) -> Iterator[tuple[Links, Gold]]:
    """Read links and the gold links of the same pairs.

    Args:
        links: A file of links, as in :mod:`coverage_eval.align.links`.
        gold: A file of gold links, as in :func:`read_gold`. In NAACL's format, the last pairs may
            have none.

    Raises:
        DataError: As :func:`read_gold`; unequal numbers of lines (names, counts), or
            standard input twice.
    """
    check_stdin([open_text(links), open_text(gold)])
    return _read_with_gold(LinkText(links, file_name(links)), LinkText(gold, file_name(gold)))


def _read_with_gold(found: LinkText, given: LinkText) -> Iterator[tuple[Links, Gold]]:
    rows: list[Links] = [row for _, row in found]
    golds = [row for _, row in given.golds()]
    if given.is_numbered:
        golds += [Gold((), ())] * (len(rows) - len(golds))
    return zip_lines([found.name, given.name], [rows, golds])


def aer(links: LinkSource, gold: LinkSource) -> Score:
    """Alignment error rate of links against gold links, as ``coverage-eval align aer``.

    >>> float(aer(["0-0 1-1 2-2"], ["0-0 1p1 2-1"]))
    40.0

    Args:
        links: A file of links, a list of its lines, or the links of each pair as pairs of positions
            (source, target) from 0.
        gold: The gold links in the same forms, as in :func:`read_gold`; pairs of positions are sure
            links.

    Returns:
        AER from 0 to 100.

    Raises:
        DataError: As :func:`read_with_gold`; there is no pair.

    Warns:
        CorpusWarning: The gold links seem to be of other pairs, to count otherwise, or to have the
            other direction.
    """
    rows = list(_read_with_gold(LinkText(links, "the links"), LinkText(gold, "the gold links")))
    statistics = AER.count(rows)
    for finding in check_gold(*zip(*rows, strict=True)):
        warnings.warn(finding.message, CorpusWarning, stacklevel=2)
    return AER().score(statistics)


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

    presentation: ClassVar[Presentation] = Presentation(
        "AER", higher_is_better=False, undefined="there are neither links nor sure gold links"
    )

    def _ratio(self, n: LinkCounts) -> Any:
        return 1 - (n.sure_links_found + n.possible_links_found) / (n.links + n.sure_links)


@dataclass(frozen=True)
class Precision(LinkMetric):
    """Percentage of the links that are possible, 0 to 100."""

    presentation: ClassVar[Presentation] = Presentation(
        "precision", higher_is_better=True, undefined="there are no links"
    )

    def _ratio(self, n: LinkCounts) -> Any:
        return n.possible_links_found / n.links


@dataclass(frozen=True)
class Recall(LinkMetric):
    """Percentage of the sure gold links that were found, 0 to 100."""

    presentation: ClassVar[Presentation] = Presentation(
        "recall", higher_is_better=True, undefined="there are no sure gold links"
    )

    def _ratio(self, n: LinkCounts) -> Any:
        return n.sure_links_found / n.sure_links


@dataclass(frozen=True)
class F1(LinkMetric):
    """Harmonic mean of precision and recall, 0 to 100; 0 if nothing was found."""

    presentation: ClassVar[Presentation] = Presentation(
        "F1", higher_is_better=True, undefined="there are no links or no sure gold links"
    )

    def _ratio(self, n: LinkCounts) -> Any:
        precision, recall = n.possible_links_found / n.links, n.sure_links_found / n.sure_links
        product, total = 2 * precision * recall, precision + recall
        return np.where(total == 0, 0.0, product / total)


LINK_METRICS = (AER, Precision, Recall, F1)
"""All figures, in the order in which they are reported."""


def check_gold(
    links: Sequence[Links],
    golds: Sequence[Gold],
    *,
    name: str = "the gold links",
    links_name: str = "the links",
) -> list[Finding]:
    """Check that gold links are of the same pairs, count alike and have the same direction.

    Args:
        links: The links of each pair, or of some of the pairs.
        golds: The gold links of the same pairs.
        name: Name of the gold links in messages.
        links_name: Name of the links in messages.

    Raises:
        ValueError: Unequal numbers of pairs.
    """
    possible = [gold.possible for gold in golds]
    found = look_for_other_positions(possible, name)
    found = found or compare_positions(possible, links, name, links_name)
    found = found or _look_for_far_links(links, possible, name, links_name)
    return found or look_for_other_positions(links, links_name)


MAX_FAR = 0.05
"""Share of links far behind the last gold links of their pair: 0 in the links of aligners, 0.07
with the gold links of other pairs, 0.6 with those of another tokenisation."""


def _look_for_far_links(
    links: Sequence[Links], possible: Sequence[Links], name: str, links_name: str
) -> list[Finding]:
    """Links to words that the pairs of the gold links seem not to have."""
    far = number = 0
    for row, gold in zip(links, possible, strict=True):
        if gold:
            ends = [1.5 * max(side) + 2 for side in zip(*gold, strict=True)]
            number += len(row)
            far += sum(source > ends[0] or target > ends[1] for source, target in row)
    if far <= MAX_FAR * number:
        return []
    message = f"{far:,} of {number:,} links are far behind the last words that {name} links"
    advice = "are they of the same pairs, in the same tokenisation?"
    return [Finding(f"{links_name}: {message}; {advice}")]
