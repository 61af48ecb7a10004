"""Saving pictures: complete or not at all, and the same bytes for the same input."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from coverage_eval.data.files import atomic_path
from coverage_eval.errors import DataError

if TYPE_CHECKING:
    from matplotlib.animation import Animation
    from matplotlib.figure import Figure

# Ending → what to leave out of a file so that it does not change from day to day.
_DATES: dict[str, dict[str, None]] = {
    ".png": {},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}

ENDINGS = tuple(_DATES)
"""Endings of the files that a figure can be written to."""


def checked_ending(path: str | os.PathLike[str], endings: Sequence[str] = ENDINGS) -> str:
    """Return the ending of a picture's file name, in lower case.

    Raises:
        DataError: It is none of these; call this before any long work.
    """
    ending = Path(path).suffix.lower()
    if ending not in endings:
        listed = ", ".join(endings)
        raise DataError(
            f"{os.fspath(path)}: name a file that ends in {listed}, which decides its format"
        )
    return ending


def save_figure(
    figure: Figure, path: str | os.PathLike[str], *, dpi: int = 150, tight: bool = False
) -> None:
    """Write a figure as PNG, SVG or PDF, by the file name's ending.

    Args:
        figure: What to write.
        path: Its file.
        dpi: Dots per inch, of PNG.
        tight: Cut the empty margins off.

    Raises:
        DataError: The ending is another one, or the folder cannot be written to.
    """
    import matplotlib as mpl

    from coverage_eval.plotting.fonts import quiet_missing_glyphs

    ending = checked_ending(path)
    # SVG numbers its parts at random unless it is given a salt.
    reproducible = mpl.rc_context({"svg.hashsalt": "coverage-eval"})
    with atomic_path(path) as temporary, quiet_missing_glyphs(), reproducible:
        figure.savefig(
            temporary,
            format=ending[1:],
            dpi=dpi,
            metadata=_DATES[ending],
            bbox_inches="tight" if tight else None,
        )


def save_animation(animation: Animation, path: str | os.PathLike[str]) -> None:
    """Write an animation as GIF.

    Raises:
        DataError: The ending is another one, or the folder cannot be written to.
    """
    from coverage_eval.plotting.fonts import quiet_missing_glyphs

    checked_ending(path, (".gif",))
    with atomic_path(path) as temporary, quiet_missing_glyphs():
        animation.save(temporary, writer="pillow")
