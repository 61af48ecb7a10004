"""Options that are a number of bytes."""

from __future__ import annotations

import re

import click

_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def parse_size(text: str) -> int:
    """A number of bytes, such as ``2G``; units are powers of 1024."""
    found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    size = 0 if found is None else int(float(found[1]) * 1024 ** _UNITS[found[2].upper()])
    if size <= 0:
        raise click.BadParameter(f"{text!r} is not a size such as 500M or 2G")
    return size
