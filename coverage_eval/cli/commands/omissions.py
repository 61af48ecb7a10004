"""``coverage-eval omissions``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from coverage_eval.align.aligner import AlignerSettings
from coverage_eval.cli import options
from coverage_eval.cli.commands.segment import gate_documents, with_passages
from coverage_eval.cli.help import Percentage, as_object, option
from coverage_eval.cli.kept_rows import SegmentGate, rows_file
from coverage_eval.cli.messages import say
from coverage_eval.cli.output import echo_findings, show, with_findings
from coverage_eval.cli.score_report import score_report, segment_report
from coverage_eval.comparison.evidence import output_words
from coverage_eval.core.batches import Texts
from coverage_eval.core.evaluation import Evaluation
from coverage_eval.core.machine import progress_bar
from coverage_eval.core.report import NUMBERS, PEOPLE, ROWS, Cell, Report, Table
from coverage_eval.core.result import Result
from coverage_eval.coverage.null_scores import DEFAULT_FALSE_ALARMS
from coverage_eval.coverage.omissions import Additions, FittedFlags, Omissions
from coverage_eval.coverage.trust import estimate_recall
from coverage_eval.documents.feature import Documents
from coverage_eval.outputs.named import NamedErrors, reasons_of

WORST = 5
"""Flagged segments that are shown without --worst."""


@click.command("omissions", cls=options.Command)
@options.text_options("hyp", options=("ref",))
@option(
    "--peer", "peers", multiple=True, metavar="FILE",
    help="Rank segments by what this other system's output covers and HYP does not; give it once "
    "for each system. Three or more decide flags, too, without --ref.",
)  # fmt: skip
@option("--additions", is_flag=True, help="Find words of HYP that the source does not support.")
@option(
    "--false-alarms", type=Percentage(0, 50, min_open=True), metavar="PERCENT",
    default=100 * DEFAULT_FALSE_ALARMS, show_default="4%",
    help="Flag a segment if no more than this percentage of complete translations of its length "
    "look as incomplete: more flags find more errors, and more false ones.",
)  # fmt: skip
@option(
    "--trust", is_flag=True, group="Output",
    help="Say how far the flags can be believed on this text: plant errors in some of its segments "
    "and count how many are found.",
)  # fmt: skip
@as_object("gate", SegmentGate, group="Output")
@options.alignment_options(without={*options.OF_DROP, "ref_links", "links"})
@options.signature_option
@options.scoring_options
def omissions(
    texts: Texts,
    documents: str | None,
    additions: bool,
    false_alarms: float,
    trust: bool,
    gate: SegmentGate,
    aligner: AlignerSettings,
    signature: bool,
    output: options.ScoreOutput,
) -> None:
    """Find source words that an output leaves out, or words that it adds.

    HYP is a file with one segment per line ('-' reads standard input; .gz and .zst files are
    unpacked), or a column of a table: out.jsonl:mt. The command prints how many segments are
    flagged, and the worst of them; outputs that translate nothing, such as copies and refusals,
    count. With --sentence-level it prints each segment's score and the spans of source words that
    are missing; positions count from 1, in JSON from 0. Lists of errors have other errors with a
    name, too.

    Use a model that was made by 'align train --prepare-for omissions'. Other models find few
    omissions unless there is a --ref or --peer. Outputs of other systems rank the segments better,
    and three make flags surer, but an omission that all of them share is not found.

    A segment is flagged if so few complete translations of its length have a span of missing words
    as strong (--false-alarms), and if its score is above that of three or more peers, if there are
    some and no --ref. The model learns this from its training text, and the text at hand
    adapts it: most outputs are taken to be complete. Free translation, another domain than the
    model's, and names left as they are look like omissions, too. The probability of an omission
    follows from this and from the share of flagged segments.

    With --unaligned, whole lines and passages that are missing come first, and --fail-above, --keep
    and --reject judge documents: by the percentage of the source's words in missing lines, or with
    --additions of the output's words that belong to no line.

    \b
    Example:
      coverage-eval omissions hyp.txt --src src.txt --model de-en.model --worst 10
      coverage-eval omissions hyp.txt --src src.txt --model de-en.model --peer a.txt --peer b.txt
      coverage-eval omissions hyp.txt --src src.txt --model de-en.model --fail-above 2
    """
    options.check_links(aligner, texts.source, {})
    options.refuse({
        "omissions needs --model M, made by 'coverage-eval align train SRC TGT --prepare-for "
        "omissions -o M'; without parallel text, train on the source and the outputs themselves":
            aligner.model is None,
        "--additions compares HYP and source; leave out --ref": additions and texts.references,
    })  # fmt: skip
    share = false_alarms / 100
    model = aligner.make()
    assert model is not None
    metric = Additions(model, share) if additions else Omissions(model, share)
    name, error = metric.name, metric.kinds[0].error
    with progress_bar("finding errors") as progress:
        features = options.document_features(documents, aligner)
        result = Evaluation(texts, {name: metric}, features).run(progress)
    found_errors = result.of(NamedErrors)
    assert found_errors is not None
    (named,) = found_errors.by_system.values()
    flagged = result.statistics_of(name)[:, 0].astype(bool).tolist()
    reasons = reasons_of(named, flagged, error)
    matched = result.of(Documents)
    cut = matched.by_output[result.systems[0]] if matched else ()
    if output.by_segment:
        report = segment_report(
            result,
            worst=output.worst,
            show_texts=not output.sentence_level,
            has_error=flagged if documents else [*map(bool, reasons)],
            # Lines that were left out are no empty outputs.
            reasons=None if documents else reasons,
        )
    else:
        report = _flag_report(result, flagged, reasons, output.drawn)
    if documents:
        report = with_passages(report, cut)
    echo_findings(result.findings, strict=output.strict)
    rows = None if documents else rows_file(texts, output)
    if rows is None:
        report = with_findings(report, result.findings, result.features)
        show(report, output, signatures=signature)
    if trust:
        fitted = result.fitted[name]
        assert isinstance(fitted, FittedFlags)
        gauged = estimate_recall(fitted.finder, result.rows)
        say("; ".join(filter(None, [str(gauged), gauged.doubt])))
    if documents and gate.is_given:
        gate_documents(cut, gate.fail_above, gate.keep, gate.reject, additions=additions)
    elif gate.is_given or rows:
        evidence = list(result.evidence_of(name))
        figures = {
            "score": [item.score for item in evidence],
            "probability": [item.probability for item in evidence],
        }
        chances = [item.detail["chance"][0] for item in evidence]
        gate.write(result.texts or texts, reasons, figures, rows)
        gate.judge(flagged, named, chances, share, error)


def _flag_report(
    result: Result, flagged: Sequence[bool], reasons: Sequence[str], resamples: int
) -> Report:
    """How many segments are flagged, and the strongest span of each of the worst."""
    ((name, metric),) = result.metrics.items()
    score = result.score(name, resamples=resamples)
    report = score_report([score])
    (scores,) = report.tables
    strength = {
        i: value or 0.0 for i, value in enumerate(result.segment_scores(name)) if flagged[i]
    }
    worst = sorted(strength, key=lambda i: -strength[i])[:WORST]

    def row(index: int) -> tuple[Cell, ...]:
        marks = result.evidence(name)[index][0].marks
        words = marks[0].text if marks else reasons[index]
        said = " ".join(output_words(result, result.systems[0], index))
        return index + 1, _shortened(words, 36), _shortened(said, 30)

    interval = score.interval
    within = f", 95% interval {interval.low:.1f} to {interval.high:.1f}" if interval else ""
    table = Table(
        ("segment", metric.kinds[0].one, "output"),
        [row(index) for index in worst],
        f"{sum(flagged)} of {len(flagged)} segments flagged ({score.score:.1f} %{within})",
        notes=("More of the worst: --worst 20. All segments: --sentence-level -o ALL.jsonl",)
        if worst
        else (),
        signatures=scores.signatures,
        formats=PEOPLE,
    )
    return replace(report, tables=(table, replace(scores, formats=ROWS | NUMBERS)))


def _shortened(text: str, width: int) -> str:
    """The beginning of a text, in so many columns of a terminal."""
    from rich.text import Text

    shown = Text(text)
    shown.truncate(width, overflow="ellipsis")
    return shown.plain
