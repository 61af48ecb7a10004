"""Figures: functions that take arrays and ``ax=None`` and return Axes.

They do not save files, change settings, choose a backend or need a display. Figures are made
without pyplot; a notebook shows one when a cell ends in ``ax.figure``. Matplotlib is imported by
the first picture, not by this package.

>>> from coverage_eval import plotting
>>> ax = plotting.attention_heatmap([[0.9, 0.1], [0.2, 0.8]], ["ein", "Haus"], ["a", "house"])
>>> [label.get_text() for label in ax.get_yticklabels()]
['ein', 'Haus']

A line in the table below makes a new function public.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

Scale = Literal["auto", "fixed", "max", "sqrt"]
"""Range of an attention map's colours: 0 to 1, 0 to its largest weight, or square roots; ``auto``
takes square roots for long sentences."""

SYSTEM_COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
    "#8A3FFC", "#8C564B", "#808A00",
)  # fmt: skip
"""The colours of systems, in their order, in pictures and reports: the palette of Okabe and Ito,
whose colours stay distinct under the common forms of colour blindness, and three more for up to ten
systems."""

_HOMES = {
    "attention_heatmap": "heatmap",
    "attention_heatmaps_side_by_side": "heatmap",
    "plot_differences": "scores",
    "simplex": "triangle",
    "simplex_figure1": "triangle",
    "transformation_curves": "triangle",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
