"""The model against the NumPy reference: attention, probabilities, and gradients through time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch (the nmt extra) is not installed")
pytest.importorskip("tokenizers", reason="tokenizers (the nmt extra) is not installed")

from coverage_eval.attention import AttentionStep, attend, attend_vjp, encode
from coverage_eval.papers.reproduction.bitext import (
    BLANK,
    Minibatch,
    PieceText,
    Vocabulary,
    make_minibatches,
)
from coverage_eval.papers.reproduction.experiment import translation_loss
from coverage_eval.papers.reproduction.paper_systems import find_system
from coverage_eval.papers.reproduction.run_folder import PRESETS
from coverage_eval.papers.reproduction.trained_system import TrainedSystem, numpy_weights, replay
from coverage_eval.papers.reproduction.translator import Attention, Translator
from coverage_eval.special_tokens import SINK

SOURCE, TARGET = Vocabulary([SINK, *"abcdef"]), Vocabulary("uvwxyz")
SMALL = replace(PRESETS["tiny"], embedding=6, hidden=8, dropout=0.0, initial=0.6)
ATTENTIONS = [
    Attention(name, coverage, exhaustion)
    for name, exhaustion in (
        ("softmax", 0.0),
        ("sparsemax", 0.0),
        ("constrained_softmax", 0.2),
        ("constrained_sparsemax", 0.2),
        ("constrained_sparsemax", 0.0),
    )
    for coverage in (False, True)
]


def _batch(seed: int = 0, rows: int = 4) -> Minibatch:
    """Sources and targets of several lengths, with fertilities that run out."""
    random = np.random.default_rng(seed)
    sources = [(*random.choice(list("abcdef"), random.integers(1, 6)), SINK) for _ in range(rows)]
    targets = [tuple(random.choice(list("uvwxyz"), random.integers(0, 8))) for _ in range(rows)]
    bounds = [np.append(random.uniform(0.4, 1.6, len(s) - 1), np.inf) for s in sources]
    (batch,) = make_minibatches(PieceText(sources, targets), SOURCE, TARGET, bounds, size=rows)
    return batch


def _model(attention: Attention, scoring: str = "bilinear", seed: int = 1) -> Translator:
    torch.manual_seed(seed)
    preset = replace(SMALL, scoring=scoring)
    return Translator(preset, attention, len(SOURCE), len(TARGET)).double().eval()


def _double(batch: Minibatch) -> Minibatch:
    return replace(batch, fertilities=batch.fertilities.double())


@pytest.mark.parametrize("scoring", ["bilinear", "additive"])
@pytest.mark.parametrize("attention", ATTENTIONS, ids=str)
def test_the_model_equals_the_numpy_replay(attention, scoring):
    model = _model(attention, scoring)
    for seed in range(5):
        batch = _double(_batch(seed))
        replayed = replay(numpy_weights(model), attention, batch)
        with torch.no_grad():
            attentional, weights = model.decode(batch)
            logs = model.output(attentional).log_softmax(-1)
        inside = torch.zeros(batch.after.numel()).index_fill(0, batch.places, 1.0)
        inside = inside.view(batch.after.shape).numpy()
        chosen = logs.gather(2, batch.after[:, :, None])[:, :, 0].numpy()
        np.testing.assert_allclose(
            weights.numpy() * inside[:, :, None], replayed.attention, atol=1e-9
        )
        np.testing.assert_allclose(chosen * inside, replayed.log_probabilities, atol=1e-9)


@pytest.mark.parametrize(
    ("attention", "scoring"),
    [*((a, "bilinear") for a in ATTENTIONS), *((a, "additive") for a in ATTENTIONS if a.coverage)],
    ids=str,
)
def test_gradients_of_the_whole_model_equal_differences_of_the_replay(attention, scoring):
    """Each parameter is moved a little both ways along a random direction, and replayed."""
    model, batch = _model(attention, scoring), _double(_batch(7))
    loss, words = translation_loss(model, batch)
    assert words == batch.words
    loss.backward()
    generator = torch.Generator().manual_seed(3)

    def scored() -> float:
        return -float(replay(numpy_weights(model), attention, batch).log_probabilities.sum())

    np.testing.assert_allclose(loss.item(), scored(), atol=1e-8)
    for name, parameter in model.named_parameters():
        direction = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        step = 1e-6
        with torch.no_grad():
            parameter.add_(direction, alpha=step)
            above = scored()
            parameter.sub_(direction, alpha=2 * step)
            below = scored()
            parameter.add_(direction, alpha=step)
        expected = (above - below) / (2 * step)
        found = float((parameter.grad * direction).sum())
        assert found == pytest.approx(expected, rel=2e-4, abs=2e-6), name


@pytest.mark.parametrize("scoring", ["bilinear", "additive"])
@pytest.mark.parametrize("attention", ATTENTIONS, ids=str)
def test_gradients_through_time_equal_the_reference(attention, scoring):
    """``attend_vjp`` carries the gradients of all contexts of a target back to the parameters.

    The scorer's parameters and the fertilities affect the loss only through the attention, so the
    result must be their whole gradient.
    """
    model, batch = _model(attention, scoring), _double(_batch(7))
    fertilities = batch.fertilities.requires_grad_()
    queries, contexts, sources = [], [], []

    def listen(_: object, given: tuple[Any, ...], made: tuple[Any, ...]) -> None:
        made[0].retain_grad()
        queries.append(given[0].detach().numpy())
        contexts.append(made[0])
        sources.append(given[1])

    model.attention.register_forward_hook(listen)
    loss, _ = translation_loss(model, batch)
    loss.backward()
    # The model keeps W_out times the memory: contexts are weighted sums of these values.
    values = sources[0].memory.detach().numpy()
    d_contexts = np.stack([context.grad.numpy() for context in contexts], 1)
    weights = numpy_weights(model)
    encoding = encode(batch.sources.numpy(), weights.encoder, lengths=batch.lengths.numpy())
    targets = np.asarray((batch.after != BLANK).sum(1))
    result = attend(
        np.stack(queries, 1),
        encoding.memory,
        AttentionStep(weights.score, attention.transformation, attention.exhaustion),
        lengths=batch.lengths.numpy(),
        target_lengths=targets,
        fertilities=fertilities.detach().numpy() if attention.constrained else None,
    )
    gradients = attend_vjp(result, d_attention=np.einsum("btd,bsd->bts", d_contexts, values))
    for name, parameter in model.attention.scorer.named_parameters():
        expected = gradients.parameters[name]
        np.testing.assert_allclose(
            parameter.grad.numpy(), expected, rtol=0, atol=1e-9, err_msg=name
        )
    if attention.constrained:
        assert gradients.fertilities is not None
        np.testing.assert_allclose(
            fertilities.grad.numpy(), gradients.fertilities, rtol=0, atol=1e-9
        )
        assert np.abs(gradients.fertilities).max() > 1e-3, "some words ran out"


def test_padding_changes_nothing():
    """A sentence has the same scores alone as beside longer ones."""
    for attention in ATTENTIONS:
        model = _model(attention)
        text = PieceText([(*"ab", SINK), (*"abcdef", SINK)], [("u",), tuple("vwxyz")])
        bounds = [np.array([0.5, 1.0, np.inf]), np.array([1.0] * 6 + [np.inf])]
        (both,) = make_minibatches(text, SOURCE, TARGET, bounds, size=2)
        alone = make_minibatches(text, SOURCE, TARGET, bounds, size=1)
        with torch.no_grad():
            together = translation_loss(model, _double(both))[0]
            apart = sum(translation_loss(model, _double(batch))[0] for batch in alone)
        assert float(together) == pytest.approx(float(apart), abs=1e-9)


def test_new_text_is_translated_with_the_constant_fertility_of_its_system():
    system = find_system("CONSTANT f = 2")
    run: Any = None  # nothing of the run is needed for a constant
    trained = TrainedSystem(run, system, _model(system.attention), SOURCE, TARGET)
    bounds = trained._bounds(PieceText([(*"ab", SINK), (SINK,)], [(), ()]))
    assert bounds is not None
    assert [row.tolist() for row in bounds] == [[2, 2, np.inf], [np.inf]]
