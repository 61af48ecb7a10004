"""My toolkit's log: lines ``ATTN``, rows separated by semicolons, cells by commas, without EOS.

Source: where the toolkit's own code writes it.

The example of a loader on the page on extending; ``tests/test_extending.py`` adds it.
"""

from __future__ import annotations

from collections.abc import Iterator

from coverage_eval.attention_maps.dumps import Dump, DumpFormat, RawMap
from coverage_eval.attention_maps.toolkits import parse_rows

_START = "ATTN "


def _recognise(dump: Dump) -> bool:
    return any(line.startswith(_START) for line in dump.probe)


def _read(dump: Dump) -> Iterator[RawMap]:
    for where, line in dump.lines:
        if line.startswith(_START):
            rows = [row.split(",") for row in line.removeprefix(_START).split(";")]
            yield RawMap(where, parse_rows(rows, where), tgt_eos=False)


MY_FORMATS = (DumpFormat("mytoolkit", "my toolkit's log", _recognise, _read),)
