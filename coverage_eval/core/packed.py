"""Packed files: what unpacks them, and what it raises."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


UNPACKERS: Mapping[str, Callable[[BinaryIO], Any]] = {".gz": gzip.open, ".zst": zstd.ZstdFile}
"""What opens a packed file, by the ending of its name."""

DAMAGES = (gzip.BadGzipFile, EOFError, zlib.error, zstd.ZstdError)
"""The errors of reading a damaged file."""
