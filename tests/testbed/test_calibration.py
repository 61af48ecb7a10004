"""Calibrations: they hold on text that they were not learnt from, and are saved with the model."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.data.dataset import Row
from coverage_eval.errors import DataError
from coverage_eval.metrics.coverage_losses import Calibration
from coverage_eval.metrics.omission_finder import OmissionFinder
from coverage_eval.testbed import learn_calibration
from coverage_eval.testbed.detection import calibration_error, reliability_statistics
from coverage_eval.testbed.grammar import generate
from coverage_eval.testbed.injection import CleanSegment, Injection
from coverage_eval.testbed.learn_calibration import LabelledScore, calibrate, fit_calibration
from coverage_eval.testbed.word_pool import WordPool
from tests.metrics.omissions.conftest import TRAINING, equipped


@pytest.fixture(scope="module")
def model() -> Iterator[ModelAligner]:
    """A model that calibrations may be attached to."""
    with equipped(TRAINING) as aligner:
        yield aligner


OWN, OTHER = generate(400, seed=3), generate(1500, seed=4)


def test_probabilities_hold_on_other_text(model):
    """The other text is of the same kind and has the same rate of errors."""
    finder = OmissionFinder.of(model)
    rows = [Row((pair.target,), (), pair.source) for pair in OWN]
    finder = finder.calibrated(calibrate(finder, rows, rate=0.05))
    assert finder.calibration is not None
    assert finder.calibration.error < 0.03
    pool = WordPool.of(pair.target for pair in OTHER)
    injection = Injection(["omission-phrase", "omission-content"], 0.05, pool, seed=9)
    spoilt = [injection.spoil(CleanSegment(p.target, p.source, p.links)) for p in OTHER]
    rows = [Row((one.words,), (), p.source) for one, p in zip(spoilt, OTHER, strict=True)]
    found = np.array([one.probability for one in finder.find(rows)], dtype=float)
    labels = np.array([any(error.source for error in one.errors) for one in spoilt])
    assert calibration_error(reliability_statistics(labels, found).sum(axis=0)) < 0.03
    assert found.mean() == pytest.approx(labels.mean(), abs=0.03)
    assert found[labels].mean() > 2 * found[~labels].mean()


def test_a_calibration_is_saved_with_the_model(model, tmp_path):
    finder = OmissionFinder.of(model, "target")
    assert finder.calibration is None
    rows = [Row((pair.target,), (), pair.source) for pair in OWN[:50]]
    made = calibrate(finder, rows)
    assert made == calibrate(finder, rows)
    assert made != calibrate(finder, rows, seed=1)
    finder = finder.calibrated(made)
    finder.aligner.save(tmp_path / "model")
    with Aligner.load(tmp_path / "model") as loaded:
        assert OmissionFinder.of(loaded, "target").calibration == made
        assert OmissionFinder.of(loaded, referenced=True).calibration is None
        assert dict(OmissionFinder.of(loaded, "target").settings)["cal"] == made.digest
    assert re.fullmatch("[0-9a-f]{8}", made.digest)


def test_weights_are_recovered():
    generator = np.random.default_rng(1)
    weights = (-3.0, 0.5, 0.4)
    truth = Calibration(weights, 3, 29, 0.02, 1, 0.0)
    surprises, lengths = generator.gumbel(size=20_000), generator.integers(3, 30, 20_000)
    wrong = generator.random(20_000) < truth.probabilities(surprises, lengths)
    examples = [
        LabelledScore(number, *item)
        for number, item in enumerate(
            zip(surprises.tolist(), lengths.tolist(), wrong.tolist(), strict=True)
        )
    ]
    found = fit_calibration(examples, 0.02)
    assert found.weights == pytest.approx(weights, abs=0.35)
    assert found.error < 0.01
    assert found.segments == 20_000
    assert (found.shortest, found.longest) == (3, 29)
    logit = -3 + 0.5 * 2 + 0.4 * np.log(9)
    assert truth.probabilities(np.array([2.0]), np.array([8])) == pytest.approx(expit(logit))


@given(
    st.lists(st.tuples(st.floats(-5, 50), st.integers(0, 300), st.booleans()), min_size=40),
    st.lists(st.tuples(st.floats(-5, 500), st.integers(0, 5000)), min_size=1, max_size=9),
)
def test_probabilities_never_run_backwards(learnt, asked):
    """Whatever they were learnt from: they rise with the surprise, and beyond the lengths that
    were learnt from, the length moves nothing."""
    examples = [LabelledScore(number, *item) for number, item in enumerate(learnt)]
    examples += [LabelledScore(n, 1.0, 5, n % 2 == 0) for n in range(20)]
    made = fit_calibration(examples, 0.02)
    surprises, lengths = (np.array(column, dtype=float) for column in zip(*asked, strict=True))
    found = made.probabilities(surprises, lengths)
    assert (made.probabilities(surprises + 1, lengths) >= found).all()
    assert made.probabilities(surprises, np.clip(lengths, made.shortest, made.longest)) == (
        pytest.approx(found)
    )


def test_weights_are_those_of_scikit_learn_on_standardised_features():
    generator = np.random.default_rng(3)
    features = generator.normal([0, 5, -2], [1, 0.3, 7], (400, 3))
    features[:, 0] = 1
    labels = generator.random(400) < expit(2 * (features[:, 1] - 5) + 0.2 * features[:, 2])
    means, spreads = features[:, 1:].mean(axis=0), features[:, 1:].std(axis=0)
    theirs = LogisticRegression(C=1 / learn_calibration.RIDGE, tol=1e-9)
    theirs.fit((features[:, 1:] - means) / spreads, labels)
    slopes = theirs.coef_[0] / spreads
    expected = (theirs.intercept_[0] - slopes @ means, *slopes)
    assert learn_calibration.fit_weights(features, labels) == pytest.approx(expected, rel=1e-4)


def test_constant_features_get_weight_0():
    """If all segments are equally long, the weights of the lengths are 0, not NaN."""
    examples = [LabelledScore(n, float(n % 7), 8, n % 7 > 3) for n in range(200)]
    found = fit_calibration(examples, 0.02)
    assert np.isfinite(found.weights).all()
    assert found.weights[1] > 0
    assert found.weights[2] == pytest.approx(0.0, abs=1e-6)
    probabilities = found.probabilities(np.arange(7.0), np.full(7, 8)).tolist()
    assert probabilities == sorted(probabilities)
    assert probabilities[3] < 0.5 < probabilities[4]


def test_ten_segments_with_errors_and_ten_without_are_needed():
    examples = [LabelledScore(n, float(n), 8, n >= 10) for n in range(20)]
    assert fit_calibration(examples, 0.02).segments == 20
    with pytest.raises(
        DataError, match="9 of 19 segments got errors; calibration needs at least 10"
    ):
        fit_calibration(examples[:-1], 0.02)
    with pytest.raises(DataError, match="10 of 19 segments got errors"):
        fit_calibration(examples[1:], 0.02)


def test_too_little_text_is_refused(model):
    finder = OmissionFinder.of(model)
    rows = [Row((pair.target,), (), pair.source) for pair in OWN[:2]]
    with pytest.raises(DataError, match="needs at least 10 with and 10 without: use more text"):
        calibrate(finder, rows)
    with pytest.raises(DataError, match="has no words"):
        calibrate(finder, [])


REST = '"shortest": 1, "longest": 9, "rate": 1, "segments": 1, "error": 0}'


@pytest.mark.parametrize("content", ["", "[]", '{"weights": [1]}', '{"weights": [1], ' + REST,
    '{"weights": [0, NaN, 0], ' + REST, '{"weights": [0, 1e308, 0], ' + REST,
    '{"weights": [0, 1' + 400 * "0" + ', 0], ' + REST, '{"weights": [0, -1, 0], ' + REST,
    ])  # fmt: skip
def test_a_file_that_holds_no_calibration_is_refused(tmp_path, content):
    (tmp_path / "file").write_text(content)
    with pytest.raises(DataError, match="file of the model is no calibration"):
        Calibration.load(tmp_path / "file")
