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
    key ``LABEL=VALUE`` is looked for in the column LABEL only. FORMAT is Python's, or ``text``.

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
        value = frame[column].item()
        return str(value) if digits == "text" else format(float(value), digits).replace("-", "−")

    return re.sub(r"\{\{(.*?)\}\}", cell, page)
