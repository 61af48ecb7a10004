"""The colours of all pictures: safe for colour-blind readers, white for a weight of exactly 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coverage_eval.core.show.table import SYSTEM_COLOURS

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

SYSTEMS = SYSTEM_COLOURS
REPEATED = "#D55E00"
DROPPED = "#A6318A"
EXCESS = "#D55E00"
BOUND = "#00805A"
WITHIN_BOUNDS = "#DFEFE9"
WEIGHT = "#3B7DB8"
NOW = "#0B3C6B"
REFERENCE = "#7F7F7F"
INK = "#222222"
GRID = "#E3E3E3"


def attention_colormap() -> Colormap:
    """Blue tints that begin well off white; masked cells (weight zero) are exactly white.

    The smallest positive weight is visibly tinted, so that a sparse map differs from one that is
    merely small, as in Figure 2 of Malaviya et al. (2018): "white means zero attention".
    """
    import matplotlib as mpl
    import numpy as np
    from matplotlib.colors import LinearSegmentedColormap

    tints = mpl.colormaps["Blues"](np.linspace(0.18, 1.0, 256))
    colormap = LinearSegmentedColormap.from_list("coverage_eval_attention", tints)
    return colormap.with_extremes(bad="white")
