"""Training text as tokenised pairs, and what a model notes about its training text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from coverage_eval.core.batches import Blocks
from coverage_eval.core.errors import DataError
from coverage_eval.core.sampled_texts import MIN_SEGMENTS, SampledText
from coverage_eval.core.texts import segments_of
from coverage_eval.core.tokenizers import (
    SINK,
    TOKENIZERS,
    Segment,
    Tokenizer,
    has_words,
    tokenize,
)
from coverage_eval.core.word_splitting import (
    is_unsegmented_script,
    why_unsegmented,
    why_untokenised,
)

if TYPE_CHECKING:
    from fast_align_wrapper import FastAlign

BY_USER = "by the user"
"""What a model notes as the tokeniser of tokenised text that no tokeniser here makes."""

OTHER_TOKENS = (
    "the model was trained on text that its user tokenised: tokenise this text in the same way, or "
    "train a model with: coverage-eval align train SRC TGT --tokenize 13a -o MODEL, on text that "
    "is not tokenised"
)
"""What to do with text that is not tokenised as the training text was."""

_CANDIDATES, _LETTER_CANDIDATES = ("13a", "intl"), ("char", "zh")
"""Tokenisers that may have made a text with spaces between words, and one without."""

ALIGNED_SINK = SINK.lower()
"""The sink among words that are aligned, which are lowercased."""

SAMPLE_PAIRS = 2000
"""Pairs at the beginning of a training text that tell whether it is raw."""

_BLOCK_PAIRS = 256

_SPACE_BEFORE_MARK = re.compile(r" (?=[^\w\s\u2013\u2014-])")
"""Where raw text has no space: before any mark but a dash."""

_MIN_SAME = 0.999
"""Smallest share of the segments that a tokeniser must split as they are split."""


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


def tokenize_pairs(
    pairs: Iterable[tuple[Segment, ...]],
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer,
    *,
    sink: bool,
    notes: dict[str, Any],
    recognise: bool = False,
) -> Iterator[tuple[Segment, Segment]]:
    """Tokenise pairs, as text that is split at spaces or as tokens, and fill the model's notes.

    Args:
        pairs: Source and target of each segment.
        source_tokenizer: The tokeniser of sources.
        target_tokenizer: The tokeniser of targets, with the same stems.
        sink: Whether to append a sink to every source.
        notes: Filled with what the model notes; complete after the last pair.
        recognise: Whether to find out which tokeniser made sides that are split at spaces.
    """
    has_sink = True
    sample: Blocks[tuple[Segment, ...]] = Blocks()
    remaining = iter(pairs)
    while block := [*islice(remaining, _BLOCK_PAIRS)]:
        for pair in block:
            sample.add(pair)
        raw_sources, raw_targets = zip(*block, strict=True)
        sources = source_tokenizer.spaced(raw_sources)
        targets = target_tokenizer.spaced(raw_targets)
        if sink:
            sources = [[*tokenize(source), ALIGNED_SINK] for source in sources]
        # Not simply `sink`, because the sources themselves may end in sinks.
        has_sink = has_sink and all(map(_may_end_in_sink, sources, targets))
        yield from zip(sources, targets, strict=True)
    sides = list(zip(*sample.rows, strict=True)) or [(), ()]
    names = [source_tokenizer.name, target_tokenizer.name]
    for index, side in enumerate(sides):
        if recognise and names[index] == "none":
            names[index] = detect_tokenizer(side)
    notes |= {
        "tokenize": names[1],
        "src_tokenize": names[0],
        "lowercase": target_tokenizer.lowercase,
        **({"stem": target_tokenizer.stem} if target_tokenizer.stem else {}),
        "sink": has_sink,
    }


def _may_end_in_sink(source: Segment, target: Segment) -> bool:
    """Whether a source ends in a sink, or the pair is not aligned because a side is blank."""
    tokens = tokenize(source)
    return not (tokens and has_words(target)) or tokens[-1] == ALIGNED_SINK


def detect_tokenizer(segments: Sequence[Segment]) -> str:
    """The tokeniser that made a text with spaces between tokens; ``none`` for raw text.

    A tokeniser made a text if it splits it so again after the spaces before its marks are removed.
    """
    rows = [Tokenizer()(segment) for segment in segments]
    text = SampledText("", rows)
    marked = sum(any(not any(map(str.isalnum, token)) for token in row) for row in rows)
    if marked < MIN_SEGMENTS or why_not_tokenised(text):
        return "none"
    if not all(isinstance(segment, str) for segment in segments):
        return BY_USER
    for name in _LETTER_CANDIDATES if is_unsegmented_script(text) else _CANDIDATES:
        tokenizer = Tokenizer(name)
        raw = (_SPACE_BEFORE_MARK.sub("", " ".join(row)) for row in rows)
        others = (row for row, text in zip(rows, raw, strict=True) if tokenizer(text) != row)
        # Most tokenisers are ruled out by the first rows.
        if next(islice(others, int((1 - _MIN_SAME) * len(rows)), None), None) is None:
            return name
    return BY_USER


def raw_tokenizer(segments: Sequence[Segment]) -> str:
    """The tokeniser that raw training text gets; ``none`` for text that is tokenised, or tokens."""
    if not all(isinstance(segment, str) for segment in segments):
        return "none"
    text = SampledText("", list(map(tokenize, segments)))
    if why_unsegmented(text):
        return "char"
    return "13a" if why_untokenised(text) else "none"


def why_not_tokenised(text: SampledText) -> str | None:
    """Why a text that is split at spaces is not tokenised; None if it seems to be."""
    return why_untokenised(text) or why_unsegmented(text)


def noted_tokenizers(model: FastAlign) -> tuple[Tokenizer, Tokenizer]:
    """The tokenisers of source and target with which a model was trained.

    Raises:
        DataError: The model was trained with an unknown tokeniser.
    """
    notes = model.manifest.notes
    target = notes.get("tokenize", "none")
    source = notes.get("src_tokenize", target)
    stem = int(notes.get("stem", 0))
    lowercase = bool(notes.get("lowercase", False))
    tokenizers = []
    for name in (source, target):
        known = "none" if name == BY_USER else name
        if not isinstance(known, str) or known not in TOKENIZERS:
            raise DataError(
                f"the model was trained with tokeniser {name!r:.40}, which is unknown here; "
                f"train a model with one of {', '.join(TOKENIZERS)}"
            )
        tokenizers.append(Tokenizer(known, lowercase, stem))
    return tokenizers[0], tokenizers[1]


def tokenized_by_user(model: FastAlign) -> tuple[bool, bool]:
    """Whether the user tokenised the training text's source and target, with another tokeniser."""
    notes = model.manifest.notes
    return notes.get("src_tokenize") == BY_USER, notes.get("tokenize") == BY_USER


def require_tokenised(
    by_user: Sequence[bool], tokenizers: Sequence[Tokenizer], *texts: Iterable[Segment]
) -> None:
    """Raise if text is not tokenised, for a model of text that the user tokenised.

    Args:
        by_user: What :func:`tokenized_by_user` says of the model.
        tokenizers: Those of source and output.
        texts: Segments of the source, and of an output.

    Raises:
        DataError: What is not tokenised, and what to do.
    """
    names = ("the source", "the output")
    for name, is_by_user, tokenizer, text in zip(names, by_user, tokenizers, texts, strict=True):
        if not is_by_user:
            continue
        if reason := why_not_tokenised(SampledText(name, list(map(tokenizer, text)))):
            raise DataError(f"{name}: {reason}; {OTHER_TOKENS}")
