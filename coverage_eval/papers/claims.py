"""A paper's claims, the facts that support them, the resulting verdicts, and how to print them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from coverage_eval.core.report import (
    HUMAN_FORMATS,
    NUMBER_FORMATS,
    ROW_FORMATS,
    Cell,
    Report,
    Table,
)
from coverage_eval.papers.printed import PrintedTable

if TYPE_CHECKING:
    import pandas as pd

_FACT_HEADER = ("fact", "printed", "computed", "outcome", "holds")

RULE = (
    "A claim is confirmed if every fact that decides it holds, contradicted if one does not, and "
    "not decidable otherwise; one without facts is not checked. An exception does not hold and "
    "does not decide."
)
OURS = "In our words: the paper does not say it so."


class Verdict(Enum):
    """The verdict on a claim; a claim that is contradicted is a finding, not a failure."""

    CONFIRMED = "confirmed"
    CONTRADICTED = "contradicted"
    UNDECIDED = "not decidable"
    UNCHECKED = "not checked"


@dataclass(frozen=True)
class Fact:
    """One comparison that supports or refutes a claim.

    Attributes:
        what: The name of the comparison.
        printed: What the paper prints or says; empty if both sides are computed.
        computed: What we compute; empty if both sides are printed.
        outcome: The result in a word or a number, such as ``equal`` or ``+0.16``.
        holds: Whether the claim is right here; None if this cannot tell: a tie, overlapping
            intervals, or what chance alone would give.
        decisive: Whether this fact decides the claim; otherwise it is at most an exception.
        gain: How much better the claim's side is, in points of the metric; None if the fact does
            not compare scores.
    """

    what: str
    printed: str
    computed: str
    outcome: str
    holds: bool | None
    decisive: bool = True
    gain: float | None = None

    def to_dict(self) -> dict[str, str | bool | float | None]:
        """The fact as plain values."""
        values = asdict(self)
        return {"fact": values.pop("what"), **values}


@dataclass(frozen=True)
class Claim:
    """One claim.

    Attributes:
        text: The claim, quoted or in our words.
        citation: Where the paper makes it.
        facts: The comparisons; at least one decides, unless the claim was not checked.
        note: What else the verdict depends on, if anything.
        unchecked: Why the claim could not be checked here; empty if it was.
        in_our_words: Whether the paper does not say it so.
    """

    text: str
    citation: str
    facts: tuple[Fact, ...]
    note: str = ""
    unchecked: str = ""
    in_our_words: bool = False

    def __post_init__(self) -> None:
        if not any(fact.decisive for fact in self.facts) and not self.unchecked:
            raise ValueError(f"a claim without facts that decide it: {self.text}")

    @property
    def verdict(self) -> Verdict:
        """Contradicted by one decisive fact against the claim, confirmed if all hold."""
        if self.unchecked:
            return Verdict.UNCHECKED
        decided = {fact.holds for fact in self.facts if fact.decisive}
        if False in decided:
            return Verdict.CONTRADICTED
        return Verdict.UNDECIDED if None in decided else Verdict.CONFIRMED

    @property
    def described(self) -> str:
        """The claim, and whether these are our words."""
        return f"{self.text} (in our words)" if self.in_our_words else self.text

    @property
    def exceptions(self) -> tuple[Fact, ...]:
        """The facts that do not hold, or cannot tell."""
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
                "in our words": claim.in_our_words,
                "place": claim.citation,
                "verdict": claim.verdict.value,
                "note": claim.note,
                "unchecked": claim.unchecked,
                "facts": [fact.to_dict() for fact in claim.facts],
            }
            for claim in self.claims
        ]
        return {"audit": self.name, "title": self.title, "claims": claims}


def binary_fact(
    what: str, printed: str, computed: str, holds: bool | None, yes: str, no: str, *,
    decisive: bool = True,
) -> Fact:  # fmt: skip
    """A fact with one of two outcomes, ``yes`` if it holds, or that cannot tell."""
    outcome = {True: yes, False: no, None: "cannot tell"}[holds]
    return Fact(what, printed, computed, outcome, holds, decisive)


def same_text(what: str, printed: str, computed: str) -> Fact:
    """The fact that a figure comes out with the digits that are printed."""
    return binary_fact(what, printed, computed, printed == computed, "equal", "differs")


def better(
    table: PrintedTable, metric: str, what: str, ours: float, theirs: float, *, decisive: bool,
    means: bool = False,
) -> Fact:  # fmt: skip
    """The fact that one figure of a table is better than another.

    Args:
        table: The table, which may be a user's.
        metric: The metric.
        what: The name of the fact.
        ours: The figure that the claim says is better.
        theirs: The other one.
        decisive: Whether the fact decides the claim.
        means: Whether they are means of several figures, which are computed.
    """
    # Figures have two digits: a difference below a millionth is rounding.
    gain = round(table.improvement(metric, ours, theirs), 6)
    points = f"{abs(gain):.2f}" if abs(gain) >= 0.005 else f"{abs(gain):f}".rstrip("0")
    outcome = "equal" if gain == 0 else f"{'better' if gain > 0 else 'worse'} by {points}"
    sides = f"{ours:.2f} against {theirs:.2f}"
    printed, computed = ("", sides) if means or not table.is_printed else (sides, "")
    return Fact(what, printed, computed, outcome, sign(gain), decisive, gain)


def sign(gain: float) -> bool | None:
    """True for a gain, False for a loss, None for neither."""
    return None if gain == 0 else gain > 0


_FAILURES = (Verdict.CONTRADICTED, Verdict.UNDECIDED, Verdict.UNCHECKED, Verdict.CONFIRMED)
"""The verdicts in the order of a screen."""


def audits_report(audits: Sequence[Audit]) -> Report:
    """The claims that are not confirmed, and how many others hold.

    CSV has a row for every claim, with all its exceptions and where it is made; JSON has every
    fact. ``--score-only`` prints the number of facts that do not hold, for each claim.
    """
    claims = [(audit.name, claim) for audit in audits for claim in audit.claims]
    doubted = [(name, claim) for name, claim in claims if claim.verdict is not Verdict.CONFIRMED]
    held = [claim for _, claim in claims if claim.verdict is Verdict.CONFIRMED]
    ours = sum(claim.in_our_words for claim in held)
    doubted.sort(key=lambda item: _FAILURES.index(item[1].verdict))
    overview = Table(
        ("verdict", "audit", "claim"),
        [(claim.verdict.value, name, claim.described) for name, claim in doubted],
        notes=(
            f"{len(held) - ours} other sentences hold, {ours} in our words; all: "
            "coverage-eval audit all",
        ),
        formats=HUMAN_FORMATS,
    )
    return Report((overview, _records_of_claims(claims), _numbers(audits)), {"audits": audits})


def whole_report(audits: Sequence[Audit]) -> Report:
    """Every audit with its claims and all facts that do not hold, on one page."""
    claims = [(audit.name, claim) for audit in audits for claim in audit.claims]
    counts = Counter((claim.verdict, claim.in_our_words) for _, claim in claims)
    found = Table(
        ("verdict", "the papers' sentences", "in our words"),
        [(verdict.value, counts[verdict, False], counts[verdict, True]) for verdict in Verdict],
        notes=(RULE, f"{OURS} Among these claims are differences that we found."),
        formats=HUMAN_FORMATS,
    )
    tables = [table for audit in audits for table in _tables_of(audit)]
    last = (_records_of_claims(claims), _numbers(audits))
    title = "What two papers print and say, computed again"
    return Report((found, *tables, *last), {"audits": audits}, title)


def _records_of_claims(claims: Sequence[tuple[str, Claim]]) -> Table:
    """A row for every claim, with the name of its audit."""
    header = ("audit", "claim", "verdict", "exceptions", "place", "in our words")
    rows = tuple(
        (name, claim.text, claim.verdict.value, _exceptions(claim), claim.citation,
         "yes" if claim.in_our_words else "no")
        for name, claim in claims
    )  # fmt: skip
    return Table(header, rows, formats=ROW_FORMATS)


def _numbers(audits: Sequence[Audit]) -> Table:
    """The number of facts that do not hold, for each claim."""
    counts = tuple((len(claim.exceptions),) for audit in audits for claim in audit.claims)
    return Table(("exceptions",), counts, formats=NUMBER_FORMATS)


def _exceptions(claim: Claim) -> str:
    """Why a claim was not checked, or how many of its facts do not hold, and which."""
    names = [fact.what for fact in claim.exceptions]
    counted = f"{len(names)} of {len(claim.facts)}: {'; '.join(names)}" if names else ""
    return claim.unchecked or counted


def audit_report(audit: Audit) -> Report:
    """One audit: its claims, those that fail first, and every fact that does not hold.

    CSV and JSON have every fact of every claim.
    """
    overview, *facts = _tables_of(audit)
    rule = (RULE, *[OURS] * any(claim.in_our_words for claim in audit.claims))
    overview = replace(overview, title="", notes=(*overview.notes, *rule))
    records = [
        (claim.text, claim.verdict.value, *row)
        for claim in audit.claims
        for row in [*map(_fact_row, claim.facts)] or [(claim.unchecked, "", "", "", "")]
    ]
    rows = Table(("claim", "verdict", *_FACT_HEADER), records, formats=ROW_FORMATS)
    tables = (*facts, overview, rows, _numbers([audit]))
    return Report(tables, audit.to_dict(), f"{audit.name}: {audit.title}")


def _tables_of(audit: Audit) -> list[Table]:
    """The claims of an audit by number, those that fail first, and the facts that do not hold."""
    claims = sorted(audit.claims, key=lambda claim: _FAILURES.index(claim.verdict))
    rows = [(number, fact) for number, claim in enumerate(claims, 1) for fact in claim.facts]
    holding = sum(fact.holds is True for _, fact in rows)
    readings = [f"Claim {n}: {claim.note}" for n, claim in enumerate(claims, 1) if claim.note]
    overview = Table(
        ("", "verdict", "facts that hold", "claim", "where"),
        tuple(
            (
                number,
                claim.verdict.value,
                f"{len(claim.facts) - len(claim.exceptions)} of {len(claim.facts)}",
                f"{claim.described}: {claim.unchecked}" if claim.unchecked else claim.described,
                claim.citation,
            )
            for number, claim in enumerate(claims, 1)
        ),
        f"{audit.name}: {audit.title}",
        notes=(*readings, f"{holding} of {len(rows)} facts hold."),
        formats=HUMAN_FORMATS,
    )
    failing = [(number, fact) for number, fact in rows if not fact.holds]
    failing.sort(key=lambda item: not item[1].decisive)
    shown: list[tuple[Cell, ...]] = [(number, *_fact_row(fact)) for number, fact in failing]
    header = ("claim", *_FACT_HEADER)
    facts = Table(header, shown, "Facts that do not hold, and exceptions", formats=HUMAN_FORMATS)
    return [overview, facts] if failing else [overview]


def _fact_row(fact: Fact) -> tuple[str, ...]:
    holds = {True: "yes", None: "cannot tell", False: "no" if fact.decisive else "exception"}
    return fact.what, fact.printed, fact.computed, fact.outcome, holds[fact.holds]
