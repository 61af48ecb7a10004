"""Meteor's paraphrase table as a SQLite file: one row a phrase, with all of its paraphrases.

Phrases are kept as bytes (UTF-8), their words separated by single spaces. The beginnings of phrases
have rows of their own, if need be without paraphrases, so that a search which lengthens a phrase
word by word may stop where the table has none.
"""

from __future__ import annotations

import gzip
import io
import sqlite3
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import BinaryIO, cast

from tqdm import tqdm

from coverage_eval.errors import DataError

_REMEMBERED = 1 << 16
"""Phrases whose paraphrases are kept in memory: text repeats its words."""


def read_table(path: Path) -> Iterator[tuple[bytes, bytes]]:
    """Stream the table's pairs (phrase, paraphrase), in the order of the file.

    Args:
        path: Gzip file of line triples: probability, phrase, paraphrase.

    Raises:
        DataError: The file is damaged.
    """
    with (
        path.open("rb") as packed,
        tqdm.wrapattr(
            packed,
            "read",
            total=path.stat().st_size,
            desc="indexing METEOR's paraphrases, once",
            disable=None,
            leave=False,
        ) as watched,
        gzip.open(cast("BinaryIO", watched)) as unpacked,
    ):
        # The buffer makes the lines several times as fast.
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
        pairs: In the order in which the paraphrases of a phrase are to be found.
        path: An empty file or none.

    Raises:
        sqlite3.Error: The file cannot be written.
    """
    # Nobody else sees the file before it is whole, so it needs no lock and no journal.
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
            ((phrase,) for phrase in sorted(beginnings)),  # the order moves bytes of the file
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
    """Each phrase with its paraphrases, one a line; its beginnings are added to a set."""
    for phrase, run in groupby(pairs, key=itemgetter(0)):
        yield phrase, b"\n".join(paraphrase for _, paraphrase in run)
        beginning = phrase
        while b" " in beginning:
            beginning = beginning.rpartition(b" ")[0]
            beginnings.add(beginning)


class PhraseTable:
    """The paraphrases of phrases, looked up in a file of :func:`write_table`.

    Args:
        path: The file, which nobody changes while it is open.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        # Without locks any number of processes may read; SQLite itself lets only one thread in.
        self._connection = sqlite3.connect(
            f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        (blob,) = self._connection.execute("SELECT of_all_phrases FROM checksums").fetchone()
        self._checksums = array("I", blob)
        self.paraphrases = lru_cache(_REMEMBERED)(self._read)

    def _read(self, phrase: bytes) -> tuple[bytes, ...] | None:
        """A phrase's paraphrases in the table's order; None if no phrase begins with it.

        Raises:
            DataError: The file was damaged after it was opened.
        """
        # Most phrases of a text are not in the table; this says so five times as fast as SQLite.
        checksum = zlib.crc32(phrase)
        place = bisect_left(self._checksums, checksum)
        if place == len(self._checksums) or self._checksums[place] != checksum:
            return None
        query = "SELECT paraphrases FROM phrases WHERE phrase = ?"
        try:
            row = self._connection.execute(query, (phrase,)).fetchone()
        except sqlite3.DatabaseError as error:
            raise DataError(
                f"{self._path}: damaged index of METEOR's paraphrases ({error}); delete the file"
            ) from error
        if row is None:
            return None
        return tuple(row[0].split(b"\n")) if row[0] is not None else ()
