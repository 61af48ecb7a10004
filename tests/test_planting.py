"""Injected errors: their gold undoes them, their rates are as asked; sentences of the grammar."""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from functools import partial

import pytest

from tests import planting
from tests.conftest import ROOT
from tests.grammar import generate
from tests.planting import REPAIRS, CleanSegment, PlantedError, WordPool

FURTHER = runpy.run_path(str(ROOT / "notebooks" / "evidence" / "kinds.py"))
KINDS = FURTHER["KINDS"]
"""All kinds of errors, with those that only the tables of evidence compare."""

Injection = partial(planting.Injection, kinds=KINDS)

PAIRS = generate(3000, seed=7)
SEGMENTS = [CleanSegment(pair.target, pair.source, pair.links) for pair in PAIRS]
POOL = WordPool.of(pair.target for pair in PAIRS)
WORDS = sum(len(pair.target) for pair in PAIRS)
REMOVING = [kind for kind in KINDS if kind.startswith(("omission", "early", "untr", "hall"))]


def undo(words: Sequence[str], errors: Sequence[PlantedError]) -> list[str]:
    """Restore the words before the errors from the gold errors alone."""
    result = list(words)
    for error in reversed(errors):
        start, end = error.output
        result[start:end] = error.removed.split()
    return result


def concerned(error: PlantedError) -> int:
    """Words left out, replaced or added."""
    if error.removed:
        return len(error.removed.split())
    return error.output[1] - error.output[0]


@pytest.mark.parametrize("repair", REPAIRS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_gold_undoes_the_errors(kind, repair):
    injection = Injection(kind, 0.08, POOL, seed=1, repair=repair)
    for segment in SEGMENTS[:400]:
        words, errors = injection.corrupt(segment)
        assert undo(words, errors) == list(segment.words)
        if repair != "none" and kind.startswith(("omission", "early")):
            assert len(words) == len(segment.words)


@pytest.mark.parametrize("kind", KINDS)
def test_the_rate_of_affected_words_is_as_asked(kind):
    rate = 0.02
    injection = Injection(kind, rate, POOL, seed=2)
    errors = [error for segment in SEGMENTS for error in injection.corrupt(segment).errors]
    # Some kinds affect all words of a segment or none, so their rate deviates most.
    deviation = (rate / len(SEGMENTS)) ** 0.5
    assert sum(map(concerned, errors)) / WORDS == pytest.approx(rate, abs=4 * deviation)


def test_phrases_are_runs_of_words_that_do_not_touch():
    """The mean length is 3, but for runs that are cut by the ends of short segments."""
    injection = Injection("omission-phrase", 0.3, POOL, seed=10)
    lengths = []
    for segment in SEGMENTS:
        errors = injection.corrupt(segment).errors
        starts = [error.output[0] for error in errors]
        assert starts == sorted(set(starts))
        lengths += map(concerned, errors)
    assert sum(lengths) / WORDS == pytest.approx(0.3, abs=0.01)
    assert 2 < sum(lengths) / len(lengths) < 3


@pytest.mark.parametrize("kind", ["omission-word", "omission-phrase", "omission-rare"])
def test_a_higher_rate_includes_the_errors_of_a_lower_one(kind):
    low, high = (Injection(kind, rate, POOL, seed=3) for rate in (0.02, 0.06))
    for segment in SEGMENTS[:500]:
        kept = iter(low.corrupt(segment).words)
        assert all(word in kept for word in high.corrupt(segment).words)  # a subsequence


@pytest.mark.parametrize("kind", REMOVING)
def test_source_words_without_remaining_links_are_lost(kind):
    injection = Injection(kind, 0.08, POOL, seed=4)
    found = 0
    for segment in SEGMENTS[:300]:
        errors = injection.corrupt(segment).errors
        gone = lost_places(segment.words, errors)
        expected = {
            i
            for i, _ in segment.links or ()
            if all(place in gone for source, place in segment.links or () if source == i)
        }
        assert {i for error in errors for i in error.source or ()} == expected
        found += len(expected)
    assert found


def lost_places(words: Sequence[str], errors: Sequence[PlantedError]) -> set[int]:
    """The positions of removed words in the correct translation."""
    gone: set[int] = set()
    shift = 0
    for error in errors:
        start = error.output[0] + shift
        removed = error.removed.split()
        assert list(words[start : start + len(removed)]) == removed
        gone |= set(range(start, start + len(removed)))
        shift += len(removed) - (error.output[1] - error.output[0])
    return gone


def test_each_kind_repeats_at_its_place():
    segment = CleanSegment(list("abcdefgh"))
    pool = WordPool.of([segment.words])
    for seed in range(200):
        for kind in ("repetition-word", "repetition-phrase", "repetition-oscillating"):
            words, errors = Injection(kind, 0.1, pool, seed).corrupt(segment)
            for error in errors:
                start, end = error.output
                again = words[start:end]
                times = [n for n in (1, 2, 3, 4) if again == again[: len(again) // n] * n]
                length = len(again) // max(times)
                assert words[start - length : start] == again[:length]
                assert (max(times) > 1) == (kind == "repetition-oscillating")
                assert kind != "repetition-word" or length == 1
    words = Injection("repetition-tail", 0.5, pool, 1).corrupt(segment).words
    assert "".join(words) == "abcdefgh" + "h" + "gh" + "fgh"


def test_classes_of_words_go_by_frequency():
    pool = WordPool.of([["the"] * 4 + ["dog", "dog", "cat", "cat", "owl", "yak"]])
    classes = {name: set(words) for name, words in pool.classes.items()}
    assert classes == {"function": {"the"}, "content": {"dog", "cat", "owl", "yak"}}
    assert set(FURTHER["rare_words"](pool)) == {"owl", "yak"}
    assert set(WordPool.of([["the"] * 9, ["a", "b"]]).classes["function"]) == {"the"}
    classes = {"content": POOL.classes["content"], "rare": FURTHER["rare_words"](POOL)}
    for name, words in classes.items():
        injection = Injection(f"omission-{name}", 0.05, POOL, seed=5)
        errors = [error for segment in SEGMENTS for error in injection.corrupt(segment).errors]
        assert errors
        assert {error.removed for error in errors} <= set(words)


def test_the_errors_of_a_segment_do_not_depend_on_its_place():
    injection = Injection("omission-phrase", 0.1, POOL, seed=6)
    whole = [injection.corrupt(segment).words for segment in SEGMENTS[:200]]
    part = [injection.corrupt(segment).words for segment in SEGMENTS[100:200]]
    assert whole[100:] == part
    other = Injection("omission-phrase", 0.1, POOL, seed=7)
    assert whole != [other.corrupt(segment).words for segment in SEGMENTS[:200]]
