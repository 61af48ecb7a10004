"""The distribution of best runs: simulated walks, another text, and shares of errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.align.aligner import Aligner
from coverage_eval.core.batches import Row
from coverage_eval.coverage.coverage_losses import best_run, strongest_runs
from coverage_eval.coverage.null_scores import (
    AdaptedNull,
    NullScores,
    are_flagged,
    error_probabilities,
    estimate_share,
    fit_quantile,
    fit_share,
)
from coverage_eval.coverage.omission_finder import OmissionFinder
from tests.coverage.conftest import TRAINING
from tests.grammar import generate


def walks(texts: int, seed: int, shortest: int = 5, longest: int = 200) -> list[np.ndarray]:
    """Losses of complete translations: one value in five is above 0."""
    generator = np.random.default_rng(seed)
    lengths = np.exp(generator.uniform(np.log(shortest), np.log(longest), texts)).round()
    return [generator.normal(-0.7, 0.8, int(length)) for length in lengths]


def measured(texts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    sizes = np.array(list(map(len, texts)))
    return strongest_runs(np.concatenate(texts), sizes, 0.0), sizes.astype(float)


def learnt(texts: list[np.ndarray]) -> NullScores:
    strengths, sizes = measured(texts)
    return NullScores.learn(strengths, strengths, sizes)


NULL = learnt(walks(3000, 1))


def test_the_decay_is_that_of_karlin_and_altschul():
    """λ is the solution of E[exp(λ · value)] = 1: 2 · 0.7 / 0.8² for these normal values."""
    assert pytest.approx(2.19, abs=0.15) == NULL.decay
    assert NULL.texts == 3000
    assert NULL.longest == 200


@pytest.mark.parametrize("asked", [0.01, 0.03, 0.1])
@pytest.mark.parametrize(("shortest", "longest"), [(5, 12), (12, 50), (50, 200), (200, 800)])
def test_as_many_false_alarms_as_asked_at_every_length(asked, shortest, longest):
    """Also in texts four times as long as any that it was learnt from."""
    p_values = NULL.p_values(*measured(walks(4000, 2, shortest, longest)))
    assert asked / 1.5 < np.mean(p_values <= asked) < 1.5 * asked


@given(
    st.lists(st.tuples(st.floats(0, 500), st.integers(0, 10_000)), min_size=2, max_size=9),
    st.floats(0.001, 1.0),
)
def test_stronger_runs_are_rarer_and_more_probably_errors(asked, p_value):
    strengths, lengths = (np.array(column, dtype=float) for column in zip(*asked, strict=True))
    p_values = NULL.p_values(strengths, lengths)
    assert ((p_values >= 0) & (p_values <= 1)).all()
    assert (NULL.p_values(strengths + 1, lengths) <= p_values).all()
    assert (NULL.p_values(strengths, lengths + 1) >= p_values).all()
    order = np.argsort(p_values)
    assert (np.diff(error_probabilities(p_values, 0.05)[order]) <= 1e-12).all()
    adapted = AdaptedNull(**vars(NULL), share=p_value * 0.9)
    strength = adapted.min_strength(int(lengths[0]))
    assert adapted.probabilities(np.array([strength + 1e-6]), lengths[:1]) >= 0.5 - 1e-6
    if strength > 1e-3:
        assert adapted.probabilities(np.array([strength - 1e-3]), lengths[:1]) < 0.5


def test_another_text_is_judged_by_its_own_bulk():
    """Its runs are twice as frequent; a tenth of its outputs have an error, which hides nothing."""
    texts = walks(2000, 3)
    for one in texts[::10]:
        one[: max(3, len(one) // 3)] = 3.0
    strengths, lengths = measured(texts)
    assert NULL.adapt(strengths, lengths).factor == pytest.approx(1.0, abs=0.15)
    twice = np.maximum.reduceat(strengths, np.arange(0, len(strengths), 2))
    lengths = lengths[::2]
    assert 1.3 < NULL.adapt(twice, lengths).factor < 3
    assert NULL.adapt(strengths[:49], np.ones(49)) == AdaptedNull(**vars(NULL))  # too few segments


def test_the_share_of_errors_is_that_of_the_text():
    """A little more, if errors are as strong as here: people's are of all sizes."""
    for every in (10, 3):
        texts = walks(2000, 4)
        for one in texts[::every]:
            one[: max(4, len(one) // 3)] = 4.0
        adapted = NULL.adapt(*measured(texts))
        assert 1 / every < adapted.share < 2.2 / every
        wrong = np.arange(2000) % every == 0
        probabilities = adapted.probabilities(*measured(texts))
        assert probabilities[wrong].mean() > 0.8
        assert probabilities[~wrong].mean() < 0.3
    assert NULL.adapt(*measured(walks(2000, 5))).share < 0.02


def test_a_text_full_of_omissions_does_not_hide_them():
    texts = walks(2000, 6, 10, 40)
    for one in texts:
        one[: len(one) // 2] = 3.0
    strengths, lengths = measured(texts)
    assert np.mean(NULL.adapt(strengths, lengths).p_values(strengths, lengths) <= 0.04) > 0.95


@given(
    st.lists(
        st.lists(st.integers(-8, 8).map(lambda n: n / 4), max_size=12).map(
            lambda values: np.array(values, dtype=float)
        ),
        min_size=1,
        max_size=6,
    )
)
def test_runs_of_many_segments_are_those_of_each(losses):
    expected = []
    for one in losses:
        run = best_run(one - 0.25)
        expected.append(0.0 if run is None else run.sum)
    sizes = np.array(list(map(len, losses)))
    assert strongest_runs(np.concatenate(losses), sizes, 0.25).tolist() == expected


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_a_quantile_has_its_share_of_scores_below(quantile):
    generator = np.random.default_rng(1)
    lengths = generator.integers(1, 100, 2000)
    scores = 1 + 0.2 * lengths + lengths * generator.uniform(0, 0.1, 2000)
    start, slope = fit_quantile(lengths, scores, quantile)
    assert slope == pytest.approx(0.2 + 0.1 * quantile, abs=0.01)
    assert np.mean(scores <= start + slope * lengths) == pytest.approx(quantile, abs=0.01)


@pytest.mark.parametrize("outputs", [30, 100, 1000])
@pytest.mark.parametrize("limit", [0.0, 0.02])
def test_a_gate_stays_open_for_complete_text(outputs, limit):
    """P-values of complete text are even; at most one file in twenty closes it by chance."""
    generator, closed = np.random.default_rng(1), 0
    for _ in range(200):
        p_values = generator.uniform(size=outputs)
        null = AdaptedNull(0.2, 1.7, share=fit_share(p_values))
        probabilities = error_probabilities(p_values, null.share)
        certain = np.zeros(outputs, dtype=bool)
        closed += estimate_share(probabilities, certain, null, limit).is_above
    assert closed <= 10


@pytest.mark.parametrize("certain", [0, 10, 50])
@pytest.mark.parametrize("share", [0.01, 0.02, 0.05, 0.1])
def test_a_gate_estimates_the_share_of_errors(share, certain):
    """Plain errors are counted once, and certain ones exactly."""
    generator = np.random.default_rng(1)
    p_values = generator.uniform(size=1000)
    p_values[: round(1000 * share)] = 1e-6
    null = AdaptedNull(0.2, 1.7, share=fit_share(p_values))
    probabilities = np.concatenate([error_probabilities(p_values, null.share), np.ones(certain)])
    found = estimate_share(probabilities, np.arange(1000 + certain) >= 1000, null, limit=0.2)
    expected = (1000 * share + certain) / (1000 + certain)
    assert found.estimate == pytest.approx(expected, rel=1 / 4)
    assert found.certain == certain
    assert not found.is_above


@pytest.mark.parametrize("share", [0.02, 0.08, 0.2])
def test_an_estimate_follows_the_flags_where_they_are_sure(share):
    """Of complete text with lower probabilities than those that the model has learnt."""
    probabilities = np.full(250, 0.001)
    probabilities[: round(250 * share)] = 0.999
    null = AdaptedNull(0.2, 1.7, share=share)
    found = estimate_share(probabilities, np.zeros(250, dtype=bool), null, limit=0.01)
    assert found.estimate == pytest.approx(share, rel=0.02)
    assert found.is_above


def test_certain_errors_close_a_gate_by_themselves():
    clean, certain, null = np.full(100, 0.01), np.arange(100) < 3, AdaptedNull(0.2, 1.7)
    found = estimate_share(clean, certain, null, 0.02)
    assert (found.certain, found.estimate) == (3, 0.03)
    assert found.has_too_many_certain
    assert found.is_above
    assert not estimate_share(clean, certain, null, 0.03).has_too_many_certain
    assert not estimate_share(np.array([]), np.array([], dtype=bool), null, 0.0).is_above


def test_a_flag_is_an_even_chance_or_a_certain_error():
    probabilities, certain = np.array([0.49, 0.5, 0.1]), np.array([False, False, True])
    assert are_flagged(probabilities, certain).tolist() == [False, True, True]


@pytest.mark.slow
def test_complete_translations_are_rarely_flagged(special):
    """Text of the same grammar that the model has not seen, singly and four lines joined."""
    other = generate(1000, seed=8)
    for size in (1, 4):
        groups = [other[n : n + size] for n in range(0, len(other), size)]
        rows = [
            Row(
                ([word for pair in group for word in pair.target],),
                (),
                [word for pair in group for word in pair.source],
            )
            for group in groups
        ]
        for side in ("source", "target"):
            found = list(OmissionFinder(special, side).find(rows))
            assert np.mean([one.is_flagged for one in found]) < 0.03
            assert np.mean([one.p_value <= 0.1 for one in found]) < 0.15


def test_a_model_keeps_what_complete_translations_score(special, plain):
    model = OmissionFinder(special).model
    assert model.null == model.nulls["alone"]
    assert OmissionFinder(special, referenced=True).model.null == model.nulls["references"]
    assert model.null.longest >= 200
    assert model.null.usual[1] > 0
    unprepared = OmissionFinder(plain).model
    assert unprepared.null == unprepared.constants.null


def test_a_short_training_text_teaches_no_distribution():
    from coverage_eval.coverage.training import add_omission_data

    pairs = TRAINING[:60]
    with Aligner.train_pairs(pairs) as aligner:
        add_omission_data(aligner, lambda: pairs)
        finder = OmissionFinder(aligner)
        assert finder.model.is_prepared
        assert not finder.model.nulls
