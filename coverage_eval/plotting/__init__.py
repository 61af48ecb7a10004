"""Figures: functions that take arrays and ``ax=None`` and return Axes.

They never save, change no setting, choose no backend and need no display; a figure of their own
is made without pyplot, so a notebook shows it when a cell ends in ``ax.figure``. Matplotlib is
imported by the first picture, not by this package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coverage_eval.plotting.figure1 import simplex_figure1
    from coverage_eval.plotting.heatmap import (
        attention_heatmap,
        attention_heatmaps_side_by_side,
    )
    from coverage_eval.plotting.triangle import simplex

__all__ = [
    "attention_heatmap",
    "attention_heatmaps_side_by_side",
    "simplex",
    "simplex_figure1",
]

_HOMES = {
    "attention_heatmap": "heatmap",
    "attention_heatmaps_side_by_side": "heatmap",
    "simplex": "triangle",
    "simplex_figure1": "figure1",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
