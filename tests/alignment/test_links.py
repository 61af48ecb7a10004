"""Pharaoh lines: parsing, formatting, ranges, files; exact messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coverage_eval.alignment.link_files import check_links, read_link_pairs, read_links
from coverage_eval.errors import DataError
from fast_align_wrapper import AlignerDataError
from fast_align_wrapper.links import format_links, parse_links

link_sets = st.sets(st.tuples(st.integers(0, 10**9 - 1), st.integers(0, 200)), max_size=30)
words = st.lists(st.text("ab|-0 \t.", min_size=1, max_size=5), max_size=6).map(" ".join)


@given(link_sets)
def test_format_then_parse_gives_the_same_links(links):
    assert parse_links(format_links(sorted(links))) == tuple(sorted(links))


@given(link_sets, words, words, st.floats(), st.sampled_from([" ||| ", "\t"]))
@settings(max_examples=200)
def test_links_are_found_in_forced_output_whatever_the_text(links, source, target, score, mark):
    line = f"{source} ||| {target} ||| {format_links(sorted(links))}{mark}{score:g}"
    assert parse_links(line) == tuple(sorted(links))


@pytest.mark.parametrize(
    ("line", "links"),
    [
        ("", ()),
        ("  ", ()),
        ("1-0 0-1 1-0", ((0, 1), (1, 0))),
        ("0-0\t1-1", ((0, 0), (1, 1))),
        ("0-0 1-1\t-3.25", ((0, 0), (1, 1))),
        ("0-0 ||| -1e+06", ((0, 0),)),
        ("0-0 ||| nan", ((0, 0),)),
        ("a b ||| c d ||| 0-0 1-1", ((0, 0), (1, 1))),
        ("a ||| b ||| ||| -3.5", ()),
        ("a ||| b |||  ||| -3.5", ()),
        ("a ||| b ||| ", ()),
        ("||| b ||| ", ()),
        ("000-01", ((0, 1),)),
    ],
)
def test_lines_of_every_kind(line, links):
    assert parse_links(line) == links


@pytest.mark.parametrize(
    ("line", "token"),
    [
        ("0-0 1:1", "1:1"),
        ("0-0 -1-2", "-1-2"),
        ("1-2-3", "1-2-3"),
        ("0 1", "0"),
        ("0p1", "0p1"),
        ("a ||| b", "b"),
        ("1234567890-1", "1234567890-1"),
        ("١-٢", "١-٢"),
        ("0-0\u00a01-1", "0-0\u00a01-1"),
    ],
)
def test_a_malformed_link_is_named(line, token):
    with pytest.raises(AlignerDataError) as caught:
        parse_links(line)
    assert str(caught.value) == f"'{token}' is not a link 'source-target', such as 0-0"


def test_a_malformed_link_is_refused_every_time():
    for _ in range(2):
        with pytest.raises(AlignerDataError):
            parse_links("0-0 0-")


def test_a_malformed_link_in_a_file_is_named_with_its_line(tmp_path: Path):
    path = tmp_path / "a.links"
    path.write_text("0-0\n\n1_1\n")
    with pytest.raises(DataError) as caught:
        list(read_links(path))
    assert str(caught.value) == f"{path}: line 3: '1_1' is not a link 'source-target', such as 0-0"


@pytest.mark.parametrize(
    ("first", "second"), [("0-0\n", "0-0\n1-1\n\n"), ("0-0\n1-1\n\n", "0-0\n")]
)
def test_unequal_files_are_counted_to_the_end(tmp_path: Path, first, second):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text(first)
    two.write_text(second)
    with pytest.raises(DataError) as caught:
        list(read_link_pairs(one, two))
    counts = first.count("\n"), second.count("\n")
    assert str(caught.value) == (
        f"unequal numbers of lines: {one} has {counts[0]}, {two} has {counts[1]}; "
        "line N of one file must belong to line N of the other"
    )


def test_equal_files_are_paired(tmp_path: Path):
    (tmp_path / "one").write_text("0-0\n\n")
    (tmp_path / "two").write_text("\n1-1\n")
    rows = list(read_link_pairs(tmp_path / "one", tmp_path / "two"))
    assert rows == [(((0, 0),), ()), ((), ((1, 1),))]


def test_links_in_range_pass():
    check_links([(0, 0), (2, 1)], 3, 2, name="a", line=1)


@pytest.mark.parametrize("link", [(3, 0), (0, 2), (3, 2)])
def test_a_link_out_of_range_is_named_with_both_lengths(link):
    with pytest.raises(DataError) as caught:
        check_links([(0, 0), link], 3, 2, name="a.links", line=7)
    assert str(caught.value) == (
        f"a.links: line 7: link {link[0]}-{link[1]} is out of range: the source has 3 tokens, "
        "the target has 2 tokens, counted from 0; "
        "are these the links of this text, in this tokenisation?"
    )
