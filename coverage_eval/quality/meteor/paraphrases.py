"""Meteor's paraphrase table as a SQLite file in the user's cache folder, and the search in it.

Reading the table takes seconds; looking up phrases in SQLite takes milliseconds. The file has one
row per phrase, with all its paraphrases. Phrases are bytes (UTF-8) with single spaces between
words. The beginnings of phrases have rows too, even without paraphrases, so a search that lengthens
a phrase word by word can stop where there is no row.

The file is made at the first use. If several processes need it, each makes its own under a
temporary name and renames it when it is complete; the same table gives the same bytes, so they all
make the same file.
"""

from __future__ import annotations

import gzip
import io
import os
import sqlite3
import sys
import threading
import warnings
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias

from coverage_eval.core.errors import DataError
from coverage_eval.core.writing import replace_file, temporary_file
from coverage_eval.quality.meteor.matching import PARAPHRASE, Block, CandidateRun
from fast_align_wrapper.temporary import TemporaryFolder

_REMEMBERED = 1 << 16
"""Most phrases with paraphrases kept in memory."""

_PREFIX = "meteor-paraphrases-4"
"""How the files' names begin; the number changes with the format of the files."""


def read_table(path: Path) -> Iterator[tuple[bytes, bytes]]:
    """Stream the table's pairs (phrase, paraphrase), in the order of the file.

    Args:
        path: Gzip file of line triples: probability, phrase, paraphrase.

    Raises:
        DataError: The file is damaged.
    """
    with gzip.open(path) as unpacked:
        # The buffer makes reading lines several times as fast.
        lines = io.BufferedReader(unpacked, 1 << 20)
        try:
            for _, phrase, paraphrase in zip(lines, lines, lines, strict=True):
                yield phrase.rstrip(b"\n"), paraphrase.rstrip(b"\n")
        except (EOFError, OSError, zlib.error) as error:
            raise DataError(f"{path}: damaged paraphrase table ({error})") from error
        except ValueError as error:
            raise DataError(f"{path}: damaged paraphrase table (ends within an entry)") from error


def write_table(pairs: Iterable[tuple[bytes, bytes]], path: Path) -> None:
    """Write pairs (phrase, paraphrase) as a SQLite file.

    Args:
        pairs: The pairs, with the paraphrases of each phrase in the order to find them.
        path: An empty or missing file.

    Raises:
        sqlite3.Error: The file cannot be written.
    """
    # No other process sees the file before it is complete, so it needs no lock and no journal.
    connection = sqlite3.connect(f"{path.as_uri()}?nolock=1", uri=True, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("CREATE TABLE phrases (phrase BLOB PRIMARY KEY, paraphrases BLOB)")
        connection.execute("CREATE TABLE checksums (of_all_phrases BLOB)")
        connection.execute("BEGIN")
        beginnings: set[bytes] = set()
        connection.executemany(
            "INSERT INTO phrases VALUES (?, ?) ON CONFLICT DO UPDATE "
            "SET paraphrases = CAST(paraphrases || x'0a' || excluded.paraphrases AS BLOB)",
            _rows(pairs, beginnings),
        )
        connection.executemany(
            "INSERT OR IGNORE INTO phrases VALUES (?, NULL)",
            (  # sorted, because the order changes the file's bytes
                (phrase,) for phrase in sorted(beginnings)
            ),
        )
        phrases = connection.execute("SELECT phrase FROM phrases")
        checksums = array("I", sorted(zlib.crc32(phrase) for (phrase,) in phrases))
        connection.execute("INSERT INTO checksums VALUES (?)", (checksums.tobytes(),))
        connection.execute("COMMIT")
    finally:
        connection.close()


def _rows(
    pairs: Iterable[tuple[bytes, bytes]], beginnings: set[bytes]
) -> Iterator[tuple[bytes, bytes]]:
    """Each phrase with its paraphrases, one per line; adds its beginnings to a set."""
    for phrase, run in groupby(pairs, key=itemgetter(0)):
        yield phrase, b"\n".join(paraphrase for _, paraphrase in run)
        beginning = phrase
        while b" " in beginning:
            beginning = beginning.rpartition(b" ")[0]
            beginnings.add(beginning)


class PhraseTable:
    """Looks up paraphrases in a file of :func:`write_table`.

    Args:
        path: The file, which must not change while it is open.

    Raises:
        DataError: The file is damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        # Any number of processes can read without locks.
        self._one_thread = threading.Lock()
        self._connection = sqlite3.connect(
            f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        try:
            (blob,) = self._connection.execute("SELECT of_all_phrases FROM checksums").fetchone()
            (page,) = self._connection.execute("PRAGMA page_size").fetchone()
        except sqlite3.DatabaseError as error:
            raise _damaged(path, error) from error
        if path.stat().st_size % page:  # SQLite notices only whole pages that are missing
            raise _damaged(path, "its last page is cut")
        self._checksums = array("I", blob)
        self.paraphrases = lru_cache(_REMEMBERED)(self._read)

    def _read(self, phrase: bytes) -> tuple[bytes, ...] | None:
        """A phrase's paraphrases in the table's order; None if no phrase begins with it.

        Raises:
            DataError: The file was damaged after it was opened.
        """
        # Most phrases of a text are not in the table; this test is five times as fast as SQLite.
        checksum = zlib.crc32(phrase)
        nearest = bisect_left(self._checksums, checksum)
        if nearest == len(self._checksums) or self._checksums[nearest] != checksum:
            return None
        query = "SELECT paraphrases FROM phrases WHERE phrase = ?"
        try:
            with self._one_thread:
                row = self._connection.execute(query, (phrase,)).fetchone()
        except sqlite3.DatabaseError as error:
            raise _damaged(self._path, error) from error
        if row is None:
            return None
        return tuple(row[0].split(b"\n")) if row[0] is not None else ()


def _damaged(path: Path, why: object) -> DataError:
    return DataError(f"{path}: damaged index of METEOR's paraphrases ({why}); delete the file")


def cache_folder() -> Path:
    """The folder for files that can be made again.

    It is ``COVERAGE_EVAL_CACHE``, else ``coverage-eval`` in ``XDG_CACHE_HOME``, else in ``.cache``
    of the home folder.
    """
    named = os.environ.get("COVERAGE_EVAL_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification says to ignore relative paths.
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "coverage-eval"


def table_hash(table: Path) -> str:
    """The last bytes of a gzip file: CRC-32 and length of its contents, in hexadecimal.

    They cost nothing to read, and unpacking the table checks them.
    """
    with table.open("rb") as file:
        file.seek(-8, os.SEEK_END)
        return file.read().hex()


def phrase_index(table: Path) -> Path:
    """The index of a table, built now if there is none.

    If the cache folder is not writable, the index is built in the system's folder for temporary
    files, with a warning, and removed when this process ends.

    Raises:
        DataError: The table is damaged.
        OSError: The index cannot be written anywhere.
    """
    folder = cache_folder().absolute()
    path = folder / f"{_PREFIX}-{table_hash(table)}.sqlite"
    try:
        return path if path.exists() else _build(table, path)
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or error
        warnings.warn(
            f"cannot keep the paraphrase index in {folder} ({reason}), so "
            "it is built anew each time; set COVERAGE_EVAL_CACHE to a folder that can be written",
            stacklevel=2,
        )
        return _temporary_index(table)


@cache
def open_index(path: Path, process: int) -> PhraseTable:  # noqa: ARG001
    """The index of :func:`phrase_index`, opened once in each process, which is named by its number.

    A child process must not use its parent's connection: both would share one file position.
    """
    return PhraseTable(path)


def _build(table: Path, path: Path) -> Path:
    """Build an index, which gets its name when it is complete."""
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write("indexing METEOR's paraphrases, once\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    with temporary_file(path.parent, ".sqlite", 0o644) as temporary:
        write_table(read_table(table), temporary)
        return replace_file(temporary, path)


@cache
def _temporary_index(table: Path) -> Path:
    """An index in the system's folder for temporary files, removed when this process ends."""
    return _build(table, _temporary_folder().path / "index.sqlite")


_temporary_folder = cache(TemporaryFolder)


_Found: TypeAlias = "tuple[int, int, tuple[int, ...]]"
"""(number of a phrase's paraphrase, its number of words, its positions)."""


def find_paraphrases(
    table: PhraseTable, hypothesis: list[str], reference: list[str]
) -> list[list[Block]]:
    """The paraphrases in a pair, in the order in which Meteor 1.5 finds them.

    First come the table's phrases in the reference, from left to right and short before long, with
    each paraphrase (in the table's order) and each of its positions in the hypothesis; then, in the
    same way, the phrases in the hypothesis with their paraphrases in the reference.

    Returns:
        For each reference position, the candidates that start there.
    """
    hyp, ref = (
        [token.encode("utf-8", "surrogatepass") for token in side]
        for side in (hypothesis, reference)
    )
    candidates: list[list[Block]] = [[] for _ in reference]
    for starts, size, paraphrases in _search(table, ref, hyp):
        runs = [
            CandidateRun(positions, length, size, PARAPHRASE)
            for _, length, positions in paraphrases
        ]
        for start in starts:
            candidates[start].extend((run,) for run in runs)
    # At one position of the hypothesis, paraphrases are ordered by length, then as in the table.
    others: dict[int, list[tuple[tuple[int, int], CandidateRun]]] = {}
    for starts, size, paraphrases in _search(table, hyp, ref):
        for number, length, positions in paraphrases:
            run = CandidateRun(starts, size, length, PARAPHRASE)
            for position in positions:
                others.setdefault(position, []).append(((size, number), run))
    for position, runs_here in others.items():
        candidates[position].append(tuple(run for _, run in sorted(runs_here, key=itemgetter(0))))
    return candidates


def _search(
    table: PhraseTable, text: list[bytes], other: list[bytes]
) -> Iterator[tuple[tuple[int, ...], int, list[_Found]]]:
    """(positions, number of words, paraphrases) of each phrase with a paraphrase in another text.

    Of the phrases that start at a position, the shorter ones come first.
    """
    # Phrases of the text, with their positions, that are the beginning of a phrase of the table.
    phrases: dict[bytes, list[int]] = {}
    for start in range(len(text)):
        phrase = b""
        for end in range(start, len(text)):
            phrase = phrase + b" " + text[end] if phrase else text[end]
            if table.paraphrases(phrase) is None:
                break
            phrases.setdefault(phrase, []).append(start)
    positions_of: dict[bytes, list[int]] = {}
    for position, word in enumerate(other):
        positions_of.setdefault(word, []).append(position)
    for phrase, starts in phrases.items():
        matches = []
        for number, paraphrase in enumerate(table.paraphrases(phrase) or ()):
            if there := positions_of.get(paraphrase.partition(b" ")[0]):
                words = paraphrase.split(b" ")
                size = len(words)
                if positions := [i for i in there if other[i : i + size] == words]:
                    matches.append((number, size, tuple(positions)))
        if matches:
            yield tuple(starts), phrase.count(b" ") + 1, matches
