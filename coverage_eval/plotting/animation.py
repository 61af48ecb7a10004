"""Cumulative attention growing word by word, as an animation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.animation import FuncAnimation
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from coverage_eval.plotting import colours
from coverage_eval.plotting.arrays import checked_attention, checked_vector
from coverage_eval.plotting.canvas import figure_of, new_axes
from coverage_eval.plotting.fonts import font_families
from coverage_eval.plotting.labels import longest_label, shorten, word_ticks
from coverage_eval.plotting.margin import bar_corners, draw_fertilities, row_bars


def coverage_animation(
    attention: ArrayLike,
    source: Sequence[str],
    hypothesis: Sequence[str],
    *,
    fertility: ArrayLike | None = None,
    interval: float = 500.0,
    ax: Axes | None = None,
) -> FuncAnimation:
    """Animate each source word's cumulative attention β_t over the decoding steps t.

    Frame t shows the attention received up to target word t, that step's own part darker, what
    exceeds a fertility in another colour; frame 0 is before the first word.

    Args:
        attention: ``[target, source]`` weights in [0, 1].
        source: the source words.
        hypothesis: the words of the hypothesis.
        fertility: ``[source]`` upper bounds, green dashed; infinite ones have no line.
        interval: milliseconds from frame to frame.
        ax: where to draw; a new figure if None.

    Returns:
        The animation, one frame more than there are target words; its ``save`` writes a GIF with
        ``writer="pillow"``. Keep a reference to it until then.

    Raises:
        DataError: shapes and texts disagree, or an entry is no weight.
    """
    weights = checked_attention(attention, source, hypothesis)
    bounds = np.full(len(source), np.inf)
    if fertility is not None:
        bounds = checked_vector(fertility, len(source), "fertility")
    reached = np.vstack([np.zeros(len(source)), weights.cumsum(axis=0)])
    if ax is None:
        ax = new_axes(4.2 + longest_label(source), min(16.0, 0.25 * len(source) + 1.2))
    source_fonts, hypothesis_fonts = font_families(source, hypothesis)
    _draw_frame(ax, reached[-1], bounds)
    word_ticks(ax, "y", source, source_fonts)
    title = ax.set_title(" ", loc="left", fontsize=10, fontfamily=hypothesis_fonts)
    title.set(parse_math=False, usetex=False)
    none = np.zeros(len(source))
    kinds = {"before": colours.WEIGHT, "now": colours.NOW, "excess": colours.EXCESS}
    bars = [row_bars(none, none, colour, gid) for gid, colour in kinds.items()]
    for bar in bars:
        ax.add_collection(bar)

    def draw(step: int) -> list[Artist]:
        before, after = reached[max(step - 1, 0)], reached[step]
        for bar, corners in zip(bars, _segments(before, after, bounds), strict=True):
            bar.set_verts(list(corners))
        title.set_text(_caption(step, hypothesis))
        return [*bars, title]

    return FuncAnimation(
        figure_of(ax), draw, frames=len(hypothesis) + 1, interval=interval, blit=False
    )


def _draw_frame(ax: Axes, last: NDArray[np.float64], bounds: NDArray[np.float64]) -> None:
    """Draw what stays still: an axis that is long enough for the last step, and the fertilities."""
    furthest = max([1.0, *last, *bounds[np.isfinite(bounds)]])
    ax.set(xlim=(0, 1.05 * furthest), ylim=(max(len(last), 1) - 0.5, -0.5))
    ax.set_xlabel("cumulative attention")
    ax.spines[["top", "right"]].set_visible(False)
    draw_fertilities(ax, bounds)


def _segments(
    before: NDArray[np.float64], after: NDArray[np.float64], bounds: NDArray[np.float64]
) -> list[NDArray[np.float64]]:
    """Return the bars of what was there, of this step's part, and of what exceeds the bounds."""
    old, new = np.minimum(before, bounds), np.minimum(after, bounds)
    return [bar_corners(np.zeros_like(old), old), bar_corners(old, new), bar_corners(new, after)]


def _caption(step: int, hypothesis: Sequence[str]) -> str:
    """Return the step and the last few words decoded, the newest in brackets."""
    if step == 0:
        return f"step 0 of {len(hypothesis)}"
    *earlier, newest = [shorten(word) for word in hypothesis[max(step - 4, 0) : step]]
    dots = ["…"] if step > 4 else []
    return f"step {step} of {len(hypothesis)}: " + " ".join([*dots, *earlier, f"[{newest}]"])
