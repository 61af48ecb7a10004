"""The omission finder on real text with planted errors: what it finds, and how fast.

Run by ``make bench`` or ``python tests/bench/bench_omissions.py [PAIRS …]``; PAIRS are numbers
of training pairs. It needs the shared corpora (``COVERAGE_EVAL_SHARED``). ``make evidence`` shows
how the finder's score was chosen: it tunes on one language pair and reports the other. Half of the
test segments stay unchanged, the others get an error of each kind. AUROC is the probability that a
segment with an error scores higher than one without.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path

import numpy as np
from scipy.stats import mannwhitneyu
from tabulate import tabulate

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.data.dataset import Row
from coverage_eval.data.files import read_parallel
from coverage_eval.metrics.omission_finder import OmissionFinder
from coverage_eval.metrics.omission_training import add_omission_data
from coverage_eval.testbed.injection import CleanSegment, Injection, clean_segments
from coverage_eval.testbed.word_pool import WordPool

SHARED = Path(
    os.environ.get("COVERAGE_EVAL_SHARED", Path(__file__).resolve().parents[3] / "shared")
)
CORPORA = {
    ("de", "en"): ("multi30k-de-en", ["test_2016_flickr", "test_2017_flickr"]),
    ("en", "de"): ("multi30k-de-en", ["test_2016_flickr", "test_2017_flickr"]),
    ("ja", "en"): ("small-enja", ["test", "dev"]),
    ("en", "ja"): ("small-enja", ["test", "dev"]),
}
ERRORS = [
    ("omission-phrase", "none"),
    ("omission-phrase", "filler"),
    ("omission-phrase", "detached"),
    ("omission-content", "none"),
    ("early-stop", "none"),
    ("addition", "none"),
]
FINDERS = ("length ratio", "1 - coverage", "plain model", "omissions", "additions")
SPEED_PAIRS = 100_000


def read(pair: tuple[str, str], name: str) -> Iterator[tuple[str, ...]]:
    folder = SHARED / "data" / CORPORA[pair][0]
    return read_parallel(*(folder / f"{name}.{language}" for language in pair))


def spoil(segments: Sequence[CleanSegment], kind: str, repair: str) -> Iterator[tuple[Row, bool]]:
    """Every second segment unchanged, and the others that got an error; True if it has one."""
    pool = WordPool.of(segment.words for segment in segments)
    injection = Injection([kind], 0.1, pool, seed=1, repair=repair)
    for number, segment in enumerate(segments):
        found = injection.spoil(segment)
        is_error = any(error.source or kind == "addition" for error in found.errors)
        if number % 2 and is_error:
            yield Row((found.words,), (), segment.source), True
        elif not number % 2:
            yield Row((segment.words,), (), segment.source), False


def scores(name: str, rows: Sequence[Row], made: ModelAligner, plain: ModelAligner) -> list[float]:
    """A score for each row, higher if the row seems to have an error."""
    if name == "length ratio":
        return [-len(row.hypotheses[0]) / len(row.source or "-") for row in rows]
    if name == "1 - coverage":
        covered = plain.cover(rows)
        return [float(1 - row.hypotheses[0].mean()) for row in covered]
    finder = OmissionFinder.of(
        plain if name == "plain model" else made, "target" if name == "additions" else "source"
    )
    return [found.score for found in finder.find(rows)]


def auroc(values: Sequence[float], labels: Sequence[bool]) -> float:
    found, is_error = np.array(values), np.array(labels)
    good, bad = found[~is_error], found[is_error]
    return float(mannwhitneyu(bad, good).statistic / (len(good) * len(bad)))


def row_of(name: str, segments: Sequence[CleanSegment], *models: ModelAligner) -> list[object]:
    cells: list[object] = [name]
    for error in ERRORS:
        rows, labels = zip(*spoil(segments, *error), strict=True)
        cells.append(auroc(scores(name, rows, *models), labels))
    return cells


def table(pair: tuple[str, str], size: int) -> None:
    train = partial(lambda: islice(read(pair, "train"), size))
    test = chain.from_iterable(read(pair, name) for name in CORPORA[pair][1])
    with Aligner.train_pairs(read(pair, "train"), lowercase=True) as best:
        rows = (Row((target,), (), source) for source, target in test)
        segments = list(clean_segments(rows, best))
    with Aligner.train_pairs(train()) as plain, Aligner.train_pairs(train()) as made:
        add_omission_data(made, train)
        cells = [row_of(name, segments, made, plain) for name in FINDERS]
    header = ["-".join(pair) + f", {size:,} pairs", *(" + ".join(error) for error in ERRORS)]
    print(tabulate(cells, header, floatfmt=".3f"), "\n", flush=True)


def speed() -> None:
    pair = ("de", "en")
    with Aligner.train_pairs(islice(read(pair, "train"), 5000)) as aligner:
        add_omission_data(aligner, lambda: islice(read(pair, "train"), 5000))
        endless = chain.from_iterable(read(pair, "train") for _ in range(4))
        rows = [Row((target,), (), source) for source, target in islice(endless, SPEED_PAIRS)]
        # Peers are the translations of neighbouring sentences: other words, of similar length.
        texts = [row.hypotheses[0] for row in rows]
        shifted = zip(*(texts[shift:] + texts[:shift] for shift in (1, 2, 3)), strict=True)
        peered = [row._replace(peers=others) for row, others in zip(rows, shifted, strict=True)]
        referenced = [row._replace(references=row.peers[:1], peers=()) for row in peered]
        of_reference = OmissionFinder.of(aligner, referenced=True)
        runs = (
            ("soft DROP's coverage", aligner.cover, rows),
            ("omissions", OmissionFinder.of(aligner).find, rows),
            ("omissions, a reference", of_reference.find, referenced),
            ("omissions, three peers", OmissionFinder.of(aligner, peers=3).find, peered),
        )
        for name, run, texts_of in runs:
            start, used = time.perf_counter(), _processor_seconds()
            for _ in run(texts_of):
                pass
            seconds, used = time.perf_counter() - start, _processor_seconds() - used
            print(
                f"{name}: {len(rows):,} pairs in {seconds:.1f} s, "
                f"{used:.1f} s of processors: {60 * len(rows) / seconds:,.0f} a minute"
            )


def _processor_seconds() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(kind)[:2]) for kind in kinds)


def main() -> None:
    if not (SHARED / "data").is_dir():
        sys.exit(f"bench_omissions: no corpora at {SHARED}; set COVERAGE_EVAL_SHARED")
    for size in map(int, sys.argv[1:] or ["5000"]):
        for pair in CORPORA:
            table(pair, size)
    speed()


if __name__ == "__main__":
    main()
