"""Pictures of the evidence: AUROC by training text and by peers, scores and cuts by error rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coverage_eval.plotting import SYSTEM_COLOURS
from coverage_eval.plotting.canvas import GRID, new_figure

_STYLES = ("-", "--")
_SCORES = ("DROP", "DROP forward", "soft DROP")
_FINDER = (*_SCORES, "uncovered source", "omissions", "omissions, no ref.")
_CUTS = ("segment", "by lengths", "proportional")


def pictures(tables: Mapping[str, pd.DataFrame]) -> dict[str, Figure]:
    """Name → picture, from the tables that were measured."""
    both = new_figure(8.4, 4.4)
    left, right = _axes(both, 2)
    _lines(left, tables["training"], _FINDER)
    _lines(right, tables["levels"], ("REP, words twice", "REP, phrases twice", *_SCORES))
    left.set(xscale="log", xlabel="training pairs", ylabel="AUROC, phrases left out")
    right.set(xlabel="words concerned, %", ylabel="score of the output", ylim=(0, 20))
    for ax in (left, right):
        legend_style = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.18)}
        ax.legend(frameon=False, fontsize=6, ncols=2, **legend_style)

    documents = new_figure(8.4, 3.4)
    left, right = _axes(documents, 2)
    rates = tables["document_rates"].rename(columns=lambda name: name.removesuffix(", %"))
    for ax, columns, what in (
        (left, [f"words right, {cut}" for cut in _CUTS], "words on the right line, %"),
        (right, ["missing lines, F", "the same, by lengths"], "missing lines, F"),
    ):
        rows = rates[["corpus", "case", *columns]]
        names = dict(zip(columns, _CUTS, strict=False))
        _lines(ax, rows.rename(columns=names), tuple(names.values()), marker="o")
        ax.set(xlabel="lines left out, %", ylabel=what, ylim=(0, None))
        ax.legend(frameon=False, fontsize=6)

    peers = new_figure(5.2, 3.6)
    (ax,) = _axes(peers, 1)
    for number, (run, rows) in enumerate(tables["peers"].groupby("run", sort=False)):
        for style, name in zip(_STYLES, ("no reference", "with reference"), strict=True):
            ax.plot(rows["peers"], rows[name], style, marker="o", markersize=3,
                    color=SYSTEM_COLOURS[number], label=f"{run}, {name}")  # fmt: skip
    ax.set(xlabel="outputs of other systems", ylabel="AUROC, omissions put into real outputs")
    ax.legend(frameon=False, fontsize=6)
    return {"evidence": both, "evidence_documents": documents, "evidence_peers": peers}


def _axes(figure: Figure, count: int) -> list[Axes]:
    found = [figure.add_subplot(1, count, number) for number in range(1, count + 1)]
    for ax in found:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(color=GRID, linewidth=0.6)
    return found


def _lines(ax: Axes, table: pd.DataFrame, columns: Sequence[str], marker: str = "") -> None:
    """A line for each column, and a style for each corpus, with intervals where there are any."""
    corpora = zip(_STYLES, table.groupby("corpus"), strict=False)
    for (style, (corpus, rows)), (number, name) in product(corpora, enumerate(columns)):
        x = rows.iloc[:, 1].astype(str).str.replace(r"[,%]", "", regex=True).astype(float)
        color = SYSTEM_COLOURS[number]
        ax.plot(x, rows[name], style, color=color, linewidth=1.4, marker=marker, markersize=3,
                label=f"{name}, {corpus}")  # fmt: skip
        if f"{name}, low" in rows:
            low, high = rows[f"{name}, low"], rows[f"{name}, high"]
            ax.fill_between(x, low, high, color=color, alpha=0.1, linewidth=0)
