"""COVPENALTY's α and β: the pair of the paper's grid with the best BLEU on the validation text.

Either of the beam, which decodes the text with each pair of weights, or of the n-best lists of a
beam without penalties, which costs one decoding but sees only what that beam kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

from tqdm import tqdm

from coverage_eval.data.files import read_segments, write_lines
from coverage_eval.metrics.sacrebleu_adapters import BLEU
from coverage_eval.metrics.score import Signature
from coverage_eval.nmt.beam import Penalties
from coverage_eval.rescoring.nbest import read_coverage, read_nbest
from coverage_eval.rescoring.search import (
    GRID,
    Candidates,
    GridPoint,
    best_point,
    grid_search,
)

_BLEU = BLEU(tokenize="none", lowercase=True)


@dataclass(frozen=True)
class TunedPenalties:
    """What was chosen, and from what.

    Attributes:
        best: The chosen pair with its BLEU.
        points: All of the grid.
        signature: Of the BLEU of the points.
    """

    best: GridPoint
    points: tuple[GridPoint, ...]
    signature: str

    @property
    def penalties(self) -> Penalties:
        """As the beam takes them."""
        return Penalties(self.best.alpha, self.best.beta)

    def note(self) -> dict[str, Any]:
        """For the manifest."""
        return {
            "alpha": self.best.alpha,
            "beta": self.best.beta,
            "valid BLEU": self.best.bleu,
            "signature": self.signature,
            "grid": [[point.alpha, point.beta, round(point.bleu, 4)] for point in self.points],
        }


def tune_by_lists(path: Path, references: Sequence[str]) -> TunedPenalties:
    """Choose among the hypotheses of n-best lists, as ``coverage-eval rescore`` does.

    Args:
        path: Of the lists, without the endings ``.nbest`` and ``.coverage.jsonl``.
        references: Of the validation text.
    """
    search = grid_search(candidates_of(path), references, metric=_BLEU)
    return TunedPenalties(search.best, search.points, str(search.score.signature))


def candidates_of(path: Path) -> Candidates:
    """N-best lists of pieces, with their coverage."""
    lists = read_nbest(f"{path}.nbest")
    return Candidates(lists, read_coverage(f"{path}.coverage.jsonl", lists), subwords="bpe")


def tune_by_beam(
    decode: Callable[[Penalties], Sequence[str]],
    references: Sequence[str],
    kept: Path,
    *,
    label: str,
) -> TunedPenalties:
    """Decode with every pair of weights.

    Args:
        decode: Translates the validation text with penalties in the beam.
        references: Of as much of the validation text.
        kept: Where each point's BLEU is kept, a JSON object a line, and read from if a search that
            was killed goes on; points of another number of sentences do not count.
        label: Before the progress bar.
    """
    found = _read_points(kept, len(references))
    pairs = [pair for pair in product(GRID, GRID) if pair not in found]
    total = len(found) + len(pairs)
    with tqdm(
        pairs, initial=len(found), total=total, desc=label, unit="decoding", disable=None,
        leave=False,
    ) as bar:  # fmt: skip
        for alpha, beta in bar:
            score = _BLEU.corpus_score(decode(Penalties(alpha, beta)), references)
            found[alpha, beta] = GridPoint(alpha, beta, float(score))
            records = ({"sentences": len(references), "point": asdict(p)} for p in found.values())
            write_lines(kept, map(json.dumps, records))
    points = tuple(found.values())
    best = best_point(points)
    signed = _BLEU.sign(references=1)
    settings = (*signed.settings[:-1], *Penalties(best.alpha, best.beta).settings)
    return TunedPenalties(
        best, points, str(Signature(signed.metric, (*settings, signed.settings[-1])))
    )


def _read_points(path: Path, sentences: int) -> dict[tuple[float, float], GridPoint]:
    if not path.exists():
        return {}
    records = [json.loads(line) for line in read_segments(path)]
    points = [GridPoint(**item["point"]) for item in records if item["sentences"] == sentences]
    return {(point.alpha, point.beta): point for point in points}
