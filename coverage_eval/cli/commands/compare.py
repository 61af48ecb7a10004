"""``coverage-eval compare``, and the options that ``report`` has too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import click

from coverage_eval.cli.gate import CLOSED
from coverage_eval.cli.help import GROUPS, option
from coverage_eval.cli.link_options import OF_DROP, WORDS, AlignmentOptions, alignment_options
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import (
    Command,
    NoFile,
    Output,
    given_options,
    jobs_option,
    listed_options,
    options_as,
    parse_differences,
    parse_list,
    parse_named_files,
    refuse,
    strict_option,
)
from coverage_eval.cli.output import print_lines, show, warn
from coverage_eval.cli.text_options import corpus_options
from coverage_eval.compare.breakdowns import BREAKDOWNS, break_down
from coverage_eval.compare.evidence import metrics_that_list
from coverage_eval.compare.gate import Gate, Worsening, find_worse, gate_as_dict
from coverage_eval.compare.given_files import read_given
from coverage_eval.compare.presentation import evidence_lines, present_comparison_segments
from coverage_eval.compare.table import Comparison, compare_result, present_comparison
from coverage_eval.core.dataset import Dataset
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import Text, file_of
from coverage_eval.core.measure import Result
from coverage_eval.core.settings import setting
from coverage_eval.core.show.table import Printable
from coverage_eval.core.significance import SignificanceTest, min_resamples
from coverage_eval.core.text_metric import TokenMetric
from coverage_eval.coverage.drop import AlignedMetric
from coverage_eval.coverage.trust import trust_sentences
from coverage_eval.documents.settings import DocumentSettings
from coverage_eval.evaluation import Evaluation
from coverage_eval.plotting.saving import ENDINGS as PICTURES
from coverage_eval.plotting.saving import save_figure
from coverage_eval.registry import METRICS, metric_class

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions:
    """Systems and how they are compared.

    Attributes:
        systems: Files of outputs by name.
        alignment: Where links come from.
        test: The baseline, and how systems are tested against it.
        strict: Whether warnings are errors.
        documents: How outputs of other lines than their source are cut; None if lines match.
    """

    systems: Mapping[str, Text]
    alignment: AlignmentOptions
    test: SignificanceTest
    jobs: int
    strict: bool
    ref: tuple[Text, ...]
    metrics: list[str] | None
    scores: Mapping[str, Text]
    lower_is_better: list[str] | None
    documents: DocumentSettings | None
    lowercase: bool = setting(False, "Lowercase every side, for rep.")

    @cached_property
    def evaluation(self) -> Evaluation:
        """What is scored, without what is read from files."""
        return Evaluation(
            Dataset(self.systems, self.ref, self.alignment.src),
            self.alignment,
            self.metrics,
            tokenize=self.alignment.tokenize,
            lowercase=self.lowercase,
            jobs=self.jobs,
            named=True,
            progress=True,
            documents=self.documents,
        )

    @cached_property
    def names(self) -> list[str]:
        """The metrics that were asked for, or those that the texts and the aligner allow."""
        return [str(name) for name in self.evaluation.column_names()[0]]

    def check(self, texts: Sequence[str] = ()) -> None:
        """Refuse mistakes on the command line before any file is read.

        Args:
            texts: Further files that the command reads.

        Raises:
            click.UsageError: The first thing that is wrong.
        """
        check_baseline(self.test, self.systems)
        self.alignment.check([*self.ref, *self.systems.values(), *self.scores.values(), *texts])
        for flag, what, files, named in (
            ("--ref-links", "references", self.alignment.ref_links, self.ref),
            ("--links", "systems", self.alignment.links, self.systems),
        ):
            if files and len(files) != len(named):
                raise click.UsageError(
                    f"{flag}: {len(files)} for {len(named)} {what}; give it once for each, in "
                    "their order"
                )
        for name in self.scores:
            if name in METRICS:
                raise click.UsageError(f"--scores {name}: is a metric of this program; rename it")
        unknown = [name for name in self.lower_is_better or () if name not in self.scores]
        if unknown:
            raise click.UsageError(f"--lower-is-better {unknown[0]}: it is not among the --scores")
        self._check_names()

    def _check_names(self) -> None:
        """Refuse metrics that lack a text or links, and options that no metric uses."""
        alignment, kinds = self.alignment, {name: metric_class(name) for name in self.names}
        needy = [name for name, kind in kinds.items() if kind.needs & {"links", "coverages"}]
        for name, kind in kinds.items():
            if "documents" in kind.needs and not self.documents:
                raise click.UsageError(f"metric {name} needs --unaligned")
            if "references" in kind.needs and not self.ref:
                raise click.UsageError(f"metric {name} needs --ref")
            if "sources" in kind.needs and alignment.src is None and name not in needy:
                raise click.UsageError(f"metric {name} needs --src")
        purpose = "--prepare-for omissions " if "omissions" in needy else ""
        for name in needy:
            alignment.require(f"metric {name}", kinds[name].needs, purpose)
        words = given_options() & {*WORDS, "lowercase"}
        tokenized = (TokenMetric, AlignedMetric) if alignment.model else TokenMetric
        if words and not any(issubclass(kind, tokenized) for kind in kinds.values()):
            raise click.UsageError(
                f"{listed_options(words)} is not for {' and '.join(kinds)}: only rep, and "
                "drop and softdrop with a model, take it"
            )

    def measure(self, *, evidence: bool) -> Result:
        """Read the texts, align them and count.

        Args:
            evidence: Whether evidence will be asked for.

        Raises:
            DataError: As :func:`coverage_eval.compare.table.compare`.
            AlignerError: The aligner failed.
        """
        scores = map(file_of, self.scores.values())  # whose columns are no texts
        self.alignment.check_files([*self.ref, *self.systems.values(), *scores])
        lower = self.lower_is_better or ()
        given = {
            name: read_given(name, file, list(self.systems), lower=name in lower)
            for name, file in self.scores.items()
        }
        return replace(self.evaluation, others=given, evidence=evidence).run()


_OPTIONS = (
    alignment_options(words_of="every side, for rep, drop and softdrop", without=OF_DROP),
    option(
        "-m", "--metrics", metavar="LIST", callback=parse_list("metric", METRICS), names=METRICS,
        help=f"Show these columns, such as bleu,rep or bleu rep; there are: {', '.join(METRICS)}.  "
        "[default: bleu,meteor,rep, drop with an aligner and softdrop with a model; meteor only "
        "for English; without --ref rep-letters-no-ref,length-ratio, and omissions with a model]",
    ),
    option(
        "--scores", metavar="NAME=FILE", multiple=True, callback=parse_named_files, is_eager=True,
        group="Metrics",
        help="Add a column with the segment scores in this file, with intervals and tests: CSV "
        "or JSON of comet-score.",
    ),
    option(
        "--lower-is-better", metavar="LIST", callback=parse_list("score", ()), group="Metrics",
        help="Which --scores are better when lower: a list of names, separated by commas.",
    ),
    options_as("test", SignificanceTest, group="Statistics"),
    jobs_option,
    strict_option,
)  # fmt: skip


def check_baseline(test: SignificanceTest, systems: Mapping[str, Any]) -> None:
    """Raise a usage error for a baseline that is not one of the systems."""
    if test.baseline is not None and test.baseline not in systems:
        raise click.UsageError(
            f"the baseline {test.baseline!r} is not one of the systems {', '.join(systems)}"
        )


def comparison_options(command: F) -> Callable[..., Any]:
    """Add the systems and the options; the command receives them as one ``options``."""
    add = corpus_options("systems", options=("ref",), needed=("systems", "ref|src"))
    return add(options_as("options", ComparisonOptions, *_OPTIONS, group="Metrics")(command))


@dataclass(frozen=True)
class TableOptions:
    """Tables beside the table of systems, or segments instead of it."""

    breakdown: list[str] | None = setting(
        None,
        f"Add these tables, separated by commas, of: all, {', '.join(BREAKDOWNS)}.",
        metavar="LIST",
        callback=parse_list("breakdown", ("all", *BREAKDOWNS)),
    )
    worst: int | None = setting(
        None,
        "Add a table of this many segments for each metric and system: those that differ most from "
        "the baseline's, or of one system the worst. With --sentence-level, print only the rows "
        "that are worst by the first metric.",
        min=1,
        group=GROUPS[0],
    )
    sentence_level: bool = setting(
        False,
        "Print a row for each segment and system with all metrics; as JSON Lines, with texts and "
        "all evidence.",
        group=GROUPS[0],
    )
    trust: bool = setting(
        False,
        "Say how far omissions and additions can be believed on these texts: plant errors in some "
        "segments and count how many are found.",
    )

    def check(self, options: ComparisonOptions, output: Output) -> None:
        """Refuse tables that cannot be made or printed, before any text is read.

        Raises:
            click.UsageError: The first thing that is wrong.
            DataError: A file is missing.
        """
        picture = Path(output.output or "").suffix.lower() in PICTURES
        refuse({
            f"-o {output.output} draws differences from a baseline: it needs another system":
                picture and len(options.systems) < 2,
            f"-o {output.output} draws the differences of corpus scores; leave "
            "--sentence-level, --breakdown and --worst out":
                picture and (self.sentence_level or self.breakdown or self.worst),
            "JSON Lines of --sentence-level have all segments; leave --worst out":
                self.sentence_level and self.worst and output.output_format == "jsonl",
            "--sentence-level prints segments; leave --breakdown out":
                self.sentence_level and self.breakdown,
        })  # fmt: skip
        if (self.breakdown or self.worst) and not self.sentence_level:
            output.require_several("--breakdown" if self.breakdown else "--worst")
        for name in self.breakdown or ():
            item = BREAKDOWNS.get(name)
            able = metrics_that_list(item.needs) if item and item.needs else None
            if able is not None and not set(able) & set(options.names):
                raise click.UsageError(f"--breakdown {name} needs metric {' or '.join(able)}")
            if item and item.needs_source and options.alignment.src is None:
                raise click.UsageError(f"--breakdown {name} needs --src")

    def present(self, comparison: Comparison, result: Result) -> Printable:
        """The table of systems with its breakdowns, or the segments."""
        if self.sentence_level:
            return present_comparison_segments(comparison, self.worst)
        names = None if "all" in (self.breakdown or ()) else self.breakdown
        tables = break_down(result, names) if self.breakdown else []
        if self.worst:
            tables.append(comparison.most_different(self.worst))
        return present_comparison(comparison, tables)


def _make_gate(guarded: Mapping[str, float], options: ComparisonOptions) -> Gate:
    """The gate; a usage error for one that can never close."""
    names = {*options.names, *options.scores}
    if unknown := [name for name in guarded if name not in names]:
        raise click.UsageError(f"--fail-if-worse {unknown[0]}: it is not among the --metrics")
    for name in guarded:
        if name in METRICS and metric_class(name).higher_is_better is None:
            raise click.UsageError(
                f"--fail-if-worse {name}: neither a high nor a low one is better in itself; "
                "name another metric"
            )
    others = len(options.systems) - 1
    if not others:
        raise click.UsageError("--fail-if-worse needs a system beside the baseline")
    gate = Gate(guarded)
    least = min_resamples(others, gate.level)
    resamples = options.test.resamples
    if resamples < least:
        raise click.UsageError(
            f"--resamples {resamples} cannot show p < {gate.level:g}: draw {least} or more"
        )
    return gate


def _find_worse(comparison: Comparison, gate: Gate) -> list[Worsening]:
    try:
        return find_worse(comparison, gate)
    except DataError:
        raise
    except ValueError as error:  # a metric that does not fit the texts was left out
        raise DataError(f"--fail-if-worse: {error}; name it in --metrics") from error


@click.command("compare", cls=Command, endings=PICTURES)
@comparison_options
@options_as("tables", TableOptions, group="Output")
@option(
    "--fail-if-worse", "guarded", metavar="LIST", type=NoFile(), callback=parse_differences,
    group="Statistics",
    help="End with exit status 3 if a system is significantly worse than the baseline by one of "
    "these metrics, separated by commas. A number is the least difference that counts, as in "
    "rep,drop=0.5.",
)  # fmt: skip
@options_as("output", Output, pictures=", and as a picture of differences .png, .svg, .pdf")
def command(
    options: ComparisonOptions,
    tables: TableOptions,
    guarded: dict[str, float] | None,
    output: Output,
) -> None:
    """Compare systems: scores, intervals and paired tests in one table.

    Each TEXT is the output of a system: a file with one segment per line ('-' reads standard
    input; .gz and .zst files are unpacked), or a column of a table, such as out.jsonl:mt. NAME=TEXT
    gives the system another name. The table that is printed has a row for each system and a column
    for each metric, like Table 1 of the paper.

    Without --ref, --src is needed. The table then has repetitions and lengths, and with a model
    omissions. With three systems or more, the outputs of the others show what each
    system leaves out.

    \b
    Example:
      coverage-eval compare --ref ref.txt --src src.txt --model de-en.model a=a.txt b=b.txt
      coverage-eval compare --src src.txt --model de-en.model a=a.txt b=b.txt c=c.txt
    """
    options.check()
    gate = _make_gate(guarded, options) if guarded else None
    tables.check(options, output)
    is_detailed = tables.sentence_level and output.output_format == "jsonl"
    result = options.measure(evidence=bool(tables.breakdown or tables.worst or is_detailed))
    comparison = compare_result(result, options.test)
    printable = tables.present(comparison, result)
    worse = _find_worse(comparison, gate) if gate else []
    if gate:
        data = printable.data | {"gate": gate_as_dict(gate, worse)}
        printable = replace(printable, data=data)
    printable = warn(printable, result.findings, result.unknown_words, strict=options.strict)
    if output.output and Path(output.output).suffix.lower() in PICTURES:
        save_figure(comparison.plot_differences()[0], output.output)
    elif is_detailed:
        print_lines(evidence_lines(comparison), output.output, as_is=True)
    else:
        show(printable, output)  # once nothing can fail any more
    if tables.trust:
        for sentence in trust_sentences(result, comparison.trust):
            say(sentence)
    if tables.trust and not comparison.trust:
        say("--trust: no column of omissions or additions, or no segment is long enough", "note")
    for item in worse:
        say(item.describe(comparison.baseline, output.digits), "worse")
    if worse:
        click.get_current_context().exit(CLOSED)
