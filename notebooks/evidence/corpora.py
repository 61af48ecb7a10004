"""Real texts, and further translations of them that are as good as the reference."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.data.dataset import Row
from coverage_eval.data.files import read_segments
from coverage_eval.metrics.omissions import add_omission_data
from fast_align_wrapper import Links

Pairs = list[tuple[str, str]]

JUDGED = 1000
"""Segments that are told apart."""

SCORED = 3000
"""Segments of outputs that are scored as a whole; systems are told apart by all of the test set."""

HELD_OUT = 5
"""Where test sets are short, one of so many training pairs is test text: differences of systems
that are real would else not be seen."""

LEAST = 0.05
"""The least share of a source word's links that makes a word one of its translations."""


@dataclass(frozen=True)
class Corpus:
    """Training text and a test set of one pair of languages.

    Attributes:
        name: Such as ``de-en``.
        training: Pairs of source and target.
        test: Pairs of source and reference.
    """

    name: str
    training: Pairs
    test: Pairs

    def flipped(self) -> Corpus:
        """The same in the other direction."""
        name = "-".join(reversed(self.name.split("-")))
        return Corpus(name, [(t, s) for s, t in self.training], [(t, s) for s, t in self.test])


def _pairs(folder: Path, names: Sequence[str], source: str, target: str) -> Pairs:
    return [
        pair
        for name in names
        for pair in zip(
            read_segments(folder / f"{name}.{source}"),
            read_segments(folder / f"{name}.{target}"),
            strict=True,
        )
    ]


def load_corpora(data: Path, most: int | None = None) -> list[Corpus]:
    """German-English captions and Japanese-English sentences.

    Args:
        data: The folder of both corpora.
        most: The most test segments, and a tenth of the training pairs, to try things out.
    """
    found = []
    for name, folder, tests, is_short in (
        ("de-en", "multi30k-de-en", ["test_2016_flickr", "test_2017_flickr", "val"], False),
        ("ja-en", "small-enja", ["test", "dev"], True),
    ):
        sides = name.split("-")
        training = _pairs(data / folder, ["train"], *sides)
        test = _pairs(data / folder, tests, *sides)
        if is_short:
            size = len(training) - len(training) // HELD_OUT
            training, test = training[:size], test + training[size:]
        cut = None if most is None else len(training) // 10
        found.append(Corpus(name, training[:cut], test[:most]))
    return found


class Translator:
    """Makes further translations of a test set out of its reference: what scores must forgive.

    Words that are linked with a source word give way to other translations of it, drawn by how
    often the training text has them; words without a link, which translate nothing, go; frequent
    words come in between; neighbours change places. No source word loses its translation.

    Args:
        corpus: The corpus.
        aligner: A model of it.
    """

    REPLACED, GONE, COME, SWAPPED = 0.3, 0.3, 0.05, 0.05

    def __init__(self, corpus: Corpus, aligner: ModelAligner) -> None:
        self.corpus = corpus
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        words: Counter[str] = Counter()
        pairs = [(s.split(), t.split()) for s, t in corpus.training]
        for (source, target), links in zip(
            pairs, aligner.model.align(pairs, "intersect"), strict=True
        ):
            words.update(target)
            for i, j in links:
                counts[source[i]][target[j]] += 1
        self.others = {word: _frequent(found) for word, found in counts.items()}
        self.frequent = dict(words.most_common(20))
        test = [(s.split(), t.split()) for s, t in corpus.test]
        together = zip(
            test,
            aligner.model.align(test, "intersect"),
            aligner.model.align(test, "union"),
            strict=True,
        )
        self.linked = [(*pair, dict(map(reversed, sure)), any_) for pair, sure, any_ in together]

    def shortened(self, size: int) -> Translator:
        """The same of the first segments alone."""
        found = copy(self)
        found.corpus = replace(self.corpus, test=self.corpus.test[:size])
        found.linked = self.linked[:size]
        return found

    def translate(self, seed: int) -> list[str]:
        """The test set as another translator has it."""
        generator = random.Random(f"translator {seed}")  # noqa: S311 (not for secrets)
        return [self._line(generator, *item) for item in self.linked]

    def _line(
        self,
        generator: random.Random,
        source: list[str],
        target: list[str],
        sources: dict[int, int],
        links: Links,
    ) -> str:
        linked = {j for _, j in links}
        words: list[str] = []
        for j, word in enumerate(target):
            if j not in linked and generator.random() < self.GONE:
                continue
            if generator.random() < self.COME:
                words += generator.choices(list(self.frequent), list(self.frequent.values()))
            others = self.others.get(source[sources[j]], {}) if j in sources else {}
            others = {other: n for other, n in others.items() if other != word}
            if others and generator.random() < self.REPLACED:
                words += generator.choices(list(others), list(others.values()))
            else:
                words.append(word)
        for j in range(1, len(words)):
            if generator.random() < self.SWAPPED:
                words[j - 1], words[j] = words[j], words[j - 1]
        return " ".join(words)

    def rows(self, most: int = JUDGED) -> list[Row]:
        """Segments to be judged: a correct translation, with reference and source."""
        together = zip(self.translate(1), self.corpus.test, strict=True)
        found = [Row((line,), (reference,), source) for line, (source, reference) in together]
        return found[:most]


class FreeTranslator(Translator):
    """Translates more freely, and now and then wrongly: a word gives way to any other at all."""

    REPLACED, GONE, COME, SWAPPED = 0.5, 0.5, 0.1, 0.15
    WRONG = 0.08

    def __init__(self, corpus: Corpus, aligner: ModelAligner) -> None:
        super().__init__(corpus, aligner)
        self.words = sorted({word for _, target in corpus.training for word in target.split()})

    def translate(self, seed: int) -> list[str]:
        """The test set as another translator has it."""
        generator = random.Random(f"mistakes {seed}")  # noqa: S311 (not for secrets)
        return [
            " ".join(
                generator.choice(self.words) if generator.random() < self.WRONG else word
                for word in line.split()
            )
            for line in super().translate(seed)
        ]


def joined(rows: Sequence[Row]) -> list[Row]:
    """One to four segments as one, so that lengths differ as much as in other texts."""
    generator = random.Random(5)  # noqa: S311 (not for secrets)
    left = list(rows)
    found = []
    while left:
        size = generator.randint(1, 4)
        together, left = left[:size], left[size:]
        hypothesis, reference, source = (
            " ".join(str(text) for text in texts)
            for texts in zip(
                *((r.hypotheses[0], r.references[0], r.source) for r in together), strict=True
            )
        )
        found.append(Row((hypothesis,), (reference,), source))
    return found


def _frequent(found: Counter[str]) -> dict[str, int]:
    least = LEAST * found.total()
    return {word: count for word, count in found.items() if count >= least}


def train(pairs: Pairs, *, for_omissions: bool = True) -> ModelAligner:
    """A model of some pairs, as 'align train' makes it, with what the finder of omissions needs."""
    aligner = Aligner.train_pairs(pairs)
    if for_omissions:
        add_omission_data(aligner, lambda: pairs)
    return aligner


def sampled(pairs: Pairs, size: int) -> Pairs:
    """Some of the pairs, or all, in random order."""
    return random.Random(1).sample(pairs, size)  # noqa: S311 (not for secrets)
