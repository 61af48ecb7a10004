"""``--plot`` of commands that print figures of one text, and of ``compare``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import RunCli

TEXTS = ("--src", "test.de", "--model", "model")
COMMANDS = {
    "profile": ("profile", "dropping.en", "--ref", "test.en", *TEXTS),
    "omissions": ("omissions", "dropping.en", *TEXTS),
    "fertility": ("fertility", "actual", "test.de", "test.links", "--sink"),
    "compare": ("compare", "--ref", "test.en", "careful.en", "dropping.en", "--metrics", "rep,bleu",
                "--resamples", 50),
}  # fmt: skip
SAID = {
    "profile": ("REP-letters", "whole text:"),
    "omissions": ("omission score", "(omission if at least 4)", "segments"),
    "fertility": ("fertility", "words"),
    "compare": ("REP (lower is better)", "difference from careful.en", "dropping.en"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_pictures_beside_the_same_output(
    name: str, demonstration: Path, run_cli: RunCli, tmp_path: Path
) -> None:
    option = "--plot-differences" if name == "compare" else "--plot"
    plain = run_cli(*COMMANDS[name], cwd=demonstration).stdout
    done = run_cli(*COMMANDS[name], option, tmp_path / "p.svg", cwd=demonstration)
    assert done.stdout == plain
    assert "findfont" not in done.stderr
    drawn = (tmp_path / "p.svg").read_text(encoding="utf-8")
    for text in SAID[name]:
        assert f"<!-- {text}" in drawn
    wrong = run_cli(*COMMANDS[name], option, tmp_path / "p.bmp", check=False, cwd=demonstration)
    assert wrong.returncode == 1
    assert not (tmp_path / "p.bmp").exists()
