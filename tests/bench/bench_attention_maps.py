"""Time to load attention in each text format, compared with JSON's parser on the same weights.

Run by ``make bench`` or ``python tests/bench/bench_attention_maps.py``.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from coverage_eval.attention_maps import load, score_maps

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.attention_maps import writers

SEGMENTS, LENGTH = 300, 30


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of the fastest of three runs."""
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Print the times and their ratios."""
    words = " ".join(f"w{i}" for i in range(LENGTH))
    samples = [writers.sample(words, words + " end", seed) for seed in range(SEGMENTS)]
    texts = {"sources": [s.source for s in samples], "hypotheses": [s.hypothesis for s in samples]}
    plain = [json.dumps(s.weights.tolist()) for s in samples]
    baseline = seconds(lambda: [np.array(json.loads(line)) for line in plain])
    print(f"{SEGMENTS} segments of {LENGTH} words, processor time, fastest of 3:")
    print(f"  JSON to arrays   {baseline:6.3f} s")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dump"
        for name, case in writers.CASES.items():
            path.write_bytes(case.write(samples))
            taken = seconds(lambda: load(path, **texts))
            print(f"  {name:18} {taken:6.3f} s   {taken / baseline:5.1f} × JSON")
        path.write_bytes(writers.npz(samples))
        maps = load(path)
    taken = seconds(lambda: score_maps(maps))
    print(f"  all scores         {taken:6.3f} s   {taken / baseline:5.1f} × JSON")


if __name__ == "__main__":
    main()
