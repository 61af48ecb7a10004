"""No command overwrites its inputs, whatever their names, or writes two outputs to one file."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from coverage_eval.cli.command import Command
from coverage_eval.cli.parameters import OutputFile
from tests.cli.tools import ALL_COMMANDS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src").write_text("ein haus\nein hund\n")
    (tmp_path / "tgt").write_text("a house\na dog\n")
    (tmp_path / "hyp").write_text("a house house\na dog\n")
    (tmp_path / "maps.jsonl").write_text('{"attention": [[1.0]], "source": ["a"]}\n')
    (tmp_path / "link").symlink_to("tgt")
    return tmp_path


def test_every_command_checks_its_files():
    commands = ALL_COMMANDS.values()
    leaves = [command for command in commands if not isinstance(command, click.Group)]
    assert len(leaves) > 15
    assert all(isinstance(command, Command) for command in leaves)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("rep hyp tgt -o hyp", "--output hyp is one of"),
        ("rep hyp tgt -o link", "--output link is one of"),
        ("align train src tgt -o tgt", "--output tgt is one of"),
        ("compare --ref tgt a=hyp -o hyp", "--output hyp is one of"),
        ("rep hyp tgt --keep new --reject new", "--keep and --reject both write to new"),
        ("compare --ref src --ref tgt hyp -o tgt", "--output tgt is one of"),
        ("attention convert maps.jsonl -o maps.jsonl", "--output maps.jsonl is one of"),
    ],
)  # fmt: skip
def test_inputs_and_outputs_are_different_files(run_cli, folder, command, message):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    result = run_cli(*command.split(), cwd=folder, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert f"error: {message}" in result.stderr
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_only_files_are_input_files(run_cli, folder):
    line = "report --ref tgt hyp src -m rep --resamples 0 --title page.html --baseline hyp"
    run_cli(*line.split(), "-o", "page.html", cwd=folder)
    assert "<title>page.html" in (folder / "page.html").read_text()


BY_SEGMENT = ("rep", "hyp", "tgt", "--sentence-level", "-f", "csv")


def test_signatures_beside_a_table_replace_no_input(run_cli, folder):
    run_cli(*BY_SEGMENT, "-o", "x", cwd=folder)
    assert (folder / "x.signatures").read_text().startswith("REP|")
    (folder / "hyp").rename(folder / "w.signatures")
    for line, said in (
        (("rep", "w.signatures", *BY_SEGMENT[2:], "-o", "w"), "is one of the input files"),
        (("rep", "tgt", *BY_SEGMENT[2:], "-o", "v", "--keep", "v.signatures"), "both write to"),
    ):
        refused = run_cli(*line, check=False, cwd=folder)
        assert refused.returncode == 2
        assert said in refused.stderr


def test_targets_are_checked_before_any_work(run_cli, folder):
    """Every file that a command can write is named by one of its options of these types."""
    done = run_cli("rep", "no-such-file", "tgt", "-o", "no/x", check=False, cwd=folder)
    assert "no/x: cannot be written" in done.stderr
    writing = [
        (name, option.opts[-1])
        for name, command in ALL_COMMANDS.items()
        if isinstance(command, Command)
        for option in command.params
        if isinstance(option.type, OutputFile)
    ]
    assert len(writing) > 20
