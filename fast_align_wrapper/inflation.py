"""How much more a packed file may be than it looks: a bomb fills a disk or the memory from little.

Of what people pack, attention of a single word at every step and text that loops shrink most, by
some 340; DEFLATE can shrink by 1032.
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from pathlib import Path

MOST_INFLATION = 400
"""The greatest ratio of unpacked to packed bytes, unless less is known to be enough."""

DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, OverflowError,
    RuntimeError, ValueError,
)  # fmt: skip
"""All that zipfile was seen to raise on damaged files, besides OSError."""

_ALWAYS_FREE = 1 << 26
"""Unpacked bytes that harm nobody, whatever they were packed to."""


def check_inflation(
    name: object,
    packed: int,
    unpacked: int,
    error: type[Exception],
    *,
    ratio: int = MOST_INFLATION,
) -> None:
    """Refuse what unpacks to too much.

    Args:
        name: The file.
        packed: Bytes of the file, or of what was read of it.
        unpacked: Bytes that they unpack to.
        error: What is raised.
        ratio: The most that is taken.

    Raises:
        error: It unpacks to more than ``ratio`` times its size, and to more than 64 MiB.
    """
    if unpacked > max(_ALWAYS_FREE, ratio * packed):
        raise error(
            f"{name}: unpacks to more than {ratio} times its size, which only damaged or hostile "
            "files do; if it is meant, unpack it yourself"
        )


def open_archive(path: str | os.PathLike[str]) -> zipfile.ZipFile:
    """Open a zip file for reading.

    Raises:
        FileNotFoundError: There is none.
        zipfile.BadZipFile: It is damaged, or a device or a pipe, of which zipfile would look for
            the end, and take all memory.
        OSError: It cannot be read.
    """
    place = Path(path)
    if place.exists() and not (place.is_file() or place.is_dir()):
        raise zipfile.BadZipFile("not a regular file")
    return zipfile.ZipFile(path)
