"""LSTM and encoder against gates computed one by one, and against PyTorch if it is installed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coverage_eval.attention import (
    AttentionError,
    EncoderWeights,
    LSTMWeights,
    encode,
    lstm,
    lstm_cell,
    stacked_lstm_cell,
)

LENGTHS = np.array([5, 2, 1, 4])


def make_layer(rng, inputs, size):
    shapes = ((4 * size, inputs), (4 * size, size), (4 * size,), (4 * size,))
    return LSTMWeights(*(rng.normal(scale=0.7, size=shape) for shape in shapes))


def slow_cell(x, h, c, weights):
    """One unit at a time, one gate at a time."""
    size = len(h)
    sums = []
    for row in range(4 * size):
        total = weights.bias_ih[row] + weights.bias_hh[row]
        total += sum(w * v for w, v in zip(weights.weight_ih[row], x, strict=True))
        total += sum(w * v for w, v in zip(weights.weight_hh[row], h, strict=True))
        sums.append(total)
    sigmoid = [1 / (1 + math.exp(-s)) for s in sums]
    new_c, new_h = [], []
    for unit in range(size):
        enter, forget, leave = (sigmoid[gate * size + unit] for gate in (0, 1, 3))
        new_c.append(forget * c[unit] + enter * math.tanh(sums[2 * size + unit]))
        new_h.append(leave * math.tanh(new_c[-1]))
    return new_h, new_c


def slow_run(words, weights):
    h, c = [0.0] * weights.size, [0.0] * weights.size
    outputs = []
    for word in words:
        h, c = slow_cell(word, h, c, weights)
        outputs.append(h)
    return outputs, h, c


def test_cell_equals_gates_one_by_one():
    rng = np.random.default_rng(0)
    layer = make_layer(rng, 3, 4)
    x, h, c = rng.normal(size=(2, 3)), rng.normal(size=(2, 4)), rng.normal(size=(2, 4))
    hidden, cell = lstm_cell(x, (h, c), layer)
    for row in range(2):
        slow_h, slow_c = slow_cell(x[row], h[row], c[row], layer)
        np.testing.assert_allclose(hidden[row], slow_h, atol=1e-14)
        np.testing.assert_allclose(cell[row], slow_c, atol=1e-14)


def test_each_layer_reads_the_one_below():
    rng = np.random.default_rng(1)
    layers = [make_layer(rng, 3, 4), make_layer(rng, 4, 4)]
    x, zero = rng.normal(size=(2, 3)), np.zeros((2, 4))
    states = stacked_lstm_cell(x, [(zero, zero)] * 2, layers)
    low, _ = slow_cell(x[1], zero[1], zero[1], layers[0])
    high, _ = slow_cell(low, zero[1], zero[1], layers[1])
    np.testing.assert_allclose(states[0][0][1], low, atol=1e-14)
    np.testing.assert_allclose(states[1][0][1], high, atol=1e-14)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_padded_sequence_has_the_outputs_of_the_sequence_alone(reverse):
    rng = np.random.default_rng(2)
    layer = make_layer(rng, 3, 4)
    words = rng.normal(size=(4, 5, 3))
    words[np.arange(5) >= LENGTHS[:, None]] = 1e6
    outputs, (hidden, cell) = lstm(words, layer, lengths=LENGTHS, reverse=reverse)
    for row, length in enumerate(LENGTHS):
        inside = words[row, :length]
        slow, h, c = slow_run(inside[::-1] if reverse else inside, layer)
        np.testing.assert_allclose(
            outputs[row, :length], slow[::-1] if reverse else slow, atol=1e-13
        )
        assert np.all(outputs[row, length:] == 0)
        np.testing.assert_allclose(hidden[row], h, atol=1e-13)
        np.testing.assert_allclose(cell[row], c, atol=1e-13)


def test_a_sequence_can_be_continued_from_a_state():
    rng = np.random.default_rng(8)
    layer, words = make_layer(rng, 3, 4), rng.normal(size=(2, 5, 3))
    outputs, (hidden, cell) = lstm(words, layer)
    _, state = lstm(words[:, :2], layer)
    rest, last = lstm(words[:, 2:], layer, initial=state)
    np.testing.assert_array_equal(rest, outputs[:, 2:])
    np.testing.assert_array_equal(last, (hidden, cell))


def test_extreme_inputs_stay_finite():
    rng = np.random.default_rng(3)
    layer = make_layer(rng, 2, 2)
    with np.errstate(all="raise"):
        hidden, cell = lstm_cell(np.full((1, 2), 1e8), (np.zeros((1, 2)),) * 2, layer)
    assert np.isfinite(hidden).all()
    assert np.isfinite(cell).all()


def make_encoder(rng, size=3, dtype=np.float64):
    layers, inputs = [], 4
    for _ in range(2):
        pair = (make_layer(rng, inputs, size), make_layer(rng, inputs, size))
        layers.append(
            tuple(LSTMWeights(*(a.astype(dtype) for a in vars(w).values())) for w in pair)
        )
        inputs = 2 * size
    return EncoderWeights(rng.normal(size=(7, 4)).astype(dtype), tuple(layers))


def test_encoder_equals_two_directions_by_hand():
    rng = np.random.default_rng(4)
    weights = make_encoder(rng)
    tokens = rng.integers(0, 7, size=(4, 5))
    encoding = encode(tokens, weights, lengths=LENGTHS)
    for row, length in enumerate(LENGTHS):
        outputs = weights.embedding[tokens[row, :length]]
        for layer, (forward, backward) in enumerate(weights.layers):
            ahead, h1, c1 = slow_run(outputs, forward)
            back, h2, c2 = slow_run(outputs[::-1], backward)
            outputs = np.concatenate([ahead, back[::-1]], axis=1)
            np.testing.assert_allclose(encoding.final[layer][0][row], h1 + h2, atol=1e-13)
            np.testing.assert_allclose(encoding.final[layer][1][row], c1 + c2, atol=1e-13)
        np.testing.assert_allclose(encoding.memory[row, :length], outputs, atol=1e-13)
        assert np.all(encoding.memory[row, length:] == 0)


def test_float32_stays_float32():
    rng = np.random.default_rng(5)
    encoding = encode(rng.integers(0, 7, size=(2, 3)), make_encoder(rng, dtype=np.float32))
    assert encoding.memory.dtype == np.float32
    assert encoding.final[1][1].dtype == np.float32


def test_a_batch_may_be_empty():
    weights = make_encoder(np.random.default_rng(9))
    assert encode(np.zeros((0, 5), int), weights).memory.shape == (0, 5, 6)


@pytest.mark.needs("torch")
def test_encoder_equals_pytorch():
    torch = pytest.importorskip("torch", reason="PyTorch (the nmt extra) is not installed")
    rng = np.random.default_rng(6)
    weights = make_encoder(rng)
    module = torch.nn.LSTM(4, 3, num_layers=2, bidirectional=True, batch_first=True).double()
    state = {}
    for k, pair in enumerate(weights.layers):
        for layer, suffix in zip(pair, ("", "_reverse"), strict=True):
            state |= {f"{n}_l{k}{suffix}": torch.tensor(a) for n, a in vars(layer).items()}
    module.load_state_dict(state)
    tokens = rng.integers(0, 7, size=(4, 5))
    vectors = torch.tensor(weights.embedding[tokens])
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        vectors, torch.tensor(LENGTHS), batch_first=True, enforce_sorted=False
    )
    outputs, (hidden, cell) = module(packed)
    padded, _ = torch.nn.utils.rnn.pad_packed_sequence(outputs, batch_first=True)
    encoding = encode(tokens, weights, lengths=LENGTHS)
    np.testing.assert_allclose(encoding.memory, padded.detach().numpy(), atol=1e-12)
    for k in range(2):
        for ours, theirs in zip(encoding.final[k], (hidden, cell), strict=True):
            joined = torch.cat([theirs[2 * k], theirs[2 * k + 1]], dim=1).detach().numpy()
            np.testing.assert_allclose(ours, joined, atol=1e-12)


def test_input_that_does_not_fit_is_refused():
    rng = np.random.default_rng(7)
    layer, weights = make_layer(rng, 3, 4), make_encoder(rng)
    with pytest.raises(AttentionError, match="has size 2, its weights are for 3"):
        lstm_cell(np.ones((1, 2)), (np.ones((1, 4)),) * 2, layer)
    for shapes in (
        ((8, 3), (12, 3), (12,), (12,)),
        ((12, 3), (12, 4), (12,), (12,)),
        ((12, 3), (12, 3), (8,), (12,)),
        ((12,), (12, 3), (12,), (12,)),
    ):
        with pytest.raises(AttentionError, match="do not fit"):
            LSTMWeights(*map(np.ones, shapes))
    for word in (7, -1):
        with pytest.raises(AttentionError, match=f"word number {word} is not in"):
            encode([[1, word]], weights)
    with pytest.raises(AttentionError, match="must be whole"):
        encode([[1.5]], weights)
    with pytest.raises(AttentionError, match=r"\[batch, source\]"):
        encode([1, 2], weights)
    with pytest.raises(AttentionError, match="row 0: length 3"):
        encode([[1, 2]], weights, lengths=[3])
