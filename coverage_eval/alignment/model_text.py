"""Training text as tokenised pairs, and what a model notes about its training text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from coverage_eval.data.dataset import segments_of
from coverage_eval.data.tokenizers import TOKENIZERS, Tokenizer
from coverage_eval.errors import DataError
from coverage_eval.special_tokens import SINK
from fast_align_wrapper.text import Segment

if TYPE_CHECKING:
    from fast_align_wrapper import FastAlign

_MAX_STEM = 100


def strict_pairs(
    sources: Iterable[Segment], targets: Iterable[Segment]
) -> Iterator[tuple[Segment, Segment]]:
    """Pair the segments of both sides.

    Raises:
        DataError: Unequal numbers of segments.
        TypeError: A side is not a list of segments, or a segment is neither a string nor a list.
    """
    sides = segments_of(sources, "the source"), segments_of(targets, "the target")
    try:
        for number, pair in enumerate(zip(*sides, strict=True), start=1):
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
    """Tokenise pairs, and fill the notes for the model.

    Args:
        pairs: Source and target of each segment.
        source_tokens: The tokeniser of sources.
        target_tokens: The tokeniser of targets, with the same case and stems.
        sink: Whether to append a sink to every source.
        notes: Filled with what the model notes; complete after the last pair.
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
        # Not simply `sink`, because the sources themselves may end in sinks.
        notes["sink"] &= not (tokens and others) or tokens[-1] == SINK
        yield tokens, others


def with_sink(source: Sequence[str], *, sink: bool) -> Sequence[str]:
    """The tokens of a source, followed by a sink if ``sink``."""
    return [*source, SINK] if sink else source


def noted_tokenizers(
    model: FastAlign,
    tokenize: str | None = None,
    src_tokenize: str | None = None,
    lowercase: bool | None = None,
) -> tuple[Tokenizer, Tokenizer]:
    """The tokenisers of source and target: those of the model's training, unless others are given.

    Raises:
        DataError: The model's notes are damaged or name an unknown tokeniser.
    """
    notes = model.manifest.notes
    kinds = {"lowercase": bool, "sink": bool, "stem": int}
    wrong = any(type(notes.get(name, kind())) is not kind for name, kind in kinds.items())
    if wrong or not 0 <= notes.get("stem", 0) <= _MAX_STEM:
        raise DataError("the model's notes on its text are damaged; train it again")
    target = tokenize or notes.get("tokenize", "none")
    source = src_tokenize or tokenize or notes.get("src_tokenize", target)
    case = bool(notes.get("lowercase", False)) if lowercase is None else lowercase
    for name in (source, target):
        if not isinstance(name, str) or name not in TOKENIZERS:
            raise DataError(
                f"the model was trained with tokeniser {name!r:.40}, which is unknown here; "
                f"train a model with one of {', '.join(TOKENIZERS)}"
            )
    stem = int(notes.get("stem", 0))
    return Tokenizer(source, case, stem), Tokenizer(target, case, stem)


def other_use(
    model: FastAlign, source: Tokenizer, target: Tokenizer, *, sink: bool
) -> Iterator[str]:
    """Warnings if the text is prepared in another way than the model's training text.

    Args:
        model: The model.
        source: The tokeniser of sources.
        target: The tokeniser of targets.
        sink: Whether a sink is appended to every source.
    """
    noted = noted_tokenizers(model)
    if (source, target) != noted:
        yield (
            f"the model was trained with {_text_form(*noted)}, but this text has "
            f"{_text_form(source, target)}; words that are split differently are not aligned"
        )
    had_sink = bool(model.manifest.notes.get("sink", False))
    if sink != had_sink:
        yield (
            f"the model was trained {'with' if had_sink else 'without'} {SINK} behind every "
            f"source, and is used {'with' if sink else 'without'} it; links differ from those of "
            "a model trained for this use"
        )


def _text_form(source: Tokenizer, target: Tokenizer) -> str:
    name = f"tokeniser '{target.name}'"
    if source != target:
        name = f"tokenisers '{source.name}' and '{target.name}'"
    stems = f", cut to {target.stem} letters" if target.stem else ""
    return f"{name}, lowercased{stems}" if target.lowercase else f"{name}{stems}"
