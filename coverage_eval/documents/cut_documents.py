"""Many documents segmented, and outputs of a test set that have other lines than their source.

A file is one document; in a table, each row is one. Each document is segmented by itself, so
neither processes nor their order matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import NamedTuple

from coverage_eval.align.aligner import Aligner, ModelAligner
from coverage_eval.align.settings import AlignerSettings
from coverage_eval.core.batches import Texts
from coverage_eval.core.errors import DataError, Finding, Severity
from coverage_eval.core.files import ListText, Text
from coverage_eval.core.processes import started_processes
from coverage_eval.core.progress import Progress, no_progress, split_progress, track
from coverage_eval.core.tables import ColumnText
from coverage_eval.documents.segment import Segmenter
from coverage_eval.documents.segmentation import Segmentation, summary

MAX_LISTED = 5
"""Documents that an error names, of those that cannot be segmented."""


class Document(NamedTuple):
    """A document's name, the lines of its source, or reference, and those of its output."""

    name: str
    source: list[str]
    output: list[str]


def cut(
    texts: Texts,
    tokenize: str = "none",
    aligner: Aligner | AlignerSettings | None = None,
    *,
    jobs: int = 1,
    progress: Progress = no_progress,
) -> Texts:
    """Cut all outputs, those of peers, too, by the lines of their source.

    Args:
        texts: The texts; outputs may have any lines.
        tokenize: The tokeniser that finds words if a reference takes the place of the source;
            for ``none``, ``13a`` parts words from punctuation.
        aligner: A model, or settings that name one, to cut by the source; without it, the first
            reference's lines count.
        jobs: Number of processes, if there are several documents.
        progress: Where to report the share of the work that is done.

    Returns:
        The texts with outputs that have the lines of their source, with the documents of each
        output, and how they were cut for signatures.

    Raises:
        DataError: A text cannot be read; an output is no translation of its source.
        TypeError: Neither source and model nor a reference.
        AlignerError: The model cannot be read.
    """
    if texts.source is not None and (segmenter := _segmenter(aligner)):
        lines = texts.source
    elif texts.references:
        lines = texts.references[0]
        every_line = chain.from_iterable(read_blocks(lines))
        segmenter = Segmenter.of_references("13a" if tokenize == "none" else tokenize, every_line)
    else:
        raise TypeError("unaligned outputs need sources and a model, or references")
    references = [_line_by_line(text, lines) for text in texts.references]
    source = None if texts.source is None else _line_by_line(texts.source, lines)
    outputs = [*texts.systems.items(), *((peer.name, peer) for peer in texts.peers)]
    documents: dict[str, list[Segmentation]] = {}
    matched: list[Text] = []
    stages = split_progress(progress, *[1.0] * len(outputs))
    for (name, output), stage in zip(outputs, stages, strict=True):
        blocks = read_documents(output, lines)
        try:
            documents[name] = segment_documents(blocks, segmenter, jobs=jobs, progress=stage)
        except DataError as error:
            where = f"{output.name}: " if is_of_rows(lines) else ""
            raise DataError(f"{where}{error}") from None
        found = chain.from_iterable(item.matched_lines() for item in documents[name])
        matched.append(ListText(output.name, list(found)))
    systems = dict(zip(texts.systems, matched, strict=False))
    peers = matched[len(systems) :]
    return Texts(systems, references, source, peers, documents, {"seg": segmenter.name})


MUCH_EXTRA = 0.1
"""Share of an output's words that belong to no line, from which on this is a warning: a loop, or a
second version of the document; prefaces and notes have less."""


def document_findings(texts: Texts) -> Iterator[Finding]:
    """A note for each output that was cut: how many lines have text, and how much belongs to none.

    It is a warning if that is much, because no score but ExtraText sees such text.
    """
    for name, documents in texts.documents.items():
        message = f"{name}: {summary(documents)}"
        extra = sum(piece.words for document in documents for piece in document.extra)
        severity = Severity.NOTE
        if extra > MUCH_EXTRA * sum(document.output_words for document in documents):
            message += ", and counts in no score but ExtraText"
            severity = Severity.WARNING
        yield Finding(message, severity, suppresses=frozenset({"empty", "blank"}))


def _segmenter(aligner: Aligner | AlignerSettings | None) -> Segmenter | None:
    """The segmenter of an aligner's model; None without a model."""
    if isinstance(aligner, AlignerSettings) and aligner.model is not None:
        with Aligner.load(aligner.model) as loaded:
            return Segmenter.of_model(loaded)
    return Segmenter.of_model(aligner) if isinstance(aligner, ModelAligner) else None


def _line_by_line(text: Text, lines: Text) -> Text:
    """A source or reference whose rows have several lines, as many as the text to cut by."""
    if not is_of_rows(text):
        return text
    for name, expected, block in read_documents(text, lines) if is_of_rows(lines) else ():
        if len(block) != len(expected):
            raise DataError(
                f"{text.name}: {name} has {len(block)} lines and "
                f"{lines.name} has {len(expected)}; source and references must match"
            )
    return ListText(text.name, list(chain.from_iterable(read_blocks(text))))


def is_of_rows(text: Text) -> bool:
    """Whether each row of a text is a document, as in a table; a file is one document."""
    return isinstance(text, ColumnText)


def read_blocks(text: Text) -> Iterator[list[str]]:
    """The lines of each document of a text: of a file, or of each row of a table.

    Raises:
        DataError: As :func:`~coverage_eval.core.texts.read_segments` or
            :meth:`~coverage_eval.core.tables.TextTable.cells`; a cell is not text.
    """
    if not isinstance(text, ColumnText):
        yield list(text)
        return
    for where, cell in text.table.cells(text.column):
        if not isinstance(cell, str):
            raise DataError(f"{text.name}: {where} is not text; write an empty text for no line")
        yield cell.replace("\r\n", "\n").removesuffix("\n").split("\n")


def read_documents(output: Text, source: Text) -> list[Document]:
    """Read the documents of two texts: one if they are files, else those of each row.

    Raises:
        DataError: As :func:`read_blocks`; one is a file and the other a column.
    """
    outputs, sources = list(read_blocks(output)), list(read_blocks(source))
    if len(outputs) != len(sources):
        raise DataError(
            f"{output.name} has {len(outputs)} documents and {source.name} has "
            f"{len(sources)}; a file is one document, and each row of a table"
        )
    names = [output.name]
    if is_of_rows(source):
        names = [f"row {number}" for number in range(1, len(sources) + 1)]
    return list(map(Document, names, sources, outputs))


def segment_documents(
    documents: Sequence[Document],
    segmenter: Segmenter,
    *,
    jobs: int = 1,
    progress: Progress = no_progress,
) -> list[Segmentation]:
    """Segment documents.

    An empty output among several documents is data: all its lines are missing.

    Args:
        documents: The documents.
        segmenter: Cuts them.
        jobs: Number of processes; the result does not depend on it.
        progress: Where to report the share of the work that is done.

    Raises:
        DataError: Some documents cannot be segmented; the message names them.
    """
    count = len(documents)
    segment = partial(_segment, segmenter=segmenter, alone=count == 1)
    results: Iterable[Segmentation | str] = map(segment, documents)
    with started_processes(min(jobs, count)) as pool:
        if pool is not None:  # each chunk takes the segmenter along
            results = pool.map(segment, documents, chunksize=1 + count // (4 * jobs))
        found = list(track(results, progress, count))
    if refused := [reason for reason in found if isinstance(reason, str)]:
        more = f"; and {len(refused) - MAX_LISTED} more" if len(refused) > MAX_LISTED else ""
        head = f"{len(refused)} of {count} documents: " if count > 1 else ""
        raise DataError(f"{head}{'; '.join(refused[:MAX_LISTED])}{more}")
    return [item for item in found if isinstance(item, Segmentation)]


def _segment(document: Document, segmenter: Segmenter, *, alone: bool) -> Segmentation | str:
    """The segmentation, or why there is none."""
    name, source, output = document
    is_empty = not alone and not any(map(str.strip, output))
    try:
        found = segmenter.empty(source) if is_empty else segmenter(output, source)
    except DataError as error:
        return f"{name}: {error}"
    return replace(found, name=name)
