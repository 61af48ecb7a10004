"""A report's values put into its template: one file that needs no network and no server."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Any

from coverage_eval.data.files import atomic_write
from coverage_eval.html_report.document import Document
from coverage_eval.tables.formats.cells import cell_lines, escape_controls, notes_with_mark, survey
from coverage_eval.version import __version__

_DIGITS = 2


@dataclass(frozen=True)
class Report:
    """A report, complete; a notebook shows it inline.

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
    """Put a report together.

    All text is escaped by the template; the data are compressed, so that no text of a corpus is
    ever part of the page's code, and the script puts it on the page as text alone.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("coverage_eval.html_report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["lines"] = partial(cell_lines, digits=_DIGITS)
    environment.tests["numeric"] = lambda i, table: survey(table)[i].side == "right"
    script = _asset("report.js")
    text = environment.get_template("report.html").render(
        document=document,
        scores_notes=notes_with_mark(document.scores, survey(document.scores), "*: best figure."),
        blocks=_packed(document.blocks),
        script=script,
        script_hash=_hash(script),
        style=_asset("report.css"),
        version=__version__,
    )
    # Text from Python may hold lone surrogates, which no file can.
    return Report(text.encode("utf-8", "replace").decode("utf-8"))


def _visible(value: Any) -> Any:
    """Text to be read, without control characters; names of blocks are marked as safe before."""
    return escape_controls(value) if type(value) is str else value


def _asset(name: str) -> str:
    return (files("coverage_eval.html_report") / "assets" / name).read_text("utf-8")


def _hash(script: str) -> str:
    """The hash by which the page's own policy lets this script run, and no other."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _packed(blocks: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, str]]:
    """Each block as JSON, compressed, in letters that mean nothing to HTML."""
    for name, value in blocks:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        # Without the time, the same input gives the same file.
        packed = gzip.compress(text.encode("utf-8", "replace"), mtime=0)
        yield name, base64.b64encode(packed).decode()
