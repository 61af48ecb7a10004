"""What scores must beat: lengths, BLEU and chrF of each translation."""

from __future__ import annotations

from collections.abc import Sequence

from coverage_eval.data.dataset import Batch, Row
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.meta.score_files import ScoreColumn
from coverage_eval.metrics.sacrebleu_adapters import BLEU, CHRF

_SHORTENED = ("omission", "early-stop")
"""Kinds of errors that make a translation shorter; others make it longer, if anything."""


def baseline_scores(
    rows: Sequence[Row], tokens: Tokenizer, kind: str, keys: Sequence[tuple[str, int]]
) -> list[ScoreColumn]:
    """Scores of each row that know nothing of coverage.

    They are the ratios of its length to the source's and the reference's (low ratios count as
    suspicious where the kind of error shortens a translation, high ones elsewhere), the source's
    length, BLEU and chrF.

    Args:
        rows: Translations with what there is of source and references.
        tokens: What cuts them into words.
        kind: The kind of error.
        keys: System and segment of each row.
    """
    shortened = kind.startswith(_SHORTENED)
    columns: dict[str, tuple[list[float | None], bool]] = {}
    if all(row.source is not None for row in rows):
        lengths = [len(tokens(row.source or "")) for row in rows]
        columns["hyp/src length"] = _ratios(rows, tokens, lengths), shortened
        columns["source length"] = list(map(float, lengths)), False
    if all(row.references for row in rows):
        lengths = [len(tokens(row.references[0])) for row in rows]
        columns["hyp/ref length"] = _ratios(rows, tokens, lengths), shortened
        for metric in (BLEU(tokenize=tokens.name, lowercase=tokens.lowercase), CHRF()):
            columns[metric.name] = metric.segment_scores(metric.count(Batch(rows))[0]), True
    return [
        ScoreColumn(name, "baselines", dict(zip(keys, values, strict=True)), higher)
        for name, (values, higher) in columns.items()
    ]


def _ratios(rows: Sequence[Row], tokens: Tokenizer, lengths: Sequence[int]) -> list[float | None]:
    """|hypothesis| / |text|; of an empty text, as if it had one word."""
    hypotheses = (len(tokens(row.hypotheses[0])) for row in rows)
    return [hyp / max(1, length) for hyp, length in zip(hypotheses, lengths, strict=True)]
