"""What a model notes of the text it was trained on: tokenisers, case and sink."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from coverage_eval.data.tokenizers import TOKENIZERS, Tokenizer
from coverage_eval.errors import DataError
from coverage_eval.special_tokens import SINK

if TYPE_CHECKING:
    from fast_align_wrapper import FastAlign


def noted_tokenizers(
    model: FastAlign,
    tokenize: str | None = None,
    src_tokenize: str | None = None,
    lowercase: bool | None = None,
) -> tuple[Tokenizer, Tokenizer]:
    """The tokenisers of source and target that a model was trained with, or others instead.

    Raises:
        DataError: The model notes a tokeniser that is not known here.
    """
    notes = model.manifest.notes
    target = tokenize or notes.get("tokenize", "none")
    source = src_tokenize or tokenize or notes.get("src_tokenize", target)
    case = bool(notes.get("lowercase", False)) if lowercase is None else lowercase
    for name in (source, target):
        if name not in TOKENIZERS:
            raise DataError(
                f"the model's text was cut by tokeniser {name!r}, which is not known here; "
                "train a model with one that is"
            )
    stem = int(notes.get("stem", 0))
    return Tokenizer(source, case, stem), Tokenizer(target, case, stem)


def other_use(
    model: FastAlign, source: Tokenizer, target: Tokenizer, *, sink: bool
) -> Iterator[str]:
    """Say where a model is used on text of another form than it was trained on.

    Args:
        model: The model.
        source: How sources are cut.
        target: How targets are.
        sink: Whether a sink is appended to every source.
    """
    noted = noted_tokenizers(model)
    if (source, target) != noted:
        yield (
            f"the model was trained on text of {_text_form(*noted)}, and this text is of "
            f"{_text_form(source, target)}: words that are not cut alike are not aligned"
        )
    had_sink = bool(model.manifest.notes.get("sink", False))
    if sink != had_sink:
        yield (
            f"the model was trained {_with(had_sink)} {SINK} behind every source, and is used "
            f"{_with(sink)} it: links differ from those of a model made for this"
        )


def _text_form(source: Tokenizer, target: Tokenizer) -> str:
    name = f"tokeniser '{target.name}'"
    if source != target:
        name = f"tokenisers '{source.name}' and '{target.name}'"
    stems = f", cut to {target.stem} letters" if target.stem else ""
    return f"{name}, lowercased{stems}" if target.lowercase else f"{name}{stems}"


def _with(sink: bool) -> str:
    return "with" if sink else "without"
