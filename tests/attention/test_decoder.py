"""The decoder step and replayed models, against formulas written out and against PyTorch."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from coverage_eval.attention import (
    AttentionError,
    AttentionStep,
    decoder_step,
    encode,
    force_decode,
    opennmt_weights,
    sink_at_end,
    start_decoder,
)

E, H, D, V, W = 4, 3, 6, 8, 9  # D = 2H: the decoder starts from both directions of the encoder
LENGTHS, TARGETS = np.array([5, 2, 4]), np.array([3, 6, 4])
START = 2


def checkpoint(seed=0, *, coverage=False, attention="general", directions=2, dtype=np.float64):
    """A random model with OpenNMT-py's names; one direction alone has states of size D, too."""
    rng = np.random.default_rng(seed)
    shapes = {"encoder.embeddings.make_embedding.emb_luts.0.weight": (W, E)}
    for k, inputs in enumerate((E, D)):
        for suffix in ("", "_reverse")[:directions]:
            shapes |= lstm_shapes(f"encoder.rnn.{{}}_l{k}{suffix}", inputs, D // directions)
    shapes["decoder.embeddings.make_embedding.emb_luts.0.weight"] = (V, E)
    for k, inputs in enumerate((E + D, D)):
        shapes |= lstm_shapes(f"decoder.rnn.layers.{k}.{{}}", inputs, D)
    shapes |= {
        "decoder.attn.linear_out.weight": (D, 2 * D),
        "generator.0.weight": (V, D),
        "generator.0.bias": (V,),
    }
    if attention == "general":
        shapes["decoder.attn.linear_in.weight"] = (D, D)
    elif attention == "mlp":
        shapes |= {
            "decoder.attn.linear_query.weight": (D, D),
            "decoder.attn.linear_query.bias": (D,),
            "decoder.attn.linear_context.weight": (D, D),
            "decoder.attn.v.weight": (1, D),
            "decoder.attn.linear_out.bias": (D,),
        }
    if coverage:
        shapes["decoder.attn.linear_cover.weight"] = (D, 1)
    return {name: rng.normal(scale=0.6, size=shape).astype(dtype) for name, shape in shapes.items()}


def lstm_shapes(pattern, inputs, size):
    return {
        pattern.format("weight_ih"): (4 * size, inputs),
        pattern.format("weight_hh"): (4 * size, size),
        pattern.format("bias_ih"): (4 * size,),
        pattern.format("bias_hh"): (4 * size,),
    }


def make_batch(seed=1):
    rng = np.random.default_rng(seed)
    return rng.integers(0, W, size=(3, 5)), rng.integers(0, V, size=(3, 6))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def slow_decode(arrays, source, target, transform):
    """One sentence by the printed formulas, without any function of the package."""

    def cell(x, h, c, pattern):
        w_ih, w_hh, b_ih, b_hh = (
            arrays[pattern.format(n)] for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        i, f, g, o = np.split(w_ih @ x + b_ih + w_hh @ h + b_hh, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c

    memory = list(arrays["encoder.embeddings.make_embedding.emb_luts.0.weight"][source])
    states = []
    for k in range(2):
        sides, finals = [], []
        for suffix, order in (("", memory), ("_reverse", memory[::-1])):
            if f"encoder.rnn.weight_ih_l0{suffix}" not in arrays:
                continue
            h = c = np.zeros(arrays[f"encoder.rnn.weight_hh_l{k}{suffix}"].shape[1])
            outputs = []
            for x in order:
                h, c = cell(x, h, c, f"encoder.rnn.{{}}_l{k}{suffix}")
                outputs.append(h)
            sides.append(outputs[::-1] if suffix else outputs)
            finals.append((h, c))
        memory = [np.concatenate(parts) for parts in zip(*sides, strict=True)]
        states.append([np.concatenate(pair) for pair in zip(*finals, strict=True)])
    memory, fed, before = np.array(memory), np.zeros(D), START
    attention, log_probabilities = [], []
    for word in target:
        x = np.concatenate(
            [arrays["decoder.embeddings.make_embedding.emb_luts.0.weight"][before], fed]
        )
        for k in range(2):
            states[k] = cell(x, *states[k], f"decoder.rnn.layers.{k}.{{}}")
            x = states[k][0]
        alpha = transform(slow_scores(arrays, memory, x))
        attention.append(alpha)
        fed = arrays["decoder.attn.linear_out.weight"] @ np.concatenate([alpha @ memory, x])
        if "decoder.attn.linear_out.bias" in arrays:
            fed = fed + arrays["decoder.attn.linear_out.bias"]
        else:
            fed = np.tanh(fed)
        logits = arrays["generator.0.weight"] @ fed + arrays["generator.0.bias"]
        log_probabilities.append(logits[word] - np.log(np.exp(logits).sum()))
        before = word
    return np.array(attention), np.array(log_probabilities)


def slow_scores(arrays, memory, x):
    """The three kinds of attention as OpenNMT-py computes them."""
    if "decoder.attn.linear_in.weight" in arrays:  # "general": the state is mapped
        return memory @ (arrays["decoder.attn.linear_in.weight"] @ x)
    if "decoder.attn.v.weight" not in arrays:
        return memory @ x
    query = (
        arrays["decoder.attn.linear_query.weight"] @ x + arrays["decoder.attn.linear_query.bias"]
    )
    context = memory @ arrays["decoder.attn.linear_context.weight"].T
    return np.tanh(query + context) @ arrays["decoder.attn.v.weight"][0]


@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("attention", ["general", "dot", "mlp"])
def test_replay_equals_the_printed_formulas(attention, directions):
    arrays = checkpoint(attention=attention, directions=directions)
    model = opennmt_weights(arrays)
    sources, targets = make_batch()
    encoding = encode(sources, model.encoder, lengths=LENGTHS)
    step = AttentionStep(model.score)
    forced = force_decode(
        targets, encoding, model.decoder, step, start=START, target_lengths=TARGETS
    )
    for row, (s, t) in enumerate(zip(LENGTHS, TARGETS, strict=True)):
        attention, log_probabilities = slow_decode(
            arrays, sources[row, :s], targets[row, :t], lambda z: np.exp(z) / np.exp(z).sum()
        )
        np.testing.assert_allclose(forced.attention[row, :t, :s], attention, atol=1e-12)
        np.testing.assert_allclose(forced.log_probabilities[row, :t], log_probabilities, atol=1e-11)
        assert np.all(forced.attention[row, t:] == 0)
        assert np.all(forced.attention[row, :, s:] == 0)
        assert np.all(forced.log_probabilities[row, t:] == 0)
        np.testing.assert_allclose(forced.cumulative[row, :s], attention.sum(0), atol=1e-12)


@pytest.mark.parametrize("form", ["text", "scripts"])
def test_constrained_replay_respects_fertilities(form):
    """csparsemax with exhaustion and a coverage vector; the source's last word is the sink."""
    model = opennmt_weights(checkpoint(2, coverage=True), coverage=form)
    sources, targets = make_batch(2)
    encoding = encode(sources, model.encoder, lengths=LENGTHS)
    step = AttentionStep(model.score, "constrained_sparsemax", 0.2)
    fertilities = sink_at_end(np.full(sources.shape, 0.7), LENGTHS)
    forced = force_decode(
        targets, encoding, model.decoder, step,
        start=START, target_lengths=TARGETS, fertilities=fertilities,
    )  # fmt: skip
    np.testing.assert_allclose(
        forced.attention.sum(axis=2), np.arange(6) < TARGETS[:, None], atol=1e-12
    )
    inside = np.arange(5) < LENGTHS[:, None] - 1
    assert np.all(forced.cumulative[inside] <= 0.7 + 1e-15)
    assert np.any(forced.cumulative[inside] == 0.7), "some word runs out of credit"
    for row, (s, t) in enumerate(zip(LENGTHS, TARGETS, strict=True)):
        alone = force_decode(
            targets[row : row + 1, :t], encode(sources[row : row + 1, :s], model.encoder),
            model.decoder, step, start=START, fertilities=fertilities[row : row + 1, :s],
        )  # fmt: skip
        np.testing.assert_allclose(forced.attention[row, :t, :s], alone.attention[0], atol=1e-12)


def test_a_step_leaves_its_state_alone_and_its_probabilities_sum_to_1():
    model = opennmt_weights(checkpoint(3, dtype=np.float32))
    sources, _ = make_batch(3)
    encoding = encode(sources, model.encoder)
    step = AttentionStep(model.score, "sparsemax")
    source = step.source(encoding.memory)
    state = start_decoder(encoding, model.decoder, step, source)
    before = [np.array(a) for layer in state.layers for a in layer] + [state.fed.copy()]
    output, after = decoder_step([1, 2, 3], state, source, model.decoder, step)
    for old, new in zip(
        before, [a for layer in state.layers for a in layer] + [state.fed], strict=True
    ):
        np.testing.assert_array_equal(old, new)
    assert output.log_probabilities.dtype == np.float32
    np.testing.assert_allclose(np.exp(output.log_probabilities).sum(1), 1, rtol=1e-5)
    np.testing.assert_array_equal(after.fed, output.attentional)
    assert after.attention.steps == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        state.fed = None


def test_checkpoints_with_the_names_of_early_versions():
    arrays = checkpoint(4)
    early = {
        name.replace("make_embedding.", "").removeprefix("generator."): value
        for name, value in arrays.items()
    }
    ours, theirs = opennmt_weights(arrays), opennmt_weights(early)
    np.testing.assert_array_equal(ours.decoder.embedding, theirs.decoder.embedding)
    np.testing.assert_array_equal(ours.decoder.output_bias, theirs.decoder.output_bias)
    assert len(ours.encoder.layers) == len(ours.decoder.layers) == 2


def test_checkpoints_that_are_not_this_model_are_refused():
    arrays = checkpoint()
    without = {n: a for n, a in arrays.items() if n != "decoder.rnn.layers.1.bias_hh"}
    with pytest.raises(AttentionError, match=r"no 'decoder\.rnn\.layers\.1\.bias_hh'"):
        opennmt_weights(without)
    with pytest.raises(AttentionError, match=r"context_gate', for which this model has no place$"):
        opennmt_weights({**arrays, "decoder.context_gate": np.ones(1)})
    with pytest.raises(AttentionError, match=r"no place \(and 1 more such\)"):
        opennmt_weights({**arrays, "decoder.a": np.ones(1), "decoder.b": np.ones(1)})
    with pytest.raises(AttentionError, match="'text' or 'scripts'"):
        opennmt_weights(checkpoint(coverage=True))
    with pytest.raises(AttentionError, match="beside 'mlp' attention"):
        opennmt_weights(checkpoint(coverage=True, attention="mlp"), coverage="scripts")
    backwards = {n: a for n, a in arrays.items() if not n.endswith("l1_reverse")}
    with pytest.raises(AttentionError, match=r"no 'encoder\.rnn\.weight_ih_l1_reverse'"):
        opennmt_weights(backwards)


def test_input_that_does_not_fit_is_refused():
    model = opennmt_weights(checkpoint())
    sources, targets = make_batch()
    encoding = encode(sources, model.encoder)
    step = AttentionStep(model.score)
    with pytest.raises(AttentionError, match=r"\[batch, target\]"):
        force_decode([1, 2], encoding, model.decoder, step, start=START)
    with pytest.raises(AttentionError, match="word number 8 is not in"):
        force_decode([[8]] * 3, encoding, model.decoder, step, start=START)
    shallow = dataclasses.replace(encoding, final=encoding.final[:1])
    with pytest.raises(AttentionError, match="encoder's layers have"):
        force_decode(targets, shallow, model.decoder, step, start=START)
