"""Hard links as word aligners write them, read as maps of zeros and ones.

Pharaoh (``i-j``), Talp (``ipj`` possible), NAACL/WPT and GIZA A3, read by
:mod:`coverage_eval.alignment.gold_links`. Possible links count as links. The texts give the sizes.
"""

from __future__ import annotations

import re

from coverage_eval.alignment.gold_links import read_gold
from coverage_eval.attention_maps.dumps import Dump, DumpFormat, RawMap, ReadOptions
from coverage_eval.errors import DataError

_TALP_LINE = re.compile(r"\s*(?:\*?\d+[-p?]\d+)(?:\s+\*?\d+[-p?]\d+)*\s*", re.ASCII)
_NAACL_LINE = re.compile(r"\s*\d+\s+\d+\s+\d+(?:\s+[SP])?(?:\s+[0-9.eE+-]+)?\s*", re.ASCII)


def _recognise(dump: Dump) -> bool:
    lines = dump.sample
    if lines and lines[0].startswith("# Sentence pair ("):
        return True
    return bool(lines) and any(
        all(form.fullmatch(line) for line in lines) for form in (_TALP_LINE, _NAACL_LINE)
    )


def _read(dump: Dump, _: ReadOptions) -> list[RawMap]:
    try:
        golds = list(read_gold(dump.path))
    except DataError as error:
        message = "".join(c if c.isprintable() else "?" for c in str(error))
        raise DataError(message) from error
    return [
        RawMap(f"{dump.name}: segment {number}", links=list(gold.possible))
        for number, gold in enumerate(golds, start=1)
    ]


FORMATS = (
    DumpFormat("links", "word aligners: Pharaoh, Talp, NAACL or GIZA A3 links", _recognise, _read),
)
