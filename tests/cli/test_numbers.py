"""Numbers given to options: none is accepted with which no command can compute."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from coverage_eval.cli.options import FiniteRange
from tests.cli.tools import ALL_COMMANDS

NUMBERS = {
    f"{path} {option.opts[-1]}": option
    for path, command in ALL_COMMANDS.items()
    for option in command.params
    if isinstance(option.type, click.types.IntParamType | click.types.FloatParamType)
}


@pytest.mark.parametrize("name", NUMBERS)
def test_every_numeric_option_has_a_range(name):
    kind = NUMBERS[name].type
    assert isinstance(kind, FiniteRange)
    for value in ("nan", "inf", "-inf", "1e308", "9" * 40, "-1e308"):
        with pytest.raises(click.BadParameter):
            kind.convert(value, NUMBERS[name], None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "hyp").write_text("a b a b c c\n" * 3)
    (tmp_path / "ref").write_text("a b c\n" * 3)
    (tmp_path / "attention").write_text('{"coverage": [1.5, 0.5]}\n' * 2)
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        *(f"align train hyp ref -o m --{option} {value}"
          for option in ("alpha", "tension", "p0", "timeout") for value in ("nan", "inf", "1e300")),
        "rep hyp ref -n 99999999999999999999999",
        "align train hyp ref -o m --threads 1025",
        "rep hyp ref -n 51",
        "rep hyp ref --letters -n 20000",
        "rep hyp ref --w1 1e308 -f json",
        "rep hyp ref --confidence --bootstrap 10000000000",
        "compare hyp hyp --ref ref --metrics rep --resamples 10000000000",
        "compare hyp other=hyp --ref ref --metrics rep --fail-if-worse rep --p-value 1e-320",
    ],
)  # fmt: skip
def test_a_number_out_of_range_is_a_usage_error(folder, run_cli, line):
    done = run_cli(*line.split(), cwd=folder, check=False)
    assert done.returncode == 2, done.stderr
    assert not done.stdout
    assert " must be " in done.stderr


@pytest.mark.parametrize("number", ["1_0", "１０", "٣"])
def test_numbers_that_only_python_accepts_are_refused(folder, run_cli, number):
    for line in (f"align train hyp ref -o m --threads {number}", f"rep hyp ref --w1 {number}"):
        done = run_cli(*line.split(), cwd=folder, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert "is not a valid" in done.stderr
