"""Systems compared without a reference: by the source and by each other."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import coverage_eval as ce
from tests.cli.tools import write_grammar
from tests.conftest import RunCli
from tests.planting import inject_lines

KINDS = {"drops": "omission-phrase", "repeats": "repetition-phrase", "adds": "addition"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli) -> Path:
    """Four systems: a correct one, and three with one kind of error each."""
    folder = tmp_path_factory.mktemp("systems")
    lines = write_grammar(folder, 1000, 150)
    for name, kind in KINDS.items():
        (folder / name).write_text("\n".join(inject_lines(lines, kind, 0.1)) + "\n")
    run_cli(
        "align", "train", "train.source", "train.target", "--prepare-for", "omissions",
        "-o", "model", cwd=folder,
    )  # fmt: skip
    return folder


ARGUMENTS = ("--src", "test.source", "--model", "model", "right=test.target", *KINDS)


def test_each_system_is_worst_by_the_metric_of_its_errors(run_cli, folder):
    metrics = ("-m", "omissions,additions,rep-letters-no-ref,length-ratio")
    found = run_cli("compare", *ARGUMENTS, *metrics, "-f", "csv", cwd=folder).stdout
    rows = {(row["system"], row["metric"]): row for row in csv.DictReader(found.splitlines())}
    worst = {"drops": "Omissions", "repeats": "REP-letters-no-ref", "adds": "Additions"}
    for system, metric in worst.items():
        own = rows[system, metric]
        assert own["p_holm"]
        assert float(own["p_holm"]) < 0.05
        assert float(own["low"]) <= float(own["score"]) <= float(own["high"])
        for other in {"right", *KINDS} - {system}:
            assert float(rows[other, metric]["score"]) < float(own["score"])
    lengths = {system: float(rows[system, "length-ratio"]["score"]) for system in ("right", *KINDS)}
    assert lengths["drops"] < lengths["right"] < min(lengths["repeats"], lengths["adds"])
    assert {rows[system, "length-ratio"]["best"] for system in lengths} == {"no"}
    signatures = {metric: row["signature"] for (_, metric), row in rows.items()}
    assert all("refs:" not in one for one in signatures.values())
    assert all("|rank:peers3|" in signatures[metric] for metric in ("Omissions", "Additions"))


def test_the_report_says_who_leaves_most_out(run_cli, folder):
    done = run_cli("report", *ARGUMENTS, "-o", "report.html", cwd=folder)
    assert done.stdout.startswith("drops leaves out more than each of the other 3: Omissions 23.75")
    assert "leaves" in (folder / "report.html").read_text()


def test_details_and_breakdowns_do_without_a_reference(run_cli, folder):
    done = run_cli("compare", *ARGUMENTS, "--breakdown", "all", cwd=folder)
    run_cli("compare", *ARGUMENTS, "--sentence-level", "-o", "details.jsonl", cwd=folder)
    assert "By length of the source" in done.stdout
    assert "By length of the reference" not in done.stdout
    _, *segments = map(json.loads, (folder / "details.jsonl").read_text().splitlines())
    assert len(segments) == 600
    assert all(segment["reference"] == [] for segment in segments)


def test_shortfall_is_how_much_shorter_outputs_are_than_the_median_of_the_others():
    texts = {"a": ["four", "aa"], "b": ["eight ha", "aa"], "c": ["eightha"], "d": ["x" * 20]}
    texts = {name: (lines * 2)[:2] for name, lines in texts.items()}
    found = ce.compare(texts, metrics=["shortfall"], resamples=0, sources=["s", "s"])
    scores = {name: row["shortfall"].score.score for name, row in found.rows.items()}
    usual = [np.median([7, 7, 20]), np.median([2, 7, 20])]
    assert scores["a"] == pytest.approx(50 * ((1 - 4 / usual[0]) + (1 - 2 / usual[1])))
    assert scores["d"] == 0
    alone = ce.compare({"a": ["x"]}, sources=["s"], metrics=None, resamples=0)
    assert list(alone.metrics) == ["length-ratio"]
