"""The profile of one output: every cheap figure that its texts allow, from one pass."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from coverage_eval.alignment.aligner import Aligner, check_aligner
from coverage_eval.data.dataset import Dataset
from coverage_eval.data.documents import DocumentSettings
from coverage_eval.data.input_checks import warn_of
from coverage_eval.data.stop_words import StopWords
from coverage_eval.metrics.evaluation import ONE_SYSTEM, Evaluation
from coverage_eval.metrics.figures import FIGURES, FigureRow, select_figures
from coverage_eval.metrics.measure import Metric, Result
from coverage_eval.metrics.named_errors import NamedErrors
from coverage_eval.metrics.named_figures import NAMED_FIGURES
from coverage_eval.metrics.named_findings import learn_named
from coverage_eval.metrics.score import Score, Statistics, interval_ends
from coverage_eval.metrics.significance import DEFAULT_SEED
from fast_align_wrapper.text import Segment

if TYPE_CHECKING:
    import pandas as pd

_NO_WORDS = StopWords()

ROW = ("figure", "score", "low", "high", "better", "meaning")
"""The columns of a table of figures."""


@dataclass(frozen=True)
class ProfiledFigure:
    """A figure of one output.

    Attributes:
        figure: Its name and meaning.
        metric: The metric with its settings.
        statistics: The statistics of each segment, ``[segments, k]``.
        score: The corpus score; None if it is undefined.
    """

    figure: FigureRow
    metric: Metric
    statistics: Statistics
    score: Score | None

    @property
    def meaning(self) -> str:
        """Its meaning, or why it is undefined."""
        return self.figure.meaning if self.score else f"undefined: {self.metric.undefined}"

    @property
    def signature(self) -> str:
        """Its signature."""
        return str(self.score.signature if self.score else self.metric.signature)

    @property
    def row(self) -> tuple[str, float | None, float | None, float | None, str, str]:
        """Its name, score, ends of the interval, better direction and meaning: :data:`ROW`."""
        score, interval = (self.score.score, self.score.interval) if self.score else (None, None)
        figure = self.figure
        return (figure.key, score, *interval_ends(interval), figure.better, self.meaning)

    def sentence_scores(self) -> list[float | None]:
        """The score of each segment; None where it is undefined."""
        return self.metric.segment_scores(self.statistics)

    def to_dict(self) -> dict[str, Any]:
        """The figure as plain values: its name, its meaning and its score."""
        named = {"figure": self.figure.key, "better": self.figure.better, "meaning": self.meaning}
        if self.score is None:
            return {**named, "score": None, "signature": self.signature}
        return {**named, **self.score.to_dict()}


@dataclass(frozen=True)
class Profile:
    """The figures of one output, in the order of the registry."""

    figures: tuple[ProfiledFigure, ...]

    def __getitem__(self, key: str) -> ProfiledFigure:
        for item in self.figures:
            if item.figure.key == key:
                return item
        names = ", ".join(item.figure.key for item in self.figures)
        raise KeyError(f"no figure {key!r}; there are {names}")

    def __str__(self) -> str:
        """A line for each figure: its signature and score."""
        return "\n".join(
            f"{item.signature} undefined" if item.score is None else str(item.score)
            for item in self.figures
        )

    def to_frame(self) -> pd.DataFrame:
        """A row for each figure, by its name: score, interval, direction, meaning and signature.

        An undefined score is NaN, as are the ends of intervals that were not asked for.
        """
        import pandas as pd

        rows = [(*item.row, item.signature) for item in self.figures]
        frame = pd.DataFrame(rows, columns=[*ROW, "signature"]).set_index("figure")
        return frame.astype(dict.fromkeys(("score", "low", "high"), "float64"))

    def _repr_html_(self) -> str:
        frame = self.to_frame().dropna(axis="columns", how="all")
        table: str = frame.to_html(float_format=lambda value: f"{value:.2f}", na_rep="")
        return table


def profile(
    hypotheses: Sequence[Segment],
    references: Sequence[Any] | None = None,
    sources: Sequence[Segment] | None = None,
    aligner: Aligner | None = None,
    *,
    tokenize: str = "none",
    lowercase: bool = False,
    stopwords: StopWords = _NO_WORDS,
    jobs: int = 1,
    resamples: int = 0,
    seed: int = DEFAULT_SEED,
    unaligned: bool = False,
) -> Profile:
    """Compute every cheap figure of one output that the given texts allow.

    >>> figures = profile(["a a b"], ["a b"], ["x y"])
    >>> float(figures["seq-rep-1"].score), float(figures["length-ratio"].score)
    (33.333333333333336, 1.5)

    Args:
        hypotheses: The system's segments, strings or lists of tokens.
        references: The reference's segments, or a list of several references.
        sources: The source's segments.
        aligner: The aligner, for figures of uncovered source words.
        tokenize: The tokeniser for figures of text.
        lowercase: Whether to lowercase for figures of text.
        stopwords: Source words that figures of links ignore.
        jobs: Number of processes; the result does not depend on it.
        resamples: Bootstrap resamples of intervals; 0 for none.
        seed: Their seed.
        unaligned: As in :func:`coverage_eval.compare`.

    Raises:
        DataError: Unequal numbers of segments, or none at all.
    """
    make = Dataset.of_documents if unaligned else Dataset.of_lists
    documents = DocumentSettings.of(tokenize) if unaligned else None
    words: dict[str, Any] = {"tokenize": tokenize, "lowercase": lowercase, "stopwords": stopwords}
    result = Evaluation(
        make({ONE_SYSTEM: hypotheses}, references, sources),
        aligner,
        partial(figures_of, **words),
        jobs=jobs,
        documents=documents,
    ).run()
    warn_of(result.findings)
    return profile_of(result, resamples, seed)


def figures_of(aligner: Aligner | None, texts: Dataset, **settings: Any) -> dict[str, Metric]:
    """All figures that some texts allow, with those of named errors.

    Args:
        aligner: As in :func:`profile`.
        texts: The texts, from which named errors learn what is usual.
        **settings: Further settings of :func:`make_figures`.
    """
    have = {"references": texts.references, "sources": texts.source}
    named = learn_named(texts, aligner)
    return make_figures(
        aligner, have={name for name, there in have.items() if there}, named=named, **settings
    )


def make_figures(
    aligner: Aligner | None = None,
    *,
    have: Set[str],
    tokenize: str = "none",
    lowercase: bool = False,
    stopwords: StopWords = _NO_WORDS,
    named: NamedErrors | None = None,
) -> dict[str, Metric]:
    """The metrics of all figures that some texts allow, by the figures' names.

    Args:
        aligner: As in :func:`profile`, like all other arguments.
        have: Which of ``references`` and ``sources`` there are.
        tokenize: The tokeniser.
        lowercase: Whether to lowercase.
        stopwords: Source words to ignore.
        named: Finds named errors; None for no figures of them.
    """
    words = {"tokenize": tokenize, "lowercase": lowercase}
    found = {figure.key: figure.make(**words) for figure in select_figures(have)}
    if aligner is not None:
        check_aligner(aligner)
        of_links = have | {"links"}
        linked = of_links if aligner.links_references else of_links - {"references"}
        for figure in select_figures(linked):
            if "links" in figure.needs:
                found[figure.key] = figure.make(aligner, stopwords=stopwords)
    if named is not None:
        found |= {
            item.key: item.make(named, item.key) for item in NAMED_FIGURES if item.needs <= have
        }
    return found


def profile_of(result: Result, resamples: int = 0, seed: int = DEFAULT_SEED) -> Profile:
    """The profile from a result of :func:`make_figures`' metrics.

    Args:
        result: The result.
        resamples: Bootstrap resamples of intervals; 0 for none.
        seed: Their seed.
    """
    known = {figure.key: figure for figure in (*FIGURES, *NAMED_FIGURES)}
    profiled = []
    for key, metric in result.metrics.items():
        (statistics,) = result.statistics[key]
        score = None
        if not np.isnan(metric.formula(statistics.sum(axis=0))):
            score = result.score(key, resamples=resamples, seed=seed)
        profiled.append(ProfiledFigure(known[key], metric, statistics, score))
    return Profile(tuple(profiled))
