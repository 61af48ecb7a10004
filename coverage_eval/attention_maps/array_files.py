"""Files of NumPy arrays, whose sizes are checked before anything of that size is made."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from coverage_eval.errors import DataError
from fast_align_wrapper.files import check_inflation

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def load_arrays(path: str | Path) -> Any:
    """What :func:`numpy.load` gives of an ``.npz`` or ``.npy``, Python objects refused.

    Raises:
        DataError: Arrays are larger than the file can hold.
        Exception: NumPy's, and those of the modules by which it unpacks.
    """
    size = Path(path).stat().st_size
    if not Path(path).is_file():
        raise DataError(f"{path}: not a regular file, which alone can hold arrays")
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            check_inflation(path, size, sum(item.file_size for item in members), DataError)
            for item in members:
                with archive.open(item) as member:
                    _check_header(member, item.file_size, f"{path}: array {item.filename!a}")
    else:
        with Path(path).open("rb") as file:
            _check_header(file, size, str(path))
    return np.load(path, allow_pickle=False)


def _check_header(file: IO[bytes], size: int, where: str) -> None:
    """NumPy makes room for what a header says, whatever follows it."""
    version = npy.read_magic(file)
    if version not in _HEADERS:
        raise DataError(f"{where}: an array with named fields, which no attention has")
    shape, _, dtype = _HEADERS[version](file)
    stated = math.prod(shape) * dtype.itemsize
    if not dtype.hasobject and stated != size - file.tell():
        raise DataError(f"{where}: its header says {stated:,} bytes, but there are others")
