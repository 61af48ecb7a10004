"""What a check says, and the words of its message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Finding(NamedTuple):
    """Something in the input that is probably not meant.

    Attributes:
        check: Name of the check, such as ``subword-marks``.
        message: One line: the text's name, what was seen, with figures, and what to do.
    """

    check: str
    message: str


def percent(share: float) -> str:
    """A share, 0 to 1, in per cent; small ones with a decimal."""
    return f"{100 * share:.{0 if share >= 0.0995 else 1}f} %"


def shown(token: str) -> str:
    """A token for a message, which stays one short line whatever the token is."""
    text = "".join(c if c.isprintable() else "?" for c in token)
    return f"'{text[:24]}…'" if len(text) > 24 else f"'{text}'"


def named(details: Mapping[str, str]) -> str:
    """Names, each with a detail in brackets."""
    return ", ".join(f"{name} ({detail})" for name, detail in details.items())
