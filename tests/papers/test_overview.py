"""The table of both papers' parts: every part has its place, every claim its part.

``tests/papers/reproduction/test_commands.py`` runs the commands.
"""

from __future__ import annotations

import re
from functools import cache

import pytest

from coverage_eval.papers.audits import AUDITS, run_audit
from coverage_eval.papers.claims import Audit
from coverage_eval.papers.overview import ITEMS, NMT, SPARSEMAX


@cache
def audited(name: str) -> Audit:
    return run_audit(name)


@pytest.mark.parametrize("item", [item for item in ITEMS if item.audit], ids=lambda item: item.part)
def test_each_part_that_an_audit_shows_has_claims_there(item):
    assert item.audit
    assert item.claims(audited(item.audit))


def test_every_equation_table_figure_and_footnote_is_listed():
    listed = {
        paper: " ".join(f"{item.part} {item.content}" for item in ITEMS if item.paper == paper)
        for paper in (NMT, SPARSEMAX)
    }
    expected = {
        NMT: {"eq": 22, "Table": 2, "Figure": 2, "footnote": 6},
        SPARSEMAX: {"eq": 12, "Table": 4, "Figure": 3, "footnote": 3},
    }
    for paper, parts in expected.items():
        for part, last in parts.items():
            found: set[int] = set()
            for match in re.finditer(rf"{part}s?\.? (\d+)(?:( to | and )(\d+))?", listed[paper]):
                found |= set(range(int(match[1]), int(match[3] or match[1]) + 1))
            assert found >= set(range(1, last + 1)), (paper, part)


def test_every_audit_is_listed():
    assert {item.command.removeprefix("audit ") for item in ITEMS} >= set(AUDITS)


def test_every_claim_of_every_audit_is_in_the_table():
    for name in AUDITS:
        audit = audited(name)
        shown = [claim for item in ITEMS if item.audit == name for claim in item.claims(audit)]
        assert [claim.text for claim in audit.claims if claim not in shown] == [], name


def test_only_what_says_so_has_no_command():
    assert {item.state.rpartition("; ")[2] for item in ITEMS if not item.command} == {
        "nothing to compute"
    }
