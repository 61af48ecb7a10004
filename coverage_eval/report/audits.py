"""Audits of printed tables, as they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coverage_eval.published.claims import Audit, Claim
from coverage_eval.tables.table import Printable, Table

_FACT_HEADER = ("fact", "printed", "against", "outcome", "holds")


def present_audits(audits: Sequence[Audit]) -> Printable:
    """One row for each claim: audit, claim, verdict, exceptions.

    People see the first exception and how many there are; CSV has all of them, and where the claim
    stands; JSON has every fact. The numbers of ``--score-only`` are, for each claim, how many facts
    do not hold.
    """
    claims = [(audit.name, claim) for audit in audits for claim in audit.claims]
    header = ("audit", "claim", "verdict", "exceptions")
    shown = tuple((name, *_overview_row(claim, most=1)) for name, claim in claims)
    full = tuple((name, *_overview_row(claim), claim.place) for name, claim in claims)
    return Printable(
        (Table(header, shown),),
        records=Table((*header, "place"), full),
        data={"audits": [_as_dict(audit) for audit in audits]},
        numbers=tuple(len(claim.exceptions) for _, claim in claims),
    )


def _overview_row(claim: Claim, most: int | None = None) -> tuple[str, str, str]:
    names = [fact.what for fact in claim.exceptions]
    more = [] if most is None or most >= len(names) else ["…"]
    which = f"{len(names)} of {len(claim.facts)}: {'; '.join(names[:most] + more)}" if names else ""
    return claim.text, claim.verdict.value, claim.unchecked or which


def present_audit(audit: Audit) -> Printable:
    """One audit with every fact its claims rest on: a table a claim, in CSV one for all."""
    tables = tuple(
        Table(
            _FACT_HEADER if claim.facts else (),
            _facts(claim),
            title=f"{claim.text} ({claim.place}): {claim.verdict.value}",
            notes=tuple(text for text in (claim.note, claim.unchecked) if text),
        )
        for claim in audit.claims
    )
    records = tuple(
        (claim.text, claim.verdict.value, *row)
        for claim in audit.claims
        for row in _facts(claim) or ((claim.unchecked, "", "", "", ""),)
    )
    return Printable(
        tables,
        title=f"{audit.name}: {audit.title}",
        records=Table(("claim", "verdict", *_FACT_HEADER), records),
        data=_as_dict(audit),
        numbers=tuple(len(claim.exceptions) for claim in audit.claims),
    )


def _facts(claim: Claim) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (fact.what, fact.printed, fact.against, fact.outcome, _holds(fact.holds, fact.decisive))
        for fact in claim.facts
    )


def _holds(holds: bool, decisive: bool) -> str:
    if holds:
        return "yes"
    return "no" if decisive else "exception"


def _as_dict(audit: Audit) -> dict[str, Any]:
    return {"audit": audit.name, "title": audit.title, "claims": list(map(_claim, audit.claims))}


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "claim": claim.text,
        "place": claim.place,
        "verdict": claim.verdict.value,
        "note": claim.note,
        "unchecked": claim.unchecked,
        "facts": [fact.to_dict() for fact in claim.facts],
    }
