"""The corpora of an experiment, cut into pieces, with the links that fertilities come from.

Every source ends in ``<SINK>``, for all systems alike (Malaviya et al. 2018, section 4). What takes
time to make is kept in a folder, and read from there the next time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.alignment.link_files import read_links
from coverage_eval.data.files import atomic_path, read_parallel, write_lines
from coverage_eval.errors import DataError
from coverage_eval.nmt.bpe import BytePairs
from coverage_eval.nmt.corpora import Corpora
from coverage_eval.nmt.vocabulary import Vocabulary
from coverage_eval.special_tokens import SINK
from fast_align_wrapper import FastAlign
from fast_align_wrapper.links import Links, format_links
from fast_align_wrapper.text import tokenize

BYTE_PAIRS = "bpe.json"
SOURCE_VOCABULARY, TARGET_VOCABULARY = "source.vocabulary", "target.vocabulary"

Pieces: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class PieceText:
    """Parallel text in pieces.

    Attributes:
        sources: Each ends in ``<SINK>``.
        targets: As many; without end symbols.
        links: Of sources and targets; empty where none are needed.
    """

    sources: Sequence[Pieces]
    targets: Sequence[Pieces]
    links: Sequence[Links] = ()

    def first(self, number: int | None) -> PieceText:
        """So many pairs from the first; None for all."""
        return PieceText(self.sources[:number], self.targets[:number], self.links[:number])


@dataclass(frozen=True)
class Bitext:
    """All corpora of an experiment.

    Attributes:
        pairs: The byte pairs.
        source: Vocabulary of the source side.
        target: Of the target side.
        train: With links.
        valid: With links.
        test: Without.
        left_out: Training pairs with an empty side, or one longer than the limit.
        words: The aligner of whole words, for DROP.
    """

    pairs: BytePairs
    source: Vocabulary
    target: Vocabulary
    train: PieceText
    valid: PieceText
    test: PieceText
    left_out: int
    words: ModelAligner


def prepare(folder: Path, corpora: Corpora, *, merges: int, max_length: int) -> Bitext:
    """Read the corpora, learn byte pairs, and align pieces and words.

    Args:
        folder: Where byte pairs, links and the word aligner are kept; it must exist.
        corpora: The text files.
        merges: Operations of byte pair encoding.
        max_length: Longer training pairs are left out.

    Raises:
        DataError: Unreadable or unequal files, or no training pair is left.
        AlignerError: The aligner failed.
    """
    lines = list(read_parallel(corpora.train_src, corpora.train_tgt))
    codes = folder / BYTE_PAIRS
    if not codes.exists():
        learned = BytePairs.learn((line for pair in lines for line in pair), merges)
        with atomic_path(codes) as temporary:
            learned.save(temporary)
    pairs = BytePairs.load(codes)
    everything = _cut(lines, pairs)
    kept = [pair for pair in everything if all(0 < len(side) <= max_length for side in pair)]
    if not kept:
        raise DataError(
            f"{corpora.train_src}: no training pair has words on both sides and at most "
            f"{max_length} pieces on each"
        )
    valid = _cut(read_parallel(corpora.valid_src, corpora.valid_tgt), pairs)
    # The reference is only read to see that it belongs to the source.
    test = [(s, ()) for s, _ in _cut(read_parallel(corpora.test_src, corpora.test_ref), pairs)]
    links = _links(folder, kept, valid)
    sources = Vocabulary.of((source for source, _ in kept), SINK)
    targets = Vocabulary.of(target for _, target in kept)
    sources.save(folder / SOURCE_VOCABULARY)
    targets.save(folder / TARGET_VOCABULARY)
    texts = (_text(kept, links[0]), _text(valid, links[1]), _text(test, ()))
    words = _word_aligner(folder / "words.model", lines)
    return Bitext(pairs, sources, targets, *texts, len(lines) - len(kept), words)


def _cut(lines: Iterable[tuple[str, ...]], pairs: BytePairs) -> list[tuple[Pieces, Pieces]]:
    return [
        (tuple(pairs.split(tokenize(source))), tuple(pairs.split(tokenize(target))))
        for source, target in lines
    ]


def _text(pairs: Sequence[tuple[Pieces, Pieces]], links: Sequence[Links]) -> PieceText:
    return PieceText([(*source, SINK) for source, _ in pairs], [t for _, t in pairs], links)


def _links(folder: Path, *texts: Sequence[tuple[Pieces, Pieces]]) -> list[list[Links]]:
    """Links of training and validation text, by a model of the training text."""
    paths = [folder / "train.links", folder / "valid.links"]
    if not all(path.exists() for path in paths):
        with FastAlign.train(texts[0]) as model:
            links = (model.training_links(), model.align(texts[1]))
            for path, found in zip(paths, links, strict=True):
                write_lines(path, map(format_links, found))
    return [list(read_links(path)) for path in paths]


def _word_aligner(path: Path, lines: Sequence[tuple[str, ...]]) -> ModelAligner:
    if not path.exists():
        Aligner.train_pairs(lines).save(path)
    return Aligner.load(path)
