"""One HTML report: its values, and the file made of them, which needs no network and no server."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Any

from coverage_eval.data.files import atomic_write
from coverage_eval.tables.table import (
    SYSTEM_COLOURS,
    ScoreCell,
    Table,
    cell_lines,
    escape_controls,
    notes_with_marks,
    survey,
)
from coverage_eval.version import __version__

_DIGITS = 2


@dataclass(frozen=True)
class ReportBreakdown:
    """A table of errors; each row leads to its segments.

    Attributes:
        table: The table; one of its columns is ``system``.
        entry: The column whose cells lead to segments.
        links: For each row, the view of the segments it counts, as the URL's fragment without
            ``#``; empty if there are none.
        measures: The columns that charts show; none for a list of words, which has no chart.
        folded: Whether the page shows the table only on demand.
        wide: Whether it takes the page's whole width.
    """

    table: Table
    entry: str
    links: Sequence[str]
    measures: Sequence[str] = ()
    folded: bool = False
    wide: bool = False


MarkedWords = Sequence[tuple[str, str]]
"""Words, each with the kind of its mark, such as ``dropped``; empty for none."""


@dataclass(frozen=True)
class CardSegment:
    """One of the worst segments of a system, as its card shows it.

    Attributes:
        number: Its number, from 1.
        link: Its view, as the URL's fragment without ``#``.
        score: The metric and the score by which it is among the worst.
        source: The source, or part of it, with what the output drops; empty if it is not known.
        output: The output, or part of it, with what it repeats.
    """

    number: int
    link: str
    score: str
    source: MarkedWords
    output: MarkedWords


@dataclass(frozen=True)
class SystemCard:
    """One system at a glance.

    Attributes:
        name: Its name.
        is_baseline: Whether the others are compared with it.
        figures: Each metric's name, its cell of the table, and what the score means in words or
            segments of 100, empty if that is not known.
        worst: Its worst segments.
    """

    name: str
    is_baseline: bool
    figures: Sequence[tuple[str, ScoreCell, str]]
    worst: Sequence[CardSegment]


@dataclass(frozen=True)
class Topic:
    """Paragraphs about how something was measured, under a heading.

    Attributes:
        heading: The heading.
        paragraphs: Text that wraps.
        lines: Text that is shown verbatim, such as a signature or a command.
    """

    heading: str
    paragraphs: Sequence[str] = ()
    lines: Sequence[str] = ()


@dataclass(frozen=True)
class Document:
    """One report.

    Attributes:
        title: Its title.
        verdict: What the scores say: a heading, the size of its differences, and for each
            sentence the system that it is about (empty for several) and its text.
        cards: The systems at a glance.
        scores: The table of scores.
        breakdowns: Tables of errors.
        agreement: Labelled errors against the marked ones; None without labels.
        topics: How it was measured.
        notice: What the report leaves out; empty if nothing.
        blocks: Names and plain values of the data for the script.
    """

    title: str
    verdict: Sequence[tuple[str, str, Sequence[tuple[str, str]]]]
    cards: Sequence[SystemCard]
    scores: Table
    breakdowns: Sequence[ReportBreakdown]
    agreement: Table | None
    topics: Sequence[Topic]
    notice: str
    blocks: Iterable[tuple[str, Any]]


@dataclass(frozen=True)
class Report:
    """A complete report; a notebook shows it inline.

    Attributes:
        html: The file's text.
    """

    html: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, complete or not at all.

        Raises:
            DataError: The folder does not exist or cannot be written to.
        """
        with atomic_write(path) as file:
            file.write(self.html)

    def __repr__(self) -> str:
        return f"<Report, {len(self.html) / 1e6:.1f} MB of HTML>"

    def _repr_html_(self) -> str:
        # Without allow-same-origin, the script in the frame cannot touch the notebook.
        return (
            '<iframe sandbox="allow-scripts allow-downloads" style="width:100%;height:48rem;'
            f'border:1px solid #888" title="Report" srcdoc="{html.escape(self.html)}"></iframe>'
        )


def render_report(document: Document) -> Report:
    """Make the report's file.

    The template escapes all text. The data are compressed, so that no text of a corpus is ever
    part of the page's code, and the script puts it on the page as text alone.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("coverage_eval.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["lines"] = partial(cell_lines, digits=_DIGITS)
    environment.tests["numeric"] = lambda i, table: survey(table)[i].side == "right"
    names = [card.name for card in document.cards]
    environment.filters["colour"] = lambda name: names.index(name) % len(SYSTEM_COLOURS)
    script = _asset("report.js")
    # The page's own policy lets the script with this hash run, and no other.
    script_hash = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = environment.get_template("report.html").render(
        document=document,
        scores_notes=notes_with_marks(document.scores, survey(document.scores)),
        blocks=_packed(document.blocks),
        script=script,
        script_hash=script_hash,
        names=names,
        colours=SYSTEM_COLOURS,
        style=_asset("report.css"),
        version=__version__,
    )
    # Text from Python may hold lone surrogates, which no file can.
    return Report(text.encode("utf-8", "replace").decode("utf-8"))


def _visible(value: Any) -> Any:
    """Escape control characters in plain text; text that is marked as safe stays as it is."""
    return escape_controls(value) if type(value) is str else value


def _asset(name: str) -> str:
    return (files("coverage_eval.report") / "assets" / name).read_text("utf-8")


def _packed(blocks: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, str]]:
    """Each block as JSON, compressed and in base64, which has no meaning in HTML."""
    for name, value in blocks:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        # Without a time stamp, the same input gives the same file.
        packed = gzip.compress(text.encode("utf-8", "replace"), mtime=0)
        yield name, base64.b64encode(packed).decode()
