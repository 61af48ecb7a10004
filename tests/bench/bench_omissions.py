"""How fast the omission finder reads real text; ``make evidence`` shows what it finds.

Run by ``make bench`` or ``python tests/bench/bench_omissions.py``. It needs the shared corpora
(``COVERAGE_EVAL_SHARED``).
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.data.dataset import Row
from coverage_eval.data.files import read_parallel
from coverage_eval.metrics.omission_finder import OmissionFinder
from coverage_eval.metrics.omission_training import add_omission_data

SHARED = Path(
    os.environ.get("COVERAGE_EVAL_SHARED", Path(__file__).resolve().parents[3] / "shared")
)
SPEED_PAIRS = 100_000


def read_training() -> Iterator[tuple[str, ...]]:
    folder = SHARED / "data" / "multi30k-de-en"
    return read_parallel(folder / "train.de", folder / "train.en")


def speed() -> None:
    with Aligner.train_pairs(islice(read_training(), 5000)) as aligner:
        add_omission_data(aligner, lambda: islice(read_training(), 5000))
        endless = chain.from_iterable(read_training() for _ in range(4))
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
    speed()


if __name__ == "__main__":
    main()
