"""fast_align for Python: pairs of tokens in, links or posteriors out.

>>> from fast_align_wrapper import FastAlign
>>> pairs = [("ein haus", "a house"), ("das haus", "the house")] * 20
>>> with FastAlign.train(pairs) as model:
...     list(model.align([("das haus", "the house")]))
[((0, 0), (1, 1))]

:meth:`FastAlign.save` writes a model to one file, :meth:`FastAlign.load` reads it. The aligner
itself is a compiled program that comes with this package. The package works without the rest of
coverage-eval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fast_align_wrapper.errors import (
    AlignerDataError,
    AlignerError,
    AlignerNotFoundError,
    AlignerWarning,
)
from fast_align_wrapper.links import Links, format_links, parse_links, symmetrize

if TYPE_CHECKING:
    from fast_align_wrapper.aligner import FastAlign as FastAlign
    from fast_align_wrapper.forced import Posterior as Posterior

__all__ = [
    "AlignerDataError",
    "AlignerError",
    "AlignerNotFoundError",
    "AlignerWarning",
    "FastAlign",
    "Links",
    "Posterior",
    "__version__",
    "format_links",
    "parse_links",
    "symmetrize",
]

__version__ = "0.1.0"

# Imported on first use, because they need NumPy.
_MODULES = {"FastAlign": "aligner", "Posterior": "forced"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
