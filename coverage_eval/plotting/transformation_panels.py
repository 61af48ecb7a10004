"""Figure 1 of Malaviya et al. (2018): four transformations over the steps of a toy example."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from coverage_eval import attention
from coverage_eval.errors import DataError
from coverage_eval.plotting import colours
from coverage_eval.plotting.arrays import checked_vector
from coverage_eval.plotting.canvas import new_figure
from coverage_eval.plotting.labels import write
from coverage_eval.plotting.triangle import format_point, simplex

__all__ = ["FIGURE1_SCORES", "attention_rounds", "simplex_figure1"]

#: The scores of the figure's caption, one row for each step.
FIGURE1_SCORES = ((1.2, 0.8, -0.2), (0.7, 0.9, 0.1), (-0.2, 0.2, 0.9))

_FREE = {"softmax": attention.softmax, "sparsemax": attention.sparsemax}
_BOUNDED = {
    "csoftmax": attention.constrained_softmax,
    "csparsemax": attention.constrained_sparsemax,
}


def attention_rounds(
    scores: ArrayLike, fertilities: ArrayLike, transformation: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Apply a transformation step by step, each word's bound being what is left of its fertility.

    At step t the bounds are u = f − β, β being the attention received so far (Malaviya et al.
    2018, Eq. 5); the transformations without bounds ignore them.

    Args:
        scores: ``[steps, words]``.
        fertilities: ``[words]``, f.
        transformation: ``softmax``, ``sparsemax``, ``csoftmax`` or ``csparsemax``.

    Returns:
        The attention and the bounds that held, both ``[steps, words]``.

    Raises:
        DataError: an unknown name, or shapes that disagree.
        InfeasibleBoundsError: the credit that is left is less than 1.
    """
    rows = np.asarray(scores, dtype=np.float64)
    if rows.ndim != 2:
        raise DataError(f"scores have shape {rows.shape}, but (steps, words) is needed")
    total = checked_vector(fertilities, rows.shape[1], "fertilities")
    if transformation not in _FREE and transformation not in _BOUNDED:
        known = ", ".join([*_FREE, *_BOUNDED])
        raise DataError(f"unknown transformation {transformation!r}: choose from {known}")
    weights, bounds = np.zeros_like(rows), np.zeros_like(rows)
    for t, row in enumerate(rows):
        bounds[t] = np.maximum(total - weights[:t].sum(axis=0), 0.0)
        if transformation in _FREE:
            weights[t] = _FREE[transformation](row)
        else:
            weights[t] = _BOUNDED[transformation](row, bounds[t])
    return weights, bounds


def simplex_figure1(
    scores: ArrayLike = FIGURE1_SCORES,
    fertilities: ArrayLike = (1.0, 1.0, 1.0),
    *,
    axes: NDArray[np.object_] | None = None,
) -> NDArray[np.object_]:
    """Draw Figure 1 of Malaviya et al. (2018), or the same for other scores and fertilities.

    Columns are softmax, sparsemax, constrained softmax and constrained sparsemax. Each row is a
    step, with the attention on the simplex and, for the constrained two, the upper bounds (green
    dashed lines); the last row has the cumulative attention of the words against their
    fertilities (green dashed), what exceeds them in another colour.

    Args:
        scores: ``[steps, 3]``; those of the caption by default.
        fertilities: ``[3]``; unit fertilities by default.
        axes: ``[steps + 1, 4]`` Axes to draw on; a new figure if None.

    Returns:
        The ``[steps + 1, 4]`` Axes; ``axes[0, 0].figure`` is the figure.

    Raises:
        DataError: shapes are wrong, or the fertilities do not suffice for that many steps.
    """
    rows = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise DataError(f"scores have shape {rows.shape}, but (steps, 3) is needed")
    total = checked_vector(fertilities, 3, "fertilities")
    if (total < 0).any():
        raise DataError(f"fertilities must not be negative: {format_point(total)}")
    names = [*_FREE, *_BOUNDED]
    if axes is None:
        figure = new_figure(9.6, 1.95 * len(rows) + 1.7)
        axes = figure.subplots(
            len(rows) + 1, 4, squeeze=False, height_ratios=[1.0] * len(rows) + [0.72]
        )
    for column, name in enumerate(names):
        weights, bounds = attention_rounds(rows, total, name)
        axes[0, column].set_title(name, fontsize=12, pad=14)
        for t in range(len(rows)):
            bounded = bounds[t] if name in _BOUNDED else None
            simplex(weights[t], bounds=bounded, ax=axes[t, column])
        _draw_cumulative(axes[-1, column], weights.sum(axis=0), total)
    for t, row in enumerate(rows):
        label = f"step {t + 1}\nz = {format_point(row).replace('-', '−')}"
        axes[t, 0].set_ylabel(label, rotation=0, ha="right", va="center", fontsize=9)
    axes[-1, 0].set_ylabel("cumulative\nattention", rotation=0, ha="right", va="center", fontsize=9)
    highest = max(1.0, float(np.max(total[np.isfinite(total)], initial=0.0)))
    for ax in axes[-1]:
        ax.set_ylim(0, max(1.25 * highest, *(axis.get_ylim()[1] for axis in axes[-1])))
    return axes


def _draw_cumulative(
    ax: Axes, cumulative: NDArray[np.float64], fertilities: NDArray[np.float64]
) -> None:
    places = np.arange(1, len(cumulative) + 1)
    within = np.minimum(cumulative, fertilities)
    ax.bar(places, within, width=0.55, color=colours.WEIGHT, gid="cumulative")
    ax.bar(
        places, cumulative - within, bottom=within, width=0.55, color=colours.EXCESS, gid="excess"
    )
    bounded = np.isfinite(fertilities)
    for place, fertility in zip(places[bounded], fertilities[bounded], strict=True):
        ends = [place - 0.42, place + 0.42], [fertility] * 2
        ax.plot(*ends, "--", color=colours.BOUND, linewidth=1.6, gid="fertility")
    for place, value in zip(places, cumulative, strict=True):
        total = f"{round(float(value), 2):g}"
        write(ax, total, (float(place), 0), (0, 4), color="white", gid="total")
    ax.set(xticks=places, yticks=[0, 1], xlim=(0.4, len(places) + 0.6))
    ax.tick_params(labelsize=8)
    ax.spines[["top", "right"]].set_visible(False)
