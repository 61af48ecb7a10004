"""``coverage-eval simplex``."""

from __future__ import annotations

import click

from coverage_eval.cli.help import option
from coverage_eval.cli.options import Command, PictureFile, WholeRange
from coverage_eval.plotting.saving import save_figure


def _triple(text: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) != 3:
        raise click.BadParameter(f"{text!r} is not three numbers separated by commas")
    return numbers


def _triples(
    _context: click.Context, _option: click.Parameter, value: str | tuple[str, ...]
) -> tuple[float, ...] | tuple[tuple[float, ...], ...]:
    return _triple(value) if isinstance(value, str) else tuple(_triple(text) for text in value)


@click.command("simplex", cls=Command)
@option(
    "-o", "--output", metavar="FILE", required=True, type=PictureFile(),
    help="Write the picture to this file, a .png, .svg or .pdf.",
)  # fmt: skip
@option(
    "-z", "--scores", multiple=True, callback=_triples, metavar="A,B,C",
    help="Scores of the three words; give them once for each step.  [default: the paper's three "
    "steps]",
)  # fmt: skip
@option(
    "--fertilities", default="1,1,1", callback=_triples, metavar="A,B,C",
    help="The most attention that each word may receive over all steps; 'inf' for no bound.",
)  # fmt: skip
@option("--dpi", default=150, type=WholeRange(20, 1200), help="Dots per inch.")
def command(
    output: str, scores: tuple[tuple[float, ...], ...], fertilities: tuple[float, ...], dpi: int
) -> None:
    """Draw attention transformations on the probability simplex.

    By default this is Figure 1 of Malaviya et al. (2018): softmax, sparsemax and their constrained
    versions over three steps.

    \b
    Example:
      coverage-eval simplex -o figure1.png
      coverage-eval simplex -z 1.2,0.8,-0.2 -z 0.7,0.9,0.1 -o two-steps.svg
    """
    from coverage_eval.plotting.transformation_plots import FIGURE1_SCORES, simplex_figure1

    axes = simplex_figure1(scores or FIGURE1_SCORES, fertilities)
    save_figure(axes[0, 0], output, dpi=dpi)
