"""Figures: functions that take arrays and ``ax=None`` and return Axes.

They never save, change no setting, choose no backend and need no display; a figure of their own
is made without pyplot, so a notebook shows it when a cell ends in ``ax.figure``. Matplotlib is
imported by the first picture, not by this package.

>>> from coverage_eval import plotting
>>> ax = plotting.attention_heatmap([[0.9, 0.1], [0.2, 0.8]], ["ein", "Haus"], ["a", "house"])
>>> [label.get_text() for label in ax.get_yticklabels()]
['ein', 'Haus']

A new plot is one file in this folder and one line in the table below, which makes it public.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

Scale = Literal["fixed", "max", "sqrt"]
"""How an attention map colours weights: from 0 to 1, to its largest, or by square roots."""

_HOMES = {
    "alignment_grid": "alignments",
    "attention_heatmap": "heatmap",
    "attention_heatmaps_side_by_side": "heatmap",
    "coverage_animation": "animation",
    "coverage_histogram": "coverage",
    "metric_bars": "systems",
    "precision_recall_curves": "detection_curves",
    "plot_comparison": "systems",
    "quiet_missing_glyphs": "fonts",
    "reliability_diagram": "detection_curves",
    "roc_curves": "detection_curves",
    "segment_scatter": "systems",
    "simplex": "triangle",
    "simplex_figure1": "transformation_panels",
    "transformation_curves": "curves",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
