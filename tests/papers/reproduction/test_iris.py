"""The Iris data, and the rows of Madsen et al. (2017) that are computed from them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from coverage_eval.papers.reproduction.iris import IrisReproduction, load_iris
from tests.conftest import RunCli


def test_the_flowers_are_those_of_scikit_learn() -> None:
    theirs = pytest.importorskip("sklearn.datasets").load_iris()
    measurements, species = load_iris()
    np.testing.assert_array_equal(measurements, theirs.data)
    np.testing.assert_array_equal(species, theirs.target_names[theirs.target])


def test_fifty_flowers_of_each_species() -> None:
    measurements, species = load_iris()
    assert measurements.shape == (150, 4)
    names, counts = np.unique(species, return_counts=True)
    assert names.tolist() == ["setosa", "versicolor", "virginica"]
    assert counts.tolist() == [50, 50, 50]
    # The means of the species, as Fisher (1936) has them.
    means = [measurements[species == name].mean(axis=0) for name in names]
    np.testing.assert_allclose(
        means,
        [[5.006, 3.428, 1.462, 0.246], [5.936, 2.770, 4.260, 1.326], [6.588, 2.974, 5.552, 2.026]],
        atol=1e-9,
    )


def test_reproduction(run_cli: RunCli) -> None:
    rows = json.loads(run_cli("reproduce", "iris", "--splits", 1, "-f", "json").stdout)
    assert [row["printed"] for row in rows[:4]] == [0.13, 0.01, 0.138, 20.0]
    assert len(rows) == 8
    assert set(rows[0]) == set(IrisReproduction.header)
    soft, sparse = rows[0], rows[4]
    adam, minimum = IrisReproduction.header[3], IrisReproduction.header[5]
    # Direction and size of the printed effect, where training stops early; gone at the minimum.
    assert sparse[adam] < soft[adam] - 0.02
    assert abs(soft[adam] - 0.13) < 0.06
    assert abs(sparse[adam] - 0.09) < 0.06
    assert max(soft[minimum], sparse[minimum]) < 0.06
