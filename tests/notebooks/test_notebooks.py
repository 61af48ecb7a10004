"""Notebooks run from top to bottom, reproduce their stored outputs, and quote them correctly."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import nbformat
import pandas as pd
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


RUNS = sorted((ROOT / "notebooks/reproduction").glob("*-en-seed*"))


def said(number: str) -> str:
    """The sentences of a notebook, on one line."""
    (path,) = (path for path in NOTEBOOKS if path.stem.startswith(number))
    cells = nbformat.read(path, as_version=4).cells
    return " ".join(" ".join(c.source for c in cells if c.cell_type == "markdown").split())


def test_what_is_said_of_the_runs_is_in_their_files():
    scores = {
        run.name: pd.read_csv(run / "table1.csv").pivot(
            index="system", columns="metric", values="score"
        )
        for run in RUNS
    }
    assert len(scores) == 9
    longer = [
        found["length"][f"{name} + COVPENALTY{which}"] - found["length"][name]
        for found in scores.values()
        for name in ("softmax", "sparsemax")
        for which in ("", ", rescoring")
    ]
    # COVPENALTY in the beam and from lists; six systems without it.
    assert {len(found) for found in scores.values()} == {10}
    ranked = [
        sum(abs(found[~found.index.str.contains("COVPENALTY")].corr()["length"][metric]) > 0.75
            for found in scores.values())
        for metric in ("DROP", "REP")
    ]  # fmt: skip
    assert ranked == [7, 1]
    assert "DROP does in seven of the nine runs, REP in one (correlations beyond ±0.75)" in said(
        "06"
    )
    assert min(longer) > 0
    assert f"longer in every run, by up to {100 * max(longer):.0f} words per 100" in said("06")
    german = pd.concat([found for name, found in scores.items() if "de-en" in name])
    plain = german[~german.index.str.contains("COVPENALTY")].set_index("length", append=True)
    lengths = plain.index.to_frame()["length"].groupby("system")
    of_seeds = pd.DataFrame({name: [*values] for name, values in lengths})
    assert of_seeds.mean(axis=1).std() > 2 * of_seeds.mean().std()
    bleu = german[~german.index.str.contains("rescoring")].groupby("system")["BLEU"]
    spread = bleu.max() - bleu.min()
    assert f"differs by {spread.min():.1f} to {spread.max():.1f}" in said("06")


def test_what_is_said_of_the_time_of_training_is_in_the_logs():
    other = re.compile(r"constant|guided|predicted-c0\.(?!2)|c0\.epochs")  # of Table 2
    hours = [
        sum(
            pd.read_json(path, lines=True)["seconds"].sum() / 3600
            for path in run.glob("*.epochs.jsonl")
            if not other.search(path.name)
        )
        for run in RUNS
        if run.name not in {f"multi30k-de-en-seed{seed}" for seed in (4, 5, 6)}  # on a GPU
    ]
    assert f"Table 1 in {min(hours):.1f} to {max(hours):.1f} hours each" in said("06")
    for run in RUNS:
        logs = [path.name for path in run.glob("*.epochs.jsonl") if not other.search(path.name)]
        assert (len(logs), sum("predictor" in name for name in logs)) == (7, 1)
    assert "six models and a predictor of fertilities" in said("06")


def test_the_new_system_of_the_comparison_has_the_weights_of_its_run():
    manifest = ROOT / "notebooks/reproduction/small-ja-en-seed1/manifest.json"
    made = json.loads(manifest.read_text(encoding="utf-8"))["made"]["softmax-penalized"]
    assert made["beta"] == 0
    assert f"α = {made['alpha']:g} for length and β = 0, so none, for coverage" in said("02")
