"""Notebooks run from top to bottom, reproduce their stored outputs, and quote them correctly."""

from __future__ import annotations

import re
import sys
from typing import Any

import nbformat
import pytest

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "notebooks"))

import make_figures
from make_figures import NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stored_and_small(path):
    """A code host shows stored outputs."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert shown
    assert path.stat().st_size < 600_000  # pictures with all their colours


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_quoted_phrases_occur_in_a_neighbouring_output(path):
    """A quotation is a phrase in italics; if the text adds "twice", it occurs twice."""
    cells = nbformat.read(path, as_version=4).cells
    texts = make_figures.text_of(nbformat.read(path, as_version=4))
    quoted = 0
    for number, cell in enumerate(cells):
        if cell.cell_type != "markdown":
            continue
        near = "\n".join(texts[max(number - 1, 0) : number + 2]).splitlines()
        for phrase, twice in re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)( twice)?", cell.source):
            quoted += 1
            assert any(line.count(phrase) >= (2 if twice else 1) for line in near), phrase
    assert quoted >= {"01": 4, "03": 5}.get(path.stem[:2], 0)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_import_only_public_names(path):
    code = [c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    imports = re.findall(
        r"^ *(?:from|import) +(?:coverage_eval|fast_align_wrapper).*", "\n".join(code), re.MULTILINE
    )
    rooms = {"attention", "attention_maps", "plotting"}
    for line in imports:
        names = line.removeprefix("from coverage_eval import ").split(", ")
        assert line == "import coverage_eval as ce" or rooms.issuperset(names), line


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_its_stored_outputs(path):
    notebook: Any = make_figures.run(path)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    for name, data in make_figures.pictures(notebook).items():
        assert data.startswith(b"\x89PNG"), name
        assert (ROOT / "notebooks" / "figures" / name).exists()
    streams = {out.get("name") for cell in code for out in cell.outputs}
    assert "stderr" not in streams, "a warning has a path of the machine"
    stored = nbformat.read(path, as_version=4)
    assert make_figures.text_of(notebook) == make_figures.text_of(stored)
