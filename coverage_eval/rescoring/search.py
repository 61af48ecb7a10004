r"""Rescoring n-best lists with length and coverage penalties (Wu et al. 2016, section 7).

COVPENALTY of Malaviya et al. 2018: each hypothesis is scored by :math:`\log P(y|x) / lp(y) +
cp(x; y)`, with α of the length penalty and β of the coverage penalty tuned by grid search on
:math:`\{0.2 k\}_{k=0}^{5}` for the best BLEU of a development set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention.penalties import CoverageForm, coverage_penalty, penalized_score
from coverage_eval.attention_maps.subwords import Scheme, join_words
from coverage_eval.errors import DataError
from coverage_eval.metrics.sacrebleu_adapters import BLEU
from coverage_eval.metrics.score import Score, Signature
from coverage_eval.rescoring.nbest import NBest
from fast_align_wrapper.text import tokenize

GRID = tuple(round(0.2 * k, 1) for k in range(6))
"""{0.2 k}, k = 0…5, for α and for β (Malaviya et al. 2018, section 5, after Wu et al. 2016)."""

Float64Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """N-best lists with what the penalties need, so that any α and β are quick.

    Args:
        nbest: The hypotheses.
        coverage: Total attention of each source word, one array per hypothesis; None where no
            coverage penalty is wanted.
        form: The coverage penalty, see :func:`coverage_eval.attention.coverage_penalty`.
        epsilon: ε of the paper's form.
        count_eos: Count the end of sentence as a token of each hypothesis.
        count_bos: Count the beginning of sentence too; the paper's scripts count both.
        subwords: How the subwords of hypotheses are marked, which are merged once chosen; the
            length |y| of the penalty is in tokens as listed.
    """

    nbest: NBest
    coverage: Iterable[Float64Array] | None = None
    form: CoverageForm = "paper"
    epsilon: float = 0.1
    count_eos: bool = False
    count_bos: bool = False
    subwords: Scheme = "none"

    def __post_init__(self) -> None:
        _ = self._penalties  # what is wrong with the coverage is said at once

    @cached_property
    def _lengths(self) -> NDArray[np.int64]:
        words = [len(tokenize(text)) for text in self.nbest.texts]
        return np.array(words, dtype=np.int64) + self.count_eos + self.count_bos

    @cached_property
    def _penalties(self) -> Float64Array | None:
        if self.coverage is None:
            return None
        units = [
            coverage_penalty(row, form=self.form, epsilon=self.epsilon) for row in self.coverage
        ]
        if len(units) != len(self.nbest.texts):
            raise DataError(f"{len(self.nbest.texts)} hypotheses, but coverage of {len(units)}")
        return np.array(units, dtype=np.float64)

    def scores(self, alpha: float, beta: float) -> Float64Array:
        """``[N]`` penalised score of each hypothesis.

        Raises:
            DataError: β is not 0 and there is no coverage.
        """
        if beta == 0:
            penalty = np.zeros(len(self._lengths))
        elif self._penalties is None:
            raise DataError("a coverage penalty needs the attention of the hypotheses")
        else:
            penalty = beta * self._penalties
        return penalized_score(self.nbest.log_probabilities, self._lengths, penalty, alpha=alpha)

    def choose(self, alpha: float, beta: float) -> NDArray[np.intp]:
        """``[segments]`` index of each segment's best hypothesis; of equals, the first listed."""
        scores = self.scores(alpha, beta)
        best = np.maximum.reduceat(scores, self.nbest.starts)
        winners = np.flatnonzero(scores == np.repeat(best, self.nbest.sizes))
        return winners[np.searchsorted(winners, self.nbest.starts)]

    def chosen_texts(self, alpha: float, beta: float) -> list[str]:
        """The best hypothesis of each segment."""
        return [self.text(i) for i in self.choose(alpha, beta)]

    def text(self, index: int) -> str:
        """A hypothesis, its subwords merged."""
        text = self.nbest.texts[index]
        if self.subwords == "none":
            return text
        return join_words(tokenize(text), self.subwords)


@dataclass(frozen=True)
class GridPoint:
    """BLEU of a development set under one pair of weights.

    Attributes:
        alpha: Of the length penalty.
        beta: Of the coverage penalty.
        bleu: 0 to 100.
    """

    alpha: float
    beta: float
    bleu: float


@dataclass(frozen=True)
class GridSearch:
    """All points of a grid search, α before β, and the best of them.

    Attributes:
        points: One for each pair of weights.
        best: The point with the highest BLEU; of equals, that with the smallest α, then β.
        score: BLEU of the best point, with the weights and the penalty in its signature.
    """

    points: tuple[GridPoint, ...]
    best: GridPoint
    score: Score


def grid_search(
    candidates: Candidates,
    references: Sequence[str],
    *,
    alphas: Sequence[float] = GRID,
    betas: Sequence[float] = GRID,
    metric: BLEU | None = None,
) -> GridSearch:
    """Find the weights under which the chosen hypotheses have the best BLEU.

    Args:
        candidates: N-best lists of a development set.
        references: One per segment.
        alphas: Weights of the length penalty to try.
        betas: Weights of the coverage penalty to try.
        metric: BLEU's settings.

    Raises:
        DataError: The numbers of segments and references differ, or there is no coverage although
            a β is not 0.
    """
    nbest = candidates.nbest
    if len(references) != len(nbest.starts):
        raise DataError(
            f"{nbest.name} has hypotheses for {len(nbest.starts)} segments, "
            f"but there are {len(references)} references"
        )
    bleu = metric or BLEU()
    grid = [(alpha, beta) for alpha in sorted(alphas) for beta in sorted(betas)]
    choices = [candidates.choose(alpha, beta) for alpha, beta in grid]
    # Most hypotheses are never chosen: count the n-grams of those that are, once.
    needed = np.unique(np.concatenate(choices))
    segment = np.searchsorted(nbest.starts, needed, side="right") - 1
    texts = [candidates.text(i) for i in needed]
    statistics = bleu.statistics(texts, [references[s] for s in segment])
    summed = np.stack(
        [statistics[np.searchsorted(needed, choice)].sum(axis=0) for choice in choices]
    )
    points = tuple(
        GridPoint(alpha, beta, float(value))
        for (alpha, beta), value in zip(grid, bleu.formula(summed), strict=True)
    )
    best = best_point(points)
    chosen = statistics[np.searchsorted(needed, choices[points.index(best)])]
    score = bleu.score(chosen, references=1)
    signature = _signature(score.signature, candidates, best)
    return GridSearch(points, best, replace(score, signature=signature))


def best_point(points: Iterable[GridPoint]) -> GridPoint:
    """The point with the highest BLEU; of equals, that with the smallest α, then β."""
    return max(points, key=lambda point: (point.bleu, -point.alpha, -point.beta))


def _signature(bleu: Signature, candidates: Candidates, point: GridPoint) -> Signature:
    """BLEU's signature with all that chose the hypotheses, before the version."""
    settings = [("alpha", f"{point.alpha:g}"), ("beta", f"{point.beta:g}")]
    settings.append(("coverage", candidates.form))
    if candidates.form == "paper":
        settings.append(("epsilon", f"{candidates.epsilon:g}"))
    counted = "tokens" + "+bos" * candidates.count_bos + "+eos" * candidates.count_eos
    settings.append(("length", counted))
    if candidates.subwords != "none":
        settings.append(("subwords", candidates.subwords))
    return Signature(bleu.metric, (*bleu.settings[:-1], *settings, bleu.settings[-1]))
