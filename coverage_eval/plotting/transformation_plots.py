"""The attention transformations: Figure 1 of Malaviya et al. (2018), and curves of two words."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention import TRANSFORMATIONS, attend_with_credit
from coverage_eval.core.errors import DataError
from coverage_eval.plotting import colours
from coverage_eval.plotting.canvas import checked_vector, new_axes, new_figure
from coverage_eval.plotting.grid import write
from coverage_eval.plotting.triangle import format_point, simplex

#: The scores of the figure's caption, one row for each step.
FIGURE1_SCORES = ((1.2, 0.8, -0.2), (0.7, 0.9, 0.1), (-0.2, 0.2, 0.9))


def simplex_figure1(
    scores: ArrayLike = FIGURE1_SCORES,
    fertilities: ArrayLike = (1.0, 1.0, 1.0),
    *,
    axes: NDArray[np.object_] | None = None,
) -> NDArray[np.object_]:
    """Draw Figure 1 of Malaviya et al. (2018), or the same for other scores and fertilities.

    Columns are the registered transformations: softmax, sparsemax, constrained softmax and
    constrained sparsemax. Each row is a step, with the attention on the simplex and, for the
    constrained ones, the upper bounds (green dashed lines); the last row has the cumulative
    attention of the words, their fertilities (green dashed), and the excess in another colour.

    Args:
        scores: ``[steps, 3]``; those of the caption by default.
        fertilities: ``[3]``; unit fertilities by default.
        axes: ``[steps + 1, transformations]`` Axes to draw on; a new figure if None.

    Returns:
        The ``[steps + 1, transformations]`` Axes; ``axes[0, 0].figure`` is the figure.

    Raises:
        DataError: shapes are wrong, or the fertilities are too small for that many steps.
    """
    rows = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise DataError(f"scores have shape {rows.shape}, but (steps, 3) is needed")
    total = checked_vector(fertilities, 3, "fertilities")
    if (total < 0).any():
        raise DataError(f"fertilities must not be negative: {format_point(total)}")
    shown = list(TRANSFORMATIONS.values())
    if axes is None:
        figure = new_figure(2.4 * len(shown), 1.95 * len(rows) + 2.0)
        axes = figure.subplots(
            len(rows) + 1, len(shown), squeeze=False, height_ratios=[1.0] * len(rows) + [0.72]
        )
        handles = [
            Line2D([], [], color=colours.BOUND, ls="--", label="upper bound (fertility left)"),
            Patch(color=colours.WITHIN_BOUNDS, label="within all bounds"),
            Patch(color=colours.EXCESS, label="attention above the fertility"),
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    for column, transformation in enumerate(shown):
        weights, credit = attend_with_credit(rows, total, transformation.name)
        axes[0, column].set_title(transformation.label, fontsize=12, pad=14)
        for t in range(len(rows)):
            bounds = credit[t] if transformation.bounded else None
            simplex(weights[t], bounds=bounds, ax=axes[t, column])
        _draw_cumulative(axes[-1, column], weights.sum(axis=0), total)
    for t, row in enumerate(rows):
        label = f"step {t + 1}\nz = {format_point(row).replace('-', '−')}"
        axes[t, 0].set_ylabel(label, rotation=0, ha="right", va="center", fontsize=9)
    axes[-1, 0].set_ylabel("cumulative\nattention", rotation=0, ha="right", va="center", fontsize=9)
    highest = max([1.0, *total[np.isfinite(total)]])
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
    for place, fertility, value in zip(places, fertilities, cumulative, strict=True):
        if np.isfinite(fertility):
            ends = [place - 0.42, place + 0.42], [fertility] * 2
            ax.plot(*ends, "--", color=colours.BOUND, linewidth=1.6, gid="fertility")
        total = f"{round(float(value), 2):g}"
        write(ax, total, (float(place), 0), (0, 4), color="white", gid="total")
    ax.set(xticks=places, yticks=[0, 1], xlim=(0.4, len(places) + 0.6))
    ax.tick_params(labelsize=8)
    ax.spines[["top", "right"]].set_visible(False)


def transformation_curves(
    *, bound: float = 0.7, limit: float = 3.0, ax: Axes | None = None
) -> Axes:
    """Draw α₁ of all transformations of the scores (t, 0), for t from −limit to limit.

    Softmax never reaches 0 or 1; sparsemax is linear and does, at t = −1 and 1 (Martins and
    Astudillo 2016, Figure 1). With the bounds u = (bound, 1), the two constrained transformations
    give the same curves cut off at the bound, because the other word takes the rest.

    Args:
        bound: the first word's upper bound, between 0 and 1.
        limit: the largest t.
        ax: where to draw; a new figure if None.

    Returns:
        The Axes; its lines are labelled with the transformations' names.

    Raises:
        DataError: the bound is not between 0 and 1.
    """
    if not 0 <= bound <= 1:
        raise DataError(f"bound {bound:g} is not between 0 and 1")
    ax = new_axes(4.6, 3.0) if ax is None else ax
    t = np.linspace(-limit, limit, 1201)
    scores = np.column_stack([t, np.zeros_like(t)])
    bounds = np.array([bound, 1.0])
    drawn = {False: 0, True: 0}
    for transformation in TRANSFORMATIONS.values():
        weights = transformation(scores, bounds)
        # Up to the bound, a constrained curve lies on the unconstrained one of the same colour, so
        # it is wider and paler.
        wide = transformation.bounded
        ax.plot(
            t, weights[:, 0], color=colours.SYSTEMS[drawn[wide] % len(colours.SYSTEMS)],
            linestyle=(0, (4, 2)) if wide else "-", linewidth=4.0 if wide else 1.6,
            alpha=0.45 if wide else 1.0, label=transformation.label, zorder=2 if wide else 2.5,
        )  # fmt: skip
        drawn[wide] += 1
    ax.axhline(bound, color=colours.BOUND, linestyle="--", linewidth=1.2, zorder=1, gid="bound")
    ax.set(xlim=(-limit, limit), ylim=(-0.03, 1.03), xlabel="$t$", ylabel="$\\alpha_1$")
    ax.set_title(f"scores $(t, 0)$, bounds $({bound:g}, 1)$", fontsize=10)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8, loc="lower right")
    return ax


def regularizer_curves(
    penalties: ArrayLike,
    means: Mapping[str, ArrayLike],
    half_widths: Mapping[str, ArrayLike],
    *,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw Figure 1 of Madsen et al. (2017): divergence by regularizer, with 95% intervals.

    Args:
        penalties: ``[L]`` values of λ, on a logarithmic axis.
        means: Activation → ``[L]`` Jensen–Shannon divergence.
        half_widths: Activation → ``[L]`` half of its interval.
        title: Name of the data set.
        ax: Axes to draw into; new ones by default.

    Raises:
        DataError: Arrays that are not as long as the penalties, or contain NaN.
    """
    across = np.asarray(penalties, dtype=np.float64)
    across = checked_vector(across, across.size, "the array of penalties")
    ax = ax or new_axes(5.0, 3.5)
    for name, values in means.items():
        heights, errors = (
            checked_vector(v, across.size, f"the array of {name}")
            for v in (values, half_widths[name])
        )
        ax.errorbar(across, heights, yerr=errors, marker="o", markersize=4, capsize=3, label=name)
    ax.set_xscale("log")
    ax.set_xlabel("regularizer λ")
    ax.set_ylabel("JS divergence")
    ax.set_title(title)
    ax.legend()
    return ax
