"""Figures as files; Matplotlib is imported when one is written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from coverage_eval.core.errors import DataError
from coverage_eval.core.writing import atomic_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Ending → metadata to leave out, so that the file does not depend on the date.
_DATES: dict[str, dict[str, None]] = {
    ".png": {},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}
ENDINGS = tuple(_DATES)
"""File name endings that a figure can have."""


def save_figure(
    picture: Figure | Axes, path: str | os.PathLike[str], *, tight: bool = False
) -> None:
    """Write a figure as PNG, SVG or PDF, by the file name's ending.

    Args:
        picture: The figure, or one of its Axes.
        path: The file.
        tight: Cut off empty margins.

    Raises:
        DataError: Another ending, or the folder cannot be written to.
    """
    import matplotlib as mpl

    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise DataError(
            f"{os.fspath(path)}: name a file that ends in {', '.join(ENDINGS)}; the ending decides "
            "its format"
        )
    # Without a salt, SVG numbers its parts at random. Texts stay texts. PDF has TrueType fonts.
    how = mpl.rc_context(
        {"svg.hashsalt": "coverage-eval", "svg.fonttype": "none", "pdf.fonttype": 42}
    )
    with atomic_path(path) as temporary, how:
        picture.figure.figure.savefig(
            temporary,
            format=ending[1:],
            dpi=150,
            metadata=_DATES[ending],
            bbox_inches="tight" if tight else None,
        )
