"""Source, reference and hypothesis aligned: by one frozen model, or with links from files.

Both texts go through one aligner process in turns, so that they cannot but be aligned in the same
way, and neither text nor links are held in memory.
"""

from __future__ import annotations

import re
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from coverage_eval.alignment.link_files import check_links, parse_line
from coverage_eval.alignment.model_notes import note_sink, noted_sink, noted_tokenizer
from coverage_eval.errors import DataError
from coverage_eval.metrics.drop import AlignedSegment, AlignmentSettings
from coverage_eval.metrics.soft_drop import CoveredSegment, coverage
from coverage_eval.text.corpus import (
    SINK,
    CorpusWarning,
    Segment,
    Source,
    count_all_tokens,
    read_parallel,
    read_segments,
    source_name,
    tokenize,
)
from coverage_eval.text.files import check_target
from coverage_eval.text.tokenizers import tokenize_rows
from fast_align_wrapper.links import Links
from fast_align_wrapper.text import Pair

if TYPE_CHECKING:
    from fast_align_wrapper import FastAlign

__all__ = [
    "SINK",
    "Triple",
    "align_texts",
    "cover_texts",
    "model_settings",
    "obtain_model",
    "read_alignments",
    "read_script_alignments",
    "read_triples",
    "train_model",
    "with_sink",
]

T = TypeVar("T")


class Triple(NamedTuple):
    """A segment in three texts."""

    source: Segment
    reference: Segment
    hypothesis: Segment


def read_triples(
    source: Source, reference: Source, hypothesis: Source, tok: str = "none"
) -> Iterator[Triple]:
    """Read three texts in step, each side tokenised by the same tokeniser."""
    rows = tokenize_rows(read_parallel(source, reference, hypothesis), tok)
    return (Triple(*row) for row in rows)


def with_sink(source: Segment) -> list[str]:
    """The source's tokens with the sink behind them."""
    return [*tokenize(source), SINK]


def model_settings(
    model: FastAlign, *, symmetrize: str = "given", sink: bool = False, tok: str = "none"
) -> AlignmentSettings:
    """What the signature says of an alignment by a model."""
    # "fast_align (coverage-eval) 0.1.0" without what a signature should not have.
    version = "-".join(re.findall(r"[\w.-]+", model.manifest.aligner or "fast_align"))
    if tok != noted_tokenizer(model):
        warnings.warn(
            f"the model was trained on text of tokeniser '{noted_tokenizer(model)}', and this "
            f"text is of '{tok}': words that are not cut alike are not aligned",
            CorpusWarning,
            stacklevel=2,
        )
    if sink != noted_sink(model):
        warnings.warn(
            f"the model was trained {_with(noted_sink(model))} {SINK} behind every source, and "
            f"is used {_with(sink)} it: links differ from those of a model made for this",
            CorpusWarning,
            stacklevel=2,
        )
    return AlignmentSettings(
        aligner=version,
        model=model.hash,
        symmetrize=symmetrize,
        sink=sink,
        tok=tok,
    )


def _with(sink: bool) -> str:
    return "with" if sink else "without"


def train_model(  # noqa: D417 (the rest belongs to FastAlign.train)
    source: Source, target: Source, *, sink: bool = False, tok: str = "none", **options: Any
) -> FastAlign:
    """Train a model on two text files.

    Args:
        source: The source side's file.
        target: The target side's file.
        sink: Append :data:`SINK` to each source.
        tok: Name of a tokeniser to apply to both sides.

    Raises:
        DataError: Unreadable or unequal files.
        AlignerError: The aligner failed.
    """
    from fast_align_wrapper import FastAlign

    rows = tokenize_rows(read_parallel(source, target), tok)
    pairs = ((with_sink(one) if sink else one, other) for one, other in rows)
    notes: dict[str, Any] = {"tokenize": tok}
    return FastAlign.train(note_sink(pairs, notes), notes=notes, **options)


def obtain_model(
    path: Source | None,
    training: tuple[Source | None, Source | None],
    *,
    save_as: Source | None = None,
    sink: bool = False,
    tok: str = "none",
    fast_align: str | None = None,
    threads: int | None = None,
) -> FastAlign | None:
    """Load a model, or train one and keep it if asked to.

    Args:
        path: A model file; the training text does not matter then.
        training: The files of the training text's two sides.
        save_as: Write the trained model to this file.
        sink: As :func:`train_model`.
        tok: As :func:`train_model`.
        fast_align: Another compiled fast_align.
        threads: Threads of the aligner; None for all cores.

    Returns:
        The model; None if neither a model file nor both sides of a training text are given.

    Raises:
        DataError: Unreadable files, or ``save_as`` cannot be written, which is found before the
            training.
        AlignerError: The aligner failed.
    """
    from fast_align_wrapper import FastAlign

    if path is not None:
        return FastAlign.load(path, fast_align=fast_align, threads=threads)
    source, target = training
    if source is None or target is None:
        return None
    if save_as is not None:
        check_target(save_as)
    model = train_model(
        source, target, sink=sink, tok=tok, fast_align=fast_align, threads=threads, progress=True
    )
    if save_as is not None:
        model.save(save_as)
    return model


def align_texts(
    model: FastAlign, triples: Iterable[Triple], *, symmetrize: str, sink: bool = False
) -> Iterator[AlignedSegment]:
    """Align each source with its reference and its hypothesis.

    Args:
        model: A frozen model, in the texts' tokenisation.
        triples: Segments of the three texts.
        symmetrize: One of :data:`fast_align_wrapper.links.SYMMETRIZATIONS`.
        sink: Append :data:`SINK` to each source; links to it are in the result.

    Raises:
        AlignerError: The aligner failed.
    """
    pending: deque[Triple] = deque()
    links = model.align(_in_turns(triples, pending, sink=sink), symmetrize)
    for triple, ref, hyp in _together(pending, links):
        yield AlignedSegment(triple.source, ref, hyp)


def cover_texts(
    model: FastAlign, triples: Iterable[Triple], *, sink: bool = False
) -> Iterator[CoveredSegment]:
    """Coverage of each source word by reference and hypothesis, under the forward posteriors.

    Args and errors as :func:`align_texts`; the model must have its tables in full precision.
    """
    pending: deque[Triple] = deque()
    posteriors = model.posteriors(_in_turns(triples, pending, sink=sink), "forward")
    for triple, ref, hyp in _together(pending, posteriors):
        yield CoveredSegment(triple.source, coverage(ref.matrix), coverage(hyp.matrix))


def _in_turns(triples: Iterable[Triple], pending: deque[Triple], *, sink: bool) -> Iterator[Pair]:
    """Each source with its two texts; what was handed out waits in the queue."""
    for triple in triples:
        source = with_sink(triple.source) if sink else triple.source
        pending.append(triple)
        yield source, triple.reference
        yield source, triple.hypothesis


def _together(pending: deque[Triple], results: Iterator[T]) -> Iterator[tuple[Triple, T, T]]:
    for of_reference, of_hypothesis in zip(results, results, strict=True):
        yield pending.popleft(), of_reference, of_hypothesis


def read_alignments(
    reference_links: Source,
    hypothesis_links: Source,
    reference: Source,
    hypothesis: Source,
    source: Source | None = None,
    *,
    sink: bool = False,
) -> Iterator[AlignedSegment]:
    """Links from files, each checked against the texts, all files read in step.

    Args:
        reference_links: Links of source and reference, a line a segment.
        hypothesis_links: Links of source and hypothesis.
        reference: The reference's text.
        hypothesis: The hypothesis's text.
        source: The source's text; without it, source positions are not checked.
        sink: The links are of sources with :data:`SINK` behind them, which the text has not.

    Raises:
        DataError: A malformed link or one out of range (file, line), unequal numbers of lines.
    """
    files = [hypothesis, reference, reference_links, hypothesis_links]
    rows = read_parallel(*files, *([] if source is None else [source]))
    for number, row in enumerate(rows, start=1):
        text = row[4] if source is not None else None
        lengths = count_all_tokens(row[:2])
        source_length = None if text is None else count_all_tokens([text])[0] + sink
        links = [
            _checked(row[column], source_length, length, source_name(files[column]), number)
            for column, length in ((2, lengths[1]), (3, lengths[0]))
        ]
        yield AlignedSegment(text, *links)


def _checked(line: str, source: int | None, target: int, name: str, number: int) -> Links:
    links = parse_line(line, name, number)
    check_links(links, source, target, name=name, line=number)
    return links


def read_script_alignments(
    reference_links: Source,
    hypothesis_links: Source,
    source: Source | None = None,
    *,
    sink: bool = False,
) -> Iterator[AlignedSegment]:
    """Links from files as the paper's published script reads them (audits, row 3).

    Lines that begin with ``<`` are passed over in each file by itself, and the longer file is cut;
    so links may point beyond the source that they are paired with, which the script never sees.

    Args:
        reference_links: Links of source and reference, a line a segment.
        hypothesis_links: Links of source and hypothesis.
        source: The source's text, which the script does not read; with it, links must be in range.
        sink: As in :func:`read_alignments`.

    Raises:
        DataError: A malformed link or one beyond its source (file, line).
    """
    reference, hypothesis = _script_links(reference_links), _script_links(hypothesis_links)
    if source is None:
        for (_, one), (_, other) in zip(reference, hypothesis, strict=False):
            yield AlignedSegment(None, one, other)
        return
    for text, ref, hyp in zip(read_segments(source), reference, hypothesis, strict=False):
        length = count_all_tokens([text])[0] + sink
        for name, (number, links) in ((reference_links, ref), (hypothesis_links, hyp)):
            _check_source_range(links, length, source_name(name), number)
        yield AlignedSegment(text, ref[1], hyp[1])


def _script_links(source: Source) -> Iterator[tuple[int, Links]]:
    """The lines that the script reads, with their numbers in the file."""
    for number, line in enumerate(read_segments(source), start=1):
        if not line.startswith("<"):
            yield number, parse_line(line, source_name(source), number)


def _check_source_range(links: Links, length: int, name: str, number: int) -> None:
    for position, target in links:
        if position >= length:
            raise DataError(
                f"{name}: line {number}: link {position}-{target} is out of range: the source "
                f"has {length} tokens, counted from 0; leave out --src to score as the script does"
            )
