"""Rescoring n-best lists with length and coverage penalties (Wu et al. 2016, section 7).

COVPENALTY of Malaviya et al. 2018 scores each hypothesis by log P(y|x) / lp(y) + cp(x; y). α of the
length penalty and β of the coverage penalty are tuned by grid search over 0, 0.2, …, 1 for the best
BLEU on a development set.

An n-best list in Moses' format has one hypothesis per line; the hypotheses of a segment are
adjacent, and the segments in order::

    0 ||| das ist ein haus ||| F0= -1.5 ||| -1.5
    0 ||| dies ist ein haus ||| F0= -1.75 ||| -1.75
    1 ||| ja ||| F0= -0.5 ||| -0.5

The attention file has one JSON object per hypothesis, in the same order. It holds either
``attention``, target × source, as in ``{"attention": [[0.9, 0.1], [0.2, 0.8]]}`` (the JSON Lines
form of :mod:`coverage_eval.attention_maps`, with its flag ``src_eos``), or only the total of each
source word: ``{"coverage": [1.1, 0.9]}``. An ``.npz`` file with arrays ``attention_0``,
``attention_1``, … works too.

Fields after the score and Marian's alignments before the features are ignored.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention.penalties import CoverageForm, coverage_penalty, penalized_score
from coverage_eval.attention_maps.formats.arrays import load_arrays
from coverage_eval.attention_maps.subwords import SCHEMES, Scheme, join_words
from coverage_eval.data.files import STDIN, Source, check_source, read_segments, source_name
from coverage_eval.data.json_objects import parse_json
from coverage_eval.data.numbers import parse_number
from coverage_eval.errors import DataError
from coverage_eval.metrics.sacrebleu_adapters import BLEU
from coverage_eval.metrics.score import Score, Signature
from coverage_eval.settings import setting
from fast_align_wrapper.text import tokenize

Float64Array = NDArray[np.float64]
GRID = tuple(round(0.2 * k, 1) for k in range(6))
"""{0.2 k}, k = 0…5, for α and for β (Malaviya et al. 2018, section 5, after Wu et al. 2016)."""

_NUMBER = re.compile("[0-9]{1,9}")
_ROUNDING = 1e-3  # toolkits print weights with 4 digits or more


@dataclass(frozen=True, eq=False)
class NBest:
    """The hypotheses of all segments, in the order of the file.

    Attributes:
        name: The file, for messages.
        texts: N hypotheses.
        starts: ``[segments]`` index of each segment's first hypothesis.
        log_probabilities: ``[N]``.
    """

    name: str
    texts: tuple[str, ...]
    starts: NDArray[np.intp]
    log_probabilities: Float64Array

    @property
    def sizes(self) -> NDArray[np.intp]:
        """``[segments]`` number of hypotheses of each segment."""
        return np.diff(self.starts, append=len(self.texts))


def read_nbest(source: Source, *, feature: str | None = None) -> NBest:
    """Read an n-best list.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked) or ``-`` for standard input.
        feature: Take the log-probability from this feature of the third field (``F0`` for
            ``F0= -1.5``) instead of the fourth field, which Marian may have normalised.

    Raises:
        DataError: Not an n-best list, or segments missing or out of order; names file and line.
    """
    name = source_name(source)
    texts: list[str] = []
    starts: list[int] = []
    scores: list[float] = []
    for number, line in enumerate(read_segments(source), start=1):
        try:
            segment, text, score = _parse(line, feature)
        except DataError as error:
            raise DataError(f"{name}: line {number}: {error}") from None
        if segment == len(starts):
            starts.append(len(texts))
        elif segment != len(starts) - 1:
            raise DataError(
                f"{name}: line {number}: segment {segment} follows segment {len(starts) - 1}; "
                "segments must be numbered from 0, in order, without gaps"
                if starts
                else f"{name}: line {number}: the first segment is {segment}; it must be 0"
            )
        texts.append(text)
        scores.append(score)
    if not texts:
        raise DataError(f"{name}: no hypotheses: the file is empty")
    return NBest(name, tuple(texts), np.array(starts), np.array(scores))


def _parse(line: str, feature: str | None) -> tuple[int, str, float]:
    fields = [field.strip(" ") for field in line.split("|||")]
    if len(fields) < 4 or not _NUMBER.fullmatch(fields[0]):
        raise DataError("not a line 'number ||| hypothesis ||| features ||| score'")
    # Marian writes word alignments before the features.
    place = 3 if len(fields) > 4 and "=" in fields[3] else 2
    printed = fields[place + 1] if feature is None else _feature(fields[place], feature)
    return int(fields[0]), fields[1], parse_number(printed, "the score")


def _feature(field: str, name: str) -> str:
    tokens = tokenize(field)
    for place, token in enumerate(tokens[:-1]):
        if token in (f"{name}=", f"{name}:"):
            return tokens[place + 1]
    raise DataError(f"no feature '{name}=' in '{field}'")


def read_coverage(source: Source, nbest: NBest) -> Iterator[Float64Array]:
    """Read the total attention of each source word, one hypothesis after the other.

    All rows count, the end of sentence included. Empty attention (of an empty hypothesis) is 0 for
    each source word.

    Args:
        source: JSON Lines (``.gz`` and ``.zst`` are unpacked; ``-`` is standard input) or ``.npz``.
        nbest: The hypotheses.

    Yields:
        ``[S]`` for each hypothesis; S is the same for all hypotheses of a segment.

    Raises:
        DataError: Malformed, not one per hypothesis, or attention that does not fit its hypothesis
            or the others of its segment; names file and line.
    """
    name = source_name(source)
    records = _archive(source) if str(source).endswith(".npz") else _json_lines(source)
    segments = np.repeat(np.arange(len(nbest.starts)), nbest.sizes)
    waiting: list[Float64Array] = []
    count = 0
    for where, weights in records:
        if count == len(nbest.texts):
            raise DataError(
                f"{where}: attention for more than the {count} hypotheses of {nbest.name}"
            )
        try:
            waiting.append(_totals(weights, nbest.texts[count]))
        except DataError as error:
            raise DataError(f"{where}: {error}") from None
        count += 1
        if count == len(nbest.texts) or segments[count] != segments[count - 1]:
            yield from _same_source(waiting, f"{name}: segment {segments[count - 1]}")
            waiting = []
    if count != len(nbest.texts):
        raise DataError(
            f"{name} has attention for {count} hypotheses, but {nbest.name} has {len(nbest.texts)}"
        )


def _totals(weights: Float64Array | list[Any], text: str) -> Float64Array:
    """Column sums of attention, or given totals as they are; ``[0]`` if there is no row."""
    try:
        array: Float64Array = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError("not a rectangle of numbers, target × source") from error
    if array.ndim not in (1, 2) or not np.isfinite(array).all():
        raise DataError("not a rectangle of numbers, target × source")
    if array.ndim == 1:
        if array.size and array.min() < 0:
            raise DataError("a total of attention is negative")
        return array
    if array.size and not (array.min() >= -_ROUNDING and array.max() <= 1 + _ROUNDING):
        raise DataError("a weight of attention is not between 0 and 1")
    words = len(tokenize(text))
    if len(array) not in (words, words + 1):
        raise DataError(
            f"attention has {len(array)} rows for a hypothesis of {words} tokens; it must have one "
            "per token, and may have one more for the end of sentence"
        )
    return np.asarray(np.maximum(array, 0.0).sum(axis=0))


def _same_source(rows: list[Float64Array], where: str) -> list[Float64Array]:
    """The totals of one segment; empty attention gets its length from the other hypotheses."""
    sizes = {len(row) for row in rows if len(row)}
    if len(sizes) > 1:
        raise DataError(
            f"{where}: some hypotheses attend to {min(sizes)} source words, others to {max(sizes)};"
            " all hypotheses of a segment must have the same source"
        )
    empty = np.zeros(sizes.pop() if sizes else 0)
    return [row if len(row) else empty for row in rows]


def _json_lines(source: Source) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(read_segments(source), start=1):
        where = f"{source_name(source)}: line {number}"
        record = parse_json(line, where)
        if not isinstance(record, dict) or ("attention" in record) == ("coverage" in record):
            raise DataError(f"{where}: not an object with either 'attention' or 'coverage'")
        words = slice(-1) if record.get("src_eos") is True else slice(None)
        if "coverage" in record:
            totals = record["coverage"]
            if not isinstance(totals, list) or any(isinstance(item, list) for item in totals):
                raise DataError(f"{where}: 'coverage' is not a list of numbers")
            yield where, totals[words]
        else:
            rows = record["attention"]
            if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
                raise DataError(f"{where}: 'attention' is not a list of rows")
            yield where, [row[words] for row in rows] or np.zeros((0, 0))


def _archive(source: Source) -> Iterator[tuple[str, Any]]:
    if str(source) == STDIN:
        raise DataError("an .npz file cannot be read from standard input")
    check_source(source)
    try:
        with load_arrays(str(source)) as archive:
            names = {name for name in archive.files if name.startswith("attention_")}
            records: list[Any] = [None] * len(names)
            if "segments" in archive.files:
                records = json.loads(str(archive["segments"][()]))
            if len(records) != len(names):
                raise ValueError(f"{len(records)} records for {len(names)} arrays")
            for index, record in enumerate(records):
                name = f"attention_{index}"
                if name not in names:
                    raise DataError(f"{source}: has {len(names)} attentions, but no '{name}'")
                array = archive[name]
                if isinstance(record, dict) and record.get("src_eos") is True:
                    array = array[..., :-1]  # the last column is not a word
                yield f"{source}: array {name}", array
    except (OSError, TypeError, ValueError, RecursionError, zipfile.BadZipFile) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{source}: not a readable .npz file ({error})") from error


@dataclass(frozen=True, eq=False)
class Candidates:
    """N-best lists with their penalties computed once, so that trying many α and β is fast.

    Args:
        nbest: The hypotheses.
        coverage: Total attention of each source word, one array per hypothesis; None for no
            coverage penalty.
        form: The coverage penalty, see :func:`coverage_eval.attention.coverage_penalty`.
        epsilon: ε of the paper's form.
        count_eos: Whether the end of sentence is a token of each hypothesis.
        count_bos: Whether the beginning of sentence is one, too.
        subwords: How subwords are marked; they are merged in chosen hypotheses, while the length
            |y| of the penalty counts the tokens of the list.
    """

    nbest: NBest
    coverage: Iterable[Float64Array] | None = None
    form: CoverageForm = setting(
        "paper", "Form of the coverage penalty.", flag="--penalty", choices=get_args(CoverageForm)
    )
    epsilon: float = setting(
        0.1, "Smallest coverage of a word in the paper's form.", min=0, max=1, min_open=True
    )
    count_eos: bool = setting(False, "The length includes the end of sentence.")
    count_bos: bool = setting(
        False,
        "The length includes the beginning of sentence; the authors' scripts count both.",
    )
    subwords: Scheme = setting(
        "none",
        "Merge the subwords of the chosen hypotheses, marked by @@, ▁ or ￭.",
        choices=SCHEMES,
    )

    def __post_init__(self) -> None:
        _ = self._penalties  # raises errors of the coverage now rather than at the first use

    @cached_property
    def _lengths(self) -> NDArray[np.int64]:
        words = [len(tokenize(text)) for text in self.nbest.texts]
        return np.array(words, dtype=np.int64) + self.count_eos + self.count_bos

    @cached_property
    def _penalties(self) -> Float64Array | None:
        if self.coverage is None:
            return None
        units = [
            coverage_penalty(row, form=self.form, epsilon=self.epsilon) for row in self.coverage
        ]
        if len(units) != len(self.nbest.texts):
            raise DataError(f"{len(self.nbest.texts)} hypotheses, but coverage of {len(units)}")
        return np.array(units, dtype=np.float64)

    def scores(self, alpha: float, beta: float) -> Float64Array:
        """``[N]`` the penalised score of each hypothesis.

        Raises:
            DataError: β is not 0, but there is no coverage.
        """
        if beta == 0:
            penalty = np.zeros(len(self._lengths))
        elif self._penalties is None:
            raise DataError("a coverage penalty needs the attention of the hypotheses")
        else:
            penalty = beta * self._penalties
        return penalized_score(self.nbest.log_probabilities, self._lengths, penalty, alpha=alpha)

    def choose(self, alpha: float, beta: float) -> NDArray[np.intp]:
        """``[segments]`` index of each segment's best hypothesis; ties go to the first."""
        scores = self.scores(alpha, beta)
        best = np.maximum.reduceat(scores, self.nbest.starts)
        winners = np.flatnonzero(scores == np.repeat(best, self.nbest.sizes))
        return winners[np.searchsorted(winners, self.nbest.starts)]

    def chosen_texts(self, alpha: float, beta: float) -> list[str]:
        """The best hypothesis of each segment."""
        return [self.text(i) for i in self.choose(alpha, beta)]

    def text(self, index: int) -> str:
        """A hypothesis with its subwords merged."""
        text = self.nbest.texts[index]
        if self.subwords == "none":
            return text
        return join_words(tokenize(text), self.subwords)


@dataclass(frozen=True)
class GridPoint:
    """BLEU on a development set with one pair of weights.

    Attributes:
        alpha: Of the length penalty.
        beta: Of the coverage penalty.
        bleu: 0 to 100.
    """

    alpha: float
    beta: float
    bleu: float


@dataclass(frozen=True)
class GridSearch:
    """All points of a grid search, sorted by α, then β, and the best of them.

    Attributes:
        points: One for each pair of weights.
        best: The point with the highest BLEU; ties go to the smallest α, then β.
        score: BLEU of the best point, with the weights and the penalty in its signature.
    """

    points: tuple[GridPoint, ...]
    best: GridPoint
    score: Score


def grid_search(
    candidates: Candidates,
    references: Sequence[str],
    *,
    alphas: Sequence[float] = GRID,
    betas: Sequence[float] = GRID,
    metric: BLEU | None = None,
) -> GridSearch:
    """Find the weights for which the chosen hypotheses have the best BLEU.

    Args:
        candidates: N-best lists of a development set.
        references: One per segment.
        alphas: Weights of the length penalty to try.
        betas: Weights of the coverage penalty to try.
        metric: BLEU's settings.

    Raises:
        DataError: The numbers of segments and references differ, or a β is not 0 but there is no
            coverage.
    """
    nbest = candidates.nbest
    if len(references) != len(nbest.starts):
        raise DataError(
            f"{nbest.name} has hypotheses for {len(nbest.starts)} segments, "
            f"but there are {len(references)} references"
        )
    bleu = metric or BLEU()
    grid = [(alpha, beta) for alpha in sorted(alphas) for beta in sorted(betas)]
    choices = [candidates.choose(alpha, beta) for alpha, beta in grid]
    # Most hypotheses are never chosen: count n-grams only for those that are, once each.
    needed = np.unique(np.concatenate(choices))
    segment = np.searchsorted(nbest.starts, needed, side="right") - 1
    texts = [candidates.text(i) for i in needed]
    statistics = bleu.statistics(texts, [references[s] for s in segment])
    summed = np.stack(
        [statistics[np.searchsorted(needed, choice)].sum(axis=0) for choice in choices]
    )
    points = tuple(
        GridPoint(alpha, beta, float(value))
        for (alpha, beta), value in zip(grid, bleu.formula(summed), strict=True)
    )
    best = best_point(points)
    chosen = statistics[np.searchsorted(needed, choices[points.index(best)])]
    score = bleu.score(chosen, references=1)
    signature = _signature(score.signature, candidates, best)
    return GridSearch(points, best, replace(score, signature=signature))


def best_point(points: Iterable[GridPoint]) -> GridPoint:
    """The point with the highest BLEU; ties go to the smallest α, then β."""
    return max(points, key=lambda point: (point.bleu, -point.alpha, -point.beta))


def _signature(bleu: Signature, candidates: Candidates, point: GridPoint) -> Signature:
    """BLEU's signature, with the settings that chose the hypotheses before the version."""
    settings = [("alpha", f"{point.alpha:g}"), ("beta", f"{point.beta:g}")]
    settings.append(("coverage", candidates.form))
    if candidates.form == "paper":
        settings.append(("epsilon", f"{candidates.epsilon:g}"))
    counted = "tokens" + "+bos" * candidates.count_bos + "+eos" * candidates.count_eos
    settings.append(("length", counted))
    if candidates.subwords != "none":
        settings.append(("subwords", candidates.subwords))
    return Signature(bleu.metric, (*bleu.settings[:-1], *settings, bleu.settings[-1]))
