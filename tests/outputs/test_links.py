"""Links, which are kept: the pattern reads a text once, and finds what the plain pattern finds."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.outputs.untranslated import _LINK

PLAIN = re.compile(r"\S+://\S+|www\.\S+|\S+@\S+\.\S+")


@given(st.lists(st.sampled_from(["://", "www.", "@", ".", "a", " ", "\n", ":", "/"]), max_size=20))
def test_links_are_those_of_the_plain_pattern(parts):
    text = "".join(parts)
    assert re.findall(_LINK, text) == PLAIN.findall(text)
