"""Cuts an output by the lines of its source, and says which lines it lacks and what it adds.

A translation of a document may have other lines than its source: sentences merged, split, left
out or exchanged, a preface added, a paragraph repeated. :func:`segment` finds the source line of
each word with an aligner's word translation probabilities; nothing is trained, and neither side
needs a sentence splitter. With references in place of sources, equal and similar words take the
place of the model, as in mwerSegmenter (Matusov et al. 2005).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from coverage_eval.align.aligner import Aligner, ModelAligner, check_aligner
from coverage_eval.align.model_text import require_tokenised, tokenized_by_user
from coverage_eval.core.errors import DataError
from coverage_eval.core.texts import segments_of
from coverage_eval.core.tokenizers import Segment, Tokenizer
from coverage_eval.documents.matched_line import Piece
from coverage_eval.documents.path import (
    NOWHERE,
    Evidence,
    Run,
    WordTable,
    find_path,
    in_order,
)
from coverage_eval.documents.segmentation import Segmentation
from coverage_eval.documents.words import Boundary, Flags, OutputWords, SourceWords, tokenizer_for

MIN_FIT, MIN_FIT_ALONE = 0.3, 0.5
"""An output is refused if less than this share of its words fit their line better than words by
chance; the second is for sources of one line, or of equal ones, where nothing else can be compared.
Of true translations, 52% fit or more, even with a weak model; of other captions and sentences up to
58%, but less than 50% in 19 of 20 documents of two lines, and none in documents of 40."""

MIN_ORDERED = 0.6
"""Only if fewer lines than this share are found is the order of sentences looked at; they are in
another order if no more than this share of them follows the source's order."""

MIN_UNITS, MIN_PLACED, MIN_WORDS = 5, 4.0, 3
"""The least number of sentences to judge order by, the least evidence of a sentence's line, and the
least number of its words."""

MAX_UNKNOWN = 0.5

MAX_LINE_WORDS = 2000
"""The longest line of a source, in words: time grows with the square of a line's length."""

MIN_SAME = 0.6
"""A second piece of a line says it again if it shares this many of the words of the longer one."""

_LINE_END = re.compile(r"(?<!\s)\s*\n\s*")


@dataclass(frozen=True)
class Segmenter:
    """Cuts outputs by their sources, with the table of one model.

    >>> segmenter = Segmenter.of_references()
    >>> segmenter(["A house. A dog."], ["A house.", "A dog."]).lines
    ['A house.', 'A dog.']

    Get one by :meth:`of_model` or :meth:`of_references`.

    Attributes:
        source_tokenizer: The tokeniser of sources, or of references.
        tokenizer: The tokeniser of outputs.
        name: What signatures call the way of segmenting.
        table: The model's word probabilities; None to cut by references.
        per_word: Number of output words that a source word has on average.
        by_user: Whether the user tokenised the model's training text, by side.
    """

    source_tokenizer: Tokenizer
    tokenizer: Tokenizer
    name: str
    table: WordTable | None = None
    per_word: float = 1.0
    by_user: tuple[bool, bool] = (False, False)

    @classmethod
    def of_model(cls, aligner: Aligner) -> Segmenter:
        """A segmenter with the word translation probabilities of a model.

        Raises:
            DataError: Links instead of a model.
            AlignerError: A damaged model file.
        """
        check_aligner(aligner)
        if not isinstance(aligner, ModelAligner):
            raise DataError(
                "segmenting needs a model of 'align train': links and coverages of other aligners "
                "belong to lines that match already"
            )
        model = aligner.model
        return cls(
            aligner.source_tokenizer,
            aligner.tokenizer,
            f"model-{model.hash}",
            WordTable(model.table("forward")),
            model.manifest.forward.length_multiplier,
            tokenized_by_user(model),
        )

    @classmethod
    def of_references(cls, tokenize: str = "13a", references: Iterable[Segment] = ()) -> Segmenter:
        """A segmenter by a reference in the output's language.

        Args:
            tokenize: The tokeniser of both; case does not count.
            references: Lines of references; if their script has no spaces, ``13a`` and ``intl``
                give way to ``char``, with which each character is a word.
        """
        tokenizer = Tokenizer(tokenizer_for(references, tokenize), lowercase=True)
        return cls(tokenizer, tokenizer, f"reference-{tokenizer.name}")

    @property
    def lines_of(self) -> str:
        """Whose lines outputs are cut by: ``source`` or ``reference``."""
        return "source" if self.table else "reference"

    def __call__(self, output: str | Iterable[str], sources: Iterable[Segment]) -> Segmentation:
        """Cut an output by the lines of its source; see :func:`segment`."""
        if not isinstance(output, str):
            output = "\n".join(_lines(output, "the output"))
        text = output.replace("\r\n", " \n").replace("\r", "\n")  # no character moves
        lines = _lines(sources, "the source")
        for number, line in enumerate(lines, start=1):
            if "\n" in line.strip():
                raise DataError(f"line {number} of the {self.lines_of} has a line end inside")
        tokenizers = (self.source_tokenizer, self.tokenizer)
        require_tokenised(self.by_user, tokenizers, lines, text.split("\n"))
        source = SourceWords.read(lines, self.source_tokenizer)
        words = OutputWords.read(text, self.tokenizer)
        if not source.lengths.any():
            raise DataError(f"the {self.lines_of} has no words")
        if (longest := source.lengths.max()) > MAX_LINE_WORDS:
            raise DataError(
                f"line {source.lengths.argmax() + 1} of the {self.lines_of} has {longest} words; a "
                f"line has at most {MAX_LINE_WORDS}: give it a sentence or a paragraph a line"
            )
        if not any(map(str.isalnum, "".join(words.tokens))):
            raise DataError("the output is empty")
        evidence = Evidence.of(source, words, self.table, self.per_word)
        known = words.types if self.table is None else self.table.targets
        unknown = np.array([word not in known for word in words.types], bool)
        of_source = self.table.sources.keys() & set(source.types) if self.table else ()
        copied = unknown & np.array([word in of_source for word in words.types], bool)
        if copied[evidence.types].mean() > MAX_UNKNOWN:
            raise DataError("the output is in the source's language: it is not translated")
        path = find_path(evidence)
        self._check_fit(source, evidence, path, unknown)
        return Segmentation(
            tuple(_pieces(words, evidence, path)),
            tuple(source.lengths.tolist()),
            int(words.is_word.sum()),
            self.lines_of,
            int((unknown[evidence.types] & words.is_word).sum()),
            lines,
            output,
        )

    def _check_fit(
        self, source: SourceWords, evidence: Evidence, path: Sequence[Run], unknown: Flags
    ) -> None:
        """Refuse an output that is no translation of its source, or has it in another order.

        Raises:
            DataError: What is wrong.
        """
        firsts, ends, segments = np.array(path).T
        counted = evidence.weights > 0
        types, lines = evidence.types[counted], np.repeat(segments, ends - firsts)[counted]
        on_line, side = lines != NOWHERE, self.lines_of
        ratios = np.asarray(evidence.ratios[types, np.maximum(lines, 0)]).ravel() + evidence.base
        share = (on_line & (ratios > 0)).mean()
        fits = share >= (MIN_FIT if source.different > 1 else MIN_FIT_ALONE)
        with_text = len(set(lines[on_line].tolist())) / (source.lengths > 0).sum()
        if fits and with_text >= MIN_ORDERED:
            return
        order = _order(evidence)
        ordered = len(in_order(order))
        if len(order) >= MIN_UNITS and ordered < MIN_ORDERED * len(order):
            raise DataError(
                f"the output has the {side}'s sentences in another order: of {len(order)} "
                f"sentences that fit a line, {ordered} follow the {side}'s order; put them in order"
            )
        if fits:
            return
        reason = "; is it the translation of another text, or does it end in a loop?"
        if (strange := unknown[types].mean()) > MAX_UNKNOWN:
            reason = (
                f", and the model does not know {strange:.0%} of them; is it in another language, "
                "or the model for other languages?"
            )
        expected = "a translation of its source" if self.table else "the text of its reference"
        raise DataError(
            f"the output is not {expected}: {share:.0%} of its words fit their line{reason}"
        )

    def empty(self, sources: Iterable[Segment]) -> Segmentation:
        """The segmentation of an output without words: all lines are missing."""
        lines = _lines(sources, "the source")
        lengths = tuple(SourceWords.read(lines, self.source_tokenizer).lengths.tolist())
        return Segmentation((), lengths, 0, self.lines_of, source=lines)


def _lines(segments: Iterable[Segment], name: str) -> list[str]:
    """Segments as lines of text."""
    lines = segments_of(segments, name)
    return [line if isinstance(line, str) else " ".join(line) for line in lines]


def _pieces(words: OutputWords, evidence: Evidence, path: Sequence[Run]) -> Iterator[Piece]:
    """The pieces of a path. Of those of one line, all but the longest may say it again.

    White space at the beginning and the end belongs to no piece, any other character to one.
    """
    # Of pieces of one length the first one counts.
    by_length = sorted(path, key=lambda run: (run.last - run.first, -run.first))
    longest_by_line = {run.segment: run for run in by_length}
    starts = [0, *(int(words.starts[run.first]) for run in path[1:]), len(words.text)]
    for run, (start, stop) in zip(path, pairwise(starts), strict=True):
        longest = longest_by_line[run.segment]
        expected = evidence.types[longest.first : longest.last]
        shared = np.isin(evidence.types[run.first : run.last], expected).sum()
        is_placed = run.segment != NOWHERE
        repeats = is_placed and run != longest and shared >= MIN_SAME * len(expected)
        text = words.text[start:stop]
        first = start + len(text) - len(text.lstrip())
        yield Piece(
            line=run.segment if is_placed and not repeats else None,
            start=first,
            end=max(first, start + len(text.rstrip())),
            text=_LINE_END.sub(" ", text.strip()),
            words=int(words.is_word[run.first : run.last].sum()),
            repeats=run.segment if repeats else None,
        )


def _order(evidence: Evidence) -> list[int]:
    """The best line of each sentence of the output that clearly has one."""
    begins = np.flatnonzero(evidence.boundaries >= Boundary.SENTENCE)
    lines = []
    by_type = evidence.ratios.tocsr()
    for first, last in pairwise([*begins.tolist(), len(evidence.types)]):
        kinds = evidence.types[first:last]
        totals = np.asarray(by_type[kinds].sum(axis=0)).ravel()
        if last - first >= MIN_WORDS and totals.max() + evidence.base * len(kinds) > MIN_PLACED:
            lines.append(int(totals.argmax()))
    return lines


def segment(
    output: str | Iterable[str],
    sources: Iterable[Segment] | None = None,
    aligner: Aligner | None = None,
    *,
    references: Iterable[Segment] | None = None,
    tokenize: str = "13a",
) -> Segmentation:
    """Cut the output of one document by the lines of its source, or of a reference.

    >>> cut = segment("a house . the dog sleeps", references=["a house .", "a cat", "the dog"])
    >>> cut.lines, cut.missing
    (['a house .', '', 'the dog sleeps'], (1,))

    To segment many documents, make one :class:`Segmenter` and call it for each.

    Args:
        output: The output as one text, or its lines.
        sources: The lines of the source.
        aligner: A model of both languages, from :meth:`Aligner.train` or :meth:`Aligner.load`.
        references: In place of source and model, the lines of a reference in the output's language.
        tokenize: With references, the tokeniser of both texts; see :meth:`Segmenter.of_references`.

    Raises:
        DataError: An empty output or source, or a source line of more than 2,000 words; an output
            that is no translation of its source, or in another order; links in place of a model.
        TypeError: The source is no list of lines, or source and references are both given.
    """
    if references is not None and sources is None and aligner is None:
        lines = list(segments_of(references, "the reference"))
        return Segmenter.of_references(tokenize, lines)(output, lines)
    if references is not None or sources is None or aligner is None:
        raise TypeError("segment needs either sources and an aligner, or references")
    return Segmenter.of_model(aligner)(output, sources)
