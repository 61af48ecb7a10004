"""Time to draw and save an attention map of a million cells, compared with a bare ``imshow``.

Run by ``make bench`` or ``python tests/bench/bench_plotting.py``. The goal is less than 2 s.
"""

import io
import time
from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes

from coverage_eval.plotting import attention_heatmap
from coverage_eval.plotting.canvas import new_axes

SIDE = 1000


def seconds(draw: Callable[[], Axes]) -> float:
    """Return the processor time of the fastest of three runs, drawing and saving as PNG."""
    times = []
    for _ in range(3):
        start = time.process_time()
        draw().figure.savefig(io.BytesIO(), format="png")
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Print both times and their ratio."""
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.full(SIDE, 0.02), SIDE)
    weights[weights < 1e-4] = 0.0
    words = [f"word{i}" for i in range(SIDE)]

    def bare() -> Axes:
        ax = new_axes(10, 10)
        ax.imshow(weights.T)
        return ax

    baseline = seconds(bare)
    plain = seconds(lambda: attention_heatmap(weights, words, words))
    full = seconds(lambda: attention_heatmap(weights, words, words, fertility=np.ones(SIDE)))
    print(f"{SIDE * SIDE} cells, draw and save as PNG, processor time, fastest of 3:")
    print(f"  bare imshow           {baseline:6.2f} s")
    print(f"  attention_heatmap     {plain:6.2f} s   {plain / baseline:5.2f} × bare")
    print(f"  … with the margin     {full:6.2f} s   {full / baseline:5.2f} × bare")


if __name__ == "__main__":
    main()
