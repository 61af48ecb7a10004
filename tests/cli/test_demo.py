"""``demo`` shows three commands and what they print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coverage_eval.demonstration import RATES


@pytest.fixture(scope="module")
def demo(demonstration: Path) -> tuple[str, Path]:
    """What ``demo --folder`` printed, and the folder."""
    return demonstration.with_suffix(".txt").read_text(encoding="utf-8"), demonstration


def test_the_commands_it_shows_give_its_results(demo, run_cli):
    text, folder = demo
    report = (folder / "report.html").read_bytes()
    commands = re.findall(r"^ \$ coverage-eval ((?:.*\\\n)*.*)$", text, re.MULTILINE)
    assert len(commands) == 3
    rep, drop, report_command = (line.replace("\\\n", " ").split() for line in commands)
    for command, name in ((rep, "REP"), (drop, "SoftDROP")):
        assert f"\n{name} = {run_cli(*command, '-b').stdout}" in text
    try:
        told = run_cli(*report_command).stdout.split()
    finally:
        (folder / "report.html").write_bytes(report)  # the page says by which command it was made
    assert " ".join(text.split()).endswith(" ".join(told))
    assert {"train.de", "test.links", "model"} <= {path.name for path in folder.iterdir()}


def test_nothing_is_printed_but_the_commands_and_their_results(run_cli, tmp_path):
    done = run_cli("demo", "--folder", "demo", cwd=tmp_path, env={"COLUMNS": "80"})
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    said = " ".join(lines)
    assert "repeating repeats more than careful and dropping: REP " in said
    assert "dropping drops more words than careful and repeating: DROP " in said
    assert "careful has the best BLEU (" in said
    assert lines[-1] == "→ demo/report.html"
    assert all(f"{name}.en" in done.stdout for name in RATES)
    assert "|" not in done.stdout


def test_it_replaces_no_file_of_the_user(run_cli, tmp_path):
    for name in ("test.de", "model", "report.html"):
        folder = tmp_path / f"with {name}"
        folder.mkdir()
        (folder / name).write_text("mine\n")
        done = run_cli("demo", "--folder", folder, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"{folder / name}: exists already" in done.stderr
        assert [path.read_text() for path in folder.iterdir()] == ["mine\n"]
