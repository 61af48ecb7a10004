"""A claim of a paper, the facts it rests on, and the verdict that follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


class Verdict(Enum):
    """What became of a claim; a claim that does not hold is a finding, not a failure."""

    HOLDS = "holds"
    EXCEPTIONS = "holds with exceptions"
    FAILS = "does not hold"
    UNCHECKED = "not checked"


@dataclass(frozen=True)
class Fact:
    """One comparison that a claim rests on.

    Attributes:
        what: What is compared.
        printed: The paper's side: its figure, its formula's value, or what it says.
        against: The other side: what was computed, or the figure that it is compared with.
        outcome: The result in a word or a number, such as ``equal`` or ``+0.16``.
        holds: Whether the claim is right here.
        decisive: Whether the claim falls with it; otherwise it is an exception.
    """

    what: str
    printed: str
    against: str
    outcome: str
    holds: bool
    decisive: bool = True

    def to_dict(self) -> dict[str, str | bool]:
        """The fact as plain values."""
        return {
            "fact": self.what,
            "printed": self.printed,
            "against": self.against,
            "outcome": self.outcome,
            "holds": self.holds,
            "decisive": self.decisive,
        }


@dataclass(frozen=True)
class Claim:
    """One claim.

    Attributes:
        text: The claim, quoted or in our words.
        place: Where it is made.
        facts: What it rests on; at least one, unless it was not checked.
        note: What the verdict depends on besides, if anything.
        unchecked: Why the claim could not be checked here; empty where it was.
    """

    text: str
    place: str
    facts: tuple[Fact, ...]
    note: str = ""
    unchecked: str = ""

    def __post_init__(self) -> None:
        if not self.facts and not self.unchecked:
            raise ValueError(f"a claim without facts: {self.text}")

    @property
    def verdict(self) -> Verdict:
        """Fails with any decisive fact, has exceptions where other facts do not hold."""
        if self.unchecked:
            return Verdict.UNCHECKED
        if any(fact.decisive and not fact.holds for fact in self.facts):
            return Verdict.FAILS
        return Verdict.EXCEPTIONS if self.exceptions else Verdict.HOLDS

    @property
    def exceptions(self) -> tuple[Fact, ...]:
        """The facts that do not hold."""
        return tuple(fact for fact in self.facts if not fact.holds)


@dataclass(frozen=True)
class Audit:
    """The claims that were checked together.

    Attributes:
        name: As ``coverage-eval audit`` takes it.
        title: What was checked.
        claims: The claims with their verdicts.
    """

    name: str
    title: str
    claims: tuple[Claim, ...]

    def to_frame(self) -> pd.DataFrame:
        """Every fact that the claims rest on, one a row."""
        import pandas as pd

        rows = [
            {"claim": claim.text, "verdict": claim.verdict.value, **fact.to_dict()}
            for claim in self.claims
            for fact in claim.facts
        ]
        return pd.DataFrame(rows)

    def _repr_html_(self) -> str:
        """A table of the claims, each with what does not hold of it."""
        rows = "".join(map(_html_row, self.claims))
        head = "<tr><th>claim</th><th>verdict</th><th>exceptions</th><th>place</th></tr>"
        return (
            f"<table><caption>{escape(f'{self.name}: {self.title}')}</caption>"
            f"<thead>{head}</thead><tbody>{rows}</tbody></table>"
        )


def _html_row(claim: Claim) -> str:
    which = claim.unchecked or "; ".join(
        f"{fact.what}: {fact.printed} / {fact.against}" for fact in claim.exceptions
    )
    cells = (claim.text, claim.verdict.value, which, claim.place)
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
