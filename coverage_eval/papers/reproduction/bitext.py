"""A run's corpora as pieces, numbers and tensors, with the links that fertilities come from.

Joint byte pair encoding (Sennrich et al. 2016, by the ``tokenizers`` library) splits words; pieces
are marked as by ``subword-nmt``: ``un@@ happy``. Every source ends in ``<SINK>``, for all systems
(Malaviya et al. 2018, section 4). Parts that take time to make are kept in a folder and read from
there the next time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer as Library
from tokenizers import models, pre_tokenizers, trainers
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.alignment.link_files import read_links
from coverage_eval.data.files import atomic_path, read_parallel, read_segments, write_lines
from coverage_eval.errors import DataError
from coverage_eval.papers.reproduction.run_folder import WORD_ALIGNER, Corpora
from coverage_eval.special_tokens import SINK
from fast_align_wrapper import FastAlign
from fast_align_wrapper.links import Links, format_links
from fast_align_wrapper.text import tokenize

Pieces: TypeAlias = tuple[str, ...]
Bounds: TypeAlias = "Sequence[NDArray[np.float64]]"
"""Fertilities of the pieces of each source."""

BYTE_PAIRS = "bpe.json"
SOURCE_VOCABULARY, TARGET_VOCABULARY = "source.vocabulary", "target.vocabulary"

_GOES_ON, _WORD_END = "@@", "</w>"
UNKNOWN_ID, BLANK, START, END = range(4)
_SPECIAL = ("<unk>", "<blank>", "<s>", "</s>")


class BytePairs:
    """Learned merge operations, which split words into pieces.

    Args:
        library: The library's model.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._pieces: dict[str, tuple[str, ...]] = {}

    @classmethod
    def learn(cls, segments: Iterable[str], merges: int) -> BytePairs:
        """Learn from both sides of the training text.

        Args:
            segments: Tokenised text.
            merges: Merge operations; fewer if the text has no more pairs.
        """
        texts = [tokenize(segment) for segment in segments]
        words = {word for words in texts for word in words}
        # The library's vocabulary size includes the alphabet, and words' last characters again.
        alphabet = len({c for word in words for c in word}) + len({word[-1] for word in words})
        library = Library(models.BPE(unk_token=_SPECIAL[0], end_of_word_suffix=_WORD_END))
        library.pre_tokenizer = pre_tokenizers.Split(" ", "removed")
        # The library numbers the ends of words in the order of a hash map, and breaks ties by these
        # numbers; as special tokens they are numbered first, in this order.
        ends = sorted({word[-1] + _WORD_END for word in words})
        trainer = trainers.BpeTrainer(
            vocab_size=1 + alphabet + merges,
            special_tokens=[_SPECIAL[0], *ends],
            end_of_word_suffix=_WORD_END,
            show_progress=False,
        )
        library.train_from_iterator((" ".join(words) for words in texts), trainer)
        trained = json.loads(library.to_str())
        # From now on they are pieces like others: "e</w>" in a text is not the end of a word.
        trained["added_tokens"] = [t for t in trained["added_tokens"] if t["content"] not in ends]
        return cls(Library.from_str(json.dumps(trained)))

    @classmethod
    def load(cls, path: Path) -> BytePairs:
        """Read what :meth:`save` wrote."""
        return cls(Library.from_file(str(path)))

    def save(self, path: Path) -> None:
        """Write the merge operations as the library's JSON."""
        self._library.save(str(path))

    def split(self, words: Sequence[str]) -> list[str]:
        """The pieces of some words; unseen characters are separate pieces."""
        return [piece for word in words for piece in self._split_word(word)]

    def _split_word(self, word: str) -> tuple[str, ...]:
        if word not in self._pieces:
            spans = self._library.encode(word).offsets
            self._pieces[word] = tuple(
                word[start:end] + (_GOES_ON if end < len(word) else "") for start, end in spans
            )
        return self._pieces[word]


class Vocabulary:
    """Numbered pieces: first the special ones, then the others by frequency.

    Args:
        pieces: All but the special ones.
    """

    def __init__(self, pieces: Iterable[str]) -> None:
        self.pieces = (*_SPECIAL, *pieces)
        # A special piece that occurs in a text is treated as a word, not as that piece.
        self._numbers = {p: n for n, p in enumerate(self.pieces) if n >= len(_SPECIAL)}

    @classmethod
    def of(cls, texts: Iterable[Sequence[str]], *further: str) -> Vocabulary:
        """The pieces of a training text, after ``further`` ones."""
        counts = Counter(piece for text in texts for piece in text)
        known = (piece for piece, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])))
        return cls((*further, *(p for p in known if p not in (*_SPECIAL, *further))))

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        """Read what :meth:`save` wrote."""
        return cls(read_segments(path))

    def save(self, path: Path) -> None:
        """Write one piece per line, without the special ones."""
        write_lines(path, self.pieces[len(_SPECIAL) :])

    def __len__(self) -> int:
        return len(self.pieces)

    def numbers(self, pieces: Iterable[str]) -> list[int]:
        """The number of each piece; unknown ones get that of ``<unk>``."""
        return [self._numbers.get(piece, UNKNOWN_ID) for piece in pieces]


@dataclass(frozen=True)
class PieceText:
    """Parallel text in pieces.

    Attributes:
        sources: Each ends in ``<SINK>``.
        targets: The translations, without end symbols.
        links: Links of sources and targets; empty if they are not needed.
    """

    sources: Sequence[Pieces]
    targets: Sequence[Pieces]
    links: Sequence[Links] = ()

    def first(self, number: int | None) -> PieceText:
        """The first pairs; None for all."""
        return PieceText(self.sources[:number], self.targets[:number], self.links[:number])


@dataclass(frozen=True)
class Bitext:
    """All corpora of an experiment.

    Attributes:
        pairs: The byte pairs.
        source: Vocabulary of the source side.
        target: Vocabulary of the target side.
        train: Training text, with links.
        valid: Validation text, with links.
        test: Test set, without links.
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
        folder: An existing folder for byte pairs, links and the word aligner.
        corpora: The text files.
        merges: Operations of byte pair encoding.
        max_length: Longer training pairs are left out.

    Raises:
        DataError: Files are unreadable or unequal, or no training pair is left.
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
    # The reference is read only to check that its length is the source's.
    test = [(s, ()) for s, _ in _cut(read_parallel(corpora.test_src, corpora.test_ref), pairs)]
    links = _links(folder, kept, valid)
    sources = Vocabulary.of((source for source, _ in kept), SINK)
    targets = Vocabulary.of(target for _, target in kept)
    sources.save(folder / SOURCE_VOCABULARY)
    targets.save(folder / TARGET_VOCABULARY)
    texts = (_text(kept, links[0]), _text(valid, links[1]), _text(test, ()))
    if not (folder / WORD_ALIGNER).exists():
        Aligner.train_pairs(lines).save(folder / WORD_ALIGNER)
    words = Aligner.load(folder / WORD_ALIGNER)
    return Bitext(pairs, sources, targets, *texts, len(lines) - len(kept), words)


def _cut(lines: Iterable[tuple[str, ...]], pairs: BytePairs) -> list[tuple[Pieces, Pieces]]:
    return [
        (tuple(pairs.split(tokenize(source))), tuple(pairs.split(tokenize(target))))
        for source, target in lines
    ]


def _text(pairs: Sequence[tuple[Pieces, Pieces]], links: Sequence[Links]) -> PieceText:
    return PieceText([(*source, SINK) for source, _ in pairs], [t for _, t in pairs], links)


def _links(folder: Path, *texts: Sequence[tuple[Pieces, Pieces]]) -> list[list[Links]]:
    """Links of training and validation text, from a model of the training text."""
    paths = [folder / "train.links", folder / "valid.links"]
    if not all(path.exists() for path in paths):
        with FastAlign.train(texts[0]) as model:
            links = (model.training_links(), model.align(texts[1]))
            for path, found in zip(paths, links, strict=True):
                write_lines(path, map(format_links, found))
    return [list(read_links(path)) for path in paths]


@dataclass(frozen=True)
class Minibatch:
    """Some sentences as tensors.

    Attributes:
        rows: Their places in the text.
        sources: ``[B, S]`` numbers of pieces, ``<blank>`` at padding.
        lengths: ``[B]`` pieces of each source, on the CPU.
        inside: ``[B, S]`` False at padding; None if no source is padded.
        before: ``[B, T]`` the decoder's input: the start symbol and the target.
        after: ``[B, T]`` the decoder's output: the target and the end symbol.
        fertilities: ``[B, S]`` upper bounds, +inf for sinks, 0 at padding; None if there are
            none.
        places: ``[words]`` positions in the flattened ``after`` that are not padding.
        words: Pieces to predict, with end symbols.
    """

    rows: tuple[int, ...]
    sources: Tensor
    lengths: Tensor
    inside: Tensor | None
    before: Tensor
    after: Tensor
    fertilities: Tensor | None
    places: Tensor
    words: int

    def to(self, device: torch.device) -> Minibatch:
        """Move to a device; lengths stay on the CPU, where packing needs them."""
        return replace(
            self,
            sources=self.sources.to(device),
            inside=None if self.inside is None else self.inside.to(device),
            before=self.before.to(device),
            after=self.after.to(device),
            fertilities=None if self.fertilities is None else self.fertilities.to(device),
            places=self.places.to(device),
        )


def make_minibatches(
    text: PieceText,
    source: Vocabulary,
    target: Vocabulary,
    bounds: Bounds | None = None,
    *,
    size: int,
) -> list[Minibatch]:
    """Batch sentences of similar length: by source length, then by target length.

    Args:
        text: The sentences.
        source: Vocabulary of the sources.
        target: Vocabulary of the targets.
        bounds: Fertilities of each source, with its sink.
        size: The most sentences in a batch.
    """
    lengths = [(len(s), len(t)) for s, t in zip(text.sources, text.targets, strict=True)]
    order = sorted(range(len(lengths)), key=lambda i: (*lengths[i], i))
    sources = [source.numbers(pieces) for pieces in text.sources]
    targets = [target.numbers(pieces) for pieces in text.targets]
    batches = []
    for start in range(0, len(order), size):
        rows = tuple(order[start : start + size])
        counts = torch.tensor([len(sources[i]) for i in rows])
        positions = torch.arange(int(counts.max()))
        inside = positions < counts[:, None]
        after = padded([[*targets[i], END] for i in rows])
        places = (after != BLANK).flatten().nonzero()[:, 0]
        batches.append(
            Minibatch(
                rows,
                padded([sources[i] for i in rows]),
                counts,
                None if bool(inside.all()) else inside,
                padded([[START, *targets[i]] for i in rows]),
                after,
                None
                if bounds is None
                else pad_sequence(
                    [torch.from_numpy(bounds[i]).float() for i in rows], batch_first=True
                ),
                places,
                len(places),
            )
        )
    return batches


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Rows of numbers as one tensor; shorter rows are padded with ``<blank>``."""
    tensors = [torch.tensor(row, dtype=torch.long) for row in rows]
    return pad_sequence(tensors, batch_first=True, padding_value=BLANK)
