"""Scores in one call: each function makes the metric from its options and scores a corpus.

All take texts as lists of segments, strings or lists of tokens, and the options of the metric by
name; ``jobs``, ``resamples`` and ``seed`` are those of
:meth:`coverage_eval.metrics.measure.Metric.corpus_score`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.metrics.registry import metric_class
from coverage_eval.metrics.score import Score
from fast_align_wrapper.text import Segment

Segments = Sequence[Segment]

_OF_A_CALL = {"jobs", "resamples", "seed"}


def _score(name: str, texts: Sequence[Any], options: dict[str, Any]) -> Score:
    of_call = {key: options.pop(key) for key in _OF_A_CALL & set(options)}
    kind = metric_class(name)
    known = [item.name for item in fields(kind)]
    if unknown := [option for option in options if option not in known]:
        raise TypeError(
            f"{kind.name} has no option {', '.join(unknown)}; "
            f"its options are {', '.join(sorted({*known, *_OF_A_CALL} - {'aligner'}))}"
        )
    return kind(**options).corpus_score(*texts, checks=True, **of_call)


def rep(hypotheses: Segments, references: Sequence[Any], **options: Any) -> Score:
    """REP-score: repeated words that the references lack; lower is better, without upper bound.

    >>> float(rep(["a red red house"], ["a red house"], n=2))
    66.66666666666667

    Args:
        hypotheses: The system's segments.
        references: The reference's segments, or a list of several references.
        **options: Those of :class:`coverage_eval.REP`, such as ``n`` and ``tokenize``.
    """
    return _score("rep", (hypotheses, references), options)


def letter_rep(hypotheses: Segments, references: Sequence[Any], **options: Any) -> Score:
    """REP in letters, which finds repetitions far apart as well; lower is better, without bound.

    >>> float(letter_rep(["red a house red"], ["a red house"]))
    100.0

    Args:
        hypotheses: The system's segments.
        references: The reference's segments, or a list of several references.
        **options: Those of :class:`coverage_eval.LetterREP`, such as ``n`` and ``tokenize``.
    """
    return _score("rep-letters", (hypotheses, references), options)


def drop(
    hypotheses: Segments,
    references: Sequence[Any],
    sources: Segments | None,
    aligner: Aligner,
    **options: Any,
) -> Score:
    """DROP-score: source words that the references translate and the hypothesis does not, 0 to 100.

    >>> aligner = Aligner.from_links([[(0, 0), (1, 1)]], [[(0, 0)]])
    >>> float(drop(["a"], ["a house"], ["ein haus"], aligner))
    50.0

    Args:
        hypotheses: The system's segments.
        references: The reference's segments, or a list of several references.
        sources: The source's segments; links from files can do without, None then.
        aligner: What links them.
        **options: Those of :class:`coverage_eval.DROP`, such as ``denominator``.
    """
    return _score("drop", (hypotheses, references, sources), {"aligner": aligner, **options})


def soft_drop(
    hypotheses: Segments,
    references: Sequence[Any],
    sources: Segments,
    aligner: Aligner,
    **options: Any,
) -> Score:
    """Soft DROP: coverage of the source lost against the references, 0 to 100.

    >>> pairs = ["ein haus", "das haus", "ein hund"] * 20, ["a house", "the house", "a dog"] * 20
    >>> with Aligner.train(*pairs) as aligner:
    ...     round(float(soft_drop(["a"], ["a house"], ["ein haus"], aligner)))
    50

    Args:
        hypotheses: The system's segments.
        references: The reference's segments, or a list of several references.
        sources: The source's segments.
        aligner: What covers them; it must hold a model.
        **options: Those of :class:`coverage_eval.SoftDROP`.
    """
    return _score("softdrop", (hypotheses, references, sources), {"aligner": aligner, **options})


def bleu(hypotheses: Segments, references: Sequence[Any], **options: Any) -> Score:
    """BLEU as sacreBLEU computes it, 0 to 100.

    >>> round(float(bleu(["the cat sat on the mat"], ["the cat sat on a mat"])), 2)
    53.73

    Args:
        hypotheses: The system's segments.
        references: The reference's segments, or a list of several references.
        **options: Those of :class:`coverage_eval.BLEU`, such as ``tokenize``.
    """
    return _score("bleu", (hypotheses, references), options)


def chrf(hypotheses: Segments, references: Sequence[Any], **options: Any) -> Score:
    """Corpus chrF2 as sacreBLEU computes it, 0 to 100.

    >>> round(float(chrf(["the cat sat"], ["the cat sits"])), 2)
    61.03

    Args:
        hypotheses: The system's segments.
        references: The reference's segments, or a list of several references.
        **options: Those of :class:`coverage_eval.CHRF`.
    """
    return _score("chrf", (hypotheses, references), options)


def meteor(hypotheses: Segments, references: Sequence[Any], **options: Any) -> Score:
    """METEOR 1.5 for English, 0 to 100; needs the extra ``meteor``.

    >>> round(float(meteor(["the cat sat on the mat"], ["a cat was sitting on the mat"])), 2)
    46.01

    Args:
        hypotheses: The system's segments.
        references: The reference's segments, or a list of several references.
        **options: Those of :class:`coverage_eval.METEOR`, such as ``norm``.
    """
    return _score("meteor", (hypotheses, references), options)
