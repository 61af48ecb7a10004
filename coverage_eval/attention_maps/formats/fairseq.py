"""fairseq ``--print-alignment``: the lines ``A-<id>`` of its log, soft or hard.

Soft: rows separated by spaces, cells by commas, (M + 1) × (N + 1) with both EOS. Hard: ``0-0 1-1``,
source-target, padding and EOS removed. Releases before 0.9 print one source index per target token,
EOS included (facebookresearch/fairseq#3494). Lines are in batch order, so they are sorted by id.
Tokens come from the lines ``S-`` and ``H-`` if these still have subwords.
Source: facebookresearch/fairseq, fairseq/utils.py and fairseq_cli/generate.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from coverage_eval.attention_maps.dumps import (
    Dump,
    DumpFormat,
    Layout,
    RawMap,
    ReadOptions,
    parse_integer,
    parse_links,
    parse_rows,
    shown,
    tokens_of,
)
from coverage_eval.core.errors import DataError

_LINE = re.compile(r"(?:^|\s)([ASH])-(\d{1,9})\t(.*)$", re.ASCII)
_HARD = re.compile(r"\d+-\d+")


def _recognise(dump: Dump) -> bool:
    return any(re.match(r"A-\d+\t", line) for line in dump.probe)


def _read(dump: Dump, _: ReadOptions) -> Iterator[RawMap]:
    found: dict[str, dict[int, tuple[str, str]]] = {"A": {}, "S": {}, "H": {}}
    for where, line in dump.places:
        if match := _LINE.match(line):
            kind, identity, content = match.groups()
            # An n-best list repeats the id, with the best first.
            found[kind].setdefault(int(identity), (where, content))
    alignments = found["A"]
    missing = set(range(len(alignments))) - alignments.keys()
    if missing:
        raise DataError(
            f"{dump.name}: no line A-{min(missing)}, but there is A-{max(alignments)}; "
            "leave out the segments that fairseq skipped, and renumber the rest"
        )
    for identity, (where, content) in sorted(alignments.items()):
        source = tokens_of(found["S"][identity][1]) if identity in found["S"] else None
        scored = found["H"].get(identity)  # with its score before a tab
        hypothesis = tokens_of(scored[1].partition("\t")[2]) if scored else None
        yield _segment(where, content.strip(), source, hypothesis)


def _segment(
    where: str, content: str, source: tuple[str, ...] | None, hypothesis: tuple[str, ...] | None
) -> RawMap:
    items = content.split()
    if not items or _HARD.fullmatch(items[0]):
        return RawMap(
            where, links=parse_links(content, where), source=source, hypothesis=hypothesis
        )
    if "." in items[0] or "," in items[0]:
        matrix = parse_rows([item.split(",") for item in items], where)
        return RawMap(
            where,
            matrix=matrix,
            source=_fitting(source, matrix.shape[1]),
            hypothesis=_fitting(hypothesis, matrix.shape[0]),
        )
    if not items[0].isdecimal():
        raise DataError(f"{where}: {shown(items[0])} is neither a link nor a row of weights")
    links = [(parse_integer(item, where), target) for target, item in enumerate(items)]
    if hypothesis is None:
        hypothesis = tuple(str(n) for n in range(1, len(items)))  # one token per row
    return RawMap(where, links=links, source=source, hypothesis=hypothesis, links_to_eos=True)


def _fitting(tokens: tuple[str, ...] | None, size: int) -> tuple[str, ...] | None:
    """The log's tokens, unless --remove-bpe has joined them so that they no longer fit."""
    return tokens if tokens is not None and len(tokens) + 1 == size else None


FORMATS = (
    DumpFormat(
        "fairseq",
        "fairseq --print-alignment",
        _recognise,
        _read,
        Layout(tgt_eos=True, src_eos=True),
    ),
)
