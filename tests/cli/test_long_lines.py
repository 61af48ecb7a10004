"""A line of any length: the steps of a command grow no faster than the words of a line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import pytest

import coverage_eval
from coverage_eval.cli.main import main
from tests.grammar import generate

ROOT = str(Path(coverage_eval.__file__).parent)


def steps(work: Callable[[], int]) -> tuple[int, int]:
    """Lines of this package that are run, one with a loop each time; and what is returned."""
    count = 0

    def line(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += 1
        return line

    def call(frame: FrameType, event: str, argument: object) -> Any:
        return line if frame.f_code.co_filename.startswith(ROOT) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        returned = work()
    finally:
        sys.settrace(before)
    return count, returned


PAIRS = list(generate(600, seed=4))
SOURCE, TARGET = (
    [w for pair in PAIRS for w in getattr(pair, side)] for side in ("source", "target")
)


def draw(words: list[str]) -> Callable[[int], list[str]]:
    return lambda size: Random(0).choices(words, k=size)


KINDS: dict[str, Callable[[int], list[str]]] = {
    "one word": lambda size: ["word"] * size,
    "words": lambda size: TARGET[:size],
    "two words": draw(["a", "b"]),
    "digits": draw([f"w{n}" for n in range(500)]),
    "few digits": draw([f"w{n}" for n in range(9)]),
    "few words often": lambda size: Random(0).choices(TARGET[:300], range(300, 0, -1), k=size),
    "numbers": lambda size: list(map(str, range(size))),
    "left": lambda size: [
        word for n in range(0, size, 20) for word in (*TARGET[n : n + 10], *SOURCE[n + 10 : n + 20])
    ],
    "one token": lambda size: ["word" * size],
    "links": lambda size: [f"https://a.b/c{n}" for n in range(size)],
    "bold text": lambda size: ["**a"] * size,
    "notes": lambda size: ["Note:"] * size,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "command", ["compare", pytest.param("report", marks=pytest.mark.slow), "letters"]
)
def test_steps_grow_no_faster_than_a_line(command, kind, tmp_path):
    def run(size: int) -> int:
        words = KINDS[kind](size)
        texts = {"hyp": words, "ref": Random(1).sample(words, len(words)), "src": SOURCE[:size]}
        for name, text in texts.items():
            (tmp_path / name).write_text(" ".join(text) + "\n", encoding="utf-8")
        hyp, ref, src = (str(tmp_path / name) for name in texts)
        output = ["-o", str(tmp_path / f"{size}.html")] if command == "report" else []
        metrics = "rep-letters,compression" if command == "letters" else "bleu,rep"
        name = "compare" if command == "letters" else command
        arguments = [name, hyp, "-m", metrics, "-r", ref, "-s", src, *output]
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            counted, status = steps(lambda: main(arguments))
        assert status == 0
        return counted

    run(10)
    short, long = run(1500), run(3000)
    assert long < 2.3 * short


@pytest.mark.parametrize("words", [["word"], [f"w{n}" for n in range(500)]])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_meteor_names_a_line_that_would_take_minutes(words, jobs, tmp_path, capsys):
    lines = ["a short line"] * 99
    long = " ".join(words * (20_000 // len(words)))
    (tmp_path / "good").write_text("\n".join([*lines, "word"]), encoding="utf-8")
    (tmp_path / "long").write_text("\n".join([*lines, long]), encoding="utf-8")
    good, bad, ref = (str(tmp_path / name) for name in ("good", "long", "long"))
    assert main(["compare", good, bad, "-m", "meteor", "-r", ref, "-j", jobs]) == 1
    error = capsys.readouterr().err
    assert f"{bad}: segment 100: it repeats words too often for METEOR (20,000 words" in error
    assert "put each sentence on a line of its own" in error


def test_meteor_aligns_long_lines_of_many_words(tmp_path, capsys):
    (tmp_path / "text").write_text(" ".join(map(str, range(20_000))), encoding="utf-8")
    assert main(["meteor", str(tmp_path / "text"), str(tmp_path / "text")]) == 0
    assert " = 100.00" in capsys.readouterr().out
