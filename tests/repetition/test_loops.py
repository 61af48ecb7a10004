"""Loops: against the plain rule, near loops, finished outputs, bounds of memory and time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.repetition import loops
from coverage_eval.repetition.loops import (
    TOKEN_PATTERN,
    Loop,
    LoopDetector,
    find_copies,
    find_loop,
)

TOKENS = st.lists(st.sampled_from("abc"), max_size=60)


def plain_rule(tokens: Sequence[str], shortest: int, longest: int, count: int) -> int | None:
    """The shortest n such that the last n · count tokens are count copies of n tokens."""
    for n in range(shortest, longest + 1):
        end = tokens[-n * count :]
        if len(end) == n * count and list(end) == list(end[:n]) * count:
            return n
    return None


@given(TOKENS, st.integers(1, 4), st.integers(0, 6), st.integers(2, 4))
def test_without_a_least_number_of_tokens_it_is_the_plain_rule(tokens, shortest, more, count):
    longest = shortest + more
    detector = LoopDetector(longest, shortest, count, min_repeated=0, near=False)
    for position, token in enumerate(tokens):
        loop = detector.push(token)
        expected = plain_rule(tokens[: position + 1], shortest, longest, count)
        assert (loop and loop.period) == expected
        if loop:
            assert loop.end == position + 1
            assert loop.count >= count
            pattern = tokens[loop.start : loop.start + loop.period]
            looped = tokens[loop.start : loop.end]
            assert all(token == pattern[i % loop.period] for i, token in enumerate(looped))
            before = loop.start - 1  # it begins as early as it can, as far as is remembered
            assert before < 0 or tokens[before] != tokens[before + loop.period]


def found_at(tokens: Sequence[object], **settings: int) -> tuple[int, Loop] | None:
    """The first token with which there is a loop, from 1, and the loop."""
    detector = LoopDetector(**settings)
    for number, token in enumerate(tokens, start=1):
        if loop := detector.push(token):  # type: ignore[arg-type]
            return number, loop
    return None


@pytest.mark.parametrize("period", [1, 2, 5, 12, 30, 100])
def test_a_loop_is_found_once_enough_is_repeated(period):
    before = [f"w{chr(97 + n)}" for n in range(7)]
    pattern = [f"p{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(period)]
    found = found_at([*before, *pattern * 40])
    assert found is not None
    number, loop = found
    assert number == 7 + period + max(2 * period, 24)
    assert (loop.period, loop.start, loop.exact) == (period, 7, True)
    assert str(loop).startswith(f"loop of period {period} since position 7, ")


def test_a_pattern_longer_than_the_longest_is_none():
    pattern = [chr(97 + n) for n in range(11)]
    assert found_at(pattern * 50, max_pattern_size=10) is None
    assert found_at(pattern * 50, max_pattern_size=11) is not None


def test_numbers_that_count_up_are_nearly_a_loop():
    tokens = [word for n in range(1, 60) for word in ("item", str(n), ",")]
    found = found_at(["A", "list", ":", *tokens])
    assert found is not None
    assert (found[1].period, found[1].start, found[1].exact) == (3, 3, False)
    assert "nearly" in str(found[1])
    pieces = [piece for n in range(1, 60) for piece in ("item", "\u2581", *str(n), ",")]
    found = found_at(pieces)  # as subword tokenisers cut numbers
    assert found is not None
    assert found[1].start == 0
    detector = LoopDetector(near=False)
    assert not any(map(detector.push, tokens))


def test_a_word_that_changes_is_nearly_a_loop():
    text = "the {} one is here and the rest of us wait outside ."
    words = text.split()
    tokens = [word.format(chr(97 + n)) for n in range(20) for word in words]
    found = found_at(tokens)
    assert found is not None
    assert (found[1].period, found[1].exact) == (len(words), False)
    assert found[1].count >= 6


def test_a_number_of_several_tokens_counts_once():
    copies = [f"say the words one by one {n} {'0 ' * 20} , and again" for n in range(6)]
    assert find_loop(f"Well : {' '.join(copies[:3])}".split()) is None
    assert find_loop(f"Well : {' '.join(copies)}".split()) is not None


@pytest.mark.parametrize(
    "text",
    [
        "no , no , no , no , no , no , said the man , and went away",
        "la la la la la la la la la la la",
        "row your boat , row your boat , down the river , row your boat , row your boat",
        "a red one , a blue one , a green one , a white one , a black one , a pink one",
        "1 , 2 , 3 , 4 , 5 , 6 , 7 , 8 , 9 , 10 , 11 , 12 , 13 , 14 , 15 , 16 , 17 , 18 , 19 , 20",
        "chapter 1 . the house chapter 2 . the garden chapter 3 . the sea chapter 4 . the end",
    ],
)
def test_ordinary_repetitions_are_no_loops(text):
    assert found_at(text.split()) is None


@pytest.mark.parametrize(
    ("output", "source", "expected"),
    [
        ("a man is here is here is here is here", "", (2, 2)),
        ("a man is here is here is here is here .", "", (2, 2)),
        ("on and on and on and on until it stopped at last", "", None),
        ("far far far far far far away", "", (1, 0)),
        ("far far far away", "", None),
        ("so " * 30 + "he said , and went to the house of his mother", "", (1, 0)),
        ("ja ja ja ja ja ja ja ja", "yes yes yes yes yes yes", None),
        ("ja " * 40, "yes yes yes yes yes yes", (1, 0)),
        ("see item 1 , item 2 , item 3 , item 4 , item 5 , item 6 , item 7 , item 8", "", (3, 1)),
        ("- 1 - 1 - 1 - 1 - 1 - 1 - 1 - 1", "", None),
        ("0 . 1 0 . 2 0 . 1 0 . 2 0 . 1 0 . 2 0 . 1 0 . 2", "", None),
        ("", "", None),
    ],
)
def test_finished_outputs(output, source, expected):
    found = find_loop(output.split(), [source.split()])
    assert (found and (found.period, found.start)) == expected


def test_an_endless_loop_is_read_once(monkeypatch):
    """Its tokens are compared, not pushed one by one; what comes after it is read as before."""
    pushed = 0
    push = LoopDetector.push

    def counted(self: LoopDetector, token: object) -> Loop | None:
        nonlocal pushed
        pushed += 1
        return push(self, token)  # type: ignore[arg-type]

    monkeypatch.setattr(LoopDetector, "push", counted)
    tokens = [*["so", "it", "goes"], *["on", "and"] * 50_000, *["x", "y", "z", "w"] * 500]
    assert find_loop([*tokens, "end"]) == Loop(2, 3, 100_003)
    assert pushed < 10_000
    longer = [*tokens, *["x", "y", "z", "w"] * 30_000]
    assert find_loop(longer) == Loop(4, 100_003, len(longer))


PARTS = st.tuples(
    st.lists(st.sampled_from(["a", "b", ",", "1", "2", "w3", "w4"]), min_size=1, max_size=9),
    st.integers(1, 40),
    st.sampled_from([0, 0.02, 0.1, 0.3]),
)
"""A pattern, its copies, and the share of their tokens that something else takes the place of."""


@given(st.lists(PARTS, max_size=4), st.randoms(use_true_random=False))
def test_periods_that_are_not_followed_have_no_loops(parts, chance):
    """The oracle follows all of them; what it finds would be missed."""
    tokens = [
        chance.choice(["a", "b", str(n)]) if chance.random() < share else token
        for pattern, copies, share in parts
        for n, token in enumerate(pattern * copies)
    ]
    found = find_loop(tokens)
    with patch.object(loops, "_possible_periods", return_value={*range(1, 101)}):
        assert find_loop(tokens) == found


@pytest.mark.parametrize(
    "words",
    [
        [f"w{n}" for n in range(5000)],
        ["a", "b"],
        ["a", "b", "1", "2"],
        ["a1", "a2"],
        [f"a{n}" for n in range(10)],
    ],
)
def test_few_periods_are_followed_however_many_words_are_equal(words, monkeypatch):
    """Words that are equal or equal but for numbers, in no order: a hundred periods would do."""
    compared = 0
    add = loops._Run.add

    def counted(self: loops._Run, *args: object) -> None:
        nonlocal compared
        compared += 1
        add(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(loops._Run, "add", counted)
    size = 5000
    tokens = random.Random(0).choices(words, k=size)
    find_loop([*tokens, "end"])
    assert compared < 20 * size


@pytest.mark.parametrize(
    ("output", "others", "times"),
    [
        ("dog dog", ["hund"], 2),
        ("Dog dog .", ["hund ."], 3),
        ("good morning good morning", ["guten morgen"], 2),
        ("good morning , good morning !", ["guten morgen !"], 2),
        ("woman woman woman", ["frau", "woman"], 3),
        ("bye bye", ["tschüss", "bye-bye"], 0),
        ("bye bye", ["tschüss tschüss"], 0),
        ("no , no , no !", ["nein , nein , nein !"], 0),
        ("get back , get back .", ["戻っておいで戻っておいでよ。"], 0),
        ("dog dog", [], 0),
        ("dog", ["hund"], 0),
        ("the dog", ["der hund"], 0),
        ("12 12", ["zwölf"], 0),
        ("谢谢", ["thanks"], 0),
        ("打开文件打开文件", ["open file"], 2),
    ],
)
def test_short_outputs_that_are_copies_of_their_beginning(output, others, times):
    split = TOKEN_PATTERN.findall
    found = find_copies(split(output), map(split, others))
    assert (found.count if found else 0) == times


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=5), st.integers(1, 4))
def test_copies_are_found_as_by_trying_every_period(pattern, times):
    tokens = pattern * times
    periods = [n for n in range(1, len(tokens)) if tokens == tokens[:n] * (len(tokens) // n)]
    found = find_copies(tokens, [["x"]])
    assert (found.period if found else None) == next(iter(periods), None)
