"""When a loop is noticed: false alarms on ordinary text, and the delay, beside the plain rule.

    python notebooks/evidence/loops.py DATA

DATA is the folder of the corpora. The command prints the tables and writes ``evidence_loops.md``.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from coverage_eval.data.files import atomic_write, read_segments
from coverage_eval.metrics.loops import LoopDetector
from coverage_eval.tables.formats import render
from coverage_eval.tables.table import Printable, Table

HERE = Path(__file__).parent.parent

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
        rows = sorted(line.split("\t")[:4] for line in [*read_segments(wmt)][1:])
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


def false_alarms(data: Path) -> Table:
    """Alarms on ordinary text, by segment and as one text, for the detector and the plain rule."""
    named = detectors()
    rows: list[tuple[object, ...]] = []
    for name, segments in texts(data):
        counts = [alarms(make(), segments) for make in named.values()]
        words = sum(map(len, segments))
        rows.append((name, words, *(f"{alone}, {joined}" for alone, joined in counts)))
    return Table(
        ("text", "words", *named),
        tuple(rows),  # type: ignore[arg-type]
        "False alarms",
        notes=("Segments with an alarm, and alarms in all segments read as one text.",),
    )


def delays(data: Path) -> Table:
    """Words after the second copy of a pattern until the alarm."""
    words = [w for line in read_segments(data / "small-enja" / "train.en") for w in line.split()]
    rows = []
    for period in PERIODS:
        found: list[object] = []
        for make in detectors().values():
            detector = make()
            pattern = words[1000 : 1000 + period]
            tokens = [*words[:500], *pattern * 60]
            at = next((n for n, w in enumerate(tokens, 1) if detector.push(w) and n > 500), None)
            found.append("never" if at is None else at - 500 - 2 * period)
        rows.append((period, *found))
    return Table(
        ("period", *detectors()),
        tuple(rows),  # type: ignore[arg-type]
        "Delay in words after the second copy",
    )


def main() -> None:
    """Print the tables and write them."""
    parser = argparse.ArgumentParser(description="When a loop is noticed.")
    parser.add_argument("data", type=Path, help="folder of the corpora")
    parser.add_argument("--folder", type=Path, default=HERE, help="where to write")
    arguments = parser.parse_args()
    tables = Printable((false_alarms(arguments.data), delays(arguments.data)))
    text = f"""# When a loop is noticed

`python notebooks/evidence/loops.py DATA` writes this file. `LoopDetector` with its default settings
is compared with the plain rule of servers, "the last n · k words are k copies of n words", for n up
to 100.

{render(tables, "markdown")}"""
    print(text)
    with atomic_write(arguments.folder / "evidence_loops.md") as file:
        file.write(text.rstrip("\n") + "\n")


if __name__ == "__main__":
    main()
