"""From sentence pairs to Meteor's statistics, batch by batch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.metrics.meteor.aligner import Match, align
from coverage_eval.metrics.meteor.candidates import PARAPHRASE, find_candidates
from coverage_eval.metrics.meteor.lexicon import Lexicon
from coverage_eval.metrics.meteor.normalizer import normalize
from coverage_eval.metrics.meteor.paraphrases import PhraseMatch, find_paraphrases
from coverage_eval.metrics.meteor.phrase_cache import index_folder, open_index
from coverage_eval.metrics.meteor.resources import paraphrase_path
from coverage_eval.metrics.meteor.statistics import FIELDS, pair_statistics
from coverage_eval.text.corpus import Segment

__all__ = ["AlignedPair", "Settings", "align_batch", "count_batch", "prepare"]

_SEPARATORS = re.compile("[\t\n\r\f]")


class Settings(NamedTuple):
    """What decides the matches of a pair."""

    modules: tuple[int, ...]
    """Numbers of the matchers, ascending."""
    norm: bool
    """Tokenise and normalise as ``-norm`` does."""
    lower: bool
    """Lowercase only, as ``-lower`` does."""
    index_folder: Path | None = None
    """The folder of the paraphrase index, for the paraphrase matcher."""


class AlignedPair(NamedTuple):
    """A pair's tokens and the matches between them."""

    hypothesis: list[str]
    reference: list[str]
    matches: list[Match]


def prepare(settings: Settings) -> Settings:
    """Settings complete for :func:`align_batch`: makes sure that there is a paraphrase index.

    Done once before any worker process starts, so that not each of them builds an index.
    """
    if PARAPHRASE in settings.modules and settings.index_folder is None:
        return settings._replace(index_folder=index_folder(paraphrase_path()))
    return settings


def align_batch(rows: Sequence[tuple[Segment, ...]], settings: Settings) -> list[AlignedPair]:
    """Align the pairs of a batch; each result depends on its own pair only."""
    lexicon = _lexicon()
    hypotheses = [_tokens(row[0], settings) for row in rows]
    references = [_tokens(row[1], settings) for row in rows]
    if settings.index_folder is None:
        phrases: list[list[PhraseMatch]] = [[] for _ in rows]
    else:
        phrases = find_paraphrases(open_index(settings.index_folder), hypotheses, references)
    return [
        AlignedPair(hyp, ref, align(find_candidates(hyp, ref, lexicon, settings.modules, found)))
        for hyp, ref, found in zip(hypotheses, references, phrases, strict=True)
    ]


def count_batch(rows: Sequence[tuple[Segment, ...]], settings: Settings) -> NDArray[np.int64]:
    """Meteor's 23 statistics of each pair, ``[len(rows), 23]``."""
    lexicon = _lexicon()
    counts = np.zeros((len(rows), len(FIELDS)), dtype=np.int64)
    for row, (hypothesis, reference, matches) in enumerate(align_batch(rows, settings)):
        hyp_functions = lexicon.function_flags(hypothesis)
        ref_functions = lexicon.function_flags(reference)
        counts[row] = pair_statistics(matches, hyp_functions, ref_functions)
    return counts


@cache
def _lexicon() -> Lexicon:
    return Lexicon()


def _tokens(segment: Segment, settings: Settings) -> list[str]:
    """A segment's tokens; Meteor splits text at spaces, tabs, line ends and form feeds only."""
    if not isinstance(segment, str):
        if not settings.norm:
            return [token.lower() for token in segment] if settings.lower else list(segment)
        segment = " ".join(segment)
    if settings.norm:
        segment = normalize(segment)
    elif settings.lower:
        segment = segment.lower()
    return [token for token in _SEPARATORS.sub(" ", segment).split(" ") if token]
