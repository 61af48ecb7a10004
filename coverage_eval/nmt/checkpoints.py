"""Tensors and plain values in one file, complete or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from coverage_eval.data.files import atomic_path
from coverage_eval.errors import DataError


def save_checkpoint(path: Path, content: dict[str, Any]) -> None:
    """Write a checkpoint; a kill leaves the old one or the new one.

    Args:
        path: The file.
        content: Tensors, numbers, strings, and lists and dictionaries of them.
    """
    with atomic_path(path) as temporary:
        torch.save(content, temporary)


def load_checkpoint(path: Path, device: torch.device | None = None) -> dict[str, Any]:
    """Read a checkpoint; nothing but tensors and plain values is unpickled.

    Raises:
        DataError: There is no such file, or it is damaged.
    """
    try:
        content: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except Exception as error:  # what torch raises depends on where the bytes are wrong
        raise DataError(f"{path}: not a readable checkpoint; delete it to begin anew") from error
    return content
