"""The systems that commands compare, and how: arguments, options, checks and the comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from itertools import islice
from types import MappingProxyType
from typing import Any, TypeVar

import click

from coverage_eval.cli.alignment_options import AlignmentOptions, alignment_options
from coverage_eval.cli.corpus_options import corpus_options
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import (
    WholeRange,
    add_options,
    gathered,
    given_options,
    jobs_option,
    listed_options,
    parse_list,
    parse_named_files,
    seed_option,
    strict_option,
)
from coverage_eval.comparison.breakdowns import read_frequencies
from coverage_eval.comparison.comparison import Testing
from coverage_eval.data.dataset import Dataset
from coverage_eval.data.files import Text
from coverage_eval.data.tokenizers import TOKENIZERS
from coverage_eval.metrics.drop import AlignedMetric
from coverage_eval.metrics.measure import Metric, Result, TokenMetric, measure
from coverage_eval.metrics.omissions import Omissions
from coverage_eval.metrics.registry import METRICS, default_metrics, make_metric, metric_class
from coverage_eval.metrics.significance import (
    DEFAULT_RESAMPLES,
    MOST_RESAMPLES,
    TESTS,
)

F = TypeVar("F", bound=Callable[..., Any])


_LOOKED_AT = 2000
"""Segments that are looked at to see whether a metric fits the texts."""


class Columns:
    """The metrics asked for, checked before any file is read."""

    def __init__(
        self, asked: Sequence[str] | None, alignment: AlignmentOptions, settings: Mapping[str, Any]
    ) -> None:
        self.alignment = alignment
        self._settings = settings
        self._chosen_here = asked is None
        if asked is None:
            names, missing = default_metrics(aligned=alignment.is_given)
            if missing:
                say(f"no METEOR in the table: {missing}", "note")
        else:
            names = asked
        self.names = list(names)
        needy = [name for name in self.names if _is_aligned(name)]
        if needy and not alignment.is_given:
            raise click.UsageError(
                f"metric {' and '.join(needy)} needs --src, and --model or --train-src with "
                "--train-tgt; or links from files"
            )
        covered = [name for name in self.names if "coverages" in metric_class(name).needs]
        if covered and alignment.has_links:
            raise click.UsageError(
                f"metric {covered[0]} needs a model: links have no probabilities"
            )
        self._check_given()
        for name in self.names:
            if name not in needy:
                self._make(name)  # a missing package is said before minutes of training

    def _check_given(self) -> None:
        """Refuse options of words where no column counts words, and of links where none does."""
        given = given_options()
        columns = [metric_class(name) for name in self.names]
        words = given & {"tokenize", "src_tokenize", "lowercase"}
        kinds = (TokenMetric, AlignedMetric) if self.alignment.has_model else TokenMetric
        if words and not any(issubclass(kind, kinds) for kind in columns):
            raise click.UsageError(
                f"{listed_options(words)} is not for {' and '.join(self.names)}: only rep, and "
                "drop and softdrop with a model, take it"
            )
        taken = {item.name for kind in columns for item in fields(kind)}
        if unfit := (given & {"stopwords", "denominator"}) - taken:
            raise click.UsageError(f"{listed_options(unfit)} is not for {' and '.join(self.names)}")

    def leave_out_unfit(self, dataset: Dataset) -> None:
        """Leave out, with a note, columns that nobody asked for and that do not fit the texts."""
        if not self._chosen_here:
            return
        rows = list(islice(dataset.rows(), _LOOKED_AT))
        for name in [name for name in self.names if not _is_aligned(name)]:
            metric = self._make(name)
            if said := metric.objection(rows):
                self.names.remove(name)
                references = ", ".join(dataset.references)
                say(f"no {metric.name} in the table: {references}: {said}", "note")

    def make(self, of_links: Mapping[str, Any]) -> dict[str, Metric]:
        """The metrics by name; those of links take the aligner and further settings."""
        return {name: self._make(name, of_links) for name in self.names}

    def _make(self, name: str, of_links: Mapping[str, Any] = MappingProxyType({})) -> Metric:
        settings = {**self._settings.get(name, {}), **of_links}
        if issubclass(metric_class(name), TokenMetric):
            settings |= {
                "tokenize": self.alignment.tokenize,
                "lowercase": self.alignment.lowercase,
            }
        return make_metric(name, settings)

    @property
    def need_aligner(self) -> bool:
        """Whether a column, or the wish to keep a model, makes an aligner necessary."""
        return any(map(_is_aligned, self.names)) or self.alignment.save_model is not None


def _is_aligned(name: str) -> bool:
    return bool(metric_class(name).needs & {"links", "coverages"})


@dataclass(frozen=True)
class ComparisonOptions:
    """Systems and how they are compared, as the command line names them.

    Attributes:
        systems: Files of outputs by name.
        ref: Files of references.
        alignment: The source, an aligner and what counts of its links.
        metrics: Names of the columns; None for the usual ones.
        baseline: The system to test against; None for the first.
        test: The test.
        resamples: Resamples of intervals and test.
        seed: Their seed.
        frequencies: A text to count source words in; None for the training text.
        bleu_tokenize: BLEU's own tokeniser.
        meteor_norm: Whether METEOR tokenises and normalises.
        jobs: Processes for metrics of text.
        strict: Whether warnings are errors.
    """

    systems: Mapping[str, Text]
    ref: Sequence[Text]
    alignment: AlignmentOptions
    metrics: Sequence[str] | None
    baseline: str | None
    test: str
    resamples: int
    seed: int
    frequencies: str | None
    bleu_tokenize: str
    meteor_norm: bool
    jobs: int
    strict: bool

    @cached_property
    def columns(self) -> Columns:
        """The metrics asked for; a usage error if one of them cannot be had."""
        settings = {
            "bleu": {"tokenize": self.bleu_tokenize},
            "meteor": {"norm": self.meteor_norm},
        }
        return Columns(self.metrics, self.alignment, settings)

    def check(self, texts: Sequence[str] = ()) -> None:
        """Refuse what is wrong with the command line before any file is read.

        Args:
            texts: Further files that the command reads.

        Raises:
            click.UsageError: The first thing that is wrong.
        """
        if self.baseline is not None and self.baseline not in self.systems:
            listed = ", ".join(self.systems)
            raise click.UsageError(
                f"the baseline {self.baseline!r} is none of the systems {listed}"
            )
        others = [*filter(None, [self.frequencies]), *texts]
        self.alignment.check([*self.ref, *self.systems.values(), *others])
        links = {
            ("--src-ref-align", "references"): (self.alignment.src_ref_align, self.ref),
            ("--src-hyp-align", "systems"): (self.alignment.src_hyp_align, self.systems),
        }
        for (option, what), (files, named) in links.items():
            if files and len(files) != len(named):
                raise click.UsageError(
                    f"{option}: {len(files)} of them for {len(named)} {what}; "
                    "give it once for each, in their order"
                )
        _ = self.columns

    @property
    def testing(self) -> Testing:
        """How differences are tested."""
        return Testing(self.test, self.resamples, self.seed)

    def measure(self, *, evidence: bool, suspects: str | None = None) -> Result:
        """Read the texts, align them and count.

        Args:
            evidence: Whether evidence will be asked for.
            suspects: Look for omissions, too, under this name.

        Raises:
            DataError: As :func:`coverage_eval.comparison.comparison.compare`.
            AlignerError: The aligner failed.
        """
        columns, alignment = self.columns, self.alignment
        alignment.check_files([*self.ref, *self.systems.values()])
        of_links = alignment.settings()
        dataset = Dataset.of_files(self.systems, self.ref, alignment.src)
        columns.leave_out_unfit(dataset)
        aligner = alignment.make() if columns.need_aligner else None
        metrics = columns.make({"aligner": aligner, **of_links})
        if suspects is not None and aligner is not None:
            metrics[suspects] = Omissions(aligner)
        result = measure(
            dataset, metrics, jobs=self.jobs, evidence=evidence, checks=True, progress=True
        )
        tokens = alignment.tokens
        source_tokens = aligner.source_tokens if aligner else tokens
        return replace(result, tokens=tokens, source_tokens=source_tokens)

    def count_frequencies(self, result: Result) -> Mapping[str, int] | None:
        """How often each source word stands in the training text; None if no text is named."""
        text = self.frequencies or self.alignment.train_src
        return read_frequencies(text, result.source_tokens) if text else None


_TESTING = (
    click.option(
        "--baseline", metavar="NAME", help="Test against this one.  [default: the first]"
    ),
    click.option(
        "--test", default="randomization", show_default=True, type=click.Choice(TESTS),
        help="Test by approximate randomisation, or by sacreBLEU's paired bootstrap, which finds "
        "more differences than there are (some 10 % false ones at p < 0.05).",
    ),
    click.option(
        "--resamples", default=DEFAULT_RESAMPLES, show_default=True,
        type=WholeRange(0, MOST_RESAMPLES),
        help="Draw so many resamples for intervals and tests; 0 for neither.",
    ),
    seed_option,
)  # fmt: skip

testing_options = partial(add_options, options=_TESTING)
"""What systems are tested against, and how: the fields of a ``Testing``, and ``baseline``."""

_OPTIONS = (
    click.argument(
        "systems", nargs=-1, required=True, metavar="[NAME=]FILE...", callback=parse_named_files
    ),
    click.option(
        "--ref", required=True, multiple=True, metavar="FILE",
        help="Read the reference from this file; give it once for each of several references.",
    ),
    alignment_options(words_of="every side, for rep, drop and softdrop"),
    click.option(
        "--metrics", metavar="LIST", callback=parse_list("metric", METRICS),
        help=f"Show these columns, separated by commas, of: {', '.join(METRICS)}.  "
        "[default: bleu,meteor,rep, and drop with an aligner; meteor only for English]",
    ),
    *_TESTING,
    click.option(
        "--frequencies", metavar="FILE",
        help="Count source words in this text, for their frequency classes.  "
        "[default: --train-src, or else --src]",
    ),
    click.option(
        "--bleu-tokenize", default="13a", show_default=True, type=click.Choice(TOKENIZERS),
        help="Use this tokeniser of sacreBLEU for BLEU, which, like chrF and METEOR, reads "
        "untouched text.",
    ),
    click.option(
        "--meteor-norm", is_flag=True, help="Let METEOR tokenise, normalise and lowercase."
    ),
    jobs_option,
    strict_option,
)  # fmt: skip


def comparison_options(command: F) -> Callable[..., Any]:
    """Add the systems and the options; the command receives them as one ``options``."""
    return corpus_options(gathered("options", ComparisonOptions, _OPTIONS)(command))
