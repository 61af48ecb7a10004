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

if TYPE_CHECKING:
    from fast_align_wrapper.aligner import FastAlign as FastAlign
    from fast_align_wrapper.forced import Posterior as Posterior
    from fast_align_wrapper.links import Links as Links
    from fast_align_wrapper.links import format_links as format_links
    from fast_align_wrapper.links import parse_links as parse_links
    from fast_align_wrapper.links import symmetrize as symmetrize

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

_MODULES = {
    "FastAlign": "aligner",
    "Posterior": "forced",
    **dict.fromkeys(("Links", "format_links", "parse_links", "symmetrize"), "links"),
}
"""Where names are that are imported on first use, because some need NumPy."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


class AlignerError(Exception):
    """Base of all errors that this package raises on purpose.

    >>> from fast_align_wrapper import FastAlign
    >>> try:
    ...     FastAlign.load("no-such-model")
    ... except AlignerError as error:
    ...     print(error)
    no-such-model: no such file

    It is raised itself if the aligner failed (exit status, wrong number of lines, NaN, time limit).
    The message is one line that says what is wrong, where, and what to do.
    """


class AlignerDataError(AlignerError, ValueError):
    """Unusable text, links or model file, or a file that cannot be written."""


class AlignerNotFoundError(AlignerError, ImportError):
    """No fast_align was found, or it lacks the requested feature."""


class AlignerWarning(UserWarning):
    """A pair is too long for the aligner, or the system refuses threads."""
