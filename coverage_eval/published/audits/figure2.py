"""Whether csparsemax fixed the repetitions of Figure 2, by REP."""

from __future__ import annotations

from coverage_eval.published.audits.repetitions import CSPARSEMAX, repetition_fact
from coverage_eval.published.claims import Claim
from coverage_eval.published.translations import load_figure2


def audit() -> tuple[Claim, ...]:
    """Score the sentences of Figure 2 with REP."""
    examples = load_figure2()
    facts = [
        repetition_fact(examples, system, number, wanted=system != CSPARSEMAX, decisive=True)
        for number in (1, 2)
        for system in ("softmax", CSPARSEMAX)
    ]
    return (
        Claim(
            "Figure 2 shows examples of sentences for which the csparsemax fixed repetitions",
            "section 5, page 374",
            tuple(facts),
        ),
    )
