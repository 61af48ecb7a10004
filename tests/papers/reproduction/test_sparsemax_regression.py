"""Softmax and sparsemax regression: Iris, and data sets in the published formats."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from coverage_eval.errors import DataError
from coverage_eval.papers.reproduction.multilabel import read_labelled
from coverage_eval.papers.reproduction.probabilistic_regression import ProbabilisticRegression
from coverage_eval.papers.reproduction.sparsemax_regression import (
    RegressionSettings,
    RegularizerCurves,
    cross_validate_regularizers,
    load_iris,
    reproduce_regression,
)


def test_iris_equals_scikit_learns():
    theirs = pytest.importorskip("sklearn.datasets").load_iris()
    measurements, species = load_iris()
    np.testing.assert_array_equal(measurements, theirs.data)
    np.testing.assert_array_equal(species, theirs.target_names[theirs.target])


def test_the_printed_effect_is_reproduced_but_gone_at_the_minimum(run_cli):
    rows = json.loads(run_cli("reproduce", "regression", "--splits", 1, "-f", "json").stdout)
    assert [row["printed"] for row in rows[:4]] == [0.13, 0.01, 0.138, 20.0]
    assert len(rows) == 8
    soft, sparse = rows[0], rows[4]
    adam, minimum = "Adam, 100 epochs", "minimum"
    # After 100 epochs the effect has the printed direction and size; at the minimum it is gone.
    assert sparse[adam] < soft[adam] - 0.02
    assert abs(soft[adam] - 0.13) < 0.06
    assert abs(sparse[adam] - 0.09) < 0.06
    assert max(soft[minimum], sparse[minimum]) < 0.06
    assert all(0.001 < rows[place][adam] < 0.1 for place in (1, 5)), "half of an interval"


def _write_mulan(path: Path, rows: int, seed: int) -> Path:
    """Two features and two labels; examples with a positive first feature have the first label."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, 2))
    lines = [f"{x:.3f},{y:.3f},{int(x > 0)},{int(y > 0.5)}" for x, y in features]
    head = ["@relation scene", *(f"@attribute {n} numeric" for n in "xy")]
    head += [f"@attribute {n} {{0,1}}" for n in ("beach", "field")]
    path.write_text("\n".join([*head, "@data", *lines, ""]), encoding="utf-8")
    labels = '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="beach"/>'
    text = f'{labels}<label name="field"/></labels>'
    path.with_suffix(".xml").write_text(text, encoding="utf-8")
    return path


def test_a_users_copy_of_scene_is_shown_beside_the_printed_figures(run_cli, tmp_path):
    train = _write_mulan(tmp_path / "scene-train.arff", 60, 1)
    test = _write_mulan(tmp_path / "scene-test.arff", 40, 2)
    picture = tmp_path / "figure1.png"
    done = run_cli(
        "reproduce", "regression", "--data", train, "--test", test, "--splits", 2, "--epochs", 3,
        "--plot", picture, "-f", "json",
    )  # fmt: skip
    rows = json.loads(done.stdout)
    assert [row["printed"] for row in rows] == [0.19, 0.021, 0.186, 0.19, 0.020, 0.181]
    assert not any("error rate" in row["measure"] for row in rows), (
        "an example may have several labels"
    )
    assert picture.stat().st_size > 1000
    shown = run_cli("reproduce", "regression", "--data", train, "--splits", 1, "--epochs", 1)
    assert "λ = 1e-08 with softmax, 0.001 with sparsemax, as printed" in shown.stdout


def _write_idx(folder: Path, part: str, images: NDArray[np.uint8], labels: list[int]) -> Path:
    def packed(*shape: int, values: bytes) -> bytes:
        return bytes((0, 0, 8, len(shape))) + np.array(shape, ">u4").tobytes() + values

    content = packed(len(labels), values=bytes(labels))
    (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(content))
    path = folder / f"{part}-images-idx3-ubyte.gz"
    path.write_bytes(gzip.compress(packed(*images.shape, values=images.tobytes())))
    return path


def test_mnists_files_are_read(run_cli, tmp_path):
    """Each digit lights one pixel, so a linear model tells them apart; one test label is wrong."""
    labels = [n % 3 for n in range(30)]
    images = np.zeros((30, 2, 2), dtype=np.uint8)
    for image, label in zip(images, labels, strict=True):
        image.flat[label] = 255
    train = _write_idx(tmp_path, "train", images, labels)
    test = _write_idx(tmp_path, "t10k", images[:6], [*labels[:5], 0])
    data = read_labelled(train)
    assert data.features.max() == 1.0
    assert data.labels.argmax(axis=1).tolist() == labels
    done = run_cli(
        "reproduce", "regression", "--data", train, "--test", test, "--splits", 1, "-f", "json"
    )
    rows = {(row["activation"], row["measure"]): row for row in json.loads(done.stdout)}
    error = rows["sparsemax", "error rate, test, %"]
    assert (error["printed"], error["minimum"]) == (14.5, pytest.approx(100 / 6, abs=0.01))


def test_damaged_idx_files_are_refused(run_cli, tmp_path):
    images = np.zeros((20, 2, 2), dtype=np.uint8)
    path = _write_idx(tmp_path, "train", images, [0, 1] * 9)
    failed = run_cli("reproduce", "regression", "--data", path, check=False)
    assert failed.returncode == 1
    assert "20 pictures, but" in failed.stderr
    assert "has 18 labels" in failed.stderr
    path.write_bytes(gzip.decompress(path.read_bytes())[:-1])
    failed = run_cli("reproduce", "regression", "--data", path, check=False)
    assert "is not an IDX file of bytes with 3 axes, or is cut short" in failed.stderr
    path.write_bytes(b"\x1f\x8bdamaged")
    failed = run_cli("reproduce", "regression", "--data", path, check=False)
    assert (failed.returncode, failed.stderr.count("\n")) == (1, 1)


def test_fewer_examples_are_drawn_after_the_test_part(monkeypatch):
    fitted = []
    fit = ProbabilisticRegression.fit

    def spy(model: ProbabilisticRegression, x: ArrayLike, y: ArrayLike) -> ProbabilisticRegression:
        fitted.append(len(np.asarray(x)))
        return fit(model, x, y)

    monkeypatch.setattr(ProbabilisticRegression, "fit", spy)
    settings = RegressionSettings(epochs=1, splits=1, examples=20)
    result = reproduce_regression(settings=settings)
    assert fitted[5::6] == [20] * 4, "two models, each fitted twice"
    assert all(14 <= part <= 18 for fold in range(5) for part in fitted[fold::6]), "five folds"
    assert "Trained on 20 examples, drawn for each split." in result.notes()


def test_the_curves_say_where_intervals_are_apart():
    curves = RegularizerCurves(
        "Iris",
        np.array([0.1, 1.0, 10.0]),
        {"softmax": np.array([0.5, 0.4, 0.6]), "sparsemax": np.array([0.2, 0.3, 0.55])},
        {"softmax": np.array([0.1, 0.06, 0.01]), "sparsemax": np.array([0.1, 0.03, 0.05])},
    )
    assert curves.note() == (
        "Figure 1: lowest divergence at λ = 1 with softmax, 0.1 with sparsemax; the 95% interval "
        "of sparsemax is below that of softmax for 2 of 3 λ."
    )


def test_the_regularizer_is_chosen_on_the_users_own_data(tmp_path):
    path = _write_mulan(tmp_path / "mine.arff", 50, 3)
    data, settings = read_labelled(path), RegressionSettings(epochs=2, splits=1)
    result = reproduce_regression(data, settings=settings)
    curves = cross_validate_regularizers(data, settings, fitting="minimum")
    assert result.penalties == {
        name: curves.penalties[curves.means[name].argmin()] for name in ("softmax", "sparsemax")
    }
    assert result.printed == {}
    assert {row[2] for row in result.rows()} == {None}
    first, *others = result.notes()
    assert re.fullmatch("mine: λ = .* with softmax, .* with sparsemax, chosen by 5-fold .*", first)
    below = {
        (fitting, measure): result.found["sparsemax", fitting][measure]
        < result.found["softmax", fitting][measure]
        for fitting, measure in product(("adam", "minimum"), ("cv_js", "test_js"))
    }
    for line, ((fitting, measure), (is_below,)) in zip(others, below.items(), strict=True):
        assert line.startswith("Adam, 2 epochs, JS" if fitting == "adam" else "minimum, JS")
        assert ("5-fold" if measure == "cv_js" else "test") in line
        assert line.endswith(f": sparsemax below softmax in {int(is_below)} of 1 splits.")
    with pytest.raises(DataError, match="mine: has 50 examples, not 51"):
        reproduce_regression(data, settings=replace(settings, examples=51))
    with pytest.raises(DataError, match="too few for 5 folds"):
        reproduce_regression(replace(data, labels=data.labels[:9]))
    other = replace(data, classes=("beach", "sea"))
    with pytest.raises(DataError, match="has class 'sea', which mine lacks"):
        reproduce_regression(data, other, settings)
