"""What a comparison is written to beside its table: all evidence, and a picture."""

from __future__ import annotations

from dataclasses import dataclass

import click

from coverage_eval.cli.options import gathered
from coverage_eval.cli.overwriting import OutputFile
from coverage_eval.cli.picture_files import PictureFile
from coverage_eval.comparison.comparison import Comparison
from coverage_eval.comparison.presentation import write_details
from coverage_eval.data.files import atomic_write
from coverage_eval.report.pictures import save_figure

STDOUT = "-"


@dataclass(frozen=True)
class ComparisonFiles:
    """Files to write, as the command line names them.

    Attributes:
        details: For all evidence.
        plot: For a picture.
    """

    details: str | None
    plot: str | None

    def check(self) -> None:
        """Refuse standard output for the evidence, before any file is read.

        Raises:
            click.UsageError: It is that.
        """
        if self.details == STDOUT:
            raise click.UsageError("--details writes a file: standard output has the table")

    def write(self, comparison: Comparison) -> None:
        """Write those that are named."""
        if self.plot:
            from coverage_eval.plotting.canvas import figure_of

            save_figure(figure_of(comparison.plot()[0]), self.plot)
        if self.details:
            with atomic_write(self.details) as file:
                write_details(comparison, file)


comparison_files = gathered(
    "files",
    ComparisonFiles,
    (
        click.option(
            "--details", metavar="FILE", type=OutputFile(),
            help="Write all evidence there, one segment of one system a line (JSON Lines).",
        ),
        click.option(
            "--plot", metavar="FILE", type=PictureFile(),
            help="Draw the table as bars with intervals into a .png, .svg or .pdf file.",
        ),
    ),
)  # fmt: skip
"""Adds the options; the command receives them as one ``files``."""
