"""The number-words task of Madsen et al. 2017 (section 3.3): "three seven four" becomes "374#".

This module has its examples and settings, and compares accuracy with print;
:mod:`coverage_eval.papers.reproduction.number_words_training` has the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention_maps.load import load
from coverage_eval.metrics.score import Signature
from coverage_eval.papers.printed import Citation, mean_and_half_width, read_data
from coverage_eval.settings import setting
from coverage_eval.tables.table import Printable, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
END = "#"
LETTERS = "".join(sorted(set(" ".join(WORDS))))
"""The characters of the input, numbered from 1; 0 is padding."""
SYMBOLS = "0123456789" + END
"""The symbols of the output, numbered from 0; −1 is padding."""
ATTENTIONS = ("softmax", "sparsemax")


@dataclass(frozen=True)
class Examples:
    """A batch.

    Attributes:
        numbers: Digits, such as ``374``.
        letters: ``[B, S]`` the numbered letters of their words.
        symbols: ``[B, T]`` the numbered digits and end sign.
    """

    numbers: tuple[str, ...]
    letters: NDArray[np.int64]
    symbols: NDArray[np.int64]


def spell(number: str) -> str:
    """Spell digits as words.

    >>> spell("374")
    'three seven four'
    """
    return " ".join(WORDS[int(digit)] for digit in number)


def draw_examples(rng: np.random.Generator, count: int, *, shortest: int, longest: int) -> Examples:
    """Draw numbers with ``shortest`` to ``longest`` digits, every length equally likely."""
    lengths = rng.integers(shortest, longest + 1, size=count)
    numbers = tuple("".join(map(str, rng.integers(0, 10, size=length))) for length in lengths)
    letters = [[LETTERS.index(letter) + 1 for letter in spell(number)] for number in numbers]
    symbols = [[SYMBOLS.index(symbol) for symbol in number + END] for number in numbers]
    return Examples(numbers, _padded(letters, 0), _padded(symbols, -1))


def _padded(rows: list[list[int]], padding: int) -> NDArray[np.int64]:
    array = np.full((len(rows), max(map(len, rows))), padding, dtype=np.int64)
    for row, values in zip(array, rows, strict=True):
        row[: len(values)] = values
    return array


@dataclass(frozen=True)
class DigitsSettings:
    """Settings of all trainings; ours, if the report does not give them.

    Attributes:
        examples: Training examples; the report has 100,000.
        batch: Examples per step; the report has 100.
        shortest: Digits of the shortest number; the report's draft has 5.
        longest: Digits of the longest number; the report's draft has 20.
        size: Size of embeddings, states and the attention's layer; ours.
        rate: Learning rate of Adam; the report has 0.005.
        clip: Largest norm of a step's gradient; ours. Without one, trainings lose what they have
            learned within a few steps.
        valid: Validation examples, the same for every seed; ours.
        output_layer: The transformation of the output layer, whose loss is minimised.
    """

    examples: int = setting(100_000, "Number of training examples.", min=1)
    batch: int = setting(100, "Number of examples per step.", min=1)
    shortest: int = setting(5, "Least number of digits.", min=1)
    longest: int = setting(20, "Greatest number of digits.", min=1)
    size: int = setting(32, "Size of embeddings, states and the attention layer.", min=1)
    rate: float = setting(0.005, "Learning rate of Adam.", min=0, min_open=True)
    clip: float = setting(1.0, "Clip the gradient of each step to this norm.", min=0, min_open=True)
    valid: int = setting(300, "Number of examples for measuring accuracy.", min=1)
    output_layer: str = setting(
        "softmax",
        "Minimise the loss of this transformation in the output layer; the report tried both.",
        choices=ATTENTIONS,
    )

    def sign(self, attention: str, *seeds: int) -> Signature:
        """Every setting that affects an accuracy."""
        listed = ",".join(map(str, seeds))
        return Signature.of("digits", attention=attention, seed=listed, **asdict(self))

    def draw(self, count: int, seed: list[int]) -> Examples:
        """Draw examples with the lengths of the settings."""
        rng = np.random.default_rng(seed)
        return draw_examples(rng, count, shortest=self.shortest, longest=self.longest)

    def validation_examples(self) -> Examples:
        """The validation examples, which all trainings share."""
        return self.draw(self.valid, [0])


@dataclass(frozen=True)
class TrainedReader:
    """The results of a finished training.

    Attributes:
        attention: One of :data:`ATTENTIONS`.
        seed: Seed of parameters and examples.
        symbols: Percentage of right symbols, end signs included.
        numbers: Percentage of numbers that are right from the first digit to the end sign.
        attended: Letters with attention above 0, mean over steps.
        signature: The signature of both percentages.
    """

    attention: str
    seed: int
    symbols: float
    numbers: float
    attended: float
    signature: str


@dataclass(frozen=True)
class DigitsResult:
    """All trainings of a run.

    Attributes:
        readers: One for each attention and seed.
        settings: Their settings.
    """

    readers: tuple[TrainedReader, ...]
    settings: DigitsSettings

    header = (
        "attention", "printed", "symbols right, %", "symbols, ±", "numbers right, %", "numbers, ±",
        "letters attended", "seeds",
    )  # fmt: skip

    def rows(self) -> list[list[str | float | int | None]]:
        """A row per attention: means over seeds, with half their 95% intervals."""
        printed, _ = printed_accuracy()
        return [
            [
                attention,
                printed[attention],
                *mean_and_half_width([reader.symbols for reader in readers]),
                *mean_and_half_width([reader.numbers for reader in readers]),
                float(np.mean([reader.attended for reader in readers])),
                len(readers),
            ]
            for attention, readers in self._by_attention()
        ]

    def signatures(self) -> list[str]:
        """A signature for each row, with its seeds."""
        return [
            str(self.settings.sign(attention, *(reader.seed for reader in readers)))
            for attention, readers in self._by_attention()
        ]

    def _by_attention(self) -> Iterator[tuple[str, list[TrainedReader]]]:
        for attention in ATTENTIONS:
            readers = [reader for reader in self.readers if reader.attention == attention]
            if readers:
                yield attention, readers

    def verdicts(self) -> list[str]:
        """What the report says, what ours are, and whether they agree."""
        _, citation = printed_accuracy()
        lines = [
            f"Printed: {citation}: approximate validation accuracy after 100,000 examples.",
            f"Ours: after {self.settings.examples:,} examples of {self.settings.shortest} to "
            f"{self.settings.longest} digits; ±: half the 95% interval, Student's t over seeds.",
        ]
        soft, sparse = (
            {r.seed: r.symbols for r in self.readers if r.attention == name} for name in ATTENTIONS
        )
        both = soft.keys() & sparse.keys()
        if both:
            better = sum(sparse[seed] > soft[seed] for seed in both)
            lines.append(f"Sparsemax above softmax with {better} of {len(both)} seeds (symbols).")
        return lines

    def present(self) -> Printable:
        """The rows, with notes and signatures below."""
        rows = tuple(map(tuple, self.rows()))
        notes, signatures = tuple(self.verdicts()), tuple(self.signatures())
        return Printable((Table(self.header, rows, notes=notes, signatures=signatures),))


def printed_accuracy() -> tuple[dict[str, float], Citation]:
    """The validation accuracy in the captions of Figures 2 and 3, in %."""
    data = read_data("report_figures")
    return data["accuracy"], Citation(data["source"], data["place"])


def draw_attention(run: Path) -> Iterator[tuple[str, Axes]]:
    """Figures 2 and 3 of Madsen et al. (2017): attention for one validation example.

    Args:
        run: A run's folder.

    Yields:
        The name of each attention, and its picture.
    """
    from coverage_eval.plotting import attention_heatmap

    for attention in ATTENTIONS:
        item = load(run / f"{attention}.attention.jsonl")[0]
        labels = (item.source_labels, item.hypothesis_labels)
        yield (
            attention,
            attention_heatmap(item.weights, *labels, repeated=(), dropped=(), title=attention),
        )
