"""Facts as JSON, for programs."""

from __future__ import annotations

import json

from coverage_eval.tables.formats.cells import escape_json
from coverage_eval.tables.printout import Printout, Style

__all__ = ["render"]


def render(printout: Printout, _: Style) -> str:
    """Plain values, text in UTF-8 but for controls; NaN is refused rather than written."""
    text = json.dumps(printout.as_data(), ensure_ascii=False, indent=1, allow_nan=False)
    return escape_json(text)
