"""A progress bar on a terminal, and none in a pipe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fast_align_wrapper.training import Progress


@contextmanager
def progress_bar(*, wanted: bool) -> Iterator[Progress | None]:
    """Give a receiver of training progress that draws a bar; None if none is wanted."""
    if not wanted:
        yield None
        return
    from tqdm import tqdm

    bar = tqdm(desc="training", disable=None, unit="pair", unit_scale=True, leave=False)
    shown = ""

    def show(done: int, total: int, label: str) -> None:
        nonlocal shown
        if bar.disable:
            return
        if label != shown:
            shown = label
            bar.reset(total or None)
            bar.set_description(f"training {label}", refresh=False)
        bar.n = done
        bar.refresh()

    try:
        yield show
    finally:
        bar.close()
