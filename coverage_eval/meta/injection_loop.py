"""The whole loop on a user's own text: put errors in, score, and see what each score sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.data.dataset import Dataset, Row
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.meta.baselines import baseline_scores
from coverage_eval.meta.computed_scores import score_columns
from coverage_eval.meta.evaluation import Evaluating, MetaEvaluation, meta_evaluate
from coverage_eval.meta.judgements import Judgement, Labels
from coverage_eval.meta.labels.injected import label_errors
from coverage_eval.meta.matching import match
from coverage_eval.meta.score_files import ScoreColumn
from coverage_eval.meta.texts import with_source_words
from coverage_eval.metrics.measure import Metric, measure
from coverage_eval.testbed.injection import Injection, clean_segments, whole_words
from coverage_eval.testbed.word_pool import WordPool

DEFAULT_RATES = (0.0, 0.01, 0.02, 0.05)


@dataclass(frozen=True)
class Spoiling:
    """Errors of one kind at several rates; the output at each rate is a system.

    Attributes:
        kind: A name of :data:`coverage_eval.testbed.injection.KINDS`.
        rates: Expected words concerned per word, each once.
        repair: What takes the place of words left out, one of ``REPAIRS`` there.
        seed: Seed of the random choices.
    """

    kind: str
    rates: Sequence[float] = DEFAULT_RATES
    repair: str = "none"
    seed: int = 0

    @property
    def systems(self) -> list[str]:
        """Names of the outputs: their rates in percent."""
        return [f"{100 * rate:g} %" for rate in self.rates]


def spoil_text(
    rows: Sequence[Row], spoiling: Spoiling, aligner: Aligner | None = None
) -> tuple[list[Row], Labels]:
    """Put errors into the correct translations of some rows.

    Args:
        rows: Rows with one hypothesis, which is correct, and their source. Where there is no
            reference, the correct translation becomes one.
        spoiling: Which errors.
        aligner: What tells which source words they concern; None if that need not be known.

    Returns:
        Rows with a hypothesis for each rate, and their labels.
    """
    linked = aligner if isinstance(aligner, ModelAligner) else None
    bare = [row._replace(references=()) for row in rows]
    clean = list(clean_segments(bare, linked))
    pool = WordPool.of(segment.words for segment in clean)
    outputs: list[list[str]] = []
    judgements: list[Judgement] = []
    for rate, system in zip(spoiling.rates, spoiling.systems, strict=True):
        injection = Injection([spoiling.kind], rate, pool, spoiling.seed, spoiling.repair)
        spoilt = [injection.spoil(segment, number) for number, segment in enumerate(clean, 1)]
        outputs.append([" ".join(segment.words) for segment in spoilt])
        errors = [error for segment in spoilt for error in segment.errors]
        wrong = {item.segment: item for item in label_errors(errors, system)}
        judgements += [
            wrong.get(n) or Judgement(n, False, 0.0, system, source=n, words=frozenset())
            for n in range(1, len(clean) + 1)
        ]
    spoilt_rows = [
        Row(hypotheses, row.references or row.hypotheses, row.source)
        for row, hypotheses in zip(rows, zip(*outputs, strict=True), strict=True)
    ]
    return spoilt_rows, Labels(spoiling.kind, tuple(judgements), grade="words concerned")


def evaluate_own_text(
    rows: Sequence[Row],
    spoiling: Spoiling,
    metrics: Mapping[str, Metric],
    aligner: Aligner | None = None,
    evaluating: Evaluating | None = None,
    *,
    baselines: bool = True,
) -> MetaEvaluation:
    """Put errors of one kind into correct translations, and see what scores see of them.

    Args:
        rows: As :func:`spoil_text` takes them.
        spoiling: Which errors.
        metrics: What gives scores, by their names.
        aligner: As :func:`spoil_text` takes it.
        evaluating: How scores are evaluated.
        baselines: Whether length ratios, BLEU and chrF are evaluated, too.

    Raises:
        DataError: No error was put in, or every segment got one.
        AlignerError: The aligner failed.
    """
    spoilt, labels = spoil_text(rows, spoiling, aligner)
    columns = score_text(spoilt, metrics, spoiling.systems)
    cut = whole_words(aligner.tokens) if aligner else Tokenizer()
    if baselines:
        columns += _baselines(spoilt, spoiling, labels, cut)
    sources = [row.source or "" for row in rows]
    matched = match(labels, columns)
    matched = with_source_words(matched, sources, aligner.source_tokens if aligner else cut)
    return meta_evaluate(matched, evaluating)


def _baselines(
    rows: Sequence[Row], spoiling: Spoiling, labels: Labels, tokens: Tokenizer
) -> list[ScoreColumn]:
    """Baselines of every system's segments, in the order of the labels."""
    alone = [
        Row((row.hypotheses[number],), row.references, row.source)
        for number in range(len(spoiling.rates))
        for row in rows
    ]
    return baseline_scores(alone, tokens, spoiling.kind, [i.key for i in labels.judgements])


def score_text(
    rows: Sequence[Row], metrics: Mapping[str, Metric], systems: Sequence[str]
) -> list[ScoreColumn]:
    """Scores of every segment of every system, in the order of each row's hypotheses."""
    references = [f"reference {number}" for number in range(1, len(rows[0].references) + 1)]
    dataset = Dataset(lambda: rows, systems, references, "the source")
    return score_columns(measure(dataset, metrics, evidence=True))
