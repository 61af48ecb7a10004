"""Translations printed by Malaviya et al. (2018): Appendix B, and the sentences of Figure 2."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from coverage_eval.published.files import Citation, read_data

SYSTEMS = ("softmax", "sparsemax", "csoftmax", "csparsemax")
"""The four systems of Appendix B, in its order; Figure 2 has the first and the last."""


@dataclass(frozen=True)
class Example:
    """One example, all of it tokenised and lowercased as printed.

    Attributes:
        source: The German input.
        reference: The English reference.
        outputs: The translation of each system by its name.
    """

    source: str
    reference: str
    outputs: dict[str, str]


@dataclass(frozen=True)
class ExampleSet:
    """Examples that are printed together.

    ``sources``, ``references`` and ``outputs`` give one segment per example.

    Attributes:
        citation: Where it is printed.
        examples: In printed order.
    """

    citation: Citation
    examples: tuple[Example, ...]

    @property
    def sources(self) -> list[str]:
        """The inputs."""
        return [example.source for example in self.examples]

    @property
    def references(self) -> list[str]:
        """The references."""
        return [example.reference for example in self.examples]

    def outputs(self, system: str) -> list[str]:
        """The translations by one of :data:`SYSTEMS`.

        Raises:
            KeyError: There is no system of that name.
        """
        return [example.outputs[system] for example in self.examples]


def load_appendix_b() -> ExampleSet:
    """The eight examples of Appendix B as they are printed."""
    return _load("appendix_b")


def load_figure2() -> ExampleSet:
    """The two sentence pairs of Figure 2, translated by softmax and csparsemax."""
    return _load("figure2")


@lru_cache(maxsize=2)
def _load(name: str) -> ExampleSet:
    data = read_data(name)
    return ExampleSet(
        Citation(data["source"], data["place"]),
        tuple(Example(e["source"], e["reference"], e["outputs"]) for e in data["examples"]),
    )
