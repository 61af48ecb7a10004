"""The table "text against scripts": each difference shown by computing both sides."""

from __future__ import annotations

from coverage_eval.published.audits import attention_rows, model_rows, state_rows, text_rows
from coverage_eval.published.claims import Claim


def audit() -> tuple[Claim, ...]:
    """All rows, in the order of their numbers."""
    return (
        text_rows.rep_second_sum(),
        text_rows.drop_denominator(),
        text_rows.drop_empty_line(),
        text_rows.bleu(),
        text_rows.meteor(),
        state_rows.coverage_vector(),
        attention_rows.solvers(),
        attention_rows.no_interior(),
        state_rows.exhaustion(),
        state_rows.fertilities(),
        text_rows.drop_sink(),
        attention_rows.lagrangian(),
        model_rows.penalty_of_zeros(),
        attention_rows.jacobian_norm(),
        model_rows.length(),
        model_rows.encoder(),
        state_rows.gold_dump(),
        state_rows.padded_sink(),
    )
