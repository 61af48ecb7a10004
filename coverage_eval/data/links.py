"""Checks of links that were made elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from coverage_eval.data.findings import Finding

if TYPE_CHECKING:  # importing the aligner takes longer than the checks
    from coverage_eval.alignment.link_files import LinkColumn


def check_given_links(columns: Iterable[LinkColumn]) -> Iterator[Finding]:
    """Look for texts without a single link, all of whose words would count as not covered."""
    for column in columns:
        if column.is_blank:
            yield Finding(
                "no-links", f"{column.name}: no line has a link; is it the file that was meant?"
            )
