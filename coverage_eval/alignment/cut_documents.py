"""Many documents segmented, in several processes; each by itself, so the order does not matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, NamedTuple

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.alignment.segmentation import Segmentation, Segmenter
from coverage_eval.data.dataset import Dataset, split_references
from coverage_eval.data.documents import DocumentTexts
from coverage_eval.errors import CoverageEvalError, DataError
from fast_align_wrapper.text import Segment

_CHUNK = 8
"""Documents that go to another process together."""

_HELD: list[Segmenter] = []
"""The segmenter of this process, last; with several processes it is sent to each only once."""

MAX_LISTED = 5
"""Documents that an error names, of those that cannot be segmented."""


class Passage(NamedTuple):
    """Neighbouring source lines without a translation.

    Attributes:
        document: The document's name.
        first: The number of its first line in the source's file, from 1.
        last: That of its last line.
        words: Number of words of these lines.
    """

    document: str
    first: int
    last: int
    words: int

    @property
    def kind(self) -> str:
        """``sentence`` for one line, ``passage`` for several."""
        return "sentence" if self.first == self.last else "passage"

    def to_dict(self) -> dict[str, object]:
        """The passage as plain values; lines count from 1."""
        return {"kind": self.kind, **self._asdict()}

    def __str__(self) -> str:
        lines = f"line {self.first}"
        if self.last > self.first:
            lines = f"lines {self.first} to {self.last}"
        words = f"{self.words} word{'s' * (self.words != 1)}"
        them = "it" if self.kind == "sentence" else "them"
        return f"{lines}, {words}, nothing like {them} in the output"


class CutDocument(NamedTuple):
    """A document and its segmentation."""

    document: DocumentTexts
    segmentation: Segmentation

    @property
    def passages(self) -> list[Passage]:
        """The missing lines, neighbouring ones together."""
        words = self.segmentation.source_words
        first = self.document.first
        return [
            Passage(
                self.document.name,
                run.start + first,
                run.stop + first - 1,
                sum(words[run.start : run.stop]),
            )
            for run in self.segmentation.passages
        ]


def segment_documents(
    documents: Iterable[DocumentTexts],
    segmenter: Segmenter,
    *,
    jobs: int = 1,
    progress: bool = False,
) -> Iterator[CutDocument]:
    """Segment documents, in their order.

    An empty output among several documents is data: all its lines are missing.

    Args:
        documents: The documents.
        segmenter: Cuts them.
        jobs: Number of processes; the result does not depend on it.
        progress: Whether to show a progress bar if standard error is a terminal.

    Raises:
        DataError: Some documents cannot be segmented; the message names them.
    """
    from tqdm import tqdm

    held = list(documents)
    alone = len(held) == 1
    refused = []
    with ExitStack() as stack:
        stack.enter_context(_held(segmenter))
        apply: Callable[..., Iterator[Segmentation | str]] = map
        if jobs > 1 and not alone:
            pool = ProcessPoolExecutor(jobs, initializer=_HELD.append, initargs=(segmenter,))
            apply = partial(stack.enter_context(pool).map, chunksize=_CHUNK)
            stack.enter_context(_whole(pool))
        results = apply(partial(_segment, alone=alone), held)
        shown = tqdm(results, total=len(held), unit=" documents", disable=not progress or None)
        for document, found in zip(held, shown, strict=True):
            if isinstance(found, str):
                refused.append(found if alone else f"{document.name}: {found}")
            elif not refused:
                yield CutDocument(document, found)
    if refused:
        listed = "; ".join(refused[:MAX_LISTED])
        more = f"; and {len(refused) - MAX_LISTED} more" if len(refused) > MAX_LISTED else ""
        head = f"{len(refused)} of {len(held)} documents: " if len(held) > 1 else ""
        raise DataError(f"{head}{listed}{more}")


def cut_lists(
    systems: Mapping[str, str | Sequence[Segment]],
    references: Sequence[Any] | None = None,
    sources: Sequence[Segment] | None = None,
    *,
    aligner: Aligner | None = None,
) -> Dataset:
    """Outputs of one document in memory, cut by the lines of its source, as a test set.

    Args:
        systems: Each system's output by its name: a text, or its lines.
        references: The reference's segments, or a list of several references.
        sources: The source's segments.
        aligner: A model; without one, the first reference's lines count.

    Raises:
        DataError: An output is no translation of its source.
        TypeError: Neither sources with a model nor references.
    """
    if sources is not None and isinstance(aligner, ModelAligner):
        segmenter, lines = Segmenter.of_model(aligner), list(sources)
    elif references is not None:
        split = split_references(next(iter(systems.values()), ""), references)
        segmenter, lines = Segmenter.of_references(), list(split[0])
    else:
        raise TypeError("unaligned outputs need sources and a model, or references")
    documents = [
        DocumentTexts(name, 1, [*map(_line, lines)], [*map(_line, _lines(output))])
        for name, output in systems.items()
    ]
    cut = segment_documents(documents, segmenter)
    made = Dataset.of_lists(
        {one.document.name: one.segmentation.lines for one in cut}, references, sources
    )
    made.segmentation = segmenter.name
    return made


def _lines(output: str | Sequence[Segment]) -> Sequence[Segment]:
    return output.split("\n") if isinstance(output, str) else output


def _line(segment: Segment) -> str:
    return segment if isinstance(segment, str) else " ".join(segment)


@contextmanager
def _held(segmenter: Segmenter) -> Iterator[None]:
    _HELD.append(segmenter)
    try:
        yield
    finally:
        _HELD.pop()


@contextmanager
def _whole(pool: ProcessPoolExecutor) -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool:
        raise CoverageEvalError(
            "a process of --jobs was killed (out of memory?); use fewer of them"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _segment(document: DocumentTexts, *, alone: bool) -> Segmentation | str:
    """The segmentation, or why there is none."""
    segmenter = _HELD[-1]
    try:
        if not alone and not any(map(str.strip, document.output)):
            return segmenter.empty(document.source)
        return segmenter(document.output, document.source)
    except DataError as error:
        return str(error)
