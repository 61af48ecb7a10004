"""A paper's claims, the facts that support them, the resulting verdicts, and how to print them.

A fact states that two sides are equal, that they differ, or that a figure is as the paper says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from coverage_eval.papers.printed import PrintedTable
from coverage_eval.tables.table import Printable, Table

if TYPE_CHECKING:
    import pandas as pd

Pairs: TypeAlias = Iterable[tuple[ArrayLike, ArrayLike]]

_SAME = 1e-9
_FACT_HEADER = ("fact", "printed", "against", "outcome", "holds")


class Verdict(Enum):
    """The verdict on a claim; a claim that does not hold is a finding, not a failure."""

    HOLDS = "holds"
    EXCEPTIONS = "holds with exceptions"
    FAILS = "does not hold"
    UNCHECKED = "not checked"


@dataclass(frozen=True)
class Fact:
    """One comparison that supports or refutes a claim.

    Attributes:
        what: The name of the comparison.
        printed: The paper's side: its figure, its formula's value, or what it says.
        against: The other side: the computed value, or the other figure.
        outcome: The result in a word or a number, such as ``equal`` or ``+0.16``.
        holds: Whether the claim is right here.
        decisive: Whether the claim fails if this fact does not hold; if False, that is an
            exception.
    """

    what: str
    printed: str
    against: str
    outcome: str
    holds: bool
    decisive: bool = True

    def to_dict(self) -> dict[str, str | bool]:
        """The fact as plain values."""
        values = asdict(self)
        return {"fact": values.pop("what"), **values}


@dataclass(frozen=True)
class Claim:
    """One claim.

    Attributes:
        text: The claim, quoted or in our words.
        place: Where the paper makes it.
        facts: The comparisons; at least one, unless the claim was not checked.
        note: What else the verdict depends on, if anything.
        unchecked: Why the claim could not be checked here; empty if it was.
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
        """FAILS if a decisive fact does not hold, EXCEPTIONS if only other facts do not."""
        if self.unchecked:
            return Verdict.UNCHECKED
        if any(fact.decisive for fact in self.exceptions):
            return Verdict.FAILS
        return Verdict.EXCEPTIONS if self.exceptions else Verdict.HOLDS

    @property
    def exceptions(self) -> tuple[Fact, ...]:
        """The facts that do not hold."""
        return tuple(fact for fact in self.facts if not fact.holds)


@dataclass(frozen=True)
class Audit:
    """Claims that were checked together.

    Attributes:
        name: The name that ``coverage-eval audit`` takes.
        title: What was checked.
        claims: The claims with their verdicts.
    """

    name: str
    title: str
    claims: tuple[Claim, ...]

    def to_frame(self) -> pd.DataFrame:
        """A row for every fact of every claim."""
        import pandas as pd

        rows = [
            {"claim": claim.text, "verdict": claim.verdict.value, **fact.to_dict()}
            for claim in self.claims
            for fact in claim.facts
        ]
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """The claims with all their facts, as plain values."""
        claims = [
            {
                "claim": claim.text,
                "place": claim.place,
                "verdict": claim.verdict.value,
                "note": claim.note,
                "unchecked": claim.unchecked,
                "facts": [fact.to_dict() for fact in claim.facts],
            }
            for claim in self.claims
        ]
        return {"audit": self.name, "title": self.title, "claims": claims}

    def _repr_html_(self) -> str:
        """A table of the claims, each with the facts that do not hold."""
        rows = ""
        for claim in self.claims:
            which = claim.unchecked or "; ".join(
                f"{fact.what}: {fact.printed} / {fact.against}" for fact in claim.exceptions
            )
            cells = (claim.text, claim.verdict.value, which, claim.place)
            rows += "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
        head = "<tr><th>claim</th><th>verdict</th><th>exceptions</th><th>place</th></tr>"
        return (
            f"<table><caption>{escape(f'{self.name}: {self.title}')}</caption>"
            f"<thead>{head}</thead><tbody>{rows}</tbody></table>"
        )


def judged(
    what: str, printed: str, against: str, holds: bool, yes: str, no: str, *, decisive: bool = True
) -> Fact:
    """A fact with one of two outcomes, ``yes`` if it holds."""
    return Fact(what, printed, against, yes if holds else no, holds, decisive)


def equal(what: str, one: float, other: float, *, digits: int = 2) -> Fact:
    """The fact that two numbers are the same."""
    same = one == other or abs(one - other) <= _SAME
    return judged(what, f"{one:.{digits}f}", f"{other:.{digits}f}", same, "equal", "differs")


def differ(what: str, one: float, other: float, *, digits: int = 2) -> Fact:
    """The fact that two numbers are not the same."""
    fact = equal(what, one, other, digits=digits)
    return replace(fact, holds=not fact.holds)


def same_text(what: str, printed: str, found: str) -> Fact:
    """The fact that a figure comes out with the digits that are printed."""
    return judged(what, printed, found, printed == found, "equal", "differs")


def as_said(what: str, expected: str, found: str) -> Fact:
    """The fact that a result is what the paper says in words."""
    return judged(what, expected, found, expected == found, "as said", "not so")


def better(
    table: PrintedTable, metric: str, what: str, ours: float, theirs: float, *, decisive: bool
) -> Fact:
    """The fact that one figure of a table is better than another, or than a mean of others."""
    # Figures have two digits: a difference below a millionth is rounding.
    gain = round(table.improvement(metric, ours, theirs), 6)
    outcome = "equal" if gain == 0 else f"{'better' if gain > 0 else 'worse'} by {abs(gain):.2f}"
    return Fact(what, f"{ours:.2f}", f"{theirs:.2f}", outcome, gain > 0, decisive)


def agree(what: str, pairs: Pairs, *, limit: float = _SAME, decisive: bool = True) -> Fact:
    """The fact that the arrays of every pair differ by at most ``limit``."""
    gap, shown = _largest_gap(pairs)
    against = f"differ by at most {shown}"
    return judged(what, "equal", against, gap <= limit, "equal", "differs", decisive=decisive)


def disagree(what: str, pairs: Pairs, *, min_gap: float = 1e-3) -> Fact:
    """The fact that the arrays of some pair differ by at least ``min_gap``."""
    gap, shown = _largest_gap(pairs)
    return judged(what, "differs", f"differ by up to {shown}", gap >= min_gap, "differs", "equal")


def _largest_gap(pairs: Pairs) -> tuple[float, str]:
    """The largest absolute difference, and its text; NaN if an array has one."""
    gaps = [np.abs(np.asarray(one) - np.asarray(other)).max(initial=0.0) for one, other in pairs]
    gap = float(np.max(gaps, initial=0.0))
    return gap, "0" if gap == 0 else f"{gap:.0e}" if gap < 1e-3 else f"{gap:.3g}"


def present_audits(audits: Sequence[Audit]) -> Printable:
    """One row for each claim: audit, claim, verdict, exceptions.

    Tables for people show the first exception and the number of exceptions; CSV has all of them,
    and where the claim is made; JSON has every fact. ``--score-only`` prints the number of facts
    that do not hold, for each claim.
    """
    header = ("audit", "claim", "verdict", "exceptions")
    shown, full, numbers = [], [], []
    for audit in audits:
        for claim in audit.claims:
            names = [fact.what for fact in claim.exceptions]
            count = f"{len(names)} of {len(claim.facts)}: " if names else ""
            first = "; ".join([*names[:1], "…"] if len(names) > 1 else names)
            row = (audit.name, claim.text, claim.verdict.value)
            shown.append((*row, claim.unchecked or count + first))
            full.append((*row, claim.unchecked or count + "; ".join(names), claim.place))
            numbers.append(len(names))
    return Printable(
        (Table(header, tuple(shown)),),
        records=Table((*header, "place"), tuple(full)),
        data={"audits": [audit.to_dict() for audit in audits]},
        numbers=tuple(numbers),
    )


def present_audit(audit: Audit) -> Printable:
    """One audit with all facts: a table for each claim, or one table in CSV."""
    tables: list[Table] = []
    records: list[tuple[str, ...]] = []
    for claim in audit.claims:
        verdict = claim.verdict.value
        facts = tuple(
            (
                *(fact.what, fact.printed, fact.against, fact.outcome),
                "yes" if fact.holds else "no" if fact.decisive else "exception",
            )
            for fact in claim.facts
        )
        tables.append(
            Table(
                _FACT_HEADER if facts else (),
                facts,
                title=f"{claim.text} ({claim.place}): {verdict}",
                notes=tuple(text for text in (claim.note, claim.unchecked) if text),
            )
        )
        rows = facts or ((claim.unchecked, "", "", "", ""),)
        records += [(claim.text, verdict, *row) for row in rows]
    return Printable(
        tuple(tables),
        title=f"{audit.name}: {audit.title}",
        records=Table(("claim", "verdict", *_FACT_HEADER), tuple(records)),
        data=audit.to_dict(),
        numbers=tuple(len(claim.exceptions) for claim in audit.claims),
    )
