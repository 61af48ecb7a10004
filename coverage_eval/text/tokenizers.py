"""sacreBLEU's tokenisers by name, for text that is not tokenised yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import cast

from coverage_eval.errors import MissingDependencyError

__all__ = ["TOKENIZERS", "get_tokenizer", "tokenize_rows"]

# Only those that need no model from the network: scoring never downloads anything.
_CLASSES = {
    "13a": ("tokenizer_13a", "Tokenizer13a"),
    "intl": ("tokenizer_intl", "TokenizerV14International"),
    "zh": ("tokenizer_zh", "TokenizerZh"),
    "char": ("tokenizer_char", "TokenizerChar"),
    "ja-mecab": ("tokenizer_ja_mecab", "TokenizerJaMecab"),
    "ko-mecab": ("tokenizer_ko_mecab", "TokenizerKoMecab"),
}

TOKENIZERS = ("none", *_CLASSES)
"""The names that ``--tokenize`` takes; ``none`` leaves text as it is."""


def get_tokenizer(name: str) -> Callable[[str], str]:
    """A function from a segment to the same segment with its tokens separated by spaces.

    Args:
        name: One of :data:`TOKENIZERS`.

    Raises:
        ValueError: No tokeniser has that name.
        MissingDependencyError: The tokeniser needs a package that is not installed.
    """
    if name == "none":
        return _unchanged
    if name not in _CLASSES:
        raise ValueError(f"unknown tokenizer {name!r}; one of {', '.join(TOKENIZERS)}")
    module, class_name = _CLASSES[name]
    language = name.partition("-")[0]
    try:
        tokenizer = getattr(import_module(f"sacrebleu.tokenizers.{module}"), class_name)()
    except (ImportError, RuntimeError) as error:
        raise MissingDependencyError(
            f"tokenizer {name}: its package is not installed; pip install 'sacrebleu[{language}]'"
        ) from error
    return cast("Callable[[str], str]", tokenizer)


def _unchanged(segment: str) -> str:
    return segment


def tokenize_rows(rows: Iterable[tuple[str, ...]], name: str) -> Iterator[tuple[str, ...]]:
    """Apply one tokeniser to every side of a stream of parallel segments."""
    if name == "none":
        yield from rows
        return
    tokenizer = get_tokenizer(name)
    for row in rows:
        yield tuple(tokenizer(segment) for segment in row)
