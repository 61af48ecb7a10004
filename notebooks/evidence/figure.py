"""Pictures of the evidence: AUROC by training text and by peers, scores and cuts by error rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from itertools import product
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from peers import ALL

from coverage_eval.plotting import MARK_COLOURS, SYSTEM_COLOURS
from coverage_eval.plotting.canvas import GRID, INK, new_figure

_STYLES = ("-", "--")
_SCORES = ("DROP", "DROP forward", "soft DROP")
_FINDER = (*_SCORES, "uncovered source", "omissions", "omissions, no ref.")
_COLOURS = {
    **dict(zip(_FINDER, ("", *SYSTEM_COLOURS[3:6], *SYSTEM_COLOURS[:3:2]), strict=True)),
    "DROP": MARK_COLOURS["dropped"],
    "REP, words twice": MARK_COLOURS["repeated"],
    "REP, phrases twice": SYSTEM_COLOURS[9],
}
"""A score has the same colour in all pictures; DROP and REP have theirs of maps and reports."""
_CUTS = ("segment", "by lengths", "proportional")


def pictures(tables: Mapping[str, pd.DataFrame]) -> dict[str, Figure]:
    """Name → picture, from the tables that were measured."""
    both = new_figure(8.8, 4.8)
    left, right = _axes(both, 2)
    _lines(left, tables["training"], _FINDER)
    _lines(right, tables["levels"], ("REP, words twice", "REP, phrases twice", *_SCORES))
    left.set(xscale="log", xlabel="training pairs", ylabel="AUROC, phrases left out")
    right.set(xlabel="words concerned, %", ylabel="score of the output", ylim=(0, None))
    for ax in (left, right):
        _legend(ax, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)

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
        _legend(ax)

    peers = new_figure(6.0, 3.6)
    (ax,) = _axes(peers, 1)
    single = tables["peers"][tables["peers"]["run"] != ALL]
    runs, count = single.groupby("peers"), single["run"].nunique()
    for colour, name, side in (
        (SYSTEM_COLOURS[0], "no reference", "bottom"),
        (SYSTEM_COLOURS[1], "with reference", "top"),
    ):
        mean, low, high = runs[name].mean(), runs[name].min(), runs[name].max()
        ax.fill_between(mean.index, low, high, color=colour, alpha=0.15, linewidth=0)
        ax.plot(mean, marker="o", markersize=4, color=colour)
        place = {"textcoords": "offset points", "va": side, "color": colour}
        ax.annotate(name, (mean.index[-1], mean.iloc[-1]), (8, 0), annotation_clip=False, **place)
    ax.set(
        xlabel=f"outputs of other systems (mean and range of {count} runs)",
        ylabel="AUROC, omissions put\ninto real outputs",
    )
    return {"evidence": both, "evidence_documents": documents, "evidence_peers": peers}


def _axes(figure: Figure, count: int) -> list[Axes]:
    found = [figure.add_subplot(1, count, number) for number in range(1, count + 1)]
    for ax in found:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(color=GRID, linewidth=0.6)
    return found


def _legend(ax: Axes, **place: Any) -> None:
    """Name each colour once, and each style of lines."""
    found: dict[str, Any] = {}
    for line, label in zip(*ax.get_legend_handles_labels(), strict=True):
        name, corpus = label.rsplit(", ", 1)
        solid, ink = copy(line), copy(line)
        solid.set(linestyle="-")
        ink.set(color=INK, marker="")
        found.setdefault(name, solid)
        found.setdefault(corpus, ink)
    names = sorted(found, key=lambda name: found[name].get_color() == INK)
    ax.legend([found[name] for name in names], names, frameon=False, fontsize=8, **place)


def _lines(ax: Axes, table: pd.DataFrame, columns: Sequence[str], marker: str = "") -> None:
    """A line for each column, and a style for each corpus, with intervals where there are any."""
    corpora = zip(_STYLES, table.groupby("corpus"), strict=False)
    for (style, (corpus, rows)), (number, name) in product(corpora, enumerate(columns)):
        x = rows.iloc[:, 1].astype(str).str.replace(r"[,%]", "", regex=True).astype(float)
        color = _COLOURS.get(name, SYSTEM_COLOURS[number])
        ax.plot(x, rows[name], style, color=color, linewidth=1.4, marker=marker, markersize=3,
                label=f"{name}, {corpus}")  # fmt: skip
        if f"{name}, low" in rows:
            low, high = rows[f"{name}, low"], rows[f"{name}, high"]
            ax.fill_between(x, low, high, color=color, alpha=0.1, linewidth=0)
