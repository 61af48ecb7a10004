"""``coverage-eval omissions``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from coverage_eval.cli.gate import (
    SegmentGate,
    gate_documents,
    gate_options,
    rows_file,
    with_passages,
)
from coverage_eval.cli.help import option
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import (
    Command,
    Percentage,
    ScoreOutput,
    refuse,
    scoring_options,
    signature_option,
    strict_option,
)
from coverage_eval.cli.output import present_result, present_scores, show, warn
from coverage_eval.cli.texts import (
    OF_DROP,
    AlignmentOptions,
    alignment_options,
    corpus_options,
)
from coverage_eval.comparison.evidence import output_words
from coverage_eval.core.dataset import Dataset
from coverage_eval.core.files import Text, check_source, source_name
from coverage_eval.core.machine import progress_bar
from coverage_eval.core.measure import Result
from coverage_eval.core.show.table import Cell, Printable, Table
from coverage_eval.coverage.null_scores import DEFAULT_FALSE_ALARMS
from coverage_eval.coverage.omissions import Additions, Omissions
from coverage_eval.coverage.trust import gauge_trust
from coverage_eval.documents.settings import DocumentSettings
from coverage_eval.evaluation import Evaluation
from coverage_eval.outputs.named import reasons_of

WORST = 5
"""Segments that are shown without --worst."""


@click.command("omissions", cls=Command)
@corpus_options("hyp", options=("ref",))
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
@gate_options
@alignment_options(without={*OF_DROP, "ref_links", "links"})
@strict_option
@signature_option
@scoring_options
def omissions(
    hyp: Text,
    ref: tuple[Text, ...],
    peers: tuple[Text, ...],
    additions: bool,
    false_alarms: float,
    trust: bool,
    gate: SegmentGate,
    alignment: AlignmentOptions,
    strict: bool,
    signature: bool,
    output: ScoreOutput,
    documents: DocumentSettings | None,
) -> None:
    """Find source words that a hypothesis leaves out, or words that it adds.

    HYP is a file with one segment per line ('-' reads standard input; .gz and .zst files are
    unpacked), or a column of a table: out.jsonl:mt. The command prints how many segments are
    flagged, and the worst of them; outputs that translate nothing, such as copies and refusals,
    count. With
    --sentence-level it prints each segment's score and the spans of source words that are missing;
    positions count from 1, in JSON from 0. Lists of errors have other errors with a name, too.

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
    alignment.check()
    refuse({
        "omissions needs --model M, made by 'coverage-eval align train SRC TGT --prepare-for "
        "omissions -o M'; without parallel text, train on the source and the outputs themselves":
            alignment.model is None,
        "--additions compares HYP and source; leave out --ref": additions and ref,
    })  # fmt: skip
    check_source(hyp, *ref, *peers, alignment.src)
    gate.check(hyp, is_cut=documents is not None)
    share = false_alarms / 100

    aligner = alignment.make()
    assert aligner is not None
    metric = Additions(aligner, share) if additions else Omissions(aligner, share, bool(ref))
    name = metric.name
    with progress_bar("finding errors") as progress:
        evaluation = Evaluation(
            Dataset({source_name(hyp): hyp}, ref, alignment.src, peers),
            metrics=(),
            others={name: metric},
            named=True,
            documents=documents,
            progress=progress,
        )
        result = evaluation.run()
    error = "addition" if additions else "omission"
    (named,) = result.made["named errors"].values()
    flagged = result.statistics_of(name)[:, 0].astype(bool).tolist()
    reasons = reasons_of(named, flagged, error)
    found = result.made.get("documents", {}).get(source_name(hyp), ())
    if not output.by_segment:
        printed = _present_flags(result, flagged, reasons, output)
    elif documents:  # lines that were left out are no empty outputs
        printed = present_result(result, output, has_error=flagged)
    else:
        has_error = [*map(bool, reasons)]
        printed = present_result(result, output, has_error=has_error, reasons=reasons)
    if documents:
        printed = with_passages(printed, found, output)
    printed = warn(printed, result.findings, result.made.get("unknown words"), strict=strict)
    rows = None if documents else rows_file(hyp, output)
    if rows is None:
        show(printed, output, signed=signature)
    if trust:
        settled = result.metrics[name]
        assert isinstance(settled, Omissions)
        gauged = gauge_trust(settled, result.rows)
        say("; ".join(filter(None, [str(gauged), gauged.doubt])))
    if documents and gate.is_given:
        gate_documents(found, gate.fail_above, gate.keep, gate.reject, additions=additions)
    elif gate.is_given or rows:
        evidence = list(result.evidence_of(name))
        figures = {
            "score": [item.score for item in evidence],
            "probability": [item.probability for item in evidence],
        }
        chances = [item.detail["chance"][0] for item in evidence]
        gate.write(evaluation.dataset, reasons, figures, rows)
        gate.judge(flagged, named, chances, share, error)


def _present_flags(
    result: Result, flagged: Sequence[bool], reasons: Sequence[str], output: ScoreOutput
) -> Printable:
    """How many segments are flagged, and the strongest span of each of the worst."""
    ((name, metric),) = result.metrics.items()
    score = result.score(name, resamples=output.drawn)
    printed = present_scores([score])
    (scores,) = printed.tables
    strength = {
        i: value or 0.0 for i, value in enumerate(result.segment_scores(name)) if flagged[i]
    }
    worst = sorted(strength, key=lambda i: -strength[i])[:WORST]

    def row(index: int) -> tuple[Cell, ...]:
        marks = result.evidence(name)[index][0].marks
        words = marks[0].text if marks else reasons[index]
        said = " ".join(output_words(result, result.systems[0], index))
        return index + 1, _shortened(words, 36), _shortened(said, 30)

    within = (
        f", 95% interval {score.interval.low:.1f} to {score.interval.high:.1f}"
        if score.interval
        else ""
    )
    table = Table(
        ("segment", metric.kinds[0].one, "output"),
        [row(index) for index in worst],
        f"{sum(flagged)} of {len(flagged)} segments flagged ({score.score:.1f} %{within})",
        notes=("More of the worst: --worst 20. All segments: --sentence-level -o ALL.jsonl",)
        if worst
        else (),
        signatures=scores.signatures,
    )
    return replace(
        printed, tables=(table,), records=scores, numbers=[row[1] for row in scores.rows]
    )


def _shortened(text: str, width: int) -> str:
    """The beginning of a text, in so many columns of a terminal."""
    from rich.text import Text

    shown = Text(text)
    shown.truncate(width, overflow="ellipsis")
    return shown.plain
