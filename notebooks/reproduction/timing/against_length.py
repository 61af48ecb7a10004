"""Seconds of the attention transformations against the number J of source words.

``python notebooks/reproduction/timing/against_length.py`` writes ``against_length.csv`` and
``.svg`` beside this file. Malaviya et al. (2018) give O(J) for softmax, sparsemax and constrained
sparsemax (by medians, Algorithm 1) and O(J log J) for constrained softmax.
"""

from __future__ import annotations

from pathlib import Path
from time import process_time

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from coverage_eval.attention import (
    canonical_problem,
    constrained_softmax,
    constrained_sparsemax,
    pardalos_kovoor,
    softmax,
    sparsemax,
)

HERE = Path(__file__).parent
SIZES = [2**power for power in range(8, 21, 2)]
REPEATS = 7
FUNCTIONS = {
    "softmax": lambda z, _: softmax(z),
    "sparsemax": lambda z, _: sparsemax(z),
    "csoftmax": constrained_softmax,
    "csparsemax, one sort": constrained_sparsemax,
    "csparsemax, by medians": lambda z, u: pardalos_kovoor(*canonical_problem(z, u)),
}


def main() -> None:
    """Measure, write, draw; print the slope of the larger half on logarithmic scales."""
    rows = []
    for size in SIZES:
        rng = np.random.default_rng(size)
        z, u = rng.normal(size=size), rng.uniform(0, 20 / size, size=size)
        for name, function in FUNCTIONS.items():
            rows.append((name, size, min(_seconds(function, z, u) for _ in range(REPEATS))))
    table = pd.DataFrame(rows, columns=["transformation", "words", "seconds"])
    table.to_csv(HERE / "against_length.csv", index=False, float_format="%.3e")
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for name in FUNCTIONS:
        sizes, seconds = zip(*((s, t) for n, s, t in rows if n == name), strict=True)
        half = len(sizes) // 2
        slope = np.polyfit(np.log(sizes[half:]), np.log(seconds[half:]), 1)[0]
        print(f"{name}: seconds grow as J^{slope:.2f}")
        axes.loglog(sizes, seconds, marker="o", label=f"{name} (J^{slope:.2f})")
    axes.set(xlabel="source words J", ylabel="seconds", title="One row, NumPy, best of 7")
    axes.legend()
    figure.savefig(HERE / "against_length.svg")


def _seconds(function, z, u) -> float:
    """Processor time of a call, by as many calls as take a hundredth of a second."""
    calls, start = 0, process_time()
    while (passed := process_time() - start) < 0.01:
        function(z, u)
        calls += 1
    return passed / calls


if __name__ == "__main__":
    main()
