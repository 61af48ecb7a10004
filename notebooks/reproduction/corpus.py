"""Parallel text as pieces, numbers and tensors, with the links that fertilities come from.

Joint byte pair encoding (Sennrich et al. 2016, by the ``tokenizers`` library) splits words; pieces
are marked as by ``subword-nmt``: ``un@@ happy``. Every source ends in ``<SINK>``, for all systems
(Malaviya et al. 2018, section 4).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer as Library
from tokenizers import models, pre_tokenizers, trainers
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from coverage_eval.core.tokenizers import SINK, tokenize
from fast_align_wrapper import FastAlign
from fast_align_wrapper.links import Links

Pieces: TypeAlias = tuple[str, ...]
Bounds: TypeAlias = "Sequence[NDArray[np.float64]]"
"""Fertilities of the pieces of each source."""

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

    def __str__(self) -> str:
        return self._library.to_str()

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


Lines: TypeAlias = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Bitext:
    """All corpora of an experiment: ``train`` and ``valid`` have links, ``test`` has no targets."""

    pairs: BytePairs
    source: Vocabulary
    target: Vocabulary
    train: PieceText
    valid: PieceText
    test: PieceText

    @classmethod
    def prepare(
        cls, train: Lines, valid: Lines, test: Sequence[str], merges: int, max_length: int
    ) -> Bitext:
        """Learn byte pairs, leave out training pairs that are empty or too long, and align."""
        pairs = BytePairs.learn((line for pair in train for line in pair), merges)

        def split_line(line: str) -> Pieces:
            return tuple(pairs.split(tokenize(line)))

        texts = [
            [(split_line(source), split_line(target)) for source, target in text]
            for text in (train, valid)
        ]
        texts[0] = [p for p in texts[0] if all(0 < len(side) <= max_length for side in p)]
        with FastAlign.train(texts[0]) as model:
            links = (list(model.training_links()), list(model.align(texts[1])))
        return cls(
            pairs,
            Vocabulary.of((source for source, _ in texts[0]), SINK),
            Vocabulary.of(target for _, target in texts[0]),
            *(
                PieceText([(*s, SINK) for s, _ in text], [t for _, t in text], found)
                for text, found in zip(texts, links, strict=True)
            ),
            PieceText([(*split_line(line), SINK) for line in test], [()] * len(test)),
        )


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
    word_positions: Tensor
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
            word_positions=self.word_positions.to(device),
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
        word_positions = (after != BLANK).flatten().nonzero()[:, 0]
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
                word_positions,
                len(word_positions),
            )
        )
    return batches


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Rows of numbers as one tensor; shorter rows are padded with ``<blank>``."""
    tensors = [torch.tensor(row, dtype=torch.long) for row in rows]
    return pad_sequence(tensors, batch_first=True, padding_value=BLANK)
