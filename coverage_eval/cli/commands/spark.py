"""``coverage-eval spark``: Parquet files scored on a cluster, or on all cores of this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from coverage_eval.cli.commands.compare import check_baseline
from coverage_eval.cli.help import option
from coverage_eval.cli.link_options import OF_FILES, AlignmentOptions, alignment_options
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import (
    Group,
    Output,
    OutputFile,
    false_alarms_option,
    options_as,
    output_options,
    parse_list,
    refuse,
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
      coverage-eval spark compare texts.parquet -o scores.parquet --hyp-col mt --ref-col ref \\
        --src-col src --key-col id --model de-en.model -m drop
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


def _spark_options(*unfit: str) -> Callable[[Any], Any]:
    given = click.argument("given", metavar="INPUT")
    add = options_as("options", SparkOptions, given, strict_option, without=unfit)
    return lambda function: add(output_options(function, file=False))


def _check(options: SparkOptions, alignment: AlignmentOptions, needs: Set[str]) -> None:
    """Raise a usage error for a missing column or model before Spark starts."""
    links = needs & {"links", "coverages", "model"}
    modelled = alignment.model is not None
    refuse({
        "name the column of the reference with --ref-col":
            "references" in needs and not options.references,
        "missing-lines and extra-text need --unaligned":
            "documents" in needs and not options.unaligned,
        "name a model with --model; train it on one machine, on a sample of a few million pairs: "
        "coverage-eval align train SRC TGT -o MODEL": links and not modelled,
        "name the column of the source with --src-col":
            (links or "sources" in needs) and options.source is None,
        "--unaligned needs --src-col with --model M, or --ref-col":
            options.unaligned and not (options.references or (modelled and options.source)),
    })  # fmt: skip
    replace(alignment, src=options.source).check([])
    alignment.check_files([])


@command.command("profile")
@alignment_options(without={*OF_FILES, "denominator"})
@_spark_options("peers")
def profile(options: SparkOptions, alignment: AlignmentOptions, output: Output) -> None:
    """Profile one output: repetition, length and coverage figures.

    What is usual in the text, for the figures of outputs that fail as a whole ('empty', 'copy',
    'refusal' and others), is learnt from its first 2,000 rows.

    \b
    Example:
      coverage-eval spark profile in.parquet -o out.parquet --hyp-col mt --src-col src
    """
    from coverage_eval.spark import make_profile

    if len(options.hypotheses) > 1:
        raise click.UsageError("--hyp-col names several systems: use 'spark compare'")
    _check(options, alignment, {"model"} if alignment.model else set())
    texts = {"references": options.references, "sources": options.source}
    make = partial(
        make_profile,
        have={name for name, there in texts.items() if there},
        tokenize=alignment.tokenize or "none",
        lowercase=alignment.lowercase,
        stopwords=alignment.settings()["stopwords"],
    )
    found = _run(options, alignment, make, named=True)
    found.show(present_profile(profile_of(found.result)), output)


@command.command("compare")
@alignment_options(without=OF_FILES)
@_spark_options()
@option(
    "-m", "--metrics", metavar="LIST", callback=parse_list("metric", METRICS), names=METRICS,
    help=f"Show these columns; there are: {', '.join(METRICS)}.  [default: as in 'compare', "
    "without meteor]",
)  # fmt: skip
@false_alarms_option
@options_as("test", SignificanceTest)
def compare(
    options: SparkOptions,
    alignment: AlignmentOptions,
    output: Output,
    metrics: list[str] | None,
    false_alarms: float,
    test: SignificanceTest,
) -> None:
    """Compare systems, or score one: scores, intervals and paired tests.

    Intervals and tests need the order of segments: --key-col. Without it, a single system gets its
    scores. The rate of false alarms of omissions and additions is that of the model's training
    text; without Spark, 'compare' and 'omissions' adapt it to the text.

    \b
    Example:
      coverage-eval spark compare in.parquet -o out.parquet --hyp-col a --hyp-col b \\
        --ref-col ref --key-col id
      coverage-eval spark compare in.parquet -o out.parquet --hyp-col mt --src-col src \\
        --model m -m omissions
    """
    from coverage_eval.spark import collect_frame, make_metrics

    modelled = alignment.model is not None
    referenced = bool(options.references)
    found, _ = default_metrics(
        aligns=modelled, covers=modelled, referenced=referenced, documents=options.unaligned
    )
    # METEOR's data would be needed on every worker.
    names = metrics or [name for name in found if name != "meteor"]
    _check(options, alignment, set().union(*(metric_class(name).needs for name in names)))
    check_baseline(test, options.hypotheses)
    several = len(options.hypotheses) > 1
    if several and test.resamples and not options.keys:
        raise click.UsageError("tests need the order of segments: --key-col, or --resamples 0")
    words = {"tokenize": alignment.tokenize, "lowercase": alignment.lowercase}
    own = alignment.settings() | {"false_alarms": false_alarms / 100}
    settings = {
        name: own | (words if issubclass(metric_class(name), TokenMetric) else {}) for name in names
    }
    make = partial(make_metrics, metrics=settings)
    scored = _run(options, alignment, make, fits=alignment.tokenize is None)
    if test.resamples and options.keys:
        result = collect_frame(scored.frame, scored.scorer)
        printed = present_comparison(compare_result(result, test))
    else:
        systems = scored.result.systems if several else [None]
        cells = [(name, system) for name in scored.result.metrics for system in systems]
        printed = present_scores([scored.result.score(*cell) for cell in cells])
    scored.show(printed, output)


class _Scored(NamedTuple):
    """The results of a job on Spark.

    Attributes:
        scorer: What scored the rows.
        frame: The rows as they were written.
        result: Their sums.
        data: What JSON says of the rows.
    """

    scorer: Any
    frame: Any
    result: Result
    data: dict[str, Any]

    def show(self, printed: Printable, output: Output) -> None:
        """Print figures of the result."""
        show(replace(printed, data={**(printed.data or {}), **self.data}), output)


def _run(
    options: SparkOptions,
    alignment: AlignmentOptions,
    make: Callable[[Any], Mapping[str, Metric]],
    *,
    fits: bool = False,
    named: bool = False,
) -> _Scored:
    """Score and write; the folder appears only when it is complete.

    Args:
        options: The rows.
        alignment: The model.
        make: Makes the metrics.
        fits: Whether metrics of words take the tokeniser that fits the texts.
        named: Whether the figures learn from the texts what is usual.
    """
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
    rows = {"rows": {"scored": result.segments, "set_aside": aside}, "warnings": messages}
    return _Scored(scorer, scored, result, rows | ({"model": unknown} if unknown else {}))
