"""The options of output: they go with every command that prints figures, and text fits."""

from __future__ import annotations

import fcntl
import importlib
import json
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import pytest

from coverage_eval.cli.main import COMMANDS
from tests.conftest import COMMAND, RunCli

# Commands that print no figures: they write links, maps, pictures or models, or say what is there.
SILENT = {
    "align train", "align apply", "align symmetrize", "attention links", "attention convert",
    "attention plot", "simplex", "doctor", "fertility constant", "fertility guided",
    "fertility actual", "fertility predicted", "report", "inject", "reproduce figure2",
    "reproduce keep", "reproduce translate",
}  # fmt: skip


def all_commands() -> Iterator[tuple[str, click.Command]]:
    for name in COMMANDS:
        command = importlib.import_module(
            f"coverage_eval.cli.commands.{name.replace('-', '_')}"
        ).command
        if isinstance(command, click.Group):
            yield from ((f"{name} {key}", each) for key, each in command.commands.items())
        else:
            yield name, command


@pytest.mark.parametrize(("name", "command"), list(all_commands()))
def test_the_options_go_with_every_command_that_prints_figures(
    name: str, command: click.Command
) -> None:
    options = {option for parameter in command.params for option in parameter.opts}
    wanted = {"-f", "--format", "-o", "--output", "-w", "--width", "-b", "--score-only"}
    assert name in SILENT or wanted <= options


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "hyp").write_text("the house the house and the house\nfine\n")
    (tmp_path / "ref").write_text("the house and\nfine\n")
    return tmp_path


def table(text: str) -> list[str]:
    """The lines of a table; the signature below it is one line, however long."""
    lines = [line for line in text.splitlines() if line.strip()]
    assert "REP|refs:1|" in lines[-1]
    return lines[:-1]


def words(text: str) -> list[str]:
    return sorted(word for word in text.split() if set(word) != {"-"})


REP = ("rep", "hyp", "ref", "--sentence-level")


def test_a_pipe_is_never_wrapped_unless_columns_says_so(run_cli: RunCli, folder: Path) -> None:
    plain = run_cli(*REP, cwd=folder, env={"COLUMNS": ""}).stdout
    assert len(table(plain)) == 4
    assert max(map(len, table(plain))) > 60
    narrow = run_cli(*REP, cwd=folder, env={"COLUMNS": "50"}).stdout
    assert max(map(len, table(narrow))) <= 50
    assert words(narrow) == words(plain)
    assert run_cli(*REP, "-f", "csv", cwd=folder, env={"COLUMNS": "50"}).stdout.count("\r") == 0
    run_cli(*REP, "-o", "table", cwd=folder, env={"COLUMNS": "50"})
    assert (folder / "table").read_text() == plain


def on_a_terminal(folder: Path, arguments: Sequence[str], **environment: str) -> str:
    """What a command prints on a terminal of 45 columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 45, 0, 0))
    kept = {key: value for key, value in os.environ.items() if key not in {"COLUMNS", "NO_COLOR"}}
    with subprocess.Popen(
        [str(COMMAND), *arguments], stdout=theirs, cwd=folder, env=kept | environment
    ):
        os.close(theirs)
        text = ""
        while True:
            try:
                part = os.read(ours, 1024).decode()
            except OSError:  # the other side is closed
                break
            if not part:
                break
            text += part
    os.close(ours)
    return text


def test_a_terminal_is_fitted(folder: Path) -> None:
    lines = table(on_a_terminal(folder, REP, TERM="dumb"))
    assert "segment" in lines[0]
    assert max(map(len, lines)) <= 45


def test_a_terminal_gets_colours_unless_no_color_is_set(folder: Path) -> None:
    arguments = ("rep", "hyp", "ref", "--show")
    coloured = on_a_terminal(folder, arguments, TERM="xterm-256color")
    assert "\x1b[1;31m[" in coloured
    plain = on_a_terminal(folder, arguments, TERM="dumb")
    assert "\x1b" not in plain
    without = on_a_terminal(folder, arguments, TERM="xterm-256color", NO_COLOR="1")
    assert "31m" not in without
    lines = table(on_a_terminal(folder, REP, TERM="xterm", NO_COLOR="1"))
    assert max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in lines) <= 45
    assert "in the reference" not in "".join(lines)  # phrases instead of n-grams


def test_numbers_alone_of_a_comparison(run_cli: RunCli, folder: Path) -> None:
    arguments = ("compare", "--ref", "ref", "--metrics", "rep,chrf", "a=hyp", "b=ref")
    numbers = run_cli(*arguments, "-b", "--resamples", 50, cwd=folder).stdout.split()
    scores = json.loads(run_cli(*arguments, "-f", "json", cwd=folder).stdout)["scores"]
    assert numbers == [f"{score['score']:.2f}" for score in scores]


def test_numbers_alone_of_audits(run_cli: RunCli) -> None:
    assert run_cli("audit", "table2", "-b").stdout.split() == ["1", "0"]


def test_several_tables_are_an_error_in_a_format_of_one(run_cli: RunCli) -> None:
    done = run_cli("demo", "-f", "csv", check=False)
    assert done.returncode == 2
    assert "demo makes several tables, and CSV is one: use -f json" in done.stderr


def test_demo_and_doctor_in_other_forms(run_cli: RunCli, tmp_path: Path) -> None:
    run_cli("demo", "-f", "json", "-o", tmp_path / "demo.json")
    tables = json.loads((tmp_path / "demo.json").read_text())["tables"]
    assert [len(table["rows"]) for table in tables] == [4, 3, 3, 0]
    assert tables[2]["rows"][1]["output"] == "repeating"
    assert all(table["title"] for table in tables)
    text = run_cli("doctor", "-f", "markdown").stdout
    assert text.splitlines()[0].startswith("| part")
    assert run_cli("doctor", "-b", check=False).returncode == 2
