"""Scores in files against labels in a file, with baselines where the texts are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from coverage_eval.data.dataset import Dataset, Row
from coverage_eval.data.files import Source, read_segments, source_name
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError
from coverage_eval.meta.baselines import baseline_scores
from coverage_eval.meta.evaluation import Evaluating, MetaEvaluation, meta_evaluate
from coverage_eval.meta.judgements import Labels
from coverage_eval.meta.matching import match
from coverage_eval.meta.score_files import Key, ScoreColumn
from coverage_eval.meta.texts import judged_rows, with_source_words


@dataclass(frozen=True)
class TextFiles:
    """Files whose lines are the segments that labels number; each may be unknown."""

    source: Source | None = None
    hypothesis: Source | None = None
    reference: Source | None = None


def choose_columns(
    columns: Sequence[ScoreColumn],
    names: Sequence[str] | None = None,
    turned: Sequence[str] = (),
) -> list[ScoreColumn]:
    """Some columns, or all, some of them read the other way round.

    Args:
        columns: All columns.
        names: Which of them, in this order; None for all.
        turned: Those whose low values point at errors where high ones would, or high where low.

    Raises:
        DataError: There is no column of a name, or there are two.
    """
    by_name: dict[str, ScoreColumn] = {}
    for column in columns:
        if column.name in by_name:
            raise DataError(
                f"{column.origin}: a score {column.name!r} is also in "
                f"{by_name[column.name].origin}; name files as NAME=FILE"
            )
        by_name[column.name] = column
    for name in (*(names or ()), *turned):
        if name not in by_name:
            raise DataError(f"there is no score {name!r}; there are: {', '.join(by_name)}")
    chosen = list(by_name.values()) if names is None else [by_name[name] for name in names]
    return [
        replace(column, higher_is_better=not column.higher_is_better)
        if column.name in turned
        else column
        for column in chosen
    ]


def evaluate_labelled(
    labels: Labels,
    columns: Sequence[ScoreColumn],
    kind: str,
    *,
    texts: TextFiles | None = None,
    tokens: Tokenizer | None = None,
    evaluating: Evaluating | None = None,
) -> MetaEvaluation:
    """Evaluate scores, and the baselines that the texts allow, against labels.

    Args:
        labels: The labels.
        columns: The scores.
        kind: The kind of error that the labels are of.
        texts: Texts that the labels are about, where they do not bring their own.
        tokens: What cuts them into words; by default at spaces.
        evaluating: How scores are evaluated.

    Raises:
        DataError: Nothing to evaluate, or as :func:`~coverage_eval.meta.matching.match` and
            :func:`~coverage_eval.meta.evaluation.meta_evaluate`.
    """
    files, cut = texts or TextFiles(), tokens or Tokenizer()
    rows = _rows(labels, files)
    baselines = baseline_scores(list(rows.values()), cut, kind, list(rows)) if rows else []
    if not (columns or baselines):
        raise DataError(
            f"{labels.name}: no scores, and no texts for baselines; name files of scores"
        )
    matched = match(labels, [*columns, *baselines])
    if files.source is not None:
        matched = with_source_words(matched, list(read_segments(files.source)), cut)
    return meta_evaluate(matched, evaluating)


def _rows(labels: Labels, files: TextFiles) -> dict[Key, Row]:
    """The texts by system and segment: the labels' own, or the files' lines."""
    references = [] if files.reference is None else [files.reference]
    if files.hypothesis is not None:
        hypothesis = {source_name(files.hypothesis): files.hypothesis}
        lines = Dataset.of_files(hypothesis, references, files.source).rows()
        return {("", number): row for number, row in enumerate(lines, start=1)}
    return judged_rows(labels, list(read_segments(references[0])) if references else None)
