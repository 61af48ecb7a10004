"""Where systems differ: metrics by bucket, commonest errors, most different segments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from coverage_eval.comparison.buckets import (
    dropped_by_frequency,
    dropped_by_position,
    repeated_by_position,
    scores_by_length,
)
from coverage_eval.comparison.compared import Compared
from coverage_eval.comparison.differences import most_different
from coverage_eval.comparison.evidence import find_metric
from coverage_eval.comparison.frequent import (
    most_dropped_words,
    most_repeated_ngrams,
    words_dropped_by_one,
)
from coverage_eval.errors import check_whole
from coverage_eval.tables.table import Table

DEFAULT_TOP = 5


@dataclass(frozen=True)
class Options:
    """What breakdowns may be told.

    Attributes:
        top: Entries of each list of words, n-grams or segments.
        frequencies: How often each source word stands in the training text; by default, how often
            it stands in the source itself.

    Raises:
        TypeError: ``top`` is no whole number.
        ValueError: It is below 1.
    """

    top: int = DEFAULT_TOP
    frequencies: Mapping[str, int] | None = None

    def __post_init__(self) -> None:
        check_whole("top", self.top, 1)


@dataclass(frozen=True)
class Breakdown:
    """A breakdown that can be asked for by name.

    Attributes:
        make: From a comparison to a table.
        needs: The evidence that a metric among the columns must have, such as ``dropped``; None
            if any will do.
        needs_source: Whether the source text must be there.
    """

    make: Callable[[Compared, Options], Table]
    needs: str | None = None
    needs_source: bool = False


BREAKDOWNS: Mapping[str, Breakdown] = {
    "source-length": Breakdown(lambda c, _: scores_by_length(c, "source"), needs_source=True),
    "reference-length": Breakdown(lambda c, _: scores_by_length(c, "reference")),
    "frequency": Breakdown(
        lambda c, o: dropped_by_frequency(c, o.frequencies), "dropped", needs_source=True
    ),
    "source-position": Breakdown(lambda c, _: dropped_by_position(c), "dropped", needs_source=True),
    "output-position": Breakdown(lambda c, _: repeated_by_position(c), "repetitions"),
    "dropped-words": Breakdown(
        lambda c, o: most_dropped_words(c, o.top), "dropped", needs_source=True
    ),
    "dropped-by-one": Breakdown(
        lambda c, o: words_dropped_by_one(c, o.top), "dropped", needs_source=True
    ),
    "repeated-ngrams": Breakdown(lambda c, o: most_repeated_ngrams(c, o.top), "repetitions"),
    "differences": Breakdown(lambda c, o: most_different(c, o.top)),
}


def break_down(
    comparison: Compared, names: Sequence[str] | None = None, options: Options | None = None
) -> list[Table]:
    """Break a comparison down.

    Args:
        comparison: Made by :func:`coverage_eval.compare`, so that texts and alignments are there.
        names: Names of :data:`BREAKDOWNS`; by default all that the comparison's metrics allow.
        options: What they may be told.

    Raises:
        ValueError: An unknown name, a metric that a breakdown needs is not among the columns, or
            the source is not there.
    """
    if names is None:
        names = available_breakdowns(comparison)
    tables = []
    for name in names:
        if name not in BREAKDOWNS:
            raise ValueError(f"unknown breakdown {name!r}; one of {', '.join(BREAKDOWNS)}")
        if missing := _missing(comparison, BREAKDOWNS[name]):
            raise ValueError(f"breakdown {name} needs {missing}")
        tables.append(BREAKDOWNS[name].make(comparison, options or Options()))
    return tables


def available_breakdowns(comparison: Compared) -> list[str]:
    """The names of the breakdowns that a comparison's texts and metrics allow."""
    return [name for name, item in BREAKDOWNS.items() if not _missing(comparison, item)]


def _missing(comparison: Compared, item: Breakdown) -> str | None:
    """What a breakdown lacks, if it lacks something."""
    if comparison.counted is None:
        return "the texts, and there are only statistics"
    if item.needs is not None and find_metric(comparison, item.needs) is None:
        return f"a metric with evidence of {item.needs} words among the metrics"
    if item.needs_source and not comparison.counted.texts.has_source:
        return "the source text"
    return None
