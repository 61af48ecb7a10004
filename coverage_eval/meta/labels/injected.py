"""The gold file of injected errors (:mod:`coverage_eval.testbed.gold_errors`), as labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from coverage_eval.data.files import Source, read_segments, source_name
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError
from coverage_eval.meta.judgements import Judgement, Labels
from coverage_eval.testbed.gold_errors import GoldError, read_gold_errors

_ALSO = {"early-stop": "omission"}
"""Kinds that belong to another than the first part of their name."""


def recognise(source: Source) -> bool:
    """Whether the first line is a JSON object."""
    return next(read_segments(source), "").startswith("{")


def is_of_kind(error: str, kind: str) -> bool:
    """Whether a kind of error is that kind, or one of its family: ``omission-word`` is omission."""
    return kind in {error, error.partition("-")[0], _ALSO.get(error)}


def read(source: Source, kind: str, tokens: Tokenizer) -> Labels:
    """Read the errors of a kind, such as ``omission-phrase`` or all of ``omission``.

    A segment's grade is the number of source words that its errors concern, or of errors where no
    source words are known.

    Raises:
        DataError: No error of that kind, or as
            :func:`~coverage_eval.testbed.gold_errors.read_gold_errors`.
    """
    del tokens  # positions of words are given
    errors = list(read_gold_errors(source))
    meant = [error for error in errors if is_of_kind(error.kind, kind)]
    if not meant:
        seen = ", ".join(sorted({error.kind for error in errors})) or "none"
        raise DataError(
            f"{source_name(source)}: no error of the kind {kind!r}; its kinds are: {seen}"
        )
    return Labels(source_name(source), label_errors(meant), complete=False, grade="words concerned")


def label_errors(errors: Iterable[GoldError], system: str = "") -> tuple[Judgement, ...]:
    """Judgements of the segments that have errors."""
    found: dict[int, list[GoldError]] = defaultdict(list)
    for error in errors:
        found[error.segment].append(error)
    return tuple(_judgement(segment, found[segment], system) for segment in sorted(found))


def _judgement(segment: int, errors: Sequence[GoldError], system: str) -> Judgement:
    positions = [error.source for error in errors]
    words: frozenset[int] | None = None
    if None not in positions:
        words = frozenset().union(*(position for position in positions if position is not None))
    grade = float(len(words) if words else len(errors))
    return Judgement(segment, True, grade, system, source=segment, words=words)
