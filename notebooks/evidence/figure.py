"""The picture of the evidence: training text against AUROC, and scores against known rates."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coverage_eval.plotting import colours
from coverage_eval.plotting.canvas import new_figure
from coverage_eval.tables.table import ScoreCell, Table

_STYLES = ("-", "--")


def draw(training: Mapping[str, Table], rates: Mapping[str, Table]) -> Figure:
    """Draw tables of several corpora, which differ by the style of their lines.

    Args:
        training: Tables of :func:`settings.training_size` by the corpus's name.
        rates: Tables of :func:`systems.what_is_good`.
    """
    figure = new_figure(8.4, 4.4)
    left, right = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2)
    for ax, tables in ((left, training), (right, rates)):
        for style, (name, table) in zip(_STYLES, tables.items(), strict=False):
            _lines(ax, table, name, style)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(color=colours.GRID, linewidth=0.6)
        ax.legend(
            frameon=False, fontsize=6, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.18)
        )
    left.set(xscale="log", xlabel="training pairs", ylabel="AUROC, phrases left out")
    right.set(xlabel="words concerned, %", ylabel="score of the output", ylim=(0, 20))
    return figure


def _lines(ax: Axes, table: Table, name: str, style: str) -> None:
    across = [float(str(row[0]).replace(",", "").removesuffix(" %")) for row in table.rows]
    for column, label in enumerate(table.header[1:], start=1):
        cells = [row[column] for row in table.rows]
        values = [cell.value if isinstance(cell, ScoreCell) else cell for cell in cells]
        color = colours.SYSTEMS[column - 1]
        ax.plot(across, values, style, color=color, linewidth=1.4, label=f"{label}, {name}")
        bands = [(cell.low, cell.high) for cell in cells if isinstance(cell, ScoreCell)]
        if bands:
            low, high = zip(*bands, strict=True)
            ax.fill_between(across, low, high, color=color, alpha=0.1, linewidth=0)
