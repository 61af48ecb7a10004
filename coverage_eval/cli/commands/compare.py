"""``coverage-eval compare`` and ``coverage-eval report``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import click

from coverage_eval.attention_maps import AttentionMap, load
from coverage_eval.cli.commands.attention import saying_how_to_convert
from coverage_eval.cli.gate import CLOSED
from coverage_eval.cli.help import GROUPS, option
from coverage_eval.cli.messages import say, wrap
from coverage_eval.cli.options import (
    Command,
    Output,
    OutputFile,
    given_options,
    jobs_option,
    options_as,
    output_options,
    parse_differences,
    parse_list,
    parse_named_files,
    refuse,
    signature_option,
    strict_option,
)
from coverage_eval.cli.output import echo_findings, print_lines, show, warn
from coverage_eval.cli.texts import (
    OF_DROP,
    AlignmentOptions,
    alignment_options,
    corpus_options,
)
from coverage_eval.comparison.breakdowns import BREAKDOWNS, break_down
from coverage_eval.comparison.details import evidence_lines, present_comparison_segments
from coverage_eval.comparison.gate import Gate, Worsening, find_worse, gate_as_dict
from coverage_eval.comparison.given import read_given
from coverage_eval.comparison.report.html import make_report
from coverage_eval.comparison.table import (
    Comparison,
    compare_result,
    present_comparison,
)
from coverage_eval.core.dataset import Dataset
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import Text, check_source, file_of, read_segments
from coverage_eval.core.measure import Result
from coverage_eval.core.settings import setting
from coverage_eval.core.show.table import Printable, escape_controls
from coverage_eval.core.significance import SignificanceTest
from coverage_eval.core.text_metric import TokenMetric
from coverage_eval.core.tokenizers import TOKENIZERS
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
        systems: Texts of outputs by name.
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
    tokenize: str | None = setting(
        None,
        "Apply one of sacreBLEU's tokenisers to references and outputs, for rep.  [default: none "
        "for tokenised text; otherwise the model's, or 13a]",
        choices=TOKENIZERS,
    )

    @cached_property
    def evaluation(self) -> Evaluation:
        """What is scored, without what is read from files."""
        return Evaluation(
            Dataset(self.systems, self.ref, self.alignment.src),
            self.alignment,
            self.metrics,
            tokenize=self.tokenize,
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

    def check(self) -> None:
        """Refuse mistakes on the command line before any file is read.

        Raises:
            click.UsageError: The first thing that is wrong.
        """
        alignment, baseline = self.alignment, self.test.baseline
        wanted = self.metrics and not any(metric_class(name).needs for name in self.metrics)
        if not (self.ref or alignment.src or wanted):
            raise click.UsageError(self._how_to_name_the_reference())
        alignment.check()
        unknown = [name for name in self.lower_is_better or () if name not in self.scores]
        taken = [name for name in self.scores if name in METRICS]
        refuse({
            f"the baseline {baseline!r} is not one of the systems {', '.join(self.systems)}":
                baseline is not None and baseline not in self.systems,
            f"--scores {', '.join(taken)}: is a metric of this program; rename it": taken,
            f"--lower-is-better {', '.join(unknown)}: it is not among the --scores": unknown,
        })  # fmt: skip
        kinds = {name: metric_class(name) for name in self.names}
        for name, kind in kinds.items():
            if kind.needs & {"links", "coverages"}:
                purpose = "--prepare-for omissions " if name == "omissions" else ""
                alignment.require(f"metric {name}", kind.needs, purpose)
            for need, flag, text in (
                ("documents", "--unaligned", self.documents),
                ("references", "--ref", self.ref),
                ("sources", "--src", alignment.src),
            ):
                if need in kind.needs and not text:
                    raise click.UsageError(f"metric {name} needs {flag}")
        words = given_options() & {"tokenize", "lowercase"}
        if words and not any(issubclass(kind, TokenMetric) for kind in kinds.values()):
            flags = " and ".join(f"--{name}" for name in sorted(words))
            raise click.UsageError(f"{flags} is not for {' and '.join(kinds)}: only rep takes it")

    def _how_to_name_the_reference(self) -> str:
        if len(self.systems) < 2:
            return "--ref is missing, or --src to compare without a reference"
        files = {name: str(text) for name, text in self.systems.items()}
        # Beside systems that -i names, a file without an option is the reference, as in sacreBLEU.
        named = click.get_current_context().params["files"] or files
        first = files.pop(next(iter(named)))
        path = click.get_current_context().command_path
        return (
            f"--ref is missing, or --src to compare without it. If {first} is the reference, "
            f"type: {path} --ref {first} {' '.join(files.values())}"
        )

    def measure(self, *, evidence: bool) -> Result:
        """Read the texts, align them and count.

        Args:
            evidence: Whether evidence will be asked for.

        Raises:
            DataError: As :func:`coverage_eval.comparison.table.compare`.
            AlignerError: The aligner failed.
        """
        scores = map(file_of, self.scores.values())  # whose columns are no texts
        check_source(*self.ref, *self.systems.values(), self.alignment.src, *scores)
        given = {
            name: read_given(
                name, file, list(self.systems), lower=name in (self.lower_is_better or ())
            )
            for name, file in self.scores.items()
        }
        return replace(self.evaluation, others=given, evidence=evidence).run()


_OPTIONS = (
    alignment_options(without=OF_DROP),
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


def comparison_options(command: F) -> Callable[..., Any]:
    """Add the systems and the options; the command receives them as one ``options``."""
    return corpus_options("systems", options=("ref",))(
        options_as("options", ComparisonOptions, *_OPTIONS, group="Metrics")(command)
    )


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

    def present(self, comparison: Comparison, result: Result, *, signature: bool) -> Printable:
        """The table of systems with its breakdowns, or the segments."""
        if self.sentence_level:
            return present_comparison_segments(comparison, self.worst)
        tables = []
        if self.breakdown:
            try:
                tables = break_down(result, None if "all" in self.breakdown else self.breakdown)
            except ValueError as error:  # a metric or a text is missing
                raise click.UsageError(f"--breakdown: {error}") from error
        if self.worst:
            tables.append(comparison.most_different(self.worst))
        return present_comparison(comparison, tables, signature=signature)


def _find_worse(comparison: Comparison, gate: Gate) -> list[Worsening]:
    try:
        return find_worse(comparison, gate)
    except DataError:
        raise
    except ValueError as error:  # a gate that cannot close
        raise click.UsageError(f"--fail-if-worse: {error}") from error


@click.command("compare", cls=Command, endings=PICTURES)
@comparison_options
@options_as("tables", TableOptions, group="Output")
@option(
    "--fail-if-worse", "guarded", metavar="LIST", callback=parse_differences,
    group="Statistics",
    help="End with exit status 3 if a system is significantly worse than the baseline by one of "
    "these metrics, separated by commas. A number is the least difference that counts, as in "
    "rep,drop=0.5.",
)  # fmt: skip
@signature_option
@output_options
def compare(
    options: ComparisonOptions,
    tables: TableOptions,
    guarded: dict[str, float] | None,
    signature: bool,
    output: Output,
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
    options.check()
    refuse({
        "--fail-if-worse needs a system beside the baseline":
            guarded and len(options.systems) < 2,
    })  # fmt: skip
    gate = Gate(guarded) if guarded else None
    tables.check(options, output)
    is_detailed = tables.sentence_level and output.output_format == "jsonl"
    result = options.measure(evidence=bool(tables.breakdown or tables.worst or is_detailed))
    comparison = compare_result(result, options.test)
    is_brief = output.output is None and output.output_format == "text"
    printable = tables.present(comparison, result, signature=signature or not is_brief)
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
        show(printable, output, signed=signature)  # once nothing can fail any more
    if tables.trust:
        for sentence in trust_sentences(result, comparison.trust):
            say(sentence)
    if tables.trust and not comparison.trust:
        say("--trust: no column of omissions or additions, or no segment is long enough", "note")
    for item in worse:
        say(item.describe(comparison.baseline, output.digits), "worse")
    if worse:
        click.get_current_context().exit(CLOSED)


@click.command("report", cls=Command, endings=(".html",))
@comparison_options
@option(
    "--attention", "dumps", metavar="[NAME=]DUMP", multiple=True, callback=parse_named_files,
    help="Show the attention of this system, from a file of 'attention convert', or of a toolkit "
    "if its words are those of --src and FILE.",
)  # fmt: skip
@option("--title", metavar="TEXT", help="Title of the report.")
@option(
    "-o", "--output", metavar="FILE", type=OutputFile(), required=True,
    help="Write the report to this file.",
)  # fmt: skip
def report(
    options: ComparisonOptions,
    dumps: dict[str, str],
    title: str | None,
    output: str,
) -> None:
    """Write an HTML report: which system is worse, by how much, and where.

    Each FILE is the output of a system, and the report has the figures of 'compare'. Open it in a
    browser; it needs neither server nor network. The command prints its verdict. With
    --attention it shows each segment's attention beside the marks of the scores.

    \b
    Example:
      coverage-eval report --ref ref.txt --src src.txt --model de-en.model a=a.txt b=b.txt \\
        -o report.html
    """
    maps = _by_system(dumps, options.systems)
    options.check()
    check_source(*maps.values())
    attention = {name: _read_attention(file, name, options) for name, file in maps.items()}
    result = options.measure(evidence=True)
    comparison = compare_result(result, options.test)
    echo_findings(result.findings, strict=options.strict)
    try:
        command = shlex.join(["coverage-eval", *(click.get_current_context().obj or ())])
        page = make_report(comparison, title=title, command=command, attention=attention)
    except ValueError as error:  # maps of other segments
        raise DataError(str(error)) from error
    print_lines([page.html], output, as_is=True)
    if output != "-":
        told = [*map(escape_controls, comparison.verdict.sentences[:2]), f"→ {output}"]
        print_lines(wrap(sentence, sys.stdout) for sentence in told)


def _by_system(files: Mapping[str, str], systems: Mapping[str, Text]) -> Mapping[str, str]:
    """Files of attention by system; a single system needs no name."""
    if len(files) == len(systems) == 1:
        return dict(zip(systems, files.values(), strict=True))
    if unknown := [file for name, file in files.items() if name not in systems]:
        raise click.UsageError(
            f"--attention {unknown[0]}: name its system, as NAME=FILE; the systems are "
            f"{', '.join(systems)}"
        )
    return files


def _read_attention(file: str, system: str, options: ComparisonOptions) -> Sequence[AttentionMap]:
    """The maps of a system, with the file's own tokens or else with the words of the texts."""
    try:
        maps: Sequence[AttentionMap] = load(file)
    except DataError:  # the texts may help; if not, the error is raised again below
        maps = []
    if maps and all(None not in {item.source, item.hypothesis} for item in maps):
        return maps
    source = options.alignment.src
    with saying_how_to_convert(file):
        return load(
            file,
            sources=None if source is None else read_segments(source),
            hypotheses=read_segments(options.systems[system]),
        )
