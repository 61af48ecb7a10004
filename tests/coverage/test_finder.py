"""The finder of omissions: an oracle in plain loops, injected errors, invariants, arguments."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from coverage_eval.align.aligner import Aligner
from coverage_eval.core.batches import ONE_SYSTEM, Row, RowSample
from coverage_eval.coverage.null_scores import WITH_REFERENCES, WITHOUT_REFERENCES
from coverage_eval.coverage.omission_finder import CERTAIN, FLAG_PROBABILITY, OmissionFinder
from coverage_eval.coverage.omissions import Omissions
from coverage_eval.coverage.training import add_omission_data
from tests.aligner.test_carried_golden import tanaka
from tests.coverage.conftest import TRAINING, equipped
from tests.grammar import generate
from tests.planting import CleanSegment, Injection, WordPool

TEST = generate(300, seed=2)
SOURCES = [" ".join(pair.source) for pair in TEST]
TARGETS = [" ".join(pair.target) for pair in TEST]
POOL = WordPool.of(pair.target for pair in TEST)


def spoilt(kind: str, rate: float, repair: str = "none") -> tuple[list[Row], list[set[int]]]:
    """The test set with errors, and the source positions that each segment has lost."""
    injection = Injection(kind, rate, POOL, seed=1, repair=repair)
    rows, lost = [], []
    for pair, target in zip(TEST, TARGETS, strict=True):
        words, errors = injection.corrupt(CleanSegment(pair.target, pair.source, pair.links))
        rows.append(Row((words,), (target,), pair.source))
        lost.append({place for error in errors for place in error.source or ()})
    return rows, lost


def without_references(rows: list[Row]) -> list[Row]:
    return [row._replace(references=()) for row in rows]


def test_scores_are_those_of_plain_loops(special):
    rows, _ = spoilt("omission-phrase", 0.1)
    stems = special.model.attached_model("stems.model")
    assert stems is not None
    for referenced in (False, True):
        finder = OmissionFinder(special, referenced=referenced)
        used = rows[:10] if referenced else without_references(rows[:10])
        for row, found in zip(used, finder.find(used), strict=True):
            expected = [
                by_loops(row, model, unit.normal.words, unit.normal.other, cut)
                for (model, cut), unit in zip(
                    ((special.model, 100), (stems, 5)), finder.model.units, strict=True
                )
                if unit.normal
            ]
            losses = [sum(pair) / 2 for pair in zip(*expected, strict=True)]
            assert found.losses == pytest.approx(losses)
            penalty = 0.1 if referenced else 0.3
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
def test_segments_with_omissions_stand_out(special, repair):
    rows, lost = spoilt("omission-phrase", 0.1, repair)
    assert auroc(OmissionFinder(special, referenced=True), rows, lost) > 0.95
    assert auroc(OmissionFinder(special), without_references(rows), lost) > 0.9


@pytest.mark.slow
def test_omissions_stand_out_against_sources_without_spaces():
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
        assert OmissionFinder(aligner, "target").model.constants == WITHOUT_REFERENCES
        assert OmissionFinder(aligner, referenced=True).model.constants == WITH_REFERENCES
        found = OmissionFinder(aligner).find_texts(outputs, sources)
    good, bad = [[item.score for item in found[half]] for half in (slice(400), slice(400, None))]
    assert mannwhitneyu(bad, good).statistic / (len(good) * len(bad)) > 0.67


def test_a_model_not_made_for_omissions_still_scores(plain):
    rows, lost = spoilt("omission-phrase", 0.1)
    finder = OmissionFinder(plain)
    assert len(finder.model.units) == 1
    assert auroc(finder, without_references(rows), lost) > 0.8
    assert auroc(OmissionFinder(plain, referenced=True), rows, lost) > 0.9


def test_spans_are_where_the_words_are_missing(special):
    rows, lost = spoilt("omission-phrase", 0.1)
    for used, referenced in ((rows, True), (without_references(rows), False)):
        finder = OmissionFinder(special, referenced=referenced)
        found = list(finder.find(used))
        named = [
            {one.words.spans.index(span) for mark in one.marks for span in mark.spans}
            for one in found
        ]
        right = sum(len(a & b) for a, b in zip(named, lost, strict=True))
        assert right > 0.5 * sum(map(len, named))
        assert right > 0.6 * sum(map(len, lost))
        for one, pair in zip(found, TEST, strict=True):
            for mark in one.marks:
                assert mark.side == "source"
                assert mark.text in " ".join(pair.source)
                assert [one.words.text[slice(*span)] for span in mark.spans] == mark.text.split()


def test_parts_of_a_corpus_score_as_in_the_whole(special):
    finder = OmissionFinder(special)
    rows = without_references(spoilt("omission-phrase", 0.1)[0])
    finder = finder.adapt_to_sample(RowSample(rows, [ONE_SYSTEM]))
    whole = list(finder.find(rows))
    parts = [*finder.find(rows[:100]), *finder.find(rows[100:])]
    assert [(one.score, one.marks) for one in whole] == [(one.score, one.marks) for one in parts]


@pytest.mark.slow
def test_additions_are_omissions_with_the_sides_swapped(special):
    """A model's reverse direction is the forward direction of a model with the sides swapped.

    Training pairs are cut where the source is, so a few losses differ in the second digit.
    """
    rows, _ = spoilt("addition", 0.1)
    rows = without_references(rows)[:60]
    turned = [Row((row.source or (),), (), row.hypotheses[0]) for row in rows]
    with equipped([(target, source) for source, target in TRAINING]) as other:
        expected = list(OmissionFinder(other).find(turned))
    for one, two in zip(OmissionFinder(special, "target").find(rows), expected, strict=True):
        assert one.score == pytest.approx(two.score, abs=0.02)
        assert one.losses == pytest.approx(two.losses, abs=0.02)


def test_segments_with_an_empty_side_are_scored(special):
    rows = [Row(("",), (), "der hund schläft ."), Row(("a dog",), (), ""), Row(("",), (), "")]
    found = list(OmissionFinder(special).find(rows))
    assert [len(one.losses) for one in found] == [4, 0, 0]
    assert found[0].score > 2
    assert [one.score for one in found[1:]] == [0, 0]
    assert next(OmissionFinder(special, "target").find(rows)).score == 0
    several = [Row(("the dog",), ("the dog sleeps", ""), "der hund schläft")]
    (one,) = OmissionFinder(special, referenced=True).find(several)
    assert one.losses[:2].max() < 0.5  # an empty reference expects nothing


def test_the_signature_lists_what_affects_the_score(special, plain):
    sample = RowSample((), [ONE_SYSTEM])
    signature = str(Omissions(special).fit(sample).signature_for(references=0))
    names = ("normal.words.source", "normal.stems.source", "null.source")
    files = [special.model.attachment(f"{name}.json") for name in names]
    *normals, null = (sha256(file.read_bytes()).hexdigest()[:8] for file in files)
    normal = ",".join(normals)
    for part in ("Omissions|", "|dir:forward|", "units:words+stems:", f"normal:{normal}|"):
        assert part in signature
    assert signature.endswith(f"|null:{null}|text:none|share:5%|version:0.1.0")
    signature = str(Omissions(plain).fit(sample).signature_for(references=0))
    assert "|units:words|normal:none|null:assumed|" in signature


def test_the_marks_of_a_segment_are_the_reasons_for_its_flag(special):
    """A segment has marks if it is flagged; each of them alone would be an even chance or more."""
    finder = OmissionFinder(special)
    found = list(finder.find(without_references(spoilt("omission-phrase", 0.05)[0])))
    assert {one.is_flagged for one in found} == {True, False}
    for one in found:
        is_probable = one.probability >= FLAG_PROBABILITY
        assert bool(one.marks) == is_probable
        assert one.is_flagged == (is_probable or one.is_certain)
        assert bool(one.reasons) == one.is_flagged
        assert one.is_flagged == ("omission" in one.reasons)
        assert max((mark.amount for mark in one.marks), default=0.0) <= one.score + 1e-9


def test_an_output_without_words_is_flagged(special):
    """Its mark is the whole source."""
    (one,) = OmissionFinder(special).find([Row(("",), (), "der hund schläft")])
    assert one.probability == CERTAIN
    assert one.reasons == ("empty", "omission")
    assert [mark.text for mark in one.marks] == ["der hund schläft"]
    additions = OmissionFinder(special, "target")
    (one,) = additions.find([Row(("",), (), "der hund schläft")])
    assert (one.is_flagged, one.is_certain, one.reasons) == (True, True, ("empty",))
    assert one.probability < FLAG_PROBABILITY
    assert (one.uncovered, one.marks) == (0, ())


@pytest.mark.slow
def test_lines_of_another_length_than_in_training_are_judged_alike():
    """Of 500 complete sentences, a model of lines of two once flagged 126."""

    def lines(pairs: Sequence[Any], size: int) -> list[tuple[str, str]]:
        groups = [pairs[n : n + size] for n in range(0, len(pairs) - size + 1, size)]
        return [
            (
                " ".join(w for p in group for w in p.source),
                " ".join(w for p in group for w in p.target),
            )
            for group in groups
        ]

    training, test = generate(3000, seed=21), generate(600, seed=22)
    expected, flagged = {}, {}
    for trained in (1, 2, 3):
        with equipped(lines(training, trained)) as aligner:
            for size in (1, 2, 3):
                pairs = lines(test, size)
                found = list(OmissionFinder(aligner).adapt_to(pairs).check(pairs))
                expected[trained, size] = np.mean([one.probability for one in found])
                flagged[trained, size] = np.mean([one.is_flagged for one in found])
    for (trained, size), share in expected.items():
        most = max(expected[trained, trained], expected[size, size])
        assert share < 2 * most, (trained, size)
        assert flagged[trained, size] < 0.05
