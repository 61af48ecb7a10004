"""Beam search against an exhaustive search, and its penalties against the NumPy reference."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch (the nmt extra) is not installed")
pytest.importorskip("tokenizers", reason="tokenizers (the nmt extra) is not installed")

from coverage_eval.attention.penalties import coverage_penalty, penalized_score
from coverage_eval.papers.reproduction import decoding
from coverage_eval.papers.reproduction.bitext import (
    END,
    UNKNOWN_ID,
    Minibatch,
    PieceText,
    Vocabulary,
    make_minibatches,
)
from coverage_eval.papers.reproduction.decoding import Hypothesis, Penalties, beam_search
from coverage_eval.papers.reproduction.run_folder import PRESETS
from coverage_eval.papers.reproduction.trained_system import numpy_weights, replay
from coverage_eval.papers.reproduction.translator import Attention, Translator
from coverage_eval.special_tokens import SINK

SOURCE, TARGET = Vocabulary([SINK, *"abc"]), Vocabulary("xy")
SMALL = replace(PRESETS["tiny"], embedding=6, hidden=8, initial=0.9)
ATTENTIONS = [
    Attention(),
    Attention("sparsemax", coverage=True),
    Attention("constrained_softmax", exhaustion=0.2),
    Attention("constrained_sparsemax", exhaustion=0.2),
]
PENALTIES = [Penalties(), Penalties(alpha=0.8), Penalties(beta=0.6), Penalties(0.4, 1.0)]


def _model(attention: Attention, seed: int = 0) -> Translator:
    torch.manual_seed(seed)
    model = Translator(SMALL, attention, len(SOURCE), len(TARGET)).double().eval()
    with torch.no_grad():
        model.output.bias[END] += 2.0  # translations short enough to list all of them
    return model


def _batch(sources: list[str], targets: list[tuple[str, ...]] | None = None) -> Minibatch:
    pieces = [(*source, SINK) for source in sources]
    bounds = [np.append(np.full(len(s), 1.3), np.inf) for s in sources]
    text = PieceText(pieces, targets or [()] * len(sources))
    (batch,) = make_minibatches(text, SOURCE, TARGET, bounds, size=len(sources))
    return replace(batch, fertilities=batch.fertilities.double())


def _score(
    model: Translator, source: str, numbers: tuple[int, ...], penalties: Penalties
) -> tuple[float, float]:
    """log P and penalised score of one translation, by the NumPy replay and reference."""
    batch = _batch([source])
    after = torch.tensor([[*numbers, END]])
    replayed = replay(numpy_weights(model), model.settings, replace(batch, after=after))
    log = float(replayed.log_probabilities.sum())
    covered = replayed.attention[0].sum(axis=0)[:-1]
    penalty = coverage_penalty(covered, beta=penalties.beta, epsilon=penalties.epsilon)
    return log, float(penalized_score(log, len(numbers), penalty, alpha=penalties.alpha))


@pytest.mark.parametrize("penalties", PENALTIES, ids=str)
@pytest.mark.parametrize("attention", ATTENTIONS, ids=str)
def test_hypotheses_get_the_scores_of_the_reference_implementation(attention, penalties):
    model = _model(attention)
    sources = ["abc", "c", "ba"]
    batch = _batch(sources)
    for row, found in zip(
        batch.rows, beam_search(model, batch, size=3, penalties=penalties), strict=True
    ):
        assert len(found) == 3
        assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
        for hypothesis in found:
            log, score = _score(model, sources[row], hypothesis.numbers, penalties)
            assert hypothesis.log_probability == pytest.approx(log, abs=1e-6)
            assert hypothesis.score == pytest.approx(score, abs=1e-6)
            assert hypothesis.attention.shape == (
                len(hypothesis.numbers) + 1,
                len(sources[row]) + 1,
            )


@pytest.mark.parametrize("attention", ATTENTIONS, ids=str)
def test_a_wide_beam_finds_the_best_of_all_translations(attention):
    """There are 81 translations of 4 pieces, so a beam of 81 prunes none up to that length."""
    model = _model(attention)
    pieces = [UNKNOWN_ID, 4, 5]
    everything = [n for length in range(5) for n in product(pieces, repeat=length)]
    scored = {n: _score(model, "ab", n, Penalties())[0] for n in everything}
    best = sorted(scored.items(), key=lambda item: -item[1])[:5]
    (found,) = beam_search(model, _batch(["ab"]), size=81)
    short: list[Hypothesis] = [h for h in found if len(h.numbers) <= 4][:5]
    assert [h.numbers for h in short] == [numbers for numbers, _ in best]
    assert [h.log_probability for h in short] == pytest.approx([s for _, s in best], abs=1e-6)


def test_the_search_ends_when_no_unfinished_hypothesis_can_enter_the_list(monkeypatch):
    """With a list of two, an unfinished hypothesis must be worse than the second."""
    steps = iter([(-0.5, -0.9), (-1.0, -1.5), (-1.2, -1.1), (-9.0, -9.0)])

    def advance(_: object, __: object, beams: Any, *more: object) -> tuple[Any, Any]:
        best, score = next(steps)  # of unfinished hypotheses, and of one that ends in this step
        ended = (0, Hypothesis((), np.empty((1, 3)), score, score))
        return replace(beams, total=torch.full_like(beams.total, best)), [ended]

    monkeypatch.setattr(decoding, "_advance", advance)
    (found,) = beam_search(_model(Attention()), _batch(["ab"]), size=2)
    assert [h.score for h in found] == [-0.9, -1.1]
    assert next(steps) == (-9.0, -9.0), "the search goes on"


def test_a_sentence_is_translated_the_same_alone_and_in_a_batch():
    for attention in ATTENTIONS:
        model = _model(attention, seed=4)
        batch = _batch(["abc", "a", "cb", ""])
        together = dict(zip(batch.rows, beam_search(model, batch, size=4), strict=True))
        for row, source in enumerate(["abc", "a", "cb", ""]):
            (alone,) = beam_search(model, _batch([source]), size=4)
            assert [h.numbers for h in alone] == [h.numbers for h in together[row]]
            for one, other in zip(alone, together[row], strict=True):
                np.testing.assert_allclose(one.attention, other.attention, atol=1e-6)


def test_a_translation_without_end_is_cut():
    model = _model(Attention())
    with torch.no_grad():
        model.output.bias[END] -= 40.0
    batch = _batch(["ab", "abcabc"])
    for row, found in zip(batch.rows, beam_search(model, batch, size=2), strict=True):
        # 10 pieces, and 2 for each of the source.
        assert [len(h.numbers) for h in found] == [[14, 14], [22, 22]][row]
