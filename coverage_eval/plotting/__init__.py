"""Figures: functions that take arrays and ``ax=None`` and return Axes.

They never save, change no setting, choose no backend and need no display; a figure of their own
is made without pyplot, so a notebook shows it when a cell ends in ``ax.figure``. Matplotlib is
imported by the first picture, not by this package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coverage_eval.plotting.alignments import alignment_grid
    from coverage_eval.plotting.animation import coverage_animation
    from coverage_eval.plotting.coverage import coverage_histogram
    from coverage_eval.plotting.curves import transformation_curves
    from coverage_eval.plotting.fonts import quiet_missing_glyphs
    from coverage_eval.plotting.heatmap import attention_heatmap, attention_heatmaps_side_by_side
    from coverage_eval.plotting.systems import metric_bars, segment_scatter
    from coverage_eval.plotting.transformation_panels import simplex_figure1
    from coverage_eval.plotting.triangle import simplex

__all__ = [
    "alignment_grid",
    "attention_heatmap",
    "attention_heatmaps_side_by_side",
    "coverage_animation",
    "coverage_histogram",
    "metric_bars",
    "quiet_missing_glyphs",
    "segment_scatter",
    "simplex",
    "simplex_figure1",
    "transformation_curves",
]

_HOMES = {
    "alignment_grid": "alignments",
    "attention_heatmap": "heatmap",
    "attention_heatmaps_side_by_side": "heatmap",
    "coverage_animation": "animation",
    "coverage_histogram": "coverage",
    "metric_bars": "systems",
    "quiet_missing_glyphs": "fonts",
    "segment_scatter": "systems",
    "simplex": "triangle",
    "simplex_figure1": "transformation_panels",
    "transformation_curves": "curves",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
