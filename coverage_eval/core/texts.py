"""From names and lists to texts, and texts that are read in parallel.

A text is named by its file, such as ``out.txt``, ``-`` or ``out.txt.gz``, or by a column of a table
behind its file, such as ``out.jsonl:mt``. In Python it may also be a list of segments.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence, Set, Sized
from functools import partial
from itertools import chain, islice
from os import PathLike as OsPathLike
from typing import Any

from coverage_eval.core import files
from coverage_eval.core.errors import CorpusWarning, DataError
from coverage_eval.core.files import (
    FileText,
    ListText,
    PathLike,
    Text,
    zip_lines,
)
from coverage_eval.core.forms import identify_form
from coverage_eval.core.tables import (
    ColumnText,
    TextTable,
    check_one_system,
    is_missing,
    join_by_id,
    list_names,
    read_json,
)
from coverage_eval.core.tokenizers import Segment

_TABLE = re.compile(r".+?\.(?:csv|jsonl|ndjson|parquet|tsv)(?:\.gz|\.zst)?", re.I | re.S)
_NAMED = re.compile(
    rf"(?P<file>{_TABLE.pattern}|-|/dev/(?:stdin|fd/\d+)):(?P<column>.+)", re.I | re.S
)
"""A table, and after the first colon behind its ending, a column."""


def open_text(name: PathLike, tables: MutableMapping[str, TextTable] | None = None) -> Text:
    """What a name means: a file of lines, or a column of a table.

    An existing file whose name has a colon is that file. Otherwise the column follows the first
    colon after the name of a file that exists, after a table's ending, or after ``-`` or
    ``/dev/fd/N``. A pipe becomes a text that can be read several times.

    Args:
        name: Such as ``out.txt``, ``-``, ``out.jsonl.gz:mt`` or ``-:mt``.
        tables: The tables of other names, so that columns of one table are read together.
    """
    file, column = split_name(name)
    if not column:
        return SegmentFile(name)
    tables = {} if tables is None else tables
    file = files.STDIN if file == "/dev/stdin" else file
    return ColumnText(tables.setdefault(file, TextTable(file)), column)


def split_name(name: PathLike) -> tuple[str, str]:
    """The file in a name, and the column; empty if the name has none."""
    text = str(name)
    # A text may be too long for a path.
    if os.path.exists(name):  # noqa: PTH110
        return text, ""
    for colon in re.finditer(":(?=.)", text):
        if os.path.isfile(text[: colon.start()]):  # noqa: PTH113
            return text[: colon.start()], text[colon.end() :]
    found = _NAMED.fullmatch(text)
    return (found["file"], found["column"]) if found else (text, "")


class SegmentFile(FileText):
    """A file of segments, one a line, or a JSON array of texts.

    Args:
        path: As for :class:`~coverage_eval.core.files.FileText`.
    """

    def __iter__(self) -> Iterator[str]:
        """Yield the segments.

        Raises:
            DataError: As :meth:`~coverage_eval.core.files.FileText.lines`; the file is a table.
        """
        return self.read(optional=False)

    def read(self, *, optional: bool) -> Iterator[str]:
        """As iteration; an ``optional`` text may have null in a JSON array, a blank segment."""
        if items := read_json(self):
            if any(isinstance(item, dict) for item in items):
                raise DataError(_name_a_column(TextTable(self.path, file=self)))
            return iter(TextTable(self.path, file=self).texts("", optional=optional))
        return self.lines()

    def is_table(self) -> bool:
        """Whether the file is a table, of which a column is to be named.

        JSON is told by its content, whatever the name; a pipe is not read for that.

        Raises:
            DataError: A file of JSON is damaged, or has no texts.
        """
        if _TABLE.fullmatch(str(self.path)):
            return True
        items = read_json(self) if os.path.isfile(self.path) else None  # noqa: PTH113
        return any(isinstance(item, dict) for item in items or ())


class JoinedText(Text):
    """One side of a file whose lines have two texts with ``|||`` between them.

    Args:
        file: The file, which both sides share.
        side: ``source`` for what stands before the mark, ``target`` for what stands behind it.
    """

    def __init__(self, file: FileText, side: str) -> None:
        self.table, self._side = file, side
        self.path = file.path
        self.name = f"{file.name} ({side})"

    def __str__(self) -> str:
        return str(self.path)

    def __iter__(self) -> Iterator[str]:
        """Yield the segments.

        Raises:
            DataError: As :meth:`~coverage_eval.core.files.FileText.lines`; a line has no mark, or
                several.
        """
        for number, line in enumerate(self.table.lines(), start=1):
            sides = re.split(r"(?:^| )\|\|\|(?: |$)", line)
            if len(sides) != 2:
                raise DataError(
                    f"{self.table.name}: line {number} has {len(sides) - 1} marks ' ||| ' between "
                    "source and target; it must have one"
                )
            source, target = sides
            yield source if self._side == "source" else target


def _name_a_column(table: TextTable) -> str:
    there = list_names(table.names)
    return f"{table.path} is a table: name a column of it, as {table.path}:COLUMN: {there}"


def read_segments(source: PathLike | Text, *, optional: bool = False) -> Iterator[str]:
    """The segments of a text by its name: a file of lines, or a column of a table.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "out.jsonl"
    ...     _ = path.write_text('{"mt": "a red house"}\\n{"mt": ""}\\n', encoding="utf-8")
    ...     list(read_segments(f"{path}:mt"))
    ['a red house', '']

    Args:
        source: Such as ``out.txt``, ``out.txt.gz``, ``-`` or ``out.jsonl:mt``.
        optional: Whether a column or a JSON array may lack values, which are blank segments.

    Raises:
        DataError: As :class:`~coverage_eval.core.files.FileText` and
            :meth:`~coverage_eval.core.tables.TextTable.texts`; the name is a table's without a
            column.
    """
    text = source if isinstance(source, Text) else open_text(source)
    if isinstance(text, SegmentFile) and text.is_table():
        raise DataError(_name_a_column(TextTable(text.path)))
    if isinstance(text, ColumnText):
        check_one_system(text.table, text.column)
    return text.read(optional=optional)


def is_text(name: PathLike) -> bool:
    """Whether a name is that of a file that exists, or of a column of one."""
    return os.path.exists(split_name(name)[0])  # noqa: PTH110


_STDIN_NAMES = {files.STDIN, "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}


def check_stdin(texts: Iterable[Text]) -> None:
    """Raise if standard input is named twice, because each reader would get only a part.

    Columns of one table count once, because it is read once.

    Raises:
        DataError: Two names mean standard input.
    """
    from_stdin = [text for text in texts if str(text.path) in _STDIN_NAMES]
    if len({getattr(text, "table", text) for text in from_stdin}) > 1:
        raise DataError("'-' (standard input) is named more than once; give all but one as files")


def read_parallel(
    *sources: PathLike | Text, optional: Sequence[Text] = ()
) -> Iterator[tuple[Any, ...]]:
    """Read parallel texts segment by segment, such as hypothesis and reference.

    Args:
        sources: At least one text or name of a text; standard input at most once.
        optional: Those of the texts that may lack values, which are blank segments.

    Returns:
        A tuple for each line, with a segment of each text.

    Raises:
        DataError: A text cannot be read, as :class:`~coverage_eval.core.files.FileText` says; the
            texts have unequal numbers of segments (all names, all counts), or none at all; standard
            input is named twice.
    """
    by_file: dict[str, TextTable] = {}
    texts = [item if isinstance(item, Text) else open_text(item, by_file) for item in sources]
    check_stdin(texts)
    tables: dict[TextTable, str] = {}
    for text in texts:
        if isinstance(text, ColumnText):
            tables.setdefault(text.table, text.column)
    for table, column in tables.items():
        check_one_system(table, column)
    joined: Mapping[TextTable, TextTable] = {}
    if all(isinstance(text, ColumnText) for text in texts):
        joined = join_by_id([*tables])
    streams: list[Iterator[Any]] = []
    for text in texts:
        is_optional = text in optional
        if isinstance(text, ColumnText) and joined:
            streams.append(iter(joined[text.table].texts(text.column, optional=is_optional)))
        else:
            streams.append(text.read(optional=is_optional))
    names = [text.name for text in texts]
    empty = f"{' and '.join(names)}: no segments: the file is empty"
    return zip_lines(names, streams, empty=empty, explain=partial(_why_unequal, texts))


def _why_unequal(texts: Sequence[Text], counts: Sequence[int]) -> str:
    """Which text has lines that are no sentences, or blank lines too many, and what to do.

    Args:
        texts: The texts.
        counts: How many lines each has.

    Returns:
        Empty if nothing explains the unequal numbers.
    """
    for text in texts:
        if form := identify_form([*islice(text, 100)]):
            return f"{text.name} is {form.name}: {form.to_do(text.path or text.name)}"
    blank = {
        text.name: [number for number, line in enumerate(text, start=1) if not line.strip()]
        for text in texts
        if text.path is not None
    }
    sizes = {text.name: count for text, count in zip(texts, counts, strict=True)}
    fewest = min(counts)
    shortest = [blank.get(name, []) for name, count in sizes.items() if count == fewest]
    for name, count in sizes.items():
        numbers, more = blank.get(name, []), count - fewest
        is_last = more and numbers[-more:] == [*range(fewest + 1, count + 1)]
        if is_last or (more and len(numbers) == more and not any(shortest)):
            lines = ", ".join(map(str, numbers[-more:][:3])) + (" …" if more > 3 else "")
            verb, them = ("is", "it") if more == 1 else ("are", "them")
            what = f"line{'s' * (more > 1)} {lines} of {name} {verb} blank"
            if is_last:
                return f"{what} and the last: remove {them}"
            return (
                f"{what}: remove {them}, unless an output is empty there and another lacks a line"
            )
    return ""


def split_references(
    hypotheses: Sequence[Segment], references: Sequence[Any]
) -> list[Sequence[Segment]]:
    """The list of references, from a list of segments or a list of such lists.

    >>> split_references(["a b", "c"], iter(["a b", "d"]))
    [['a b', 'd']]
    >>> split_references(["a b", "c"], [["a b", "c"], ["a", "c d"]])
    [['a b', 'c'], ['a', 'c d']]

    If hypotheses are strings, ``["a b", "c"]`` is one reference of two segments, and
    ``[["a b", "c"], ["a", "c d"]]`` are two references, as in sacreBLEU. If hypotheses are lists of
    tokens, one reference is a list of lists of tokens. As many references as segments may be lists
    of the wrong kind, so a CorpusWarning says how they were read.

    Raises:
        DataError: One list per segment instead of one list per reference, or several references of
            strings for hypotheses of tokens.
        TypeError: Something other than a list of segments.
    """
    # Iterators can be looked at only once.
    references = [
        list(item) if isinstance(item, Iterator) else item
        for item in segments_of(references, "the reference", optional=True)
    ]
    if depth(references) <= max(1, depth(hypotheses)):
        segments = ["" if is_missing(item) else item for item in references]
        _check_tokens(hypotheses, segments)
        return [segments]
    number = len(references)
    sizes = {len(item) for item in references if isinstance(item, Sized)}
    if number == len(hypotheses) != 1 and sizes - {number}:
        raise DataError(
            f"{number} lists of references for {number} segments: give one list a reference, each "
            "with a segment for every hypothesis, not one list a segment"
        )
    if number == len(hypotheses) != 1 and depth(references) == 2:
        message = (
            f"read as {number} references of {number} segments each, as sacreBLEU does; if each "
            "list has the references of one segment, give [*zip(*references)]"
        )
        warnings.warn(message, CorpusWarning, stacklevel=2)
    return references


def _check_tokens(hypotheses: Sequence[Segment], reference: Sequence[Any]) -> None:
    """Raise if several references of strings were taken for one reference of tokens."""
    ours = chain.from_iterable(hypotheses)
    tokens = [*chain.from_iterable(item for item in reference if not isinstance(item, str))]
    phrases = sum(" " in token for token in tokens if isinstance(token, str))
    if 2 * phrases >= max(1, len(tokens)) and not any(" " in token for token in ours):
        raise DataError(
            "the tokens of the reference hold spaces, as if they were whole segments: with "
            "hypotheses as lists of tokens, several references are lists of lists of tokens"
        )


def depth(value: Any) -> int:
    """How deep lists are nested: 0 for a string, 1 for a list of strings or an empty list."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return 0
    return 1 + max(map(depth, value), default=0)


def numbered(what: str, texts: Sequence[Any]) -> list[str]:
    """The names of several texts, such as ``reference 1`` and ``reference 2``."""
    return [f"{what} {number}" for number in range(1, len(texts) + 1)]


def list_text(
    name: str, segments: Any, joined: bool = False, *, optional: bool = False
) -> ListText:
    """A text from a list of segments, or from the name of a text.

    Args:
        name: What messages call it.
        segments: As :func:`segments_of` takes them.
        joined: Whether lists of tokens become strings, with spaces between the tokens.
        optional: Whether None and NaN are blank segments.

    Raises:
        TypeError: As :func:`segments_of`; a segment is neither a string nor a list of tokens.
    """
    listed = list(segments_of(segments, name, optional=optional))
    if optional:
        listed = ["" if is_missing(segment) else segment for segment in listed]
    for number, segment in enumerate(listed, start=1):
        if not isinstance(segment, (str, Sequence)) or isinstance(segment, bytes):
            raise TypeError(
                f"{name}: segment {number} is neither a string nor a list of tokens: "
                f"{type(segment).__name__}"
            )
    if joined:
        listed = [item if isinstance(item, str) else " ".join(item) for item in listed]
    return ListText(name, listed)


def output_text(name: str, output: Any, unaligned: bool) -> ListText:
    """As :func:`list_text`; a single string is an output's lines, if lines need not match.

    None and NaN are empty outputs.
    """
    is_whole = unaligned and isinstance(output, str)
    lines = output.split("\n") if is_whole else output
    return list_text(name, lines, unaligned, optional=True)


def segments_of(segments: Any, name: str, *, optional: bool = False) -> Iterable[Any]:
    """A list of segments as it is, or the segments of a text by its name, such as ``out.jsonl:mt``.

    Args:
        segments: The list, or the name of a file that exists or of its column.
        name: What messages call it.
        optional: As of :func:`read_segments`.

    Raises:
        TypeError: Another string, a mapping, a set or a data frame, which would give its keys, or
            nothing to iterate over.
    """
    if isinstance(segments, (str, OsPathLike)) and is_text(segments):
        return read_segments(segments, optional=optional)
    if isinstance(segments, (str, bytes, OsPathLike)):
        raise TypeError(
            f"{name} is a list of segments, not a single string, and there is no file "
            f"{segments!r:.60}"
        )
    is_frame = hasattr(segments, "columns")
    if not isinstance(segments, Iterable) or isinstance(segments, (Mapping, Set)) or is_frame:
        raise TypeError(f"{name} is a list of segments, not {type(segments).__name__}")
    return segments
