"""Figures: functions that take arrays and ``ax=None`` and return Axes.

They do not save files, change settings, choose a backend or need a display. Figures are made
without pyplot; a notebook shows one when a cell ends in ``ax.figure``. Matplotlib is imported by
the first picture, not by this package.

>>> from coverage_eval import plotting
>>> ax = plotting.attention_heatmap([[0.9, 0.1], [0.2, 0.8]], ["ein", "Haus"], ["a", "house"])
>>> [label.get_text() for label in ax.get_yticklabels()]
['ein', 'Haus']

A line in the table below makes a new function public.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from inspect import signature
from typing import Any, Literal, ParamSpec, TypeVar

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

Scale = Literal["auto", "fixed", "max", "sqrt"]
"""Range of an attention map's colours: 0 to 1, 0 to its largest weight, or square roots; ``auto``
takes square roots for long sentences."""

SYSTEM_COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
    "#8A3FFC", "#8C564B", "#808A00",
)  # fmt: skip
"""The colours of systems, in their order, in pictures and reports: the palette of Okabe and Ito,
whose colours stay distinct under the common forms of colour blindness, and three more for up to ten
systems."""

MARK_COLOURS = {"repeated": "#7A5B00", "dropped": "#B3261E"}
"""The colours of marked words, and of the scores that mark them, in pictures as in reports: those
of ``--more`` and ``--gone`` in ``core/page.css`` on white."""

_HOMES = {
    "attention_heatmap": "heatmap",
    "attention_heatmaps_side_by_side": "heatmap",
    "plot_differences": "scores",
    "simplex": "triangle",
    "simplex_figure1": "triangle",
    "transformation_curves": "triangle",
}

__all__ = list(_HOMES)


def drawing(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Let a function say what to type for Matplotlib's ``figsize=``, ``ax=`` or ``axes=``."""
    known = signature(function).parameters
    where = "axes=, all the Axes to draw on" if "axes" in known else "ax="
    size = "width=, in inches; the height follows" if "width" in known else f"{where} of that size"
    advice = {"ax": where, "axes": where, "figsize": size}

    @wraps(function)
    def checked(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        for name in kwargs.keys() & advice.keys() - known.keys():
            raise TypeError(f"{function.__name__} has no {name}=: give {advice[name]}")
        return function(*args, **kwargs)

    return checked


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
