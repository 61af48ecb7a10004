"""When a loop is noticed: false alarms on ordinary text, and the delay, beside the plain rule.

The plain rule of servers: the last n · k words are k copies of n words, for n up to 100.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pandas as pd

from coverage_eval.core.texts import read_segments
from coverage_eval.repetition.loops import LoopDetector

PIECES = re.compile(r"\w+|[^\w\s]")

PLAIN = (2, 3, 4, 6, 8, 12, 25)
"""Numbers of copies of the plain rule."""

PERIODS = (1, 3, 10, 30, 100)

THINGS = (
    "apple", "bread", "candle", "door", "egg", "fence", "garden", "hammer", "island", "jacket",
    "kettle", "lamp", "mirror", "needle", "oven", "pencil", "quilt", "river", "spoon", "table",
    "umbrella", "violin", "window", "yard", "zebra", "basket", "carpet", "drum", "engine",
    "flute", "glove", "harbour", "inkwell", "jar", "kite", "ladder", "map", "nest", "orchard",
    "paddle",
)  # fmt: skip

Detector = Callable[[], LoopDetector]


def detectors() -> dict[str, Detector]:
    """The detector and the plain rule, which is the detector without its own conditions."""

    def plain(count: int) -> Detector:
        return lambda: LoopDetector(min_count=count, min_repeated=0, near=False)

    return {"LoopDetector": LoopDetector, **{f"{count} copies": plain(count) for count in PLAIN}}


def lists_and_verses() -> Iterator[str]:
    """Own lists, tables, refrains and litanies, which say much again without being loops."""
    for size in (10, 20, 40):
        some = THINGS[:size]
        yield " ".join(f"{n} . {thing}" for n, thing in enumerate(some, start=1))
        yield " ".join(f"- one {thing} , please" for thing in some)
        yield " ".join(f"{thing} | {3 * n + 2} . {n} 0 | pieces |" for n, thing in enumerate(some))
        yield " ".join(f"{6 + n // 4} : {15 * (n % 4):02} ," for n in range(size))
        yield " , ".join(str(n) for n in range(1, size + 1))
        yield " ".join(f"chapter {n} : the {thing} ." for n, thing in enumerate(some, start=1))
    yield " ".join(f"for the {thing} , we thank you ." for thing in THINGS[:12])
    yield " ".join(f"{n} times {m} is {n * m} ." for n in range(2, 5) for m in range(1, 11))
    refrain = "and the wind blows over the hill , over the hill , and home again ."
    for first in range(0, 40, 4):
        verse = ". ".join(f"the {one} stands in the evening light " for one in THINGS[first:][:4])
        yield f"{verse}. {refrain} {refrain}"
    yield "la la la la la la la la , sings the girl , la la la la la la la la ."
    yield "no , no , no , no , no , no , said the old man , no , no , no !"
    yield "ha ha ha ha ha ha ha ha ha ha ha ! very , very , very , very , very funny ."
    yield "knock , knock . who is there ? knock , knock . who is there ? knock , knock . come in !"


def texts(data: Path) -> Iterator[tuple[str, list[list[str]]]]:
    """Ordinary text by name, as the words and marks of each segment."""
    for corpus, languages in (("multi30k-de-en", ("de", "en")), ("small-enja", ("en", "ja"))):
        for language in languages:
            lines = read_segments(data / corpus / f"train.{language}")
            yield f"{corpus}, {language}", [PIECES.findall(line) for line in lines]
    wmt = data / "wmt23-en-de" / "outputs.tsv"
    if wmt.exists():
        with wmt.open(encoding="utf-8") as file:
            rows = sorted(line.split("\t")[:4] for line in [*file][1:])
        yield "WMT23, eight systems, de", [PIECES.findall(row[3]) for row in rows]
    yield "own lists and verses", [text.split() for text in lists_and_verses()]


def alarms(detector: LoopDetector, segments: Sequence[Sequence[str]]) -> tuple[int, int]:
    """How many segments have an alarm, and how many more all segments as one text."""
    alone = 0
    for segment in segments:
        detector.reset()
        alone += any(detector.push(word) for word in segment)
    detector.reset()
    joined, inside = 0, False
    for segment in segments:
        for word in segment:
            found = detector.push(word) is not None
            joined += found and not inside
            inside = found
    return alone, joined


def loop_tables(data: Path) -> dict[str, pd.DataFrame]:
    """Alarms on ordinary text, and words after a pattern's second copy until the alarm."""
    named = detectors()
    rows = []
    for name, segments in texts(data):
        size = sum(map(len, segments))
        rows += [(name, size, rule, *alarms(make(), segments)) for rule, make in named.items()]
    columns = ["text", "words", "rule", "segments with an alarm", "alarms in one text"]
    words = [w for line in read_segments(data / "small-enja" / "train.en") for w in line.split()]
    delays = [
        {"period": period, **{rule: delay(make(), words, period) for rule, make in named.items()}}
        for period in PERIODS
    ]
    return {"loops": pd.DataFrame(rows, columns=columns), "loop_delays": pd.DataFrame(delays)}


def delay(detector: LoopDetector, words: Sequence[str], period: int) -> float:
    """Words after the second copy of a pattern until the alarm; NaN if there is none."""
    tokens = [*words[:500], *words[1000 : 1000 + period] * 60]
    at = (n for n, word in enumerate(tokens, 1) if detector.push(word) and n > 500)
    return next(at, math.nan) - 500 - 2 * period
