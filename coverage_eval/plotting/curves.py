"""The attention transformations in two dimensions: the first word's share as its score grows."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from coverage_eval.attention import TRANSFORMATIONS
from coverage_eval.errors import DataError
from coverage_eval.plotting import colours
from coverage_eval.plotting.canvas import new_axes


def transformation_curves(
    *, bound: float = 0.7, limit: float = 3.0, ax: Axes | None = None
) -> Axes:
    """Draw α₁ of all transformations of the scores (t, 0), for t from −limit to limit.

    Softmax never reaches 0 or 1; sparsemax is linear and does, at t = −1 and 1 (Martins and
    Astudillo 2016, Figure 1). With the bounds u = (bound, 1) the constrained two are the same
    curves cut off at the bound, because the other word takes up what is left.

    Args:
        bound: the first word's upper bound, between 0 and 1.
        limit: how far t goes.
        ax: where to draw; a new figure if None.

    Returns:
        The Axes; its lines are labelled with the transformations' names.

    Raises:
        DataError: the bound does not lie between 0 and 1.
    """
    if not 0 <= bound <= 1:
        raise DataError(f"bound {bound:g} does not lie between 0 and 1")
    ax = new_axes(4.6, 3.0) if ax is None else ax
    t = np.linspace(-limit, limit, 1201)
    scores = np.column_stack([t, np.zeros_like(t)])
    bounds = np.array([bound, 1.0])
    drawn = {False: 0, True: 0}
    for transformation in TRANSFORMATIONS.values():
        weights = transformation(scores, bounds)
        # The constrained curves lie on the free ones up to the bound: in the same order and
        # colours, drawn wider and in pale.
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
