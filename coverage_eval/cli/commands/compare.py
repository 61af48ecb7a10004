"""``coverage-eval compare``, and the comparison that it shares with ``report``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from coverage_eval.align.settings import AlignerSettings
from coverage_eval.checks.model import unknown_words_of_result
from coverage_eval.cli.alignment_options import (
    check_links,
    check_unaligned,
    links_options,
    model_option,
    require_links,
    source_option,
)
from coverage_eval.cli.click_options import option, option_group
from coverage_eval.cli.command import Command
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import checks_option, jobs_option, signature_option
from coverage_eval.cli.output import GATE_CLOSED_STATUS, refuse_fatal, show, warn, with_findings
from coverage_eval.cli.output_options import (
    OutputOptions,
    options_on_command_line,
    output_options,
    strict_option,
)
from coverage_eval.cli.parameters import FiniteRange, NamedText, NameList, ParamType, by_name
from coverage_eval.cli.texts import texts
from coverage_eval.comparison.breakdowns import BREAKDOWNS
from coverage_eval.comparison.choice import choose_metrics
from coverage_eval.comparison.compare import compare_result, count_and_check
from coverage_eval.comparison.external_scores import ExternalScores, read_external_scores
from coverage_eval.comparison.gate import describe_worse, find_worse, gate_as_dict
from coverage_eval.comparison.segments import comparison_segments_report
from coverage_eval.comparison.table import Comparison, comparison_report
from coverage_eval.core.batches import Texts
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import Text, check_file
from coverage_eval.core.metric import Metric
from coverage_eval.core.progress import progress_bar, split_progress
from coverage_eval.core.report import Report
from coverage_eval.core.significance import DEFAULT_RESAMPLES, MAX_RESAMPLES, SignificanceTest
from coverage_eval.core.text_metric import TokenMetric
from coverage_eval.core.tokenizers import TOKENIZERS
from coverage_eval.plotting.saving import ENDINGS as PICTURES
from coverage_eval.plotting.saving import save_figure
from coverage_eval.registry import METRICS, metric_class

comparison_options = option_group(
    texts("systems", options=("ref",)),
    option(
        "--systems-in", metavar="COLUMN", group="Input",
        help="The column with the names of systems, in a table with a row for each segment and "
        "system.  [default: system]",
    ),
    model_option,
    links_options,
    source_option,
    option(
        "-m", "--metrics", metavar="LIST", multiple=True, callback=NameList("metric", METRICS).join,
        help=f"Show these columns, such as bleu,rep; there are: {', '.join(METRICS)}.  "
        "[default: bleu,meteor,rep, drop with an aligner and softdrop with a model; meteor only "
        "for English; without --ref shortfall, or of one system length-ratio, and omissions with a "
        "model]",
    ),
    option(
        "--scores", metavar="NAME=FILE", multiple=True, is_eager=True, group="Metrics",
        type=NamedText(allow_table=True), callback=by_name,
        help="Add a column with the segment scores in this table, such as CSV or JSON Lines, with "
        "intervals and tests.",
    ),
    option(
        "--lower-is-better", metavar="LIST", group="Metrics", type=NameList("score"),
        help="Which --scores are better when lower: a list of names, separated by commas. Those of "
        "well-known metrics, such as comet or metricx, are known.",
    ),
    option(
        "--higher-is-better", metavar="LIST", group="Metrics", type=NameList("score"),
        help="Which --scores are better when higher.",
    ),
    option(
        "--resamples", default=DEFAULT_RESAMPLES, type=click.IntRange(0, MAX_RESAMPLES),
        group="Statistics", help="Number of resamples for intervals and tests; 0 for neither.",
    ),
    option(
        "--baseline", metavar="NAME", group="Statistics",
        help="Test against this system.  [default: the first]",
    ),
    jobs_option,
    strict_option,
    checks_option,
    option("--lowercase", is_flag=True, group="Metrics", help="Lowercase every side, for rep."),
    option(
        "--tokenize", type=click.Choice(TOKENIZERS), group="Metrics",
        help="Apply one of sacreBLEU's tokenisers to references and outputs, for bleu, ter and rep."
        "  [default: for rep none for tokenised text; otherwise the model's, or 13a]",
    ),
)  # fmt: skip
"""The systems, and how they are compared: the options of :func:`run_comparison`, and ``strict``."""


def run_comparison(
    *,
    systems: Mapping[str, Text],
    ref: Sequence[Text],
    src: Text | None,
    unaligned: bool,
    model: str | None,
    ref_links: Sequence[Text],
    links: Sequence[Text],
    metrics: Sequence[str] | None,
    scores: Mapping[str, Text],
    lower_is_better: Sequence[str] | None,
    higher_is_better: Sequence[str] | None,
    resamples: int,
    baseline: str | None,
    jobs: int,
    lowercase: bool,
    tokenize: str | None,
    keep_texts: bool,
    no_checks: bool,
    every_output: bool = False,
) -> Comparison:
    """Check what is asked for, read the texts, align them, count and test.

    The arguments are the options, ``keep_texts``: whether the result must explain scores, and
    ``every_output``: whether to look at every output for errors.

    Raises:
        click.UsageError: A mistake on the command line, before any file is read.
        DataError: As :func:`coverage_eval.comparison.compare.compare`.
        AlignerError: The aligner failed.
    """
    check_unaligned(unaligned=unaligned, ref=ref, src=src, model=model)
    kinds = {
        name: metric_class(name) for name in metrics or ()
    }  # the default metrics are chosen to fit the texts
    needs_none = kinds and not any(kind.needs for kind in kinds.values())
    if not (ref or src or needs_none):
        raise click.UsageError("--ref is missing, or --src to compare without a reference")
    check_links(src=src, model=model, ref_links=ref_links, links=links)
    for name, kind in kinds.items():
        has_links = bool(ref_links or links)
        require_links(f"metric {name}", kind, src=src, model=model, has_links=has_links)
    if baseline is not None and baseline not in systems:
        raise click.UsageError(
            f"the baseline {baseline!r} is not one of the systems {', '.join(systems)}"
        )
    if kinds:
        present = {"documents": unaligned, "references": bool(ref), "sources": bool(src)}
        _require_texts(kinds, present)
        _check_tokenizer_options(kinds)
    external_scores = _read_scores(scores, list(systems), lower_is_better, higher_is_better)
    aligner = AlignerSettings(model, ref_links=tuple(ref_links), links=tuple(links))
    texts = Texts(systems, ref, src)
    with progress_bar("comparing") as progress:
        cutting, measuring, testing = split_progress(progress, 4.5 * unaligned, 9.0, 1.0)
        if unaligned:
            from coverage_eval.documents.cut_documents import cut  # it imports SciPy

            texts = cut(texts, tokenize or "none", aligner, jobs=jobs, progress=cutting)
        choice = choose_metrics(
            texts, aligner, metrics, others=external_scores, tokenize=tokenize, lowercase=lowercase
        )
        result = count_and_check(
            texts,
            choice,
            jobs=jobs,
            keep_texts=keep_texts,
            every_output=every_output,
            checks=not no_checks,
            progress=measuring,
        )
        comparison = compare_result(
            result, SignificanceTest(resamples=resamples, baseline=baseline)
        )
        testing(1.0)
    return comparison


def _read_scores(
    scores: Mapping[str, Text],
    systems: Sequence[str],
    lower_is_better: Sequence[str] | None,
    higher_is_better: Sequence[str] | None,
) -> dict[str, ExternalScores]:
    """Read the scores of other programs.

    Raises:
        click.UsageError: Scores are called like a metric, or a direction is that of no scores.
        DataError: A file cannot be read, or has no scores of these systems.
    """
    directions = dict.fromkeys(lower_is_better or (), False)
    directions |= dict.fromkeys(higher_is_better or (), True)
    clashing = [name for name in scores if name in METRICS]
    if clashing:
        raise click.UsageError(
            f"--scores {', '.join(clashing)}: is a metric of this program; rename it"
        )
    unknown = [name for name in directions if name not in scores]
    if unknown:
        raise click.UsageError(
            f"--lower-is-better or --higher-is-better {', '.join(unknown)}: it is not among the "
            "--scores"
        )
    for text in scores.values():  # whose columns are no texts
        if text.path is not None:
            check_file(text.path)
    return {
        name: read_external_scores(name, text, systems, higher_is_better=directions.get(name))
        for name, text in scores.items()
    }


def _require_texts(kinds: Mapping[str, type[Metric]], present: Mapping[str, bool]) -> None:
    """Refuse metrics that lack a text.

    Args:
        kinds: The metrics by name.
        present: For some of what metrics need, whether it is there.
    """
    flags = {"documents": "--unaligned", "references": "--ref", "sources": "--src"}
    lacking = []
    for name, kind in kinds.items():
        missing = [need for need in present if need in kind.needs and not present[need]]
        lacking += [f"metric {name} needs {flags[need]}" for need in missing]
    if lacking:
        raise click.UsageError("; ".join(lacking))


def _check_tokenizer_options(kinds: Mapping[str, type[Metric]]) -> None:
    """Refuse a tokeniser without a metric that takes it."""
    takes = {
        "tokenize": {name for name, kind in kinds.items() if hasattr(kind, "tokenize")},
        "lowercase": {name for name, kind in kinds.items() if issubclass(kind, TokenMetric)},
    }
    for asked in sorted(options_on_command_line() & {*takes}):
        if not takes[asked]:
            others = "bleu, ter and rep take" if asked == "tokenize" else "rep takes"
            listed = " and ".join(kinds)
            raise click.UsageError(f"--{asked} is not for {listed}: only {others} it")


class MetricThresholds(ParamType):
    """A list of metrics such as ``rep,drop=0.5``; a number is 0 if it is missing."""

    name = "list"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, float]:
        """The number of each metric, or a usage error."""
        scores = ctx.params.get("scores", ()) if ctx else ()  # the eager --scores
        pairs = [item.partition("=") for item in value.split(",")]
        names = ",".join(name for name, _, _ in pairs)
        known = NameList("metric", (*METRICS, *scores)).convert(names, param, ctx)
        numbers = FiniteRange(0)
        return {
            name: numbers.convert(number, param, ctx) if equals else 0.0
            for name, (_, equals, number) in zip(known, pairs, strict=True)
        }


@click.command("compare", cls=Command, endings=PICTURES)
@comparison_options
@option(
    "--breakdown",
    metavar="LIST",
    group="Output",
    type=NameList("breakdown", ("all", *BREAKDOWNS)),
    help=f"Add these tables, separated by commas, of: all, {', '.join(BREAKDOWNS)}.",
)
@option(
    "--worst",
    type=click.IntRange(1),
    help="Add a table of this many segments for each metric and system: those that differ most "
    "from the baseline's, or of one system the worst. With --sentence-level, print only the rows "
    "that are worst by the first metric.",
)
@option(
    "--sentence-level",
    is_flag=True,
    help="Print a row for each segment and system with all metrics; as JSON Lines, with texts and "
    "all evidence.",
)
@option(
    "--fail-if-worse",
    metavar="LIST",
    group="Statistics",
    type=MetricThresholds(),
    help="End with exit status 3 if a system is significantly worse than the baseline by one of "
    "these metrics, separated by commas. A number is the least difference that counts, as in "
    "rep,drop=0.5.",
)
@signature_option
@output_options
def compare(
    *,
    breakdown: list[str] | None,
    worst: int | None,
    sentence_level: bool,
    fail_if_worse: dict[str, float] | None,
    signature: bool,
    strict: bool,
    output: OutputOptions,
    **asked: Any,
) -> None:
    """Compare systems: scores, intervals and paired tests in one table.

    Each TEXT is the output of a system: a file with one segment per line ('-' reads standard
    input; .gz and .zst files are unpacked), or a column of a table, such as out.jsonl:mt. NAME=TEXT
    gives the system another name. The table that is printed has a row for each system and a column
    for each metric, like Table 1 of the paper. With -o and a name that ends in .png, .svg or .pdf,
    the differences from the baseline are drawn.

    Without --ref, --src is needed. The table then has how much shorter outputs are than the
    others, and with a model omissions. With three systems or more, the outputs of the others show
    what each system leaves out.

    \b
    Example:
      coverage-eval compare --ref ref.txt --src src.txt \\
        --model model a=a.txt b=b.txt
      coverage-eval compare --src src.txt --model model a=a.txt b=b.txt c=c.txt
    """
    picture = output.output if Path(output.output or "").suffix.lower() in PICTURES else None
    systems = asked["systems"]
    _check_tables(output, picture, systems, breakdown, worst, sentence_level, fail_if_worse)
    is_detailed = sentence_level and output.output_format == "jsonl"
    comparison = run_comparison(keep_texts=bool(breakdown or worst or is_detailed), **asked)
    is_brief = output.output is None and output.output_format == "text"
    if sentence_level:
        report = comparison_segments_report(comparison, worst)
    else:
        report = _table_report(comparison, breakdown, worst, signature=signature or not is_brief)
    worse = []
    if fail_if_worse:
        with _usage_errors("--fail-if-worse"):
            worse = find_worse(comparison, fail_if_worse)
        report = report.with_values(gate=gate_as_dict(fail_if_worse, worse))
    result = comparison.result
    refuse_fatal(result.findings, strict=strict)
    if picture:
        save_figure(comparison.plot_differences()[0], picture)
    else:
        report = with_findings(report, result.findings, model=unknown_words_of_result(result))
        show(report, output, signatures=signature)  # once nothing can fail any more
    for line in describe_worse(comparison, worse, output.digits):
        say(line, "worse")
    warn(result.findings)
    if worse:
        click.get_current_context().exit(GATE_CLOSED_STATUS)


def _check_tables(
    output: OutputOptions,
    picture: str | None,
    systems: Sized,
    breakdown: Sequence[str] | None,
    worst: int | None,
    sentence_level: bool,
    fail_if_worse: Mapping[str, float] | None,
) -> None:
    """Refuse tables that cannot be made or printed, before any text is read.

    Raises:
        click.UsageError: The first thing that is wrong.
    """
    if fail_if_worse and len(systems) < 2:
        raise click.UsageError("--fail-if-worse needs a system beside the baseline")
    if picture and len(systems) < 2:
        raise click.UsageError(
            f"-o {picture} draws differences from a baseline: it needs another system"
        )
    if picture and (sentence_level or breakdown or worst):
        raise click.UsageError(
            f"-o {picture} draws the differences of corpus scores; leave --sentence-level, "
            "--breakdown and --worst out"
        )
    if sentence_level and worst and output.output_format == "jsonl":
        raise click.UsageError(
            "JSON Lines of --sentence-level have all segments; leave --worst out"
        )
    if sentence_level and breakdown:
        raise click.UsageError("--sentence-level prints segments; leave --breakdown out")
    if (breakdown or worst) and not sentence_level:
        output.require_several("--breakdown" if breakdown else "--worst")


def _table_report(
    comparison: Comparison, breakdown: Sequence[str] | None, worst: int | None, *, signature: bool
) -> Report:
    """The table of systems with its breakdowns.

    Raises:
        click.UsageError: A breakdown needs another metric or text.
    """
    tables = []
    if breakdown:
        with _usage_errors("--breakdown"):
            tables = comparison.break_down(None if "all" in breakdown else breakdown)
    if worst:
        tables.append(comparison.most_different(worst))
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
