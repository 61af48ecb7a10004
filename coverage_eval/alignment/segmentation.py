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

from coverage_eval.alignment.aligner import Aligner, ModelAligner, check_aligner
from coverage_eval.alignment.output_words import (
    MARKUP,
    SENTENCE_ENDS,
    Boundary,
    Integers,
    OutputWords,
    has_letters,
    known_form,
)
from coverage_eval.alignment.segment_path import COSTS, NOWHERE, Evidence, Flags, Path, find_path
from coverage_eval.alignment.word_table import WordTable, similar_words
from coverage_eval.arrays import Floats
from coverage_eval.data.dataset import check_list
from coverage_eval.data.documents import Piece
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError
from fast_align_wrapper.text import Segment

if TYPE_CHECKING:
    import pandas as pd

SHARE = 0.7
"""The share of a segment's words that its source words explain; any word may stand for the rest."""

FEW = 3
"""A document of so many lines more than one counts as much as what is usual elsewhere."""

USUAL = 1e-3
"""The usual probability of all words, without a model."""

MIN_EXTRA = 3
"""Shorter pieces that belong to no line stay with the words before them."""

MAX_NAMED = 5
"""Missing passages that a summary names."""

MIN_FREE = 0.4
"""A piece that fits no line is taken for the free translation of the one line that is missing there
if neither is shorter than this share of the other, by what the lengths of the document suggest."""

MIN_FIT, MIN_FIT_ALONE = 0.3, 0.5
"""An output is refused if less than this share of its words fit their line better than words by
chance; the second is for sources of one line, or of equal ones, where nothing else can be compared.
Of true translations, 52% fit or more, even with a weak model; of other captions and sentences up to
58%, but less than 50% in 19 of 20 documents of two lines, and none in documents of 40."""

MIN_ORDERED = 0.6
"""Only if fewer lines than this share are found is the order of sentences looked at; they are in
another order if no more than this share of them follows the source's order."""

MIN_UNITS, MIN_PLACED = 5, 4.0
"""The least number of sentences to judge order by, and the least evidence of a sentence's line."""

MAX_UNKNOWN = 0.5

MAX_AGAIN = 0.5
"""An output loops if more than this share of its words end a trigram that came before."""

MIN_SUPPORT, MIN_MOVED = 0.3, 1.0
"""How well its words must fit that line, by :meth:`_Cut._fit`; and how well if the line is missing
elsewhere, since the piece was moved."""

MIN_REPEATED = 0.5
"""The share of a line's evidence that a second piece must repeat to be a repetition."""

MIN_TWICE, MIN_SAME = 1.4, 0.6
"""A piece may say a line twice if it is longer than this share of what the line's length suggests,
and its halves have this share of their words in common."""

NEAR, MIN_GAIN = 3, 1.0
"""How many lines away a missing line's sentence is looked for, and how much better it must fit."""

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
    """

    lines: list[str]
    missing: tuple[int, ...]
    extra: tuple[Piece, ...]
    pieces: tuple[Piece, ...]
    probabilities: tuple[float, ...]
    source_words: tuple[int, ...]
    output_words: int
    lines_of: str = "source"

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
    """

    chances: Callable[[Sequence[str], Sequence[str]], sparse.csr_matrix]
    source_tokens: Tokenizer
    tokens: Tokenizer
    name: str
    knows: Callable[[Sequence[str]], tuple[Flags, Flags]] | None = None
    frequencies: Callable[[Sequence[str]], Floats] | None = None

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
        )

    @classmethod
    def of_references(cls, tokenize: str = "13a") -> Segmenter:
        """A segmenter by a reference in the output's language.

        Args:
            tokenize: The tokeniser of both; case does not count.
        """
        tokens = Tokenizer(tokenize, lowercase=True)
        return cls(similar_words, tokens, tokens, f"reference-{tokenize}")

    def __call__(self, output: str | Iterable[str], sources: Iterable[Segment]) -> Segmentation:
        """Cut an output by the lines of its source; see :func:`segment`."""
        if not isinstance(output, str):
            check_list(output, "the output")
            output = "\n".join(line if isinstance(line, str) else " ".join(line) for line in output)
        output = output.replace("\r\n", " \n").replace("\r", "\n")  # no character moves
        check_list(sources, "the source")
        lines = [line if isinstance(line, str) else " ".join(line) for line in sources]
        whole = "source" if self.knows else "reference"
        for number, line in enumerate(lines, start=1):
            if "\n" in line.strip():
                raise DataError(f"line {number} of the {whole} has a line end inside")
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
        evidence = _weigh(document, words, types, chances, usual)
        breaks = int((words.boundaries >= Boundary.LINE).sum())
        path = find_path(evidence, COSTS.for_lines(breaks, int(evidence.counts.sum())))
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
        found = _Cut(document, words, evidence, chances, path).segmentation(len(lines))
        return replace(found, lines_of=whole)

    def empty(self, sources: Iterable[Segment]) -> Segmentation:
        """The segmentation of an output without words: all lines are missing."""
        check_list(sources, "the source")
        lines = [line if isinstance(line, str) else " ".join(line) for line in sources]
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
        weights=(words.is_word | is_rule).astype(float),
        boundaries=words.boundaries,
        counts=document.lengths > 0,
        roomy=document.roomy,
    )


class _Run(NamedTuple):
    """Neighbouring words of one line: the first word, the one after the last, and the line."""

    first: int
    last: int
    line: int


class _Cut(NamedTuple):
    """A document whose words have lines, to be cut."""

    document: _Document
    words: OutputWords
    evidence: Evidence
    chances: sparse.csr_matrix
    path: Path

    def segmentation(self, lines: int) -> Segmentation:
        lines_of = self._recovered(self._joined(self._whole()))
        runs = [part for run in self._runs(lines_of) for part in self._parted(run)]
        repeated: dict[_Run, int] = {}
        by_line: dict[int, list[_Run]] = {}
        for run in runs:
            by_line.setdefault(run.line, []).append(run)
        for line, own in by_line.items():
            if line != NOWHERE and len(own) > 1:
                repeated |= dict.fromkeys(self._repetitions(own), line)
        pieces = list(self._pieces(runs, repeated))
        texts: list[list[str]] = [[] for _ in range(lines)]
        for piece in pieces:
            if piece.line is not None:
                texts[piece.line].append(piece.text)
        lengths = self.document.lengths
        missing = tuple(n for n in range(lines) if lengths[n] and not texts[n])
        visited = self.path.visited
        return Segmentation(
            lines=[" ".join(text) for text in texts],
            missing=missing,
            extra=tuple(piece for piece in pieces if piece.line is None),
            pieces=tuple(pieces),
            probabilities=tuple(
                float(visited[n] if texts[n] else 1 - visited[n]) for n in range(lines)
            ),
            source_words=tuple(lengths.tolist()),
            output_words=int(self.words.is_word.sum()),
        )

    @staticmethod
    def _runs(lines: Integers) -> list[_Run]:
        ends = [*np.flatnonzero(np.diff(lines)) + 1, len(lines)]
        return [
            _Run(int(first), int(last), int(lines[first]))
            for first, last in zip([0, *ends], ends, strict=False)
        ]

    def _whole(self) -> Integers:
        """The line of each word on the path, where fragments belong to the text beside them.

        Punctuation is no line's translation, and neither are one or two words of a longer line that
        hardly fit it better.
        """
        lines = self.path.segments.copy()
        runs = self._runs(lines)
        for place, run in enumerate(runs):
            size = int(self.words.is_word[run.first : run.last].sum())
            if run.line == NOWHERE or size >= min(MIN_EXTRA, MIN_FREE * self._expected(run.line)):
                continue
            other = runs[place - 1 if place else 1 % len(runs)].line
            gain = self._gain(run.first, run.last, run.line)
            if gain - self._gain(run.first, run.last, other) < MIN_GAIN:
                lines[run.first : run.last] = other
        return lines

    def _joined(self, lines: Integers) -> Integers:
        """The line of each word, where short pieces and free translations have lines, too.

        A piece is taken for the translation of a missing line if it has its length and stands where
        only this line is missing, maybe exchanged with the next one; or if its words fit a missing
        line nearby, which was moved.
        """
        runs = self._runs(lines)
        used = {run.line for run in runs}
        lines = lines.copy()
        lengths = self.document.lengths
        for place, run in enumerate(runs):
            if run.line != NOWHERE:
                continue
            size = int(self.words.is_word[run.first : run.last].sum())
            before = runs[place - 1].line if place else -1
            after = runs[place + 1].line if place + 1 < len(runs) else len(lengths)
            if size < MIN_EXTRA and len(runs) > 1:
                lines[run.first : run.last] = before if place else after
                continue
            window = range(max(0, before - COSTS.window), min(len(lengths), after + COSTS.window))
            missing = [
                line
                for line in window
                if lengths[line]
                and line not in used
                and MIN_FREE < size / self._expected(line) < 1 / MIN_FREE
            ]
            fits = {line: self._fit(run, line) for line in missing}
            beside = [
                line
                for line in range(max(0, before - 1), min(len(lengths), after + 2))
                if lengths[line] and line not in used
            ]
            best = max(fits, key=lambda line: fits[line], default=None)
            if best is not None and fits[best] < MIN_MOVED:
                best = beside[0] if len(beside) == 1 else None
                best = best if fits.get(best or 0, 0.0) >= MIN_SUPPORT else None
            if best is not None:
                used.add(best)
                lines[run.first : run.last] = best
        return lines

    def _recovered(self, lines: Integers) -> Integers:
        """The line of each word, where missing lines have the sentences that fit them better.

        Such a sentence stands near, in another order, and its line has others, or it has none.
        """
        found = lines.copy()
        begins = np.flatnonzero(self.evidence.boundaries >= Boundary.SENTENCE)
        ends = np.append(begins[1:], len(lines))
        heads = np.where(lines != NOWHERE, np.arange(len(lines)), 0)
        near = lines[np.maximum.accumulate(heads)][begins]  # the line, or the one before
        lengths = self.document.lengths
        for line in np.setdiff1d(np.flatnonzero(lengths), lines).tolist():
            best = (MIN_GAIN, 0, 0)
            for number in np.flatnonzero(np.abs(near - line) <= NEAR).tolist():
                first, last = int(begins[number]), int(ends[number])
                own = int(found[first])
                size = self.words.is_word[first:last].sum() / self._expected(line)
                is_all = own != NOWHERE and (found == own).sum() == last - first
                if (
                    not is_all
                    and (found[first:last] == own).all()
                    and MIN_FREE < size < 1 / MIN_FREE
                ):
                    gain = self._gain(first, last, line) - self._gain(first, last, own)
                    best = max(best, (gain, first, last))
            found[best[1] : best[2]] = line
        return found

    def _gain(self, first: int, last: int, line: int) -> float:
        """The evidence that words belong to a line rather than to none."""
        if line == NOWHERE:
            return 0.0
        kinds, weights = self.evidence.types[first:last], self.evidence.weights[first:last]
        ratios = self.evidence.ratios[:, line].toarray().ravel()[kinds] + self.evidence.base
        return float(ratios @ weights)

    def _parted(self, run: _Run) -> list[_Run]:
        """A run, parted at the sentence's end nearest its middle if both halves say the same."""
        inner = np.arange(run.first + 1, run.last)
        inner = inner[self.evidence.boundaries[inner] >= Boundary.SENTENCE]
        size = self.words.is_word[run.first : run.last].sum()
        if run.line == NOWHERE or not len(inner) or size < MIN_TWICE * self._expected(run.line):
            return [run]
        middle = int(inner[np.abs(2 * inner - run.first - run.last).argmin()])
        halves = [_Run(run.first, middle, run.line), _Run(middle, run.last, run.line)]
        kinds = [set(self.evidence.types[half.first : half.last].tolist()) for half in halves]
        is_twice = len(kinds[0] & kinds[1]) >= MIN_SAME * len(kinds[0] | kinds[1])
        return halves if is_twice and self._repetitions(halves) else [run]

    def _fit(self, run: _Run, line: int) -> float:
        """How well words fit a line: 0 for words without support, 1 as well as words by chance."""
        kinds = self.evidence.types[run.first : run.last]
        weights = self.evidence.weights[run.first : run.last]
        found = self.evidence.ratios[:, line].toarray().ravel()[kinds] @ weights
        return float(found / max(1.0, weights.sum()) / -self.evidence.base)

    def _expected(self, line: int) -> float:
        """The number of output words that a source line's length suggests."""
        lengths = self.document.lengths
        return float(lengths[line] * self.words.is_word.sum() / lengths.sum())

    def _repetitions(self, runs: Sequence[_Run]) -> list[_Run]:
        """The runs of one line that translate again what its main run translates."""
        own = self.document.shares[runs[0].line].indices
        covers = [
            self.chances[own][:, self.evidence.types[run.first : run.last]].max(1).toarray().ravel()
            for run in runs
        ]
        main = max(range(len(runs)), key=lambda n: (covers[n].sum(), -n))
        return [
            run
            for number, run in enumerate(runs)
            if number != main
            and np.minimum(covers[number], covers[main]).sum() >= MIN_REPEATED * covers[main].sum()
            and run.last - run.first >= MIN_REPEATED * (runs[main].last - runs[main].first)
        ]

    def _pieces(self, runs: Sequence[_Run], repeated: Mapping[_Run, int]) -> Iterator[Piece]:
        text = self.words.text
        # White space at the beginning and the end belongs to no piece, any other character to one.
        starts = [0, *(int(self.words.starts[run.first]) for run in runs[1:]), len(text)]
        for run, start, stop in zip(runs, starts, starts[1:], strict=False):
            kept = text[start:stop]
            first = start + len(kept) - len(kept.lstrip())
            is_extra = run.line == NOWHERE or run in repeated
            yield Piece(
                line=None if is_extra else run.line,
                start=first,
                end=max(first, start + len(kept.rstrip())),
                text=_LINE_END.sub(" ", kept.strip()),
                words=int(self.words.is_word[run.first : run.last].sum()),
                probability=float(self.path.probabilities[run.first : run.last].mean()),
                repeats=repeated.get(run),
            )


def _check_fit(evidence: Evidence, path: Path, unknown: Flags, least: float, whole: str) -> None:
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
    types, lines = evidence.types[counted], path.segments[counted]
    on_line = lines != NOWHERE
    share = 0.0
    if on_line.any():
        cells = evidence.ratios[types[on_line], lines[on_line]]
        share = float((np.asarray(cells).ravel() + evidence.base > 0).sum() / len(types))
    found = len(set(lines[on_line].tolist())) / max(1, evidence.counts.sum())
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
        if last - first >= MIN_EXTRA and totals.max() + evidence.base * len(kinds) > MIN_PLACED:
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
        tokenize: With references, the tokeniser of both texts.

    Raises:
        DataError: An empty output or source; an output that is no translation of its source, or in
            another order; links in place of a model.
        TypeError: The source is no list of lines, or source and references are both given.
    """
    if references is not None:
        if sources is not None or aligner is not None:
            raise TypeError("give either sources and an aligner, or references")
        return Segmenter.of_references(tokenize)(output, references)
    if sources is None or aligner is None:
        raise TypeError("segment needs sources and an aligner, or references")
    return Segmenter.of_model(aligner)(output, sources)
