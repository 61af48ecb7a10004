"""Lines that are no sentences: logs, subtitles, n-best lists, two texts in a line.

They are text, so nothing is refused: a score of them means little, since time codes and numbers
count as right words, and a check says so. :data:`FORMS` is the table of all forms. What decides is
the share of a text's lines that have a form, so one odd sentence never condemns a text.
"""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Form(NamedTuple):
    """What lines of some kind look like, and how to make segments of them.

    Attributes:
        name: What the lines are.
        line: A pattern of such a line; its group ``number``, if it has one, counts lines.
        share: The smallest share of the lines with words that match: a cue of subtitles has one
            line of times in three, of numbered lines all have a number.
        advice: What to do.
        command: The line to type, which reads ``FILE`` and writes ``STEM`` with an ending.
    """

    name: str
    line: str
    share: float
    advice: str
    command: str

    def to_do(self, name: object) -> str:
        """What to do with a text of this name, and the line to type if it is a file."""
        command = conversion_command(self.command, name)
        return f"{self.advice}: {command}" if command else self.advice


_LINKS = r"\d+-\d+( \d+-\d+)*"
_WEIGHTS = r"[\d.e-]+(,[\d.e-]+)+( [\d.e-]+(,[\d.e-]+)+)*"
_FIELD = "awk -F ' [|][|][|] ?'"
_SECONDS = r"(\d+:)?\d+:\d\d[.,]\d{2,3}"
_HTML = "!DOCTYPE|html|head|body|title|meta|div|p|br|span|h[1-6]|ul|ol|li|table|tr|td|th|font|a"

# A cue ends where the next one begins, because it may have blank lines inside. What stands alone
# between a blank line and a line of times is the name of the next cue, mostly its number.
_CUES = (
    'tr -d \'\\r\' < FILE | awk \'function add(s) {text = text (text == "" || s == "" ? "" : '
    '" ") s} /^NOTE/ && blank {note = 1} NF == 0 {blank = 1; note = 0; next} note {next} '
    '/^[0-9:]+[.,][0-9]+( --> |,)[0-9]/ {if (on) print text; on = 1; text = held = ""; '
    'blank = 0; next} {add(held); held = ""; if (blank) held = $0; else add($0); blank = 0} '
    "END {add(held); if (on) print text}' > STEM.txt"
)
_MESSAGES = (
    'python -c \'import ast, re, sys; print(*(" ".join("".join(map(ast.literal_eval, '
    're.findall(r"\\x22.*\\x22", s))).split()) for s in re.findall(r"(?m)^msgstr(?:\\[0\\])? '
    '((?:\\x22.*\\x22\\s*)+)", sys.stdin.read())[1:]), sep="\\n")\' < FILE > STEM.txt'
)
WMT_SEGMENTS = (
    "python -c \"import html, re, sys; print(*(html.unescape(' '.join(s.split())) for s in "
    "re.findall(r'(?s)<seg\\b[^>]*>(.*?)</seg>', sys.stdin.read())), sep='\\n')\" < FILE > STEM.txt"
)

FORMS = (
    Form(
        "fairseq's log",
        r"[STHDPAE]-\d+\t.*",
        0.5,
        "write its outputs in order",
        "(grep '^D-' FILE || grep '^H-' FILE) | cut -c3- | sort -s -n -u -k1,1 | cut -f3 "
        "> STEM.hyp",
    ),
    Form(
        "OpenNMT's log",
        r"(\[.*\] ?)?(SENT|PRED|GOLD)( AVG)?( \d+| SCORE): .*",
        0.3,
        "write its outputs",
        "sed -n 's/^.*PRED [0-9]*: //p' FILE > STEM.hyp",
    ),
    Form(
        "an n-best list",
        r"\d+ \|\|\| .* \|\|\| .*",
        0.9,
        "write the first text of each segment",
        f"{_FIELD} '!seen[$1]++ {{print $2}}' FILE > STEM.hyp",
    ),
    Form(
        "text with a score before it",
        r"-?\d+\.\d+ \|\|\| .*",
        0.9,
        "write the text alone",
        f"{_FIELD} '{{print $2}}' FILE > STEM.hyp",
    ),
    Form(
        "text with its alignment behind it",
        rf".* \|\|\| ?({_LINKS}|{_WEIGHTS})?(\t.*)?",
        0.9,
        "write the text alone",
        f"{_FIELD} '{{print $1}}' FILE > STEM.hyp",
    ),
    Form(
        "two texts with ' ||| ' between them",
        r".* \|\|\| .*",
        0.9,
        "write each",
        f"{_FIELD} '{{print $1}}' FILE > STEM.1; {_FIELD} '{{print $2}}' FILE > STEM.2",
    ),
    Form(
        "texts with tabs between them",
        r"\s*[^\s][^\t]*\t\s*\S.*",
        0.9,
        "write each",
        "cut -f1 FILE > STEM.1; cut -f2 FILE > STEM.2",
    ),
    Form(
        "subtitles",
        rf"{_SECONDS}( --> |,)({_SECONDS})\b.*",
        0.15,
        "write the text of each",
        _CUES,
    ),
    Form(
        "subtitles as Whisper prints them",
        rf"\[{_SECONDS} --> {_SECONDS}\].*",
        0.5,
        "write the text of each",
        "sed -n -E 's/^\\[[0-9:.,]+ --> [0-9:.,]+\\][[:space:]]*//p' FILE > STEM.txt",
    ),
    Form(
        "subtitles (SubStation Alpha)",
        r"(Dialogue|Comment): [^,]*,\d+:\d\d:\d\d.*",
        0.3,
        "write the text of each",
        "sed -n -E 's/^Dialogue:([^,]*,){9}//p' FILE | sed -E 's/\\{[^}]*\\}//g; s/\\\\[Nnh]/ /g' "
        "> STEM.txt",
    ),
    Form(
        "subtitles (MicroDVD)",
        r"\{\d+\}\{\d*\}.*",
        0.5,
        "write the text of each",
        "sed -n -E 's/^\\{[0-9]+\\}\\{[0-9]*\\}//p' FILE | sed -E 's/\\{[^}]*\\}//g; s/[|]/ /g' "
        "> STEM.txt",
    ),
    Form(
        "lyrics with times (LRC)",
        r"(\[\d+:\d\d([.:]\d+)?\])+.*",
        0.5,
        "write the text of each",
        "sed -n -E 's/^(\\[[0-9]+:[0-9.:]+\\])+ *//p' FILE > STEM.txt",
    ),
    Form(
        "messages of gettext (PO)",
        r'(msgid|msgid_plural|msgctxt|msgstr(\[\d\])?) ".*"',
        0.3,
        "write the translation of each",
        _MESSAGES,
    ),
    Form("WMT's markup", r"\s*<seg\b[^<>]*>.*", 0.3, "write the segments as lines", WMT_SEGMENTS),
    Form(
        "HTML",
        rf"(?i)\s*</?({_HTML})\b[^<>]*>.*",
        0.5,
        "strip the tags",
        "sed -E 's/<[^<>]*>//g' FILE > STEM.txt",
    ),
    Form(
        "numbered lines",
        r"[\[({#]*(?P<number>\d{1,9})(?!\d).*\w.*",
        0.9,
        "strip the numbers",
        "sed -E 's/^[[({#]*[0-9]+[])}.:]*[[:space:]]*//' FILE > STEM.txt",
    ),
)
"""All forms; the first that fits is told, so the narrower ones stand first."""

MIN_LINES = 2
"""Lines of a form that a text must have: a single one may be a sentence about the form."""


def identify_form(lines: Sequence[str], numbers: Sequence[int] = ()) -> Form | None:
    """The form that lines have if they are no sentences; None if they may be.

    >>> form = identify_form(["[00:01.00]hello", "[00:02.00]you", "", "[00:04.50]and I"])
    >>> form and form.name
    'lyrics with times (LRC)'
    >>> identify_form(["SENT 1: hello", "a house", "a dog", "a cat"]) is None
    True

    Args:
        lines: Some lines of a text.
        numbers: The number of each in the whole text; by default they are its first lines.
    """
    numbers = numbers or range(1, len(lines) + 1)
    numbered = [item for item in zip(numbers, lines, strict=True) if item[1].strip()]
    for form in FORMS:
        needed = max(MIN_LINES, form.share * len(numbered))
        match = re.compile(form.line).fullmatch
        found = [(n, matched) for n, line in numbered if (matched := match(line))]
        if "(?P<number>" in form.line:  # they count if most are as far from the lines' own numbers
            distances = Counter(int(matched["number"]) - n for n, matched in found)
            if max(distances.values(), default=0) < needed:
                continue
        if len(found) >= needed:
            return form
    return None


def conversion_command(command: str, name: object) -> str:
    """A line to type with the name of a user's file in it; empty if there is no such plain file.

    >>> conversion_command("cut -f1 FILE > STEM.1", "standard input")
    ''

    Args:
        command: The line, with ``FILE`` for the name and ``STEM`` for the name without ending.
        name: What messages call a text: a file, or a column, standard input, a list.
    """
    file = str(name)
    if not os.path.isfile(file) or file.endswith((".gz", ".zst")):  # noqa: PTH113
        return ""
    stem = file.removesuffix("".join(Path(file).suffixes[-1:]))

    def fill_in(found: re.Match[str]) -> str:
        quote, word, ending = found.groups()
        filled = f"{file if word == 'FILE' else stem}{ending}"
        if word == "STEM" and os.path.exists(filled):  # noqa: PTH110 (what is there stays)
            filled = f"{stem}.new{ending}"
        return repr(filled) if quote else shlex.quote(filled)

    return re.sub(r"('?)\b(FILE|STEM)\b((?:\.\w+)?)\1", fill_in, command)
