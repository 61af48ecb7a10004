"""Gold links, sure and possible: read back as they were written; exact messages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.align.gold import Gold, read_gold, read_with_gold
from coverage_eval.core.errors import DataError

positions = st.integers(0, 30)
link_sets = st.sets(st.tuples(positions, positions), max_size=12)
corpora = st.lists(st.tuples(link_sets, link_sets), min_size=1, max_size=6)


@given(corpora)
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0-0\n1x1\n", "line 2: '1x1' is not a link (i-j, or ipj if it is possible)"),
        ("1 1 1 S\n", "line 1: '1' is not a link (i-j, or ipj if it is possible)"),
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
    gold.write_text("0p0\n\n")
    assert list(read_with_gold(links, gold)) == [
        (((0, 0),), Gold((), ((0, 0),))),
        (((1, 1),), Gold((), ())),
    ]
    for text, count in (("0-0\n", 1), ("\n\n\n", 3)):
        gold.write_text(text)
        with pytest.raises(DataError) as caught:
            list(read_with_gold(links, gold))
        said = f"unequal numbers of lines: {links} has 2, {gold} has {count}; line N of one"
        assert str(caught.value).startswith(said)
    with pytest.raises(DataError, match=r"'-' \(standard input\) is named more than once"):
        list(read_with_gold("-", "-"))
