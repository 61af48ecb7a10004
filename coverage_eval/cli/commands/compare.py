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
from coverage_eval.cli.help import GROUPS, option
from coverage_eval.cli.link_options import WORDS, AlignmentOptions, alignment_options
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import (
    Command,
    FiniteRange,
    NoFile,
    Output,
    PictureFile,
    click_options,
    file_setting,
    given_options,
    jobs_option,
    listed_options,
    options_as,
    output_file_setting,
    output_options,
    parse_differences,
    parse_list,
    parse_score_files,
    strict_option,
)
from coverage_eval.cli.output import save_figure, show, warn
from coverage_eval.cli.text_options import corpus_options
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
from coverage_eval.tables.table import SIGNIFICANT, Printable
from coverage_eval.testbed.score_files import read_given

F = TypeVar("F", bound=Callable[..., Any])

_LOOKED_AT = 2000
"""Segments that decide whether a metric fits the texts."""

STDOUT = "-"


class ChosenMetrics:
    """The metrics that were asked for, checked before any file is read."""

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
        self.names = self._defaults(referenced=referenced) if asked is None else list(asked)
        needy = [name for name in self.names if _is_aligned(name)]
        for name in self.names:
            needs = metric_class(name).needs
            if "references" in needs and not referenced:
                raise click.UsageError(f"metric {name} needs --ref")
            if "sources" in needs and alignment.src is None and name not in needy:
                raise click.UsageError(f"metric {name} needs --src")
        if needy and not alignment.is_given:
            raise click.UsageError(
                f"metric {' and '.join(needy)} needs {'' if alignment.src else '--src, and '}"
                "--model M, made by 'align train', or --train-src with --train-tgt; or links or "
                "--coverage from files"
            )
        for name in needy:
            alignment.check_fits(f"metric {name}", metric_class(name).needs)
        self._check_given()
        for name in self.names:
            if name not in needy:
                self._make(name)  # reports a missing package before minutes of training

    def _defaults(self, *, referenced: bool) -> list[str]:
        names, missing = default_metrics(
            aligned=self.alignment.is_given,
            referenced=referenced,
            modelled=self.alignment.has_model or self.alignment.has_coverage,
        )
        if missing:
            say(f"no METEOR in the table: {missing}", "note")
        if not self.alignment.has_coverage:
            return list(names)
        # Soft links make no hard links, and show no additions.
        return [name for name in names if name not in {"drop", "additions"}]

    def _check_given(self) -> None:
        """Refuse options of words or links that no column uses."""
        given = given_options()
        columns = [metric_class(name) for name in self.names]
        words = given & set(WORDS)
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
        """The metrics by name; metrics of links get the aligner and further settings."""
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
        """Whether a column needs an aligner, or a model is to be saved."""
        return any(map(_is_aligned, self.names)) or self.alignment.save_model is not None

    @property
    def add_data(self) -> Callable[..., None] | None:
        """Adds to a newly trained model what omissions need, if a column finds them."""
        finds = any(issubclass(metric_class(name), Omissions) for name in self.names)
        return add_omission_data if finds else None


def _is_aligned(name: str) -> bool:
    return bool(metric_class(name).needs & {"links", "coverages"})


@dataclass(frozen=True)
class TestingOptions:
    """The baseline, and how systems are tested against it."""

    __test__ = False  # not a test for pytest, whatever its name

    baseline: str | None = setting(
        None, "Test against this system.  [default: the first]", metavar="NAME"
    )
    test: str = setting(
        "randomization",
        "Test by approximate randomisation, or by sacreBLEU's paired bootstrap, which finds "
        "too many differences (about 10% false ones at p < 0.05).",
        choices=TESTS,
    )
    resamples: int = setting(
        DEFAULT_RESAMPLES,
        "Number of resamples for intervals and tests; 0 for neither.",
        least=0,
        most=MOST_RESAMPLES,
    )
    seed: int = setting(DEFAULT_SEED, "Seed of the resampling.", least=0)

    @property
    def how(self) -> Testing:
        """How differences are tested."""
        return Testing(self.test, self.resamples, self.seed)


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions(TestingOptions):
    """Systems and how they are compared.

    Attributes:
        systems: Files of outputs by name.
        alignment: Where links come from.
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
    frequencies: str | None = file_setting(
        "Count source words in this text for their frequency classes.  "
        "[default: --train-src, or else --src]",
        group="Advanced",
    )
    bleu_tokenize: str = setting(
        "13a",
        "Apply this tokeniser of sacreBLEU for BLEU. BLEU, chrF and METEOR read untokenised text.",
        choices=TOKENIZERS,
    )
    meteor_norm: bool = setting(False, "METEOR tokenises, normalises and lowercases.")
    leave_out: str | None = file_setting(
        "For rep: do not count n-grams with a word of this file, one per line."
    )
    leave_out_punctuation: bool = setting(
        False, "For rep: do not count n-grams with a token of punctuation."
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
        """Refuse mistakes on the command line before any file is read.

        Args:
            texts: Further files that the command reads.

        Raises:
            click.UsageError: The first thing that is wrong.
        """
        if self.baseline is not None and self.baseline not in self.systems:
            listed = ", ".join(self.systems)
            raise click.UsageError(
                f"the baseline {self.baseline!r} is not one of the systems {listed}"
            )
        others = [*filter(None, [self.frequencies, self.leave_out]), *self.scores.values(), *texts]
        self.alignment.check([*self.ref, *self.systems.values(), *others])
        for flag, what, files, named in (
            ("--src-ref-align", "references", self.alignment.src_ref_align, self.ref),
            ("--src-hyp-align", "systems", self.alignment.src_hyp_align, self.systems),
            ("--ref-coverage", "references", self.alignment.ref_coverage, self.ref),
            ("--coverage", "systems", self.alignment.coverage, self.systems),
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
        _ = self.columns

    def measure(self, *, evidence: bool, suspects: str | None = None) -> Result:
        """Read the texts, align them and count.

        Args:
            evidence: Whether evidence will be asked for.
            suspects: The name of a further column of omissions, if one is wanted.

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
            alignment = replace(alignment, tokenize="13a")  # for the training text, too
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
        """How often each source word occurs in the training text; None if there is none."""
        text = self.frequencies or self.alignment.train_src
        return read_frequencies(text, result.source_tokens) if text else None

    def count_target_frequencies(self, result: Result) -> Mapping[str, int] | None:
        """How often each target word occurs in the training text; None if there is none."""
        text = self.alignment.train_tgt
        return read_frequencies(text, result.tokens) if text else None


_TESTING = {item.name for item in fields(TestingOptions)}

_OPTIONS = (
    alignment_options(words_of="every side, for rep, drop and softdrop"),
    option(
        "-m", "--metrics", metavar="LIST", callback=parse_list("metric", METRICS), names=METRICS,
        help=f"Show these columns, such as bleu,rep or bleu rep; there are: {', '.join(METRICS)}.  "
        "[default: bleu,meteor,rep, drop with an aligner and softdrop with a model; meteor only "
        "for English; without --ref rep-peers,length-ratio, and omissions,additions with a model]",
    ),
    option(
        "--scores", metavar="NAME=FILE", multiple=True, callback=parse_score_files, is_eager=True,
        group="Metrics",
        help="Add a column with the segment scores in this file, with intervals and tests: CSV, "
        "JSON of comet-score, or .seg.score of the WMT metrics task, or a folder of these.",
    ),
    option(
        "--lower-is-better", metavar="LIST", callback=parse_list("score", ()), group="Metrics",
        help="Which --scores are better when lower: a list of names, separated by commas.",
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


@dataclass(frozen=True)
class TableOptions:
    """Tables beside the table of systems, or segments instead of it."""

    breakdown: list[str] | None = setting(  # noqa: RUF009
        None,
        f"Add these tables, separated by commas, of: all, {', '.join(BREAKDOWNS)}.",
        metavar="LIST",
        callback=parse_list("breakdown", ("all", *BREAKDOWNS)),
    )
    top: int = setting(
        DEFAULT_TOP, "List this many words, n-grams or segments in a breakdown.", least=1
    )
    ref_labels: str | None = file_setting(
        "For --breakdown word-labels: read a label of each word of the first reference, such as "
        "its part of speech, from this file."
    )
    sentence_level: bool = setting(
        False,
        "Print a row for each segment and system with all metrics. With -o FILE, the signatures of "
        "CSV and JSON Lines are in FILE.signatures.",
        group=GROUPS[0],
    )
    sort: str | None = setting(
        None,
        "With --sentence-level, print the --top segments that are worst by the first metric.",
        type=click.Choice(["worst"]),
    )
    show: bool = setting(
        False,
        "Print source, reference and output of the --top segments that are worst by the first "
        "metric, with repeated and dropped words in brackets.",
        group=GROUPS[0],
    )

    def check(self, options: ComparisonOptions, output: Output) -> None:
        """Refuse tables that cannot be made or printed, before any text is read.

        Raises:
            click.UsageError: The first thing that is wrong.
            DataError: A file is missing.
        """
        if self.sort and not self.sentence_level:
            raise click.UsageError("--sort goes with --sentence-level")
        if not self.breakdown:
            return
        if self.sentence_level or self.show:
            raise click.UsageError(
                "--sentence-level and --show print segments; leave --breakdown out"
            )
        output.require_several("--breakdown")
        check_source(options.frequencies or options.alignment.train_src, self.ref_labels)
        has_evidence = {metric_class(name).evidence_name for name in options.columns.names}
        for name in self.breakdown:
            item = BREAKDOWNS.get(name)
            if item and item.needs and item.needs not in has_evidence:
                able = [n for n in METRICS if metric_class(n).evidence_name == item.needs]
                raise click.UsageError(f"--breakdown {name} needs metric {' or '.join(able)}")
            if item and item.needs_source and options.alignment.src is None:
                raise click.UsageError(f"--breakdown {name} needs --src")
        if "word-labels" in self.breakdown and self.ref_labels is None:
            raise click.UsageError("--breakdown word-labels needs --ref-labels")

    def present(
        self, comparison: Comparison, result: Result, options: ComparisonOptions
    ) -> Printable:
        """The table of systems with its breakdowns, or the segments."""
        if self.sentence_level or self.show:
            worst = self.top if self.sort or self.show else None
            return present_comparison_segments(comparison, worst, texts=self.show)
        if not self.breakdown:
            return present_comparison(comparison)
        chosen = Options(
            self.top,
            options.count_frequencies(result),
            comparison.baseline,
            options.count_target_frequencies(result),
            None if self.ref_labels is None else read_word_labels(self.ref_labels),
        )
        names = None if "all" in self.breakdown else self.breakdown
        return present_comparison(comparison, break_down(result, names, chosen))


@dataclass(frozen=True)
class ComparisonFiles:
    """Files that a comparison writes beside its table."""

    details: str | None = output_file_setting(
        "Write all evidence to this file, one line per segment and system (JSON Lines)."
    )
    wmt: str | None = setting(
        None,
        "Write each metric's scores into this folder in the format of the WMT metrics task: "
        "NAME-REF.seg.score and NAME-REF.sys.score. Scores where lower is better are negated.",
        metavar="FOLDER",
        type=NoFile(),
    )
    plot: str | None = file_setting(
        "Draw the table as bars with intervals: .png, .svg or .pdf.", type=PictureFile()
    )
    plot_differences: str | None = file_setting(
        "Draw the differences from the baseline with their intervals: .png, .svg or .pdf.",
        type=PictureFile(),
    )

    def check(self) -> None:
        """Raise a usage error if the evidence would go to standard output."""
        if self.details == STDOUT:
            raise click.UsageError("--details writes a file: standard output has the table")

    def write(self, comparison: Comparison, references: Sequence[Text]) -> None:
        """Write the files that are named."""
        if self.wmt:
            undefined = write_wmt(comparison, self.wmt, [*map(wmt_reference, references)])
            if undefined:
                say(f"{self.wmt}: {undefined} undefined segment scores are written as 0", "note")
        for file, plot in (
            (self.plot, comparison.plot),
            (self.plot_differences, comparison.plot_differences),
        ):
            if file:
                from coverage_eval.plotting.canvas import figure_of

                save_figure(figure_of(plot()[0]), file)
        if self.details:
            with atomic_write(self.details) as written:
                write_details(comparison, written)


@dataclass(frozen=True)
class WorseGate:
    """What must not get worse."""

    guarded: dict[str, float] | None = setting(  # noqa: RUF009
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
        old=["--level"],
        type=FiniteRange(1 / MOST_RESAMPLES, 1, max_open=True),
    )

    def make(self, options: ComparisonOptions) -> Gate | None:
        """The gate, if one is asked for; a usage error for a gate that can never close."""
        if self.guarded is None:
            if "level" in given_options():
                raise click.UsageError("--p-value goes with --fail-if-worse")
            return None
        names = {*options.columns.names, *options.scores}
        if unknown := [name for name in self.guarded if name not in names]:
            raise click.UsageError(f"--fail-if-worse {unknown[0]}: it is not among the --metrics")
        others = len(options.systems) - 1
        if not others:
            raise click.UsageError("--fail-if-worse needs a system beside the baseline")
        least = least_resamples(others, self.level)
        if options.resamples < least:
            raise click.UsageError(
                f"--resamples {options.resamples} cannot show p < {self.level:g}: draw {least} or "
                "more"
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
@options_as("tables", TableOptions, click_options(TableOptions, group="Output"))
@options_as("files", ComparisonFiles, click_options(ComparisonFiles, group="Output"))
@options_as("worse_gate", WorseGate, click_options(WorseGate, group="Statistics"))
@output_options
def command(
    options: ComparisonOptions,
    tables: TableOptions,
    files: ComparisonFiles,
    worse_gate: WorseGate,
    output: Output,
) -> None:
    """Compare systems: scores, intervals and paired tests in one table.

    Each FILE is the output of a system, a text file with one segment per line ('-' reads standard
    input; .gz and .zst files are unpacked). NAME=FILE gives the system another name than its file.
    Texts may also be columns of a table: --from. The table has a row for each system and a column
    for each metric, like Table 1 of the paper.

    Without --ref, --src is needed. The table then has repetitions and lengths, and with a model
    omissions and additions. With three systems or more, the outputs of the others show what each
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
    result = options.measure(evidence=bool(tables.breakdown or files.details or tables.show))
    comparison = compare_result(result, baseline=options.baseline, testing=options.how)
    printable = tables.present(comparison, result, options)
    worse = _find_worse(comparison, gate) if gate else []
    if gate:
        data = printable.data | {"gate": gate_as_dict(gate, worse)}
        printable = replace(printable, data=data)
    printable = warn(printable, result.findings, result.unknown_words, strict=options.strict)
    files.write(comparison, options.ref)
    show(printable, output)  # once nothing can fail any more
    for item in worse:
        say(item.describe(comparison.baseline, output.width), "worse")
    if worse:
        click.get_current_context().exit(CLOSED)
