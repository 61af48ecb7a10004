"""From texts to Meteor's statistics: tokens, matches, and the best of several references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coverage_eval.errors import DataError
from coverage_eval.metrics.meteor.aligner import Match, align, is_too_long
from coverage_eval.metrics.meteor.candidates import MODULES, PARAPHRASE, find_candidates
from coverage_eval.metrics.meteor.lexicon import get_word
from coverage_eval.metrics.meteor.normalizer import normalize, split_words
from coverage_eval.metrics.meteor.paraphrases import find_paraphrases
from coverage_eval.metrics.meteor.phrase_cache import open_index, phrase_index
from coverage_eval.metrics.meteor.phrase_table import PhraseTable
from coverage_eval.metrics.meteor.resources import paraphrase_path
from coverage_eval.metrics.meteor.statistics import FIELDS, pair_statistics, score_parts
from fast_align_wrapper.text import Segment

Row: TypeAlias = "tuple[Segment, Sequence[Segment]]"
"""A hypothesis and its references, of which there is at least one."""


@dataclass(frozen=True)
class MatchOptions:
    """What decides which words match.

    Attributes:
        modules: Numbers of the matchers, ascending (see :data:`MODULES`).
        norm: Tokenise, normalise and lowercase, as ``-norm`` does.
        lower: Lowercase only, as ``-lower`` does.
    """

    modules: tuple[int, ...] = tuple(range(len(MODULES)))
    norm: bool = False
    lower: bool = False


class AlignedPair(NamedTuple):
    """The tokens of a hypothesis and a reference, and the matches between them."""

    hypothesis: list[str]
    reference: list[str]
    matches: list[Match]
    counts: list[int]
    """Meteor's 23 statistics."""


def prepare_index(options: MatchOptions) -> Path | None:
    """The paraphrase index for :func:`count_batch`, if the options ask for paraphrases.

    Called once before any worker process starts, so that not each of them builds an index.
    """
    return phrase_index(paraphrase_path()) if PARAPHRASE in options.modules else None


def count_batch(
    rows: Sequence[Row], options: MatchOptions, index: Path | None
) -> NDArray[np.int64]:
    """Meteor's 23 statistics of each row, ``[len(rows), 23]``; arguments as :func:`align_batch`."""
    counts = [pair.counts for pair in align_batch(rows, options, index)]
    return np.array(counts, dtype=np.int64).reshape(-1, len(FIELDS))


def align_batch(
    rows: Sequence[Row], options: MatchOptions, index: Path | None
) -> list[AlignedPair]:
    """Align each hypothesis with the reference that gives it the best score.

    Of references that give the same score it is the first, as with the jar's ``-r N``. Each result
    depends on its own row only.

    Args:
        rows: The segments.
        options: Which words match.
        index: What :func:`prepare_index` gives for these options.

    Raises:
        DataError: A segment repeats itself so often that aligning it takes minutes.
    """
    table = None if index is None else open_index(index)
    pairs = [
        [_align(_tokens(hypothesis, options), _tokens(reference, options), options, table)
         for reference in references]
        for hypothesis, references in rows
    ]  # fmt: skip
    return [choices[0] if len(choices) == 1 else _best(choices) for choices in pairs]


def _best(choices: Sequence[AlignedPair]) -> AlignedPair:
    return choices[int(np.argmax(score_parts(np.array([pair.counts for pair in choices])).score))]


def _align(
    hypothesis: list[str], reference: list[str], options: MatchOptions, table: PhraseTable | None
) -> AlignedPair:
    phrases = find_paraphrases(table, hypothesis, reference) if table else []
    hyp, ref = ([get_word(token) for token in side] for side in (hypothesis, reference))
    candidates = find_candidates(hyp, ref, options.modules, phrases)
    if is_too_long(candidates, len(hyp)):
        raise DataError(
            f"METEOR: a segment of {len(hyp):,} words against {len(ref):,}, too many of which come "
            f"again and again to be aligned; it begins {' '.join(hypothesis[:6])[:60]!r}: shorten "
            "it, or leave METEOR out"
        )
    matches = align(candidates)
    flags = ([word.is_function for word in side] for side in (hyp, ref))
    return AlignedPair(hypothesis, reference, matches, pair_statistics(matches, *flags))


def _tokens(segment: Segment, options: MatchOptions) -> list[str]:
    text = segment if isinstance(segment, str) else " ".join(segment)
    if options.norm:
        text = normalize(text)
    elif options.lower:
        text = text.lower()
    return split_words(text)
