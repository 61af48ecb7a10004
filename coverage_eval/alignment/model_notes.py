"""What is noted in a model file of the text that it was trained on: its tokeniser and its sink."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from coverage_eval.errors import DataError
from coverage_eval.text.corpus import SINK, tokenize
from coverage_eval.text.tokenizers import TOKENIZERS
from fast_align_wrapper.text import Pair

if TYPE_CHECKING:
    from fast_align_wrapper import FastAlign

__all__ = ["note_sink", "noted_sink", "noted_tokenizer"]


def note_sink(pairs: Iterable[Pair], notes: dict[str, Any]) -> Iterator[Pair]:
    """Pass pairs on, and note whether every source ends in :data:`SINK`.

    Args:
        pairs: Source and target segments.
        notes: Gets ``sink``, which is final when all pairs have been passed on; pairs with an
            empty side do not count.
    """
    notes["sink"] = True
    for source, target in pairs:
        if notes["sink"] and tokenize(source) and tokenize(target):
            notes["sink"] = tokenize(source)[-1] == SINK
        yield source, target


def noted_sink(model: FastAlign) -> bool:
    """Whether every source of the training text ended in :data:`SINK`, as far as is noted."""
    return model.manifest.notes.get("sink") is True


def noted_tokenizer(model: FastAlign) -> str:
    """The tokeniser of the training text; ``none`` if none is noted.

    Raises:
        DataError: It is not one of :data:`~coverage_eval.text.tokenizers.TOKENIZERS`.
    """
    name = model.manifest.notes.get("tokenize", "none")
    if name not in TOKENIZERS:
        raise DataError(
            f"the model's text was cut by tokeniser {name!r}, which is not known here; "
            "train a model with one that is"
        )
    return str(name)
