"""Options that are the name of a picture to write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from coverage_eval.cli.overwriting import OutputFile
from coverage_eval.report.pictures import ENDINGS, checked_ending


class PictureFile(OutputFile):
    """The name of a picture, refused before any work if its ending is of no format.

    Args:
        endings: Those that the command can write.
    """

    def __init__(self, endings: Sequence[str] = ENDINGS) -> None:
        super().__init__()
        self._endings = endings

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name as it is given."""
        path = str(super().convert(value, param, ctx))
        checked_ending(path, self._endings)
        return path
