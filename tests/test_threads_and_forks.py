"""What is shared by threads, or by forked processes, gives what it gives alone."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

import coverage_eval as ce
from coverage_eval.core.batches import Batch, Row, RowSample
from coverage_eval.registry import METRICS, make_metric

WORKERS = 8
SEGMENTS = 6
OF_DOCUMENTS = {"missing-lines", "extra-text"}

pytestmark = [
    # They are not the same for all texts, and threads share Python's filters of warnings.
    pytest.mark.filterwarnings("ignore::coverage_eval.core.errors.CorpusWarning"),
]


@pytest.fixture(scope="module")
def texts(demonstration: Path) -> list[list[list[str]]]:
    """For each worker, hypotheses, references, sources and peers of other segments."""
    names = ("repeating.en", "test.en", "test.de", "dropping.en")
    files = [(demonstration / name).read_text(encoding="utf-8").splitlines() for name in names]
    starts = range(0, WORKERS * SEGMENTS, SEGMENTS)
    return [[lines[start : start + SEGMENTS] for lines in files] for start in starts]


def in_threads(call: Callable[[int], Any]) -> list[Any]:
    """What each of eight threads gets, which start at once."""
    barrier = Barrier(WORKERS)

    def start(number: int) -> Any:
        barrier.wait()
        return call(number)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns as often as possible
    try:
        with ThreadPoolExecutor(WORKERS) as pool:
            return list(pool.map(start, range(WORKERS)))
    finally:
        sys.setswitchinterval(interval)


_called: list[Callable[[int], Any]] = []


def _call_last(number: int) -> Any:
    return _called[-1](number)


def in_forks(call: Callable[[int], Any]) -> list[Any]:
    """What forked processes get that share the objects of this one."""
    _called.append(call)
    with multiprocessing.get_context("fork").Pool(4) as pool:  # terminates it at the end
        return pool.map(_call_last, range(WORKERS), chunksize=1)


@pytest.mark.parametrize("name", [name for name in METRICS if name != "meteor-nltk"])
def test_a_shared_metric(texts, finder, name):
    def measure(metric: ce.Metric, number: int) -> tuple[str, list[float | None]]:
        hypotheses, references, sources, peers = texts[number]
        are_documents = name in OF_DOCUMENTS
        score = metric.corpus_score(
            hypotheses,
            references if are_documents or "references" in metric.needs else None, sources,
            peers=[peers] if name == "shortfall" else [], unaligned=are_documents,
        )  # fmt: skip
        return str(score), score.segment_scores()

    alone = []
    for number in range(WORKERS):
        with ce.Aligner.load(finder, threads=1) as aligner:
            alone.append(measure(make_metric(name, {"aligner": aligner}), number))
    for together in (in_threads, in_forks):
        with ce.Aligner.load(finder, threads=1) as aligner:  # nothing is unpacked yet
            metric = make_metric(name, {"aligner": aligner})
            assert together(partial(measure, metric)) == alone


@pytest.mark.parametrize("name", [name for name, entry in METRICS.items() if "sacre" in entry[0]])
def test_threads_that_count_at_the_same_moment(texts, name):
    metric = make_metric(name, {})
    batches = [Batch([Row((h,), (r,)) for h, r in zip(*each[:2], strict=True)]) for each in texts]
    alone = [metric.fit(RowSample([], ["x"])).count(batch).tolist() for batch in batches]
    fitted = metric.fit(RowSample([], ["x"]))
    found = in_threads(lambda number: [fitted.count(batches[number]).tolist() for _ in range(30)])
    assert found == [[counts] * 30 for counts in alone]


def test_a_shared_aligner(texts, finder):
    def align(aligner: ce.Aligner, number: int) -> list[Any]:
        hypotheses, references, sources, _ = texts[number]
        triples = zip(hypotheses, references, sources, strict=True)
        rows = [
            Row((hypothesis,), (reference,), source) for hypothesis, reference, source in triples
        ]
        covered = [[*item.outputs[0]] for item in aligner.cover(rows)]
        return [list(aligner.align(rows)), covered]

    with ce.Aligner.load(finder, threads=1) as aligner:
        alone = [align(aligner, number) for number in range(WORKERS)]
    for together in (in_threads, in_forks):
        with ce.Aligner.load(finder, threads=1) as aligner:
            assert together(partial(align, aligner)) == alone


def test_a_shared_finder(texts, finder):
    """It keeps its aligners running, each process its own."""

    def check(found: ce.OmissionFinder, number: int) -> list[Any]:
        hypotheses, _, sources, _ = texts[number]
        return list(found.check(zip(sources, hypotheses, strict=True)))

    with ce.Aligner.load(finder, threads=1) as aligner:
        alone = [check(ce.OmissionFinder(aligner), number) for number in range(WORKERS)]
    for together in (in_threads, in_forks):
        with ce.Aligner.load(finder, threads=1) as aligner:
            assert together(partial(check, ce.OmissionFinder(aligner))) == alone


def test_forking_while_an_aligner_works(texts, finder):
    """A forked process lets go of its parent's aligner, which can then come to its end."""
    hypotheses, _, sources, _ = texts[0]
    pairs = list(zip(sources, hypotheses, strict=True))
    with ce.Aligner.load(finder) as aligner:
        expected = list(aligner.model.align(pairs))
        links = aligner.model.align(pairs)
        first = next(links)
        with multiprocessing.get_context("fork").Pool(1) as pool:
            assert pool.apply(abs, [-1]) == 1
            assert [first, *links] == expected
