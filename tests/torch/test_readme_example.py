"""The site's decoder does what is shown below it."""

from __future__ import annotations

import doctest

import pytest

from tests.test_readme import SITE, blocks

pytest.importorskip("torch", reason="PyTorch is in the extra 'torch'")


def test_the_decoder_gives_what_is_shown():
    (text,) = (
        block for block in blocks("python", SITE / "attention.md") if "import torch" in block
    )
    example = doctest.DocTestParser().get_doctest(text, {}, "attention", "attention.md", 0)
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
