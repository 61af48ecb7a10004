"""Aligners make the links or coverages of a test set and sign them.

An aligner holds every setting that affects a link: model or link files, symmetrisation, sink and
tokeniser. One process aligns the source with all references, hypotheses and peers, so all are
aligned in the same way, and neither text nor links are held in memory.
"""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import chain, islice, tee
from typing import TYPE_CHECKING, Any, TypeVar

from coverage_eval.align.links import LinkSource, LinkText, check_links
from coverage_eval.align.model_text import (
    ALIGNED_SINK,
    SAMPLE_PAIRS,
    noted_tokenizers,
    raw_tokenizer,
    strict_pairs,
    tokenize_pairs,
)
from coverage_eval.align.rows import SIDES, AlignedRow, CoveredRow, TokenRow
from coverage_eval.core.batches import Request, Row
from coverage_eval.core.errors import CorpusWarning, DataError
from coverage_eval.core.files import PathLike, zip_lines
from coverage_eval.core.tokenizers import ASCII, SINK, Segment, Tokenizer
from coverage_eval.core.writing import atomic_path
from fast_align_wrapper import AlignerError as AlignerError  # noqa: PLC0414 (exported)
from fast_align_wrapper.links import DEFAULT_SYMMETRIZATION, Links, check_symmetrization
from fast_align_wrapper.process import find_fast_align

if TYPE_CHECKING:
    from fast_align_wrapper import FastAlign

A = TypeVar("A", bound="Aligner")


class Aligner(ABC):
    """Links the source of a test set with its references and hypotheses.

    >>> aligner = Aligner.from_links([[(0, 0), (1, 1)]], [[(0, 0)]])
    >>> import coverage_eval as ce
    >>> float(ce.drop(["a"], ["a house"], ["ein haus"], aligner))
    50.0

    Get one by :meth:`train`, :meth:`load` or :meth:`from_links`.
    """

    symmetrize: str
    sink: bool
    tokenizer: Tokenizer
    """The tokeniser of references and hypotheses."""
    source_tokenizer: Tokenizer
    """The tokeniser of sources."""

    @staticmethod
    def train(
        sources: Iterable[Segment], targets: Iterable[Segment], **options: Any
    ) -> ModelAligner:
        """Train a model on parallel text, which is read once and never held in memory.

        Args:
            sources: Source segments, strings or lists of tokens.
            targets: The target segment of each source segment.
            **options: As in :meth:`train_pairs`.

        Raises:
            DataError: Unequal numbers of segments.
            AlignerError: No pair has words on both sides, or the aligner failed.
        """
        return Aligner.train_pairs(strict_pairs(sources, targets), **options)

    @staticmethod
    def train_pairs(
        pairs: Iterable[tuple[Segment, ...]],
        *,
        symmetrize: str = DEFAULT_SYMMETRIZATION,
        tokenize: str | None = None,
        src_tokenize: str | None = None,
        stem: int = 0,
        sink: bool = False,
        **options: Any,
    ) -> ModelAligner:
        """Train a model on a stream of pairs, lowercased; see :meth:`train`.

        What is aligned is lowercased, too: whether a word is aligned never depends on its case.

        Args:
            pairs: Source and target of each segment.
            symmetrize: How to join the links of both directions, one of ``SYMMETRIZATIONS``.
            tokenize: The tokeniser of both sides, in training and when aligning; None to split at
                spaces, and to note which tokeniser seems to have made the text. Raw text gets 13a
                then, or ``char`` in a script without spaces.
            src_tokenize: The tokeniser of the source, if it needs another one.
            stem: Number of letters to keep of each token; 0 for all.
            sink: Append ``<SINK>`` to every source; links to it do not count.
            **options: Other options of :meth:`fast_align_wrapper.FastAlign.train`.

        Raises:
            AlignerError: No pair has words on both sides, or the aligner failed.
        """
        from fast_align_wrapper.aligner import FastAlign

        pairs = iter(pairs)
        first = [*islice(pairs, SAMPLE_PAIRS)] if tokenize is None else []
        raw = [raw_tokenizer(side) for side in zip(*first, strict=True)] or ["none", "none"]
        target_tokenizer = Tokenizer(tokenize or raw[1], True, stem)
        source_tokenizer = Tokenizer(src_tokenize or tokenize or raw[0], True, stem)
        notes: dict[str, Any] = {}
        tokens = tokenize_pairs(
            chain(first, pairs), source_tokenizer, target_tokenizer,
            sink=sink, notes=notes, recognise=tokenize is None,
        )  # fmt: skip
        model = FastAlign.train(tokens, notes=notes, **options)
        return ModelAligner(model, symmetrize=symmetrize, sink=sink)

    @staticmethod
    def load(path: PathLike, *, threads: int | None = None, **settings: Any) -> ModelAligner:
        """Load a model that :meth:`ModelAligner.save` wrote.

        Args:
            path: The model file.
            threads: As in :meth:`fast_align_wrapper.FastAlign.load`.
            **settings: Those of :class:`ModelAligner`.

        Raises:
            AlignerError: No such file, not a model, a model of another version, or a damaged one.
        """
        from fast_align_wrapper.aligner import FastAlign

        return ModelAligner(FastAlign.load(path, threads=threads), **settings)

    @staticmethod
    def from_links(
        src_ref: LinkSource | Sequence[LinkSource],
        src_hyp: LinkSource | Sequence[LinkSource] | Mapping[str, LinkSource],
        *,
        sink: bool = False,
    ) -> Aligner:
        """Use links of any other aligner, from files or memory.

        Args:
            src_ref: Links of source and reference: a file of Pharaoh lines, a list of such lines,
                or the links of each segment as pairs of positions from 0. A list of these for
                several references.
            src_hyp: Links of source and hypothesis in the same form. For several systems a list in
                their order, or for :func:`coverage_eval.compare` a mapping from their names.
            sink: The links count a ``<SINK>`` at the end of each source, which the text lacks.

        Raises:
            DataError: An unreadable file.
        """
        return ExternalLinks(src_ref, src_hyp, sink=sink)

    @abstractmethod
    def align(self, rows: Iterable[Row], *, compat: str | None = None) -> Iterator[AlignedRow]:
        """Links of a test set, row by row; memory does not grow with the text.

        Args:
            rows: Segments; a model needs their sources.
            compat: ``"acl2018"`` reads files of links as the paper's published script does.

        Raises:
            DataError: A missing source, a link out of range, or unequal numbers of lines.
            AlignerError: The aligner failed.
        """

    def cover(
        self,
        rows: Iterable[Row],  # noqa: ARG002
        side: str = "source",  # noqa: ARG002
        *,
        references: bool = True,  # noqa: ARG002
    ) -> Iterator[CoveredRow]:
        """Coverages of a test set, row by row, from a model's posteriors.

        Args:
            rows: Segments with their source.
            side: The side whose words are covered, one of :data:`SIDES`.
            references: Whether the coverages by references are needed, too.

        Raises:
            DataError: A missing source, or links without probabilities.
            AlignerError: The aligner failed.
        """
        raise DataError("coverage needs a model: links have no probabilities")

    def links_request(self, *, compat: str | None = None) -> Request:
        """A metric's request for a batch's links, which :meth:`align` computes."""
        return Request(("links", id(self), compat), lambda rows: self.align(rows, compat=compat))

    def coverages_request(self, side: str = "source", *, references: bool = True) -> Request:
        """A metric's request for a batch's coverages, which :meth:`cover` computes."""
        return Request(
            ("coverages", id(self), side, references),
            lambda rows: self.cover(rows, side, references=references),
        )

    @property
    @abstractmethod
    def settings(self) -> Mapping[str, object]:
        """Everything that affects the links, for a signature."""

    def coverage_settings(self, side: str = "source") -> Mapping[str, object]:
        """Everything that affects the coverages of a side, for a signature: all but ``sym``."""
        settings = {key: value for key, value in self.settings.items() if key != "sym"}
        return {**settings, "dir": SIDES[side]}

    def close(self) -> None:
        """Remove temporary files; the aligner cannot be used after that."""
        return

    def __enter__(self: A) -> A:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ModelAligner(Aligner):
    """A frozen fast_align model and the settings to align with.

    Texts are tokenised as the model's training text was.

    Args:
        model: The model.
        symmetrize: How to join the links of both directions, one of ``SYMMETRIZATIONS``.
        sink: Append ``<SINK>`` to every source; links to it do not count.

    Raises:
        DataError: The model was trained with an unknown tokeniser.
        ValueError: An unknown symmetrisation.
    """

    def __init__(
        self, model: FastAlign, *, symmetrize: str = DEFAULT_SYMMETRIZATION, sink: bool = False
    ) -> None:
        check_symmetrization(symmetrize)
        self.model = model
        self.symmetrize = symmetrize
        self.sink = sink
        self.source_tokenizer, self.tokenizer = noted_tokenizers(model)
        trained_with_sink = bool(model.manifest.notes.get("sink", False))
        if sink != trained_with_sink:
            message = (
                f"the model was trained {'with' if trained_with_sink else 'without'} {SINK} behind "
                f"every source, and is used {'with' if sink else 'without'} it; links differ from "
                "those of a model trained for this use"
            )
            warnings.warn(message, CorpusWarning, stacklevel=3)

    def align(self, rows: Iterable[Row], *, compat: str | None = None) -> Iterator[AlignedRow]:  # noqa: ARG002
        """Links of a test set, row by row; see :meth:`Aligner.align`."""
        waiting, sent = tee(self._tokenized(rows, references=True, peers=False))
        pairs = ((row.aligned_source, text) for row in sent for text in row.texts)
        links = self.model.align(pairs, self.symmetrize)
        for first in links:
            row = next(waiting)
            of_texts = (first, *islice(links, len(row.texts) - 1))
            if self.sink:
                of_texts = tuple(_drop_sink(item, len(row.source)) for item in of_texts)
            yield AlignedRow(row.source, of_texts[: row.references], of_texts[row.references :])

    def cover(
        self, rows: Iterable[Row], side: str = "source", *, references: bool = True
    ) -> Iterator[CoveredRow]:
        """Coverages of a test set, row by row; see :meth:`Aligner.cover`."""
        waiting, sent = tee(self._tokenized(rows, references=references, peers=True))
        pairs = ((row.aligned_source, text) for row in sent for text in row.texts)
        posteriors = self.model.posteriors(pairs, SIDES[side])
        for first in posteriors:
            row = next(waiting)
            of_texts = (first, *islice(posteriors, len(row.texts) - 1))
            if self.sink:
                size = len(row.source)
                of_texts = tuple(replace(item, matrix=item.matrix[:, :size]) for item in of_texts)
            covered = tuple(posterior.coverage for posterior in of_texts)
            split = row.references
            lengths = tuple(len(text) for text in row.texts[split:])
            yield CoveredRow(row.source, covered[:split], covered[split:], lengths)

    def _tokenized(
        self, rows: Iterable[Row], *, references: bool, peers: bool
    ) -> Iterator[TokenRow]:
        """The tokens of rows.

        Raises:
            DataError: A row has no source.
        """
        for row in rows:
            if row.source is None:
                raise DataError("the source text is needed to align it; give it with --src")
            source = self.source_tokenizer(row.source)
            first = row.nonblank_references if references else ()
            texts = (*first, *row.hypotheses, *(row.peers if peers else ()))
            yield TokenRow(
                source,
                [*source, ALIGNED_SINK] if self.sink else source,
                [self.tokenizer(text) for text in texts],
                len(first),
            )

    @property
    def settings(self) -> Mapping[str, object]:
        """Aligner, model, symmetrisation, sink and tokenisers."""
        # The version of the program that runs: the manifest may name any other, because the
        # model's hash does not cover that. Signatures have no spaces or brackets, unlike
        # "fast_align (coverage-eval) 0.1.0".
        version = find_fast_align().version or "fast_align"
        words = dict(self.tokenizer.settings)
        for name, value in self.source_tokenizer.settings.items():
            words[name] = value if value == words[name] else f"{value}>{words[name]}"
        return {
            "aligner": "-".join(re.findall(r"[\w.-]+", version)),
            "model": self.model.manifest.hash[:12],
            "sym": self.symmetrize,
            "sink": bool(self.sink),
            **words,
        }

    def save(self, path: PathLike) -> None:
        """Write the model to one file, complete or not at all.

        Raises:
            DataError: The file cannot be written.
        """
        with atomic_path(path) as temporary:
            self.model.save(temporary)

    def close(self) -> None:
        """Remove temporary files; the aligner cannot be used after that."""
        self.model.close()

    def __repr__(self) -> str:
        return f"<Aligner {self.model.hash}, {self.symmetrize}>"


class ExternalLinks(Aligner):
    """Links that were made elsewhere, used unchanged; see :meth:`Aligner.from_links`.

    Words are what stands between ASCII white space, as fast_align and most aligners count them: a
    no-break space is inside a word. Every line of links is checked against the texts.
    """

    symmetrize = "given"

    def __init__(
        self,
        src_ref: LinkSource | Sequence[LinkSource],
        src_hyp: LinkSource | Sequence[LinkSource] | Mapping[str, LinkSource],
        *,
        sink: bool = False,
    ) -> None:
        self._references = LinkText.several(src_ref, "links of the reference")
        self._hypotheses = LinkText.several(src_hyp, "links of the hypothesis")
        self._systems = list(src_hyp) if isinstance(src_hyp, Mapping) else None
        self.sink = sink
        self.tokenizer = self.source_tokenizer = Tokenizer(ASCII)

    @property
    def link_texts(self) -> list[LinkText]:
        """The links of each text, references before hypotheses."""
        return [*self._references, *self._hypotheses]

    def for_systems(self, names: Sequence[str]) -> Aligner:
        """These links with those of named systems in the given order.

        Raises:
            DataError: The links are of other systems.
        """
        if self._systems is None or self._systems == list(names):
            return self
        if set(self._systems) != set(names):
            raise DataError(
                f"the links are for the systems {', '.join(self._systems)}, but the systems are "
                f"{', '.join(names)}"
            )
        ordered = copy(self)
        ordered._hypotheses = [self._hypotheses[self._systems.index(name)] for name in names]
        ordered._systems = list(names)
        return ordered

    @property
    def settings(self) -> Mapping[str, object]:
        """The hashes of the links' content, references before hypotheses."""
        sides = (self._references, self._hypotheses)
        return {
            "aligner": "given",
            "links": "+".join(",".join(text.digest for text in side) for side in sides),
            "sink": bool(self.sink),
            **self.tokenizer.settings,
        }

    def align(self, rows: Iterable[Row], *, compat: str | None = None) -> Iterator[AlignedRow]:
        """The links of a test set, row by row; see :meth:`Aligner.align`."""
        texts = self.link_texts
        if compat == "acl2018":
            # The script skips lines that begin with "<", in each file separately, and cuts the
            # longer file (audit scripts, row 3).
            lines = (text.parsed(skipped="<") for text in texts)
            together: Iterable[tuple[Any, ...]] = zip(rows, *lines, strict=False)
        else:
            names = ["the text", *(text.name for text in texts)]
            together = zip_lines(names, [rows, *texts])
        split = len(self._references)
        for row, *of_texts in together:
            source = None if row.source is None else self.source_tokenizer(row.source)
            targets = [None] * len(texts) if compat else self._target_lengths(row)
            for text, (number, links), target in zip(texts, of_texts, targets, strict=True):
                length = None if source is None else len(source) + self.sink
                check_links(links, length, target, name=text.name, line=number)
            kept = tuple(links for _, links in of_texts)
            if self.sink:
                if source is None:
                    raise DataError(
                        "the source text is needed to find the sink; give it with --src"
                    )
                kept = tuple(_drop_sink(links, len(source)) for links in kept)
            yield AlignedRow(source, tuple(row.drop_missing_references(kept[:split])), kept[split:])

    def _target_lengths(self, row: Row) -> list[int]:
        """Token counts of the linked texts."""
        counts = (len(row.references), len(row.hypotheses))
        linked = (len(self._references), len(self._hypotheses))
        if counts != linked:
            raise DataError(
                f"there are links of {linked[0]} references and {linked[1]} hypotheses, but "
                f"{counts[0]} references and {counts[1]} hypotheses"
            )
        return [len(self.tokenizer(text)) for text in (*row.references, *row.hypotheses)]


def check_aligner(aligner: object) -> None:
    """Raise :class:`TypeError` if this is not an aligner but, say, the name of a model file."""
    if not isinstance(aligner, Aligner):
        raise TypeError(
            "aligner must come from Aligner.train, Aligner.load or Aligner.from_links, not "
            f"{aligner!r:.40}"
        )


def _drop_sink(links: Links, source_length: int) -> Links:
    """The links of a source whose last word is a sink, without those of the sink."""
    return tuple(link for link in links if link[0] != source_length)


def aligner_of(metrics: Iterable[object]) -> Aligner | None:
    """The aligner of the first metric that has one; None if none has."""
    return next(filter(None, (getattr(metric, "aligner", None) for metric in metrics)), None)
