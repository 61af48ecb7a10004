"""Gold links, sure and possible, in the formats that alignment projects published.

* ``talp``: one pair per line, with ``i-j`` for sure links and ``ipj``, ``i?j`` or ``*i-j`` for
  possible ones. Pharaoh lines are the same without possible links.
* ``naacl`` (WPT 2003): one link per line, ``pair source target [S|P] [confidence]``, counted from
  1; position 0 is NULL.
* ``giza`` (A3 files): three lines per pair, ``# Sentence pair (n) …``, the target text, and
  ``NULL ({ … }) word ({ 3 4 }) …`` with target positions counted from 1.

Sure links are also possible links. Links to NULL are ignored.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest
from typing import NamedTuple

from coverage_eval.alignment.link_files import read_links
from coverage_eval.data.files import STDIN, CorpusWarning, Source, read_segments, source_name
from coverage_eval.errors import DataError
from fast_align_wrapper.links import Link, Links
from fast_align_wrapper.text import tokenize

GOLD_FORMATS = ("auto", "pharaoh", "talp", "naacl", "giza")
"""The names that :func:`read_gold` takes."""

_TALP = re.compile(r"(\*?)([0-9]{1,9})([-p?])([0-9]{1,9})")
_NAACL = re.compile(
    r"0*([0-9]{1,9})\s+([0-9]{1,9})\s+([0-9]{1,9})(?:\s+([SP]))?(?:\s+[0-9.eE+-]+)?\s*"
)
_GIZA_HEADER = re.compile(r"# Sentence pair \(([0-9]{1,9})\)")
_GIZA_WORD = re.compile(r"(\S+) \(\{ ((?:[0-9]{1,9} )*)\}\)(?: |$)")

MAX_GAP = 1_000_000
"""The most pairs that a NAACL file may leave out; its links can be in any order."""

NumberedLine = tuple[int, str]
"""A line's number, counted from 1, and the line."""


class Gold(NamedTuple):
    """The gold links of a pair.

    Attributes:
        sure: Links that a good aligner must find.
        possible: Links that it may find, including the sure ones.
    """

    sure: Links
    possible: Links


def _gold(sure: Iterable[Link], possible: Iterable[Link]) -> Gold:
    certain = set(sure)
    return Gold(tuple(sorted(certain)), tuple(sorted(certain.union(possible))))


def read_gold(
    source: Source, form: str = "auto", *, one_based: bool = False, swapped: bool = False
) -> Iterator[Gold]:
    """Read gold links, one pair after the other.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked) or ``-`` for standard input.
        form: One of :data:`GOLD_FORMATS`; ``auto`` looks at the first line that is not empty.
        one_based: Whether positions of a Pharaoh or Talp file count from 1, as they always do in
            the other formats.
        swapped: Whether links are target-source.

    Raises:
        DataError: As :func:`~coverage_eval.data.files.read_segments`; a malformed line
            (file, line).
        ValueError: An unknown form.
    """
    return _open_gold(source, form, one_based=one_based, swapped=swapped)[1]


def _open_gold(
    source: Source, form: str, *, one_based: bool, swapped: bool
) -> tuple[str, Iterator[Gold]]:
    """The format of a file, given or detected, and its pairs."""
    if form not in GOLD_FORMATS:
        raise ValueError(f"unknown form {form!r} of gold links; one of {', '.join(GOLD_FORMATS)}")
    name = source_name(source)
    lines: Iterator[NumberedLine] = enumerate(read_segments(source), start=1)
    if form == "auto":
        form, lines = _detect(lines)
    if form == "naacl":
        golds = _read_naacl(name, lines)
    elif form == "giza":
        golds = _read_giza(name, lines)
    else:
        golds = _read_talp(name, lines, one_based=one_based, possible_allowed=form == "talp")
    return form, map(_swap, golds) if swapped else golds


def _detect(lines: Iterator[NumberedLine]) -> tuple[str, Iterator[NumberedLine]]:
    """The format of a file, and all its lines."""
    seen: list[NumberedLine] = []
    form = "talp"
    for line in lines:
        seen.append(line)
        if line[1].strip():
            if _GIZA_HEADER.match(line[1]):
                form = "giza"
            elif _NAACL.fullmatch(line[1].strip()):
                form = "naacl"
            break
    return form, chain(seen, lines)


def _swap(gold: Gold) -> Gold:
    return _gold(*(((target, source) for source, target in links) for links in gold))


def _read_talp(
    name: str, lines: Iterable[NumberedLine], *, one_based: bool, possible_allowed: bool
) -> Iterator[Gold]:
    first = int(one_based)
    for number, line in lines:
        links: dict[bool, list[Link]] = {True: [], False: []}
        for token in tokenize(line):
            found = _TALP.fullmatch(token)
            possible = found is not None and (found[1] == "*" or found[3] != "-")
            if found is None or (possible and not possible_allowed):
                wanted = "i-j, or ipj, i?j, *i-j" if possible_allowed else "i-j"
                raise DataError(f"{name}: line {number}: '{token}' is not a link ({wanted})")
            link = (int(found[2]) - first, int(found[4]) - first)
            if min(link) < 0:
                raise DataError(
                    f"{name}: line {number}: link '{token}' has position 0 in a file said to "
                    "count from 1"
                )
            links[possible].append(link)
        yield _gold(links[False], links[True])


def _read_naacl(name: str, lines: Iterable[NumberedLine]) -> Iterator[Gold]:
    """Read links, which may be in any order; a pair without a line has no links."""
    pairs: dict[int, tuple[list[Link], list[Link]]] = {}
    for number, line in lines:
        if not line.strip():
            continue
        found = _NAACL.fullmatch(line.strip())
        if found is None or int(found[1]) == 0:
            raise DataError(
                f"{name}: line {number}: '{line}' is not 'pair source target [S|P] [confidence]', "
                "counted from 1"
            )
        if int(found[1]) > number + MAX_GAP:
            raise DataError(
                f"{name}: line {number}: pair {found[1]} would leave more than {MAX_GAP} pairs "
                "without a line; is the first number of a line the number of its pair?"
            )
        sure_and_possible = pairs.setdefault(int(found[1]), ([], []))
        link = (int(found[2]) - 1, int(found[3]) - 1)
        if min(link) >= 0:
            sure_and_possible[found[4] == "P"].append(link)
    for pair in range(1, max(pairs, default=0) + 1):
        yield _gold(*pairs.get(pair, ((), ())))


def _read_giza(name: str, lines: Iterator[NumberedLine]) -> Iterator[Gold]:
    """Read the pairs of a GIZA file in order of their numbers; the first of equal numbers counts.

    Parallel GIZA writes pairs in any order, so early pairs wait until those before them are read.
    A file that is in order is not held in memory.
    """
    waiting: dict[int, Gold] = {}
    due = 1
    for number, header in lines:
        found = _GIZA_HEADER.match(header)
        if found is None:
            raise DataError(f"{name}: line {number}: not '# Sentence pair (n) …' of a GIZA A3 file")
        next(lines, None)
        last, words = next(lines, (number + 2, ""))
        pair = int(found[1])
        if pair < due or pair in waiting:
            message = f"{name}: line {number}: pair {pair} is repeated; the first one is used"
            warnings.warn(message, CorpusWarning, stacklevel=2)
            continue
        waiting[pair] = _parse_giza(name, last, words)
        while due in waiting:
            yield waiting.pop(due)
            due += 1
    if waiting:
        raise DataError(f"{name}: pair {due} is missing, but there is a pair {max(waiting)}")


def _parse_giza(name: str, number: int, line: str) -> Gold:
    words = []
    position = 0
    while found := _GIZA_WORD.match(line, position):
        words.append((found[1], found[2]))
        position = found.end()
    if position != len(line) or not words or words[0][0] != "NULL":
        raise DataError(
            f"{name}: line {number}: not 'NULL ({{ … }}) word ({{ … }}) …' of a GIZA A3 file"
        )
    targets = [[int(n) - 1 for n in numbers.split()] for _, numbers in words[1:]]
    links = [(source, target) for source, row in enumerate(targets) for target in row]
    if any(target < 0 for _, target in links):
        raise DataError(f"{name}: line {number}: position 0 in a file that counts from 1")
    return _gold(links, ())


def read_with_gold(
    links: Source,
    gold: Source,
    form: str = "auto",
    *,
    one_based: bool = False,
    swapped: bool = False,
) -> Iterator[tuple[Links, Gold]]:
    """Read links and the gold links of the same pairs.

    A NAACL file may be shorter, because it has no line for pairs without links.

    Args:
        links: A file of Pharaoh lines.
        gold: A file of gold links; this and the other arguments are as in :func:`read_gold`.
        form: The form of the gold links.
        one_based: Whether their positions count from 1.
        swapped: Whether they are target-source.

    Raises:
        DataError: As :func:`read_gold`; unequal numbers of pairs (names, counts).
    """
    if str(links) == STDIN and str(gold) == STDIN:
        raise DataError("'-' (standard input) is given twice; give one of the two as a file")
    form, golds = _open_gold(gold, form, one_based=one_based, swapped=swapped)
    counts = [0, 0]
    for found, expected in zip_longest(read_links(links), golds):
        counts[0] += found is not None
        counts[1] += expected is not None
        if found is not None and expected is not None:
            yield found, expected
        elif found is not None and form == "naacl":
            yield found, Gold((), ())
    short = counts[1] < counts[0] and form != "naacl"
    if short or counts[0] < counts[1]:
        raise DataError(
            f"unequal numbers of pairs: {source_name(links)} has {counts[0]}, "
            f"{source_name(gold)} has {counts[1]}"
        )
