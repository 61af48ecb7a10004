"""Coverages of source words in texts with errors, measured in every way that a variant needs.

The finder of omissions works on one segment at a time. To compare hundreds of its variants, their
inputs are measured once; then each variant is a few operations on arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from corpora import Corpus, Translator, joined, sampled
from numpy.typing import NDArray
from scores import Spoilt

from coverage_eval.align.aligner import Aligner, ModelAligner
from coverage_eval.core.batches import Row
from coverage_eval.coverage.training import cut_pairs, of_words
from fast_align_wrapper import Posterior
from fast_align_wrapper.model import DIRECTIONS

Floats = NDArray[np.float64]

KINDS = (
    ("omission-phrase", "none", 1.0),
    ("omission-phrase", "filler", 1.0),
    ("omission-phrase", "detached", 1.0),
    ("omission-content", "none", 1.0),
    ("omission-content", "filler", 1.0),
    ("early-stop", "none", 2.0),
)
"""Kinds of errors, the repair for omitted words, and a factor for the rate."""

WAYS: Mapping[str, Callable[[Floats, Floats], Floats]] = {
    "sum": lambda forward, _: _capped(forward.sum(axis=0)),
    "best link": lambda forward, _: forward.max(axis=0, initial=0.0),
    "any link": lambda forward, _: 1.0 - np.maximum(0.0, 1.0 - forward).prod(axis=0),
    "mean of sum and best": lambda forward, _: (
        (_capped(forward.sum(axis=0)) + forward.max(axis=0, initial=0.0)) / 2
    ),
    "sum of links from 0.1": lambda forward, _: _capped(
        np.where(forward >= 0.1, forward, 0.0).sum(axis=0)
    ),
    "reverse": lambda _, reverse: _capped(reverse.sum(axis=0)),
    "mean of forward and reverse": lambda forward, reverse: (
        (_capped(forward.sum(axis=0)) + _capped(reverse.sum(axis=0))) / 2
    ),
    "forward and reverse agree": lambda forward, reverse: _capped(
        np.sqrt(forward * reverse).sum(axis=0)
    ),
}
"""How the probabilities ``[target, source]`` of both directions become coverages ``[source]``."""


def _capped(values: Floats) -> Floats:
    return np.minimum(1.0, values)


UNITS: Mapping[str, Mapping[str, Any]] = {"words": {}, "stems of 5": {"stem": 5}}
"""The units that an aligner links, and the options of its training."""


@dataclass(frozen=True)
class Measured:
    """Coverages of a test set, with one kind of units.

    Attributes:
        inside: ``[segments, words]``, False at padding.
        covered: Way → ``[texts, segments, words]``; the first text is the reference.
        normal: Way and strength of smoothing → the words' mean and spread ``[segments, words]``.
        rarity: ``[segments, words]``, 0 to 1.
    """

    inside: NDArray[np.bool_]
    covered: Mapping[str, Floats]
    normal: Mapping[tuple[str, float], tuple[Floats, Floats]]
    rarity: Floats


@dataclass(frozen=True)
class Bed:
    """Texts with errors of several kinds, and their measured coverages.

    Attributes:
        labels: ``[kinds, segments]``, whether a source word has lost its translation.
        lengths: ``[kinds, segments, 2]``, words of source and hypothesis.
        units: Unit → coverages.
    """

    labels: NDArray[np.bool_]
    lengths: Floats
    units: Mapping[str, Measured]


SMOOTHINGS = (1.0, 5.0)
"""How many occurrences of an average rare word are added to those of each word."""


def make_bed(
    corpus: Corpus,
    translator: Translator,
    aligner: ModelAligner,
    *,
    far: bool = False,
    segments: int = 1000,
    pairs: int = 10_000,
) -> Bed:
    """Put errors of all kinds into correct outputs, and measure coverages.

    Args:
        corpus: The corpus.
        translator: Makes the outputs.
        aligner: Finds the source words that errors concern.
        far: Whether to join one to four segments of the test set, so that lengths differ more, and
            to put errors into fewer words.
        segments: Maximum number of segments.
        pairs: Maximum number of training pairs.
    """
    rows = translator.rows(len(corpus.test))
    rows = (joined(rows) if far else rows)[:segments]
    rate = 0.02 if far else 0.05
    outputs: list[list[str]] = []
    labels: list[NDArray[np.bool_]] = []
    for kind, repair, more in KINDS:
        spoilt = Spoilt.of(rows, kind, repair, aligner, more * rate)
        outputs.append([str(row.hypotheses[0]) for row in spoilt.rows])
        labels.append(spoilt.lost)
    texts = [
        Row(hypotheses, row.references, row.source)
        for row, hypotheses in zip(rows, zip(*outputs, strict=True), strict=True)
    ]
    sources = [len(str(row.source).split()) for row in rows]
    lengths = [
        [(size, len(line.split())) for size, line in zip(sources, lines, strict=True)]
        for lines in outputs
    ]
    training = sampled(corpus.training, min(pairs, len(corpus.training)))
    split = [(source.split(), target.split()) for source, target in training]
    usual = [*split, *cut_pairs(of_words(aligner), [pair for pair in split if all(pair)])]
    measured = {
        name: _measure_unit(options, training, usual, texts) for name, options in UNITS.items()
    }
    return Bed(np.array(labels), np.array(lengths, dtype=float), measured)


def _measure_unit(
    options: Mapping[str, Any],
    training: Sequence[tuple[str, str]],
    usual: Sequence[tuple[Sequence[str], Sequence[str]]],
    texts: Sequence[Row],
) -> Measured:
    with Aligner.train_pairs(training, **options) as aligner:
        normal = _NormalCoverages(
            (words, found)
            for words, (found,) in _cover(aligner, (Row((t,), (), s) for s, t in usual))
        )
        rows = list(_cover(aligner, texts))
    longest = max(len(words) for words, _ in rows)
    inside = np.zeros((len(rows), longest), dtype=bool)
    numbers = np.full(inside.shape, -1)
    values = np.zeros((1 + len(KINDS), len(WAYS), *inside.shape))
    for index, (words, found) in enumerate(rows):
        inside[index, : len(words)] = True
        numbers[index, : len(words)] = [normal.numbers.get(word, -1) for word in words]
        values[:, :, index, : len(words)] = found
    covered = {way: values[:, number] for number, way in enumerate(WAYS)}
    return Measured(inside, covered, normal.at(numbers), normal.rarity()[numbers])


def _cover(
    aligner: ModelAligner, rows: Iterable[Row]
) -> Iterator[tuple[Sequence[str], list[Floats]]]:
    """Source words, and their coverages ``[ways, words]`` by each text, references first."""
    pairs = [
        (
            aligner.source_tokenizer(row.source or ""),
            list(map(aligner.tokenizer, (*row.references, *row.hypotheses))),
        )
        for row in rows
    ]
    forward, reverse = (
        aligner.model.posteriors(((source, text) for source, texts in pairs for text in texts), way)
        for way in DIRECTIONS
    )
    for source, texts in pairs:
        yield source, [_ways(next(forward), next(reverse)) for _ in texts]


def _ways(forward: Posterior, reverse: Posterior) -> Floats:
    matrices = (forward.matrix.astype(np.float64), reverse.matrix.astype(np.float64))
    return np.stack([way(*matrices) for way in WAYS.values()])


class _NormalCoverages:
    """The normal coverage of each word, in all ways; the finder needs only one."""

    def __init__(self, segments: Iterable[tuple[Sequence[str], Floats]]) -> None:
        self.numbers: dict[str, int] = {}
        words, values = [], []
        for tokens, found in segments:
            words += [self.numbers.setdefault(word, len(self.numbers)) for word in tokens]
            values.append(found)
        every = np.concatenate(values, axis=1)
        size = len(self.numbers) + 1  # the last is for unseen words
        self.counts = np.bincount(words, minlength=size)
        self.sums, self.squares = (
            np.stack([np.bincount(words, row, minlength=size) for row in table])
            for table in (every, every**2)
        )

    def at(self, numbers: NDArray[np.intp]) -> dict[tuple[str, float], tuple[Floats, Floats]]:
        fewest = self.counts[self.counts > 0].min()
        rare = (self.counts > 0) & (self.counts <= max(2, fewest))
        size = self.counts[rare].sum()
        mean, square = (
            table[:, rare].sum(axis=1, keepdims=True) / size for table in (self.sums, self.squares)
        )
        found = {}
        for strength in SMOOTHINGS:
            weights = self.counts + strength
            means = (self.sums + strength * mean) / weights
            squares = (self.squares + strength * square) / weights
            spreads = np.sqrt(np.maximum(0.0, squares - means**2))
            for number, way in enumerate(WAYS):
                found[way, strength] = means[number][numbers], spreads[number][numbers]
        return found

    def rarity(self) -> Floats:
        """−log of each word's share in the text, divided by the greatest."""
        found: Floats = -np.log((self.counts + 1) / self.counts.sum())
        return found / found.max()
