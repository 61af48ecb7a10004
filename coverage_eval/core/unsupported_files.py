"""Files that are refused: data of programs, and documents of markup, which mean nothing as lines.

A file is known by its content, whatever its name. Text whose lines are no sentences is read, and a
check names it (:mod:`coverage_eval.core.forms`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

from coverage_eval.core.forms import WMT_SEGMENTS, conversion_command

Refusal: TypeAlias = "tuple[str, str]"
"""What a file is, with what to do, and the line to type; empty if there is none."""

_FROM_UTF_16 = "iconv -f {} -t UTF-8 FILE > STEM.utf8"
_MAGIC: Mapping[bytes, Refusal] = {
    b"\x1f\x8b": ("a gzip file; give it a name that ends in .gz", ""),
    b"\x28\xb5\x2f\xfd": ("a zstd file; give it a name that ends in .zst", ""),
    b"BZh": ("a bzip2 file; unpack it", "bunzip2 -k FILE"),
    b"\xfd7zXZ": ("an xz file; unpack it", "unxz -k FILE"),
    b"PAR1": ("a Parquet file; give it a name that ends in .parquet, and name a column of it", ""),
    b"%PDF-": ("a PDF file; save its text as UTF-8, one segment per line", ""),
    b"\xff\xfe": ("UTF-16 text; convert it", _FROM_UTF_16.format("UTF-16")),
    b"\xfe\xff": ("UTF-16 text; convert it", _FROM_UTF_16.format("UTF-16")),
    b"{\\rtf": ("a file of rich text; save it as plain text in UTF-8", ""),
}
"""First bytes of files that are not text."""

_ZIPPED: Mapping[str, Refusal] = {
    "xl/workbook.xml": (
        "a spreadsheet of Excel; convert it",
        "python -c \"import pandas as pd; pd.read_excel('FILE', dtype=str, keep_default_na=False)"
        ".to_csv('STEM.csv', index=False)\"",
    ),
    "word/document.xml": ("a Word file; save it as plain text in UTF-8", ""),
    "content.xml": ("an OpenDocument file; save it as .csv, or as plain text in UTF-8", ""),
    "forward.params": ("a model of words' translations; it goes with --model", ""),
}
"""Ends of members that tell what a zip archive is."""

_PARSE = (
    'python -c "import sys; from xml.etree import ElementTree as E; t = E.parse(sys.argv[1]); '
    "[setattr(e, 'text', '') for e in t.iter() if e.tag.rpartition('}')[2] in "
    "('bpt', 'ept', 'ph', 'it', 'ut')]; "
)
"""Codes of the original format, such as its tags, are written inside these elements."""
_TEXT = "(' '.join(''.join(e.itertext()).split()) if e is not None else '')"
_MARKUP: Mapping[str, Refusal] = {
    "tmx": (
        "a translation memory (TMX); make a table of the first two languages of each unit",
        f"{_PARSE}print(*('\\t'.join({_TEXT} for e in u.findall('.//{{*}}seg')[:2]) "
        "for u in t.findall('.//{*}tu')), sep='\\n')\" FILE > STEM.tsv",
    ),
    "xliff": (
        "a file of XLIFF; make a table of source and target",
        f"{_PARSE}print(*('\\t'.join({_TEXT} for e in (u.find('{{*}}source'),"
        " u.find('{*}target'))) for u in t.findall('.//{*}trans-unit') + "
        "t.findall('.//{*}segment')), sep='\\n')\" FILE > STEM.tsv",
    ),
    **dict.fromkeys(
        ("refset", "srcset", "tstset", "mteval", "dataset"),
        ("a file of WMT's test sets; write its segments as lines", WMT_SEGMENTS),
    ),
    "html": ("a web page; save its text, one segment per line", ""),
    "?xml": ("a file of XML; write one segment per line, without tags", ""),
}
"""The elements that begin documents of markup."""

_DOCUMENT = re.compile(
    rf"\s*<(\?xml|!doctype|{'|'.join(name for name in _MARKUP if name.isalpha())})\b"
    r"[^<>]*(\Z|>\s*(<|\n|\Z))",
    re.IGNORECASE,
)
"""The beginning of a document: behind its first tag stands another one, or nothing in its line. A
sentence may begin with a tag, too."""


def identify_file(beginning: bytes, path: object) -> str | None:
    """What a file is that is no text of lines, with what to type; None if it may be text.

    Args:
        beginning: Its first bytes.
        path: Its name.
    """
    found = next((item for magic, item in _MAGIC.items() if beginning.startswith(magic)), None)
    if beginning.startswith(b"PK\x03\x04"):
        found = _zipped(path)
    zeros = [beginning[side:1000:2].count(0) for side in (0, 1)]
    if not found and sum(zeros) > len(beginning[:1000]) / 4:
        encoding = "UTF-16LE" if zeros[1] > zeros[0] else "UTF-16BE"
        found = ("data of a program, no text", "")
        if 4 * min(zeros) < max(zeros):
            found = ("UTF-16 text; convert it", _FROM_UTF_16.format(encoding))
    encoding = "utf-16" if beginning.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    text = beginning[:4096].decode(encoding, "replace")
    if _DOCUMENT.match(text):
        elements = re.findall(r"<(?:!DOCTYPE\s+)?(\w+)", text, re.IGNORECASE)
        found = next(_MARKUP[n] for n in (*map(str.lower, elements), "?xml") if n in _MARKUP)
    if not found:
        return None
    what, command = found
    command = conversion_command(command, path)
    return f"{what}: {command}" if command else what


def _zipped(path: object) -> Refusal:
    from zipfile import BadZipFile, ZipFile  # slow to import

    try:
        with ZipFile(str(path)) as file:
            members = file.namelist()
    except (BadZipFile, OSError):  # damaged, or a pipe
        members = []
    found = (item for end, item in _ZIPPED.items() if any(m.endswith(end) for m in members))
    return next(found, ("a zip archive; unpack it, and name a file of it", ""))
