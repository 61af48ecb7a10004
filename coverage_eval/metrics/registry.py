"""The metrics that systems can be compared by, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from coverage_eval.metrics.base import Metric
from coverage_eval.metrics.bleu import BLEU
from coverage_eval.metrics.chrf import CHRF
from coverage_eval.metrics.drop import DROP, AlignmentSettings
from coverage_eval.metrics.rep import REP
from coverage_eval.metrics.soft_drop import SoftDROP

__all__ = ["METRICS", "Choice", "Settings", "make_metrics"]


@dataclass(frozen=True)
class Settings:
    """What metrics may need to know before any text is read.

    Attributes:
        tok: The tokeniser that was applied to all texts.
        bleu_tokenize: sacreBLEU's tokeniser for BLEU.
        alignment: Where links come from.
    """

    tok: str = "none"
    bleu_tokenize: str = "13a"
    alignment: AlignmentSettings | None = None

    def required_alignment(self) -> AlignmentSettings:
        """The alignment's settings.

        Raises:
            ValueError: No aligner is there.
        """
        if self.alignment is None:
            raise ValueError("DROP and SoftDROP need the source text and an alignment model")
        return self.alignment


@dataclass(frozen=True)
class Choice:
    """A metric that can be chosen by name.

    Attributes:
        make: From the settings to the metric.
        needs: ``"text"``, ``"links"`` or ``"posteriors"``: what it is counted from.
        factor: What its score is multiplied by in tables, as the literature prints it.
    """

    make: Callable[[Settings], Metric]
    needs: str = "text"
    factor: float = 1.0


def _meteor(_: Settings) -> Metric:
    from coverage_eval.metrics.meteor.metric import METEOR

    metric = METEOR()
    metric.signature()  # a missing extra is said before any text is read
    return metric


METRICS: Mapping[str, Choice] = {
    "bleu": Choice(lambda settings: BLEU(tokenize=settings.bleu_tokenize)),
    "meteor": Choice(_meteor, factor=100.0),
    "chrf": Choice(lambda _: CHRF()),
    "rep": Choice(lambda settings: REP(tok=settings.tok)),
    "drop": Choice(lambda settings: DROP(alignment=settings.required_alignment()), "links"),
    "softdrop": Choice(
        lambda settings: SoftDROP(alignment=settings.required_alignment()), "posteriors"
    ),
}


def make_metrics(names: tuple[str, ...], settings: Settings) -> dict[str, Metric]:
    """The metrics of these names.

    Raises:
        ValueError: An unknown name, or a metric whose needs are not met.
        MissingDependencyError: METEOR's data are not installed.
    """
    if unknown := [name for name in names if name not in METRICS]:
        raise ValueError(f"unknown metric {unknown[0]!r}; one of {', '.join(METRICS)}")
    return {name: METRICS[name].make(settings) for name in names}
