"""Documents whose lines do not match: our cuts, cuts by lengths, and plain proportional cuts."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import pandas as pd
from corpora import Corpus, Translator
from damage import DOCUMENT_KINDS, DamagedDocument, compare, damage, f_measure
from nltk.translate.gale_church import align_blocks

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.core.errors import DataError
from coverage_eval.documents.matched_line import Piece
from coverage_eval.documents.segment import Segmenter
from coverage_eval.documents.segmentation import Segmentation

LINES, DOCUMENTS = 30, 40
SIZES = (10, 30, 100, 200)
RATES = (0.01, 0.03, 0.1, 0.2, 0.3)

DAMAGES: dict[str, tuple[Sequence[str], float, bool]] = {
    "nothing": ((), 0, False),
    "lines joined and cut (15%)": (("merge", "split"), 0.15, False),
    "all in one line": ((), 0, True),
    "passages left out (5%)": (("passage",), 0.05, False),
    "passages left out (5%), all in one line": (("passage",), 0.05, True),
    "prefaces and notes (3%)": (("preface",), 0.03, False),
    "paragraphs repeated (5%)": (("repeat-paragraph",), 0.05, False),
    "neighbours exchanged (8%)": (("reorder",), 0.08, False),
    "all of these (4% each)": (DOCUMENT_KINDS, 0.04, False),
}
"""What was done to documents → kinds, rate, and whether the output is one line."""


def _of_lines(
    document: DamagedDocument, sources: Sequence[str], lines: Sequence[int]
) -> Segmentation:
    """A segmentation from the source line of each character of the output."""
    text = "\n".join(document.lines)
    begins = [n for n in range(len(text)) if n == 0 or lines[n] != lines[n - 1]]
    ends = [*begins[1:], len(text)]
    pieces = tuple(Piece(lines[a], a, b, text[a:b], 0) for a, b in zip(begins, ends, strict=True))
    return Segmentation(pieces, (1,) * len(sources), 0)


def proportional(document: DamagedDocument, sources: Sequence[str]) -> Segmentation:
    """Cut the output where the source's lines end, as shares of the characters."""
    ends = list(accumulate(len(line) + 1 for line in sources))
    size = len("\n".join(document.lines))
    lines = []
    line = 0
    for index in range(size):
        while line < len(ends) - 1 and (index + 0.5) / size > ends[line] / ends[-1]:
            line += 1
        lines.append(line)
    return _of_lines(document, sources, lines)


def by_lengths(document: DamagedDocument, sources: Sequence[str]) -> Segmentation:
    """NLTK's Gale and Church, given the output's lines; or its sentences, if it is one line."""
    text = "\n".join(document.lines)
    separator = r"\n" if len(document.lines) > 1 else r"(?<= [.!?]) "
    units = re.split(separator, text)
    pairs = align_blocks([len(line) for line in sources], [len(unit) for unit in units])
    line_of: dict[int, int] = {}
    for line, unit in pairs:
        line_of.setdefault(unit, line)
    lines: list[int] = []
    last = 0
    for number, unit in enumerate(units):
        last = line_of.get(number, last)
        lines += [last] * (len(unit) + 1)
    return _of_lines(document, sources, lines[: len(text)])


def documents(
    corpus: Corpus,
    translation: Sequence[str],
    kinds: Sequence[str],
    rate: float,
    *,
    size: int = LINES,
    one_line: bool = False,
    count: int,
) -> Iterator[tuple[DamagedDocument, list[str]]]:
    """Neighbouring segments as documents, damaged, with their sources."""
    generator = random.Random(7)  # noqa: S311 (not for secrets)
    sources = [source for source, _ in corpus.test]
    for number in range(count):
        first = generator.randrange(len(translation) - size)
        lines = translation[first : first + size]
        damaged = damage(lines, kinds, rate, number=number)
        if one_line:  # a line end and a space have the same length
            damaged = damaged._replace(lines=[" ".join(damaged.lines)])
        yield damaged, sources[first : first + size]


def document_tables(
    corpus: Corpus, aligner: ModelAligner, translator: Translator
) -> dict[str, pd.DataFrame]:
    """By what was done to the documents, by their size, and by the share that was left out."""
    segmenter = Segmenter.of_model(aligner)
    translation = translator.translate(1)
    # They are few if only a part of a test set is tried.
    max_documents = min(DOCUMENTS, len(translation) // LINES)

    def segment(damaged: DamagedDocument, sources: Sequence[str]) -> Segmentation:
        try:
            return segmenter(damaged.lines, sources)
        except DataError:  # it is refused: nothing is found
            return segmenter.empty(sources)

    def row(case: str, *damages: Any, **settings: Any) -> dict[str, Any]:
        texts = list(documents(corpus, translation, *damages, **settings))
        ours, lengths, plain = (
            sum((compare(method(*text), text[0]) for text in texts), Counter[str]())
            for method in (segment, by_lengths, proportional)
        )
        words, lines = max(1, ours["words"]), max(1, ours["lines"])
        return {
            "case": case,
            "words right, segment, %": 100 * ours["right"] / words,
            "words right, by lengths, %": 100 * lengths["right"] / words,
            "words right, proportional, %": 100 * plain["right"] / words,
            "missing lines, F": f_measure(ours, "missing"),
            "the same, by lengths": f_measure(lengths, "missing"),
            "added words, F": f_measure(ours, "extra"),
            "falsely missing, %": (100 * (ours["missing, found"] - ours["missing, right"]) / lines),
        }

    found = {
        "documents": [
            row(name, kinds, rate, one_line=one_line, count=max_documents)
            for name, (kinds, rate, one_line) in DAMAGES.items()
        ],
        "document_sizes": [
            row(
                f"{size}",
                ("passage", "merge"),
                0.05,
                size=size,
                count=LINES * max_documents // size,
            )
            for size in SIZES
            if size < len(translation)
        ],
        "document_rates": [
            row(f"{rate:.0%}", ("passage",), rate, one_line=True, count=max_documents)
            for rate in RATES
        ],
    }
    return {name: pd.DataFrame(rows).dropna(axis=1, how="all") for name, rows in found.items()}
