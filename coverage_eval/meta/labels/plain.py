"""Plain labels: a TSV file with a column ``label``, or one label a line.

With a header, the columns are ``label`` (or the name of the kind, such as ``omission``): 0 for no
error, above 0 for one, the larger the worse; and any of ``segment`` (from 1; else the rows are
numbered), ``system``, ``source`` (what tells one source from another; else the segment), ``words``
(positions from 1 of the source words concerned, such as ``3 4 9``) and ``raters`` (what each of
them says, such as ``1 0 1``). Without a header, each line is a label.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from coverage_eval.data.files import Source, read_segments, source_name, write_lines
from coverage_eval.data.tables import Record, bad_line, read_header, read_records
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError
from coverage_eval.meta.judgements import Judgement, Labels


def recognise(source: Source) -> bool:
    """Whether the first line is a label, or a header with one."""
    header = read_header(source)
    return "label" in header or _is_bare(header)


def _is_bare(header: list[str]) -> bool:
    return len(header) == 1 and header[0].replace(".", "", 1).isdigit()


def read(source: Source, kind: str, tokens: Tokenizer) -> Labels:
    """Read labels; ``kind`` names their column, if there is one of that name.

    Raises:
        DataError: No such column, or a field that is not what its column holds.
    """
    del tokens  # positions of words are given
    header = read_header(source)
    column = kind if kind in header else "label"
    records: Iterator[tuple[int, Record]] = (
        ((line, {"label": text}) for line, text in enumerate(read_segments(source), start=1))
        if _is_bare(header)
        else read_records(source, [column])
    )
    judgements = (
        _judgement(source, line, number, record, record[column])
        for number, (line, record) in enumerate(records, start=1)
    )
    return Labels(source_name(source), tuple(judgements))


def _judgement(source: Source, line: int, number: int, record: Record, label: str) -> Judgement:
    try:
        return _parse(line, number, record, label)
    except ValueError as error:
        raise bad_line(source, line, error) from None


def _parse(line: int, number: int, record: Record, label: str) -> Judgement:
    grade = float(label)
    if not 0 <= grade < float("inf"):
        raise ValueError(f"label {label!r} is not a number from 0")
    segment = int(record.get("segment", number))
    words = None if "words" not in record else [int(word) for word in record["words"].split()]
    if min([segment, *(words or ())]) < 1:
        raise ValueError("segments and words are counted from 1")
    return Judgement(
        segment,
        grade > 0,
        grade,
        record.get("system", ""),
        tuple(float(mark) > 0 for mark in record.get("raters", "").split()),
        record.get("source", segment),
        words=None if words is None else frozenset(word - 1 for word in words),
        line=line,
    )


def write_texts(labels: Labels, folder: Path) -> None:
    """Write the judged translations as texts that can be scored, and labels that go with them.

    The files are ``src.txt`` and ``hyp.txt``, line by line in the order of the labels, and
    ``labels.tsv``, whose segments are these lines.

    Raises:
        DataError: The labels come without texts, a text has more than one line, or the files cannot
            be written.
    """
    for item in labels.judgements:
        if item.source_text is None or item.target_text is None:
            raise DataError(f"{labels.name}: has no texts; score the texts that it is about")
        if "\n" in item.source_text + item.target_text:
            raise bad_line(labels.name, item.line, "a text of more than one line")
    folder.mkdir(parents=True, exist_ok=True)
    write_lines(folder / "src.txt", (item.source_text or "" for item in labels.judgements))
    write_lines(folder / "hyp.txt", (item.target_text or "" for item in labels.judgements))
    write_lines(folder / "labels.tsv", _rows(labels))


def _rows(labels: Labels) -> Iterator[str]:
    """The labels as a plain file; columns that are not known of all are left out."""
    items = labels.judgements
    sources = {source: n for n, source in enumerate(dict.fromkeys(i.source for i in items), 1)}
    optional = {
        "words": all(item.words is not None for item in items),
        "raters": all(item.raters for item in items),
    }
    there = [name for name, known in optional.items() if known]
    yield "\t".join(["segment", "system", "source", "label", *there])
    for line, item in enumerate(items, start=1):
        cells = {
            "words": " ".join(str(word + 1) for word in sorted(item.words or ())),
            "raters": " ".join(str(int(mark)) for mark in item.raters),
        }
        known = (cells[name] for name in there)
        yield "\t".join(
            [str(line), item.system, str(sources[item.source]), repr(item.grade), *known]
        )
