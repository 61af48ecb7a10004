"""``coverage-eval spark``: Parquet files scored on a cluster, or on all cores of this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from coverage_eval.cli.commands.compare import check_baseline
from coverage_eval.cli.commands.score import choose_form, setting_options
from coverage_eval.cli.help import option
from coverage_eval.cli.link_options import AlignmentOptions, alignment_options
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import (
    Group,
    Output,
    OutputFile,
    add_options,
    false_alarms_option,
    options_as,
    output_options,
    parse_list,
    strict_option,
)
from coverage_eval.cli.output import echo_findings, present_profile, present_scores, show
from coverage_eval.comparison.comparison import compare_result, present_comparison
from coverage_eval.data.documents import DocumentSettings
from coverage_eval.data.input_checks import Finding
from coverage_eval.errors import DataError
from coverage_eval.metrics.evaluation import TokenMetric
from coverage_eval.metrics.measure import Metric, Result
from coverage_eval.metrics.named_findings import learn_named
from coverage_eval.metrics.profile import profile_of
from coverage_eval.metrics.registry import METRICS, default_metrics, metric_class
from coverage_eval.metrics.significance import SignificanceTest
from coverage_eval.metrics.text_checks import check_inputs
from coverage_eval.settings import setting
from coverage_eval.tables.table import Printable


@click.group("spark", cls=Group)
def command() -> None:
    """Score Parquet files on Spark, with the same results.

    INPUT is a Parquet file or folder. Every row is a segment, and options name the columns of its
    texts. The folder of -o gets one row for each: under status=scored the key, the scores, their
    statistics and evidence; under status=set_aside the key and the reason why the row cannot be
    scored. The command prints the corpus scores. It runs on the cluster of spark-submit, or else of
    --master, or else on all cores of this machine. It needs pip install 'coverage-eval[spark]' and
    Java.

    \b
    Example:
      coverage-eval spark drop texts.parquet -o scores.parquet --hyp-col mt --ref-col ref \\
        --src-col src --key-col id --model de-en.model
    """


def _columns(_: click.Context, __: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """A callback for ``NAME=COLUMN`` or ``COLUMN``: columns by the names of systems."""
    pairs = [value.partition("=") for value in values]
    found = {name: column if equals else name for name, equals, column in pairs}
    if len(found) < len(values) or not all({**found}.values()):
        raise click.BadParameter("a system is named twice, or a column has no name")
    return found


def _column(help_text: str, *, several: bool = False, **more: Any) -> Any:
    return setting(() if several else None, help_text, metavar="COLUMN", multiple=several, **more)


@dataclass(frozen=True)
class SparkOptions:
    """Where the texts are, and how Spark runs."""

    given: str
    target: str = setting(
        None,
        "Write the scores of all rows to this new folder, as Parquet.",
        flags=("-o", "--output"),
        required=True,
        metavar="FOLDER",
        type=OutputFile(),
    )
    hypotheses: Mapping[str, str] = setting(
        None,
        "The column of the output; 'compare' reads several.",
        flag="--hyp-col",
        required=True,
        multiple=True,
        callback=_columns,
        metavar="[NAME=]COLUMN",
    )
    references: tuple[str, ...] = _column(
        "The column of the reference; give it once for each of several references.",
        several=True,
        flag="--ref-col",
    )
    source: str | None = _column("The column of the source.", flag="--src-col")
    keys: tuple[str, ...] = _column(
        "Keep this column beside the scores; it identifies segments and orders them.",
        several=True,
        flag="--key-col",
    )
    master: str | None = setting(None, "Spark's master.  [default: local[*]]", metavar="URL")
    partitions: int = setting(
        0, "Number of partitions of the input; 0 keeps them as they are stored.", min=0
    )
    evidence: bool = setting(True, "Also write the evidence of each score.")
    peers: tuple[str, ...] = _column(
        "The column of another system's output, to see what can be translated; give it once "
        "for each system.",
        several=True,
        flag="--peer-col",
    )
    unaligned: bool = setting(
        False,
        "Rows are documents, with line ends in their texts, and outputs have other lines than the "
        "source: cut each by the lines of the source with --model, or of the reference. A row's "
        "figures are those of all its lines.",
    )
    strict: bool = False


def _spark_options(*, peers: bool = False) -> Callable[[Any], Any]:
    unfit = () if peers else ("peers",)
    given = click.argument("given", metavar="INPUT")
    add = options_as("options", SparkOptions, given, strict_option, without=unfit)
    return lambda function: add(output_options(function, file=False))


def _check(options: SparkOptions, alignment: AlignmentOptions, needs: frozenset[str]) -> None:
    """Raise a usage error for a missing column or model before Spark starts."""
    if len(options.hypotheses) > 1 and click.get_current_context().info_name != "compare":
        raise click.UsageError("--hyp-col names several systems: use 'spark compare'")
    if "references" in needs and not options.references:
        raise click.UsageError("name the column of the reference with --ref-col")
    if "documents" in needs and not options.unaligned:
        raise click.UsageError("missing-lines and extra-text need --unaligned")
    if needs & {"links", "coverages", "model"} and alignment.model is None:
        raise click.UsageError(
            "name a model with --model; train it on one machine, on a sample of a few million "
            "pairs: coverage-eval align train SRC TGT -o MODEL"
        )
    if needs & {"sources", "links", "coverages", "model"} and options.source is None:
        raise click.UsageError("name the column of the source with --src-col")
    if options.unaligned and not (options.references or (alignment.model and options.source)):
        raise click.UsageError("--unaligned needs --src-col with --model M, or --ref-col")
    replace(alignment, src=options.source).check([])
    alignment.check_files([])


_rep_settings = partial(add_options, options=setting_options("rep", {"rep": metric_class("rep")}))


@command.command("rep")
@_spark_options()
@_rep_settings
def rep(options: SparkOptions, output: Output, **settings: Any) -> None:
    """REP-score: words that the hypothesis repeats and the reference does not.

    \b
    Example:
      coverage-eval spark rep in.parquet -o out.parquet --hyp-col mt --ref-col ref
    """
    name, chosen = choose_form("rep", settings)
    _check(options, AlignmentOptions(), metric_class(name).needs)
    _score(options, AlignmentOptions(), {name: chosen}, output)


@command.command("drop")
@alignment_options(frozen=True)
@_spark_options()
@option("--soft", is_flag=True, help=METRICS["softdrop"].summary)
def drop(options: SparkOptions, alignment: AlignmentOptions, output: Output, soft: bool) -> None:
    """DROP-score: source words that the reference translates and the hypothesis drops.

    \b
    Example:
      coverage-eval spark drop in.parquet -o out.parquet --hyp-col mt --ref-col ref \\
        --src-col src --model m
    """
    name, settings = choose_form("drop", {"soft": soft})
    _check(options, alignment, metric_class(name).needs)
    _score(options, alignment, {name: {**alignment.settings(), **settings}}, output)


@command.command("profile")
@alignment_options(frozen=True, without={"denominator"})
@_spark_options()
def profile(options: SparkOptions, alignment: AlignmentOptions, output: Output) -> None:
    """Profile one output: repetition, length and coverage figures.

    What is usual in the text, for the figures of outputs that fail as a whole ('empty', 'copy',
    'refusal' and others), is learnt from its first 2,000 rows.

    \b
    Example:
      coverage-eval spark profile in.parquet -o out.parquet --hyp-col mt --src-col src
    """
    from coverage_eval.spark import make_profile

    _check(options, alignment, frozenset({"model"} if alignment.model else ()))
    texts = {"references": options.references, "sources": options.source}
    make = partial(
        make_profile,
        have={name for name, there in texts.items() if there},
        tokenize=alignment.tokenize or "none",
        lowercase=alignment.lowercase,
        stopwords=alignment.settings()["stopwords"],
    )

    def present(found: _Found) -> Printable:
        return present_profile(profile_of(found.result))

    _run(options, alignment, make, present, output, named=True)


@command.command("omissions")
@alignment_options(links=False, frozen=True)
@_spark_options(peers=True)
@option("--additions", is_flag=True, help="Find words that the source does not support.")
@false_alarms_option
def omissions(
    options: SparkOptions,
    alignment: AlignmentOptions,
    output: Output,
    additions: bool,
    false_alarms: float,
) -> None:
    """Find source words that a hypothesis leaves out, or words that it adds.

    The rate of false alarms is that of the model's training text; 'coverage-eval omissions' adapts
    it to the text.

    \b
    Example:
      coverage-eval spark omissions in.parquet -o out.parquet --hyp-col mt --src-col src --model m
    """
    from coverage_eval.spark import make_omissions

    _check(options, alignment, frozenset({"model"}))
    if additions and options.references:
        raise click.UsageError("--additions compares output and source; leave out --ref-col")
    make = partial(
        make_omissions,
        additions=additions,
        referenced=bool(options.references),
        false_alarms=false_alarms / 100,
    )
    _run(options, alignment, make, partial(_present_scores, options), output)


@command.command("compare")
@alignment_options(frozen=True)
@_spark_options()
@option(
    "-m",
    "--metrics",
    names=METRICS,
    callback=parse_list("metric", METRICS),
    metavar="LIST",
    help=f"Show these columns; there are: {', '.join(METRICS)}.  [default: as in "
    "'compare', without meteor]",
)
@options_as("test", SignificanceTest)
def compare(
    options: SparkOptions,
    alignment: AlignmentOptions,
    output: Output,
    metrics: list[str] | None,
    test: SignificanceTest,
) -> None:
    """Compare systems: scores, intervals and paired tests in one table.

    \b
    Example:
      coverage-eval spark compare in.parquet -o out.parquet --hyp-col a --hyp-col b \\
        --ref-col ref --key-col id
    """
    modelled = alignment.model is not None
    referenced = bool(options.references)
    found, _ = default_metrics(
        aligns=modelled, covers=modelled, referenced=referenced, documents=options.unaligned
    )
    # METEOR's data would be needed on every worker.
    names = metrics or [name for name in found if name != "meteor"]
    needs: frozenset[str] = frozenset().union(*(metric_class(name).needs for name in names))
    _check(options, alignment, needs)
    check_baseline(test, options.hypotheses)
    if test.resamples and not options.keys:
        raise click.UsageError("tests need the order of segments: --key-col, or --resamples 0")
    words = {"tokenize": alignment.tokenize, "lowercase": alignment.lowercase}
    settings = {
        name: alignment.settings() | (words if issubclass(metric_class(name), TokenMetric) else {})
        for name in names
    }

    def present(found: _Found) -> Printable:
        if not test.resamples:
            return _present_scores(options, found)
        from coverage_eval.spark import collect_frame

        result = collect_frame(found.scored, found.scorer)
        return present_comparison(compare_result(result, test))

    _score(options, alignment, settings, output, present, fits=alignment.tokenize is None)


class _Found(NamedTuple):
    """The results of a job on Spark."""

    scorer: Any
    scored: Any
    result: Result


def _score(
    options: SparkOptions,
    alignment: AlignmentOptions,
    metrics: Mapping[str, Mapping[str, Any]],
    output: Output,
    present: Callable[[_Found], Printable] | None = None,
    *,
    fits: bool = False,
) -> None:
    """Score by metrics with their settings, and with the tokeniser that fits the texts if asked."""
    from coverage_eval.spark import make_metrics

    make = partial(make_metrics, metrics=metrics)
    present = present or partial(_present_scores, options)
    _run(options, alignment, make, present, output, fits=fits)


def _run(
    options: SparkOptions,
    alignment: AlignmentOptions,
    make: Callable[[Any], Mapping[str, Metric]],
    present: Callable[[_Found], Printable],
    output: Output,
    *,
    fits: bool = False,
    named: bool = False,
) -> None:
    """Score, write and print; the folder appears only when it is complete."""
    from coverage_eval.spark import (
        BatchColumns,
        ScoringJob,
        read_frame,
        sample_frame,
        score_frame,
        spark_session,
        sum_frame,
        write_scored,
    )

    if "://" not in options.target and Path(options.target).exists():
        raise DataError(f"{options.target}: exists already; name a new folder, or remove it")
    columns = BatchColumns(
        options.hypotheses, options.references, options.source, options.keys, options.peers
    )
    of_model = alignment.of_model if alignment.model else {}
    documents = DocumentSettings.of(alignment.tokenize) if options.unaligned else None
    job = ScoringJob(columns, make, of_model, options.evidence, documents)
    scorer = job.scorer(alignment.model)
    session = spark_session(options.master)
    frame = read_frame(session, options.given)
    columns.check_names(frame.columns)
    sample = sample_frame(frame, columns, options.given, scorer.cut)
    notes: list[Finding] = []
    if fits:
        job, notes = job.fitted(sample, alignment.model)
        scorer = job.scorer(alignment.model)
    if named:
        job = replace(job, make=partial(job.make, named=learn_named(sample)))
        scorer = job.scorer(alignment.model)
    findings, unknown = check_inputs(sample, scorer.figures.values())
    messages = echo_findings([*findings, *notes], strict=options.strict)
    if options.partitions:
        frame = frame.repartition(options.partitions)
    scored = write_scored(score_frame(frame, job, alignment.model), options.target)
    result, aside = sum_frame(scored, scorer)
    say(
        f"{options.target}: {result.segments:,} rows scored"
        + (f", {aside:,} set aside, see status=set_aside" if aside else "")
    )
    printout = present(_Found(scorer, scored, result))
    rows = {"rows": {"scored": result.segments, "set_aside": aside}, "warnings": messages}
    model = {"model": unknown} if unknown else {}
    show(replace(printout, data={**(printout.data or {}), **rows, **model}), output)


def _present_scores(options: SparkOptions, found: _Found) -> Printable:
    systems = [None] if len(options.hypotheses) == 1 else found.result.systems
    return present_scores(
        [found.result.score(name, system) for name in found.result.metrics for system in systems]
    )
