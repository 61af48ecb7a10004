"""What a report of a comparison may be told beside the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from coverage_eval.comparison.known_errors import Labels

if TYPE_CHECKING:
    from coverage_eval.attention_maps.maps import AttentionMap


class Suspect(Protocol):
    """A span of the source that an output seems to leave out, as a finder of omissions has it."""

    @property
    def start(self) -> int:
        """Position of its first word, from 0."""

    @property
    def end(self) -> int:
        """The position behind the last."""

    @property
    def strength(self) -> float:
        """The greater, the surer."""


@dataclass(frozen=True)
class Extras:
    """What a report may be told beside the scores.

    Attributes:
        title: Its title; by default it names the systems.
        command: The command that makes it.
        warnings: What looked wrong about the input.
        model: Figures of how well the aligner's model knows the texts, by name.
        attention: Attention maps by system, one a segment.
        labels: Known errors by system.
        suspects: Spans of the source that seem to be left out, by system, for each segment.
        finder: The signature of what found these spans.
        frequencies: How often each source word stands in the training text; by default, how often
            it stands in the source itself.
    """

    title: str | None = None
    command: str | None = None
    warnings: Sequence[str] = ()
    model: Mapping[str, float] = field(default_factory=dict)
    attention: Mapping[str, Sequence[AttentionMap]] = field(default_factory=dict)
    labels: Labels = field(default_factory=dict)
    suspects: Mapping[str, Sequence[Sequence[Suspect]]] = field(default_factory=dict)
    finder: str | None = None
    frequencies: Mapping[str, int] | None = None
