"""Cuts an output by the lines of its source, and says which lines it lacks and what it adds.

A translation of a document may have other lines than its source: sentences merged, split, left
out or exchanged, a preface added, a paragraph repeated. :func:`segment` finds the source line of
each word with an aligner's word translation probabilities; nothing is trained, and neither side
needs a sentence splitter. With references in place of sources, equal and similar words take the
place of the model, as in mwerSegmenter (Matusov et al. 2005).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from coverage_eval.align.aligner import Aligner, ModelAligner, check_aligner
from coverage_eval.align.checks import UNKNOWN_OF_HYPOTHESES
from coverage_eval.align.model_text import cut_by_user, refuse_other_tokens
from coverage_eval.core.checks import percent
from coverage_eval.core.dataset import segments_of
from coverage_eval.core.errors import DataError
from coverage_eval.core.score import Floats
from coverage_eval.core.tokenizers import Tokenizer
from coverage_eval.documents.output_words import (
    MARKUP,
    SENTENCE_ENDS,
    Boundary,
    Integers,
    OutputWords,
    has_letters,
    known_form,
    tokenizer_for,
)
from coverage_eval.documents.path import COSTS, NOWHERE, Evidence, Flags, Run, find_path
from coverage_eval.documents.settings import Piece
from coverage_eval.documents.word_table import WordTable, similar_words
from fast_align_wrapper.text import Segment

if TYPE_CHECKING:
    import pandas as pd

SHARE = 0.7
"""The share of a segment's words that its source words explain; any word may stand for the rest."""

FEW = 3
"""A document of so many lines more than one counts as much as what is usual elsewhere."""

USUAL = 1e-3
"""The usual probability of all words, without a model."""

MAX_NAMED = 5
"""Missing passages that a summary names."""

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

MAX_AGAIN = 0.5
"""An output loops if more than this share of its words end a trigram that came before."""

MIN_SAME = 0.6
"""A second piece of a line says it again if it shares this many of the words of the longer one."""

NEAR = 3
"""How many lines away from a piece its other possible lines are."""

BATCH = 64
"""Pieces whose probabilities are found together."""

_LINE_END = re.compile(r"\s*\n\s*")


@dataclass(frozen=True)
class Segmentation:
    """An output cut by the lines of its source.

    >>> sources = ["ein haus", "das haus", "ein hund", "das tier"] * 20
    >>> targets = ["a house", "the house", "a dog", "the animal"] * 20
    >>> with Aligner.train(sources, targets) as aligner:
    ...     found = segment("a house the animal", ["ein haus", "ein hund", "das tier"], aligner)
    >>> found.lines, found.missing
    (['a house', '', 'the animal'], (1,))

    Attributes:
        lines: The text of each source line; empty if there is none.
        missing: The source lines, from 0, that have words but no text in the output.
        extra: The pieces of the output that belong to no line, in the output's order.
        pieces: All pieces, in the output's order; together they are the output, except for spaces
            between them.
        probabilities: The probability that each line has text if it has some here, or that it has
            none if it has none here, ``[lines]``.
        source_words: Number of words of each source line, ``[lines]``.
        output_words: Number of words of the output.
        lines_of: ``"source"``, or ``"reference"`` if that gave the lines in its place.
        unknown_words: Number of words of the output that the model does not know.
    """

    lines: list[str]
    missing: tuple[int, ...]
    extra: tuple[Piece, ...]
    pieces: tuple[Piece, ...]
    probabilities: tuple[float, ...]
    source_words: tuple[int, ...]
    output_words: int
    lines_of: str = "source"
    unknown_words: int = 0

    @property
    def passages(self) -> list[range]:
        """The missing lines, neighbouring ones together; lines without words do not part them."""
        found: list[range] = []
        for line in self.missing:
            if found and not any(self.source_words[found[-1].stop : line]):
                found[-1] = range(found[-1].start, line + 1)
            else:
                found.append(range(line, line + 1))
        return found

    @property
    def moved(self) -> tuple[int, ...]:
        """The lines, from 0, that are not in the source's order; as few as explain the order."""
        begun = list(dict.fromkeys(piece.line for piece in self.pieces if piece.line is not None))
        return tuple(sorted(set(begun) - set(_ascending(begun))))

    @property
    def score(self) -> float:
        """The share of the source's words that are in missing lines, 0 to 1."""
        lost = sum(self.source_words[line] for line in self.missing)
        return lost / max(1, sum(self.source_words))

    @property
    def extra_share(self) -> float:
        """The share of the output's words that belong to no line, 0 to 1."""
        return sum(piece.words for piece in self.extra) / max(1, self.output_words)

    def summary(self) -> str:
        """One sentence: how many lines have text, which have none, and how much belongs to none."""
        return summary([self])

    def rows(self) -> Iterator[dict[str, object]]:
        """One row a piece, and one a line without text, in the order of lines.

        Lines count from 1, characters of the output from 0. A piece that belongs to no line has no
        ``line`` and follows the piece before it.
        """
        for line, pieces in self.pieces_by_line().items():
            for piece in pieces or repeat(None, line >= 0):
                yield {
                    "line": line + 1 if piece is None or piece.line is not None else None,
                    "start": None if piece is None else piece.start,
                    "end": None if piece is None else piece.end,
                    "text": "" if piece is None else piece.text,
                    "probability": self.probabilities[line] if piece is None else piece.probability,
                    "repeats": None
                    if piece is None or piece.repeats is None
                    else piece.repeats + 1,
                }

    def pieces_by_line(self) -> dict[int, list[Piece]]:
        """The pieces of each line from 0, with those behind them that belong to none.

        Pieces before all lines are at -1.
        """
        found: dict[int, list[Piece]] = {line: [] for line in range(-1, len(self.lines))}
        last = -1
        for one in self.pieces:
            last = last if one.line is None else one.line
            found[last].append(one)
        return found

    def to_frame(self) -> pd.DataFrame:
        """A data frame of :meth:`rows`."""
        import pandas as pd

        frame = pd.DataFrame(list(self.rows()))
        integers = dict.fromkeys(["line", "start", "end", "repeats"], "Int64")
        return frame.astype(integers)


def summary(found: Sequence[Segmentation]) -> str:
    """One sentence about the segmentations of some documents."""
    lines = sum(len(one.lines) for one in found)
    missing = sum(len(one.missing) for one in found)
    blank = sum(not words for one in found for words in one.source_words)
    extra = [piece for one in found for piece in one.extra]
    wordless = f", {blank} without words" if blank else ""
    share = missing / max(1, lines - blank)
    whose = found[0].lines_of if found else "source"
    said = (
        f"{lines} {whose} line{'s' * (lines != 1)}{wordless}: {lines - blank - missing} "
        f"{'has' if lines - blank - missing == 1 else 'have'} text, {missing} "
        f"{'has' if missing == 1 else 'have'} none ({share:.1%})"
    )
    if len(found) == 1 and missing:
        runs = [(run[0] + 1, run[-1] + 1) for run in found[0].passages]
        named = [f"{first}" if first == last else f"{first} to {last}" for first, last in runs]
        more = f" and {len(named) - MAX_NAMED} more" if len(named) > MAX_NAMED else ""
        said += f": line{'s' * (missing > 1)} {', '.join(named[:MAX_NAMED])}{more}"
    moved = sum(len(one.moved) for one in found)
    if moved:
        said += f"; {moved} line{'s' * (moved != 1)} stand{'s' * (moved == 1)} in another order"
    unknown = sum(one.unknown_words for one in found)
    unknown_share = unknown / max(1, sum(one.output_words for one in found))
    if unknown_share > UNKNOWN_OF_HYPOTHESES:
        said = f"the model does not know {percent(unknown_share)} of the output's words; {said}"
    if not extra:
        return f"{said}; the whole output belongs to lines"
    words = sum(piece.words for piece in extra)
    belong = (
        "pieces of the output ({}) belong" if len(extra) > 1 else "piece of the output ({}) belongs"
    )
    counted = belong.format(f"{words} word{'s' * (words != 1)}")
    return f"{said}; {len(extra)} {counted} to no line"


class _Document(NamedTuple):
    """A source: its words as types, and what is known of its lines.

    Attributes:
        types: The distinct words.
        shares: The share of each type in each line, ``[lines, types]``.
        lengths: Number of words of each line; 0 if none has a letter or digit, ``[lines]``.
        roomy: Whether a line has several sentences, ``[lines]``.
        different: Number of different lines that have words.
        rules: The tokens of lines without words, such as a rule or a code fence.
    """

    types: list[str]
    shares: sparse.csr_matrix
    lengths: Integers
    roomy: Flags
    different: int
    rules: frozenset[str]

    @classmethod
    def read(cls, lines: Sequence[str], tokens: Tokenizer) -> _Document:
        types: dict[str, int] = {}
        plain = replace(tokens, lowercase=False, stem=0)
        rows, columns, values = [], [], []
        lengths, roomy, rules = [], [], set()
        different: set[tuple[str, ...]] = set()
        for number, line in enumerate(lines):
            own = [known_form(token, tokens) for token in plain(line)]
            is_worded = any(map(has_letters, own))
            if is_worded:
                own = [token for token in own if not MARKUP.fullmatch(token)]
                different.add(tuple(own))
            else:
                rules.update(own)
            lengths.append(len(own) if is_worded else 0)
            roomy.append(any(token[-1:] in SENTENCE_ENDS for token in own[:-1]))
            for token in own:
                rows.append(number)
                columns.append(types.setdefault(token, len(types)))
                values.append(1 / len(own))
        shape = (len(lines), len(types))
        return cls(
            list(types),
            sparse.csr_matrix((np.array(values, np.float32), (rows, columns)), shape=shape),
            np.array(lengths, np.int64),
            np.array(roomy, bool),
            len(different),
            frozenset(rules),
        )


@dataclass(frozen=True)
class Segmenter:
    """Cuts outputs by their sources, with the table of one model.

    >>> segmenter = Segmenter.of_references()
    >>> segmenter(["A house. A dog."], ["A house.", "A dog."]).lines
    ['A house.', 'A dog.']

    Get one by :meth:`of_model` or :meth:`of_references`.

    Attributes:
        chances: p(t | s) of distinct source and output words, ``[sources, outputs]``.
        source_tokens: The tokeniser of sources, or of references.
        tokens: The tokeniser of outputs.
        name: What signatures call the way of segmenting.
        knows: Which output words the model knows only as source words, and which it does not know
            as output words; None without a model.
        frequencies: How probable output words are in general; None without a model.
        per_word: Number of output words that a source word has on average.
        by_user: Whether the user tokenised the model's training text, by side.
    """

    chances: Callable[[Sequence[str], Sequence[str]], sparse.csr_matrix]
    source_tokens: Tokenizer
    tokens: Tokenizer
    name: str
    knows: Callable[[Sequence[str]], tuple[Flags, Flags]] | None = None
    frequencies: Callable[[Sequence[str]], Floats] | None = None
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
        table = WordTable(aligner.model.table("forward"))
        name = f"model-{aligner.model.hash}"
        return cls(
            table.between,
            aligner.source_tokens,
            aligner.tokens,
            name,
            table.knows,
            table.frequencies,
            aligner.model.manifest.forward.length_multiplier,
            cut_by_user(aligner.model),
        )

    @classmethod
    def of_references(cls, tokenize: str = "13a", references: Iterable[Segment] = ()) -> Segmenter:
        """A segmenter by a reference in the output's language.

        Args:
            tokenize: The tokeniser of both; case does not count.
            references: Lines of references; if their script has no spaces, ``13a`` and ``intl``
                give way to ``char``, with which each character is a word.
        """
        tokens = Tokenizer(tokenizer_for(references, tokenize), lowercase=True)
        return cls(similar_words, tokens, tokens, f"reference-{tokens.name}")

    def __call__(self, output: str | Iterable[str], sources: Iterable[Segment]) -> Segmentation:
        """Cut an output by the lines of its source; see :func:`segment`."""
        if not isinstance(output, str):
            listed = segments_of(output, "the output")
            output = "\n".join(line if isinstance(line, str) else " ".join(line) for line in listed)
        output = output.replace("\r\n", " \n").replace("\r", "\n")  # no character moves
        listed = segments_of(sources, "the source")
        lines = [line if isinstance(line, str) else " ".join(line) for line in listed]
        whole = "source" if self.knows else "reference"
        for number, line in enumerate(lines, start=1):
            if "\n" in line.strip():
                raise DataError(f"line {number} of the {whole} has a line end inside")
        tokens = (self.source_tokens, self.tokens)
        refuse_other_tokens(self.by_user, tokens, lines, output.split("\n"))
        document = _Document.read(lines, self.source_tokens)
        words = OutputWords.read(output, self.tokens)
        if not document.lengths.any():
            raise DataError(f"the {whole} has no words")
        if not any(map(has_letters, words.tokens)):
            raise DataError("the output is empty")
        types = {word: place for place, word in enumerate(dict.fromkeys(words.tokens))}
        chances = self.chances(document.types, list(types))
        if self.frequencies is None:
            usual = np.full(len(types), USUAL)
        else:
            usual = self.frequencies(list(types))
        evidence = _weigh(document, words, types, chances, usual, self.per_word)
        breaks = int((words.boundaries >= Boundary.LINE).sum())
        path = find_path(evidence, COSTS.for_lines(breaks, int((evidence.lengths > 0).sum())))
        if self.knows is not None:
            copied, unknown = self.knows(list(types))
            of_source = set(document.types)
            here = copied & np.array([word in of_source for word in types], bool)
            if here[evidence.types].mean() > MAX_UNKNOWN:
                raise DataError("the output is in the source's language: it is not translated")
        else:
            unknown = np.zeros(len(types), bool)
        least = MIN_FIT if document.different > 1 else MIN_FIT_ALONE
        _check_fit(evidence, path, unknown, least, whole)
        found = _Cut(document, words, evidence, path).segmentation()
        unknown_words = int((unknown[evidence.types] & words.is_word).sum())
        return replace(found, lines_of=whole, unknown_words=unknown_words)

    def empty(self, sources: Iterable[Segment]) -> Segmentation:
        """The segmentation of an output without words: all lines are missing."""
        listed = segments_of(sources, "the source")
        lines = [line if isinstance(line, str) else " ".join(line) for line in listed]
        lengths = tuple(_Document.read(lines, self.source_tokens).lengths.tolist())
        missing = tuple(number for number, words in enumerate(lengths) if words)
        sure = (1.0,) * len(lines)
        whole = "source" if self.knows else "reference"
        return Segmentation([""] * len(lines), missing, (), (), sure, lengths, 0, whole)


def _weigh(
    document: _Document,
    words: OutputWords,
    types: Mapping[str, int],
    chances: sparse.csr_matrix,
    usual: Floats,
    per_word: float,
) -> Evidence:
    """The evidence of each word for each line.

    A word's probability in general is half its frequency in this output, half its mean probability
    in all lines. In a document of few different lines, that is hardly its probability elsewhere, so
    there its usual probability ``usual`` counts, as much as :data:`FEW` lines.
    """
    kinds = np.array([types[token] for token in words.tokens], np.int64)
    given = document.shares @ chances
    share = np.maximum(document.lengths, 0) / document.lengths.sum()
    expected = np.asarray(given.T @ share).ravel()
    here = (np.bincount(kinds, minlength=len(types)) / len(kinds) + expected) / 2
    others = document.different - 1
    general = (others * here + FEW * usual) / (others + FEW)
    ratios = np.log1p(SHARE / (1 - SHARE) * given.data / general.astype(np.float32)[given.indices])
    is_rule = np.array([token in document.rules for token in words.tokens])
    return Evidence(
        ratios=sparse.csc_matrix((ratios, given.indices, given.indptr), shape=given.shape[::-1]),
        base=float(np.log(1 - SHARE)),
        types=kinds,
        weights=(words.is_word | is_rule).astype(np.float32),
        boundaries=words.boundaries,
        lengths=np.asarray(document.lengths * per_word, np.float64),
        roomy=document.roomy,
    )


class _Cut(NamedTuple):
    """A document whose words have lines, to be cut."""

    document: _Document
    words: OutputWords
    evidence: Evidence
    path: Sequence[Run]

    def segmentation(self) -> Segmentation:
        in_place, has_text = self._probabilities()
        pieces = tuple(self._pieces(in_place))
        lengths = self.document.lengths
        texts: list[list[str]] = [[] for _ in lengths]
        for piece in pieces:
            if piece.line is not None:
                texts[piece.line].append(piece.text)
        return Segmentation(
            lines=[" ".join(text) for text in texts],
            missing=tuple(n for n, text in enumerate(texts) if lengths[n] and not text),
            extra=tuple(piece for piece in pieces if piece.line is None),
            pieces=pieces,
            probabilities=tuple(
                float(has_text[n] if text else 1 - has_text[n]) for n, text in enumerate(texts)
            ),
            source_words=tuple(lengths.tolist()),
            output_words=int(self.words.is_word.sum()),
        )

    def _probabilities(self) -> tuple[Floats, Floats]:
        """The probability of each piece's place, and that each line has text.

        A piece might also belong to no line, or to a missing line near; a piece that belongs to
        none, to the line before it.
        """
        lengths = self.evidence.lengths
        segments = np.array([run.segment for run in self.path])
        known = np.maximum.accumulate(np.where(segments == NOWHERE, 0, np.arange(len(segments))))
        heads = np.maximum(segments[known], 0)
        is_free = lengths > 0
        is_free[segments[segments != NOWHERE]] = False
        in_place, has_text = np.zeros(len(segments)), np.zeros(len(lengths))
        for start in range(0, len(segments), BATCH):
            runs, head = self.path[start : start + BATCH], heads[start : start + BATCH]
            low = max(0, int(head.min()) - NEAR)
            lines = np.arange(low, min(len(lengths), int(head.max()) + NEAR + 1))
            firsts = np.array([run.first for run in runs])
            sizes = np.array([run.last - run.first for run in runs])
            ratios = self.evidence.block(runs[0].first, runs[-1].last, low + 1, lines[-1] + 2)
            found = np.add.reduceat(ratios, firsts - runs[0].first, axis=0)
            found = np.maximum(found, -COSTS.free)
            found -= COSTS.of_lengths(sizes[:, None], lengths[lines])
            away = lines - head[:, None]
            is_possible = (is_free[lines] & (abs(away) <= NEAR)) | (away == 0)
            found = np.where(is_possible, found, -np.inf)
            top = np.maximum(found.max(1), 0.0)
            chances = np.exp(found - top[:, None])
            lost = np.exp(-np.array(COSTS.enter)[self.evidence.boundaries[firsts]] - top)
            total = chances.sum(1) + lost
            chances /= total[:, None]
            own = np.where(segments[start : start + BATCH] == NOWHERE, lost / total, 0.0)
            in_place[start : start + BATCH] = own + np.where(
                own, 0.0, (chances * (away == 0)).sum(1)
            )
            has_text[lines] = np.maximum(has_text[lines], chances.max(0))
        return in_place, has_text

    def _said_again(self) -> set[Run]:
        """The pieces that say a line again, in whatever order: all but its longest one."""
        by_line: dict[int, list[Run]] = {}
        for run in self.path:
            by_line.setdefault(run.segment, []).append(run)
        found = set()
        for line, runs in by_line.items():
            longest, *others = sorted(runs, key=lambda run: run.first - run.last)
            if line == NOWHERE or not others:
                continue
            said = set(self.evidence.types[longest.first : longest.last].tolist())
            for run in others:
                again = sum(
                    kind in said for kind in self.evidence.types[run.first : run.last].tolist()
                )
                if again >= MIN_SAME * (longest.last - longest.first):
                    found.add(run)
        return found

    def _pieces(self, probabilities: Floats) -> Iterator[Piece]:
        text, again = self.words.text, self._said_again()
        # White space at the beginning and the end belongs to no piece, any other character to one.
        starts = [0, *(int(self.words.starts[run.first]) for run in self.path[1:]), len(text)]
        pieces = zip(self.path, probabilities, pairwise(starts), strict=True)
        for run, probability, (start, stop) in pieces:
            kept = text[start:stop]
            first = start + len(kept) - len(kept.lstrip())
            is_extra = run.segment == NOWHERE or run in again
            yield Piece(
                line=None if is_extra else run.segment,
                start=first,
                end=max(first, start + len(kept.rstrip())),
                text=_LINE_END.sub(" ", kept.strip()),
                words=int(self.words.is_word[run.first : run.last].sum()),
                probability=float(probability),
                repeats=run.segment if run in again else None,
            )


def _check_fit(
    evidence: Evidence, path: Sequence[Run], unknown: Flags, least: float, whole: str
) -> None:
    """Refuse an output that is no translation of its source, or has it in another order.

    Args:
        evidence: The evidence.
        path: The path that was found.
        unknown: Whether the model does not know a type of word.
        least: The least share of words that must fit their line.
        whole: What it is cut by, in messages: the source or a reference.

    Raises:
        DataError: What is wrong.
    """
    counted = evidence.weights > 0
    segments = np.repeat([run.segment for run in path], [run.last - run.first for run in path])
    types, lines = evidence.types[counted], segments[counted]
    on_line = lines != NOWHERE
    share = 0.0
    if on_line.any():
        cells = evidence.ratios[types[on_line], lines[on_line]]
        share = float((np.asarray(cells).ravel() + evidence.base > 0).sum() / len(types))
    found = len(set(lines[on_line].tolist())) / max(1, (evidence.lengths > 0).sum())
    if share >= least and found >= MIN_ORDERED:
        return
    order = _order(evidence)
    ordered = len(_ascending(order))
    if len(order) >= MIN_UNITS and ordered < MIN_ORDERED * len(order):
        raise DataError(
            f"the output has the {whole}'s sentences in another order: of {len(order)} sentences "
            f"that fit a line, {ordered} follow the {whole}'s order; put them in order"
        )
    if share >= least:
        return
    is_what = "a translation of its source" if whole == "source" else "the text of its reference"
    said = f"the output is not {is_what}: {share:.0%} of its words fit their line"
    if unknown[types].mean() > MAX_UNKNOWN:
        raise DataError(
            f"{said}, and the model does not know {unknown[types].mean():.0%} of them; is it in "
            "another language, or the model for other languages?"
        )
    tokens = evidence.types.tolist()
    trigrams = [*zip(tokens, tokens[1:], tokens[2:], strict=False)]
    again = 1 - len(set(trigrams)) / max(1, len(trigrams))
    if trigrams and again > MAX_AGAIN:
        raise DataError(
            f"{said}, and {again:.0%} of them repeat what was said before; does it end in a loop?"
        )
    raise DataError(f"{said}; is it the translation of another text?")


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


def _ascending(lines: Sequence[int]) -> list[int]:
    """The longest ascending chain; a line may come several times."""
    tails: list[int] = []
    ends: list[tuple[int, object]] = []  # each chain's last line, and the chain before it
    for line in lines:
        place = bisect_right(tails, line)
        tails[place : place + 1] = [line]
        ends[place : place + 1] = [(line, ends[place - 1] if place else None)]
    chain: list[int] = []
    link: Any = ends[-1] if ends else None
    while link is not None:
        line, link = link
        chain.append(line)
    return chain[::-1]


def segment(
    output: str | Iterable[str],
    sources: Iterable[Segment] | None = None,
    aligner: Aligner | None = None,
    *,
    references: Iterable[Segment] | None = None,
    tokenize: str = "13a",
) -> Segmentation:
    """Cut the output of one document by the lines of its source, or of a reference.

    >>> found = segment("a house . the dog sleeps", references=["a house .", "a cat", "the dog"])
    >>> found.lines, found.missing
    (['a house .', '', 'the dog sleeps'], (1,))

    To segment many documents, make one :class:`Segmenter` and call it for each.

    Args:
        output: The output as one text, or its lines.
        sources: The lines of the source.
        aligner: A model of both languages, from :meth:`Aligner.train` or :meth:`Aligner.load`.
        references: In place of source and model, the lines of a reference in the output's language.
        tokenize: With references, the tokeniser of both texts; see :meth:`Segmenter.of_references`.

    Raises:
        DataError: An empty output or source; an output that is no translation of its source, or in
            another order; links in place of a model.
        TypeError: The source is no list of lines, or source and references are both given.
    """
    if references is not None:
        if sources is not None or aligner is not None:
            raise TypeError("give either sources and an aligner, or references")
        lines = list(segments_of(references, "the reference"))
        return Segmenter.of_references(tokenize, lines)(output, lines)
    if sources is None or aligner is None:
        raise TypeError("segment needs sources and an aligner, or references")
    return Segmenter.of_model(aligner)(output, sources)
