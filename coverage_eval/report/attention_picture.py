"""A picture of one attention map as a file."""

from __future__ import annotations

import os

from coverage_eval.attention_maps.maps import AttentionMap
from coverage_eval.errors import DataError
from coverage_eval.plotting import Scale
from coverage_eval.report.pictures import ENDINGS, checked_ending, save_animation, save_figure

PICTURES = (*ENDINGS, ".gif")
"""Endings of the files that can be written; ``.gif`` moves."""


def save_picture(
    item: AttentionMap,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    scale: Scale = "fixed",
) -> None:
    """Draw a map as in Figure 2 of Malaviya et al. (2018), or its cumulative attention as a GIF.

    Args:
        item: The map; EOS entries are drawn too.
        path: Ends in one of :data:`PICTURES`.
        title: Set above the picture (not above a GIF).
        scale: How weights become colours (:func:`~coverage_eval.plotting.attention_heatmap`); a
            GIF has bars instead.

    Raises:
        DataError: Another ending, nothing to draw, or the file cannot be written.
    """
    ending = checked_ending(path, PICTURES)
    if item.weights.size == 0:
        rows, columns = item.weights.shape
        raise DataError(f"nothing to draw: {rows} target and {columns} source tokens")
    from coverage_eval.plotting import attention_heatmap, coverage_animation
    from coverage_eval.plotting.canvas import figure_of

    labels = (item.source_labels, item.hypothesis_labels)
    if ending == ".gif":
        save_animation(coverage_animation(item.weights, *labels), path)
    else:
        ax = attention_heatmap(item.weights, *labels, title=title, scale=scale)
        save_figure(figure_of(ax), path, tight=True)
