"""Files of the WMT metrics task, as mt-metrics-eval has them: test sets and scores.

A test set is a folder with ``sources/en-de.txt``, ``references/en-de.NAME.txt`` and
``system-outputs/en-de/NAME.txt``. A file of scores has a line ``SYSTEM SCORE`` for each segment of
each system (``.seg.score``) or for each system (``.sys.score``). Higher is better, and human scores
may be ``None``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from coverage_eval.data.files import Column, Source, Text, read_segments, source_name
from coverage_eval.data.numbers import is_number, parse_number
from coverage_eval.errors import DataError, check_encodable

SEGMENT_SCORES = ".seg.score"


class WMTSet(NamedTuple):
    """The files of one language pair of a test set.

    Attributes:
        source: The source.
        references: References by name.
        systems: Outputs by the system's name; a reference may be among them.
    """

    source: str
    references: Mapping[str, str]
    systems: Mapping[str, str]


def find_wmt_set(folder: Source, languages: str | None = None) -> WMTSet:
    """Find the files of a test set.

    Args:
        folder: Its folder.
        languages: A language pair, such as ``en-de``; None if there is only one.

    Raises:
        DataError: It lacks these folders or the pair, or has several pairs and none is named.
    """
    root = Path(folder)
    pairs = sorted(path.stem for path in root.glob("sources/*.txt"))
    if not pairs:
        raise DataError(f"{root}: no test set of mt-metrics-eval: it has no sources/SRC-TGT.txt")
    if languages is None and len(pairs) > 1:
        raise DataError(f"{root}: name a language pair with -l: {', '.join(pairs)}")
    pair = languages or pairs[0]
    if pair not in pairs:
        raise DataError(f"{root}: no language pair {pair!r}; there are: {', '.join(pairs)}")
    references = sorted(root.glob(f"references/{pair}.*.txt"))
    systems = sorted(root.glob(f"system-outputs/{pair}/*.txt"))
    check_encodable((path.name for path in systems), f"{root}: the name of an output")
    if not systems:
        raise DataError(f"{root}: no outputs of systems in system-outputs/{pair}")
    return WMTSet(
        str(root / "sources" / f"{pair}.txt"),
        {path.name.split(".")[-2]: str(path) for path in references},
        {path.stem: str(path) for path in systems},
    )


def is_score_line(line: str) -> bool:
    """Whether a line is a system's name and a number or ``None``."""
    fields = line.split()
    return len(fields) == 2 and (fields[1] == "None" or is_number(fields[1]))


def read_score_file(source: Source) -> dict[str, list[float | None]]:
    """Read the scores of each system, in the order of their lines; None for a missing score.

    Raises:
        DataError: A line of another form, an infinite number, or systems with unequal numbers of
            scores.
    """
    found: dict[str, list[float | None]] = {}
    for number, line in enumerate(read_segments(source), start=1):
        if not is_score_line(line):
            where = f"{source_name(source)}: line {number}"
            raise DataError(f"{where}: {line!r:.60} is not a system's name and its score")
        system, value = line.split()
        where = f"{source_name(source)}: line {number}"
        score = None if value == "None" else parse_number(value, where)
        found.setdefault(system, []).append(score)
    sizes = {system: len(scores) for system, scores in found.items()}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{system} has {size}" for system, size in sizes.items())
        raise DataError(f"{source_name(source)}: unequal numbers of scores: {listed}")
    return found


def score_lines(scores: Mapping[str, Sequence[float]]) -> list[str]:
    """The lines of a file of scores, one block per system."""
    return [f"{system}\t{value!r}" for system, own in scores.items() for value in own]


def wmt_name(text: Text) -> str:
    """The name of a system or reference in the task: a file's name without its ending."""
    name = text.name if isinstance(text, Column) else Path(text).name
    return re.sub(r"(\.txt)?(\.gz|\.zst)?$", "", name) or name


def wmt_reference(text: Text) -> str:
    """The name of a reference in the names of score files: without ``.`` and ``-``."""
    own = re.fullmatch(r"\w+-\w+\.(\w+)", wmt_name(text))  # as in a test set's folder
    return own[1] if own else re.sub(r"[^\w]+", "_", wmt_name(text))
