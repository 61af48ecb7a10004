"""Saving pictures: complete or not at all, and the same bytes for the same input."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from coverage_eval.errors import DataError
from coverage_eval.files import atomic_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["check_picture_name", "save_figure"]

# Ending → what to leave out of a file so that it does not change from day to day.
_DATES: dict[str, dict[str, None]] = {
    ".png": {},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}


def check_picture_name(path: str) -> str:
    """Return the ending of a picture's file name, in lower case.

    Raises:
        DataError: It names no format that can be written; call this before any long work.
    """
    ending = Path(path).suffix.lower()
    if ending not in _DATES:
        listed = ", ".join(_DATES)
        raise DataError(f"{path}: name a file that ends in {listed}, which decides its format")
    return ending


def save_figure(figure: Figure, path: str, *, dpi: int = 150) -> None:
    """Write a figure as PNG, SVG or PDF, by the file name's ending.

    Raises:
        DataError: The ending is another one, or the folder cannot be written to.
    """
    import matplotlib as mpl

    from coverage_eval.plotting import quiet_missing_glyphs

    ending = check_picture_name(path)
    # SVG numbers its parts at random unless it is given a salt.
    reproducible = mpl.rc_context({"svg.hashsalt": "coverage-eval"})
    with atomic_path(path) as temporary, quiet_missing_glyphs(), reproducible:
        figure.savefig(temporary, format=ending[1:], dpi=dpi, metadata=_DATES[ending])
