"""Pages whose figures come from tables that were measured."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd


def fill(
    page: str, tables: Mapping[str, pd.DataFrame], folder: Path = Path(), **blocks: str
) -> str:
    """The page with every ``{{…}}`` replaced.

    ``{{TABLE / KEY / … / COLUMN / FORMAT}}`` stands for a cell of the one row that has all keys; a
    key ``LABEL=VALUE`` is looked for in the column LABEL only. FORMAT is Python's, or ``text``;
    ``interval`` adds the columns ``COLUMN, low`` and ``COLUMN, high``, and ``compared`` says what
    they allow to say of a difference.

    Args:
        page: The page's text.
        tables: Name → table.
        folder: Where other tables are, NAME.csv.
        blocks: Name → text of whole tables, for ``{{NAME}}``.

    Raises:
        SystemExit: The keys of a cell fit no row, or several.
    """

    def cell(match: re.Match[str]) -> str:
        if match[1] in blocks:
            return blocks[match[1]]
        name, *keys, column, digits = match[1].split(" / ")
        frame = tables[name] if name in tables else pd.read_csv(folder / f"{name}.csv")
        for key in keys:
            label, equals, value = key.partition("=")
            cells, value = (frame[[label]], value) if equals and label in frame else (frame, key)
            frame = frame[cells.astype(str).eq(value).any(axis=1)]
        if len(frame) != 1:
            raise SystemExit(f"page.md: {len(frame)} rows fit {match[1]}")
        return _shown(frame, column, digits)

    return re.sub(r"\{\{(.*?)\}\}", cell, page)


def _shown(frame: pd.DataFrame, column: str, digits: str) -> str:
    """A cell of the only row, with the ends of its interval if the format asks for them."""
    value = frame[column].item()
    if digits == "text":
        return str(value)
    if digits not in {"interval", "compared"}:
        return format(float(value), digits).replace("-", "−")
    low, high = (frame[f"{column}, {end}"].item() for end in ("low", "high"))
    if digits == "interval":
        return f"{value:.2f} ({low:.2f}–{high:.2f})"
    if low <= 0 <= high:
        return f"not different ({value:+.3f}, {low:+.3f} to {high:+.3f})".replace("-", "−")
    near, far = sorted((abs(low), abs(high)))
    return f"{'better' if low > 0 else 'worse'} by {abs(value):.3f} ({near:.3f}–{far:.3f})"
