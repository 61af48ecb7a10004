"""Alignment grids: to which words of the reference and of the hypothesis a source is linked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from numpy.typing import NDArray

from coverage_eval.errors import DataError
from coverage_eval.plotting import colours
from coverage_eval.plotting.arrays import check_words, checked_positions
from coverage_eval.plotting.fonts import font_families
from coverage_eval.plotting.grid import cell_aspect, grid_axes, rule_off
from coverage_eval.plotting.labels import word_ticks, write
from coverage_eval.plotting.outlines import explain_outlines, outline

_LARGEST = 24.0  # inches: the grid has the words of two sentences across

Links = Iterable[tuple[int, int]]


def alignment_grid(
    source: Sequence[str],
    reference: Sequence[str],
    hypothesis: Sequence[str],
    reference_links: Links,
    hypothesis_links: Links,
    *,
    dropped: Collection[int] | None = None,
    names: tuple[str, str] = ("reference", "hypothesis"),
    ax: Axes | None = None,
) -> Axes:
    """Draw a source's links to its reference and to a hypothesis in one grid.

    Source words run down, the words of the reference and then of the hypothesis across, so that a
    dropped word is a row with a link on the left and none on the right: what DROP-score counts
    (Malaviya et al. 2018, section 5).

    Args:
        source: the source words.
        reference: the reference's words.
        hypothesis: the hypothesis's words.
        reference_links: pairs (source position, reference position), from 0.
        hypothesis_links: pairs (source position, hypothesis position), from 0.
        dropped: positions of source words to mark; by default those linked to the reference and
            not to the hypothesis; ``()`` for none.
        names: the blocks' titles.
        ax: where to draw; a new figure of fitting size if None.

    Returns:
        The Axes.

    Raises:
        DataError: a link or position is out of range.
        TypeError: a text is a single string.
    """
    check_words(source=source, reference=reference, hypothesis=hypothesis)
    left = _link_matrix(reference_links, len(source), len(reference), names[0])
    right = _link_matrix(hypothesis_links, len(source), len(hypothesis), names[1])
    if dropped is None:
        dropped = np.flatnonzero(left.any(axis=1) & ~right.any(axis=1)).tolist()
    dropped = checked_positions(dropped, len(source), "dropped")
    columns = [*reference, "", *hypothesis]
    if ax is None:
        (ax,) = grid_axes(source, [columns], beside=0.4, largest=_LARGEST)
    _draw_cells(ax, left, right)
    source_fonts, *others, name_fonts = font_families(source, reference, hypothesis, names)
    families = list(dict.fromkeys(family for group in others for family in group))
    word_ticks(ax, "x", columns, families)
    word_ticks(ax, "y", source, source_fonts, keep=dropped)
    outline(ax, "y", dropped, len(columns), "dropped")
    middles = (len(reference) - 1) / 2, len(reference) + 1 + (len(hypothesis) - 1) / 2
    for name, middle in zip(names, middles, strict=True):
        write(ax, name, (middle, -0.5), (0, 5), fontsize=9, fontfamily=name_fonts)
    if dropped:
        explain_outlines(ax, {"dropped": f"dropped: linked to the {names[0]} only"}, pad=2.0)
    return ax


def _link_matrix(links: Links, rows: int, columns: int, name: str) -> NDArray[np.bool_]:
    matrix = np.zeros((rows, columns), dtype=np.bool_)
    for source, target in links:
        if not (0 <= source < rows and 0 <= target < columns):
            raise DataError(
                f"link {source}-{target} of the {name} is out of range: there are {rows} source "
                f"and {columns} target words, counted from 0"
            )
        matrix[source, target] = True
    return matrix


def _draw_cells(ax: Axes, left: NDArray[np.bool_], right: NDArray[np.bool_]) -> None:
    rows, gap = left.shape
    kinds = np.hstack([left * 1, np.zeros((rows, 1), dtype=int), right * 2])
    cells = ListedColormap(["white", colours.REFERENCE, colours.WEIGHT])
    ax.grid(visible=False)
    ax.set(xlim=(-0.5, kinds.shape[1] - 0.5), ylim=(max(rows, 1) - 0.5, -0.5))
    if rows:
        ax.imshow(
            kinds, cmap=cells, vmin=0, vmax=2, interpolation="nearest", origin="upper",
            aspect=cell_aspect(*kinds.shape),
        )  # fmt: skip
    for first, last in ((0, gap), (gap + 1, kinds.shape[1])):
        rule_off(ax, rows, first, last)
    ax.spines[:].set_visible(False)
