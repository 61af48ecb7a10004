"""Choosing the weights of penalties: the grid, its best point, and a search that is killed."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch (the nmt extra) is not installed")
pytest.importorskip("tokenizers", reason="tokenizers (the nmt extra) is not installed")

import coverage_eval as ce
from coverage_eval.papers.reproduction.decoding import Penalties
from coverage_eval.papers.reproduction.experiment import TunedPenalties, tune_by_beam

REFERENCES = ["the cat sat on the mat", "a dog ran to the old house"]
PLACE = (0.4, 0.8)


class Decoder:
    """Translates better, the nearer the weights are to ``PLACE``; may be killed."""

    def __init__(self, kill_after: int | None = None) -> None:
        self.asked: list[tuple[float, float]] = []
        self.kill_after = kill_after

    def __call__(self, penalties: Penalties) -> list[str]:
        if len(self.asked) == self.kill_after:
            raise KeyboardInterrupt
        pair = (penalties.alpha, penalties.beta)
        self.asked.append(pair)
        return [" ".join(line.split()[: 6 - self._steps_away(pair)]) for line in REFERENCES]

    @staticmethod
    def _steps_away(pair: tuple[float, float]) -> int:
        away = (round(5 * abs(one - other)) for one, other in zip(pair, PLACE, strict=True))
        return min(sum(away), 4)


def _tune(decoder: Decoder, folder: Path, references: list[str] = REFERENCES) -> TunedPenalties:
    return tune_by_beam(decoder, references, folder / "tuning.jsonl", label="test")


def test_every_pair_of_weights_is_tried_and_the_best_is_chosen(tmp_path):
    decoder = Decoder()
    weights = _tune(decoder, tmp_path)
    steps = [round(0.2 * k, 1) for k in range(6)]
    assert decoder.asked == [(alpha, beta) for alpha in steps for beta in steps]
    assert weights.penalties == Penalties(*PLACE)
    for point in weights.points:
        texts = decoder(Penalties(point.alpha, point.beta))
        bleu = ce.bleu(texts, REFERENCES, tokenize="none", lowercase=True)
        assert point.bleu == pytest.approx(float(bleu))
    assert "alpha:0.4|beta:0.8|epsilon:0.1" in weights.signature.replace("coverage:paper|", "")
    assert "penalties:in-beam" in weights.signature


def test_ties_choose_the_smallest_weights(tmp_path):
    weights = tune_by_beam(
        lambda _: REFERENCES, REFERENCES, tmp_path / "tuning.jsonl", label="test"
    )
    assert weights.penalties == Penalties(0, 0)


def test_a_killed_search_continues(tmp_path):
    (tmp_path / "whole").mkdir()
    whole = _tune(Decoder(), tmp_path / "whole")
    killed, second = Decoder(kill_after=10), Decoder()
    with pytest.raises(KeyboardInterrupt):
        _tune(killed, tmp_path)
    assert _tune(second, tmp_path) == whole
    assert len(second.asked) == 26
    assert _tune(Decoder(kill_after=0), tmp_path) == whole, "nothing is decoded again"


def test_grid_points_of_another_text_are_not_reused(tmp_path):
    _tune(Decoder(), tmp_path)
    decoder = Decoder()
    tune_by_beam(
        lambda penalties: decoder(penalties)[:1], REFERENCES[:1], tmp_path / "tuning.jsonl",
        label="test",
    )  # fmt: skip
    assert len(decoder.asked) == 36
