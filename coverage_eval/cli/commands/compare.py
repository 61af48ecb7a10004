"""``coverage-eval compare``, and the comparison that it shares with ``report``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from coverage_eval.align.aligner import AlignerSettings
from coverage_eval.cli import options
from coverage_eval.cli.help import GROUPS, FiniteRange, as_object, option, parse_list
from coverage_eval.cli.messages import say
from coverage_eval.cli.output import CLOSED, echo_findings, print_lines, show, with_findings
from coverage_eval.comparison.breakdowns import BREAKDOWNS
from coverage_eval.comparison.columns import Columns
from coverage_eval.comparison.external_scores import read_external_scores
from coverage_eval.comparison.gate import find_worse, gate_as_dict
from coverage_eval.comparison.segments import comparison_segments_report, evidence_lines
from coverage_eval.comparison.table import Comparison, compare_result, comparison_report
from coverage_eval.core.batches import Texts
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import Text, check_file
from coverage_eval.core.machine import parts, progress_bar
from coverage_eval.core.metric import Metric, setting
from coverage_eval.core.report import Report
from coverage_eval.core.significance import SignificanceTest
from coverage_eval.core.text_metric import TokenMetric
from coverage_eval.core.tokenizers import TOKENIZERS
from coverage_eval.plotting.saving import ENDINGS as PICTURES
from coverage_eval.plotting.saving import save_figure
from coverage_eval.registry import METRICS, metric_class


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions:
    """An evaluation of several systems, as the options ask for it, and how they are compared.

    Attributes:
        test: The baseline, and how systems are tested against it.
        strict: Whether warnings are errors.
        scores: Files or columns with scores of other programs, by name.
        lower_is_better: Those of them that are better when lower.
    """

    texts: Texts
    documents: str | None
    metrics: list[str] | None
    tokenize: str | None
    lowercase: bool
    jobs: int
    aligner: AlignerSettings
    test: SignificanceTest
    strict: bool
    scores: Mapping[str, Text]
    lower_is_better: list[str] | None

    def columns(self, scores: Mapping[str, Metric]) -> Columns:
        """The columns that the options ask for."""
        return Columns(
            self.texts,
            self.aligner,
            self.metrics,
            others=scores,
            tokenize=self.tokenize,
            lowercase=self.lowercase,
            documents=options.document_features(self.documents, self.aligner, self.jobs),
        )

    def check(self) -> None:
        """Refuse mistakes on the command line before any file is read.

        Raises:
            click.UsageError: The first thing that is wrong.
        """
        texts, baseline = self.texts, self.test.baseline
        kinds = {str(name): metric_class(str(name)) for name in self.columns({}).metrics}
        is_free = self.metrics and not any(kind.needs for kind in kinds.values())
        if not (texts.references or texts.source or is_free):
            raise click.UsageError(self._how_to_name_the_reference())
        named = {f"metric {name}": kind for name, kind in kinds.items()}
        options.check_links(self.aligner, texts.source, named)
        unknown = [name for name in self.lower_is_better or () if name not in self.scores]
        taken = [name for name in self.scores if name in METRICS]
        lacking = [
            f"metric {name} needs {flag}"
            for name, kind in kinds.items()
            for need, flag, text in (
                ("documents", "--unaligned", self.documents),
                ("references", "--ref", texts.references),
                ("sources", "--src", texts.source),
            )
            if need in kind.needs and not text
        ]
        words = sorted(options.given_options() & {"tokenize", "lowercase"})
        takes_words = any(issubclass(kind, TokenMetric) for kind in kinds.values())
        options.refuse({
            f"the baseline {baseline!r} is not one of the systems {', '.join(texts.systems)}":
                baseline is not None and baseline not in texts.systems,
            f"--scores {', '.join(taken)}: is a metric of this program; rename it": taken,
            f"--lower-is-better {', '.join(unknown)}: it is not among the --scores": unknown,
            "; ".join(lacking): lacking,
            f"{' and '.join(f'--{name}' for name in words)} is not for {' and '.join(kinds)}: only "
            "rep takes it": words and not takes_words,
        })  # fmt: skip

    def _how_to_name_the_reference(self) -> str:
        if len(self.texts.systems) < 2:
            return "--ref is missing, or --src to compare without a reference"
        files = {name: str(text) for name, text in self.texts.systems.items()}
        # Beside systems that -i names, a file without an option is the reference, as in sacreBLEU.
        named = click.get_current_context().params["files"] or files
        first = files.pop(next(iter(named)))
        path = click.get_current_context().command_path
        return (
            f"--ref is missing, or --src to compare without it. If {first} is the reference, "
            f"type: {path} --ref {first} {' '.join(files.values())}"
        )

    def compare(self, *, evidence: bool) -> Comparison:
        """Read the texts, align them, count and test.

        Args:
            evidence: Whether evidence will be asked for.

        Raises:
            DataError: As :func:`coverage_eval.comparison.table.compare`.
            AlignerError: The aligner failed.
        """
        for text in self.scores.values():  # whose columns are no texts
            if text.path is not None:
                check_file(text.path)
        lower = self.lower_is_better or ()
        given = {
            name: read_external_scores(name, file, list(self.texts.systems), lower=name in lower)
            for name, file in self.scores.items()
        }
        with progress_bar("comparing") as progress:
            measuring, testing = parts(progress, 9.0, 1.0)
            columns = self.columns(given)
            result = columns.evaluate(jobs=self.jobs, evidence=evidence, progress=measuring)
            comparison = compare_result(result, self.test)
            testing(1.0)
        return comparison


_OPTIONS = (
    options.alignment_options(without=options.OF_DROP),
    option(
        "-m", "--metrics", metavar="LIST", names=METRICS,
        callback=parse_list("metric", METRICS),
        help=f"Show these columns, such as bleu,rep or bleu rep; there are: {', '.join(METRICS)}.  "
        "[default: bleu,meteor,rep, drop with an aligner and softdrop with a model; meteor only "
        "for English; without --ref rep-letters-no-ref,length-ratio, and omissions with a model]",
    ),
    option(
        "--scores", metavar="NAME=FILE", multiple=True, is_eager=True, group="Metrics",
        callback=options.parse_named_files,
        help="Add a column with the segment scores in this table, such as CSV or JSON Lines, with "
        "intervals and tests.",
    ),
    option(
        "--lower-is-better", metavar="LIST", group="Metrics",
        callback=parse_list("score", ()),
        help="Which --scores are better when lower: a list of names, separated by commas.",
    ),
    as_object("test", SignificanceTest, group="Statistics"),
    options.jobs_option,
    options.strict_option,
    option("--lowercase", is_flag=True, group="Metrics", help="Lowercase every side, for rep."),
    option(
        "--tokenize", type=click.Choice(TOKENIZERS), group="Metrics",
        help="Apply one of sacreBLEU's tokenisers to references and outputs, for rep.  [default: "
        "none for tokenised text; otherwise the model's, or 13a]",
    ),
)  # fmt: skip


def comparison_options(command: Any) -> Any:
    """Add the systems and the options; the command receives them as one ``options``."""
    return options.text_options("systems", options=("ref",))(
        as_object("asked", ComparisonOptions, *_OPTIONS, group="Metrics")(command)
    )


def parse_differences(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> dict[str, float] | None:
    """A callback for a list of metrics such as ``rep,drop=0.5``; a number is 0 if it is missing."""
    if value is None:
        return None
    pairs = [item.partition("=") for item in value.split(",")]
    names = ",".join(name for name, _, _ in pairs)
    columns = (*METRICS, *context.params.get("scores", ()))  # the eager --scores
    known = parse_list("metric", columns)(context, parameter, names) or []
    numbers = FiniteRange(0)
    return {
        name: numbers.convert(number, parameter, context) if equals else 0.0
        for name, (_, equals, number) in zip(known, pairs, strict=True)
    }


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
    fail_if_worse: dict[str, float] | None = setting(
        None,
        "End with exit status 3 if a system is significantly worse than the baseline by one of "
        "these metrics, separated by commas. A number is the least difference that counts, as in "
        "rep,drop=0.5.",
        metavar="LIST",
        callback=parse_differences,
        group="Statistics",
    )

    def check(self, systems: Sequence[str], output: options.Output) -> None:
        """Refuse tables that cannot be made or printed, before any text is read.

        Raises:
            click.UsageError: The first thing that is wrong.
        """
        picture = Path(output.output or "").suffix.lower() in PICTURES
        options.refuse({
            "--fail-if-worse needs a system beside the baseline":
                self.fail_if_worse and len(systems) < 2,
            f"-o {output.output} draws differences from a baseline: it needs another system":
                picture and len(systems) < 2,
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

    def make(self, comparison: Comparison, *, signature: bool) -> Report:
        """The table of systems with its breakdowns, or the segments.

        Raises:
            click.UsageError: A breakdown needs another metric or text.
        """
        if self.sentence_level:
            return comparison_segments_report(comparison, self.worst)
        tables = []
        if self.breakdown:
            with _usage_errors("--breakdown"):
                names = None if "all" in self.breakdown else self.breakdown
                tables = comparison.break_down(names)
        if self.worst:
            tables.append(comparison.most_different(self.worst))
        return comparison_report(comparison, tables, signature=signature)


@contextmanager
def _usage_errors(flag: str) -> Iterator[None]:
    """Blame an option for what its value asks for in vain."""
    try:
        yield
    except DataError:
        raise
    except ValueError as error:
        raise click.UsageError(f"{flag}: {error}") from error


@click.command("compare", cls=options.Command, endings=PICTURES)
@comparison_options
@as_object("tables", TableOptions, group="Output")
@options.signature_option
@options.output_options
def compare(
    asked: ComparisonOptions, tables: TableOptions, signature: bool, output: options.Output
) -> None:
    """Compare systems: scores, intervals and paired tests in one table.

    Each TEXT is the output of a system: a file with one segment per line ('-' reads standard
    input; .gz and .zst files are unpacked), or a column of a table, such as out.jsonl:mt. NAME=TEXT
    gives the system another name. The table that is printed has a row for each system and a column
    for each metric, like Table 1 of the paper. With -o and a name that ends in .png, .svg or .pdf,
    the differences from the baseline are drawn.

    Without --ref, --src is needed. The table then has repetitions and lengths, and with a model
    omissions. With three systems or more, the outputs of the others show what each
    system leaves out.

    \b
    Example:
      coverage-eval compare --ref ref.txt --src src.txt --model de-en.model a=a.txt b=b.txt
      coverage-eval compare --src src.txt --model de-en.model a=a.txt b=b.txt c=c.txt
    """
    asked.check()
    tables.check(list(asked.texts.systems), output)
    is_detailed = tables.sentence_level and output.output_format == "jsonl"
    comparison = asked.compare(evidence=bool(tables.breakdown or tables.worst or is_detailed))
    result = comparison.measured
    is_brief = output.output is None and output.output_format == "text"
    report = tables.make(comparison, signature=signature or not is_brief)
    worse = []
    if tables.fail_if_worse:
        with _usage_errors("--fail-if-worse"):
            worse = find_worse(comparison, tables.fail_if_worse)
        report = report.with_values(gate=gate_as_dict(tables.fail_if_worse, worse))
    echo_findings(result.findings, strict=asked.strict)
    if output.output and Path(output.output).suffix.lower() in PICTURES:
        save_figure(comparison.plot_differences()[0], output.output)
    elif is_detailed:
        print_lines(evidence_lines(comparison), output.output, as_is=True)
    else:
        report = with_findings(report, result.findings, result.features)
        show(report, output, signatures=signature)  # once nothing can fail any more
    for item in worse:
        say(item.describe(comparison.baseline, output.digits), "worse")
    if worse:
        click.get_current_context().exit(CLOSED)
