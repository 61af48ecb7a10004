"""Meta-evaluation on your own text: insert errors, score it, and see what each score finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.data.dataset import Dataset, Row
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.metrics.measure import Metric, measure
from coverage_eval.testbed.computed_scores import score_columns
from coverage_eval.testbed.injection import Injection, clean_segments, whole_words
from coverage_eval.testbed.labels import Judgement, Labels, label_errors
from coverage_eval.testbed.matching import match
from coverage_eval.testbed.meta_evaluation import (
    MetaEvaluation,
    MetaSettings,
    baseline_scores,
    meta_evaluate,
)
from coverage_eval.testbed.score_files import ScoreColumn
from coverage_eval.testbed.word_pool import WordPool

DEFAULT_RATES = (0.0, 0.01, 0.02, 0.05)


@dataclass(frozen=True)
class InjectionPlan:
    """Errors of one kind at several rates; the output at each rate is a system.

    Attributes:
        kind: A name of :data:`coverage_eval.testbed.injection.KINDS`.
        rates: Different rates: the expected share of words with an error, 0 to 0.5.
        repair: What replaces omitted words, one of ``REPAIRS`` there.
        seed: Seed of the random choices.
    """

    kind: str
    rates: Sequence[float] = DEFAULT_RATES
    repair: str = "none"
    seed: int = 0

    @property
    def systems(self) -> list[str]:
        """Names of the outputs: their rates in percent."""
        return [f"{100 * rate:g}%" for rate in self.rates]


def spoil_text(
    rows: Sequence[Row], plan: InjectionPlan, aligner: Aligner | None = None
) -> tuple[list[Row], Labels]:
    """Put errors into the correct translations of some rows.

    Args:
        rows: Rows with one hypothesis, which is correct, and their source. Without a reference, the
            correct translation becomes the reference. Peers are kept.
        plan: The errors.
        aligner: Finds the source words that the errors concern; None if they are not needed.

    Returns:
        Rows with a hypothesis for each rate, and their labels.
    """
    linked = aligner if isinstance(aligner, ModelAligner) else None
    clean = list(clean_segments([row._replace(references=()) for row in rows], linked))
    pool = WordPool.of(segment.words for segment in clean)
    outputs: list[list[str]] = []
    judgements: list[Judgement] = []
    for rate, system in zip(plan.rates, plan.systems, strict=True):
        injection = Injection([plan.kind], rate, pool, plan.seed, plan.repair)
        spoilt = [injection.spoil(segment, number) for number, segment in enumerate(clean, 1)]
        outputs.append([" ".join(segment.words) for segment in spoilt])
        errors = [error for segment in spoilt for error in segment.errors]
        wrong = {item.segment: item for item in label_errors(errors, system)}
        judgements += [
            wrong.get(n) or Judgement(n, False, 0.0, system, source=n, words=frozenset())
            for n in range(1, len(clean) + 1)
        ]
    spoilt_rows = [
        Row(hypotheses, row.references or row.hypotheses, row.source, row.peers)
        for row, hypotheses in zip(rows, zip(*outputs, strict=True), strict=True)
    ]
    return spoilt_rows, Labels(plan.kind, tuple(judgements), grade="words concerned")


def score_text(
    rows: Sequence[Row], metrics: Mapping[str, Metric], systems: Sequence[str]
) -> list[ScoreColumn]:
    """Scores of every segment of every system, in the order of each row's hypotheses.

    The systems are versions of one text, so only the rows' peers are witnesses.
    """
    references = [f"reference {number}" for number in range(1, len(rows[0].references) + 1)]
    peers = [f"peer {number}" for number in range(1, len(rows[0].peers) + 1)]
    sizes = {"systems": 1, "references": len(references), "peers": len(peers)}
    chosen = {name: metric.for_texts(**sizes) for name, metric in metrics.items()}
    dataset = Dataset(lambda: rows, systems, references, "the source", peers)
    return score_columns(measure(dataset, chosen, evidence=True))


def evaluate_own_text(
    rows: Sequence[Row],
    plan: InjectionPlan,
    metrics: Mapping[str, Metric],
    aligner: Aligner | None = None,
    settings: MetaSettings | None = None,
    *,
    baselines: bool = True,
) -> MetaEvaluation:
    """Put errors of one kind into correct translations, and evaluate how well scores find them.

    Args:
        rows: Rows as for :func:`spoil_text`.
        plan: The errors.
        metrics: The scores, by name.
        aligner: As for :func:`spoil_text`.
        settings: Settings of the evaluation.
        baselines: Whether to evaluate length ratios, BLEU and chrF, too.

    Raises:
        DataError: No segment got an error, or every segment got one.
        AlignerError: The aligner failed.
    """
    spoilt, labels = spoil_text(rows, plan, aligner)
    columns = score_text(spoilt, metrics, plan.systems)
    tokens = whole_words(aligner.tokens) if aligner else Tokenizer()
    if baselines:
        alone = [
            Row((row.hypotheses[number],), row.references, row.source)
            for number in range(len(plan.rates))
            for row in spoilt
        ]
        keys = [item.key for item in labels.judgements]
        columns += baseline_scores(alone, tokens, plan.kind, keys)
    sources = [row.source or "" for row in rows]
    matched = match(labels, columns)
    matched = matched.with_source_words(sources, aligner.source_tokens if aligner else tokens)
    return meta_evaluate(matched, settings)
