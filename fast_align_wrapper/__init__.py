"""Word alignment with a compiled fast_align: train, align, save, load.

>>> from fast_align_wrapper import FastAlign
>>> sources, targets = ["ein haus", "das haus"] * 20, ["a house", "the house"] * 20
>>> with FastAlign.train(sources, targets) as model:  # doctest: +SKIP
...     model.save("de-en.model")
>>> with FastAlign.load("de-en.model") as model:  # doctest: +SKIP
...     list(model.align(["ein haus"], ["the house"]))
[((0, 0), (1, 1))]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fast_align_wrapper.aligner import FastAlign as FastAlign
    from fast_align_wrapper.posteriors import Posterior as Posterior

_MODULES = {"FastAlign": "aligner", "Posterior": "posteriors"}

__all__ = ["FastAlign", "Posterior"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
