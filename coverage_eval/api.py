"""Scores in one call, as a short form of ``metric.corpus_score``.

Each function makes the metric from its settings and scores a corpus.

Segments are strings or lists of tokens. The settings of each function are the fields of its metric,
whose defaults it takes. :func:`rep` describes the arguments that all functions
share.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from coverage_eval.align.aligner import Aligner
from coverage_eval.core.score import Score
from coverage_eval.core.tokenizers import Segment, StopWords
from coverage_eval.coverage.drop import DROP, SoftDROP
from coverage_eval.coverage.omissions import Additions, Omissions
from coverage_eval.quality.sacre import BLEU, CHRF, TER
from coverage_eval.repetition.rep import REP, LetterREP
from coverage_eval.scoring import Scoring, score_corpus

if TYPE_CHECKING:  # typing has it from Python 3.11 on
    from typing_extensions import Unpack

Segments = Sequence[Segment]

_NO_WORDS = StopWords()


def rep(
    hypotheses: Segments,
    references: Sequence[Any],
    *,
    n: int = REP.n,
    w1: float = REP.w1,
    w2: float = REP.w2,
    tokenize: str = REP.tokenize,
    lowercase: bool = REP.lowercase,
    **how: Unpack[Scoring],
) -> Score:
    """REP-score: repeated words that the references lack; lower is better, without upper bound.

    >>> float(rep(["a red red house"], ["a red house"], n=2))
    66.66666666666667

    Args:
        hypotheses: The system's segments.
        references: The reference's segments, or a list of several references.
        n: Length of the n-grams, 1 to 50.
        w1: Weight of repeated n-grams.
        w2: Weight of words twice in a row.
        tokenize: The tokeniser.
        lowercase: Whether to lowercase first.
        **how: ``resamples`` for a 95% interval (by default 0 for none) and their ``seed``,
            ``jobs`` for a number of processes, and ``unaligned`` for a document of other lines, as
            :class:`coverage_eval.scoring.Scoring` says.
    """
    metric = REP(n, w1, w2, tokenize=tokenize, lowercase=lowercase)
    return score_corpus(metric, hypotheses, references, **how)


def letter_rep(
    hypotheses: Segments,
    references: Sequence[Any],
    *,
    n: int = LetterREP.n,
    w1: float = LetterREP.w1,
    w2: float = LetterREP.w2,
    tokenize: str = LetterREP.tokenize,
    lowercase: bool = LetterREP.lowercase,
    **how: Unpack[Scoring],
) -> Score:
    """REP in letters, which also finds repetitions far apart; lower is better, without upper bound.

    >>> float(letter_rep(["red a house red"], ["a red house"]))
    100.0

    Arguments are those of :func:`rep`; :class:`coverage_eval.LetterREP` gives the formula.
    """
    metric = LetterREP(n, w1, w2, tokenize=tokenize, lowercase=lowercase)
    return score_corpus(metric, hypotheses, references, **how)


def drop(
    hypotheses: Segments,
    references: Sequence[Any],
    sources: Segments | None,
    aligner: Aligner,
    *,
    stopwords: StopWords = _NO_WORDS,
    denominator: str = DROP.denominator,
    compat: str | None = DROP.compat,
    **how: Unpack[Scoring],
) -> Score:
    """DROP-score: source words that only the references translate, 0 to 100; lower is better.

    >>> aligner = Aligner.from_links([[(0, 0), (1, 1)]], [[(0, 0)]])
    >>> float(drop(["a"], ["a house"], ["ein haus"], aligner))
    50.0

    Args:
        hypotheses: The system's segments.
        references: The reference's segments, or a list of several references.
        sources: The source's segments; may be None if the links come from files.
        aligner: The aligner.
        stopwords: Source words to ignore.
        denominator: ``"aligned"`` or ``"source"``, see :class:`coverage_eval.DROP`.
        compat: None or ``"acl2018"``, see :class:`coverage_eval.DROP`.
        **how: As for :func:`rep`.
    """
    metric = DROP(aligner, stopwords, denominator, compat)
    return score_corpus(metric, hypotheses, references, sources, **how)


def soft_drop(
    hypotheses: Segments,
    references: Sequence[Any],
    sources: Segments,
    aligner: Aligner,
    *,
    stopwords: StopWords = _NO_WORDS,
    **how: Unpack[Scoring],
) -> Score:
    """Soft DROP: share of source coverage lost against the references, 0 to 100; lower is better.

    >>> pairs = ["ein haus", "das haus", "ein hund"] * 20, ["a house", "the house", "a dog"] * 20
    >>> with Aligner.train(*pairs) as aligner:
    ...     round(float(soft_drop(["a"], ["a house"], ["ein haus"], aligner)))
    50

    Arguments are those of :func:`drop`; the aligner must have a model.
    """
    metric = SoftDROP(aligner, stopwords)
    return score_corpus(metric, hypotheses, references, sources, **how)


def omissions(
    hypotheses: Segments,
    references: Sequence[Any] | None = None,
    sources: Segments | None = None,
    aligner: Aligner | None = None,
    *,
    peers: Sequence[Segments] = (),
    additions: bool = False,
    **how: Unpack[Scoring],
) -> Score:
    """Percentage of segments that can be expected to leave words out, 0 to 100; lower is better.

    >>> pairs = ["ein haus", "das haus", "ein hund"] * 20, ["a house", "the house", "a dog"] * 20
    >>> with Aligner.train(*pairs) as aligner:
    ...     score = omissions(["a", "a dog"], sources=["ein haus", "ein hund"], aligner=aligner)
    >>> first, second = score.segment_scores()
    >>> first > second
    True

    Args:
        hypotheses: The system's segments.
        references: The reference's segments, which show what can be translated, or a list of
            several references; None for no reference.
        sources: The source's segments.
        aligner: The aligner, with a model.
        peers: Outputs of other systems, which show it, too.
        additions: Find words of the output that have no source instead; references are ignored.
        **how: As for :func:`rep`.
    """
    if sources is None or aligner is None:
        raise TypeError(
            "omissions needs sources and an aligner; without references: "
            "omissions(hypotheses, sources=…, aligner=…)"
        )
    metric = (Additions if additions else Omissions)(aligner)
    return score_corpus(
        metric, hypotheses, None if additions else references, sources, peers, **how
    )


def bleu(
    hypotheses: Segments,
    references: Sequence[Any],
    *,
    tokenize: str = BLEU.tokenize,
    lowercase: bool = BLEU.lowercase,
    smooth: str = BLEU.smooth,
    **how: Unpack[Scoring],
) -> Score:
    """BLEU as sacreBLEU computes it, 0 to 100.

    >>> round(float(bleu(["the cat sat on the mat"], ["the cat sat on a mat"])), 2)
    53.73

    Arguments are those of :func:`rep`, and ``smooth`` is one of sacreBLEU's ways of smoothing:
    ``exp``, ``floor``, ``add-k`` or ``none``.
    """
    metric = BLEU(tokenize, lowercase, smooth)
    return score_corpus(metric, hypotheses, references, **how)


def chrf(
    hypotheses: Segments,
    references: Sequence[Any],
    *,
    lowercase: bool = CHRF.lowercase,
    **how: Unpack[Scoring],
) -> Score:
    """Corpus chrF2 as sacreBLEU computes it, 0 to 100.

    >>> round(float(chrf(["the cat sat"], ["the cat sits"])), 2)
    61.03

    Arguments are those of :func:`rep`.
    """
    metric = CHRF(lowercase)
    return score_corpus(metric, hypotheses, references, **how)


def ter(
    hypotheses: Segments,
    references: Sequence[Any],
    *,
    cased: bool = TER.cased,
    normalize: bool = TER.normalize,
    tokenize: str = TER.tokenize,
    **how: Unpack[Scoring],
) -> Score:
    """Translation edit rate as sacreBLEU computes it; lower is better, and it can exceed 100.

    >>> round(float(ter(["the cat sat"], ["the cat sits"])), 2)
    33.33

    Arguments are those of :func:`rep`; ``cased`` tells capitals from small letters, ``normalize``
    splits off punctuation as Tercom does, and ``tokenize`` splits by a tokeniser first.
    """
    metric = TER(cased, normalize, tokenize)
    return score_corpus(metric, hypotheses, references, **how)


def meteor(
    hypotheses: Segments,
    references: Sequence[Any],
    *,
    variant: str = "full",
    norm: bool = False,
    lower: bool = False,
    scale: int = 100,
    **how: Unpack[Scoring],
) -> Score:
    """METEOR 1.5 for English, 0 to 100; needs the extra ``meteor``.

    >>> round(float(meteor(["the cat sat on the mat"], ["a cat was sitting on the mat"])), 2)
    46.01

    Arguments are those of :func:`rep`, and settings are those of :class:`coverage_eval.METEOR`:
    ``variant`` is ``"full"`` or ``"exact-stem"``; ``norm`` tokenises, normalises punctuation and
    lowercases; ``lower`` only lowercases; ``scale`` is the score's upper end, 100 or 1.
    """
    from coverage_eval.quality.meteor.metric import METEOR

    metric = METEOR(variant, norm, lower, scale)
    return score_corpus(metric, hypotheses, references, **how)
