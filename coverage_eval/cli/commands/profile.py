"""``coverage-eval profile``."""

from __future__ import annotations

from collections.abc import Sequence

import click
import numpy as np

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.cli.gate import SegmentGate, gate_options
from coverage_eval.cli.help import option, suggest
from coverage_eval.cli.link_options import AlignmentOptions, alignment_options
from coverage_eval.cli.options import (
    Command,
    FiniteRange,
    NoFile,
    PictureFile,
    ScoreOutput,
    jobs_option,
    refuse,
    scoring_options_without,
    strict_option,
)
from coverage_eval.cli.output import present_profile, present_profile_segments, show, warn
from coverage_eval.cli.text_options import corpus_options
from coverage_eval.comparison.evidence import find_metric
from coverage_eval.comparison.segment_texts import segment_lines
from coverage_eval.data.dataset import Dataset
from coverage_eval.data.documents import DocumentSettings
from coverage_eval.data.files import Text, source_name
from coverage_eval.metrics.evaluation import Evaluation
from coverage_eval.metrics.mark import PHRASES, WORDS
from coverage_eval.metrics.measure import Metric
from coverage_eval.metrics.profile import figures_of, profile_of
from coverage_eval.plotting.saving import save_figure


def _limits(
    context: click.Context, parameter: click.Parameter, values: Sequence[str]
) -> dict[str, float]:
    """A callback for ``FIGURE=X``: numbers by the names of figures."""
    found = {}
    for value in values:
        name, equals, number = value.partition("=")
        if not equals:
            raise click.BadParameter(f"{value!r} is not of the form FIGURE=X")
        found[name] = FiniteRange().convert(number, parameter, context)
    return found


_GATES = ("fail_above", "keep", "reject")


@click.command("profile", cls=Command)
@corpus_options("hyp", options=("ref",))
@option(
    "--above", metavar="FIGURE=X", multiple=True, type=NoFile(), callback=_limits, group="Output",
    goes_with=_GATES,
    help="For --fail-above, --keep and --reject: a segment has an error if this figure is above X, "
    "as in seq-rep-4=20; give it once for each figure.",
)  # fmt: skip
@option(
    "--below", metavar="FIGURE=X", multiple=True, type=NoFile(), callback=_limits, group="Output",
    goes_with=_GATES,
    help="A segment has an error if this figure is below X.",
)  # fmt: skip
@gate_options
@alignment_options(without={"coverage", "ref_coverage", "denominator"})
@jobs_option
@strict_option
@option(
    "--plot", metavar="FILE", type=PictureFile(), group="Output",
    help="Draw how the segments' values of each figure that varies are spread: .png, .svg or .pdf.",
)  # fmt: skip
@scoring_options_without("errors_only")
def command(
    hyp: Text,
    ref: tuple[Text, ...],
    alignment: AlignmentOptions,
    jobs: int,
    strict: bool,
    documents: DocumentSettings | None,
    plot: str | None,
    output: ScoreOutput,
    gate: SegmentGate,
    above: dict[str, float],
    below: dict[str, float],
) -> None:
    """Profile one output: repetition, length and coverage figures.

    HYP is a text file with one segment per line ('-' reads standard input; .gz and .zst files are
    unpacked), or a column of a table: --from. There are more figures with --src, with --ref, and
    with a model or links from any aligner. --sort worst and --show go by the first figure.

    \b
    Example:
      coverage-eval profile hyp.txt --src src.txt --ref ref.txt
    """
    refuse({
        "--src-hyp-align needs --src": alignment.src_hyp_align and not alignment.src,
        "--src-ref-align needs --ref and --src-hyp-align":
            alignment.src_ref_align and not (ref and alignment.src_hyp_align),
        "say what a bad segment is: --above or --below, such as --above seq-rep-4=20":
            gate.is_given and not (above or below),
    })  # fmt: skip
    alignment.check([hyp, *ref], needs_reference_links=False)
    alignment.check_files([hyp, *ref])
    gate.check(hyp, is_cut=documents is not None)
    words = {
        "tokenize": alignment.tokens.name,
        "lowercase": alignment.lowercase,
        "stopwords": alignment.settings()["stopwords"],
    }

    def make(aligner: Aligner | None, texts: Dataset) -> dict[str, Metric]:
        figures = figures_of(aligner, texts, **words)
        if unknown := [name for name in (*above, *below) if name not in figures]:
            raise click.UsageError(
                f"there is no figure {unknown[0]}{suggest(unknown[0], figures)} "
                f"(there are {', '.join(figures)})"
            )
        return figures

    evaluation = Evaluation(
        Dataset.of_files({source_name(hyp): hyp}, ref, alignment.src),
        alignment,
        make,
        jobs=jobs,
        evidence=output.show,
        progress=True,
        documents=documents,
    )
    result = evaluation.run()
    profile = profile_of(result, output.resamples, output.seed)
    shown = [name for what in (PHRASES, WORDS) if (name := find_metric(result, what))]
    printed = (
        present_profile_segments(
            profile, output, lambda index: list(segment_lines(result, shown, index))
        )
        if output.sentence_level
        else present_profile(profile)
    )
    show(warn(printed, result.findings, result.unknown_words, strict=strict), output)
    if plot:
        values = {item.figure.key: item.metric.formula(item.statistics) for item in profile.figures}
        varied = {key: v for key, v in values.items() if np.nanmin(v) < np.nanmax(v)}
        means = {i.figure.key: float(i.score) for i in profile.figures if i.score is not None}
        bounds = {key: [b[key] for b in (above, below) if key in b] for key in varied or values}
        from coverage_eval.plotting.strips import value_strips

        save_figure(value_strips(varied or values, means=means, limits=bounds), plot)
    if gate.is_given:
        limited = {name: result.segment_scores(name) for name in (*above, *below)}
        limits = [(below.get(name, -np.inf), above.get(name, np.inf)) for name in limited]
        reasons = [
            "; ".join(
                f"{name} {value:g}"
                for name, value, (low, high) in zip(limited, values, limits, strict=True)
                if value is not None and not low <= value <= high
            )
            for values in zip(*limited.values(), strict=True)
        ]
        gate.apply(evaluation.dataset, reasons, limited)
