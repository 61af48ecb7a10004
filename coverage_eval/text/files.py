"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TextIO

from coverage_eval.errors import DataError
from fast_align_wrapper.files import check_target as checked_target
from fast_align_wrapper.files import replacing

atomic_path = partial(replacing, error=DataError)
"""As :func:`fast_align_wrapper.files.replacing`, which raises DataError."""

check_target = partial(checked_target, error=DataError)
"""As :func:`fast_align_wrapper.files.check_target`, which raises DataError."""


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    r"""Open a UTF-8 text file (``\n`` line ends) that appears only when the block ends well.

    Raises:
        DataError: As :func:`atomic_path`.
    """
    with (
        atomic_path(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as file,
    ):
        yield file


def write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    """Write lines, each without its line end, to a file that appears only when all are there.

    Raises:
        DataError: As :func:`atomic_path`.
    """
    with atomic_write(path) as file:
        file.writelines(f"{line}\n" for line in lines)
