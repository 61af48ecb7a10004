"""Posteriors against an oracle in NumPy, and against links from the same tables."""

from __future__ import annotations

import sys
import zipfile

import numpy as np
import pytest

from fast_align_wrapper import AlignerDataError, AlignerNotFoundError, FastAlign
from fast_align_wrapper.forced import Posterior, parse_posteriors
from fast_align_wrapper.process import Child, find_fast_align
from tests.aligner.fake_aligners import someone_elses

UNSEEN = 1e-9
WORDS = 12


def random_text(pairs, seed):
    generator = np.random.default_rng(seed)
    sides = []
    for letter in "st":
        lengths = generator.integers(1, 9, pairs)
        sides.append([[f"{letter}{n}" for n in generator.integers(0, WORDS, m)] for m in lengths])
    return list(zip(*sides, strict=True))


@pytest.fixture(scope="module", params=[True, False], ids=["diagonal", "model 1"])
def model(request):
    with FastAlign.train(random_text(300, seed=1), favor_diagonal=request.param) as trained:
        yield trained


def read_table(path):
    table = {}
    for line in path.read_text().split("\n")[:-1]:
        conditioning, generated, logarithm = line.split("\t")
        table[conditioning, generated] = np.exp(float(logarithm))
    return table


def oracle(model, table, conditioning, generated, direction):
    """p(a_j = i | pair) from its definition; column 0 is NULL, a row per generated word."""
    m, n = len(generated), len(conditioning)
    settings, p0 = model.manifest.settings, model.manifest.settings.p0
    i, j = np.arange(1, n + 1)[None, :], np.arange(1, m + 1)[:, None]
    prior = np.full((m, n + 1), 1 / (n + 1))
    if settings.favor_diagonal:
        tension = model.manifest.parameters(direction).tension
        closeness = np.exp(-tension * np.abs(i / n - j / m))
        prior[:, 0] = p0
        prior[:, 1:] = (1 - p0) * closeness / closeness.sum(axis=1, keepdims=True)
    theta = [[table.get((e, f), UNSEEN) for e in ["<eps>", *conditioning]] for f in generated]
    joint = np.array(theta) * prior
    return joint / joint.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_posteriors_equal_their_definition(tmp_path, model, direction):
    model.save(tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model") as archive:
        table = read_table(type(tmp_path)(archive.extract(f"{direction}.full", tmp_path)))
    pairs = random_text(60, seed=2)
    pairs[:2] = [(["never", "seen", "s1"], pairs[0][1]), (pairs[1][0], ["new"])]
    posteriors = list(model.posteriors(pairs, direction))
    for (source, target), found in zip(pairs, posteriors, strict=True):
        sides = (source, target) if direction == "forward" else (target, source)
        expected = oracle(model, table, *sides, direction)
        matrix = found.matrix if direction == "forward" else found.matrix.T
        assert found.matrix.dtype == found.null.dtype == np.float32
        assert found.matrix.shape == (len(target), len(source))
        np.testing.assert_allclose(matrix, expected[:, 1:], rtol=2e-6, atol=1e-9)
        np.testing.assert_allclose(found.null, expected[:, 0], rtol=2e-6, atol=1e-9)


def test_rows_with_null_sum_to_one(model):
    pairs = random_text(60, seed=3)
    for found in model.posteriors(pairs):
        np.testing.assert_allclose(found.matrix.sum(axis=1) + found.null, 1, atol=1e-6)
    for found in model.posteriors(pairs, "reverse"):
        np.testing.assert_allclose(found.matrix.sum(axis=0) + found.null, 1, atol=1e-6)


def test_pairs_with_an_empty_side_are_linked_to_null(model):
    found = list(model.posteriors([("s1 s2", ""), ("", "t1 t2 t3"), ("", "")]))
    assert [one.matrix.shape for one in found] == [(0, 2), (3, 0), (0, 0)]
    assert [one.null.tolist() for one in found] == [[], [1, 1, 1], []]
    found = list(model.posteriors([("s1 s2", "")], "reverse"))
    assert found[0].matrix.shape == (0, 2)
    assert found[0].null.tolist() == [1, 1]


def test_a_pair_that_is_too_long_is_an_error(model):
    pairs = [("s1", "t1"), ("s1 " * 10_000, "t1 " * 10_000)]
    with pytest.raises(AlignerDataError, match="pair 2: posteriors of 10000 times 10000 words do"):
        list(model.posteriors(pairs))


def test_records_may_arrive_in_pieces_of_any_size():
    generator = np.random.default_rng(0)
    data, matrices = b"", []
    for m, n in [(2, 3), (1, 0), (4, 1)]:
        values = generator.random((m, n + 1)).astype("<f4")
        data += np.array([m, n], "<u4").tobytes()
        data += values[:, 0].tobytes() + values[:, 1:].tobytes()
        matrices.append(values)
    data = b"CEPOST1\n" + data
    for size in (1, 3, 7, len(data)):
        program = (
            "import os, time\n"
            f"data = {data!r}\n"
            f"for start in range(0, len(data), {size}):\n"
            f"    os.write(1, data[start : start + {size}])\n"
            f"    time.sleep(0.001)\n"
        )
        with Child([sys.executable, "-c", program]) as child:
            found = list(parse_posteriors(child, "forward"))
        assert all(isinstance(one, Posterior) for one in found)
        for one, values in zip(found, matrices, strict=True):
            np.testing.assert_array_equal(one.matrix, values[:, 1:])
            np.testing.assert_array_equal(one.null, values[:, 0])


def test_another_fast_align_has_no_posteriors(tmp_path, model, monkeypatch):
    fake = someone_elses(tmp_path / "fast_align", find_fast_align().path)
    with monkeypatch.context() as patch:
        patch.setenv("FAST_ALIGN", str(fake))
        with pytest.raises(AlignerNotFoundError) as caught:
            model.posteriors([("s1", "t1")])
        assert str(caught.value) == (
            f"{fake}: gives no posteriors; use the aligner that comes with coverage-eval"
        )
        trained = FastAlign.train([("s1 s2", "t1 t2")] * 9)
    with trained, pytest.raises(AlignerDataError, match="no tables in full precision, as it was"):
        trained.posteriors([("s1", "t1")])
