"""The systems that commands compare, and how: arguments, options, checks and the comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import click

from coverage_eval.alignment.aligner import Aligner
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
from coverage_eval.cli.sharding import Sharding
from coverage_eval.cli.warnings import InputWatch
from coverage_eval.comparison.buckets import read_frequencies
from coverage_eval.comparison.systems import Counted, TestSet, count_systems
from coverage_eval.comparison.table import Comparison, compare_counted
from coverage_eval.comparison.testing import Testing
from coverage_eval.data.files import Text, check_source
from coverage_eval.data.input_checks import Finding
from coverage_eval.data.spool import Spool
from coverage_eval.data.tokenizers import TOKENIZERS
from coverage_eval.metrics.aligned import AlignedMetric
from coverage_eval.metrics.base import Metric, TokenMetric
from coverage_eval.metrics.registry import METRICS, default_metrics, make_metric, metric_class
from coverage_eval.metrics.significance import (
    DEFAULT_RESAMPLES,
    MOST_RESAMPLES,
    TESTS,
)

F = TypeVar("F", bound=Callable[..., Any])


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

    def leave_out_unfit(self, watch: InputWatch) -> None:
        """Leave out, with a note, columns that nobody asked for and that do not fit the texts."""
        if not self._chosen_here:
            return
        of_text = {name: self._make(name) for name in self.names if not _is_aligned(name)}
        for name, metric in of_text.items():
            if said := watch.objection(metric):
                self.names.remove(name)
                say(f"no {metric.name} in the table: {said}", "note")

    def make(self, of_links: Mapping[str, Any]) -> dict[str, Metric[Any]]:
        """The metrics by name; those of links take the aligner and further settings."""
        return {name: self._make(name, of_links) for name in self.names}

    def _make(self, name: str, of_links: Mapping[str, Any] = MappingProxyType({})) -> Metric[Any]:
        settings = {**self._settings.get(name, {}), **of_links}
        if issubclass(metric_class(name), TokenMetric):
            settings |= {
                "tokenize": self.alignment.tokenize,
                "lowercase": self.alignment.lowercase,
            }
        return make_metric(name, settings)

    @property
    def of_words(self) -> bool:
        """Whether a column counts the words that the text is cut into."""
        kinds = map(metric_class, self.names)
        return any(issubclass(kind, (TokenMetric, AlignedMetric)) for kind in kinds)

    @property
    def need_aligner(self) -> bool:
        """Whether a column, or the wish to keep a model, makes an aligner necessary."""
        return any(map(_is_aligned, self.names)) or self.alignment.save_model is not None


def _is_aligned(name: str) -> bool:
    return bool(metric_class(name).needs & {"links", "coverages"})


class Outcome(NamedTuple):
    """Systems that were counted, and what was noticed about the input.

    Attributes:
        counted: The systems.
        frequencies: How often each source word stands in the training text; None if no text was
            named.
        aligner: What linked the texts, if anything did.
        findings: What looks wrong.
        figures: How well the aligner's model knows the texts, by name.
    """

    counted: Counted
    frequencies: Mapping[str, int] | None
    aligner: Aligner | None
    findings: list[Finding]
    figures: dict[str, float]


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

    def compare(self, counted: Counted) -> Comparison:
        """Test what :meth:`count` counted."""
        return compare_counted(counted, baseline=self.baseline, testing=self.testing)

    def count(self, *, counts_frequencies: bool, sharding: Sharding | None = None) -> Outcome:
        """Read the texts, align them and count.

        Args:
            counts_frequencies: Whether the words of the training text are counted, too.
            sharding: Which segments; None for all.

        Raises:
            DataError: As :func:`coverage_eval.comparison.table.compare`.
            AlignerError: The aligner failed.
        """
        sharding = sharding or Sharding()
        columns, alignment = self.columns, self.alignment
        text = self.frequencies or alignment.train_src
        if counts_frequencies:
            check_source(text)
        alignment.check_files([*self.ref, *self.systems.values()])
        of_links = alignment.settings()
        watch = InputWatch(self.systems, self.ref, alignment.src)
        rows = Spool(sharding.take(watch.rows()))
        columns.leave_out_unfit(watch)
        aligner = sharding.make_aligner(alignment) if columns.need_aligner else None
        tokens = alignment.tokens
        source_tokens = aligner.source_tokens if aligner else tokens
        texts = TestSet(tuple(self.systems), rows, tokens, source_tokens)
        metrics = columns.make({"aligner": aligner, **of_links})
        counted = count_systems(texts, metrics, jobs=self.jobs, progress=True)
        frequencies = read_frequencies(text, source_tokens) if counts_frequencies and text else None
        shown = tokens if columns.of_words else None
        return Outcome(
            counted, frequencies, aligner, *watch.check(shown, aligner, counted.metrics.values())
        )


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
