"""Files that are no text of segments: what they are, told by how they begin, and what to type.

A file is known by its content, whatever its name. Lines with ``|||`` or the marks of a toolkit's
log are text to a reader of lines, and only wrong where segments are expected.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

_MAGIC = {
    b"\x1f\x8b": "a gzip file; give it a name that ends in .gz",
    b"\x28\xb5\x2f\xfd": "a zstd file; give it a name that ends in .zst",
    b"BZh": "a bzip2 file; unpack it: bunzip2 -k FILE",
    b"\xfd7zXZ": "an xz file; unpack it: unxz -k FILE",
    b"PAR1": "a Parquet file; give it a name that ends in .parquet, and name a column: FILE:COLUMN",
    b"%PDF-": "a PDF file; save its text as UTF-8, one segment per line",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file; save it as .csv or as plain text in UTF-8",
    b"\xff\xfe": "UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8 FILE > STEM.utf8",
    b"\xfe\xff": "UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8 FILE > STEM.utf8",
    b"{\\rtf": "a file of rich text; save it as plain text in UTF-8",
    b"\x93NUMPY": "a file of NumPy arrays, no text",
    **dict.fromkeys(
        (b"\x80\x02", b"\x80\x03", b"\x80\x04\x95", b"\x80\x05\x95"),
        "a pickle of Python, which can run any program; save what it holds as text",
    ),
    b"SQLite format 3": "a database; write its texts as a table, such as .csv",
}
"""First bytes of files that are not text, and what to do with such a file."""

_ZIPPED = {
    "xl/workbook.xml": 'a spreadsheet of Excel; convert it: python -c "import pandas as pd; '
    "pd.read_excel('FILE', dtype=str, keep_default_na=False).to_csv('STEM.csv', index=False)\"",
    "word/document.xml": "a Word file; save it as plain text in UTF-8",
    "content.xml": "an OpenDocument file; save it as .csv, or as plain text in UTF-8",
    "forward.params": "a model of words' translations; it goes with --model",
    ".npy": "a file of NumPy arrays, no text",
    "/data.pkl": "a file of PyTorch, no text",
}
"""Ends of members that tell what a zip archive is, and what to do with such a file."""

_SEGMENTS = (
    "a file of WMT's test sets; write its segments as lines: python -c \"import html, re, sys; "
    "print(*(html.unescape(' '.join(s.split())) for s in re.findall(r'(?s)<seg\\b[^>]*>(.*?)</seg>'"
    ", sys.stdin.read())), sep='\\n')\" < FILE > STEM.txt"
)

_PARSE = (
    'python -c "import sys; from xml.etree import ElementTree as E; t = E.parse(sys.argv[1]); '
    "[setattr(e, 'text', '') for e in t.iter() if e.tag.rpartition('}')[2] in "
    "('bpt', 'ept', 'ph', 'it', 'ut')]; "
)
"""Codes of the original format, such as its tags, are written inside these elements."""
_TEXT = "(' '.join(''.join(e.itertext()).split()) if e is not None else '')"
_MARKUP = {
    "tmx": "a translation memory (TMX); make a table of it, with the first two languages of each "
    f"unit as columns: {_PARSE}print(*('\\t'.join({_TEXT} for e in u.findall('.//{{*}}seg')[:2]) "
    "for u in t.findall('.//{*}tu')), sep='\\n')\" FILE > STEM.tsv; then name "
    "STEM.tsv:1 and STEM.tsv:2",
    "xliff": "a file of XLIFF; make a table of source and target: "
    f"{_PARSE}print(*('\\t'.join({_TEXT} for e in (u.find('{{*}}source'),"
    " u.find('{*}target'))) for u in t.findall('.//{*}trans-unit') + t.findall('.//{*}segment')), "
    "sep='\\n')\" FILE > STEM.tsv; then name STEM.tsv:1 and STEM.tsv:2",
    **dict.fromkeys(("refset", "srcset", "tstset", "mteval", "dataset", "seg"), _SEGMENTS),
    "html": "a web page; save its text, one segment per line",
    "?xml": "a file of XML; write one segment per line, without tags",
}
"""The elements that begin files of markup, and what to do with such a file."""

_LINKS = r"\d+-\d+( \d+-\d+)*"
_WEIGHTS = r"[\d.e-]+(,[\d.e-]+)+( [\d.e-]+(,[\d.e-]+)+)*"
_LINES = {
    r"[HD]-\d+\t-?[\d.einf+-]+\t.*": "fairseq's log; write its outputs in order: (grep '^D-' "
    "FILE || grep '^H-' FILE) | cut -c3- | sort -s -n -u -k1,1 | cut -f3 > STEM.hyp",
    r"(\[.*\] ?)?(SENT|PRED) \d+: .*": "OpenNMT's log; write its outputs: sed -n 's/^.*PRED "
    "[0-9]*: //p' FILE > STEM.hyp",
    r"(\d+:)?\d\d:\d\d[.,]\d{3} --> .*": "subtitles; write each as a line: tr -d '\\r' < FILE "
    '| awk \'/-->/ {on = 1; text = ""; next} NF == 0 {if (on) print text; on = 0} on {text = text '
    '(text ? " " : "") $0} END {if (on) print text}\' > STEM.txt',
    r'msgid ".*"': "messages of gettext (PO); write one segment per line",
}
"""Lines of logs and the like, at least one of which tells, and what to do."""

_FIELDS = {
    r"\d+ \|\|\| .* \|\|\| .*": "an n-best list; write the first text of each segment: awk -F "
    "' [|][|][|] ' '!seen[$1]++ {print $2}' FILE > STEM.hyp",
    r"-?\d+\.\d+ \|\|\| .*": "text with a score before it; write the text alone: awk -F "
    "' [|][|][|] ' '{print $2}' FILE > STEM.hyp",
    rf".* \|\|\| ?({_LINKS}|{_WEIGHTS})?(\t.*)?": "text with its alignment behind it; write the "
    "text alone: awk -F ' [|][|][|]' '{print $1}' FILE > STEM.hyp",
    r".* \|\|\| .*": "lines of two texts with ' ||| ' between them, as aligners read; write each: "
    "awk -F ' [|][|][|] ' '{print $1}' FILE > STEM.1; awk -F ' [|][|][|] ' '{print $2}' FILE > "
    "STEM.2",
}
"""Forms of lines that all have ``|||``, and what to do."""


def identify_file(beginning: bytes, path: object) -> str | None:
    """What a file is that is no text of lines, with what to type; None if it may be text.

    Args:
        beginning: Its first bytes.
        path: Its name.
    """
    advice = next((text for magic, text in _MAGIC.items() if beginning.startswith(magic)), None)
    if beginning.startswith(b"PK\x03\x04"):
        advice = _zipped(beginning, path)
    zeros = [beginning[side:1000:2].count(0) for side in (0, 1)]
    if sum(zeros) > len(beginning[:1000]) / 4:
        encoding = "UTF-16LE" if zeros[1] > zeros[0] else "UTF-16BE"
        text = f"UTF-16 text; convert it: iconv -f {encoding} -t UTF-8 FILE > STEM.utf8"
        advice = advice or (text if 4 * min(zeros) < max(zeros) else "data of a program, no text")
    encoding = "utf-16" if beginning.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    text = beginning[:4096].decode(encoding, "replace")
    if found := re.match(r"\s*<([!?]?[A-Za-z]+)", text):
        advice = _markup(text, found[1].lower()) or advice
    return advice and _for_file(advice, path)


def _zipped(beginning: bytes, path: object) -> str:
    from zipfile import BadZipFile, ZipFile  # slow to import

    try:
        with ZipFile(Path(str(path)) if Path(str(path)).is_file() else BytesIO(beginning)) as file:
            members = set(file.namelist())
    except (BadZipFile, OSError):
        members = set()
    ends = (advice for end, advice in _ZIPPED.items() if any(m.endswith(end) for m in members))
    other = "a zip archive; unpack it, and name a file of it"
    if Path(str(path)).suffix.lower() == ".xlsx":  # damaged, or written by another program
        other = _ZIPPED["xl/workbook.xml"]
    return next(ends, other)


def _markup(beginning: str, first: str) -> str | None:
    """What a file that begins with a tag is; a text may begin with one, too."""
    if first not in {"?xml", "!doctype", *_MARKUP}:
        return None
    elements = re.findall(r"<(?:!DOCTYPE\s+)?(\w+)", beginning, re.IGNORECASE)
    return next(_MARKUP[name.lower()] for name in (*elements, "?xml") if name.lower() in _MARKUP)


def identify_lines(lines: Sequence[str], path: object) -> str | None:
    """What the first lines of a file are if they are no segments; None if they may be."""
    lines = [line for line in lines if line.strip()]
    for form, advice in _LINES.items():
        if any(re.fullmatch(form, line) for line in lines):
            return _for_file(advice, path)
    if not lines or not all("|||" in line for line in lines):
        return None
    for form, advice in _FIELDS.items():
        if all(re.fullmatch(form, line) for line in lines):
            return _for_file(advice, path)
    return None


def _for_file(advice: str, path: object) -> str:
    """Advice with the name of the file in the lines to type."""
    name = str(path)
    if name == "-":
        return advice
    stem = name.removesuffix("".join(Path(name).suffixes[-1:]))
    quoted = {"FILE": shlex.quote(name), "STEM": shlex.quote(stem)}
    advice = advice.replace("'FILE'", repr(name)).replace("'STEM.csv'", repr(f"{stem}.csv"))
    return re.sub(r"\b(FILE|STEM)\b", lambda found: quoted[found[0]], advice)
