"""Pictures of the evidence: AUROC by training text and by witnesses, scores by error rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coverage_eval.plotting import colours
from coverage_eval.plotting.canvas import new_figure
from coverage_eval.tables.table import ScoreCell, Table

_STYLES = ("-", "--")


def draw(training: Mapping[str, Table], rates: Mapping[str, Table]) -> Figure:
    """Draw tables of several corpora, each with its own line style.

    Args:
        training: Name of each corpus → table of :func:`settings.training_size`.
        rates: Name of each corpus → table of :func:`systems.what_is_good`.
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


def draw_witnesses(tables: Sequence[Table]) -> Figure:
    """Draw AUROC by number of peers, a line for each run, dashed with the reference.

    Args:
        tables: The first table of :func:`witnesses.witness_tables` for each corpus.
    """
    figure = new_figure(5.2, 3.6)
    ax = figure.add_subplot()
    columns = [
        (name, [float(str(row[place])) for row in table.rows])
        for table in tables
        for place, name in enumerate(table.header[1:], start=1)
    ]
    counts = [0 if row[0] == "none" else int(str(row[0])) for row in tables[0].rows]
    for number, (name, values) in enumerate(columns):
        style = "--" if name.endswith("reference") else "-"
        ax.plot(counts, values, style, marker="o", markersize=3, label=name,
                color=colours.SYSTEMS[number // 2])  # fmt: skip
    ax.set(xlabel="outputs of other systems", ylabel="AUROC, omissions put into real outputs")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color=colours.GRID, linewidth=0.6)
    ax.legend(frameon=False, fontsize=6)
    return figure


def _lines(ax: Axes, table: Table, name: str, style: str) -> None:
    across = [float(str(row[0]).replace(",", "").removesuffix("%")) for row in table.rows]
    for column, label in enumerate(table.header[1:], start=1):
        cells = [row[column] for row in table.rows]
        values = [cell.value if isinstance(cell, ScoreCell) else cell for cell in cells]
        color = colours.SYSTEMS[column - 1]
        ax.plot(across, values, style, color=color, linewidth=1.4, label=f"{label}, {name}")
        bands = [(cell.low, cell.high) for cell in cells if isinstance(cell, ScoreCell)]
        if bands:
            low, high = zip(*bands, strict=True)
            ax.fill_between(across, low, high, color=color, alpha=0.1, linewidth=0)
