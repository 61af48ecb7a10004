"""The attention module through whole targets, and its gradients, against the NumPy reference."""

from __future__ import annotations

import numpy as np
import pytest

from coverage_eval import attention as reference
from coverage_eval.attention import (
    AttentionError,
    AttentionState,
    AttentionStep,
    attend,
    attend_vjp,
)

torch = pytest.importorskip("torch", reason="PyTorch is in the extra 'torch'")
ours = pytest.importorskip("coverage_eval.torch")

B, T, S, D, K, P = 3, 5, 4, 3, 2, 6
LENGTHS, TARGETS = np.array([4, 3, 4]), np.array([5, 2, 4])
MASK = torch.tensor(np.arange(S) < LENGTHS[:, None])
ACTIVE = torch.tensor(np.arange(T) < TARGETS[:, None])
TRANSFORMATIONS = ["softmax", "sparsemax", "constrained_softmax", "constrained_sparsemax"]
SCORERS = {
    "dot": ours.BilinearScorer,
    "general": lambda: ours.BilinearScorer(D, K),
    "text": lambda: ours.BilinearScorer(D, K, coverage="text"),
    "scripts": lambda: ours.BilinearScorer(D, K, coverage="scripts"),
    "additive": lambda: ours.AdditiveScorer(D, K, P),
    "additive coverage": lambda: ours.AdditiveScorer(D, K, P, coverage=True),
}


def scorer_of(kind, rng):
    """A scorer with random parameters, and the reference's score with the same."""
    scorer = SCORERS[kind]().double()
    values = {name: rng.normal(size=p.shape) for name, p in scorer.named_parameters()}
    scorer.load_state_dict({name: torch.tensor(value) for name, value in values.items()})
    if kind.startswith("additive"):
        return scorer, reference.AdditiveScore(**values)
    return scorer, reference.BilinearScore(
        **values, form="scripts" if kind == "scripts" else "text"
    )


def inputs(kind, rng):
    fertilities = rng.uniform(0.6, 1.6, size=(B, S))
    return {
        "states": rng.normal(size=(B, T, K if kind == "dot" else D)),
        "memory": rng.normal(size=(B, S, K)),
        "fertilities": reference.sink_at_end(fertilities, LENGTHS),
        "cumulative": rng.uniform(0, 0.3, size=(B, S)) * MASK.numpy(),
    }


def through_time(module, states, memory, fertilities, cumulative):
    source = module.source(memory, mask=MASK, fertilities=fertilities)
    steps = []
    for t in range(T):
        context, alpha, cumulative = module(states[:, t], source, cumulative, ACTIVE[:, t])
        steps.append((alpha, context))
    attention, contexts = (torch.stack(part, dim=1) for part in zip(*steps, strict=True))
    return attention, contexts, cumulative


@pytest.mark.parametrize("exhaustion", [0.0, 0.2])
@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
@pytest.mark.parametrize("kind", SCORERS)
def test_gradients_through_time_are_those_of_the_reference(kind, transformation, exhaustion):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        scorer, score = scorer_of(kind, rng)
        values = inputs(kind, rng)
        module = ours.ConstrainedAttention(scorer, transformation, exhaustion=exhaustion)
        leaves = {name: torch.tensor(v, requires_grad=True) for name, v in values.items()}
        results = through_time(module, **leaves)
        weights = [rng.normal(size=r.shape) for r in results]
        weights[2] *= MASK.numpy()  # β of padding is not defined
        sum((r * torch.tensor(w)).sum() for r, w in zip(results, weights, strict=True)).backward()

        wanted = attend(
            values["states"],
            values["memory"],
            AttentionStep(score, transformation, exhaustion),
            lengths=LENGTHS,
            target_lengths=TARGETS,
            fertilities=values["fertilities"],
            initial=AttentionState(values["cumulative"]),
        )
        for result, array in zip(
            results, (wanted.attention, wanted.contexts, wanted.cumulative), strict=True
        ):
            np.testing.assert_allclose(result.detach().numpy(), array, rtol=0, atol=1e-12)
        gradients = attend_vjp(
            wanted, d_attention=weights[0], d_contexts=weights[1], d_cumulative=weights[2]
        )
        found = {name: leaf.grad for name, leaf in leaves.items()}
        found |= {name: p.grad for name, p in scorer.named_parameters()}
        for name, gradient in found.items():
            expected = getattr(gradients, name, None)
            expected = gradients.parameters[name] if expected is None else expected
            given = np.zeros(expected.shape) if gradient is None else gradient.numpy()
            np.testing.assert_allclose(given, expected, rtol=0, atol=1e-10, err_msg=name)


def test_words_that_run_out_of_credit_receive_nothing_more():
    module = ours.ConstrainedAttention(ours.BilinearScorer(), "csparsemax", exhaustion=0.2)
    rng = np.random.default_rng(4)
    states = torch.tensor(rng.normal(size=(1, 8, 4)), dtype=torch.float32)
    fertilities = torch.tensor([[0.5, 0.4, 0.3, np.inf]])
    source = module.source(torch.eye(4)[None], fertilities=fertilities)
    cumulative = module.start(source)
    for t in range(8):
        _, alpha, cumulative = module(states[:, t], source, cumulative)
        assert alpha.sum() == pytest.approx(1, abs=1e-6)
        assert (cumulative <= fertilities + 1e-6).all()
    assert cumulative[0, :3].tolist() == pytest.approx([0.5, 0.4, 0.3])


@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
def test_its_own_sink_is_that_of_the_reference(transformation):
    """The reference adds the sink after each row's last word, the module after the padding."""
    rng = np.random.default_rng(5)
    scorer, score = scorer_of("scripts", rng)
    states, memory = rng.normal(size=(B, T, D)), rng.normal(size=(B, S, K))
    module = ours.ConstrainedAttention(scorer, transformation, exhaustion=0.2, sink=True).double()
    with torch.no_grad():
        module.sink.copy_(torch.tensor([0.3, -0.8], dtype=torch.float64))
    source = module.source(torch.tensor(memory), mask=MASK, fertilities=0.7)
    cumulative, found = module.start(source), []
    for t in range(T):
        _, alpha, cumulative = module(torch.tensor(states[:, t]), source, cumulative)
        found.append(alpha)
    longer, fertilities, lengths = reference.append_sink(
        memory, 0.7, lengths=LENGTHS, vector=[0.3, -0.8]
    )
    step = AttentionStep(score, transformation, 0.2)
    wanted = attend(states, longer, step, lengths=lengths, fertilities=fertilities).attention
    alphas = torch.stack(found, 1).detach().numpy()
    for row, words in enumerate(LENGTHS):
        places = [*range(words), S]
        np.testing.assert_allclose(
            alphas[row][:, places], wanted[row, :, : words + 1], rtol=0, atol=1e-12
        )
    found[0][:, -1].sum().backward()
    assert (module.sink.grad != 0).all()


def test_in_half_precision_credit_stays_exact():
    module = ours.ConstrainedAttention(ours.BilinearScorer(8, 8), "csoftmax", sink=True)
    memory = torch.randn(2, 30, 8, generator=torch.Generator().manual_seed(1))
    with torch.autocast("cpu", torch.bfloat16):
        source = module.source(memory, fertilities=0.3)
        cumulative = module.start(source)
        for _ in range(20):
            context, alpha, cumulative = module(memory[:, 0], source, cumulative)
            assert alpha.dtype == cumulative.dtype == torch.float32
    assert cumulative.sum(1).tolist() == pytest.approx([20, 20], abs=1e-4)
    assert (cumulative[:, :-1] <= 0.3 + 1e-6).all()
    half = module.to(torch.bfloat16)
    source = half.source(memory.bfloat16(), fertilities=0.3)
    context, alpha, _ = half(memory[:, 0].bfloat16(), source, half.start(source))
    assert (context.dtype, alpha.dtype) == (torch.bfloat16, torch.float32)


@pytest.mark.parametrize("transformation", ["csoftmax", "csparsemax"])
def test_a_decoder_with_it_compiles_into_one_graph(transformation):
    torch._dynamo.reset()
    scorer = ours.AdditiveScorer(4, 4, 5, coverage=True)
    module = ours.ConstrainedAttention(scorer, transformation, exhaustion=0.2, sink=True)
    memory = torch.randn(2, 6, 4, generator=torch.Generator().manual_seed(2))

    def decode(memory):
        source = module.source(memory, fertilities=1.0)
        cumulative, query = module.start(source), memory[:, 0]
        for _ in range(3):
            query, _, cumulative = module(query, source, cumulative)
        return cumulative

    compiled = torch.compile(decode, fullgraph=True, backend="aot_eager")
    gradients = []
    for call in (decode, compiled):
        leaf = memory.clone().requires_grad_()
        call(leaf).square().sum().backward()
        gradients.append(leaf.grad)
    assert torch.allclose(*gradients, atol=1e-6)


@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
@pytest.mark.parametrize("kind", SCORERS)
def test_a_decoder_with_it_waits_for_nothing(kind, transformation):
    """On the device "meta" there are no values, so code that asks for one fails."""
    module = ours.ConstrainedAttention(SCORERS[kind](), transformation, exhaustion=0.2).to("meta")
    rng = np.random.default_rng(0)
    leaves = {
        name: torch.tensor(value, dtype=torch.float32, device="meta", requires_grad=True)
        for name, value in inputs(kind, rng).items()
    }
    mask, active = MASK.to("meta"), ACTIVE.to("meta")
    source = module.source(leaves["memory"], mask=mask, fertilities=leaves["fertilities"])
    cumulative = leaves["cumulative"]
    for t in range(T):
        context, _, cumulative = module(leaves["states"][:, t], source, cumulative, active[:, t])
    (context.sum() + cumulative.sum()).backward()
    assert leaves["states"].grad.shape == leaves["states"].shape


def test_what_does_not_fit_is_refused():
    with pytest.raises(AttentionError, match="unknown transformation 'softmin'"):
        ours.ConstrainedAttention(ours.BilinearScorer(), "softmin")
    with pytest.raises(AttentionError, match="needs a scorer that is given the size"):
        ours.ConstrainedAttention(ours.BilinearScorer(), sink=True)
    with pytest.raises(AttentionError, match="give the sizes"):
        ours.BilinearScorer(coverage="text")
    with pytest.raises(AttentionError, match="unknown coverage form 'script'"):
        ours.BilinearScorer(2, 2, coverage="script")
    module = ours.ConstrainedAttention(ours.BilinearScorer(), "csparsemax")
    with pytest.raises(AttentionError, match="constrained_sparsemax needs fertilities"):
        module.source(torch.eye(3)[None])
    module = ours.ConstrainedAttention(ours.BilinearScorer(), "softmax", exhaustion=0.2)
    with pytest.raises(AttentionError, match="the exhaustion strategy needs fertilities"):
        module.source(torch.eye(3)[None])
    assert "softmax, exhaustion=0.2, sink=False" in str(module)
