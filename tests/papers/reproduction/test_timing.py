"""The timing of both losses: what is timed, how it is printed, and the command."""

from __future__ import annotations

import json

import numpy as np
import pytest

from coverage_eval.papers.reproduction.sparsemax_regression import iris_data
from coverage_eval.papers.reproduction.timing import (
    Timing,
    TimingReproduction,
    reproduce_timing,
)


def test_a_row_has_means_intervals_and_ratios():
    seconds = {"softmax": np.array([0.002, 0.004]), "sparsemax": np.array([0.003, 0.005])}
    result = TimingReproduction((Timing("CAL500", 451, 174, "NumPy", seconds),), 2)
    (row,) = result.rows()
    named = dict(zip(result.header, row, strict=True))
    assert named["softmax, ms"] == pytest.approx(3)
    assert named["softmax, ±"] == pytest.approx(12.7062, rel=1e-5)  # t, one degree of freedom
    # The turns' ratios are 1.5 and 1.25; the bootstrap draws both, or one of them twice.
    assert named["ratio"] == pytest.approx(1.375)
    assert (named["low"], named["high"]) == (1.25, 1.5)
    assert named["printed ratio, CPU"] == pytest.approx(1.17 / 0.34)
    (signature,) = result.signatures()
    assert signature.startswith("timing|data:CAL500|examples:451|classes:174|numpy:")


def test_every_loss_and_implementation_is_timed():
    result = reproduce_timing(classes=[2, 5], examples=10, data=[iris_data()], repeats=2)
    shapes = {(t.data, t.examples, t.classes) for t in result.timings}
    assert shapes == {("random", 10, 2), ("random", 10, 5), ("Iris", 150, 3)}
    for timing in result.timings:
        assert {name: len(times) for name, times in timing.seconds.items()} == {
            "softmax": 2, "sparsemax": 2,
        }  # fmt: skip
        assert all((times > 0).all() for times in timing.seconds.values())


@pytest.mark.needs("torch")
def test_pytorch_is_timed_if_installed_and_computes_the_same_loss():
    torch = pytest.importorskip("torch", reason="PyTorch is in the extra 'torch'")
    from coverage_eval.attention.losses import sparsemax_loss_and_gradient
    from coverage_eval.papers.reproduction import timing
    from coverage_eval.torch import sparsemax_loss

    result = reproduce_timing(classes=[3], examples=10, repeats=1)
    assert [t.implementation for t in result.timings][:2] == ["NumPy", "PyTorch, CPU"]
    assert "|torch:" in result.signatures()[1]
    data = iris_data()
    in_numpy = timing.fit_in_numpy(sparsemax_loss_and_gradient, data.features, data.targets)
    x, q = torch.tensor(data.features), torch.tensor(data.targets)
    assert timing.fit_in_torch(sparsemax_loss, x, q) == pytest.approx(in_numpy[0, 0], rel=1e-9)


def test_the_command_times_iris_and_a_users_file(tmp_path, run_cli):
    (tmp_path / "emotions.txt").write_text("1,2 1:0.5\n3 2:1\n2 1:1\n", encoding="utf-8")
    done = run_cli(
        "reproduce", "timing", "--classes", 2, "--examples", 5, "--repeats", 1, "-f", "json",
        "--data", "emotions.txt", cwd=tmp_path,
    )  # fmt: skip
    rows = [row for row in json.loads(done.stdout) if row["implementation"] == "NumPy"]
    assert [(row["data"], row["examples"], row["classes"]) for row in rows] == [
        ("random", 5, 2), ("Iris", 150, 3), ("emotions", 3, 3),
    ]  # fmt: skip
    assert rows[2]["printed ratio, CPU"] == pytest.approx(0.18 / 0.18)
    assert rows[0]["softmax, ±"] is None
    (tmp_path / "wrong").write_text("1 x\n", encoding="utf-8")
    failed = run_cli("reproduce", "timing", "--data", tmp_path / "wrong", check=False)
    assert failed.returncode == 1
    assert "line 1: 'x' is not a feature" in failed.stderr
