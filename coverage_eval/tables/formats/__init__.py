"""The formats of output, one file each; a new one is a file and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from coverage_eval.tables.formats import csv, json, latex, markdown, text
from coverage_eval.tables.printout import Printout, Style

__all__ = ["FORMATS", "Format", "render", "render_lines"]


class Format(NamedTuple):
    """A format of output.

    Attributes:
        render: From what is printed to its lines, made one after the other as they are asked for.
        several: Whether the format can hold several tables.
    """

    render: Callable[[Printout, Style], Iterator[str]]
    several: bool = True


FORMATS: Mapping[str, Format] = {
    "text": Format(text.render),
    "json": Format(json.render),
    "csv": Format(csv.render, several=False),
    "latex": Format(latex.render),
    "markdown": Format(markdown.render),
}


def render(printout: Printout, output_format: str = "text", **style: Any) -> str:
    """As :func:`render_lines`, in one piece without a final line end."""
    return "\n".join(render_lines(printout, output_format, **style))


def render_lines(
    printout: Printout,
    output_format: str = "text",
    *,
    width: int = 2,
    columns: int | None = None,
    score_only: bool = False,
) -> Iterator[str]:
    """Render what a command prints, line by line.

    Numbers are rounded in the formats for people (text, LaTeX, Markdown), which leave out columns
    without any content; those for programs (CSV, JSON) have them in full.

    Args:
        printout: What is printed.
        output_format: A name of :data:`FORMATS`.
        width: Digits after the decimal point.
        columns: Width that text must fit; None for lines of any length.
        score_only: Text has nothing but the numbers, one a line.

    Raises:
        ValueError: Several tables in a format that holds one, such as CSV.
    """
    return FORMATS[output_format].render(printout, Style(width, columns, score_only))
