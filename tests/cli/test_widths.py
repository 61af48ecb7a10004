"""Every command at 60, 80 and 120 columns: no line is too wide, no name and no number is cut."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from unittest import mock

import click
import pytest
from rich.console import Console

from coverage_eval.core.formats import FORMATS
from coverage_eval.core.layout import text, width_of
from coverage_eval.core.report import Report, Style
from tests.cli.tools import ALL_COMMANDS, in_a_window
from tests.conftest import ROOT
from tests.test_readme import blocks, commands

WIDTHS = (60, 80, 120)
SYSTEMS = ("a-system-with-a-long-name=careful.en", "repeating=repeating.en", "dropping=dropping.en")
COMPARE = ("compare", "--ref", "test.en", "--src", "test.de", "--model", "model", *SYSTEMS)
SCORE = ("repeating.en", "test.en", "--sentence-level", "--worst", "5")
MAPS = ROOT / "notebooks/reproduction/own_sentences/softmax.jsonl"
LINKS = ("--src", "test.de", "--model", "model")

TABLES = {
    "five metrics and breakdowns": (*COMPARE, "--resamples", "50", "--breakdown", "all"),
    "rep": ("rep", *SCORE),
    "drop": ("drop", "dropping.en", *SCORE[1:], *LINKS),
    "omissions": ("omissions", "dropping.en", *SCORE[2:], *LINKS),
    "audit": ("audit", "report-tables"),
    "attention": ("attention", "score", MAPS),
}  # fmt: skip


def shown(done: str) -> list[str]:
    """The printed lines that must fit: all but signatures and examples, which are to be copied."""
    return [line for line in done.splitlines() if "|" not in line and not line.startswith("  ")]


def facts(text: str) -> Counter[str]:
    """Numbers and p-values, as often as they are printed."""
    return Counter(re.findall(r"(?<![\w.])-?\d+\.\d+(?![\w.])", text))


@pytest.mark.parametrize("name", TABLES)
def test_no_table_is_cut(name, run_cli, demonstration):
    texts = {}

    def render_at_all_widths(report: Report, _: Style) -> Iterator[str]:
        texts[0] = "\n".join(text(report, Style()))
        for columns in WIDTHS:
            console = Console(force_terminal=True, width=columns, no_color=True)
            lines = text(report, Style(width=columns, console=console))
            texts[columns] = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(lines))
        return iter(())

    with mock.patch.dict(FORMATS, text=render_at_all_widths):
        run_cli(*TABLES[name], cwd=demonstration)
    whole = texts.pop(0)
    assert facts(whole)
    names = {word.partition("=")[0] for word in SYSTEMS} & set(whole.split())
    for width, printed in texts.items():
        assert max(map(len, shown(printed))) <= width
        assert not facts(whole) - facts(printed), "a number is cut"
        assert names <= set(printed.split())


README = [
    command
    for command in chain(
        ["coverage-eval audit"],
        (command for command, _ in commands(ROOT / "README.md")),
        *(re.split(r"(?<!\\)\n", block) for block in blocks("sh")),
    )
    if command.startswith("coverage-eval ")
]
"""The commands of README's examples, and the audit that prints."""


@pytest.fixture(scope="module")
def folder(demonstration: Path, finder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that README's commands read: a demonstration, a model, and scores of two seeds."""
    path = tmp_path_factory.mktemp("readme")
    shutil.copytree(demonstration, path / "demo")
    shutil.copy(finder, path / "finder")
    for seed in ("seed1", "seed2"):
        run = ROOT / f"notebooks/reproduction/multi30k-de-en-256-{seed}"
        shutil.copy(run / "table1.csv", path / f"{seed}.csv")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("command", README, ids=[" ".join(line.split()[1:3]) for line in README])
def test_the_readmes_commands_fit_a_terminal(command, folder):
    """In a window of 24 lines of 80 columns, and of 60: no line is wider, and no word is broken.

    The claims on a user's systems are quoted whole, with the size of each comparison.
    """
    middle, narrow = (in_a_window(command, folder, columns) for columns in (80, 60))
    assert len(middle) <= (70 if "audit claims" in command else 24)
    words = [{word for line in lines for word in line.split() if {*word} != {"-"}}
             for lines in (middle, narrow)]  # fmt: skip
    assert words[0] == words[1]
    for lines, columns in ((middle, 80), (narrow, 60)):
        assert max(map(width_of, lines), default=0) <= columns
        assert not [line for line in lines if line.startswith("Traceback")]


@pytest.mark.parametrize("name", ALL_COMMANDS)
def test_help_fits_and_names_every_option(name, run_cli):
    """Examples are to be copied, so they have at most 78 columns in every window."""
    words, command = name.split()[1:], ALL_COMMANDS[name]
    whole = "--help" if isinstance(command, click.Group) else "--help-all"
    for width in WIDTHS:
        text = run_cli(*words, whole, env={"COLUMNS": str(width)}).stdout
        example, lines = text.partition("Example:")[2].partition("\n\n")[::2]
        assert max(map(len, example.splitlines())) <= 78
        given = (command.help or "").partition("Example:")[2]
        assert example.split() == given.split()  # no word is broken
        assert all(len(line) <= width for line in lines.splitlines()), example
        for item in command.params:
            if isinstance(item, click.Option) and not item.hidden:
                assert all(flag in text for flag in item.opts)


@pytest.mark.parametrize("name", [name for name in ALL_COMMANDS if name != "coverage-eval"])
def test_help_is_one_screen_with_the_name_of_every_option(name, run_cli):
    words = name.split()[1:]
    brief, whole = (run_cli(*words, flag).stdout for flag in ("--help", "--help-all"))
    assert brief.count("\n") <= 45
    if not isinstance(ALL_COMMANDS[name], click.Group):
        flags = set(re.findall(r"(?m)^  (?:-\w, )?(--?[a-z][a-z0-9-]*)", whole))
        assert {flag for flag in flags if flag not in brief} == set()


def test_the_whole_help_of_a_group_has_that_of_its_commands(run_cli):
    whole = run_cli("--help-all").stdout
    assert run_cli("compare", "--help-all").stdout in whole
    assert run_cli("align", "train", "--help-all").stdout in whole
