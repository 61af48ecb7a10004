"""Appendix B of Malaviya et al. (2018): eight German inputs and what four systems made of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from coverage_eval.published.files import Citation, read_data

__all__ = ["SYSTEMS", "AppendixB", "Example", "load_appendix_b"]

SYSTEMS = ("softmax", "sparsemax", "csoftmax", "csparsemax")
"""The four systems, in the order of the appendix."""


@dataclass(frozen=True)
class Example:
    """One example, all of it tokenised and lowercased as printed.

    Attributes:
        source: The German input.
        reference: The English reference.
        outputs: The translation of each system of :data:`SYSTEMS`.
    """

    source: str
    reference: str
    outputs: dict[str, str]


@dataclass(frozen=True)
class AppendixB:
    """The whole appendix; each property is a text of one segment an example.

    Attributes:
        citation: Where it is printed.
        notes: What is odd in print and was kept.
        examples: The eight examples.
    """

    citation: Citation
    notes: tuple[str, ...]
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


@lru_cache(maxsize=1)
def load_appendix_b() -> AppendixB:
    """Appendix B as it is printed."""
    data = read_data("appendix_b")
    return AppendixB(
        Citation(data["source"], data["place"]),
        tuple(data["notes"]),
        tuple(Example(e["source"], e["reference"], e["outputs"]) for e in data["examples"]),
    )
