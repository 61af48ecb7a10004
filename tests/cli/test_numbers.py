"""Numbers given to options: none is accepted with which no command can compute."""

from __future__ import annotations

import click
import pytest

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
    assert isinstance(kind, click.IntRange | click.FloatRange)
    for value in ("nan", "inf", "-inf", "1e308", "-1e308"):
        with pytest.raises(click.BadParameter):
            kind.convert(value, NUMBERS[name], None)
