"""``coverage-eval compare``, and the options that ``report`` has too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, TypeVar

import click

from coverage_eval.cli.gate import CLOSED
from coverage_eval.cli.help import GROUPS, option
from coverage_eval.cli.link_options import WORDS, AlignmentOptions, alignment_options
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import (
    Command,
    NoFile,
    Output,
    given_options,
    jobs_option,
    listed_options,
    options_as,
    output_options,
    parse_differences,
    parse_list,
    parse_named_files,
    refuse,
    strict_option,
)
from coverage_eval.cli.output import show, warn
from coverage_eval.cli.text_options import corpus_options
from coverage_eval.comparison.breakdowns import (
    BREAKDOWNS,
    DEFAULT_TOP,
    break_down,
)
from coverage_eval.comparison.comparison import Comparison, compare_result, present_comparison
from coverage_eval.comparison.evidence import metrics_that_list
from coverage_eval.comparison.gate import Gate, Worsening, find_worse, gate_as_dict
from coverage_eval.comparison.given_files import read_given
from coverage_eval.comparison.presentation import present_comparison_segments, write_details
from coverage_eval.comparison.trust import trust_sentences
from coverage_eval.data.dataset import Dataset
from coverage_eval.data.documents import DocumentSettings
from coverage_eval.data.files import Text, atomic_write
from coverage_eval.data.stop_words import StopWords
from coverage_eval.data.tokenizers import TOKENIZERS
from coverage_eval.errors import DataError
from coverage_eval.metrics.drop import AlignedMetric
from coverage_eval.metrics.evaluation import Evaluation
from coverage_eval.metrics.measure import Result
from coverage_eval.metrics.registry import METRICS, metric_class
from coverage_eval.metrics.significance import MAX_RESAMPLES, SignificanceTest, min_resamples
from coverage_eval.metrics.text_metric import TokenMetric
from coverage_eval.plotting.saving import save_figure
from coverage_eval.settings import file_setting, output_file_setting, picture_setting, setting
from coverage_eval.tables.table import SIGNIFICANT, Printable

F = TypeVar("F", bound=Callable[..., Any])

STDOUT = "-"


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
    scores: Mapping[str, str]
    lower_is_better: list[str] | None
    documents: DocumentSettings | None
    bleu_tokenize: str = setting(
        "13a",
        "Apply this tokeniser of sacreBLEU for BLEU. BLEU, chrF and METEOR read untokenised text.",
        choices=TOKENIZERS,
    )
    lowercase: bool = setting(False, "Lowercase every side, for rep.")
    meteor_norm: bool = setting(False, "METEOR tokenises, normalises and lowercases.")
    leave_out: str | None = file_setting(
        "For rep: do not count n-grams with a word of this file, one per line."
    )
    leave_out_punctuation: bool = setting(
        False, "For rep: do not count n-grams with a token of punctuation."
    )

    @cached_property
    def evaluation(self) -> Evaluation:
        """What is scored, without what is read from files."""
        left_out = {"leave_out_punctuation": self.leave_out_punctuation}
        return Evaluation(
            Dataset.of_files(self.systems, self.ref, self.alignment.src),
            self.alignment,
            self.metrics,
            own_settings={
                "rep": left_out,
                "rep-letters": left_out,
                "bleu": {"tokenize": self.bleu_tokenize},
                "meteor": {"norm": self.meteor_norm},
            },
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
        others = [*filter(None, [self.leave_out]), *self.scores.values(), *texts]
        self.alignment.check([*self.ref, *self.systems.values(), *others])
        for flag, what, files, named in (
            ("--src-ref-align", "references", self.alignment.src_ref_align, self.ref),
            ("--src-hyp-align", "systems", self.alignment.src_hyp_align, self.systems),
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
        unfit = given_options() & {"stopwords", "denominator"}
        tokenized = (TokenMetric, AlignedMetric) if alignment.model else TokenMetric
        if words and not any(issubclass(kind, tokenized) for kind in kinds.values()):
            raise click.UsageError(
                f"{listed_options(words)} is not for {' and '.join(kinds)}: only rep, and "
                "drop and softdrop with a model, take it"
            )
        if unfit := unfit - {item.name for kind in kinds.values() for item in fields(kind)}:
            raise click.UsageError(f"{listed_options(unfit)} is not for {' and '.join(kinds)}")

    def measure(self, *, evidence: bool) -> Result:
        """Read the texts, align them and count.

        Args:
            evidence: Whether evidence will be asked for.

        Raises:
            DataError: As :func:`coverage_eval.comparison.comparison.compare`.
            AlignerError: The aligner failed.
        """
        self.alignment.check_files([*self.ref, *self.systems.values(), *self.scores.values()])
        settings = self.alignment.settings()
        if self.leave_out:
            settings["leave_out"] = StopWords.read(self.leave_out)
        lower = self.lower_is_better or ()
        given = {
            name: read_given(name, file, list(self.systems), lower=name in lower)
            for name, file in self.scores.items()
        }
        return replace(self.evaluation, settings=settings, others=given, evidence=evidence).run()


_OPTIONS = (
    alignment_options(words_of="every side, for rep, drop and softdrop"),
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
    top: int = setting(
        DEFAULT_TOP,
        "List this many words or n-grams in a breakdown, and segments with --sort or --show.",
        min=1,
    )
    worst: int | None = setting(
        None,
        "Add a table of this many segments for each metric and system: those whose scores differ "
        "most from the baseline's.",
        min=1,
    )
    sentence_level: bool = setting(
        False,
        "Print a row for each segment and system with all metrics. With -o FILE, the signatures of "
        "CSV and JSON Lines are in FILE.signatures.",
        group=GROUPS[0],
    )
    sort: str | None = setting(
        None,
        "With --sentence-level or --show, print the --top segments that are worst by the first "
        "metric, or with regressions, those that are worse than the baseline's by most.",
        choices=("worst", "regressions"),
        goes_with=("sentence_level", "show"),
    )
    show: bool = setting(
        False,
        "Print source, reference and output of the --top segments that are worst by the first "
        "metric, with repeated and dropped words in brackets.",
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
        if not (self.breakdown or self.worst):
            return
        refuse({
            "--sentence-level and --show print segments; leave --breakdown and --worst out":
                self.sentence_level or self.show,
            "--worst needs a system beside the baseline":
                bool(self.worst) and len(options.systems) < 2,
        })  # fmt: skip
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
        if self.sentence_level or self.show:
            worst = self.top if self.sort or self.show else None
            regressions = self.sort == "regressions"
            return present_comparison_segments(
                comparison, worst, texts=self.show, regressions=regressions
            )
        names = None if "all" in (self.breakdown or ()) else self.breakdown
        tables = break_down(result, names, self.top) if self.breakdown else []
        if self.worst:
            tables.append(comparison.most_different(self.worst))
        return present_comparison(comparison, tables)


@dataclass(frozen=True)
class ComparisonFiles:
    """Files that a comparison writes beside its table."""

    details: str | None = output_file_setting(
        "Write all evidence to this file, one line per segment and system (JSON Lines)."
    )
    plot: str | None = picture_setting("Draw the table as bars with intervals")
    plot_differences: str | None = picture_setting(
        "Draw the differences from the baseline with their intervals"
    )

    def check(self) -> None:
        """Raise a usage error if the evidence would go to standard output."""
        if self.details == STDOUT:
            raise click.UsageError("--details writes a file: standard output has the table")

    def write(self, comparison: Comparison) -> None:
        """Write the files that are named."""
        for file, plot in (
            (self.plot, comparison.plot),
            (self.plot_differences, comparison.plot_differences),
        ):
            if file:
                save_figure(plot()[0], file)
        if self.details:
            with atomic_write(self.details) as written:
                write_details(comparison, written)


@dataclass(frozen=True)
class WorseGate:
    """What must not get worse."""

    guarded: dict[str, float] | None = setting(
        None,
        "End with exit status 3 if a system is significantly worse than the baseline by one of "
        "these metrics, separated by commas. A number is the least difference that counts, as in "
        "rep,drop=0.5.",
        flag="--fail-if-worse",
        metavar="LIST",
        type=NoFile(),
        callback=parse_differences,
    )
    level: float = setting(
        SIGNIFICANT,
        "With --fail-if-worse, the p-value below which a difference counts.",
        flag="--p-value",
        goes_with=("guarded",),
        min=1 / MAX_RESAMPLES,
        max=1,
        max_open=True,
    )

    def make(self, options: ComparisonOptions) -> Gate | None:
        """The gate, if one is asked for; a usage error for a gate that can never close."""
        if self.guarded is None:
            return None
        names = {*options.names, *options.scores}
        if unknown := [name for name in self.guarded if name not in names]:
            raise click.UsageError(f"--fail-if-worse {unknown[0]}: it is not among the --metrics")
        for name in self.guarded:
            if name in METRICS and metric_class(name).higher_is_better is None:
                raise click.UsageError(
                    f"--fail-if-worse {name}: neither a high nor a low one is better in itself; "
                    "name another metric"
                )
        others = len(options.systems) - 1
        if not others:
            raise click.UsageError("--fail-if-worse needs a system beside the baseline")
        least = min_resamples(others, self.level)
        resamples = options.test.resamples
        if resamples < least:
            raise click.UsageError(
                f"--resamples {resamples} cannot show p < {self.level:g}: draw {least} or more"
            )
        return Gate(self.guarded, self.level)


def _find_worse(comparison: Comparison, gate: Gate) -> list[Worsening]:
    try:
        return find_worse(comparison, gate)
    except DataError:
        raise
    except ValueError as error:  # a metric that does not fit the texts was left out
        raise DataError(f"--fail-if-worse: {error}; name it in --metrics") from error


@click.command("compare", cls=Command)
@comparison_options
@options_as("tables", TableOptions, group="Output")
@options_as("files", ComparisonFiles, group="Output")
@options_as("worse_gate", WorseGate, group="Statistics")
@output_options
def command(
    options: ComparisonOptions,
    tables: TableOptions,
    files: ComparisonFiles,
    worse_gate: WorseGate,
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
    files.check()
    options.check()
    gate = worse_gate.make(options)
    tables.check(options, output)
    needs_texts = tables.breakdown or tables.worst or files.details or tables.show
    result = options.measure(evidence=bool(needs_texts))
    comparison = compare_result(result, options.test)
    printable = tables.present(comparison, result)
    worse = _find_worse(comparison, gate) if gate else []
    if gate:
        data = printable.data | {"gate": gate_as_dict(gate, worse)}
        printable = replace(printable, data=data)
    printable = warn(printable, result.findings, result.unknown_words, strict=options.strict)
    files.write(comparison)
    show(printable, output)  # once nothing can fail any more
    if tables.trust:
        for sentence in trust_sentences(result, comparison.trust):
            say(sentence)
    if tables.trust and not comparison.trust:
        say("--trust: no column of omissions or additions, or no segment is long enough", "note")
    for item in worse:
        say(item.describe(comparison.baseline, output.width), "worse")
    if worse:
        click.get_current_context().exit(CLOSED)
