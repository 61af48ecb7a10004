"""A picture of one attention map as a file."""

from __future__ import annotations

import os
from pathlib import Path

from coverage_eval.attention_maps.maps import AttentionMap
from coverage_eval.errors import DataError
from coverage_eval.files import atomic_path

__all__ = ["PICTURES", "save_picture"]

PICTURES = (".png", ".svg", ".pdf", ".gif")
"""Endings of the files that can be written; ``.gif`` moves."""

_DOTS = 150  # per inch, of PNG


def save_picture(
    item: AttentionMap, path: str | os.PathLike[str], *, title: str | None = None
) -> None:
    """Draw a map as in Figure 2 of Malaviya et al. (2018), or its cumulative attention as a GIF.

    Args:
        item: The map; EOS entries are drawn too.
        path: Ends in one of :data:`PICTURES`.
        title: Set above the picture (not above a GIF).

    Raises:
        DataError: Another ending, nothing to draw, or the file cannot be written.
    """
    ending = Path(path).suffix.lower()
    if ending not in PICTURES:
        raise DataError(f"{os.fspath(path)}: a picture's name ends in {', '.join(PICTURES)}")
    if item.weights.size == 0:
        rows, columns = item.weights.shape
        raise DataError(f"nothing to draw: {rows} target and {columns} source tokens")
    with atomic_path(path) as temporary:
        if ending == ".gif":
            _save_animation(item, temporary)
        else:
            _save_heatmap(item, temporary, title)


def _save_heatmap(item: AttentionMap, path: Path, title: str | None) -> None:
    from matplotlib import rc_context

    from coverage_eval.plotting import attention_heatmap, quiet_missing_glyphs
    from coverage_eval.plotting.canvas import figure_of

    ax = attention_heatmap(item.weights, item.source_labels, item.hypothesis_labels, title=title)
    # The same map gives the same file: no date, and no random names in SVG.
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix.lower())
    with quiet_missing_glyphs(), rc_context({"svg.hashsalt": "coverage-eval"}):
        figure_of(ax).savefig(path, dpi=_DOTS, bbox_inches="tight", metadata=metadata)


def _save_animation(item: AttentionMap, path: Path) -> None:
    from coverage_eval.plotting import coverage_animation, quiet_missing_glyphs

    animation = coverage_animation(item.weights, item.source_labels, item.hypothesis_labels)
    with quiet_missing_glyphs():
        animation.save(path, writer="pillow")
