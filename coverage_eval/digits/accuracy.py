"""Accuracy in the number-words task, ours beside what the report prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np

from coverage_eval.metrics.score import Signature
from coverage_eval.published.files import Citation, read_data
from coverage_eval.published.intervals import mean_and_half_width

ATTENTIONS = ("softmax", "sparsemax")


@dataclass(frozen=True)
class DigitsSettings:
    """What all trainings share. What the report does not give is ours.

    Attributes:
        examples: Training examples; the report has 100,000.
        batch: Examples of a step; the report has 100.
        shortest: Digits of the shortest number; the report's draft has 5.
        longest: Digits of the longest number; the report's draft has 20.
        size: Of embeddings, states and the attention's layer; ours.
        rate: Learning rate of Adam; the report has 0.005.
        clip: Largest norm of a step's gradient. The report names none; without one, trainings lose
            within a few steps what they had learned.
        valid: Validation examples, the same for every seed; ours.
    """

    examples: int = 100_000
    batch: int = 100
    shortest: int = 5
    longest: int = 20
    size: int = 32
    rate: float = 0.005
    clip: float = 1.0
    valid: int = 300

    def sign(self, attention: str, *seeds: int) -> Signature:
        """All that moves an accuracy."""
        listed = ",".join(map(str, seeds))
        return Signature.of("digits", attention=attention, seed=listed, **asdict(self))


@dataclass(frozen=True)
class TrainedReader:
    """What is known of a training that has ended.

    Attributes:
        attention: One of :data:`ATTENTIONS`.
        seed: Of parameters and examples.
        symbols: Percentage of the symbols that are right, the end sign included.
        numbers: Percentage of the numbers that are right from the first digit to the end sign.
        attended: Letters with more than no attention, mean over steps.
        signature: Of both percentages.
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
        settings: Of all of them.
    """

    readers: tuple[TrainedReader, ...]
    settings: DigitsSettings

    header = (
        "attention", "printed", "symbols right, %", "symbols, ±", "numbers right, %", "numbers, ±",
        "letters attended", "seeds",
    )  # fmt: skip

    def rows(self) -> list[list[str | float | int | None]]:
        """One row an attention: means over seeds, with half their 95 % intervals."""
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
        """One for each row, which names its seeds."""
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
        """What the report says, and whether it comes out."""
        _, citation = printed_accuracy()
        lines = [
            f"Printed: {citation}: validation accuracy after 100,000 examples, about.",
            f"Ours: after {self.settings.examples:,} examples of {self.settings.shortest} to "
            f"{self.settings.longest} digits; ±: half the 95 % interval, Student's t over seeds.",
        ]
        soft, sparse = (
            {r.seed: r.symbols for r in self.readers if r.attention == name} for name in ATTENTIONS
        )
        both = sorted(set(soft) & set(sparse))
        if both:
            better = sum(sparse[seed] > soft[seed] for seed in both)
            lines.append(f"Sparsemax above softmax with {better} of {len(both)} seeds (symbols).")
        return lines


def printed_accuracy() -> tuple[dict[str, float], Citation]:
    """Validation accuracy in the captions of Figures 2 and 3, in %."""
    data = read_data("report_figures")
    return data["accuracy"], Citation(data["source"], data["place"])
