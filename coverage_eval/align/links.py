r"""Files of links, read in step and checked against the texts and links they belong to.

Each line has the links of a pair in Pharaoh's form, ``0-0 1-2``: source-target, positions from 0.
What aligners and gold sets add is read, too: the texts of the pair before ``|||``, scores after a
tab or ``|||`` or behind each link (``0-0:0.9`` or ``0-0/0.9``), ``3p4``, ``3?4``, ``*3-4`` or
``3-4P`` for a possible link, and ``3s4`` or ``3-4S`` for a sure one. Files of the NAACL 2003 shared
task have a line for each link, ``sentence source target S|P``, counted from 1; a position 0 is no
word, and is left out.
"""

from __future__ import annotations

import math
import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from coverage_eval.core.errors import CorpusWarning, DataError, Finding, Severity
from coverage_eval.core.files import FileText, PathLike, Text, check_file, file_name, zip_lines
from coverage_eval.core.sampled_texts import MIN_SEGMENTS
from coverage_eval.core.texts import depth, open_text
from fast_align_wrapper import AlignerDataError
from fast_align_wrapper.links import Link, Links, format_links, parse_links

LinkSource: TypeAlias = "PathLike | Text | Sequence[str] | Sequence[Collection[Link]]"
"""Links of a text: a text of Pharaoh lines or its name, a list of such lines, or the links of each
segment."""

_TEXT = (str, os.PathLike, Text)

_MARKED = re.compile(
    r"(?<!\S)(\*?)(\d{1,9})([-sp?])(\d{1,9})(?:[:/]?([SPsp])|[:/][\d.eE+-]+)?(?!\S)", re.ASCII
)
"""A link with a mark before, in or behind it, or with a score behind it."""

_NUMBERED = re.compile(
    r"(\d{1,9})\s+(\d{1,9})\s+(\d{1,9})(?:\s+([SP]))?(?:\s+[\d.]+)?\s*", re.ASCII
)
"""A link of NAACL's format."""


class Gold(NamedTuple):
    """The gold links of a pair.

    Attributes:
        sure: Links that a good aligner must find.
        possible: Links that it may find, including the sure ones.
    """

    sure: Links
    possible: Links


class LinkText:
    """Links of the source and one text, one line for each segment, from a file or from memory.

    Iterating gives each line's number, counted from 1, and its links.
    """

    def __init__(self, links: LinkSource, name: str) -> None:
        self._lines: list[str] | Text
        if isinstance(links, _TEXT):
            text = links if isinstance(links, Text) else open_text(links)
            name, self._lines = text.name, text
            if text.path is not None:
                check_file(text.path)
        elif _are_lines(links):
            self._lines = [*links]
        else:
            # As text, so that links in memory are checked and signed like those of a file.
            self._lines = [
                _write(segment, f"{name}: segment {number}")
                for number, segment in enumerate(links, start=1)
            ]
        self.name = name

    @classmethod
    def several(cls, links: Any, name: str) -> list[LinkText]:
        """The links of one text, of several in a list, or of several by name.

        Args:
            links: A file, its lines, the links of each segment, or several of these.
            name: What links in memory are called in messages.

        Raises:
            DataError: An unreadable file, or links in memory that are none.
        """
        if isinstance(links, _TEXT):
            return [cls(links, name)]
        listed = [
            list(item) if isinstance(item, Iterator) else item  # it can be read only once
            for item in (links.values() if isinstance(links, Mapping) else links)
        ]
        if not listed:
            return []
        are_texts = isinstance(links, Mapping) or isinstance(listed[0], _TEXT)
        are_texts = are_texts or all(map(_are_lines, listed))
        if _are_lines(listed) or (not are_texts and _are_segments(listed)):
            return [cls(listed, name)]
        return [cls(item, name) for item in listed]

    def lines(self) -> Iterable[str]:
        """The lines as they are."""
        # Links are no segments: the texts of a pair may stand before them.
        return self._lines.lines() if isinstance(self._lines, FileText) else self._lines

    def __iter__(self) -> Iterator[tuple[int, Links]]:
        return self.parsed()

    def parsed(self, skipped: str | tuple[str, ...] = ()) -> Iterator[tuple[int, Links]]:
        """Each line's number and links, without lines that start with ``skipped``.

        Raises:
            DataError: As :meth:`golds`.

        Warns:
            CorpusWarning: Some links are only possible; they count.
        """
        has_warned = False
        for number, gold in self.golds(skipped):
            if not has_warned and len(gold.sure) < len(gold.possible):
                has_warned = True
                message = "has links that are only possible; they count as links here"
                warnings.warn(f"{self.name}: line {number} {message}", CorpusWarning, stacklevel=2)
            yield number, gold.possible

    def golds(self, skipped: str | tuple[str, ...] = ()) -> Iterator[tuple[int, Gold]]:
        """Each line's number, or each pair's in NAACL's format, and its sure and possible links.

        Raises:
            DataError: As :class:`~coverage_eval.core.files.FileText`; a malformed line (file,
                line).
        """
        if self.is_numbered:
            yield from enumerate(self._of_sentences(), start=1)
            return
        for number, line in enumerate(self.lines(), start=1):
            if not line.startswith(skipped):
                yield number, _parse(line, f"{self.name}: line {number}")

    @cached_property
    def is_numbered(self) -> bool:
        """Whether the file has a line for each link, with the number of its sentence."""
        first = next(filter(str.strip, self.lines()), "")
        return _NUMBERED.fullmatch(first) is not None

    def _of_sentences(self) -> Iterator[Gold]:
        """The links of each sentence, from the first to the last that has some."""
        sure: dict[int, set[Link]] = {}
        possible: dict[int, set[Link]] = {}
        for number, line in enumerate(self.lines(), start=1):
            found = _NUMBERED.fullmatch(line)
            if found is None and line.strip():
                raise DataError(
                    f"{self.name}: line {number}: {line!r:.60} is not 'sentence source target', "
                    "counted from 1, with S or P"
                )
            if found is None:
                continue
            sentence, source, target = (int(found[part]) for part in (1, 2, 3))
            if sentence == 0:
                raise DataError(f"{self.name}: line {number}: sentences count from 1")
            if source and target:
                kind = possible if found[4] == "P" else sure
                kind.setdefault(sentence, set()).add((source - 1, target - 1))
        for sentence in range(1, max((*sure, *possible), default=0) + 1):
            links = sure.get(sentence, set())
            every = links | possible.get(sentence, set())
            yield Gold(tuple(sorted(links)), tuple(sorted(every)))

    @cached_property
    def digest(self) -> str:
        """The first 8 hexadecimal digits of a hash of the lines, for signatures."""
        digest = sha256()
        for line in self.lines():
            digest.update(line.encode() + b"\n")
        return digest.hexdigest()[:8]


def _write(segment: Any, where: str) -> str:
    """The links of a segment in memory, as a Pharaoh line."""
    try:
        return format_links(sorted({(source, target) for source, target in segment}))
    except (TypeError, ValueError):
        raise DataError(
            f"{where}: {segment!r:.60} are not links, pairs of positions such as [(0, 0), (1, 2)]"
        ) from None


def _parse(line: str, where: str) -> Gold:
    """The links of a line; ``where`` names the line in errors."""
    try:
        try:
            links = parse_links(line)
            return Gold(links, links)
        except AlignerDataError:
            if not _MARKED.search(line):
                raise
        every = parse_links(_MARKED.sub(r"\2-\4", line))
        sure = parse_links(_MARKED.sub(_if_sure, line))
    except AlignerDataError as error:
        raise DataError(f"{where}: {error}") from None
    return Gold(sure, every)


def _if_sure(link: re.Match[str]) -> str:
    is_possible = link[1] or link[3] in "p?" or link[5] in {"P", "p"}
    return "" if is_possible else f"{link[2]}-{link[4]}"


def _are_lines(links: Any) -> bool:
    """Whether links in memory are lines: strings, the first of which has links and is no file."""
    if not (isinstance(links, Sequence) and all(isinstance(line, str) for line in links)):
        return False
    first = next(filter(str.strip, links), "")
    is_line = re.match(r"\s*\*?\d+[-sp?]\d+|.*\|\|\|", first) is not None
    return bool(links) and (not first or is_line) and not os.path.exists(first)  # noqa: PTH110


def _are_segments(listed: Sequence[Any]) -> bool:
    """Whether links are those of one text's segments, and not of several texts, by their depth."""
    if depth(listed) != 3:
        return depth(listed) < 3
    # Without positions, empty segments look like links.
    return all(len(link) > 0 for segment in listed for link in segment if depth(link))


def read_links(source: PathLike) -> Iterator[Links]:
    """Read the links of one pair per line; an empty line is a pair without links.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked) or ``-`` for standard input.

    Raises:
        DataError: As :func:`~coverage_eval.core.texts.read_segments`; a malformed link
            (file, line).
    """
    return (links for _, links in LinkText(source, file_name(source)))


def read_link_pairs(first: PathLike, second: PathLike) -> Iterator[tuple[Links, Links]]:
    """Read two files of links that belong together line by line.

    Raises:
        DataError: As :func:`read_links`; the files have unequal numbers of lines (names, counts).
    """
    names = [file_name(first), file_name(second)]
    return zip_lines(names, [read_links(first), read_links(second)])


def check_links(
    links: Iterable[Link],
    source_length: int | None,
    target_length: int | None,
    *,
    name: str,
    line: int,
) -> None:
    """Check that links point to existing tokens.

    Args:
        links: The links of one pair.
        source_length: Number of source tokens; None if unknown.
        target_length: Number of target tokens; None if unknown.
        name: The file of the links, for the message.
        line: The line of the pair in it, counted from 1.

    Raises:
        DataError: A link is out of range: file, line, link and the known lengths.
    """
    lengths = {"source": source_length, "target": target_length}
    counts = [f"the {side} has {size} tokens" for side, size in lengths.items() if size is not None]
    for source, target in links:
        is_inside = source_length is None or source < source_length
        if not is_inside or (target_length is not None and target >= target_length):
            raise DataError(
                f"{name}: line {line}: link {source}-{target} is out of range: "
                f"{', '.join(counts)}, counted from 0; "
                f"{_why_outside((source, target), source_length, target_length, name)}"
            )


def _why_outside(
    link: Link, source_length: int | None, target_length: int | None, name: str
) -> str:
    """What may be wrong with the links of a file if one is out of range."""
    source, target = link
    longest = sys.maxsize if source_length is None else source_length
    longest_target = sys.maxsize if target_length is None else target_length
    reasons = []
    if source <= longest and target <= longest_target:
        reasons.append(f"do they count from 1? Then: {_how_to_change(_FROM_ZERO, name)}")
    if target < longest and source < longest_target:
        reasons.append(f"are they target-source? Then: {_how_to_change(_SWAPPED_LINKS, name)}")
    return "; ".join([*reasons, "are these the links of this text, in this tokenisation?"])


_FROM_ZERO = r"s/(\d+)([-sp?])(\d+)/($1-1).$2.($3-1)/ge"
"""The program of Perl that makes links count from 0."""

_SWAPPED_LINKS = r"s/(\d+)([-sp?])(\d+)/$3$2$1/g or s/^(\d+\s+\K)(\d+)(\s+)(\d+)/$4$3$2/"
"""The program of Perl that swaps the sides of links."""


def _how_to_change(program: str, name: str = "") -> str:
    """The line to type that changes a file of links."""
    file = shlex.quote(name) if os.path.isfile(name) else "LINKS"  # noqa: PTH113
    return f"perl -pe '{program}' {file} > NEW"


BETTER_LINKS = 5.0
"""By how many standard errors changed links must fit better than those of the file. On 20 pairs,
changing right links makes the fit worse by 6 or more, even with links of Model 1, and changing
wrong links improves it as much."""


def _swap(link: Link) -> Link:
    return link[1], link[0]


def _count_from_zero(link: Link) -> Link:
    return link[0] - 1, link[1] - 1


def _count_from_one(link: Link) -> Link:
    return link[0] + 1, link[1] + 1


_CHANGES: Sequence[tuple[Callable[[Link], Link], str, str]] = (
    (_swap, "with source and target swapped; swap them: ", _SWAPPED_LINKS),
    (_count_from_zero, "counted from 0: ", _FROM_ZERO),
    (_count_from_one, "if the other links count from 1; count both from 0: ", _FROM_ZERO),
)
"""What may be wrong with links beside others, and what to do."""


def look_for_other_positions(links: Iterable[Collection[Link]], name: str) -> list[Finding]:
    """Links whose positions seem to count from 1.

    Args:
        links: The links of each pair, or of some of the pairs.
        name: Name of their file in messages.
    """
    pairs = [row for row in islice(links, 1000) if row]
    if len(pairs) < MIN_SEGMENTS:
        return []
    for side, word in ((0, "source"), (1, "target")):
        if not any(link[side] == 0 for row in pairs for link in row):
            return [
                Finding(
                    f"{name}: no link of {len(pairs):,} pairs has {word} position 0; if positions "
                    f"count from 1: {_how_to_change(_FROM_ZERO, name)}"
                )
            ]
    return []


def compare_positions(
    links: Sequence[Collection[Link]], others: Sequence[Collection[Link]], name: str, other: str
) -> list[Finding]:
    """Links that fit others of the same pairs better if they are swapped, or count otherwise.

    Args:
        links: The links of each pair, or of some of the pairs.
        others: The other links of the same pairs, which may be wrong instead.
        name: Name of the links in messages.
        other: Name of the others, which is what to change if they count from 1.

    Raises:
        ValueError: Unequal numbers of pairs.
    """
    pairs = [(set(row), set(beside)) for row, beside in zip(links, others, strict=True)]
    pairs = [pair for pair in pairs if all(pair)]
    if len(pairs) < MIN_SEGMENTS:
        return []
    for change, remedy, program in _CHANGES:
        # Only links that the change adds or removes tell which version is right.
        changed = [(beside, row, {change(link) for link in row}) for row, beside in pairs]
        better = sum(len(beside & (new - row)) for beside, row, new in changed)
        worse = sum(len(beside & (row - new)) for beside, row, new in changed)
        if better - worse > BETTER_LINKS * math.sqrt(better + worse):
            file = other if change is _count_from_one else name
            counts = f"{better:,} links against {worse:,}"
            line = _how_to_change(program, file)
            return [Finding(f"{name}: fit {other} better ({counts}) {remedy}{line}")]
    return []


SWAPPED = 4.0
"""By how many standard errors links must fit better if they are swapped. With captions of equal
lengths, 20 swapped pairs have 2.8 to 6.6, 50 have 6.5 to 10; right links have -2 at most."""


def look_for_swapped_sides(
    rows: Iterable[tuple[Sequence[str], Sequence[str], Collection[Link]]], name: str
) -> list[Finding]:
    """Links that join the words of other links only if source and target are swapped.

    Links of equal positions are the same in both directions. The words that they join, and equal
    words, tell the direction of the others. Where most words have equal positions, as in languages
    of the same word order, nothing is found.

    Args:
        rows: Source words, target words and links of each pair.
        name: Name of the links in messages.
    """
    pairs = [(source, target, set(links)) for source, target, links in rows]
    joined = {
        (source[i], target[i])
        for source, target, links in pairs
        for i, j in links
        if i == j and i < min(len(source), len(target))
    }
    better = worse = 0
    for source, target, links in pairs:
        for i, j in links:
            if i != j and (j, i) not in links and max(i, j) < min(len(source), len(target)):
                given, swapped = (source[i], target[j]), (source[j], target[i])
                fits = [words in joined or words[0] == words[1] for words in (given, swapped)]
                better += fits == [False, True]
                worse += fits == [True, False]
    if better - worse <= SWAPPED * math.sqrt(better + worse):
        return []
    return [
        Finding.of_text(
            name,
            f"{better:,} of {better + worse:,} links join words that other links join only if "
            "source and target are swapped",
            f"swap them: {_how_to_change(_SWAPPED_LINKS, name)}",
            "swapped-links",
            Severity.FATAL,
        )
    ]
