"""Facts as JSON, for programs."""

from __future__ import annotations

import json

from coverage_eval.tables.printout import Printout, Style

__all__ = ["render"]


def render(printout: Printout, _: Style) -> str:
    """Plain values, text in UTF-8 as it is; NaN is refused rather than written."""
    return json.dumps(printout.as_data(), ensure_ascii=False, indent=1, allow_nan=False)
