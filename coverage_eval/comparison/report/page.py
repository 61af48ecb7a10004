"""HTML files from templates, which need no network or server; a policy lets only our script run.

Documents are shown side by side, source and output, with gaps where lines are missing.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from coverage_eval.core.escapes import escape_controls
from coverage_eval.core.layout import cell_lines, column_alignment
from coverage_eval.core.web_page import page_style
from coverage_eval.core.writing import atomic_write
from coverage_eval.plotting import SYSTEM_COLOURS
from coverage_eval.version import __version__

if TYPE_CHECKING:
    from markupsafe import Markup

    from coverage_eval.documents.segmentation import Segmentation

_DIGITS = 2


@dataclass(frozen=True)
class Page:
    """A complete page; a notebook shows it inline.

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
        return f"<Page, {len(self.html) / 1e6:.1f} MB of HTML>"

    def _repr_html_(self) -> str:
        # Without allow-same-origin, the script in the frame cannot touch the notebook.
        return (
            '<iframe sandbox="allow-scripts allow-downloads" style="width:100%;height:48rem;'
            f'border:1px solid #888" title="Report" srcdoc="{html.escape(self.html)}"></iframe>'
        )


def render_page(template: str, script: str, styles: Sequence[str], **values: Any) -> str:
    """Fill a template with values, and with a script and styles, which are named as assets are.

    Text is escaped; a value that the template lacks is an error.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("coverage_eval.comparison.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: escape_controls(value) if type(value) is str else value,
    )
    environment.filters |= {
        "lines": lambda cell: cell_lines(cell, _DIGITS),
        "numeric": lambda table: [column_alignment(column) == "right" for column in table.traits],
        "has": lambda traits, kind: any(kind in column for column in traits),
        "css_text": _css_text,
    }
    assets = files("coverage_eval.comparison.report") / "assets"
    code = (assets / script).read_text("utf-8")
    style = page_style() + "".join((assets / name).read_text("utf-8") for name in styles)
    page = environment.get_template(template).render(
        script=Markup(code),  # noqa: S704 (ours, as are the styles)
        script_hash=base64.b64encode(hashlib.sha256(code.encode()).digest()).decode(),
        style=Markup(style),  # noqa: S704
        version=__version__,
        colours=SYSTEM_COLOURS,
        **values,
    )
    # Text from Python may hold lone surrogates, which no file can.
    return page.encode("utf-8", "replace").decode()


def _css_text(text: str) -> str:
    """Text between quotes in a style sheet; every sign is escaped."""
    return "".join(c if c.isascii() and c.isalnum() else f"\\{ord(c):x} " for c in text)


def sentence(text: str, names: Sequence[str]) -> Markup:
    """A sentence that calls systems ``⟦0⟧``, ``⟦1⟧``: their names in bold, p-values on one line."""
    from markupsafe import Markup, escape

    numbers = "|".join(map(str, range(len(names))))
    pieces = re.split(rf"⟦({numbers})⟧", re.sub(r"p ([=<≤]) ", "p\u00a0\\1\u00a0", text))
    return Markup("").join(
        Markup("<b><bdi>{}</bdi></b>").format(escape_controls(names[int(piece)]))
        if number % 2
        else escape(escape_controls(piece))
        for number, piece in enumerate(pieces)
    )


def packed(blocks: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, str]]:
    """Each block as compressed JSON in base64, which has no meaning in HTML.

    So the texts of a corpus stay out of the page's code; the script only inserts them as text.
    """
    for name, value in blocks:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        # Without a time stamp, the same input gives the same file.
        yield (
            name,
            base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), 6, mtime=0)).decode(),
        )


@dataclass(frozen=True)
class ViewedRow:
    """A source line and its translation, or text of the output that belongs to no line.

    Attributes:
        line: The number of the source line, from 1; None for text that belongs to no line.
        source: The source line; empty for such text.
        output: Its translation; empty if it is missing.
        kind: ``kept``, ``missing``, ``extra``, ``again`` or ``blank``.
        repeats: For repeated text, the line that it repeats.
    """

    line: int | None
    source: str
    output: str
    kind: str
    repeats: int | None = None


@dataclass(frozen=True)
class ViewedDocument:
    """A document.

    Attributes:
        name: Its name.
        summary: One sentence about it.
        rows: Its lines.
    """

    name: str
    summary: str
    rows: Sequence[ViewedRow]

    @classmethod
    def of(cls, document: Segmentation) -> ViewedDocument:
        """A document that was cut."""
        rows: list[ViewedRow] = []
        pieces: Iterable[Mapping[str, Any]] = document.rows()
        for piece in pieces:
            line, text, repeats = piece["line"], piece["text"], piece["repeats"]
            if line is None:
                kind = "extra" if repeats is None else "again"
            elif text:
                kind = "kept"
            else:
                kind = "missing" if document.source_words[line - 1] else "blank"
            is_first = line is not None and not (rows and rows[-1].line == line)
            source = document.source[line - 1] if is_first else ""
            rows.append(ViewedRow(line, source, text, kind, repeats))
        return cls(document.name, document.summary(), rows)

    @property
    def stops(self) -> Iterator[tuple[int, ViewedRow]]:
        """The rows that a reader goes to, with their indices: the first of neighbouring ones."""
        before = ""
        for index, row in enumerate(self.rows):
            if row.kind not in {"kept", "blank", before}:
                yield index, row
            before = row.kind


def render_documents(documents: Sequence[ViewedDocument], title: str) -> str:
    """Make a page of documents: one HTML file that needs no network.

    The template escapes all text, and the page's own policy lets only its own script run.

    Args:
        documents: The documents.
        title: The page's title.
    """
    return render_page(
        "documents.html",
        "documents.js",
        ("document_table.css", "documents.css"),
        documents=documents,
        title=title,
    )
