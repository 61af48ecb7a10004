"""``demo`` finds the errors that were injected."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def demo(demonstration: Path) -> tuple[str, Path]:
    """What ``demo --folder`` printed, and the folder."""
    return demonstration.with_suffix(".txt").read_text(encoding="utf-8"), demonstration


def row(text: str, name: str) -> list[float]:
    (line,) = re.findall(rf"^{name} .*", text, re.MULTILINE)
    return [float(number) for number in re.findall(r"\d+\.\d+", line)]


def test_the_aligner_finds_the_known_links(demo):
    assert row(demo[0], "grow-diag-final-and")[0] < 10


def test_each_score_finds_its_error(demo):
    careful, repeating, dropping = (
        row(demo[0], name) for name in ("careful", "repeating", "dropping")
    )
    for column, worst in ((0, repeating), (1, dropping), (2, dropping)):  # REP, DROP, SoftDROP
        others = [r[column] for r in (careful, repeating, dropping) if r is not worst]
        assert worst[column] > 2 * max(others)
    assert careful[3] > max(repeating[3], dropping[3])  # BLEU


def test_the_commands_it_shows_give_its_figures(demo, run_cli):
    text, folder = demo
    shown = re.findall(r"^  coverage-eval (.*)$", text, re.MULTILINE)
    assert len(shown) == 2
    rep, drop = (run_cli(*line.split(), "-b").stdout.strip() for line in shown)
    assert float(rep) == row(text, "repeating")[0]
    assert float(drop) == row(text, "dropping")[1]
    assert {path.name for path in folder.iterdir()} >= {
        "train.de",
        "test.links",
        "model",
        "report.html",
    }


def test_it_replaces_no_file_of_the_user(run_cli, tmp_path):
    for name in ("test.de", "model", "report.html"):
        folder = tmp_path / f"with {name}"
        folder.mkdir()
        (folder / name).write_text("mine\n")
        done = run_cli("demo", "--folder", folder, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"{folder / name}: exists already" in done.stderr
        assert [path.read_text() for path in folder.iterdir()] == ["mine\n"]


def test_it_is_the_same_every_time_and_in_json(demo, run_cli, tmp_path):
    text, folder = demo
    run_cli("demo", "-f", "json", "-o", tmp_path / "demo.json")
    *tables, where = json.loads((tmp_path / "demo.json").read_text())["tables"]
    assert [len(table["rows"]) for table in tables] == [4, 3, 3]
    for table in tables:
        assert table["title"] in " ".join(text.split())  # a pipe wraps it
        for name, *others in (item.values() for item in table["rows"]):
            figures = [round(value, 2) for value in others if isinstance(value, float)]
            assert row(text, name) == figures
    (report,) = re.findall(r"/.*\.html", where["notes"][0])
    assert Path(report).read_bytes() == (folder / "report.html").read_bytes()
