"""Symmetrisation: against fast_align, an oracle on a grid, and properties of all methods."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.alignment.link_files import read_links
from fast_align_wrapper.links import SYMMETRIZATIONS, symmetrize

positions = st.integers(0, 7)
link_sets = st.sets(st.tuples(positions, positions), max_size=16)


def grid(links):
    cells = np.zeros((10, 10), dtype=bool)
    for source, target in links:
        cells[source + 1, target + 1] = True
    return cells


def on_a_grid(forward, reverse, method):
    """The description taken literally, on a matrix with a margin; rows are source positions."""
    one, two = grid(forward), grid(reverse)
    union, joined = one | two, one & two
    changed = True
    while changed:
        changed = False
        for source, target in np.argwhere(union):
            if joined[source, target]:
                continue
            near = joined[source - 1 : source + 2, target - 1 : target + 2].any()
            if near and not (joined[source].any() and joined[:, target].any()):
                joined[source, target] = changed = True
    for direction in (one, two) if "final" in method else ():
        for source, target in np.argwhere(direction):
            taken = [bool(joined[source].any()), bool(joined[:, target].any())]
            if not any(taken) or (method == "grow-diag-final" and not all(taken)):
                joined[source, target] = True
    return tuple((int(source) - 1, int(target) - 1) for source, target in np.argwhere(joined))


@pytest.mark.parametrize("method", ["grow-diag", "grow-diag-final", "grow-diag-final-and"])
@given(link_sets, link_sets)
def test_growing_equals_the_oracle(method, forward, reverse):
    assert symmetrize(forward, reverse, method) == on_a_grid(forward, reverse, method)


@given(link_sets, link_sets)
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


@given(link_sets, st.sampled_from(SYMMETRIZATIONS))
def test_equal_directions_are_returned(links, method):
    assert symmetrize(links, links, method) == tuple(sorted(links))


def test_a_long_chain_grows_in_linear_time():
    """Full passes would take hours: each of 50,000 adds one link."""
    last = 50_000
    chain = [(source, 0) for source in range(last)] + [(last, 1)]
    assert symmetrize(chain, [(last, 1)], "grow-diag") == tuple(sorted(chain))


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match="unknown symmetrization 'grow'; one of forward, reverse,"):
        symmetrize((), (), "grow")


@pytest.fixture(scope="module")
def directions(shared: Path):
    golden = shared / "golden" / "fast_align"
    names = ("train.fwd.al.gz", "train.rev.al.gz")
    return list(zip(*(read_links(golden / name) for name in names), strict=True))


@pytest.mark.parametrize("method", SYMMETRIZATIONS[2:])
def test_links_equal_those_of_the_reference_tool(shared: Path, directions, method):
    """Golden files: atools of clab/fast_align at cab1e9a on the Multi30k training corpus."""
    golden = read_links(shared / "golden" / "fast_align" / f"train.{method}.al.gz")
    different = [
        number
        for number, (pair, joined) in enumerate(zip(directions, golden, strict=True), start=1)
        if symmetrize(*pair, method) != joined
    ]
    assert different == []
