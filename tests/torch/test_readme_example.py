"""The examples with PyTorch give what is shown below them."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.test_readme import SITE, blocks

pytest.importorskip("torch", reason="PyTorch is in the extra 'torch'")


@pytest.mark.parametrize("page", [ROOT / "README.md", SITE / "attention.md"], ids=lambda p: p.name)
def test_what_is_shown_comes_out(page: Path) -> None:
    found = blocks("python", page)
    first = next(place for place, block in enumerate(found) if "import torch" in block)
    text = "\n".join(found[first:])
    example = doctest.DocTestParser().get_doctest(text, {}, page.stem, page.name, 0)
    assert len(example.examples) >= 6
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
