"""The finder of omissions: an oracle in plain loops, injected errors, invariants, arguments."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.data.dataset import Row
from coverage_eval.errors import DataError
from coverage_eval.metrics.omissions import (
    WITH_REFERENCES,
    WITHOUT_REFERENCES,
    FoundSegment,
    FoundSpan,
    OmissionFinder,
    Omissions,
    add_omission_data,
)
from coverage_eval.testbed.grammar import generate
from coverage_eval.testbed.injection import CleanSegment, Injection
from coverage_eval.testbed.word_pool import WordPool
from tests.aligner.test_carried_golden import tanaka
from tests.metrics.omissions.conftest import TRAINING, equipped

TEST = generate(300, seed=2)
SOURCES = [" ".join(pair.source) for pair in TEST]
TARGETS = [" ".join(pair.target) for pair in TEST]
POOL = WordPool.of(pair.target for pair in TEST)


def spoilt(kind: str, rate: float, repair: str = "none") -> tuple[list[Row], list[set[int]]]:
    """The test set with errors, and the source positions that each segment has lost."""
    injection = Injection([kind], rate, POOL, seed=1, repair=repair)
    rows, lost = [], []
    for pair, target in zip(TEST, TARGETS, strict=True):
        words, errors = injection.spoil(CleanSegment(pair.target, pair.source, pair.links))
        rows.append(Row((words,), (target,), pair.source))
        lost.append({place for error in errors for place in error.source or ()})
    return rows, lost


def without_references(rows: list[Row]) -> list[Row]:
    return [row._replace(references=()) for row in rows]


def test_scores_are_those_of_plain_loops(special: ModelAligner) -> None:
    rows, _ = spoilt("omission-phrase", 0.1)
    stems = special.model.attached_model("stems.model")
    assert stems is not None
    for referenced in (False, True):
        finder = OmissionFinder.of(special, referenced=referenced)
        used = rows[:20] if referenced else without_references(rows[:20])
        for row, found in zip(used, finder.find(used), strict=True):
            expected = [
                by_loops(row, model, unit.normal.words, unit.normal.other, cut)
                for (model, cut), unit in zip(
                    ((special.model, 100), (stems, 5)), finder.units, strict=True
                )
                if unit.normal
            ]
            losses = [sum(pair) / 2 for pair in zip(*expected, strict=True)]
            assert found.losses == pytest.approx(losses)
            penalty = 0.1 if referenced else 0.4
            places = range(len(losses) + 1)
            best = max(sum(x - penalty for x in losses[a:b]) for a in places for b in places[a:])
            share = sum(x for x in losses if x > 0) / 4
            assert found.score == pytest.approx(best + share)


def by_loops(row, model, words, other, cut):  # type: ignore[no-untyped-def]
    """The losses of words, or of stems if words are cut."""
    source = [word[:cut] for word in row.source]
    hypothesis = [word[:cut] for word in row.hypotheses[0]]
    covered = cover_by_loops(model, source, hypothesis)
    normal = [words.get(word, other) for word in source]
    if not row.references:
        return [(m - c) / (s + 0.3) for (m, s), c in zip(normal, covered, strict=True)]
    by_reference = cover_by_loops(model, source, [w[:cut] for w in row.references[0].split()])
    return [r - c for r, c in zip(by_reference, covered, strict=True)]


def cover_by_loops(model, source, target):  # type: ignore[no-untyped-def]
    (posterior,) = model.posteriors([(source, target)])
    return [min(1.0, sum(float(row[i]) for row in posterior.matrix)) for i in range(len(source))]


def auroc(finder: OmissionFinder, rows: list[Row], lost: list[set[int]]) -> float:
    scores = np.array([found.score for found in finder.find(rows)])
    is_bad = np.array([bool(places) for places in lost])
    good, bad = scores[~is_bad], scores[is_bad]
    return float(mannwhitneyu(bad, good).statistic / (len(good) * len(bad)))


@pytest.mark.parametrize("repair", ["none", "filler", "detached"])
def test_segments_with_omissions_stand_out(special: ModelAligner, repair: str) -> None:
    rows, lost = spoilt("omission-phrase", 0.1, repair)
    assert auroc(OmissionFinder.of(special, referenced=True), rows, lost) > 0.95
    assert auroc(OmissionFinder.of(special), without_references(rows), lost) > 0.9


def test_omissions_stand_out_against_sources_without_spaces() -> None:
    """Japanese cut into letters; with the penalty of words the AUROC is .64."""
    pairs = [(japanese.replace(" ", ""), english) for japanese, english in tanaka()]
    test, training = pairs[2600:], pairs[:2600]
    outputs = [english for _, english in test]
    for _, english in test:  # leave out a quarter of the words in the middle
        words = english.split()
        start, length = len(words) // 3, max(1, len(words) // 4)
        outputs.append(" ".join(words[:start] + words[start + length :]))
    sources = 2 * [japanese for japanese, _ in test]
    with Aligner.train_pairs(training, src_tokenize="char") as aligner:
        add_omission_data(aligner, lambda: training)
        assert OmissionFinder.of(aligner, "target").scan == WITHOUT_REFERENCES
        assert OmissionFinder.of(aligner, referenced=True).scan == WITH_REFERENCES
        found = OmissionFinder.of(aligner).find_texts(outputs, sources)
    good, bad = [[item.score for item in found[half]] for half in (slice(400), slice(400, None))]
    assert mannwhitneyu(bad, good).statistic / (len(good) * len(bad)) > 0.67


def test_a_model_not_made_for_omissions_still_scores(plain: ModelAligner) -> None:
    rows, lost = spoilt("omission-phrase", 0.1)
    finder = OmissionFinder.of(plain)
    assert [unit.name for unit in finder.units] == ["words"]
    assert auroc(finder, without_references(rows), lost) > 0.8
    assert auroc(OmissionFinder.of(plain, referenced=True), rows, lost) > 0.9


def test_spans_are_where_the_words_are_missing(special: ModelAligner) -> None:
    rows, lost = spoilt("omission-phrase", 0.1)
    for used, referenced in ((rows, True), (without_references(rows), False)):
        found = list(OmissionFinder.of(special, referenced=referenced).find(used))
        named = [{n for span in one.spans for n in range(span.start, span.end)} for one in found]
        right = sum(len(a & b) for a, b in zip(named, lost, strict=True))
        assert right > 0.55 * sum(map(len, named))
        assert right > 0.8 * sum(map(len, lost))
        for one, pair in zip(found, TEST, strict=True):
            assert all(span.words == pair.source[span.start : span.end] for span in one.spans)


@pytest.mark.parametrize("referenced", [True, False])
@pytest.mark.parametrize("kind", ["omission-word", "omission-phrase", "early-stop"])
def test_more_errors_never_lower_the_mean_score(
    special: ModelAligner, kind: str, referenced: bool
) -> None:
    finder = OmissionFinder.of(special, referenced=referenced)
    means = []
    for rate in (0.0, 0.01, 0.02, 0.05):
        rows, _ = spoilt(kind, rate)
        used = rows if referenced else without_references(rows)
        means.append(np.mean([found.score for found in finder.find(used)]))
    assert means == sorted(means)
    assert means[0] < means[-1]


def test_parts_of_a_corpus_score_as_in_the_whole(special: ModelAligner) -> None:
    finder = OmissionFinder.of(special)
    rows = without_references(spoilt("omission-phrase", 0.1)[0])
    whole = list(finder.find(rows))
    parts = [*finder.find(rows[:100]), *finder.find(rows[100:])]
    assert [(one.score, one.spans) for one in whole] == [(one.score, one.spans) for one in parts]


def test_additions_are_omissions_with_the_sides_swapped(special: ModelAligner) -> None:
    """A model's reverse direction is the forward direction of a model with the sides swapped."""
    rows, _ = spoilt("addition", 0.1)
    rows = without_references(rows)[:60]
    turned = [Row((row.source or (),), (), row.hypotheses[0]) for row in rows]
    with equipped([(target, source) for source, target in TRAINING]) as other:
        expected = list(OmissionFinder.of(other).find(turned))
    for one, two in zip(OmissionFinder.of(special, "target").find(rows), expected, strict=True):
        assert one.score == pytest.approx(two.score, abs=1e-3)
        assert one.losses == pytest.approx(two.losses, abs=1e-3)


def test_added_words_stand_out(special: ModelAligner) -> None:
    injection = Injection(["addition"], 0.1, POOL, seed=1)
    segments = [injection.spoil(CleanSegment(pair.target)) for pair in TEST]
    rows = [Row((s.words,), (), pair.source) for s, pair in zip(segments, TEST, strict=True)]
    has_some = [{1} if segment.errors else set() for segment in segments]
    assert auroc(OmissionFinder.of(special, "target"), rows, has_some) > 0.8


def test_segments_with_an_empty_side_are_scored(special: ModelAligner) -> None:
    rows = [Row(("",), (), "der hund schläft ."), Row(("a dog",), (), ""), Row(("",), (), "")]
    found = list(OmissionFinder.of(special).find(rows))
    assert [len(one.losses) for one in found] == [4, 0, 0]
    assert found[0].score > 2
    assert [one.score for one in found[1:]] == [0, 0]
    assert next(OmissionFinder.of(special, "target").find(rows)).score == 0
    several = [Row(("the dog",), ("the dog sleeps", ""), "der hund schläft")]
    (one,) = OmissionFinder.of(special, referenced=True).find(several)
    assert one.losses[:2].max() < 0.5  # an empty reference expects nothing


def test_a_saved_model_finds_the_same(special: ModelAligner, tmp_path: Path) -> None:
    special.save(tmp_path / "model")
    rows = without_references(spoilt("omission-phrase", 0.1)[0])[:50]
    finder = OmissionFinder.of(special)
    with Aligner.load(tmp_path / "model") as loaded:
        again = OmissionFinder.of(loaded)
        assert again.settings == finder.settings
        assert [one.score for one in again.find(rows)] == [one.score for one in finder.find(rows)]


def test_the_signature_lists_what_affects_the_score(
    special: ModelAligner, plain: ModelAligner
) -> None:
    made = Omissions(special, 4.0, referenced=False)
    signature = str(made.signature)
    normal = ",".join(unit.normal.digest for unit in made.finder.units if unit.normal)
    for part in ("Omissions|", "|dir:forward|", "units:words+stems:", f"normal:{normal}|"):
        assert part in signature
    assert signature.endswith("|cal:none|at:score>=4|version:0.1.0")
    assert "|units:words|normal:none|" in str(Omissions(plain, referenced=False).signature)


def test_wrong_arguments_are_refused(special: ModelAligner) -> None:
    with pytest.raises(DataError, match="links from files have no probabilities"):
        OmissionFinder.of(Aligner.from_links([[(0, 0)]], [[(0, 0)]]))
    with pytest.raises(ValueError, match="side is one of source, target"):
        OmissionFinder.of(special, "both")
    with pytest.raises(ValueError, match="without references"):
        OmissionFinder.of(special, "target", referenced=True)
    rows, _ = spoilt("omission-word", 0.1)
    with pytest.raises(DataError, match="made for rows with references, or without"):
        list(OmissionFinder.of(special).find(rows))
    with pytest.raises(DataError, match="source"):
        list(OmissionFinder.of(special).find([Row(("a",))]))


def test_segments_count_from_the_threshold_on(special: ModelAligner) -> None:
    share = Omissions(special, referenced=False)
    segment = FoundSegment(5.0, (), np.zeros(1), 1, 1)
    assert share.is_found(segment)
    assert not share.is_found(FoundSegment(3.0, (), np.zeros(1), 1, 1))
    referenced = Omissions(special)
    assert referenced.is_found(FoundSegment(1.5, (), np.zeros(1), 1, 1))
    assert np.isnan(share.formula(np.array([0, 0])))
    assert share.formula(np.array([1, 4])) == 25


@pytest.mark.parametrize("threshold", [0.0, 0.2, 2.0, None])
def test_a_segment_that_counts_has_a_span(special: ModelAligner, threshold: float | None) -> None:
    metric = Omissions(special, threshold, referenced=False)
    rows = without_references(spoilt("omission-word", 0.02)[0])
    found = list(metric.finder.find(rows))
    counting = [one for one in found if metric.is_found(one)]
    assert counting
    assert all(one.spans for one in counting)
    for one in counting:
        if (
            len(one.spans) == 1 and one.spans[0].strength < 0
        ):  # no run: the word with the greatest loss
            assert one.spans[0].start == np.argmax(one.losses)
    weak = any(one.spans[0].strength < 0 for one in counting)
    assert weak == (threshold in {0.0, 0.2})


def test_a_printed_span_has_its_words_positions_and_strength() -> None:
    """Positions count from 1; a span of several words has its first and its last."""
    assert str(FoundSpan(3, 4, ("a",), 1.5)) == "a at 4: 1.50"
    assert str(FoundSpan(3, 5, ("a", "b"), 1.5)) == "a b at 4-5: 1.50"
    assert str(FoundSpan(0, 3, ("a", "b", "c"), 2)) == "a b c at 1-3: 2.00"
