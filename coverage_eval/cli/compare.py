"""``coverage-eval compare``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from types import MappingProxyType
from typing import Any

import click

from coverage_eval.cli.alignment_options import AlignmentOptions, alignment_options
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import (
    WholeRange,
    given_options,
    jobs_option,
    listed_options,
    parse_list,
    parse_named_files,
    strict_option,
)
from coverage_eval.cli.output import Output, output_options, show
from coverage_eval.cli.overwriting import Command, OutputFile
from coverage_eval.cli.warnings import InputWatch, warn
from coverage_eval.comparison.breakdown import BREAKDOWNS, DEFAULT_TOP, Options, break_down
from coverage_eval.comparison.buckets import read_frequencies
from coverage_eval.comparison.details import write_details
from coverage_eval.comparison.presentation import present_comparison
from coverage_eval.comparison.systems import TestSet, count_systems
from coverage_eval.comparison.table import Comparison, Testing, compare_counted
from coverage_eval.metrics.aligned import AlignedMetric
from coverage_eval.metrics.base import Metric, TokenMetric
from coverage_eval.metrics.registry import METRICS, default_metrics, make_metric, metric_class
from coverage_eval.metrics.significance import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    MOST_RESAMPLES,
    TESTS,
)
from coverage_eval.report.pictures import checked_ending, save_figure
from coverage_eval.tables.table import Table
from coverage_eval.text.corpus import check_source
from coverage_eval.text.files import atomic_write
from coverage_eval.text.rows import read_rows
from coverage_eval.text.tokenizers import TOKENIZERS, Tokenizer

STDOUT = "-"


class _Columns:
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


class _Breakdowns:
    """The breakdowns asked for, checked before any file is read."""

    def __init__(
        self, asked: Sequence[str] | None, top: int, frequencies: str | None, columns: _Columns
    ) -> None:
        self._asked = [] if asked is None else asked
        self._top = top
        self._file = frequencies or columns.alignment.train_src
        if self._asked and self._file:
            check_source(self._file)
        has_evidence = {metric_class(name).evidence_name for name in columns.names}
        for name in self._asked:
            item = BREAKDOWNS.get(name)
            if item and item.needs and item.needs not in has_evidence:
                able = [n for n in METRICS if metric_class(n).evidence_name == item.needs]
                raise click.UsageError(f"--breakdown {name} needs metric {' or '.join(able)}")
            if item and item.needs_source and columns.alignment.src is None:
                raise click.UsageError(f"--breakdown {name} needs --src")

    def make(self, comparison: Comparison, tokens: Tokenizer) -> list[Table]:
        """The tables."""
        if not self._asked:
            return []
        names = None if "all" in self._asked else self._asked
        counts = read_frequencies(self._file, tokens) if self._file else None
        return break_down(comparison, names, Options(self._top, counts))


@click.command("compare", cls=Command)
@click.argument(
    "systems", nargs=-1, required=True, metavar="[NAME=]FILE...", callback=parse_named_files
)
@click.option(
    "--ref", required=True, multiple=True, metavar="FILE",
    help="Read the reference from this file; give it once for each of several references.",
)  # fmt: skip
@alignment_options(words_of="every side, for rep, drop and softdrop")
@click.option(
    "--metrics", metavar="LIST", callback=parse_list("metric", METRICS),
    help=f"Show these columns, separated by commas, of: {', '.join(METRICS)}.  "
    "[default: bleu,meteor,rep, and drop with an aligner; meteor only for English]",
)  # fmt: skip
@click.option("--baseline", metavar="NAME", help="Test against this one.  [default: the first]")
@click.option(
    "--test", default="randomization", show_default=True, type=click.Choice(TESTS),
    help="Test by approximate randomisation, or by sacreBLEU's paired bootstrap, which finds more "
    "differences than there are (some 10 % false ones at p < 0.05).",
)  # fmt: skip
@click.option(
    "--resamples", default=DEFAULT_RESAMPLES, show_default=True, type=WholeRange(0, MOST_RESAMPLES),
    help="Draw so many resamples for intervals and tests; 0 for neither.",
)  # fmt: skip
@click.option(
    "--seed", default=DEFAULT_SEED, show_default=True, type=WholeRange(0),
    help="Seed the resampling with this number.",
)  # fmt: skip
@click.option(
    "--breakdown", metavar="LIST", callback=parse_list("breakdown", ("all", *BREAKDOWNS)),
    help=f"Show these further tables, separated by commas, of: all, {', '.join(BREAKDOWNS)}.",
)  # fmt: skip
@click.option(
    "--top", default=DEFAULT_TOP, show_default=True, type=WholeRange(1),
    help="List so many words, n-grams or segments in a breakdown.",
)  # fmt: skip
@click.option(
    "--frequencies", metavar="FILE",
    help="Count source words in this text, for their frequency classes.  "
    "[default: --train-src, or else --src]",
)  # fmt: skip
@click.option(
    "--details", metavar="FILE", type=OutputFile(),
    help="Write all evidence there, one segment of one system a line (JSON Lines).",
)  # fmt: skip
@click.option(
    "--plot", metavar="FILE", type=OutputFile(),
    help="Draw the table as bars with intervals into a .png, .svg or .pdf file.",
)  # fmt: skip
@click.option(
    "--bleu-tokenize", default="13a", show_default=True, type=click.Choice(TOKENIZERS),
    help="Use this tokeniser of sacreBLEU for BLEU, which, like chrF and METEOR, reads untouched "
    "text.",
)  # fmt: skip
@click.option("--meteor-norm", is_flag=True, help="Let METEOR tokenise, normalise and lowercase.")
@jobs_option
@strict_option
@output_options
def command(
    systems: dict[str, str],
    ref: tuple[str, ...],
    alignment: AlignmentOptions,
    metrics: list[str] | None,
    baseline: str | None,
    test: str,
    resamples: int,
    seed: int,
    breakdown: list[str] | None,
    top: int,
    frequencies: str | None,
    details: str | None,
    plot: str | None,
    bleu_tokenize: str,
    meteor_norm: bool,
    jobs: int,
    strict: bool,
    output: Output,
) -> None:
    """Compare systems: scores, intervals and paired tests in one table.

    Each FILE is the output of a system, a text file with one segment a line ('-' reads standard
    input, .gz is unpacked); NAME=FILE names the system otherwise than its file. The table has a row
    for each system and a column for each metric, as Table 1 of the paper.

    \b
    Example:
      coverage-eval compare --ref ref.txt --src src.txt --model de-en.model a=a.txt b=b.txt
    """
    _check(systems, ref, alignment, baseline, details, plot, frequencies)
    if breakdown:
        output.require_several("--breakdown")
    columns = _Columns(
        metrics,
        alignment,
        {
            "bleu": {"tokenize": bleu_tokenize},
            "meteor": {"norm": meteor_norm},
        },
    )
    breakdowns = _Breakdowns(breakdown, top, frequencies, columns)
    alignment.check_files([*ref, *systems.values()])
    of_links = alignment.settings()
    watch = InputWatch(list(systems), ref, alignment.src)
    rows = list(watch.watch(read_rows(list(systems.values()), ref, alignment.src)))
    columns.leave_out_unfit(watch)
    aligner = alignment.make() if columns.need_aligner else None
    tokens = Tokenizer(alignment.tokenize or "none", alignment.lowercase)
    source_tokens = aligner.source_tokens if aligner else tokens
    texts = TestSet(tuple(systems), rows, tokens, source_tokens)
    counted = count_systems(
        texts, columns.make({"aligner": aligner, **of_links}), jobs=jobs, progress=True
    )
    comparison = compare_counted(counted, baseline=baseline, testing=Testing(test, resamples, seed))
    printout = present_comparison(comparison, breakdowns.make(comparison, source_tokens))
    shown = tokens if columns.of_words else None
    findings, figures = watch.check(shown, aligner, counted.metrics.values())
    show(warn(printout, findings, figures, strict=strict), output)
    if plot:
        from coverage_eval.plotting.canvas import figure_of

        save_figure(figure_of(comparison.plot()[0]), plot)
    if details:
        with atomic_write(details) as file:
            write_details(comparison, file)


def _check(
    systems: Mapping[str, str],
    ref: Sequence[str],
    alignment: AlignmentOptions,
    baseline: str | None,
    details: str | None,
    plot: str | None,
    frequencies: str | None,
) -> None:
    """Everything that is wrong with the command line before any file is read."""
    if details == STDOUT:
        raise click.UsageError("--details writes a file: standard output has the table")
    if plot:
        checked_ending(plot)
    if baseline is not None and baseline not in systems:
        listed = ", ".join(systems)
        raise click.UsageError(f"the baseline {baseline!r} is none of the systems {listed}")
    alignment.check([*ref, *systems.values(), *filter(None, [frequencies])])
    links = {
        ("--src-ref-align", "references"): (alignment.src_ref_align, ref),
        ("--src-hyp-align", "systems"): (alignment.src_hyp_align, systems),
    }
    for (option, what), (files, texts) in links.items():
        if files and len(files) != len(texts):
            raise click.UsageError(
                f"{option}: {len(files)} of them for {len(texts)} {what}; "
                "give it once for each, in their order"
            )
