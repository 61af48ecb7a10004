"""Checks before scoring: a wrong file must not give a plausible number.

A file in the wrong place (another tokeniser, lines out of step, the source instead of the output,
a model of another language) seldom stops a score; it moves it, often for the better. Each check
looks at a sample of the texts and says in one line what it saw and what to do. A check that
compares shares is silent on texts of less than twenty segments.

The thresholds were set on two corpora, one of image descriptions and one of short sentences, on
outputs of real systems, and on the same texts spoiled in each of these ways; beside each threshold
stand the figures of sound and of spoiled text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from coverage_eval.preflight.findings import Finding
from coverage_eval.preflight.forms import check_forms
from coverage_eval.preflight.gold import check_gold
from coverage_eval.preflight.links import check_given_links
from coverage_eval.preflight.model import check_model
from coverage_eval.preflight.order import check_source_order
from coverage_eval.preflight.relations import check_relations
from coverage_eval.preflight.sample import Sample
from coverage_eval.preflight.sides import check_case, check_entities, check_equal

__all__ = [
    "TEXT_CHECKS",
    "Finding",
    "Sample",
    "check_given_links",
    "check_gold",
    "check_model",
    "check_texts",
]

TextCheck: TypeAlias = Callable[[Sample], Iterator[Finding]]

TEXT_CHECKS: tuple[TextCheck, ...] = (
    check_forms,
    check_entities,
    check_case,
    check_equal,
    check_relations,
    check_source_order,
)
"""The checks of :func:`check_texts`, in the order of their findings."""


def check_texts(sample: Sample) -> list[Finding]:
    """Look at the texts alone.

    Args:
        sample: Rows of all texts of a command.

    Returns:
        What :data:`TEXT_CHECKS` find; nothing where all looks as it should.
    """
    return [finding for check in TEXT_CHECKS for finding in check(sample)]
