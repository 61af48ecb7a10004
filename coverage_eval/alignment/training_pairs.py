"""Parallel text on its way to the training of a model: paired, cut into tokens, noted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from coverage_eval.data.rows import check_list
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError
from coverage_eval.special_tokens import SINK
from fast_align_wrapper.text import Segment


def strict_pairs(
    sources: Iterable[Segment], targets: Iterable[Segment]
) -> Iterator[tuple[Segment, Segment]]:
    """Segments of both sides in pairs.

    Raises:
        DataError: Unequal numbers of segments.
        TypeError: A side is no list of segments, or a segment neither a string nor a list.
    """
    check_list(sources, "the source")
    check_list(targets, "the target")
    try:
        for number, pair in enumerate(zip(sources, targets, strict=True), start=1):
            if not all(isinstance(side, (str, Sequence)) for side in pair):
                raise TypeError(
                    f"pair {number}: {pair!r:.60}: a side is neither a string nor a list of tokens"
                )
            yield pair
    except ValueError as error:
        raise DataError(f"unequal numbers of segments to train on: {error}") from None


def cut_pairs(
    pairs: Iterable[tuple[Segment, ...]],
    source_tokens: Tokenizer,
    target_tokens: Tokenizer,
    *,
    sink: bool,
    notes: dict[str, Any],
) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """The tokens of each pair, and in the notes how they were cut.

    Args:
        pairs: Source and target of each segment.
        source_tokens: Cuts sources.
        target_tokens: Cuts targets, in the same case and to the same stems.
        sink: Whether a sink is appended to every source.
        notes: Filled with what the model notes; right when all pairs have been taken.
    """
    notes |= {
        "tokenize": target_tokens.name,
        "src_tokenize": source_tokens.name,
        "lowercase": target_tokens.lowercase,
        **({"stem": target_tokens.stem} if target_tokens.stem else {}),
        "sink": True,
    }
    for source, target in pairs:
        tokens, others = with_sink(source_tokens(source), sink=sink), target_tokens(target)
        # Seen rather than believed: the text itself may end in sinks.
        notes["sink"] &= not (tokens and others) or tokens[-1] == SINK
        yield tokens, others


def with_sink(source: Sequence[str], *, sink: bool) -> Sequence[str]:
    """A source's tokens, with a sink behind them if there is to be one."""
    return [*source, SINK] if sink else source
