"""``coverage-eval demo``."""

from __future__ import annotations

from pathlib import Path

import click

from coverage_eval.report.tables import render_table
from coverage_eval.testbed.demonstration import demonstrate


@click.command("demo")
@click.option("--folder", type=click.Path(file_okay=False, path_type=Path),
              help="Write the texts and the model there, to go on with by hand.")  # fmt: skip
def command(folder: Path | None) -> None:
    """Show the main job on bundled input: REP, DROP and BLEU where the errors are known."""
    for section in demonstrate(folder):
        click.secho(section.title, bold=True)
        click.echo(f"\n{render_table(section.header, section.rows, 'text')}\n")
        for note in section.notes:
            click.echo(f"  {note}")
        click.echo()
    if folder is not None:
        click.echo(
            f"Go on by hand:\n  coverage-eval rep {folder}/repeating.en {folder}/test.en\n"
            f"  coverage-eval drop {folder}/dropping.en {folder}/test.en "
            f"--src {folder}/test.de --model {folder}/model"
        )
