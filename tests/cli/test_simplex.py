"""``coverage-eval simplex``: the installed command, its files and its errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.conftest import RunCli


@pytest.mark.parametrize(
    ("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_without_further_arguments_it_draws_figure_1(
    run_cli: RunCli, tmp_path: Path, ending: str, start: bytes
) -> None:
    result = run_cli("simplex", "-o", tmp_path / f"figure.{ending}", env={"DISPLAY": ""})
    assert result.stdout == ""
    assert result.stderr == ""
    assert (tmp_path / f"figure.{ending}").read_bytes().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [f"figure.{ending}"]


def test_the_same_command_writes_the_same_bytes(run_cli: RunCli, tmp_path: Path) -> None:
    run_cli("simplex", "-o", tmp_path / "first.svg")
    run_cli("simplex", "-o", tmp_path / "second.svg")
    text = (tmp_path / "first.svg").read_text()
    assert text == (tmp_path / "second.svg").read_text()
    # Matplotlib draws glyphs as paths and leaves the text itself in comments.
    for coordinates in ("(0.52, 0.35, 0.13)", "(0.12, 0.21, 0.67)", "(0, 0, 1)"):
        assert f"<!-- {coordinates} -->" in text


def test_scores_steps_and_resolution_are_options(run_cli: RunCli, tmp_path: Path) -> None:
    file = tmp_path / "f.png"
    run_cli("simplex", "-o", file, "-z", "1,0,0", "-z", "-1,0,0.5", "--dpi", 40)
    with Image.open(file) as image:
        low = np.asarray(image.convert("L")).shape
    run_cli("simplex", "-o", file, "-z", "1,0,0", "-z", "-1,0,0.5", "--dpi", 80)
    with Image.open(file) as image:
        assert np.allclose(np.array(image.size[::-1]), 2 * np.array(low), atol=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "figure.jpeg"], "ends in .png, .svg, .pdf"),
        (["-o", "figure"], "ends in .png, .svg, .pdf"),
        (["-o", "missing/figure.png"], "missing/figure.png: cannot be written"),
        (["-o", "f.png", *(["-z", "0,0,0"] * 4)], "upper bounds sum to 0"),
        (["-o", "f.png", "-z", "nan,0,0"], "NaN"),
    ],
)
def test_bad_data_is_one_line_and_leaves_no_file(
    run_cli: RunCli, tmp_path: Path, arguments: list[str], message: str
) -> None:
    result = run_cli("simplex", *arguments, check=False, cwd=tmp_path)
    assert result.returncode == 1
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arguments", [[], ["-o", "f.png", "-z", "1,2"], ["-o", "f.png", "--fertilities", "a,b,c"]]
)
def test_usage_errors_exit_2(run_cli: RunCli, tmp_path: Path, arguments: list[str]) -> None:
    result = run_cli("simplex", *arguments, check=False, cwd=tmp_path)
    assert result.returncode == 2
    assert not list(tmp_path.iterdir())
