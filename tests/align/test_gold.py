"""Gold links: their files, figures such as AER, and those that count from one or are swapped."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import coverage_eval as ce
from coverage_eval.align.gold import (
    AER,
    F1,
    LINK_METRICS,
    Gold,
    Precision,
    Recall,
    check_gold,
    read_gold,
    read_with_gold,
)
from coverage_eval.core.errors import CorpusWarning, DataError
from fast_align_wrapper.links import Link, Links
from tests.core.corrupt import pairs

positions = st.integers(0, 5)
link_sets = st.sets(st.tuples(positions, positions), max_size=10)
corpora = st.lists(st.tuples(link_sets, link_sets, link_sets), min_size=1, max_size=5)


# Files


@given(st.lists(st.tuples(link_sets, link_sets), min_size=1, max_size=6))
def test_links_are_read_as_they_were_written(tmp_path_factory, corpus):
    path = tmp_path_factory.mktemp("gold") / "gold"
    lines = [
        " ".join(
            mark.join(map(str, link))
            for mark, links in (("-", sure), ("p", possible))
            for link in links
        )
        for sure, possible in corpus
    ]
    path.write_text("".join(f"{line}\n" for line in lines))
    assert list(read_gold(path)) == [
        Gold(tuple(sorted(sure)), tuple(sorted(sure | possible))) for sure, possible in corpus
    ]


@pytest.mark.parametrize("form", ["{}-{}{}", "{}-{}/{}", "{}-{}:{}"])
@pytest.mark.parametrize("letters", ["SP", "sp"])
def test_links_may_have_the_letters_of_naacl_behind_them(tmp_path, form, letters):
    path = tmp_path / "gold"
    path.write_text(f"{form.format(0, 0, letters[0])} {form.format(1, 2, letters[1])} 3-3\n")
    assert list(read_gold(path)) == [Gold(((0, 0), (3, 3)), ((0, 0), (1, 2), (3, 3)))]


def test_links_of_other_pairs_or_words_are_named():
    golds = [Gold(links, links) for links in ([(n % 7, n % 5), (n % 5, 3)] for n in range(60))]
    links = [gold.possible for gold in golds]
    assert not check_gold(links, golds)
    assert not check_gold([[(s + 2, t) for s, t in row] for row in links[:10]], golds[:10])
    letters = [[(6 * s + 5, 6 * t + 5) for s, t in row] for row in links]
    assert "are far behind the last words that the gold links" in check_gold(letters, golds)[0][0]
    assert "1 of 1 links are far behind" in check_gold([[(99, 99)]], golds[:1])[0][0]
    assert not check_gold([[]], [Gold((), ())])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0-0\n1x1\n", "line 2: '1x1' is not a link 'source-target', such as 0-0"),
        (
            "1 1 1 S\n0-0\n",
            "line 2: '0-0' is not 'sentence source target', counted from 1, with S or P",
        ),
        ("0 1 1 S\n", "line 1: sentences count from 1"),
    ],
)
def test_malformed_gold_lines_are_errors(tmp_path, text, message):
    path = tmp_path / "gold"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        list(read_gold(path))
    assert str(caught.value) == f"{path}: {message}"


def test_links_and_gold_links_are_of_the_same_pairs(tmp_path):
    links, gold = tmp_path / "links", tmp_path / "gold"
    links.write_text("0-0\n1-1\n")
    gold.write_text("0s0 1p0\n\n")
    assert list(read_with_gold(links, gold)) == [
        (((0, 0),), Gold(((0, 0),), ((0, 0), (1, 0)))),
        (((1, 1),), Gold((), ())),
    ]
    for text, count in (("0-0\n", 1), ("\n\n\n", 3)):
        gold.write_text(text)
        with pytest.raises(DataError) as caught:
            list(read_with_gold(links, gold))
        start = f"unequal numbers of lines: {links} has 2, {gold} has {count}; line N of one"
        assert str(caught.value).startswith(start)
    with pytest.raises(DataError, match=r"'-' \(standard input\) is named more than once"):
        list(read_with_gold("-", "-"))


# AER


def scores_of(links, sure, possible=None):
    """AER, precision, recall and F1 of a corpus."""
    golds = [Gold(tuple(s), tuple(p)) for s, p in zip(sure, possible or sure, strict=True)]
    statistics = AER.count(zip(links, golds, strict=True))
    return [metric().score(statistics) for metric in LINK_METRICS]


def test_a_worked_example():
    # A has 4 links, 2 of them sure and 3 possible; 3 links are sure.
    links = [[(0, 0), (1, 1), (2, 2)], [(0, 1)]]
    sure = [[(0, 0), (1, 1), (3, 3)], []]
    possible = [[(0, 0)], [(0, 1)]]
    scores = scores_of(links, sure, possible)
    assert [score.score for score in scores] == pytest.approx(
        [100 * (1 - 5 / 7), 75, 200 / 3, 100 * 2 * 0.75 * (2 / 3) / (0.75 + 2 / 3)]
    )
    assert [score.metric for score in scores] == ["AER", "precision", "recall", "F1"]
    assert scores[0].statistics == {
        "links": 4, "sure_links": 3, "sure_links_found": 2, "possible_links_found": 3,
    }  # fmt: skip


@given(corpora)
def test_scores_agree_with_counting_link_by_link(corpus):
    a = s = both = likely = 0
    for links, sure, possible in corpus:
        for link in {*links, *sure, *possible}:
            a += link in links
            s += link in sure
            both += link in links and link in sure
            likely += link in links and (link in sure or link in possible)
    if not a or not s:
        return
    error, precision, recall, f1 = (
        score.score / 100 for score in scores_of(*zip(*corpus, strict=True))
    )
    assert error == pytest.approx(1 - (both + likely) / (a + s))
    assert precision == pytest.approx(likely / a)
    assert recall == pytest.approx(both / s)
    assert f1 * (precision + recall) == pytest.approx(2 * precision * recall)
    assert 0 <= error <= 1


def test_segments_with_a_denominator_of_0_have_no_score():
    rows = [([], Gold((), ())), ([(0, 0)], Gold((), ())), ([], Gold(((0, 0),), ()))]
    statistics = AER.count(rows)
    assert AER().scores_of(statistics) == [None, 100, 100]
    assert Precision().scores_of(statistics) == [None, 0, None]
    assert Recall().scores_of(statistics) == [None, None, 0]
    assert F1().scores_of(statistics) == [None, None, None]


def test_f1_is_0_if_no_gold_link_is_found():
    assert [score.score for score in scores_of([[(0, 0)]], [[(1, 1)]])] == [100, 0, 0, 0]


@pytest.mark.parametrize(
    ("links", "sure", "message"),
    [
        ([], [], "no pairs to compare: the files are empty"),
        ([[]], [[]], "AER: there are neither links nor sure gold links"),
        ([[]], [[(0, 0)]], "precision: there are no links"),
        ([[(0, 0)]], [[]], "recall: there are no sure gold links"),
    ],
)
def test_an_undefined_score_is_an_error_that_says_why(links, sure, message):
    with pytest.raises(DataError) as caught:
        scores_of(links, sure)
    assert str(caught.value) == message


# Checks


Map = Callable[[Link], Link]

SWAP: Map = lambda link: (link[1], link[0])  # noqa: E731
FROM_ONE: Map = lambda link: (link[0] + 1, link[1] + 1)  # noqa: E731

TRUTH: list[Links] = [pair.links for pair in pairs()]


def moved(rows: list[Links], change: Map) -> list[Links]:
    return [tuple(sorted(map(change, links))) for links in rows]


def gold(rows: list[Links]) -> list[Gold]:
    return [Gold((), links) for links in rows]


def weak(rate: float) -> list[Links]:
    """The true links, with a share of wrong ones."""
    generator = random.Random(1)
    return [
        tuple(
            sorted(
                {(i, generator.randrange(9) if generator.random() < rate else j) for i, j in row}
            )
        )
        for row in TRUTH
    ]


@pytest.mark.parametrize("rate", [0, 0.3, 0.6, 0.9])
def test_correct_gold_links_give_no_finding(rate):
    assert check_gold(weak(rate), gold(TRUTH)) == []


@pytest.mark.parametrize("rate", [0, 0.6])
@pytest.mark.parametrize("number", [20, 500])
def test_gold_links_that_count_from_one(rate, number):
    (found,) = check_gold(weak(rate)[:number], gold(moved(TRUTH[:number], FROM_ONE)), name="g.talp")
    problem = f"no link of {number} pairs has source position 0; if positions count from 1: perl"
    assert found.message.startswith(f"g.talp: {problem}")


@pytest.mark.parametrize("rate", [0, 0.6])
def test_reversed_gold_links(rate):
    (found,) = check_gold(weak(rate), gold(moved(TRUTH, SWAP)))
    assert "with source and target swapped" in found.message


def test_links_that_count_from_one():
    (found,) = check_gold(moved(TRUTH, FROM_ONE), gold(TRUTH))
    assert "if the other links count from 1" in found.message


@pytest.mark.parametrize("change", [SWAP, FROM_ONE])
def test_few_pairs_give_no_finding(change):
    assert check_gold(TRUTH[:19], gold(moved(TRUTH[:19], change))) == []


def test_links_that_count_from_one_beside_gold_links_of_another_text():
    unlike = gold(weak(1.0)[::-1])
    (found,) = check_gold(moved(TRUTH, FROM_ONE), unlike, links_name="a.links")
    assert found.message.startswith("a.links: no link of 500 pairs has source position 0; if posit")


def test_aer_in_python_is_that_of_the_command(tmp_path, run_cli):
    links, golds = ["0-0 1-1 2-2", "0-0"], ["0-0 1p1 2-1", "0-0 1-1"]
    for name, lines in (("links", links), ("gold", golds)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    printed = run_cli("align", "aer", tmp_path / "links", tmp_path / "gold", "-b").stdout
    assert printed.split()[0] == f"{ce.aer(links, golds).score:.2f}"
    assert ce.aer(tmp_path / "links", golds) == ce.aer(links, str(tmp_path / "gold"))
    assert ce.aer([[(0, 0)]], [[(0, 0)]]).score == 0
    with pytest.warns(CorpusWarning, match="with source and target swapped"):
        ce.aer(TRUTH, moved(TRUTH, SWAP))
    with pytest.raises(DataError, match="the links has 2, the gold links has 1"):
        ce.aer(links, golds[:1])


def test_the_case_of_naacl(shared):
    folder = shared / "cases" / "naacl-gold"
    assert ce.aer(folder / "hyp", folder / "gold.naacl").score == pytest.approx(100 / 12)
