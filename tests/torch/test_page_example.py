"""The PyTorch examples of the site give the results shown below them."""

from __future__ import annotations

import doctest

import pytest

from tests.test_readme import SITE, blocks

pytest.importorskip("torch", reason="PyTorch is in the extra 'torch'")


def test_the_page_on_attention_shows_the_real_output() -> None:
    found = blocks("python", SITE / "attention.md")
    first = next(place for place, block in enumerate(found) if "import torch" in block)
    text = "\n".join(found[first:])
    example = doctest.DocTestParser().get_doctest(text, {}, "attention", "attention.md", 0)
    assert len(example.examples) >= 6
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
