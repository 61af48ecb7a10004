"""REP: throughput compared with a transcription of its definition; memory at a million segments."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from coverage_eval.metrics.planting import inject_lines
from coverage_eval.metrics.rep import REP
from tests.grammar import generate

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.metrics import oracles  # noqa: E402 (the repository is not a package)


def best_seconds(function: Callable[[], object], runs: int = 3) -> float:
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def corpus(folder: Path | None) -> tuple[str, list[str]]:
    if folder and (folder / "data").is_dir():
        text = (folder / "data/multi30k-de-en/train.en").read_text(encoding="utf-8")
        return "Multi30k, training side", text.splitlines()
    return "grammar", [" ".join(pair.target) for pair in generate(20000, seed=1)]


def throughput(name: str, references: list[str]) -> None:
    hypotheses = inject_lines(references, "repetition-phrase", 0.02)
    metric = REP()
    ours = metric.corpus_score(hypotheses, references).score
    assert ours == oracles.rep(hypotheses, references)
    fast = best_seconds(lambda: metric.statistics(hypotheses, references))
    slow = best_seconds(lambda: oracles.rep(hypotheses, references), runs=1)
    words = sum(len(r.split()) for r in references) / len(references)
    print(
        f"REP {ours:.2f} on {name}, {len(references):,} segments of {words:.0f} words: "
        f"{len(references) / fast:,.0f} segments/s, {slow / fast:.1f} times the transcription"
    )


def memory(segments: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, tail in (("hyp", " and again and again"), ("ref", " and again")):
            with (Path(folder) / name).open("w") as file:
                for i in range(segments):
                    file.write(f"segment number {i} of a corpus of some length , said once{tail}\n")
        start = time.perf_counter()
        command = [str(Path(sys.executable).parent / "coverage-eval"), "rep", "hyp", "ref", "-b"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        seconds = time.perf_counter() - start
        print(f"REP of {segments:,} segments from files: {seconds:.1f} s, peak {peak:.0f} MB")


if __name__ == "__main__":
    import os

    shared = Path(os.environ.get("COVERAGE_EVAL_SHARED", ROOT.parent / "shared"))
    name, lines = corpus(shared)
    throughput(name, lines)
    throughput(
        f"{name}, two lines in one",
        [f"{a} {b}" for a, b in zip(lines[::2], lines[1::2], strict=True)],
    )
    memory(1_000_000)
