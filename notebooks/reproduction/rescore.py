"""COVPENALTY on n-best lists: log P(y|x) / lp(y) + cp(x; y) (Wu et al. 2016, section 7).

α of the length penalty and β of the coverage penalty are chosen by grid search over 0, 0.2, …, 1
for the best BLEU (Malaviya et al. 2018, section 5). Lists are in Moses' format, one hypothesis per
line, segments in order; the attention file has one JSON object per hypothesis, in the same order,
with ``attention`` (target × source) or ``coverage`` (its column sums)::

    0 ||| das ist ein haus ||| F0= -1.5 ||| -1.5
    {"attention": [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5], [0.1, 0.9]]}

    python rescore.py valid.nbest --attention valid.jsonl --ref valid.en    # prints the grid
    python rescore.py test.nbest --attention test.jsonl --weights 0.2 0.4   # prints the chosen
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention import coverage_penalty
from coverage_eval.attention.penalties import penalized_score
from coverage_eval.attention_maps.subwords import join_words
from coverage_eval.core.files import FileText
from coverage_eval.core.texts import read_segments
from coverage_eval.core.tokenizers import tokenize
from coverage_eval.quality.sacre import BLEU

GRID = tuple(round(0.2 * k, 1) for k in range(6))


@dataclass(frozen=True, eq=False)
class Candidates:
    """N-best lists with their penalties.

    Attributes:
        texts: ``[N]`` hypotheses, in words.
        starts: ``[segments]`` index of each segment's first hypothesis.
        log_probabilities: ``[N]``.
        lengths: ``[N]`` tokens of each, in the pieces of the model.
        penalties: ``[N]`` coverage penalty of each, for β = 1.
    """

    texts: Sequence[str]
    starts: NDArray[np.intp]
    log_probabilities: NDArray[np.float64]
    lengths: NDArray[np.intp]
    penalties: NDArray[np.float64]

    def choose(self, alpha: float, beta: float) -> list[str]:
        """The best hypothesis of each segment; ties go to the first."""
        scores = penalized_score(
            self.log_probabilities, self.lengths, beta * self.penalties, alpha=alpha
        )
        parts = zip(self.starts, np.split(scores, self.starts[1:]))
        return [self.texts[start + part.argmax()] for start, part in parts]


def search(candidates: Candidates, references: Sequence[str], bleu: BLEU) -> list[list[float]]:
    """BLEU of every pair of weights: ``[[α, β, BLEU], …]``."""
    return [
        [alpha, beta, float(bleu.corpus_score(candidates.choose(alpha, beta), [references]))]
        for alpha, beta in product(GRID, GRID)
    ]


def best(grid: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """The pair with the highest BLEU; ties go to the smallest α, then β."""
    alpha, beta, bleu = max(grid, key=lambda point: (point[2], -point[0], -point[1]))
    return alpha, beta, bleu


def read(lists: str, attention: str | None, subwords: str) -> Candidates:
    """Read n-best lists, and the attention of their hypotheses."""
    rows = [[field.strip() for field in line.split("|||")] for line in FileText(lists)]
    segments = [int(row[0]) for row in rows]
    starts = np.flatnonzero(np.diff(segments, prepend=-1))
    if [segments[k] for k in starts] != list(range(len(starts))):
        raise SystemExit(f"{lists}: segments must be numbered from 0, in order, without gaps")
    tokens = [tokenize(row[1]) for row in rows]
    penalties = np.zeros(len(rows))
    if attention is not None:
        found = [json.loads(line) for line in FileText(attention)]
        if len(found) != len(rows):
            raise SystemExit(f"{attention}: {len(found)} records for {len(rows)} hypotheses")
        totals = [r["coverage"] if "coverage" in r else np.sum(r["attention"], 0) for r in found]
        penalties = np.array([float(coverage_penalty(np.asarray(row))) for row in totals])
    return Candidates(
        [
            join_words(words, subwords) if subwords != "none" else " ".join(words)
            for words in tokens
        ],
        starts,
        np.array([float(row[-1]) for row in rows]),
        np.array([len(words) for words in tokens]),
        penalties,
    )


def main() -> None:
    """Print the grid, or the chosen hypotheses."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("lists", help="n-best lists in Moses' format")
    parser.add_argument("--attention", help="attention of every hypothesis, JSON Lines")
    parser.add_argument("--ref", help="references: print BLEU of every pair of weights")
    parser.add_argument("--weights", type=float, nargs=2, metavar=("ALPHA", "BETA"))
    parser.add_argument("--subwords", default="none", help="merge subwords, such as bpe")
    arguments = parser.parse_args()
    if (arguments.ref is None) == (arguments.weights is None):
        parser.error("give either --ref or --weights")
    candidates = read(arguments.lists, arguments.attention, arguments.subwords)
    if arguments.weights:
        print("\n".join(candidates.choose(*arguments.weights)))
        return
    grid = search(candidates, list(read_segments(arguments.ref)), BLEU())
    for alpha, beta, bleu in grid:
        print(f"{alpha:g}\t{beta:g}\t{bleu:.2f}")
    print("best: α = {:g}, β = {:g}, BLEU = {:.2f}".format(*best(grid)))


if __name__ == "__main__":
    main()
