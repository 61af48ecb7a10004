"""The scores that are compared, by their names in the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coverage_eval.alignment.aligner import ModelAligner
from coverage_eval.data.dataset import Row
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.metrics.drop import DROP, SoftDROP
from coverage_eval.metrics.figures import SeqRep
from coverage_eval.metrics.measure import Metric
from coverage_eval.metrics.omissions import Omissions
from coverage_eval.metrics.rep import REP, LetterREP, LetterRepetition
from coverage_eval.metrics.without_references import UncoveredSource
from coverage_eval.testbed.injected_texts import InjectionPlan, score_text, spoil_text
from coverage_eval.testbed.labels import Labels
from coverage_eval.testbed.matching import match
from coverage_eval.testbed.meta_evaluation import MetaSettings, baseline_scores, meta_evaluate
from fast_align_wrapper import FastAlign, Links

RATE = 0.05
"""Share of the words with an error."""

Scorers = Mapping[str, Metric]


class FullTables:
    """A model that links with its full tables, not with the pruned ones that fast_align saves."""

    def __init__(self, model: FastAlign) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def align(self, pairs: Any, symmetrize: str) -> Iterator[Links]:
        """Links of some pairs."""
        return self._model.align(pairs, symmetrize, prune=False)


def by(aligner: ModelAligner, symmetrize: str) -> ModelAligner:
    """The same model with another symmetrisation."""
    return ModelAligner(aligner.model, symmetrize=symmetrize)


def drop_scores(aligner: ModelAligner) -> Scorers:
    """DROP as in the paper and by forward links, soft DROP, and uncovered source words."""
    forward = by(aligner, "forward")
    return {
        "DROP": DROP(aligner),
        "DROP forward": DROP(forward),
        "soft DROP": SoftDROP(aligner),
        "uncovered source": UncoveredSource(forward),
    }


def omission_scores(aligner: ModelAligner) -> Scorers:
    """The scores of DROP, and the omission finder with and without the reference."""
    return {
        **drop_scores(aligner),
        "omissions": Omissions(aligner),
        "omissions, no ref.": Omissions(aligner, referenced=False),
    }


def repetition_scores() -> Scorers:
    """REP as in the paper and in letters, with and without the reference, and seq-rep-1."""
    return {
        "REP": REP(),
        "REP-letters": LetterREP(),
        "REP-letters, no ref.": LetterRepetition(),
        "seq-rep-1": SeqRep(n=1),
    }


def all_scores(aligner: ModelAligner) -> Scorers:
    """The scores for repetitions and for omissions."""
    return {**repetition_scores(), **omission_scores(aligner)}


@dataclass(frozen=True)
class Spoilt:
    """Correct translations with injected errors, and their labels.

    Attributes:
        rows: The translations, with reference and source.
        labels: A label for each row.
    """

    rows: list[Row]
    labels: Labels

    @classmethod
    def of(
        cls,
        rows: Sequence[Row],
        kind: str = "omission-phrase",
        repair: str = "none",
        aligner: ModelAligner | None = None,
        rate: float = RATE,
    ) -> Spoilt:
        """Put errors of a kind into correct translations; some kinds need an aligner."""
        return cls(*spoil_text(rows, InjectionPlan(kind, (rate,), repair, seed=7), aligner))

    @property
    def is_mixed(self) -> bool:
        """Whether some translations have an error and some have none."""
        return len({item.positive for item in self.labels.judgements}) == 2

    def seen_as(self, cut: Callable[[str], str]) -> Spoilt:
        """The same errors, with all texts changed by a function."""
        rows = [
            Row(*(tuple(cut(str(text)) for text in side) for side in row[:2]), cut(str(row.source)))
            for row in self.rows
        ]
        return Spoilt(rows, self.labels)

    def areas(self, scorers: Scorers, *, baselines: bool = False) -> dict[str, float]:
        """Score → AUROC."""
        systems = self.labels.systems
        columns = score_text(self.rows, scorers, systems)
        # Probabilities, which have columns of their own, are in other tables.
        columns = [item for item in columns if item.name.removeprefix("−") in scorers]
        if baselines:
            keys = [item.key for item in self.labels.judgements]
            columns += baseline_scores(self.rows, Tokenizer(), self.labels.name, keys)
        evaluation = meta_evaluate(match(self.labels, columns), MetaSettings(resamples=0))
        return {item.name.removeprefix("−"): item.auroc.value for item in evaluation.scores}
