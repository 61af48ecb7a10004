"""``coverage-eval compare``, and the options that ``report`` has too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import Any, TypeVar

import click

from coverage_eval.cli.gate import CLOSED
from coverage_eval.cli.help import option
from coverage_eval.cli.inputs import AlignmentOptions, alignment_options, corpus_options
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import (
    Command,
    FiniteRange,
    NoFile,
    Output,
    OutputFile,
    PictureFile,
    WholeRange,
    click_options,
    given_options,
    jobs_option,
    listed_options,
    options_as,
    output_options,
    parse_differences,
    parse_list,
    parse_score_files,
    strict_option,
)
from coverage_eval.cli.output import save_figure, show, warn
from coverage_eval.comparison.breakdowns import (
    BREAKDOWNS,
    DEFAULT_TOP,
    Options,
    break_down,
    read_frequencies,
)
from coverage_eval.comparison.comparison import Comparison, Testing, compare_result, fit_words
from coverage_eval.comparison.gate import Gate, Worsening, find_worse, gate_as_dict, least_resamples
from coverage_eval.comparison.presentation import (
    present_comparison,
    present_comparison_segments,
    write_details,
    write_wmt,
)
from coverage_eval.comparison.right_words import read_word_labels
from coverage_eval.data.dataset import Dataset
from coverage_eval.data.files import Text, atomic_write, check_source
from coverage_eval.data.input_checks import Finding
from coverage_eval.data.tokenizers import TOKENIZERS, Tokenizer
from coverage_eval.data.wmt import wmt_reference
from coverage_eval.errors import DataError
from coverage_eval.metrics.drop import AlignedMetric, StopWords
from coverage_eval.metrics.measure import Metric, Result, TokenMetric, measure
from coverage_eval.metrics.omissions import Omissions, add_omission_data
from coverage_eval.metrics.registry import METRICS, default_metrics, make_metric, metric_class
from coverage_eval.metrics.score import setting
from coverage_eval.metrics.significance import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    MOST_RESAMPLES,
    TESTS,
)
from coverage_eval.tables.table import SIGNIFICANT
from coverage_eval.testbed.score_files import read_given

F = TypeVar("F", bound=Callable[..., Any])

_LOOKED_AT = 2000
"""Segments that decide whether a metric fits the texts."""


class ChosenMetrics:
    """The metrics asked for, checked before any file is read."""

    def __init__(
        self,
        asked: Sequence[str] | None,
        alignment: AlignmentOptions,
        settings: Mapping[str, Any],
        *,
        referenced: bool,
    ) -> None:
        self.alignment = alignment
        self._settings = settings
        self._chosen_here = asked is None
        if asked is None:
            names, missing = default_metrics(
                aligned=alignment.is_given,
                referenced=referenced,
                modelled=alignment.has_model or alignment.has_coverage,
            )
            if alignment.has_coverage:
                # Soft links make no hard links, and show no additions.
                names = [name for name in names if name not in {"drop", "additions"}]
            if missing:
                say(f"no METEOR in the table: {missing}", "note")
        else:
            names = asked
        self.names = list(names)
        for name in self.names:
            if "references" in metric_class(name).needs and not referenced:
                raise click.UsageError(f"metric {name} needs --ref")
            has_source = alignment.src is not None or _is_aligned(name)
            if "sources" in metric_class(name).needs and not has_source:
                raise click.UsageError(f"metric {name} needs --src")
        needy = [name for name in self.names if _is_aligned(name)]
        if needy and not alignment.is_given:
            raise click.UsageError(
                f"metric {' and '.join(needy)} needs --src, and --model or --train-src with "
                "--train-tgt; or links or --coverage from files"
            )
        covered = [name for name in self.names if "coverages" in metric_class(name).needs]
        if covered and alignment.has_links:
            raise click.UsageError(
                f"metric {covered[0]} needs a model or --coverage: links have no probabilities"
            )
        linked = [name for name in self.names if "links" in metric_class(name).needs]
        if linked and alignment.has_coverage:
            raise click.UsageError(f"metric {linked[0]} needs links: soft links are none")
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
        """Leave out, with a note, default columns that do not fit the texts."""
        if not self._chosen_here:
            return
        rows = list(islice(dataset.rows(), _LOOKED_AT))
        for name in [name for name in self.names if not _is_aligned(name)]:
            metric = self._make(name)
            if said := metric.objection(rows):
                self.names.remove(name)
                references = ", ".join(dataset.references)
                say(f"no {metric.name} in the table: {references}: {said}", "note")

    def make(self, of_links: Mapping[str, Any], tokenize: str | None) -> dict[str, Metric]:
        """The metrics by name; those of links take the aligner and further settings."""
        return {name: self._make(name, of_links, tokenize) for name in self.names}

    def _make(
        self,
        name: str,
        of_links: Mapping[str, Any] = MappingProxyType({}),
        tokenize: str | None = None,
    ) -> Metric:
        settings = {**self._settings.get(name, {}), **of_links}
        if issubclass(metric_class(name), TokenMetric):
            settings |= {
                "tokenize": tokenize or self.alignment.tokenize,
                "lowercase": self.alignment.lowercase,
            }
        return make_metric(name, settings)

    @property
    def need_aligner(self) -> bool:
        """Whether a column, or the wish to keep a model, makes an aligner necessary."""
        return any(map(_is_aligned, self.names)) or self.alignment.save_model is not None

    @property
    def add_data(self) -> Callable[..., None] | None:
        """What a newly trained model gets beside it: for omissions, where a column finds them."""
        finds = any(issubclass(metric_class(name), Omissions) for name in self.names)
        return add_omission_data if finds else None


def _is_aligned(name: str) -> bool:
    return bool(metric_class(name).needs & {"links", "coverages"})


@dataclass(frozen=True)
class TestingOptions:
    """What systems are tested against, and how."""

    __test__ = False  # not a test for pytest, whatever its name

    baseline: str | None = setting(
        None, "Test against this one.  [default: the first]", metavar="NAME"
    )
    test: str = setting(
        "randomization",
        "Test by approximate randomisation, or by sacreBLEU's paired bootstrap, which finds "
        "too many differences (about 10% false ones at p < 0.05).",
        choices=TESTS,
    )
    resamples: int = setting(
        DEFAULT_RESAMPLES,
        "Draw this many resamples for intervals and tests; 0 for neither.",
        least=0,
        most=MOST_RESAMPLES,
    )
    seed: int = setting(DEFAULT_SEED, "Seed the resampling with this number.", least=0)

    @property
    def how(self) -> Testing:
        """How differences are tested."""
        return Testing(self.test, self.resamples, self.seed)


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions(TestingOptions):
    """Systems and how they are compared, as the command line names them.

    Attributes:
        systems: Files of outputs by name.
        alignment: The source, an aligner and what counts of its links.
        strict: Whether warnings are errors.
    """

    systems: Mapping[str, Text]
    alignment: AlignmentOptions
    jobs: int
    strict: bool
    ref: tuple[Text, ...]
    metrics: list[str] | None
    scores: Mapping[str, str]
    lower_is_better: list[str] | None
    frequencies: str | None = setting(
        None,
        "Count source words in this text, for their frequency classes.  "
        "[default: --train-src, or else --src]",
        metavar="FILE",
        group="Advanced",
    )
    bleu_tokenize: str = setting(
        "13a",
        "Use this tokeniser of sacreBLEU for BLEU, which, like chrF and METEOR, reads "
        "untouched text.",
        choices=TOKENIZERS,
    )
    meteor_norm: bool = setting(False, "Let METEOR tokenise, normalise and lowercase.")
    leave_out: str | None = setting(
        None,
        "For rep: count no n-gram that holds a word of this file, one a line.",
        metavar="FILE",
    )
    leave_out_punctuation: bool = setting(
        False, "For rep: count no n-gram that holds a token of punctuation alone."
    )

    @cached_property
    def columns(self) -> ChosenMetrics:
        """The metrics asked for; a usage error if one of them cannot be had."""
        left_out = {
            "leave_out": StopWords.read(self.leave_out) if self.leave_out else None,
            "leave_out_punctuation": self.leave_out_punctuation,
        }
        settings = {
            "rep": left_out,
            "rep-letters": left_out,
            "bleu": {"tokenize": self.bleu_tokenize},
            "meteor": {"norm": self.meteor_norm},
        }
        return ChosenMetrics(self.metrics, self.alignment, settings, referenced=bool(self.ref))

    def check(self, texts: Sequence[str] = ()) -> None:
        """Raise for mistakes on the command line before any file is read.

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
        others = [*filter(None, [self.frequencies, self.leave_out]), *self.scores.values(), *texts]
        self.alignment.check([*self.ref, *self.systems.values(), *others])
        links = {
            ("--src-ref-align", "references"): (self.alignment.src_ref_align, self.ref),
            ("--src-hyp-align", "systems"): (self.alignment.src_hyp_align, self.systems),
            ("--ref-coverage", "references"): (self.alignment.ref_coverage, self.ref),
            ("--coverage", "systems"): (self.alignment.coverage, self.systems),
        }
        for (flag, what), (files, named) in links.items():
            if files and len(files) != len(named):
                raise click.UsageError(
                    f"{flag}: {len(files)} of them for {len(named)} {what}; "
                    "give it once for each, in their order"
                )
        for name in self.scores:
            if name in METRICS:
                raise click.UsageError(f"--scores {name}: is a metric of this program; rename it")
        unknown = [name for name in self.lower_is_better or () if name not in self.scores]
        if unknown:
            raise click.UsageError(f"--lower-is-better {unknown[0]}: it is not among the --scores")
        _ = self.columns

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
        alignment.check_files([*self.ref, *self.systems.values(), *self.scores.values()])
        of_links = alignment.settings()
        dataset = Dataset.of_files(self.systems, self.ref, alignment.src)
        columns.leave_out_unfit(dataset)
        words = alignment.tokenize
        cut: list[Finding] = []
        if words is None and alignment.train_src and fit_words(dataset.rows(), None)[2]:
            alignment = replace(alignment, tokenize="13a")  # to train on, too
        aligner = alignment.make(columns.add_data) if columns.need_aligner else None
        if words is None and not alignment.has_links:
            words, aligner, cut = fit_words(dataset.rows(), aligner)
        metrics = columns.make({"aligner": aligner, **of_links}, words)
        for name, file in self.scores.items():
            lower = name in (self.lower_is_better or ())
            metrics[name] = read_given(name, file, list(self.systems), lower=lower)
        if suspects is not None and aligner is not None:
            metrics[suspects] = Omissions(aligner)
        result = measure(
            dataset, metrics, jobs=self.jobs, evidence=evidence, checks=True, progress=True
        )
        tokens = Tokenizer(words or "none", alignment.lowercase)
        source_tokens = aligner.source_tokens if aligner else tokens
        findings = [*result.findings, *cut]
        return replace(result, tokens=tokens, source_tokens=source_tokens, findings=findings)

    def count_frequencies(self, result: Result) -> Mapping[str, int] | None:
        """How often each source word occurs in the training text; None without one."""
        text = self.frequencies or self.alignment.train_src
        return read_frequencies(text, result.source_tokens) if text else None

    def count_target_frequencies(self, result: Result) -> Mapping[str, int] | None:
        """How often each target word occurs in the training text; None without one."""
        text = self.alignment.train_tgt
        return read_frequencies(text, result.tokens) if text else None


_TESTING = {item.name for item in fields(TestingOptions)}

_OPTIONS = (
    alignment_options(words_of="every side, for rep, drop and softdrop"),
    option(
        "-m", "--metrics", metavar="LIST", callback=parse_list("metric", METRICS), names=METRICS,
        help=f"Show these columns, such as bleu,rep or bleu rep, of: {', '.join(METRICS)}.  "
        "[default: bleu,meteor,rep, drop with an aligner and softdrop with a model; meteor only "
        "for English; without --ref rep-peers,length-ratio, and omissions,additions with a model]",
    ),
    option(
        "--scores", metavar="NAME=FILE", multiple=True, callback=parse_score_files, is_eager=True,
        group="Metrics",
        help="Show the scores of segments in this file as a column, too, with intervals and tests: "
        "CSV, JSON of comet-score, or .seg.score of the WMT metrics task; of a folder, all of "
        "these.",
    ),
    option(
        "--lower-is-better", metavar="LIST", callback=parse_list("score", ()), group="Metrics",
        help="Take lower values of these --scores, separated by commas, for better.",
    ),
    *click_options(TestingOptions, group="Statistics"),
    *click_options(ComparisonOptions, without=_TESTING, group="Metrics"),
    jobs_option,
    strict_option,
)  # fmt: skip


def comparison_options(command: F) -> Callable[..., Any]:
    """Add the systems and the options; the command receives them as one ``options``."""
    add = corpus_options("systems", options=("ref",), needed=("systems", "ref|src"))
    return add(options_as("options", ComparisonOptions, _OPTIONS)(command))


STDOUT = "-"


@dataclass(frozen=True)
class ComparisonFiles:
    """Files that a comparison is written to beside its table."""

    details: str | None = setting(
        None,
        "Write all evidence there, one segment of one system a line (JSON Lines).",
        metavar="FILE",
        type=OutputFile(),
        group="Output",
    )
    wmt: str | None = setting(
        None,
        "Write each metric's scores into this folder as the WMT metrics task has them: "
        "NAME-REF.seg.score and NAME-REF.sys.score; those of errors negated.",
        metavar="FOLDER",
        type=NoFile(),
        group="Output",
    )
    plot: str | None = setting(
        None,
        "Draw the table as bars with intervals into a .png, .svg or .pdf file.",
        metavar="FILE",
        type=PictureFile(),
        group="Output",
    )
    plot_differences: str | None = setting(
        None,
        "Draw the differences from the baseline with their intervals: .png, .svg or .pdf.",
        metavar="FILE",
        type=PictureFile(),
        group="Output",
    )

    def check(self) -> None:
        """Refuse standard output for the evidence, before any file is read.

        Raises:
            click.UsageError: It is that.
        """
        if self.details == STDOUT:
            raise click.UsageError("--details writes a file: standard output has the table")

    def write(self, comparison: Comparison, references: Sequence[Text]) -> None:
        """Write the files that are named.

        Args:
            comparison: The systems.
            references: Their references.
        """
        if self.wmt:
            undefined = write_wmt(comparison, self.wmt, [*map(wmt_reference, references)])
            if undefined:
                say(
                    f"{self.wmt}: {undefined} undefined scores of segments are written as 0", "note"
                )
        if self.plot:
            from coverage_eval.plotting.canvas import figure_of

            save_figure(figure_of(comparison.plot()[0]), self.plot)
        if self.plot_differences:
            from coverage_eval.plotting.canvas import figure_of

            save_figure(figure_of(comparison.plot_differences()[0]), self.plot_differences)
        if self.details:
            with atomic_write(self.details) as file:
                write_details(comparison, file)


@click.command("compare", cls=Command)
@comparison_options
@option(
    "--breakdown", metavar="LIST", callback=parse_list("breakdown", ("all", *BREAKDOWNS)),
    group="Output",
    help=f"Show these further tables, separated by commas, of: all, {', '.join(BREAKDOWNS)}.",
)  # fmt: skip
@option(
    "--top", default=DEFAULT_TOP, show_default=True, type=WholeRange(1), group="Output",
    help="List this many words, n-grams or segments in a breakdown.",
)  # fmt: skip
@option(
    "--ref-labels", metavar="FILE", group="Output",
    help="Read a label of each word of the first reference, such as its part of speech, from this "
    "file, for --breakdown word-labels.",
)  # fmt: skip
@option(
    "--sentence-level", is_flag=True,
    help="Print a row for each segment and system with all metrics; with -o FILE, CSV and JSON "
    "Lines have their signatures in FILE.signatures.",
)  # fmt: skip
@option(
    "--sort", type=click.Choice(["worst"]), group="Output",
    help="With --sentence-level, print the segments first that are worst by the first metric; "
    "--top of them.",
)  # fmt: skip
@option(
    "--show", "show_texts", is_flag=True,
    help="Print source, reference and output of the --top segments that are worst by the first "
    "metric, with repeated and dropped words in brackets.",
)  # fmt: skip
@options_as("files", ComparisonFiles)
@option(
    "--fail-if-worse", "guarded", metavar="LIST", type=NoFile(), callback=parse_differences,
    group="Statistics",
    help="End with exit status 3 if a system is significantly worse than the baseline by one of "
    "these metrics, separated by commas; by at least so much of those with a number, as in "
    "rep,drop=0.5.",
)  # fmt: skip
@option(
    "--p-value", "level", default=SIGNIFICANT, show_default=True, group="Statistics",
    old=["--level"],
    type=FiniteRange(1 / MOST_RESAMPLES, 1, max_open=True),
    help="With --fail-if-worse, p-value below which a difference counts.",
)  # fmt: skip
@output_options
def command(
    options: ComparisonOptions,
    breakdown: list[str] | None,
    top: int,
    ref_labels: str | None,
    sentence_level: bool,
    sort: str | None,
    show_texts: bool,
    files: ComparisonFiles,
    guarded: dict[str, float] | None,
    level: float,
    output: Output,
) -> None:
    """Compare systems: scores, intervals and paired tests in one table.

    Each FILE is the output of a system, a text file with one segment a line ('-' reads standard
    input, .gz and .zst are unpacked); NAME=FILE gives the system another name than its file. Texts
    may
    also be columns of a table: --from. The table has a row for each system and a column for each
    metric, like the paper's Table 1. Without --ref, --src is needed: the table has omissions and
    additions (with a model), repetitions and lengths, and from three systems on each is judged by
    what the others say of the same source.

    \b
    Example:
      coverage-eval compare --ref ref.txt --src src.txt --model de-en.model a=a.txt b=b.txt
      coverage-eval compare --src src.txt --model de-en.model a=a.txt b=b.txt c=c.txt
    """
    files.check()
    options.check()
    gate = _make_gate(guarded, level, options)
    asked = breakdown or []
    if sort and not sentence_level:
        raise click.UsageError("--sort goes with --sentence-level")
    if asked and (sentence_level or show_texts):
        raise click.UsageError("--sentence-level and --show print segments: no --breakdown")
    if asked:
        output.require_several("--breakdown")
        check_source(options.frequencies or options.alignment.train_src, ref_labels)
    _check_breakdowns(asked, options.columns)
    if "word-labels" in asked and ref_labels is None:
        raise click.UsageError("--breakdown word-labels needs --ref-labels")
    result = options.measure(evidence=bool(asked or files.details or show_texts))
    comparison = compare_result(result, baseline=options.baseline, testing=options.how)
    tables = []
    if asked:
        chosen = Options(
            top,
            options.count_frequencies(result),
            comparison.baseline,
            options.count_target_frequencies(result),
            None if ref_labels is None else read_word_labels(ref_labels),
        )
        tables = break_down(result, None if "all" in asked else asked, chosen)
    printout = (
        present_comparison_segments(
            comparison, top if sort or show_texts else None, texts=show_texts
        )
        if sentence_level or show_texts
        else present_comparison(comparison, tables)
    )
    worse = _find_worse(comparison, gate) if gate else []
    if gate:
        outcome = {"gate": gate_as_dict(gate, worse)}
        printout = replace(printout, data=printout.data | outcome)
    printout = warn(printout, result.findings, result.unknown_words, strict=options.strict)
    files.write(comparison, options.ref)
    show(printout, output)  # once nothing can fail any more
    for item in worse:  # so that a release stops
        say(item.describe(comparison.baseline, output.width), "worse")
    if worse:
        click.get_current_context().exit(CLOSED)


def _make_gate(
    guarded: Mapping[str, float] | None, level: float, options: ComparisonOptions
) -> Gate | None:
    """What must not get worse; a usage error for a gate that can never close."""
    if guarded is None:
        if "level" in given_options():
            raise click.UsageError("--p-value goes with --fail-if-worse")
        return None
    unknown = [name for name in guarded if name not in {*options.columns.names, *options.scores}]
    if unknown:
        raise click.UsageError(f"--fail-if-worse {unknown[0]}: it is not among the --metrics")
    others = len(options.systems) - 1
    if not others:
        raise click.UsageError("--fail-if-worse needs a system beside the baseline")
    least = least_resamples(others, level)
    if options.resamples < least:
        raise click.UsageError(
            f"--resamples {options.resamples} cannot show p < {level:g}: draw {least} or more"
        )
    return Gate(guarded, level)


def _find_worse(comparison: Comparison, gate: Gate) -> list[Worsening]:
    try:
        return find_worse(comparison, gate)
    except DataError:
        raise
    except ValueError as error:  # a metric that does not fit the texts was left out
        raise DataError(f"--fail-if-worse: {error}; name it in --metrics") from error


def _check_breakdowns(asked: Sequence[str], columns: ChosenMetrics) -> None:
    """Refuse breakdowns that the columns do not allow, before any file is read."""
    has_evidence = {metric_class(name).evidence_name for name in columns.names}
    for name in asked:
        item = BREAKDOWNS.get(name)
        if item and item.needs and item.needs not in has_evidence:
            able = [n for n in METRICS if metric_class(n).evidence_name == item.needs]
            raise click.UsageError(f"--breakdown {name} needs metric {' or '.join(able)}")
        if item and item.needs_source and columns.alignment.src is None:
            raise click.UsageError(f"--breakdown {name} needs --src")
