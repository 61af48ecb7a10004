"""Many documents segmented, and the texts of a test set whose outputs have other lines.

Each document is segmented by itself, so neither processes nor their order matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from coverage_eval.align.aligner import Aligner, AlignerSettings, ModelAligner
from coverage_eval.core.checks import Finding, Gravity
from coverage_eval.core.dataset import Dataset
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import Text, check_readable_again, held_text, source_name
from coverage_eval.core.machine import Progress, counted, parts, started_processes, unseen
from coverage_eval.documents.segment import Segmentation, Segmenter, summary
from coverage_eval.documents.settings import (
    DocumentSettings,
    DocumentTexts,
    LineCut,
    Passage,
    check_same_blocks,
    is_of_rows,
    read_blocks,
    read_documents,
)

_CHUNK = 8
"""Documents that go to another process together."""

_HELD: list[Segmenter] = []
"""In processes that were started for documents: the segmenter, which is sent to each only once."""

MUCH_EXTRA = 0.1
"""Share of an output's words that belong to no line, from which on this is a warning: a loop, or a
second version of the document; prefaces and notes have less."""

MAX_LISTED = 5
"""Documents that an error names, of those that cannot be segmented."""


class UnfitDocumentsError(DataError):
    """Outputs that are no translations of their sources, or have them in another order."""


class CutDocument(NamedTuple):
    """A document and its segmentation."""

    document: DocumentTexts
    segmentation: Segmentation

    @property
    def passages(self) -> list[Passage]:
        """The missing lines, neighbouring ones together."""
        words, name = self.segmentation.source_words, self.document.name
        return [
            Passage(name, run.start + 1, run.stop, sum(words[run.start : run.stop]))
            for run in self.segmentation.passages
        ]

    def line_cuts(self) -> Iterator[LineCut]:
        """What each line of the source has in the output."""
        passages = {
            line: passage
            for passage in self.passages
            for line in range(passage.first, passage.last + 1)
        }
        pieces = self.segmentation.pieces_by_line()
        pieces[0] = pieces.pop(-1) + pieces.get(0, [])
        for line, words in enumerate(self.segmentation.source_words):
            yield LineCut(
                line + 1,
                words,
                sum(piece.words for piece in pieces[line]),
                passages.get(line + 1) if words else None,
                tuple(piece for piece in pieces[line] if piece.line is None),
            )


class MatchedTexts(NamedTuple):
    """Texts whose lines match, since outputs were cut by the lines of their source.

    Attributes:
        texts: The texts.
        segmentation: How the outputs were cut, for signatures.
        documents: By the name of each output, peers included, its documents.
    """

    texts: Dataset
    segmentation: str
    documents: Mapping[str, Sequence[CutDocument]]

    def findings(self) -> list[Finding]:
        """A note for each output: how many lines have text, and how much belongs to none.

        It is a warning if that is much, because no score but ExtraText sees such text.
        """
        findings = []
        for name, documents in self.documents.items():
            cut = [document.segmentation for document in documents]
            extra = sum(piece.words for segmentation in cut for piece in segmentation.extra)
            kind, gravity, unseen = "segmented", Gravity.NOTE, ""
            if extra > MUCH_EXTRA * sum(segmentation.output_words for segmentation in cut):
                kind, gravity = "much-extra", Gravity.DOUBT
                unseen = ", and counts in no score but ExtraText"
            findings.append(Finding(kind, f"{name}: {summary(cut)}{unseen}", gravity=gravity))
        return findings


def match_lines(
    texts: Dataset,
    settings: DocumentSettings,
    aligner: Aligner | AlignerSettings | None,
    *,
    jobs: int = 1,
    progress: Progress = unseen,
) -> MatchedTexts:
    """Cut all outputs, those of peers, too, by the lines of their source.

    Args:
        texts: The texts; outputs may have any lines.
        settings: How they are cut.
        aligner: A model, or settings that name one, to cut by the source; without it, the first
            reference's lines count.
        jobs: Number of processes, if there are several documents.
        progress: Where to report the share of the work that is done.

    Raises:
        DataError: A text cannot be read; an output is no translation of its source; the source can
            be read only once.
        TypeError: Neither source and model nor a reference.
        AlignerError: The model cannot be read.
    """
    given = texts.given
    if given.source is not None and (segmenter := _segmenter(aligner)):
        lines = given.source
        check_readable_again(lines)
    elif given.references:
        lines = given.references[0]
        check_readable_again(lines)
        every_line = chain.from_iterable(read_blocks(lines))
        segmenter = Segmenter.of_references(settings.tokenize, every_line)
    else:
        raise TypeError("unaligned outputs need sources and a model, or references")
    check_same_blocks(lines, [text for text in (*given.references, given.source) if text])
    documents: dict[str, Sequence[CutDocument]] = {}
    cuts: list[list[LineCut]] = []

    stages = iter(parts(progress, *[1.0] * (len(given.systems) + len(given.peers))))

    def cut(name: str, output: Text) -> Text:
        read = read_documents(output, lines)
        try:
            documents[name] = list(
                segment_documents(read, segmenter, jobs=jobs, progress=next(stages))
            )
        except UnfitDocumentsError as error:
            if not is_of_rows(lines):
                raise
            raise DataError(f"{source_name(output)}: {error}") from None
        every = documents[name]
        cuts.append([line for document in every for line in document.line_cuts()])
        lines_of_source = [line for document in every for line in document.segmentation.lines]
        return held_text(source_name(output), lines_of_source)

    systems = {name: cut(name, output) for name, output in given.systems.items()}
    matched = Dataset(
        systems,
        list(map(_lines_of, given.references)),
        None if given.source is None else _lines_of(given.source),
        [cut(source_name(peer), peer) for peer in given.peers],
        list(zip(*cuts[: len(systems)], strict=True)),
    )
    return MatchedTexts(matched, segmenter.name, documents)


def _segmenter(aligner: Aligner | AlignerSettings | None) -> Segmenter | None:
    """The segmenter of an aligner's model; None without a model."""
    if isinstance(aligner, AlignerSettings) and aligner.model is not None:
        with Aligner.load(aligner.model) as loaded:
            return Segmenter.of_model(loaded)
    return Segmenter.of_model(aligner) if isinstance(aligner, ModelAligner) else None


def _lines_of(text: Text) -> Text:
    """The lines of a source or reference: a row of a table may have several."""
    if not is_of_rows(text):
        return text
    return held_text(source_name(text), [line for block in read_blocks(text) for line in block])


def segment_documents(
    documents: Iterable[DocumentTexts],
    segmenter: Segmenter,
    *,
    jobs: int = 1,
    progress: Progress = unseen,
) -> Iterator[CutDocument]:
    """Segment documents, in their order.

    An empty output among several documents is data: all its lines are missing.

    Args:
        documents: The documents.
        segmenter: Cuts them.
        jobs: Number of processes; the result does not depend on it.
        progress: Where to report the share of the work that is done.

    Raises:
        UnfitDocumentsError: Some documents cannot be segmented; the message names them.
    """
    held = list(documents)
    alone = len(held) == 1
    refused = []
    results: Iterator[Segmentation | str]
    with started_processes(1 if alone else jobs, _hold, segmenter) as pool:
        if pool is None:
            results = (_segment(document, segmenter, alone=alone) for document in held)
        else:
            results = pool.map(_segment_held, held, chunksize=_CHUNK)
        shown = counted(results, progress, len(held))
        for document, result in zip(held, shown, strict=True):
            if isinstance(result, str):
                refused.append(f"{document.name}: {result}")
            elif not refused:
                yield CutDocument(document, result)
    if refused:
        listed = "; ".join(refused[:MAX_LISTED])
        more = f"; and {len(refused) - MAX_LISTED} more" if len(refused) > MAX_LISTED else ""
        head = f"{len(refused)} of {len(held)} documents: " if len(held) > 1 else ""
        raise UnfitDocumentsError(f"{head}{listed}{more}")


def _hold(segmenter: Segmenter) -> None:
    _HELD.append(segmenter)


def _segment_held(document: DocumentTexts) -> Segmentation | str:
    return _segment(document, _HELD[-1], alone=False)


def _segment(document: DocumentTexts, segmenter: Segmenter, *, alone: bool) -> Segmentation | str:
    """The segmentation, or why there is none."""
    if not alone and not any(map(str.strip, document.output)):
        return segmenter.empty(document.source)
    try:
        return segmenter(document.output, document.source)
    except DataError as error:
        return str(error)
