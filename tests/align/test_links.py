"""Pharaoh lines, ranges and files of links; symmetrisation against fast_align and an oracle."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coverage_eval.align.gold import read_gold
from coverage_eval.align.links import check_links, read_links
from coverage_eval.core.errors import CorpusWarning, DataError
from fast_align_wrapper import AlignerDataError
from fast_align_wrapper.links import SYMMETRIZATIONS, format_links, parse_links, symmetrize

link_sets = st.sets(st.tuples(st.integers(0, 10**9 - 1), st.integers(0, 200)), max_size=30)
words = st.lists(st.text("ab|-0 \t.", min_size=1, max_size=5), max_size=6).map(" ".join)


@given(link_sets, words, words, st.floats(), st.sampled_from([" ||| ", "\t"]))
@settings(max_examples=200)
def test_links_are_found_in_forced_output_whatever_the_text(links, source, target, score, mark):
    line = f"{source} ||| {target} ||| {format_links(sorted(links))}{mark}{score:g}"
    assert parse_links(line) == tuple(sorted(links))


@pytest.mark.parametrize(
    ("line", "links"),
    [
        ("", ()),
        ("1-0 0-1 1-0", ((0, 1), (1, 0))),
        ("0-0\t1-1", ((0, 0), (1, 1))),
        ("0-0 1-1\t-3.25", ((0, 0), (1, 1))),
        ("0-0 ||| -1e+06", ((0, 0),)),
        ("a b ||| c d ||| 0-0 1-1", ((0, 0), (1, 1))),
        ("a ||| b ||| ||| -3.5", ()),
    ],
)
def test_lines_of_every_kind(line, links):
    assert parse_links(line) == links


@pytest.mark.parametrize(
    ("line", "token"),
    [
        ("0-0 1:1", "1:1"),
        ("1-2-3", "1-2-3"),
        ("0p1", "0p1"),
        ("a ||| b", "b"),
        ("١-٢", "١-٢"),
    ],
)
def test_a_malformed_link_is_named(line, token):
    with pytest.raises(AlignerDataError) as caught:
        parse_links(line)
    assert str(caught.value) == f"'{token}' is not a link 'source-target', such as 0-0"


def test_a_malformed_link_in_a_file_is_named_with_its_line(tmp_path):
    path = tmp_path / "a.links"
    path.write_text("0-0\n\n1_1\n")
    with pytest.raises(DataError) as caught:
        list(read_links(path))
    assert str(caught.value) == f"{path}: line 3: '1_1' is not a link 'source-target', such as 0-0"


@pytest.mark.parametrize("link", [(3, 0), (0, 2), (3, 2)])
def test_a_link_out_of_range_is_named_with_both_lengths(link):
    with pytest.raises(DataError) as caught:
        check_links([(0, 0), link], 3, 2, name="a.links", line=7)
    message = str(caught.value)
    assert message.startswith(
        f"a.links: line 7: link {link[0]}-{link[1]} is out of range: the source has 3 tokens, "
        "the target has 2 tokens, counted from 0; do they count from 1? Then: perl"
    )
    assert ("are they target-source?" in message) == (link == (0, 2))


@pytest.mark.parametrize(
    "text", ["0-0:0.9 2-1/1e-3\n\n", "a b ||| c ||| 0-0 2-1\t-3\n|||\n", "1 1 1\n1 3 2\n",
             "01 1 1 S 0.7\n01 0 2 S\n01 3 2 S 1\n02 1 0 P\n", "0-0 2-1 ||| -0.5\n\n"],
)  # fmt: skip
def test_links_of_every_producer_are_read_alike(tmp_path, text):
    path = tmp_path / "links"
    path.write_text(text)
    assert [row for row in read_links(path) if row] == [((0, 0), (2, 1))]


@pytest.mark.parametrize("text", ["0-0 1p2\n", "0-0 *1-2\n", "0-0 1?2\n", "1 1 1 S\n1 2 3 P\n"])
def test_possible_links_count_as_links_and_that_is_said(tmp_path, text):
    path = tmp_path / "links"
    path.write_text(text)
    (gold,) = read_gold(path)
    assert gold == (((0, 0),), ((0, 0), (1, 2)))
    with pytest.warns(CorpusWarning, match="only possible; they count as links here"):
        assert list(read_links(path)) == [((0, 0), (1, 2))]


near_positions = st.integers(0, 7)
near_links = st.sets(st.tuples(near_positions, near_positions), max_size=16)


def grid(links):
    cells = np.zeros((10, 10), dtype=bool)
    for source, target in links:
        cells[source + 1, target + 1] = True
    return cells


def on_a_grid(forward, reverse, method):
    """The description taken literally, on a matrix with a margin; rows are source positions."""
    forward_grid, reverse_grid = grid(forward), grid(reverse)
    union, joined = forward_grid | reverse_grid, forward_grid & reverse_grid
    changed = True
    while changed:
        changed = False
        for source, target in np.argwhere(union):
            if joined[source, target]:
                continue
            near = joined[source - 1 : source + 2, target - 1 : target + 2].any()
            if near and not (joined[source].any() and joined[:, target].any()):
                joined[source, target] = changed = True
    for direction in (forward_grid, reverse_grid) if "final" in method else ():
        for source, target in np.argwhere(direction):
            linked = [bool(joined[source].any()), bool(joined[:, target].any())]
            if not any(linked) or (method == "grow-diag-final" and not all(linked)):
                joined[source, target] = True
    return tuple((int(source) - 1, int(target) - 1) for source, target in np.argwhere(joined))


@pytest.mark.parametrize("method", ["grow-diag", "grow-diag-final", "grow-diag-final-and"])
@given(near_links, near_links)
def test_growing_equals_the_oracle(method, forward, reverse):
    assert symmetrize(forward, reverse, method) == on_a_grid(forward, reverse, method)


@given(near_links, near_links)
def test_methods_are_nested(forward, reverse):
    joined = {method: set(symmetrize(forward, reverse, method)) for method in SYMMETRIZATIONS}
    assert joined["forward"] == forward
    assert joined["reverse"] == reverse
    assert joined["intersect"] == forward & reverse
    assert joined["union"] == forward | reverse
    nested = ["intersect", "grow-diag", "grow-diag-final-and", "union"]
    for smaller, larger in pairwise(nested):
        assert joined[smaller] <= joined[larger]
    assert joined["grow-diag"] <= joined["grow-diag-final"] <= joined["union"]


def test_a_long_chain_grows_in_linear_time():
    """Full passes would take hours: each of 50,000 adds one link."""
    last = 50_000
    chain = [(source, 0) for source in range(last)] + [(last, 1)]
    assert symmetrize(chain, [(last, 1)], "grow-diag") == tuple(sorted(chain))
