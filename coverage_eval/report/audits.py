"""Audits of printed tables as text, CSV, JSON, LaTeX or Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

from coverage_eval.published.claims import Audit, Claim
from coverage_eval.report.tables import render_json, render_table

__all__ = ["render_audit", "render_overview"]


def render_overview(audits: Sequence[Audit], output_format: str) -> str:
    """Render one line for each claim: audit, claim, verdict, exceptions.

    Args:
        audits: The audits that were run.
        output_format: One of :data:`coverage_eval.report.tables.FORMATS`; JSON has every fact.
    """
    if output_format == "json":
        return render_json({"audits": [_as_dict(audit) for audit in audits]})
    header = ("audit", "claim", "verdict", "exceptions", "place")
    rows = [_overview_row(audit, claim) for audit in audits for claim in audit.claims]
    if output_format == "text":
        short = [
            (name, _cut(text, 88), verdict, _cut(which, 60))
            for name, text, verdict, which, _ in rows
        ]
        return render_table(header[:-1], short, output_format)
    return render_table(header, rows, output_format)


def _overview_row(audit: Audit, claim: Claim) -> tuple[str, str, str, str, str]:
    names = [fact.what for fact in claim.exceptions]
    if claim.unchecked:
        return audit.name, claim.text, claim.verdict.value, claim.unchecked, claim.place
    which = f"{len(names)} of {len(claim.facts)}: {'; '.join(names)}" if names else ""
    return audit.name, claim.text, claim.verdict.value, which, claim.place


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def render_audit(audit: Audit, output_format: str) -> str:
    """Render one audit with every fact its claims rest on.

    Args:
        audit: The audit.
        output_format: One of :data:`coverage_eval.report.tables.FORMATS`.
    """
    if output_format == "json":
        return render_json(_as_dict(audit))
    if output_format == "text":
        return "\n\n".join([f"{audit.name}: {audit.title}", *map(_as_text, audit.claims)])
    header = ["claim", "verdict", *_FACT_HEADER]
    rows = [
        (claim.text, claim.verdict.value, *row)
        for claim in audit.claims
        for row in _facts(claim) or [(claim.unchecked, "", "", "", "")]
    ]
    return render_table(header, rows, output_format)


_FACT_HEADER = ("fact", "printed", "against", "outcome", "holds")


def _as_text(claim: Claim) -> str:
    head = (f"{claim.text} ({claim.place})", f"=> {claim.verdict.value}")
    lines = [
        fill(text, 100, break_long_words=False)
        for text in (*head, claim.note, claim.unchecked)
        if text
    ]
    if not claim.facts:
        return "\n".join(lines)
    return "\n".join([*lines, "", render_table(_FACT_HEADER, _facts(claim), "text")])


def _facts(claim: Claim) -> list[tuple[str, ...]]:
    return [
        (fact.what, fact.printed, fact.against, fact.outcome, _holds(fact.holds, fact.decisive))
        for fact in claim.facts
    ]


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
        "facts": [
            {
                "fact": fact.what,
                "printed": fact.printed,
                "against": fact.against,
                "outcome": fact.outcome,
                "holds": fact.holds,
                "decisive": fact.decisive,
            }
            for fact in claim.facts
        ],
    }
