"""METEOR: segments per second, time and memory of a fresh process, compared with the Meteor jar.

The jar's scores of all segments must be ours.

Two ways to read the paraphrase table are also compared: the cached index, and reading the whole
table in each run, filtered by the n-grams of the text.
"""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from coverage_eval.metrics.meteor import METEOR  # noqa: E402
from coverage_eval.metrics.meteor.paraphrases import read_table, write_table  # noqa: E402
from coverage_eval.metrics.meteor.statistics import score_parts  # noqa: E402
from coverage_eval.metrics.meteor.words import JAR, PARAPHRASES, data_file  # noqa: E402
from tests.grammar import generate  # noqa: E402
from tests.metrics.meteor.texts import Rows, count, perturbed  # noqa: E402

SEGMENTS = 2500


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def text() -> tuple[str, Rows]:
    """Captions and pairs of everyday sentences, or the grammar's sentences, with errors."""
    shared = Path(os.environ.get("COVERAGE_EVAL_SHARED", ROOT.parent / "shared"))
    if (shared / "data").is_dir():
        name = "captions and everyday English with errors"
        captions = (shared / "data/multi30k-de-en/train.en").read_text(encoding="utf-8")
        other = (shared / "data/small-enja/train.en").read_text(encoding="utf-8").split("\n")
        lines = captions.split("\n")[: SEGMENTS // 2]
        lines += [f"{a} {b}" for a, b in zip(other[:SEGMENTS:2], other[1:SEGMENTS:2], strict=True)]
    else:
        name = "the grammar's English with errors"
        lines = [" ".join(pair.target) for pair in generate(SEGMENTS, seed=1)]
    return name, perturbed(lines[:SEGMENTS], random.Random(0))


FRESH = """
import resource, sys
from coverage_eval.cli import main
try:
    main()
finally:
    own, child = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    seconds = sum(use.ru_utime + use.ru_stime for use in (own, child))
    print(seconds, (own.ru_maxrss + child.ru_maxrss) // 1024, file=sys.stderr)
"""


class Run(NamedTuple):
    """Run the command in a separate process."""

    seconds: float
    cpu_seconds: float
    megabytes: int
    """Peak memory of the process, and of the largest of its workers."""
    printed: str

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s ({self.cpu_seconds:.1f} s of CPU), {self.megabytes} MB"


def fresh_process(folder: Path, *options: str) -> Run:
    files = [str(folder / "hyp"), str(folder / "ref")]
    command = [sys.executable, "-c", FRESH, "meteor", *files, *options]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, check=True, text=True, cwd=ROOT)
    elapsed = time.perf_counter() - start
    cpu, megabytes = done.stderr.split()[-2:]
    return Run(elapsed, float(cpu), int(megabytes), done.stdout)


def jar_scores(rows: Rows) -> list[float]:
    """What the jar prints: the score of each segment, 0 to 1, and then that of the corpus.

    It gets files because its pipe protocol breaks on some text. The locale is set because others
    (Turkish, decimal commas) change the scores.
    """
    java = ["java", "-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8", "-Xmx2G"]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("hypotheses", "references")]
        for side, file in enumerate(files):
            file.write_text("".join(f"{row[side]}\n" for row in rows), encoding="utf-8")
        words = [*map(str, files), "-l", "en", "-a", str(data_file(PARAPHRASES))]
        done = subprocess.run(
            [*java, "-jar", str(data_file(JAR)), *words],
            capture_output=True, check=True, encoding="utf-8",
        )  # fmt: skip
    found = re.findall(r"^(?:Segment \d+|Final) score:\s+(\S+)$", done.stdout, re.MULTILINE)
    assert len(found) == len(rows) + 1
    return [float(score) for score in found]


def filter_table(rows: Rows) -> int:
    """Table entries with both phrases in the text, read from the file again."""
    grams = set()
    for side in (0, 1):
        for row in rows:
            words = row[side].encode().split()
            for size in range(1, 8):
                grams |= {b" ".join(words[i : i + size]) for i in range(len(words) - size + 1)}
    return sum(a in grams and b in grams for a, b in read_table(data_file(PARAPHRASES)))


def main() -> None:
    name, rows = text()
    words = sum(len(ref.split()) for _, ref in rows) / len(rows)
    print(f"METEOR on {name}: {len(rows):,} segments of {words:.0f} words")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for side, file in enumerate(("hyp", "ref")):
            (folder / file).write_text("".join(row[side] + "\n" for row in rows), encoding="utf-8")
        metric = METEOR()
        count(metric, rows[:10])
        inside = seconds(lambda: metric.statistics(*zip(*rows, strict=True)))
        print(f"  in a running process: {len(rows) / inside:,.0f} segments/s")
        one = fresh_process(folder)
        print(f"  in a fresh process: {one} (goals: 4 s, 200 MB)")
        two = fresh_process(folder, "--jobs", "2")
        assert two.printed == one.printed
        print(f"  with --jobs 2: {two}, {one.seconds / two.seconds:.1f} times as fast")
        print(
            f"  exact-stem, in a fresh process: {fresh_process(folder, '--variant', 'exact-stem')}"
        )
    if shutil.which("java"):
        start = time.perf_counter()
        printed = jar_scores(rows)
        jar = time.perf_counter() - start
        ours = count(metric, rows)
        np.testing.assert_allclose(score_parts(ours).score, printed[:-1], rtol=0, atol=1e-9)
        assert abs(metric.score(ours).score / 100 - printed[-1]) < 1e-9
        print(f"  the jar in the same run: {jar:.1f} s, {jar / one.seconds:.1f} times as long")
    filtering = seconds(lambda: filter_table(rows))
    print(f"  reading the table anew instead of its index would add {filtering:.1f} s to each run")
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "index"
        build = seconds(lambda: write_table(read_table(data_file(PARAPHRASES)), path))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"  building the index, once: {build:.1f} s; peak memory of all of this {peak} MB")


if __name__ == "__main__":
    main()
