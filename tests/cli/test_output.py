"""The options of output: every command that prints figures has them, and tables fit."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from coverage_eval.cli import cli
from coverage_eval.cli.output import GATE_CLOSED_STATUS
from coverage_eval.core.layout import text
from coverage_eval.core.report import Report, ScoreCell, Style, Table
from tests.cli.tools import ALL_COMMANDS, on_a_terminal

# Commands that print no figures: they write links, maps, pictures or models, or show a state.
SILENT = {
    "align train", "align apply", "align symmetrize", "attention links", "attention convert",
    "attention plot", "attention simplex",
    "report", "segment",
}  # fmt: skip


def test_every_command_that_prints_figures_has_the_options_of_output():
    wanted = {"-f", "--format", "-o", "--output", "-w", "--digits", "-b", "--score-only"}
    commands = {
        path.removeprefix("coverage-eval "): command
        for path, command in ALL_COMMANDS.items()
        if not isinstance(command, click.Group)
    }
    lacking = {
        name
        for name, command in commands.items()
        if not wanted <= {option for item in command.params for option in item.opts}
    }
    assert lacking <= SILENT <= set(commands)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "hyp").write_text("the house the house and the house\nfine\n")
    (tmp_path / "ref").write_text("the house and\nfine\n")
    return tmp_path


def table(text: str) -> list[str]:
    """The lines of a table, without the signature below it."""
    lines = [line for line in text.splitlines() if line.strip()]
    (first,) = (number for number, line in enumerate(lines) if "REP|refs:1|" in line)
    return lines[:first]


def words(text: str) -> list[str]:
    return sorted(word for word in text.split() if set(word) != {"-"})


REP = ("rep", "hyp", "ref", "--sentence-level")


def test_a_pipe_is_120_wide_unless_columns_says_so(run_cli, folder):
    plain = run_cli(*REP, cwd=folder, env={"COLUMNS": ""}).stdout
    assert len(table(plain)) == 4
    assert max(map(len, table(plain))) > 50
    narrow = run_cli(*REP, cwd=folder, env={"COLUMNS": "50"}).stdout
    assert max(map(len, table(narrow))) <= 50
    assert words(narrow) == words(plain)
    assert run_cli(*REP, "-f", "csv", cwd=folder, env={"COLUMNS": "50"}).stdout.count("\r") == 0
    run_cli(*REP, "-o", "table", cwd=folder, env={"COLUMNS": "50"})
    assert (folder / "table").read_text() == plain


def test_a_terminal_gets_colours_unless_no_color_is_set(folder):
    def shown(*arguments: str, **environment: str) -> str:
        return on_a_terminal(*arguments, cwd=folder, columns=45, **environment)[0]

    arguments = ("rep", "hyp", "ref", "--worst", "2")
    assert "\x1b[1;31m[" in shown(*arguments, TERM="xterm-256color")
    without = shown(*REP, TERM="xterm-256color", NO_COLOR="1")
    assert "31m" not in without
    lines = table(without)
    assert max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in lines) <= 45
    assert "in the reference" not in "".join(lines)  # phrases instead of n-grams


def test_a_terminal_shows_the_score_first_and_the_signature_below(folder):
    line = (*REP[:3], "--confidence")
    piped = on_a_terminal(*line, cwd=folder, stream="stderr")[1].strip()
    signature, figures = piped.split(" = ")
    score, low, high = re.findall(r"[\d.]+", figures)
    shown, _ = on_a_terminal(*line, cwd=folder, columns=80, TERM="dumb")
    assert shown.splitlines() == [f"REP {score}   95% {low}–{high}", signature]


def test_a_text_of_several_lines_stays_behind_its_label():
    words = " ".join(f"word{n}" for n in range(20))
    table = Table((), (), notes=("segment 3  REP 5.00", f"output     {words}"))
    headline, *lines = text(Report((table,)), Style(width=60))
    assert headline == "segment 3  REP 5.00"
    assert lines[0].startswith("output     word0 ")
    assert {line[:11] for line in lines[1:]} == {" " * 11}
    assert " ".join(line[11:] for line in lines) == words


@pytest.mark.parametrize(("systems", "lines"), [(5, 15), (6, 6)])
def test_many_systems_have_a_line_each(systems, lines):
    score = ScoreCell(1.5, 1.0, 2.0, p=0.5)
    table = Table(("system", "REP"), [(f"s{n}", score) for n in range(systems)])
    found = list(text(Report((table,)), Style(width=60)))
    assert len(found) == lines + 2  # below the names of columns and the dashes
    assert all("1.00–2.00" in line for line in found[2:]) == (systems == 6)


@pytest.mark.parametrize(
    "line",
    ["rep a a", "compare --ref a a b --metrics rep --resamples 0 -f tsv",
     "report --ref a a b --metrics rep -o page.html"],
)  # fmt: skip
def test_warnings_stand_below_what_they_are_about(tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_text("the house and the dog\n" * 40)
    (tmp_path / "b").write_text("the house the house\n" * 40)
    done = CliRunner().invoke(cli, line.split())
    assert done.exit_code == 0
    assert done.stdout
    assert done.output == done.stdout + done.stderr
    assert re.fullmatch("(coverage-eval: warning: .*\n)+", done.stderr)
    strict = CliRunner().invoke(cli, [*line.split(), "--strict"])
    assert (strict.exit_code, strict.stdout) == (1, "")


def test_a_closed_gate_is_said_before_warnings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_text("the house and the dog\n" * 40)
    (tmp_path / "b").write_text("the house the house\n" * 40)
    line = "compare --ref a a b --metrics rep --resamples 100 --fail-if-worse rep"
    done = CliRunner().invoke(cli, line.split())
    assert done.exit_code == GATE_CLOSED_STATUS
    assert done.output == done.stdout + done.stderr
    first, *warnings = done.stderr.splitlines()
    assert warnings
    assert all(said.startswith("coverage-eval: warning: ") for said in warnings)
    assert first.startswith("coverage-eval: worse: b is worse than a: REP")


def test_messages_have_colours_on_a_terminal_only(run_cli, folder):
    (folder / "no").write_text("a\r\n" * 2)
    (folder / "ref-no").write_text("a\n" * 2)
    warned = ("rep", "no", "ref-no")
    shown, _ = on_a_terminal(*warned, cwd=folder, stream="stderr", TERM="xterm")
    assert "\x1b[1;33mcoverage-eval: warning: \x1b[0m" in shown
    shown, _ = on_a_terminal(*warned, cwd=folder, stream="stderr", TERM="xterm", NO_COLOR="1")
    assert "33m" not in shown
    assert "\x1b" not in run_cli(*warned, cwd=folder).stderr


def test_a_terminal_shows_two_notes_of_many_and_where_the_others_are(tmp_path, run_cli):
    texts = [f"the house and the dog, number {n}." for n in range(30)]
    broken = [*texts[:10], "", "the dog " * 12, *texts[12:]]
    for name, lines in {"ref": texts, "a": texts, "b": broken}.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    line = ("compare", "-r", "ref", "a", "b", "-m", "rep", "--resamples", "50", "-o", "x.json")
    every = run_cli(*line, cwd=tmp_path).stderr.splitlines()
    assert len(every) > 3
    few, _ = on_a_terminal(*line, cwd=tmp_path, columns=400, stream="stderr", TERM="dumb")
    assert few.strip().splitlines() == [
        *every[:2],
        f"{len(every) - 2} more notes; see them with -v, or in JSON",
        "→ x.json",
    ]
    known = json.loads((tmp_path / "x.json").read_text())
    assert len(known["warnings"] + known["remarks"]) >= len(every)
    shown, _ = on_a_terminal(*line, "-v", cwd=tmp_path, columns=400, stream="stderr", TERM="dumb")
    assert shown.strip().splitlines() == [*every, "→ x.json"]
