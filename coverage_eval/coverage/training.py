"""What a model needs to find omissions, learnt from its training text.

Beside the model of words there are a model of stems, the normal coverage of each word, and what
complete translations score (:class:`~coverage_eval.coverage.null_scores.NullScores`).

Training pairs are complete translations, but a model knows the very pairs that it was trained on,
and covers them better than any other text. So every tenth pair is held out from two more models,
which serve only to score these pairs: singly, cut into halves and quarters, and several joined to
texts of up to some hundred words, because another text may have other lines than the training text.
A pair is cut where no link crosses, so that each part is a complete translation, too. A bilingual
text has one translation of each segment, so for flags beside a reference there is a stand-in: it
covers a quarter of the words as the translation does, and the others at random, with the mean and
the spread of each word in the whole training text. Real references agree more, and the adaptation
to the text at hand takes up most of this.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from random import Random
from typing import Any

import numpy as np

from coverage_eval.align.aligner import Aligner, ModelAligner
from coverage_eval.align.model_text import strict_pairs
from coverage_eval.align.rows import SIDES, CoveredRow
from coverage_eval.core.batches import Batch, Row
from coverage_eval.core.progress import Progress, no_progress, split_progress, track
from coverage_eval.core.tokenizers import Segment
from coverage_eval.coverage.coverage_losses import NormalCoverage, UnitModel
from coverage_eval.coverage.null_scores import NullScores
from coverage_eval.coverage.omission_model import (
    ALONE,
    NORMAL,
    NULL,
    REFERENCES,
    STEMS,
    OmissionModel,
    constants_for,
    save_figures,
)

STEM = 5
"""Letters of a stem."""

MAX_PAIRS = 100_000
"""Most training pairs from which it learns normal coverages, and what complete outputs score."""

_HELD_OUT = 10
_MAX_HELD_OUT = 1200
_MIN_HELD_OUT = 20
"""One training pair of so many is held out, at most and at least so many pairs."""

_JOINED_TEXTS = 600
"""Number of texts that are made of several pairs."""

_MAX_JOINED = 20
_LONGEST = 300
"""Most pairs that are joined: 20, or more if they are short, so that some texts have 300 words."""

_MIN_PART = 2
"""Words of a part of a pair, at least."""

_OF_WORDS = ("tokenize", "src_tokenize", "stem", "symmetrize", "sink", "progress")
"""Options of the model of words that the other models take from it, or do not need."""

TokenPair = tuple[Sequence[str], Sequence[str]]

_SAME_SHARE = 0.25
"""Share of the words that a stand-in covers as the translation does."""


def train_for_omissions(
    sources: Sequence[Segment], targets: Sequence[Segment], **options: Any
) -> ModelAligner:
    """Train a model on parallel text, with all that finding omissions and additions needs.

    >>> from coverage_eval.coverage.omission_finder import OmissionFinder
    >>> sources = ["ein haus", "das haus", "ein hund", "das tier"] * 20
    >>> targets = ["a house", "the house", "a dog", "the animal"] * 20
    >>> with train_for_omissions(sources, targets) as aligner:
    ...     found = OmissionFinder(aligner).find_texts(["the house"], ["das haus ein hund"])
    >>> found[0].is_flagged
    True

    It is what ``coverage-eval align train --prepare-for omissions`` does.

    Args:
        sources: The source segments.
        targets: Their translations.
        **options: Those of :meth:`coverage_eval.Aligner.train`, such as ``tokenize="13a"``.

    Raises:
        DataError: Unequal numbers of segments, or none.
        AlignerError: The aligner failed.
    """
    aligner = Aligner.train(sources, targets, **options)
    others = {name: value for name, value in options.items() if name not in _OF_WORDS}
    add_omission_data(aligner, lambda: strict_pairs(sources, targets), **others)
    return aligner


def add_omission_data(
    aligner: ModelAligner,
    read: Callable[[], Iterable[tuple[Segment, ...]]],
    progress: Progress = no_progress,
    **options: Any,
) -> None:
    """Attach to a new model what else an omission finder needs, to be saved with the model.

    Args:
        aligner: The model of words, newly trained.
        read: Gives the training text again, as pairs of source and target.
        progress: Where to report the share of the work that is done.
        **options: The options that it was trained with.

    Raises:
        AlignerError: The aligner failed.
    """
    target, source = aligner.tokenizer, aligner.source_tokenizer
    of_stems, *of_models, of_nulls = split_progress(progress, 3.0, 5.0, 5.0, 2.0)
    form: dict[str, Any] = {"tokenize": target.name, "src_tokenize": source.name, "stem": STEM}
    stems = Aligner.train_pairs(read(), **form, progress=of_stems, **options)
    step = max(1, -(-aligner.model.manifest.pairs // MAX_PAIRS))
    chosen = islice(read(), 0, None, step)
    pairs = [(source.whole(first), target.whole(second)) for first, second in chosen]
    aligner.model.attach(STEMS, stems.model.save)
    known = of_words(aligner)
    usual = [*pairs, *cut_pairs(known, [pair for pair in pairs if all(pair)])]
    stride = max(_HELD_OUT, -(-len(pairs) // _MAX_HELD_OUT))
    held_out = [pair for pair in pairs[::stride] if all(pair)]
    others = [pair for number, pair in enumerate(pairs) if number % stride]
    # What complete translations score is not learnt from too few pairs.
    texts = held_out + _join_pairs(held_out) if len(held_out) >= _MIN_HELD_OUT else []
    units: dict[str, list[UnitModel]] = {side: [] for side in SIDES}
    for name, model, of_model in zip(("words", "stems"), (aligner, stems), of_models, strict=True):
        of_training, of_coverages = split_progress(of_model, 3.0, 2.0)
        form = {"tokenize": "none", "stem": model.tokenizer.stem}
        known = of_words(model)
        blind = Aligner.train_pairs(others, **form, progress=of_training, **options)
        if model is aligner and texts:
            texts += cut_pairs(blind, held_out)
        for side in track(SIDES, of_coverages, len(SIDES)):
            normal = _learn_normal(known, usual, side)
            aligner.model.attach(
                NORMAL.format(name=name, side=side), partial(save_figures, vars(normal))
            )
            units[side].append(UnitModel(blind, normal))
    for side, of_side in track(units.items(), of_nulls, len(SIDES)):
        nulls = _learn_nulls(aligner, of_side, side, texts)
        if nulls:
            figures = {name: vars(null) for name, null in nulls.items()}
            aligner.model.attach(NULL.format(side=side), partial(save_figures, figures))


def of_words(aligner: ModelAligner) -> ModelAligner:
    """An aligner for text that is cut into words already."""
    known = copy(aligner)
    known.tokenizer = replace(aligner.tokenizer, name="none")
    known.source_tokenizer = replace(aligner.source_tokenizer, name="none")
    return known


def _learn_normal(aligner: ModelAligner, pairs: Sequence[TokenPair], side: str) -> NormalCoverage:
    """The normal coverage of the words of one side of the training text."""
    covered = aligner.cover((Row((target,), (), source) for source, target in pairs), side)
    return NormalCoverage.learn(
        (item.source if side == "source" else aligner.tokenizer(target), item.outputs[0])
        for (_, target), item in zip(pairs, covered, strict=True)
    )


def _join_pairs(pairs: Sequence[TokenPair]) -> list[TokenPair]:
    """Texts of several pairs; the logarithms of their numbers of pairs are evenly spread."""
    generator = Random(0)  # noqa: S311 (not for secrets)
    words = sum(len(source) for source, _ in pairs) / len(pairs)
    max_pairs = max(_MAX_JOINED, math.ceil(_LONGEST / words))
    found: list[TokenPair] = []
    for _ in range(min(_JOINED_TEXTS, len(pairs))):
        size = round(math.exp(generator.uniform(math.log(2), math.log(max_pairs))))
        sides = zip(*generator.choices(pairs, k=size), strict=True)
        source, target = (list(chain.from_iterable(side)) for side in sides)
        found.append((source, target))
    return found


def cut_pairs(aligner: ModelAligner, pairs: Sequence[TokenPair]) -> list[TokenPair]:
    """The halves and quarters of pairs that can be cut there."""
    found: list[TokenPair] = []
    for _ in range(2):
        aligned = aligner.align(Row((target,), (), source) for source, target in pairs)
        pairs = [
            half
            for (source, target), row in zip(pairs, aligned, strict=True)
            for half in _halves(source, target, row.hypotheses[0])
        ]
        found += pairs
    return found


def _halves(
    source: Sequence[str], target: Sequence[str], links: Sequence[tuple[int, int]]
) -> list[TokenPair]:
    """Both parts of a pair, cut as near to the middle as no link crosses; none without a cut."""
    cuts = []
    for i in range(_MIN_PART, len(source) - _MIN_PART + 1):
        first = 1 + max((t for s, t in links if s < i), default=-1)
        last = min((t for s, t in links if s >= i), default=len(target))
        first, last = max(first, _MIN_PART), min(last, len(target) - _MIN_PART)
        if first <= last:
            j = min(max(first, len(target) // 2), last)
            cuts.append((abs(2 * i - len(source)) + abs(2 * j - len(target)), i, j))
    if not cuts:
        return []
    _, i, j = min(cuts)
    return [(source[:i], target[:j]), (source[i:], target[j:])]


def _learn_nulls(
    aligner: ModelAligner, units: Sequence[UnitModel], side: str, texts: Sequence[TokenPair]
) -> dict[str, NullScores]:
    """What complete translations score; nothing if there are too few texts.

    Args:
        aligner: The model of words, with the tokenisers that the texts were cut by.
        units: Models of words and stems that have not seen the texts.
        side: One of :data:`SIDES`.
        texts: The texts.
    """
    if not texts:
        return {}
    rows = [Row((target,), (), source) for source, target in texts]
    covered = [list(unit.aligner.cover(rows, side)) for unit in units]
    nulls = {}
    for name in (ALONE, REFERENCES) if side == "source" else (ALONE,):
        constants = constants_for(aligner, side, referenced=name == REFERENCES)
        model = OmissionModel(side, name == REFERENCES, tuple(units), constants)
        items = covered
        if model.referenced:
            items = list(map(_with_stand_ins, units, covered))
        batch = Batch(rows)
        keys = (request.key for request in model.requests())
        batch.computed.update(zip(keys, items, strict=True))
        scored = model.score(batch)
        if scored.strengths.any():  # not where each word is always covered alike
            lengths = np.maximum(1, scored.sizes[0])
            nulls[name] = NullScores.learn(scored.strengths[0], scored.scores[0], lengths)
    return nulls


def _with_stand_ins(unit: UnitModel, items: Sequence[CoveredRow]) -> list[CoveredRow]:
    """The coverages with that of a stand-in for a reference."""
    assert unit.normal is not None
    generator = np.random.default_rng(0)
    covered = np.concatenate([item.outputs[0] for item in items])
    means, spreads = unit.normal.of(list(chain.from_iterable(item.source for item in items)))
    means = np.clip(means, 0.01, 0.99)
    variances = np.clip(spreads**2, 1e-5, 0.98 * means * (1 - means))
    size = means * (1 - means) / variances - 1
    samples = generator.beta(means * size, (1 - means) * size)
    samples = np.where(generator.random(len(covered)) < _SAME_SHARE, covered, samples)
    ends = np.cumsum([len(item.source) for item in items])[:-1]
    several = np.split(samples, ends)
    return [
        item._replace(references=(stand_in,)) for item, stand_in in zip(items, several, strict=True)
    ]
