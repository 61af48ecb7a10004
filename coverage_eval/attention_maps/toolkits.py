"""Text that MT toolkits print: fairseq, Marian, OpenNMT-py and Eole.

The functions that read a format describe it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from coverage_eval.attention_maps.dumps import Dump, DumpFormat, RawMap, quoted
from coverage_eval.attention_maps.maps import Weights
from coverage_eval.core.errors import DataError
from coverage_eval.core.tokenizers import tokenize
from fast_align_wrapper import AlignerDataError, links
from fast_align_wrapper.links import Link

_PROBED_LINES = 50  # of formats whose lines are all alike

_LINKS = re.compile(r"(?:\d+-\d+(?: \d+-\d+)*)?", re.ASCII)
_FIELDS = re.compile(r"(?:^| )\|\|\|(?: |$)")

_LEADING_SCORE = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?", re.ASCII)

_FAIRSEQ_LINE = re.compile(r"(?:^|\s)([ASH])-(\d{1,9})\t(.*)$", re.ASCII)
_INDICES = re.compile(r"\d{1,9}(?: \d{1,9})*", re.ASCII)

_NUMBER = r"[0-9.][0-9.eE+-]*"
_SOFT = re.compile(rf"{_NUMBER}(?:,{_NUMBER})*(?: {_NUMBER}(?:,{_NUMBER})*)*", re.ASCII)

_WIDTH = 11  # of the label and each cell of OpenNMT's tables, with the space after it
_CELL = re.compile(r" *\**\d{1,2}\.\d{7} ?", re.ASCII)
_SENTENCE = re.compile(r"(?:^|[\s\]])SENT \d+: (.*)$")
_PREDICTION = re.compile(r"(?:^|[\s\]])PRED \d+: (.*)$")
_SCORE = re.compile(r"\t-?[0-9.]+(?:e-?\d+)?\s*$", re.ASCII)


def parse_rows(rows: Sequence[Sequence[str]], where: str) -> Weights:
    """Parse rows of numbers into a matrix.

    Raises:
        DataError: A cell is not a number, or rows differ in length.
    """
    try:
        return np.array([[float(cell) for cell in row] for row in rows], dtype=np.float64)
    except ValueError as error:
        reason = quoted(str(error), 100)
        raise DataError(f"{where}: not rows of weights, all of one length ({reason})") from error


def _parse_links(text: str, where: str) -> list[Link]:
    """Parse links ``i-j`` separated by spaces into pairs (source, target) from 0."""
    try:
        return list(links.parse_links(text))
    except AlignerDataError as error:
        raise DataError(
            f"{where}: {quoted(text)} is not a list of links such as 0-0 1-2"
        ) from error


def _is_fairseq(dump: Dump) -> bool:
    return any(re.match(r"A-\d+\t", line) for line in dump.probe)


def read_fairseq(dump: Dump) -> Iterator[RawMap]:
    """fairseq ``--print-alignment``: the lines ``A-<id>`` of its log, soft or hard.

    Soft: rows separated by spaces, cells by commas, (M + 1) × (N + 1) with both EOS. Hard: ``0-0
    1-1``, source-target, padding and EOS removed. Releases before 0.9 print one source index per
    target token, EOS included (facebookresearch/fairseq#3494). Lines are in batch order, so they
    are sorted by id. Tokens come from the lines ``S-`` and ``H-`` if these still have subwords.
    Source: facebookresearch/fairseq, fairseq/utils.py and fairseq_cli/generate.py.
    """
    lines: dict[str, dict[int, tuple[str, str]]] = {"A": {}, "S": {}, "H": {}}
    for where, line in dump.lines:
        if match := _FAIRSEQ_LINE.match(line):
            kind, identity, content = match.groups()
            if kind == "H":
                content = content.partition("\t")[2]  # its score comes first
            # An n-best list repeats the id, with the best first.
            lines[kind].setdefault(int(identity), (where, content))
    alignments, sources, hypotheses = lines.values()
    first = int(0 not in alignments and 1 in alignments)  # its scripts count from 1
    missing = set(range(first, first + len(alignments))) - alignments.keys()
    if missing:
        raise DataError(
            f"{dump.name}: no line A-{min(missing)}, but there is A-{max(alignments)}; "
            "leave out the segments that fairseq skipped, and renumber the rest"
        )
    for identity, (where, content) in sorted(alignments.items()):
        source = tokenize(sources[identity][1]) if identity in sources else None
        hypothesis = tokenize(hypotheses[identity][1]) if identity in hypotheses else None
        alignment = content.strip()
        if _LINKS.fullmatch(alignment):
            yield RawMap(where, None, _parse_links(alignment, where), source, hypothesis)
        elif _INDICES.fullmatch(alignment):
            pairs = [(int(index), target) for target, index in enumerate(alignment.split())]
            if hypothesis is None:
                hypothesis = [str(number) for number in range(1, len(pairs))]  # one token per row
            yield RawMap(where, None, pairs, source, hypothesis, links_to_eos=True)
        else:
            matrix = parse_rows([row.split(",") for row in alignment.split()], where)
            # --remove-bpe joins the log's tokens, so that they no longer fit.
            source = _fitting(source, matrix.shape[1] - 1)
            hypothesis = _fitting(hypothesis, matrix.shape[0] - 1)
            yield RawMap(where, matrix, (), source, hypothesis, tgt_eos=True, src_eos=True)


def _fitting(tokens: Sequence[str] | None, size: int) -> Sequence[str] | None:
    """The tokens if they have this length, else None."""
    return tokens if tokens is not None and len(tokens) == size else None


def _split_fields(line: str, where: str) -> tuple[str, str]:
    """The text of a line and what is behind its last triple pipes; a text may have some, too.

    OpenNMT-tf's ``--with_scores`` writes the score before the text.

    Raises:
        DataError: It has none.
    """
    *texts, last = _FIELDS.split(line)
    if not texts:
        raise DataError(f"{where}: {quoted(line)} has no ' ||| ' with an alignment after it")
    is_scored = len(texts) > 1 and _LEADING_SCORE.fullmatch(texts[0])
    return " ||| ".join(texts[1:] if is_scored else texts), last.strip()


def _marian_parts(line: str, where: str) -> tuple[str, str, str]:
    """Id (empty but in n-best lists), hypothesis and alignment of a line."""
    fields = _FIELDS.split(line)
    if len(fields) >= 5 and fields[0].isdecimal() and "=" in fields[-2]:
        return fields[0], fields[1], fields[2].strip()
    if len(fields) > 2 and fields[-1].startswith("WordScores="):
        line = " ||| ".join(fields[:-1])
    return "", *_split_fields(line, where)


def _is_marian(dump: Dump) -> bool:
    alignments = [_marian_parts(line, dump.name)[2] for line in dump.probe[:_PROBED_LINES]]
    return any(alignments) and all(
        _LINKS.fullmatch(text) or _SOFT.fullmatch(text) for text in alignments
    )


def read_marian(dump: Dump) -> Iterator[RawMap]:
    """Marian ``--alignment soft|hard|0.x``.

    Marian prints ``hypothesis ||| alignment``, with ``||| WordScores= …`` after it on request, and
    in an n-best list ``id ||| hypothesis ||| alignment ||| F0= … ||| score``. Soft is target ×
    source, rows separated by spaces and cells by commas, both with EOS; hard is ``i-j``,
    source-target, with links to EOS. With built-in SentencePiece the printed text is detokenised,
    so it is used only if its length fits. A right-to-left model reverses the words it prints but
    not the rows. Source: marian-nmt/marian-dev, src/data/alignment.cpp and
    src/translator/output_printer.h.
    """
    identities: list[str] = []
    for where, line in dump.lines:
        identity, text, alignment = _marian_parts(line, where)
        if identity:
            if [identity] == identities[-1:]:
                continue  # another translation of the same segment
            if identity != str(len(identities)):
                raise DataError(f"{where}: n-best id {identity:.20} follows {len(identities) - 1}")
            identities.append(identity)
        tokens = tokenize(text)
        if _LINKS.fullmatch(alignment):
            pairs = _parse_links(alignment, where)
            yield RawMap(where, links=pairs, hypothesis=tokens, links_to_eos=True)
            continue
        matrix = parse_rows([row.split(",") for row in alignment.split()], where)
        hypothesis = _fitting(tokens, len(matrix) - 1)
        yield RawMap(where, matrix, hypothesis=hypothesis, tgt_eos=True, src_eos=True)


def _row(line: str) -> list[str] | None:
    """The weights of a row of OpenNMT's table as text; None if the line is not a row."""
    body = line[_WIDTH:].rstrip(" ")
    cells = [body[i : i + _WIDTH] for i in range(0, len(body), _WIDTH)]
    if not cells or not all(_CELL.fullmatch(cell) for cell in cells):
        return None
    return [cell.strip(" *") for cell in cells]


def _is_opennmt_log(dump: Dump) -> bool:
    return any(_row(line) is not None for line in dump.probe)


def read_opennmt_log(dump: Dump) -> Iterator[RawMap]:
    """The log of OpenNMT-py 3 and Eole with ``--attn_debug`` or ``--align_debug``.

    It has a table per segment: a header of source tokens, then a row per target token, in columns
    of 11 characters. Tokens are truncated (source to 7 characters, target to 10) and may contain
    spaces. Therefore only the numbers are read from the table; the tokens come from the texts, or
    from the lines ``SENT`` and ``PRED`` that ``--verbose`` adds. A row's largest weight is padded
    with asterisks. ``--attn_debug`` has a row for ``</s>``, ``--align_debug`` does not; the source
    never has one. Source: OpenNMT/OpenNMT-py, report_matrix.

    ``-dump_attn`` of the authors' fork writes a pickle, which is not read here, since a pickle can
    run any program: ``notebooks/reproduction/dump_attn.py`` converts a trusted one to ``.npz``.
    """
    rows: list[list[str]] = []
    table_start, last = "", ""
    source: Sequence[str] | None = None
    hypothesis: Sequence[str] | None = None
    for where, line in chain(dump.lines, [("", "")]):
        row = _row(line)
        if row is not None:
            table_start = table_start if rows else where
            rows.append(row)
            last = line[:_WIDTH].strip()
            continue
        if rows:
            matrix, tgt_eos = parse_rows(rows, table_start), last == "</s>"
            source = _fitting(source, matrix.shape[1])
            hypothesis = _fitting(hypothesis, len(matrix) - tgt_eos)
            yield RawMap(
                table_start, matrix, (), source, hypothesis, tgt_eos=tgt_eos, src_eos=False
            )
            rows, source, hypothesis = [], None, None
        if match := _SENTENCE.search(line):
            source = _listed(match[1])
        elif match := _PREDICTION.search(line):
            hypothesis = tokenize(match[1])


def _listed(text: str) -> list[str] | None:
    """The tokens of a line SENT, which Python printed as a list or a tuple."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    is_tokens = isinstance(value, list | tuple) and all(type(token) is str for token in value)
    return [*value] if is_tokens else None


def _is_opennmt_align(dump: Dump) -> bool:
    lines = [_SCORE.sub("", line) for line in dump.probe[:_PROBED_LINES]]
    pairs = [_split_fields(line, dump.name)[1] for line in lines]
    return any(pairs) and all(map(_LINKS.fullmatch, pairs))


def read_opennmt_align(dump: Dump) -> Iterator[RawMap]:
    """OpenNMT-py and Eole ``--report_align``.

    They print ``hypothesis ||| i-j …`` without EOS, then the score after a tab.
    """
    for where, line in dump.lines:
        text, pairs = _split_fields(_SCORE.sub("", line), where)
        yield RawMap(where, links=_parse_links(pairs, where), hypothesis=tokenize(text))


_LOG = "OpenNMT-py / Eole --attn_debug or --align_debug (log)"
_ALIGN = "OpenNMT-py / Eole --report_align"
TOOLKIT_FORMATS = (
    DumpFormat("fairseq", "fairseq --print-alignment", _is_fairseq, read_fairseq),
    DumpFormat("marian", "Marian --alignment", _is_marian, read_marian),
    DumpFormat("opennmt-log", _LOG, _is_opennmt_log, read_opennmt_log),
    DumpFormat("opennmt-align", _ALIGN, _is_opennmt_align, read_opennmt_align),
)
