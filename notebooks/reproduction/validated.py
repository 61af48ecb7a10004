"""Sparsemax against softmax with α chosen on validation text: ``tables/validated.csv``.

    python validated.py multi30k-de-en-seed* --ref test_2016_flickr.en --output tables/validated.csv

A run keeps the BLEU of its validation text for six α (the grid of COVPENALTY, where β = 0), and of
the test set's n-best lists the scores, and the texts that three forms chose. The α with the highest
BLEU chooses from these lists; a segment counts if the text of both systems' choice is kept.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from rescore import Candidates, best
from score import ALPHAS, BLEU_OF_PAPER
from systems import mean_and_half_width

from coverage_eval.core.texts import read_segments
from coverage_eval.quality.meteor.metric import METEOR

SYSTEMS = ("softmax", "sparsemax")
METRICS = (BLEU_OF_PAPER, METEOR())


def read_choices(run: Path, system: str) -> Candidates:
    """The n-best lists of a system; in place of its text, a hypothesis has segment and rank."""
    table = pd.read_csv(run / "nbest_scores.csv.gz")
    table = table[table["system"] == system]
    return Candidates(
        list(zip(table["segment"], table["rank"], strict=True)),
        np.flatnonzero(table["rank"] == 1),
        table["log_probability"].to_numpy(),
        table["pieces"].to_numpy(),
        np.zeros(len(table)),
    )


def kept_texts(run: Path, system: str, lists: Candidates) -> dict[tuple[int, int], str]:
    """The hypotheses whose texts are kept, by segment and rank.

    The α of the third form is not kept, so what all α choose that may have been it is known.
    """
    decoded, normalized, equal = (
        list(read_segments(run / f"{system}.test{form}.hyp.gz"))
        for form in ("", ".normalized", ".equal")
    )
    known = dict(zip(lists.choose(0.0, 0.0), decoded, strict=True))
    known |= zip(lists.choose(1.0, 0.0), normalized, strict=True)
    possible = [
        choices
        for choices in (lists.choose(alpha, 0.0) for alpha in ALPHAS)
        if all(known.get(item, text) == text for item, text in zip(choices, equal, strict=True))
    ]
    for text, first, *others in zip(equal, *possible, strict=True):
        if {first} == {first, *others}:
            known[first] = text
    return known


def compare_run(run: Path, references: Sequence[str]) -> list[dict[str, object]]:
    """How much better sparsemax is in a run, by each metric."""
    made = json.loads((run / "manifest.json").read_text("utf-8"))["made"]
    alphas, bleus, chosen = {}, {}, []
    for system in SYSTEMS:
        grid = [point for point in made[f"{system}-penalized, rescoring"]["grid"] if not point[1]]
        alphas[f"{system}, α"], _, bleus[system] = best(grid)
        lists = read_choices(run, system)
        known = kept_texts(run, system, lists)
        chosen.append([known.get(item) for item in lists.choose(alphas[f"{system}, α"], 0.0)])
    rows = [row for row in zip(*chosen, references, strict=True) if None not in row]
    softmax, sparsemax, expected = zip(*rows, strict=True)
    gain = bleus["sparsemax"] - bleus["softmax"]
    labels = {"run": run.name, **alphas, "validation gain": gain, "segments": len(rows)}
    return [
        {
            **labels,
            "metric": metric.presentation.name,
            "gain": float(metric.corpus_score(sparsemax, [expected]))
            - float(metric.corpus_score(softmax, [expected])),
        }
        for metric in METRICS
    ]


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--ref", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    references = list(read_segments(arguments.ref))
    table = pd.DataFrame(row for run in arguments.runs for row in compare_run(run, references))
    for metric in METRICS:
        rows = table[table["metric"] == metric.presentation.name]
        mean, half = mean_and_half_width(rows["gain"])
        summary = {
            "run": "mean", "metric": metric.presentation.name,
            "validation gain": rows["validation gain"].mean(),
            "segments": rows["segments"].min(), "gain": mean, "±": half,
            "better in": f"{(rows['gain'] > 0).sum()} of {len(rows)}",
        }  # fmt: skip
        table = pd.concat([table, pd.DataFrame([summary])])
    table.to_csv(arguments.output, index=False, float_format="%.4f")


if __name__ == "__main__":
    main()
