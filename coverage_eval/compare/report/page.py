"""One HTML report: its values, and the file made from them, which needs no network or server."""

from __future__ import annotations

import base64
import gzip
import html
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from coverage_eval.compare.report.document_view import ViewedDocument
from coverage_eval.compare.report.templates import make_environment, render_page
from coverage_eval.compare.verdict import ComparisonVerdict
from coverage_eval.core.files import atomic_write
from coverage_eval.core.show.table import (
    SYSTEM_COLOURS,
    Table,
    cell_lines,
    notes_with_marks,
    survey,
)

_DIGITS = 2


@dataclass(frozen=True)
class ErrorList:
    """A table of errors; each row leads to its segments.

    Attributes:
        table: The table; one of its columns is ``system``.
        entry: The column with the links to segments.
        links: For each row, the URL's fragment, without ``#``, that shows the segments it counts;
            empty if there are none.
        folded: Whether the page shows the table only on demand.
    """

    table: Table
    entry: str
    links: Sequence[str]
    folded: bool = False


MarkedWords = Sequence[tuple[str, str, str]]
"""Phrases, each with its kind of mark, such as ``dropped`` or nothing, and the space behind it."""


@dataclass(frozen=True)
class CardSegment:
    """One of the worst segments of a system, as its card shows it.

    Attributes:
        number: Its number, from 1.
        link: The URL's fragment, without ``#``, that shows it.
        score: The metric and score that make it one of the worst.
        source: The source or part of it, with dropped words marked; empty if it is not known.
        output: The output or part of it, with repeated words marked.
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
        is_baseline: Whether it is the baseline.
        worst: The segments that show its errors best.
        odd: Numbers of the segments whose outputs are broken, by what they are, such as ``empty``.
    """

    name: str
    is_baseline: bool
    worst: Sequence[CardSegment]
    odd: Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class Topic:
    """A heading with paragraphs on how something was measured.

    Attributes:
        heading: The heading.
        paragraphs: Text that wraps.
        lines: Text to show verbatim, such as a signature or a command.
    """

    heading: str
    paragraphs: Sequence[str] = ()
    lines: Sequence[str] = ()


@dataclass(frozen=True)
class Document:
    """One report.

    Attributes:
        title: Its title.
        verdict: Which system to take; its first sentence is the headline.
        cards: The systems at a glance.
        scores: The table of scores.
        question: What the lists answer.
        lists: The commonest errors.
        documents: By system, its documents if they were cut.
        documents_notice: Which documents are left out; empty for none.
        topics: How it was measured.
        notice: What the report leaves out; empty for nothing.
        blocks: Data for the script, by name.
    """

    title: str
    verdict: ComparisonVerdict
    cards: Sequence[SystemCard]
    scores: Table
    question: str
    lists: Sequence[ErrorList]
    documents: Mapping[str, Sequence[ViewedDocument]]
    documents_notice: str
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

    The template escapes all text. Compressed data keep the texts of a corpus out of the page's
    code, and the script only ever inserts them as text.
    """
    environment = make_environment()
    environment.filters["lines"] = partial(cell_lines, digits=_DIGITS)
    numeric: dict[int, list[bool]] = {}

    def is_numeric(column: int, table: Table) -> bool:
        # The template asks for each cell, so each table is looked through only once.
        if id(table) not in numeric:  # the document keeps the table, and so its id
            numeric[id(table)] = [found.side == "right" for found in survey(table)]
        return numeric[id(table)][column]

    environment.tests["numeric"] = is_numeric
    environment.filters["has_any"] = lambda odd: any(odd.values())
    environment.filters["unbroken"] = _unbroken
    names = [card.name for card in document.cards]
    places = {name: place for place, name in enumerate(names)}
    environment.filters["colour"] = lambda name: places[name] % len(SYSTEM_COLOURS)
    text = render_page(
        environment,
        "report.html",
        "report.js",
        ("report.css", "verdict.css", "document_table.css"),
        document=document,
        scores_notes=notes_with_marks(document.scores, survey(document.scores)),
        blocks=_packed(document.blocks),
        names=names,
        colours=SYSTEM_COLOURS,
    )
    return Report(text)


def _unbroken(text: str) -> str:
    """A sentence whose p-values stay on one line."""
    return re.sub(r"p ([=<≤]) ", "p\u00a0\\1\u00a0", text)


def _packed(blocks: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, str]]:
    """Each block as compressed JSON in base64, which has no meaning in HTML."""
    for name, value in blocks:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        # Without a time stamp, the same input gives the same file.
        packed = gzip.compress(text.encode("utf-8", "replace"), mtime=0)
        yield name, base64.b64encode(packed).decode()
