"""Joint byte pair encoding (Sennrich et al. 2016), by the ``tokenizers`` library.

Pieces that a word goes on after are marked as ``subword-nmt`` marks them: ``un@@ happy``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tokenizers import Tokenizer as Library
from tokenizers import models, pre_tokenizers, trainers

from fast_align_wrapper.text import tokenize

UNKNOWN = "<unk>"
GOES_ON = "@@"
_END = "</w>"


class BytePairs:
    """Splits words into pieces; a learned set of merge operations.

    Args:
        library: The model as the library holds it.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._pieces: dict[str, tuple[str, ...]] = {}

    @classmethod
    def learn(cls, segments: Iterable[str], merges: int) -> BytePairs:
        """Learn from both sides of the training text.

        Args:
            segments: Tokenised text.
            merges: Merge operations; fewer where the text has no more pairs.
        """
        texts = [tokenize(segment) for segment in segments]
        words = {word for words in texts for word in words}
        # The library counts the alphabet, words' last characters apart, to the vocabulary's size.
        alphabet = len({c for word in words for c in word}) + len({word[-1] for word in words})
        library = Library(models.BPE(unk_token=UNKNOWN, end_of_word_suffix=_END))
        library.pre_tokenizer = pre_tokenizers.Split(" ", "removed")
        trainer = trainers.BpeTrainer(
            vocab_size=1 + alphabet + merges,
            special_tokens=[UNKNOWN],
            end_of_word_suffix=_END,
            show_progress=False,
        )
        library.train_from_iterator((" ".join(words) for words in texts), trainer)
        return cls(library)

    @classmethod
    def load(cls, path: Path) -> BytePairs:
        """Read what :meth:`save` wrote."""
        return cls(Library.from_file(str(path)))

    def save(self, path: Path) -> None:
        """Write the merge operations as the library's JSON."""
        self._library.save(str(path))

    def split(self, words: Sequence[str]) -> list[str]:
        """The pieces of some words; characters never seen are pieces of their own."""
        return [piece for word in words for piece in self._split_word(word)]

    def _split_word(self, word: str) -> tuple[str, ...]:
        if word not in self._pieces:
            spans = self._library.encode(word).offsets
            self._pieces[word] = tuple(
                word[start:end] + (GOES_ON if end < len(word) else "") for start, end in spans
            )
        return self._pieces[word]
