"""The attention module over whole targets, and its gradients, against the NumPy reference."""

from __future__ import annotations

import numpy as np
import pytest

from coverage_eval import attention as reference
from coverage_eval.attention import (
    AttentionError,
    AttentionState,
    AttentionStep,
    InfeasibleBoundsError,
    attend,
    attend_vjp,
)
from tests.torch.test_transformations import ONE_GRAPH  # skipped without PyTorch, and this with it

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
    """A scorer with random parameters, and the reference's score with the same parameters."""
    scorer = SCORERS[kind]().double()
    values = {name: rng.normal(size=p.shape) for name, p in scorer.named_parameters()}
    scorer.load_state_dict({name: torch.tensor(value) for name, value in values.items()})
    if kind.startswith("additive"):
        return scorer, None  # it has no counterpart in NumPy
    return scorer, reference.BilinearScore(
        **values, form="scripts" if kind == "scripts" else "text"
    )


def inputs(kind, rng):
    fertilities = rng.uniform(0.6, 1.6, size=(B, S))
    fertilities[np.arange(B), LENGTHS - 1] = np.inf
    return {
        "states": rng.normal(size=(B, T, K if kind == "dot" else D)),
        "memory": rng.normal(size=(B, S, K)),
        "fertilities": fertilities,
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
@pytest.mark.parametrize("kind", list(SCORERS)[:4])
def test_gradients_through_time_equal_the_reference(kind, transformation, exhaustion):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        scorer, score = scorer_of(kind, rng)
        values = inputs(kind, rng)
        module = ours.ConstrainedAttention(scorer, transformation, exhaustion=exhaustion)
        leaves = {name: torch.tensor(v, requires_grad=True) for name, v in values.items()}
        results = through_time(module, **leaves)
        weights = [rng.normal(size=r.shape) for r in results]
        weights[2] *= MASK.numpy()  # β is not defined at padding
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


@pytest.mark.parametrize("kind", list(SCORERS)[4:])
def test_additive_scores_and_their_gradient(kind):
    rng = np.random.default_rng(7)
    scorer, _ = scorer_of(kind, rng)
    query, memory, cumulative = (rng.normal(size=shape) for shape in ((B, D), (B, S, K), (B, S)))
    given = [torch.tensor(part, requires_grad=True) for part in (query, memory, cumulative)]

    def scores(query, memory, cumulative):
        return scorer(query, scorer.keys(memory), memory, cumulative)

    a, u, e, b, *v = (parameter.detach().numpy() for parameter in scorer.parameters())
    inner = (query @ a.T)[:, None] + memory @ u.T + b
    inner += cumulative[:, :, None] * v[0] if v else 0
    np.testing.assert_allclose(scores(*given).detach().numpy(), np.tanh(inner) @ e, atol=1e-12)
    assert torch.autograd.gradcheck(scores, given)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 2e-5)])
@pytest.mark.parametrize("sink", [False, True])
@pytest.mark.parametrize("fertility", [1, 2, 3])
@pytest.mark.parametrize("transformation", TRANSFORMATIONS[2:])
def test_gradients_where_whole_units_are_spent(transformation, fertility, sink, dtype, tolerance):
    """For scores: rounding decides whether a spent bound is reached, but changes no gradient."""
    rng, rows, words = np.random.default_rng(fertility), 300, 5
    states = rng.normal(size=(rows, fertility * words, words + sink)).astype("float32")
    weights = rng.normal(size=states.shape)
    memory = np.broadcast_to(np.eye(words + sink), (rows, words + sink, words + sink))
    fertilities = np.array([fertility] * words + [np.inf] * sink)[None]
    step = AttentionStep(reference.BilinearScore(), transformation, 0.2)
    result = attend(states.astype("float64"), memory, step, fertilities=fertilities)

    module = ours.ConstrainedAttention(ours.BilinearScorer(), transformation, exhaustion=0.2)
    leaf, weight, memory, fertilities = (
        torch.tensor(values, dtype=getattr(torch, dtype))
        for values in (states, weights, memory, fertilities)
    )
    source = module.source(memory, fertilities=fertilities, steps=states.shape[1])
    cumulative, alphas = module.start(source), []
    for query in leaf.requires_grad_().unbind(1):
        _, alpha, cumulative = module(query, source, cumulative)
        alphas.append(alpha)
    (torch.stack(alphas, 1) * weight).sum().backward()
    wanted = attend_vjp(result, d_attention=weights).states
    np.testing.assert_allclose(leaf.grad.numpy(), wanted, rtol=0, atol=tolerance)


@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
def test_the_modules_sink_agrees_with_the_reference(transformation):
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
        positions = [*range(words), S]
        np.testing.assert_allclose(
            alphas[row][:, positions], wanted[row, :, : words + 1], rtol=0, atol=1e-12
        )
    found[0][:, -1].sum().backward()
    assert (module.sink.grad != 0).all()


def test_credit_stays_exact_in_half_precision():
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
def test_a_decoder_with_the_module_compiles_into_one_graph(transformation):
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

    compiled = torch.compile(decode, fullgraph=ONE_GRAPH, backend="aot_eager")
    gradients = []
    for call in (decode, compiled):
        leaf = memory.clone().requires_grad_()
        call(leaf).square().sum().backward()
        gradients.append(leaf.grad)
    assert torch.allclose(*gradients, atol=1e-6)


@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
@pytest.mark.parametrize("kind", SCORERS)
def test_a_decoder_with_the_module_does_not_wait_for_the_device(kind, transformation):
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


def test_input_that_does_not_fit_is_refused():
    with pytest.raises(AttentionError, match="unknown transformation 'softmin'"):
        ours.ConstrainedAttention(ours.BilinearScorer(), "softmin")
    with pytest.raises(AttentionError, match="needs a scorer that knows the size"):
        ours.ConstrainedAttention(ours.BilinearScorer(), sink=True)
    with pytest.raises(AttentionError, match="give the sizes"):
        ours.BilinearScorer(coverage="text")
    with pytest.raises(AttentionError, match="unknown coverage form 'script'"):
        ours.BilinearScorer(2, 2, coverage="script")
    with pytest.raises(AttentionError, match="exhaustion constant c must be finite: nan"):
        ours.ConstrainedAttention(ours.BilinearScorer(), exhaustion=float("nan"))
    module = ours.ConstrainedAttention(ours.BilinearScorer(), "csparsemax")
    with pytest.raises(AttentionError, match="constrained_sparsemax needs fertilities"):
        module.source(torch.eye(3)[None])
    module = ours.ConstrainedAttention(ours.BilinearScorer(), "softmax", exhaustion=0.2)
    with pytest.raises(AttentionError, match="the exhaustion strategy needs fertilities"):
        module.source(torch.eye(3)[None])
    assert "softmax, exhaustion=0.2, sink=False" in str(module)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fertilities": -1}, "row 0: fertility -1 of word 0"),
        ({"fertilities": [[1, 1, 1], [1, float("nan"), 1]]}, "row 1: fertility nan of word 1"),
        (
            {"fertilities": [1.0, 2.0]},
            r"shape \(2,\) do not fit \[batch, source\] = \(2, 3\): give",
        ),
        ({"fertilities": [1.0, 2.0, 3.0]}, r"shape \(3,\) do not fit"),
        ({"fertilities": [[1.0, 2.0]]}, r"shape \(1, 2\) do not fit"),
        ({"mask": [[1.0, 1, 1], [1, 1, 0]]}, "must be of type torch.bool .*, not torch.float32"),
        ({"mask": [True, True, False]}, r"\[batch, source\] = \(2, 3\), not torch.bool \(3,\)"),
    ],
)
def test_masks_and_fertilities_that_do_not_fit_are_refused(given, message):
    given = {"fertilities": 2.0} | given
    given = {k: torch.tensor(v) if isinstance(v, list) else v for k, v in given.items()}
    module = ours.ConstrainedAttention(ours.BilinearScorer())
    with pytest.raises(AttentionError, match=message):
        module.source(torch.zeros(2, 3, 4), steps=1, **given)
    heads = ours.MultiheadConstrainedAttention(4, 2)
    if "mask" in given:
        given["key_padding_mask"] = given.pop("mask")
        message = "must be .*torch.bool"
    with pytest.raises(AttentionError, match=message):
        heads.source(torch.zeros(2, 3, 4), **given)


def test_fertilities_broadcast_and_those_of_padding_are_ignored():
    module = ours.ConstrainedAttention(ours.BilinearScorer())
    memory = torch.zeros(2, 3, 4)
    for given in ([[1.0], [2.0]], [[0.0, 2.0, 3.0]]):
        source = module.source(memory, fertilities=torch.tensor(given), steps=3)
        assert torch.equal(source.fertilities, torch.tensor(given).expand(2, 3))
    nan = torch.tensor([[1.0, 1.0, float("nan")]]).expand(2, 3)
    mask = torch.tensor([[True, True, False]] * 2)
    source = module.source(memory, mask=mask, fertilities=nan, steps=2)
    assert source.fertilities.tolist() == [[1, 1, 0]] * 2


def test_rows_whose_fertilities_cannot_hold_the_steps_are_found_and_refused():
    """Five words with one unit each cannot hold a sixth step: unchecked, it gives NaN."""
    module = ours.ConstrainedAttention(ours.BilinearScorer())
    memory = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0))
    mask = torch.arange(5) < torch.tensor([5, 3, 5])[:, None]
    mask[2] = True
    module.source(memory, mask=mask, fertilities=1.0, steps=3)
    module.source(memory, mask=mask, fertilities=1.0, steps=torch.tensor([5, 3, 4]))
    with pytest.raises(
        InfeasibleBoundsError,
        match="row 1: fertilities that sum to 3 are too few for 4 steps: add a sink",
    ):
        module.source(memory, mask=mask, fertilities=1.0, steps=4)
    with pytest.raises(InfeasibleBoundsError, match="for 6 steps, as are those of 2 other rows"):
        module.source(memory, mask=mask, fertilities=1.0, steps=6)
    with pytest.raises(InfeasibleBoundsError, match="sum to 5, but the number of steps is unknown"):
        module.source(memory, mask=mask, fertilities=1.0)
    assert ours.infeasible_rows(torch.ones(3, 5), 4, mask).tolist() == [1]
    assert ours.infeasible_rows(torch.ones(3, 5), torch.tensor([6, 3, 5])).tolist() == [0]
    # With a sink, in the data or in the module, any number of steps is possible.
    bounds = torch.ones(3, 5).index_fill(1, torch.tensor([0]), torch.inf)
    assert not len(ours.infeasible_rows(bounds, 1000))
    module.source(memory, fertilities=bounds)
    ours.ConstrainedAttention(ours.BilinearScorer(4, 4), sink=True).source(memory, fertilities=1.0)
    ours.ConstrainedAttention(ours.BilinearScorer(), "softmax").source(memory)
    # The check is exact: the steps that it allows have no NaN, the next one has.
    source = module.source(memory, mask=mask, fertilities=1.0, steps=3)
    cumulative = module.start(source)
    for t in range(3):
        cumulative = module(memory[:, t], source, cumulative)[2]
    assert not cumulative.isnan().any()
    assert module(memory[:, 0], source, cumulative)[1].isnan().any(1).tolist() == [
        False,
        True,
        False,
    ]


@pytest.mark.parametrize("kind", ["general", "scripts", "additive coverage"])
@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
def test_values_at_padding_have_no_effect(kind, transformation):
    """NaN at padding, or in the states of ended rows, changes no result and no gradient."""
    results = []
    for filler in (0.0, float("nan")):
        rng = np.random.default_rng(3)
        scorer, _ = scorer_of(kind, rng)
        module = ours.ConstrainedAttention(scorer, transformation, exhaustion=0.2)
        values = {name: torch.tensor(value) for name, value in inputs(kind, rng).items()}
        values["memory"][~MASK] = filler
        values["states"][~ACTIVE] = filler
        leaves = {name: value.requires_grad_() for name, value in values.items()}
        attention, contexts, cumulative = through_time(module, **leaves)
        (attention.square().sum() + contexts.sum() + cumulative[MASK].sum()).backward()
        gradients = [leaf.grad for leaf in (*leaves.values(), *scorer.parameters())]
        results.append([attention, contexts, cumulative, *gradients])
    for clean, spoilt in zip(*results, strict=True):
        assert clean is spoilt is None or torch.equal(clean, spoilt)


def test_sources_follow_the_hypotheses_of_a_beam():
    rng = np.random.default_rng(8)
    scorer, _ = scorer_of("general", rng)
    module = ours.ConstrainedAttention(scorer)
    values = {name: torch.tensor(value) for name, value in inputs("general", rng).items()}
    source = module.source(values["memory"], mask=MASK, fertilities=values["fertilities"])
    index = torch.tensor([2, 0, 0, 1])
    whole = module(values["states"][:, 0], source, values["cumulative"])
    part = module(values["states"][index, 0], source.reorder(index), values["cumulative"][index])
    for all_rows, some in zip(whole, part, strict=True):
        assert torch.allclose(all_rows[index], some, atol=1e-14)
    unbounded = ours.ConstrainedAttention(ours.BilinearScorer(), "softmax")
    assert unbounded.source(values["memory"]).reorder(index).fertilities is None


def test_parameters_have_the_given_type_and_can_be_reset():
    for scorer in (
        ours.BilinearScorer(3, 4, coverage="text", dtype=torch.float64),
        ours.AdditiveScorer(3, 4, 5, coverage=True, dtype=torch.float64),
        Distance(),
    ):
        sink = scorer.memory_size is not None
        module = ours.ConstrainedAttention(scorer, sink=sink, dtype=torch.float64)
        before = {name: p.detach().clone() for name, p in module.named_parameters()}
        assert {p.dtype for p in before.values()} == {torch.float64}
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.fill_(7.0)
        module.reset_parameters()
        for name, parameter in module.named_parameters():
            assert (parameter != 7).all(), name
            assert (parameter == 0).all() == (before[name] == 0).all(), name
    assert ours.BilinearScorer(3, 4, device="meta").weight.device.type == "meta"


class Distance(torch.nn.Module):
    """A custom scorer: the nearer a key is to the query, the higher its score."""

    memory_size = None

    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.empty((), dtype=torch.float64))
        self.reset_parameters()

    def reset_parameters(self):
        torch.nn.init.ones_(self.scale)

    def keys(self, memory):
        return memory

    def forward(self, query, keys, memory, cumulative):
        return -self.scale * (keys - query[:, None]).square().sum(-1)


def test_a_custom_scorer_can_be_used():
    module = ours.ConstrainedAttention(Distance(), "sparsemax")
    memory = torch.eye(3, dtype=torch.float64)[None]
    source = module.source(memory)
    _, alpha, _ = module(memory[:, 1], source, module.start(source))
    assert alpha.tolist() == [[0, 1, 0]]
