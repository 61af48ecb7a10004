"""Multi-head attention with fertilities, against PyTorch's module and the NumPy reference."""

from __future__ import annotations

import numpy as np
import pytest

from coverage_eval import attention as reference
from coverage_eval.attention import AttentionError
from tests.torch.test_transformations import ONE_GRAPH  # skipped without PyTorch, and this with it

torch = pytest.importorskip("torch", reason="PyTorch is in the extra 'torch'")
ours = pytest.importorskip("coverage_eval.torch")

B, T, S, D, H = 3, 4, 5, 8, 2
PADDING = torch.arange(S) >= torch.tensor([5, 3, 4])[:, None]
ENDED = torch.arange(T) >= torch.tensor([4, 2, 3])[:, None]
TRANSFORMATIONS = ["softmax", "sparsemax", "constrained_softmax", "constrained_sparsemax"]


def heads(transformation="csparsemax", seed=0, **settings):
    """A module in evaluation mode with random parameters."""
    torch.manual_seed(seed)
    settings.setdefault("dtype", torch.float64)
    module = ours.MultiheadConstrainedAttention(D, H, transformation, **settings).eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(std=0.5)
    return module


def states(length, size=D, seed=1, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(B, length, size, generator=generator, dtype=dtype)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("kind", [None, "bool", "float", "of each head"])
def test_with_softmax_it_equals_pytorchs_module(kind, average, batch_first):
    module = heads("softmax", sink=False, batch_first=batch_first, kdim=6, vdim=7)
    theirs = torch.nn.MultiheadAttention(
        D, H, kdim=6, vdim=7, batch_first=batch_first, dtype=torch.float64
    )
    for bias in (theirs.in_proj_bias, theirs.out_proj.bias):
        torch.nn.init.normal_(bias)
    module.load_state_dict(theirs.state_dict())
    query, key, value = states(T), states(S, 6, 2), states(S, 7, 3)
    if not batch_first:
        query, key, value = (part.transpose(0, 1) for part in (query, key, value))
    mask = {
        None: None,
        "bool": torch.tensor(np.random.default_rng(1).uniform(size=(T, S)) < 0.2),
        "float": torch.randn(T, S, dtype=torch.float64),
        "of each head": torch.randn(B * H, T, S, dtype=torch.float64),
    }[kind]
    given = {"attn_mask": mask, "average_attn_weights": average}
    if kind is None:
        given["key_padding_mask"] = PADDING
    for ours_, wanted in zip(
        module(query, key, value, **given), theirs(query, key, value, **given), strict=True
    ):
        assert torch.allclose(ours_, wanted, atol=1e-12)
    assert module(query, key, value, need_weights=False)[1] is None


@pytest.mark.parametrize("exhaustion", [0.0, 0.2])
@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
def test_each_head_equals_the_reference(transformation, exhaustion):
    module = heads(transformation, exhaustion=exhaustion, sink=False)
    query, memory = states(T), states(S, seed=2)
    fertilities = 0.7 + torch.rand(B, S, generator=torch.Generator().manual_seed(3)).double()
    fertilities[:, 0] = torch.inf
    memory = memory.masked_fill(PADDING[:, :, None], torch.nan)  # padding may hold anything
    query = query.masked_fill(ENDED[:, :, None], torch.nan)
    output, weights = module(
        query, memory, memory, PADDING, fertilities=fertilities, query_padding_mask=ENDED,
        average_attn_weights=False,
    )  # fmt: skip
    assert output.isfinite().all()
    size = D // H
    for head in range(H):
        part = slice(head * size, (head + 1) * size)
        keys, queries = (
            torch.nn.functional.linear(x.nan_to_num(), p.weight[part], p.bias[part]).detach()
            for x, p in ((memory, module.k_proj), (query, module.q_proj))
        )
        step = reference.AttentionStep(reference.BilinearScore(), transformation, exhaustion)
        wanted = reference.attend(
            (queries / size**0.5).numpy(),
            keys.numpy(),
            step,
            lengths=(~PADDING).sum(1).numpy(),
            target_lengths=(~ENDED).sum(1).numpy(),
            fertilities=fertilities.numpy(),
        ).attention
        np.testing.assert_allclose(weights[:, head].detach().numpy(), wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("exhaustion", [0.0, 0.2])
@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
def test_step_by_step_equals_the_whole_target(transformation, exhaustion, batch_first):
    module = heads(
        transformation, exhaustion=exhaustion, fertility=0.6, dropout=0.5, batch_first=batch_first
    )
    query, memory = states(T), states(S, seed=2)
    turned = (lambda x: x) if batch_first else (lambda x: x.transpose(0, 1))
    output, weights = module(
        turned(query), turned(memory), turned(memory), PADDING, average_attn_weights=False
    )
    source = module.source(turned(memory), key_padding_mask=PADDING)
    for size in (1, 3):
        cumulative, found = module.start(source), []
        for part in query.split(size, 1):
            *result, cumulative = module.steps(turned(part), source, cumulative)
            found.append(result)
        outputs, attention = zip(*found, strict=True)
        assert torch.allclose(torch.cat(outputs, int(batch_first)), output, atol=1e-12)
        assert torch.allclose(torch.cat(attention, 2), weights, atol=1e-12)
        assert torch.allclose(cumulative, weights.sum(2), atol=1e-12)
    # As in a beam, hypotheses and their sources are reordered after the second step.
    index = torch.tensor([1, 1, 0])
    cumulative = module.steps(turned(query[:, :2]), source, module.start(source))[2]
    last = module.steps(turned(query[index, 2:]), source.reorder(index), cumulative[index])
    changed = torch.cat([query[index, :2], query[index, 2:]], 1)
    wanted = module(
        turned(changed), turned(memory[index]), turned(memory[index]), PADDING[index]
    )[0]  # fmt: skip
    assert torch.allclose(turned(last[0]), turned(wanted)[:, 2:], atol=1e-12)


def test_it_trains_as_cross_attention_of_a_decoder():
    torch.manual_seed(0)
    layer = torch.nn.TransformerDecoderLayer(D, H, 16, dropout=0.1, batch_first=True)
    decoder = torch.nn.TransformerDecoder(layer, 2)
    for layer in decoder.layers:
        layer.multihead_attn = ours.MultiheadConstrainedAttention(D, H, fertility=1.0)
    memory, wanted = states(S, dtype=torch.float32), states(12, seed=2, dtype=torch.float32)
    causal = torch.nn.Transformer.generate_square_subsequent_mask(12)
    optimizer = torch.optim.Adam(decoder.parameters(), lr=0.01)
    losses = []
    # 12 steps over three to five words with one unit each: the sink gets the rest.
    for _ in range(25):
        found = decoder(wanted.roll(1, 1), memory, causal, memory_key_padding_mask=PADDING)
        losses.append((found - wanted).square().mean())
        optimizer.zero_grad()
        losses[-1].backward()
        optimizer.step()
    assert losses[-1] < 0.7 * losses[0]
    for layer in decoder.layers:
        assert all(p.grad.isfinite().all() for p in layer.multihead_attn.parameters())
        assert (layer.multihead_attn.sink_value.grad != 0).all()
        _, weights = layer.multihead_attn(
            wanted, memory, memory, PADDING, average_attn_weights=False
        )
        assert weights.shape == (B, H, 12, S + 1)
        assert (weights.sum(2)[..., :S] <= 1 + 1e-5).all()
        assert (weights[..., :S].masked_select(PADDING[:, None, None]) == 0).all()


def test_fertilities_of_a_batch_can_be_set_as_an_attribute():
    module = heads()
    query, memory = states(T), states(S, seed=2)
    fertilities = 0.5 + torch.rand(B, S)
    wanted = module(query, memory, memory, fertilities=fertilities)[0]
    module.fertility = fertilities
    assert torch.equal(module(query, memory, memory)[0], wanted)


@pytest.mark.parametrize("transformation", ["csoftmax", "csparsemax"])
def test_it_compiles_takes_half_precision_and_does_not_wait_for_the_device(transformation):
    torch._dynamo.reset()
    module = heads(transformation, dtype=torch.float32, fertility=0.6, exhaustion=0.2)
    query, memory = states(T, dtype=torch.float32), states(S, dtype=torch.float32)
    compiled = torch.compile(module, fullgraph=ONE_GRAPH, backend="aot_eager")
    wanted = module(query, memory, memory, PADDING)[0]
    assert torch.allclose(compiled(query, memory, memory, PADDING)[0], wanted, atol=1e-6)
    half = module.to(torch.bfloat16)
    output, weights = half(query.bfloat16(), memory.bfloat16(), memory.bfloat16(), PADDING)
    assert (output.dtype, weights.dtype) == (torch.bfloat16, torch.float32)
    assert torch.allclose(output.float(), wanted, atol=0.1)
    meta = ours.MultiheadConstrainedAttention(D, H, transformation, fertility=1.0, device="meta")
    query, memory = query.to("meta"), memory.to("meta").requires_grad_()
    meta(query, memory, memory, PADDING.to("meta"))[0].sum().backward()
    assert memory.grad.shape == memory.shape


def test_parameters_are_drawn_as_pytorch_draws_them():
    size = 64
    module = ours.MultiheadConstrainedAttention(size, 4, kdim=32)
    theirs = torch.nn.MultiheadAttention(size, 4)
    for weight in (module.q_proj.weight, module.v_proj.weight):
        assert weight.std().item() == pytest.approx(theirs.in_proj_weight.std().item(), rel=0.1)
    assert module.k_proj.weight.shape == (size, 32)
    for name, parameter in module.named_parameters():
        zero = name.endswith("bias") or name.startswith("sink")
        assert (parameter == 0).all() == zero, name
    assert [n for n, _ in heads(bias=False, sink=False).named_parameters()] == [
        "q_proj.weight", "k_proj.weight", "v_proj.weight", "out_proj.weight",
    ]  # fmt: skip


def test_input_that_does_not_fit_is_refused():
    with pytest.raises(AttentionError, match="3 heads cannot share 8 dimensions evenly"):
        ours.MultiheadConstrainedAttention(8, 3)
    with pytest.raises(AttentionError, match="0 heads cannot share"):
        ours.MultiheadConstrainedAttention(8, 0)
    assert ours.MultiheadConstrainedAttention(8, 1).num_heads == 1
    module = heads(fertility=1.0)
    query = states(T)
    with pytest.raises(AttentionError, match="is_causal needs the mask itself"):
        module(query, query, query, is_causal=True)
    with pytest.raises(AttentionError, match=r"keys must be \[batch, source, size\], not \(4, 8\)"):
        module.source(query[0])
    with pytest.raises(AttentionError, match="constrained_sparsemax needs fertilities"):
        heads()(query, query, query)
    assert "heads=2, constrained_sparsemax, exhaustion=0.0, sink=True" in str(module)


@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
@pytest.mark.parametrize("batch_first", [True, False])
def test_a_single_target_needs_no_batch(transformation, batch_first):
    module = heads(transformation, batch_first=batch_first, fertility=2.0)
    query, memory = states(T)[0], states(S, seed=2)[0]
    ends = torch.arange(T) >= T - 1
    axis = 0 if batch_first else 1
    output, weights = module(query, memory, memory, query_padding_mask=ends)
    batch, of_batch = module(
        query.unsqueeze(axis), *[memory.unsqueeze(axis)] * 2, query_padding_mask=ends[None]
    )
    assert torch.equal(output, batch.squeeze(axis))
    assert torch.equal(weights, of_batch[0])


@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
def test_an_empty_target_gives_an_empty_output(transformation):
    module = heads(transformation, fertility=2.0)
    memory = states(S, seed=2)
    output, weights = module(states(0), memory, memory)
    assert output.shape == (B, 0, D)
    assert weights.shape == (B, 0, S + 1)
    output.sum().backward()


def test_a_float_padding_mask_is_a_mask():
    module = heads("constrained_sparsemax", fertility=2.0)
    query, memory = states(T), states(S, seed=2)
    floats = torch.zeros(PADDING.shape).masked_fill(PADDING, -torch.inf)
    first, other = (module(query, memory, memory, key_padding_mask=m) for m in (PADDING, floats))
    assert torch.equal(first[0], other[0])
    assert torch.equal(first[1], other[1])
    for wrong in (floats - 1.0, PADDING.long()):
        with pytest.raises(AttentionError, match=r"of type torch\.bool, or have −inf"):
            module(query, memory, memory, key_padding_mask=wrong)


@pytest.mark.parametrize("sink", [True, False])
def test_parameters_of_pytorchs_module_are_read(sink):
    """Inside another module, and with one projection of all inputs."""
    theirs = torch.nn.MultiheadAttention(D, H, batch_first=True, dtype=torch.float64)
    torch.nn.init.normal_(theirs.in_proj_bias)
    module = heads("softmax", sink=sink)
    holder = torch.nn.ModuleDict({"attention": module})
    states_ = {f"attention.{name}": value for name, value in theirs.state_dict().items()}
    holder.load_state_dict(states_)
    assert all(name.startswith("attention.") for name in states_), "the given mapping is as before"
    query, key = states(T), states(S, seed=2)
    if not sink:
        assert torch.allclose(module(query, key, key)[0], theirs(query, key, key)[0])
    del states_["attention.out_proj.bias"]
    with pytest.raises(RuntimeError, match="Missing key"):
        holder.load_state_dict(states_)


@pytest.mark.parametrize("name", TRANSFORMATIONS[1:])
def test_a_distribution_over_no_positions_is_refused(name):
    function = getattr(ours, name)
    arguments = (torch.zeros(2, 0), 1.0) if name.startswith("c") else (torch.zeros(2, 0),)
    with pytest.raises(AttentionError, match="a distribution over no positions"):
        function(*arguments)
    assert function(*(torch.zeros(0, 3), 1.0)[: len(arguments)]).shape == (0, 3)
