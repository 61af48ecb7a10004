"""The metrics that systems can be compared by, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from coverage_eval.errors import MissingDependencyError
from coverage_eval.metrics.base import Metric
from coverage_eval.metrics.bleu import BLEU
from coverage_eval.metrics.chrf import CHRF
from coverage_eval.metrics.drop import DROP, AlignmentSettings
from coverage_eval.metrics.rep import REP
from coverage_eval.metrics.soft_drop import SoftDROP
from coverage_eval.metrics.stopwords import StopWords
from coverage_eval.text.tokenizers import get_tokenizer

__all__ = ["METRICS", "Choice", "Settings", "default_metrics", "make_metrics", "table_factor"]


@dataclass(frozen=True)
class Settings:
    """What metrics may need to know before any text is read.

    Attributes:
        tok: The tokeniser that was applied to all texts.
        bleu_tokenize: sacreBLEU's tokeniser for BLEU.
        meteor_norm: Whether METEOR normalises text, as Meteor's ``-norm`` does.
        alignment: Where links come from.
        stopwords: Source words that DROP and soft DROP leave out of account.
    """

    tok: str = "none"
    bleu_tokenize: str = "13a"
    meteor_norm: bool = False
    alignment: AlignmentSettings | None = None
    stopwords: StopWords = field(default_factory=StopWords)

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


def _bleu(settings: Settings) -> Metric:
    get_tokenizer(settings.bleu_tokenize)  # a missing package is said before any text is read
    return BLEU(tokenize=settings.bleu_tokenize)


def _meteor(settings: Settings) -> Metric:
    from coverage_eval.metrics.meteor.metric import METEOR

    metric = METEOR(norm=settings.meteor_norm)
    metric.signature()  # a missing extra is said before any text is read
    return metric


METRICS: Mapping[str, Choice] = {
    "bleu": Choice(_bleu),
    "meteor": Choice(_meteor, factor=100.0),
    "chrf": Choice(lambda _: CHRF()),
    "rep": Choice(lambda settings: REP(tok=settings.tok)),
    "drop": Choice(
        lambda settings: DROP(
            stopwords=settings.stopwords, alignment=settings.required_alignment()
        ),
        "links",
    ),
    "softdrop": Choice(
        lambda settings: SoftDROP(settings.stopwords, settings.required_alignment()), "posteriors"
    ),
}


def make_metrics(names: Sequence[str], settings: Settings) -> dict[str, Metric]:
    """The metrics of these names.

    Raises:
        ValueError: An unknown name, or a metric whose needs are not met.
        MissingDependencyError: METEOR's data are not installed.
    """
    if unknown := [name for name in names if name not in METRICS]:
        raise ValueError(f"unknown metric {unknown[0]!r}; one of {', '.join(METRICS)}")
    return {name: METRICS[name].make(settings) for name in names}


def default_metrics(*, links: bool) -> tuple[tuple[str, ...], str | None]:
    """The columns of the paper's Table 1, as far as they can be had.

    Args:
        links: Whether the source and an alignment model are there.

    Returns:
        Names of metrics, and why METEOR is not among them if it is not.
    """
    names = ("bleu", "meteor", "rep", *(("drop",) if links else ()))
    try:
        _meteor(Settings())
    except MissingDependencyError as error:
        return tuple(name for name in names if name != "meteor"), str(error)
    return names, None


def table_factor(name: str) -> float:
    """What a metric's score is multiplied by in tables for people: 100 for METEOR, else 1."""
    return METRICS[name].factor if name in METRICS else 1.0
