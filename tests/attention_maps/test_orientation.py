"""Orientation and EOS are found as by a search through all possibilities."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.attention_maps.dumps import ORIENTATIONS, Layout, RawMap
from coverage_eval.attention_maps.load import to_canonical
from coverage_eval.errors import DataError

BOTH = Layout(orientations=ORIENTATIONS)
small = st.integers(0, 4)
segments = st.lists(
    st.tuples(small, small, st.booleans(), st.booleans(), st.booleans(), st.booleans()),
    min_size=1,
    max_size=4,
)


def tokens(prefix: str, size: int, ended: bool) -> list[str]:
    return [*(f"{prefix}{i}" for i in range(size)), *(["</s>"] if ended else [])]


@given(segments, st.booleans())
def test_orientation_is_inferred_if_and_only_if_one_fits_all_segments(lengths, turned):
    """Texts and matrices may or may not have EOS; a file has one orientation."""
    raws, sources, hypotheses = [], [], []
    for t, s, tgt_eos, src_eos, hyp_ended, src_ended in lengths:
        shape = (t + tgt_eos, s + src_eos)
        raws.append(RawMap("here", matrix=np.zeros(shape[::-1] if turned else shape)))
        sources.append(tokens("s", s, src_ended))
        hypotheses.append(tokens("t", t, hyp_ended))
    readings = [
        swap
        for swap in (False, True)
        if all(
            any(
                (raw.matrix.T if swap else raw.matrix).shape == (row[0] + a, row[1] + b)
                for a, b in product((0, 1), repeat=2)
            )
            for raw, row in zip(raws, lengths, strict=True)
        )
    ]
    assert turned in readings
    if len(readings) == 2:
        with pytest.raises(DataError, match="ambiguous"):
            to_canonical("file", raws, BOTH, sources=sources, hypotheses=hypotheses)
    said = ORIENTATIONS[turned]
    maps = list(
        to_canonical(
            "file", raws, BOTH, sources=sources, hypotheses=hypotheses,
            orientation=None if len(readings) == 1 else said,
        )
    )  # fmt: skip
    for item, (t, s, tgt_eos, src_eos, _, _) in zip(maps, lengths, strict=True):
        assert item.weights.shape == (t + tgt_eos, s + src_eos)
        assert (item.tgt_eos, item.src_eos) == (tgt_eos, src_eos)
        assert item.hypothesis_words == tuple(tokens("t", t, False))
        assert item.source_words == tuple(tokens("s", s, False))
        assert item.hypothesis is not None
        assert not tgt_eos or item.hypothesis[-1] == "</s>"


def test_if_no_orientation_fits_the_message_says_what_was_seen():
    raws = [RawMap("f: line 3", matrix=np.zeros((5, 2)))]
    with pytest.raises(DataError) as caught:
        to_canonical("f", raws, BOTH, sources=[["a", "b"]], hypotheses=[["x"]])
    assert str(caught.value) == (
        "f: line 3: a matrix of 5 rows and 2 columns does not fit 1 target and 2 source "
        "tokens, with or without EOS (target-source or source-target); give the texts as the "
        "toolkit saw them, subwords included"
    )


def test_texts_are_needed_unless_the_format_fixes_the_layout():
    raws = [RawMap("f: line 1", matrix=np.zeros((2, 3)))]
    known = list(to_canonical("f", raws, Layout(tgt_eos=True, src_eos=False)))
    assert (known[0].tgt_eos, known[0].src_eos) == (True, False)
    with pytest.raises(DataError, match="give the source and hypothesis text"):
        to_canonical("f", raws, BOTH)
    with pytest.raises(DataError, match="give the source text"):
        to_canonical("f", raws, Layout(tgt_eos=True), hypotheses=[["x"]])


def test_given_texts_override_the_tokens_of_the_file():
    raws = [RawMap("f", matrix=np.zeros((1, 2)), source=("cut", "off"), hypothesis=("x",))]
    item = next(to_canonical("f", raws, Layout(), sources=[["cutlery", "offer"]]))
    assert item.source == ("cutlery", "offer")
    assert item.hypothesis == ("x",)
