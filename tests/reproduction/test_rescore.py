"""Rescoring of n-best lists, against plain loops with sacreBLEU."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import sacrebleu

from coverage_eval.quality.sacre import BLEU
from tests.reproduction.conftest import SCRIPTS  # noqa: F401  (finds the scripts)

from rescore import GRID, best, read, search  # isort: skip

NBEST = """\
0 ||| a b ||| F0= -9 ||| -1.0
0 ||| a b c@@ d ||| F0= -1 ||| -1.2
1 ||| x y z w ||| F0= -1 ||| -0.5
1 ||| x y ||| F0= -2 ||| -0.25
"""
COVERAGE = [[0.95, 1.05], [3.9, 0.1], [1.5, 0.5, 1.0], [0.2, 0.05, 1.75]]
REFERENCES = ["a b cd", "x y z w"]


@pytest.fixture
def lists(tmp_path):
    (tmp_path / "nbest").write_text(NBEST, encoding="utf-8")
    records = "".join(f"{json.dumps({'coverage': row})}\n" for row in COVERAGE)
    (tmp_path / "attention").write_text(records, encoding="utf-8")
    return read(str(tmp_path / "nbest"), str(tmp_path / "attention"), "bpe")


def chosen(alpha: float, beta: float) -> list[str]:
    found: dict[str, tuple[float, str]] = {}
    for line, covered in zip(NBEST.splitlines(), COVERAGE, strict=True):
        segment, text, _, log = line.split(" ||| ")
        penalty = beta * sum(math.log(min(1.0, max(0.1, x))) for x in covered)
        score = float(log) / ((5 + len(text.split())) / 6) ** alpha + penalty
        if segment not in found or score > found[segment][0]:
            found[segment] = score, text.replace("@@ ", "")
    return [text for _, text in found.values()]


def test_the_choice_follows_the_formula(lists):
    for alpha in GRID:
        for beta in GRID:
            assert lists.choose(alpha, beta) == chosen(alpha, beta)


def test_the_grid_has_sacrebleus_figures_and_its_best_point(lists):
    grid = search(lists, REFERENCES, BLEU())
    assert len(grid) == 36
    for alpha, beta, bleu in grid:
        theirs = sacrebleu.corpus_bleu(chosen(alpha, beta), [REFERENCES]).score
        assert bleu == pytest.approx(theirs, abs=1e-9)
    alpha, beta, bleu = best(grid)
    assert bleu == max(point[2] for point in grid)
    assert (alpha, beta) == min((a, b) for a, b, score in grid if score == bleu)


def test_attention_is_summed_and_gaps_are_refused(tmp_path):
    (tmp_path / "n").write_text("0 ||| a b ||| F0= -1 ||| -1\n", encoding="utf-8")
    weights = [[0.5, 0.5], [0.45, 0.55]]
    (tmp_path / "a").write_text(json.dumps({"attention": weights}), encoding="utf-8")
    (penalty,) = read(str(tmp_path / "n"), str(tmp_path / "a"), "none").penalties
    assert penalty == pytest.approx(np.log(0.95))
    (tmp_path / "n").write_text("1 ||| a b ||| F0= -1 ||| -1\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="in order"):
        read(str(tmp_path / "n"), None, "none")
