"""Plane geometry of the bounded simplex of three words, and of projections onto it.

The set {α in the simplex, α ≤ u} is a convex polygon. Projecting onto it (constrained sparsemax,
Malaviya et al. 2018, Eq. 6; sparsemax when no bound binds) sends everything in an edge's outward
strip to that edge and everything in a corner's outward cone to that corner, which gives the exact
regions of scores whose projections have the same support.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coverage_eval.errors import DataError

_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 3**0.5 / 2]])
_FAR = 20.0  # triangle sides: beyond any frame
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Region:
    """Scores in the plane whose projections lie on one face of the polygon.

    Attributes:
        support: which of the three words have positive probability there.
        outline: ``[k, 2]`` corners on paper; unbounded regions end far outside any frame.
        label_at: ``[2]`` a place inside, near the triangle.
    """

    support: tuple[bool, bool, bool]
    outline: NDArray[np.float64]
    label_at: NDArray[np.float64]


def on_paper(distributions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``[n, 2]`` coordinates of ``[n, 3]`` points of the plane α₁ + α₂ + α₃ = 1.

    Word 1 is the left corner, word 2 the right one and word 3 the top; sides have length 1.
    """
    return np.asarray(distributions @ _CORNERS, dtype=np.float64)


def in_plane(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ``[n, 3]`` scores moved to the plane α₁ + α₂ + α₃ = 1 by a constant for each row.

    No transformation tells the two apart.
    """
    return np.asarray(scores - (scores.sum(axis=1, keepdims=True) - 1) / 3, dtype=np.float64)


def feasible_corners(bounds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ``[m, 3]`` corners of {α in the simplex, α ≤ u}, anticlockwise on paper.

    There are up to six; two if the set is a line, one if it is a point, none if it is empty.
    """
    found: list[NDArray[np.float64]] = []
    limits = np.minimum(bounds, 1.0)
    for first, second in ((0, 1), (1, 2), (2, 0)):
        third = 3 - first - second
        for a in (0.0, limits[first]):
            for b in (0.0, limits[second]):
                corner = np.zeros(3)
                corner[[first, second, third]] = a, b, 1 - a - b
                inside = -_ROUNDING <= corner[third] <= limits[third] + _ROUNDING
                known = any(np.allclose(corner, other, atol=_ROUNDING) for other in found)
                if inside and not known:
                    found.append(np.clip(corner, 0.0, 1.0))
    if not found:
        return np.zeros((0, 3))
    corners = np.array(found)
    spokes = on_paper(corners) - on_paper(corners).mean(axis=0)
    return corners[np.argsort(np.arctan2(spokes[:, 1], spokes[:, 0]))]


def support_regions(bounds: NDArray[np.float64]) -> list[Region]:
    """Return the regions of the plane whose scores project onto the same face of the polygon.

    Without binding bounds these are the seven of sparsemax: each word alone, each pair, all three.

    Raises:
        DataError: the bounds sum to less than 1, so there is nothing to project onto.
    """
    corners = feasible_corners(bounds)
    if len(corners) == 0:
        raise DataError(f"bounds sum to {bounds.sum():.4g}: no distribution satisfies them")
    if len(corners) == 1:
        return [_cone(corners[0], 0.0, 2 * np.pi)]
    regions = [] if len(corners) == 2 else [_interior(corners)]
    return regions + list(_outside(corners))


def _outside(corners: NDArray[np.float64]) -> Iterator[Region]:
    """Yield the strip of each edge and the cone of each corner."""
    places = on_paper(corners)
    edges = np.roll(places, -1, axis=0) - places
    angles = np.arctan2(edges[:, 1], edges[:, 0]) - np.pi / 2  # outwards, corners anticlockwise
    for k in range(len(corners)):
        normal = np.array([np.cos(angles[k]), np.sin(angles[k])])
        following = (k + 1) % len(corners)
        middle = (corners[k] + corners[following]) / 2
        outline = [
            places[k],
            places[following],
            places[following] + _FAR * normal,
            places[k] + _FAR * normal,
        ]
        yield Region(_support(middle), np.array(outline), on_paper(middle) + 0.3 * normal)
        yield _cone(corners[k], angles[k - 1], (angles[k] - angles[k - 1]) % (2 * np.pi))


def _cone(corner: NDArray[np.float64], start: float, width: float) -> Region:
    directions = start + np.linspace(0.0, width, 9)
    rays = np.column_stack([np.cos(directions), np.sin(directions)])
    place = on_paper(corner)
    label = place + (0.34 * rays[4] if width < 2 * np.pi else 0.1)
    return Region(_support(corner), np.vstack([place, place + _FAR * rays]), label)


def _interior(corners: NDArray[np.float64]) -> Region:
    middle = corners.mean(axis=0)
    return Region(_support(middle), on_paper(corners), on_paper(middle))


def _support(point: NDArray[np.float64]) -> tuple[bool, bool, bool]:
    first, second, third = (bool(value > _ROUNDING) for value in point)
    return first, second, third
