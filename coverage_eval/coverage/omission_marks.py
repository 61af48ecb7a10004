"""What an omission or an addition is called, and the marks of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from coverage_eval.core.mark import Mark
from coverage_eval.core.metric import Floats
from coverage_eval.core.tokenizers import Words
from coverage_eval.coverage.null_scores import WordRun

LEFT_OUT = "left out"
ADDED = "added"


class SideError(NamedTuple):
    """What can be wrong with words of a side.

    Attributes:
        name: What an error is called.
        mark_side, mark_kind: As of its :class:`Mark`; the target of a model is an output there.
        of_all_words: The output errors of outputs in which all words of the side have it.
    """

    name: str
    mark_side: str
    mark_kind: str
    of_all_words: frozenset[str]


SIDE_ERRORS: Mapping[str, SideError] = {
    "source": SideError(
        "omission", "source", LEFT_OUT,
        frozenset({"empty", "untranslated", "refusal", "wrong-language"}),
    ),
    "target": SideError(
        "addition", "output", ADDED, frozenset({"refusal", "wrong-language"})
    ),
}  # fmt: skip
"""The error of each side of a model."""


def run_mark(words: Words, run: WordRun, error: SideError) -> Mark:
    """The mark of a run of words; its amount is the sum of the run."""
    positions = range(run.start, run.end)
    mark = Mark.of(words, positions, error.mark_side, error.mark_kind, amount=run.sum)
    return replace(mark, label=f"{mark}: {run.sum:.2f}")


def untranslated_marks(words: Words, is_left: Sequence[bool], strengths: Floats) -> list[Mark]:
    """The marks of runs of source words that are left untranslated.

    Args:
        words: The source.
        is_left: Whether each word is left untranslated.
        strengths: The loss of each word, minus the penalty.
    """
    marks = []
    for run_is_left, run in groupby(range(len(is_left)), is_left.__getitem__):
        if run_is_left:
            positions = list(run)
            amount = float(strengths[positions].sum())
            mark = Mark.of(words, positions, "source", LEFT_OUT, amount=amount)
            marks.append(replace(mark, label=f"{mark}: untranslated"))
    return marks
