"""Real texts, and more correct translations of them."""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path

import coverage_eval
from coverage_eval.align.aligner import Aligner, ModelAligner
from coverage_eval.core.batches import Row
from coverage_eval.core.texts import read_segments
from coverage_eval.coverage.training import add_omission_data
from fast_align_wrapper import Links

# The tests plant the same errors as the evidence.
sys.path.append(str(Path(__file__).parents[2]))

Pairs = list[tuple[str, str]]

JUDGED = 1000
"""Segments to find errors in."""

SCORED = 3000
"""Segments of outputs with a corpus score; comparisons of systems use the whole test set."""

HELD_OUT = 5
"""A short test set gets a fifth of the training pairs, because alone it is too small to show real
differences between systems."""

MIN = 0.05
"""A word is a translation of a source word if it has at least this share of its links."""


@dataclass(frozen=True)
class Corpus:
    """Training text and a test set of one language pair.

    Attributes:
        name: The pair, such as ``de-en``.
        training: Pairs of source and target.
        test: Pairs of source and reference.
        is_trial: Whether it is cut to try things out; then little is measured on it.
    """

    name: str
    training: Pairs
    test: Pairs
    is_trial: bool = False

    def flipped(self) -> Corpus:
        """The corpus in the other direction."""
        name = "-".join(reversed(self.name.split("-")))
        training, test = ([(t, s) for s, t in pairs] for pairs in (self.training, self.test))
        return replace(self, name=name, training=training, test=test)


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


def load_corpora(data: Path, max_rows: int | None = None) -> list[Corpus]:
    """German-English captions and Japanese-English sentences.

    Args:
        data: The folder of both corpora.
        max_rows: Maximum number of test segments, to try things out; then only a tenth of the
            training pairs is kept.
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
        limit = None if max_rows is None else len(training) // 10
        found.append(Corpus(name, training[:limit], test[:max_rows], limit is not None))
    return found


def demonstration_text() -> tuple[str, Pairs, Pairs]:
    """The demonstration's name, training pairs and test pairs."""
    folder = Path(coverage_eval.__path__[0]) / "demo"
    return "demonstration", *(
        _pairs(folder, [name], "de.gz", "en.gz") for name in ("train", "test")
    )


class Translator:
    """Makes more correct translations of a test set from its reference.

    Other translations of the source word, drawn by their frequency in the training text, replace
    some linked words; some words without a link are left out; frequent words are added; neighbours
    are swapped. No source word loses its translation.

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
        """A translator for only the first segments."""
        found = copy(self)
        found.corpus = replace(self.corpus, test=self.corpus.test[:size])
        found.linked = self.linked[:size]
        return found

    def translate(self, seed: int) -> list[str]:
        """The test set as another translator would translate it."""
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

    def rows(self, max_rows: int = JUDGED) -> list[Row]:
        """Segments with a correct translation, reference and source."""
        together = zip(self.translate(1), self.corpus.test, strict=True)
        found = [Row((line,), (reference,), source) for line, (source, reference) in together]
        return found[:max_rows]


class FreeTranslator(Translator):
    """Translates more freely, and sometimes wrongly: any other word may replace a word."""

    REPLACED, GONE, COME, SWAPPED = 0.5, 0.5, 0.1, 0.15
    WRONG = 0.08

    def __init__(self, corpus: Corpus, aligner: ModelAligner) -> None:
        super().__init__(corpus, aligner)
        self.words = sorted({word for _, target in corpus.training for word in target.split()})

    def translate(self, seed: int) -> list[str]:
        """The test set as another translator would translate it."""
        generator = random.Random(f"mistakes {seed}")  # noqa: S311 (not for secrets)
        return [
            " ".join(
                generator.choice(self.words) if generator.random() < self.WRONG else word
                for word in line.split()
            )
            for line in super().translate(seed)
        ]


def joined(rows: Sequence[Row]) -> list[Row]:
    """Join one to four segments, so that lengths differ as much as in other texts."""
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
    min_count = MIN * found.total()
    return {word: count for word, count in found.items() if count >= min_count}


def train(pairs: Pairs, *, for_omissions: bool = True, tokenize: str = "none") -> ModelAligner:
    """A model as 'align train' makes it, with the data that the omission finder needs."""
    aligner = Aligner.train_pairs(pairs, tokenize=tokenize)
    if for_omissions:
        add_omission_data(aligner, lambda: pairs)
    return aligner


def sampled(pairs: Pairs, size: int) -> Pairs:
    """Some of the pairs, or all, in random order."""
    return random.Random(1).sample(pairs, size)  # noqa: S311 (not for secrets)
