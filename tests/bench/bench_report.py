"""The HTML report of 5 systems × 3,000 segments: making it, its size, and opening it.

Run by ``make bench`` or ``python tests/bench/bench_report.py``. The baseline for making it is the
comparison itself, without resamples. Opening it is timed if Chromium and Playwright are installed,
compared with an empty page.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import coverage_eval as ce  # noqa: E402
from coverage_eval.metrics.planting import inject_lines  # noqa: E402
from coverage_eval.report.html import make_report  # noqa: E402
from tests.browser.conftest import FLAGS, find_chromium  # noqa: E402
from tests.grammar import generate  # noqa: E402

SYSTEMS, SEGMENTS, SENTENCES = 5, 3000, 3  # sentences of the grammar are short
T = TypeVar("T")


def timed(action: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    result = action()
    return time.perf_counter() - start, result


def texts() -> tuple[list[str], list[str], dict[str, list[str]]]:
    pairs = generate(SEGMENTS * SENTENCES, seed=1)
    sides = [
        [" ".join(word for pair in pairs[i::SEGMENTS] for word in getattr(pair, side))
         for i in range(SEGMENTS)]
        for side in ("source", "target")
    ]  # fmt: skip
    systems = {}
    for number in range(SYSTEMS):
        shorter = inject_lines(sides[1], "omission-word", 0.05, number)
        systems[f"system {number}"] = inject_lines(shorter, "repetition-phrase", 0.04, number)
    return sides[0], sides[1], systems


def opening(file: Path) -> None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return print("no Playwright: opening is not timed")
    if (chromium := find_chromium()) is None:
        return print("no Chromium: opening is not timed")
    empty = file.with_name("empty.html")
    empty.write_text("<!DOCTYPE html><html data-ready><title>empty</title>")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        page = browser.new_page()

        def open_it(path: Path) -> float:
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready]", state="attached")
            return float(page.evaluate("performance.now()"))

        for path in (empty, file):
            best = min(open_it(path) for _ in range(5))
            print(f"opening {path.name}: {best:.0f} ms")
        browser.close()
    return None


def main() -> None:
    sources, references, systems = texts()
    aligner = ce.Aligner.train(sources[:500], references[:500])
    metrics = ["bleu", "rep", "drop"]
    base, comparison = timed(
        lambda: ce.compare(systems, references, sources, aligner, metrics=metrics, resamples=0)
    )
    taken, report = timed(lambda: make_report(comparison))
    print(f"compare {base:.1f} s, report {taken:.1f} s: {taken / base:.2f} times the comparison")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        report.save(file)
        print(f"{SYSTEMS} systems × {SEGMENTS:,} segments: {file.stat().st_size / 1e6:.1f} MB")
        opening(file)


if __name__ == "__main__":
    main()
