"""Each notebook runs from top to bottom and lies in the repository without outputs."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "notebooks"))

import make_figures

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_all_notebooks_are_there() -> None:
    assert [path.stem for path in NOTEBOOKS] == [
        "01_score_a_system",
        "02_compare_systems",
        "03_attention_maps",
        "04_simplex_and_transformations",
        "05_audit_the_paper",
        "06_reproduction",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stripped(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_public_names_are_enough(path: Path) -> None:
    """No notebook imports from inside a package; the wrapper is reached through an aligner."""
    code = [c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    imports = re.findall(
        r"^ *(?:from|import) +(?:coverage_eval|fast_align_wrapper).*", "\n".join(code), re.MULTILINE
    )
    rooms = {"attention", "attention_maps", "plotting"}
    for line in imports:
        names = line.removeprefix("from coverage_eval import ").split(", ")
        assert line == "import coverage_eval as ce" or rooms.issuperset(names), line


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_from_top_to_bottom(path: Path) -> None:
    notebook: Any = make_figures.run(path)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    for name, data in make_figures.pictures(notebook).items():
        assert data.startswith(b"\x89PNG"), name
        assert (ROOT / "notebooks" / "figures" / name).exists()
