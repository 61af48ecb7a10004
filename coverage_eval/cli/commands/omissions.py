"""``coverage-eval omissions``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from shutil import get_terminal_size

import click
import numpy as np

from coverage_eval.align.aligner import Aligner
from coverage_eval.checks.check import check
from coverage_eval.checks.model import unknown_words_of
from coverage_eval.cli.alignment_options import (
    check_links,
    check_unaligned,
    model_option,
    source_option,
)
from coverage_eval.cli.click_options import option
from coverage_eval.cli.command import Command
from coverage_eval.cli.document_report import gate_documents, with_passages
from coverage_eval.cli.kept_rows import kept_options, write_kept
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import signature_option
from coverage_eval.cli.output import (
    GATE_CLOSED_STATUS,
    echo_findings,
    refuse_fatal,
    show,
    warn,
    with_findings,
)
from coverage_eval.cli.output_options import ScoreOutputOptions, scoring_options
from coverage_eval.cli.parameters import Percentage, TextType
from coverage_eval.cli.score_report import score_report, segment_report, segment_table
from coverage_eval.cli.texts import texts
from coverage_eval.core.batches import Texts
from coverage_eval.core.counting import count
from coverage_eval.core.errors import Finding
from coverage_eval.core.files import Text
from coverage_eval.core.mark import Explanation
from coverage_eval.core.progress import progress_bar, split_progress
from coverage_eval.core.report import (
    HUMAN_FORMATS,
    NUMBER_FORMATS,
    ROW_FORMATS,
    Cell,
    Report,
    Table,
)
from coverage_eval.core.result import Result
from coverage_eval.core.tables import list_names
from coverage_eval.core.tokenizers import segment_text
from coverage_eval.coverage.null_scores import estimate_share
from coverage_eval.coverage.omissions import Additions, FittedFinder, Omissions
from coverage_eval.coverage.trust import estimate_recall
from coverage_eval.outputs.output_errors import find_output_errors, is_certain

WORST = 5
"""Flagged segments that are shown without --worst."""

WIDTHS = (36, 30)
"""Characters of marked words and of an output beside them, in 80 columns."""

_MORE = "More of the worst: --worst 20. All segments: --sentence-level -o ALL.jsonl"


_NEEDS_MODEL = (
    "omissions needs --model M, made by 'coverage-eval align train SRC TGT --prepare-for "
    "omissions -o M'; without parallel text, train on the source and the outputs themselves; "
    "--keep, --reject and --fail-above alone go by errors that need no model, such as empty or "
    "untranslated outputs"
)


@click.command("omissions", cls=Command)
@texts("hyp", options=("ref",), row_by_row=True)
@option(
    "--peer", "peers", multiple=True, metavar="FILE", type=TextType(),
    help="Rank segments by what this other system's output covers and HYP does not; give it once "
    "for each system.",
)  # fmt: skip
@option("--additions", is_flag=True, help="Find words of HYP that the source does not support.")
@option(
    "--trust", is_flag=True, group="Output",
    help="Say how far the flags can be believed on this text: plant errors in some of its segments "
    "and count how many are found.",
)  # fmt: skip
@kept_options
@option(
    "--fail-above", type=Percentage(0, 100), metavar="PERCENT", group="Output",
    help="End with exit status 3 if more than this percentage of segments can be expected to have "
    "an error, or certainly have one; and name them.",
)  # fmt: skip
@model_option
@source_option
@signature_option
@scoring_options
def omissions(
    *,
    hyp: Text,
    ref: Sequence[Text],
    src: Text | None,
    peers: Sequence[Text],
    model: str | None,
    unaligned: bool,
    additions: bool,
    trust: bool,
    keep: str | None,
    reject: str | None,
    fail_above: float | None,
    signature: bool,
    strict: bool,
    output: ScoreOutputOptions,
) -> None:
    """Find source words that an output leaves out, or words that it adds.

    HYP is a file with one segment per line ('-' reads standard input; .gz and .zst files are
    unpacked), or a column of a table: out.jsonl:mt. The command prints how many segments are
    flagged, the score and the worst segments. The score is the number of source words left
    uncovered beyond what complete translations leave, per 100 source words; an output that
    translates nothing, such as a copy or a refusal, leaves all its words uncovered. With
    --sentence-level it prints each segment's strength, which ranks segments, and the spans of
    source words that are missing, with numbers of words from 1; JSON has the characters of the line
    instead, from 0.

    A segment is flagged if an omission is more likely than not, or if it certainly has an error,
    such as being empty or untranslated. The probability follows from how few complete translations
    of its length have a span of missing words as strong, and from how often that happens in the
    text at hand. The model learns the first from its training text, and the text at hand adapts it:
    most outputs are taken to be complete. Free translation, another domain than the model's, and
    names left as they are look like omissions, too.

    Use a model that was made by 'align train --prepare-for omissions'. Other models find few
    omissions unless there is a --ref. Outputs of other systems rank the segments better, but an
    omission that all of them share is not found.

    Without --model, --keep, --reject and --fail-above go by certain errors alone, such as empty or
    untranslated outputs.

    With --unaligned, whole lines and passages that are missing come first, and --fail-above, --keep
    and --reject judge documents: by the percentage of the source's words in missing lines, or with
    --additions of the output's words that belong to no line.

    \b
    Example:
      coverage-eval omissions hyp.txt --src src.txt --model model --worst 10
      coverage-eval omissions hyp.txt --src src.txt --model model --peer a.txt \\
        --peer b.txt
      coverage-eval omissions hyp.txt --src src.txt --model model --fail-above 2
    """
    check_unaligned(unaligned=unaligned, ref=ref, src=src, model=model)
    check_links(src=src, model=model)
    if model is None:
        needs_model = unaligned or additions or trust or output.by_segment or src is None
        if needs_model or not (keep or reject or fail_above is not None):
            raise click.UsageError(_NEEDS_MODEL)
        test_set = Texts({hyp.name: hyp}, ref, src, peers)
        _judge_without_model(test_set, keep, reject, fail_above, strict=strict)
        return
    if additions and ref:
        raise click.UsageError("--additions compares HYP and source; leave out --ref")
    aligner = Aligner.load(model)
    metric = Additions(aligner) if additions else Omissions(aligner)
    with progress_bar("finding errors") as progress:
        cutting, finding = split_progress(progress, 1.0 * unaligned, 2.0)
        test_set = Texts({hyp.name: hyp}, ref, src, peers)
        known: list[Finding] = []
        if unaligned:
            from coverage_eval.documents.cut_documents import cut, document_findings

            test_set = cut(test_set, "none", aligner, progress=cutting)
            known += document_findings(test_set)
        # First, because they say what the work and its figures are worth.
        findings = check(test_set.sample, [metric], known=known)
        refuse_fatal(findings, strict=strict)
        warn(findings)
        result = count(
            test_set, {metric.presentation.name: metric}, keep_texts=True, progress=finding
        )
    evidence = list(result.explanations_of(metric.presentation.name))
    reasons = [item.detail["reason"] for item in evidence]
    report = _report(result, output, reasons)
    cuts = test_set.documents.get(result.systems[0], ())
    if cuts:
        report = with_passages(report, cuts)
    report = with_findings(report, findings, model=unknown_words_of(test_set.sample, aligner))
    show(report, output, signatures=signature)
    if trust:
        (fitted,) = result.fitted.values()
        assert isinstance(fitted, FittedFinder)
        found = estimate_recall(fitted.finder, result.rows)
        say(str(found) if found else "no segment is long enough to plant an error in it")
    if unaligned:
        gate_documents(cuts, fail_above, keep, reject, additions=additions)
        return
    if keep or reject:
        scores = [item.score for item in evidence]
        figures = {"score": scores, "probability": [item.probability for item in evidence]}
        write_kept(test_set, reasons, figures, keep=keep, reject=reject)
    if fail_above is not None:
        _close_gate(result, evidence, fail_above)


def _report(result: Result, output: ScoreOutputOptions, reasons: Sequence[str]) -> Report:
    """The segments if they were asked for, or how many are flagged."""
    if not output.by_segment:
        is_shown = output.output is None and sys.stdout.isatty()
        spare = get_terminal_size().columns - 80 if is_shown else 0
        return _flag_report(result, reasons, output.resamples, spare)
    (name,) = result.metrics
    return segment_report(
        result.score(name),
        segment_table(result),
        worst=output.worst,
        has_error=[*map(bool, reasons)],
        show_texts=not output.sentence_level,
        digits=output.digits,
    )


def _close_gate(result: Result, evidence: Sequence[Explanation], fail_above: float) -> None:
    """End the run if too many segments have an error.

    Args:
        result: The result of the evaluation.
        evidence: What was found in each segment.
        fail_above: The percentage of segments that may have an error.
    """
    (fitted,) = result.fitted.values()
    assert isinstance(fitted, FittedFinder)
    share = estimate_share(
        np.array([item.probability for item in evidence]),
        np.array([item.detail["is_certain"][0] for item in evidence]),
        fitted.finder.nulls[0],
        fail_above / 100,
    )
    bad = [number for number, item in enumerate(evidence, start=1) if item.detail["reason"]]
    listed = _count_kinds(evidence[number - 1].detail["reason"] for number in bad)
    message = (
        f"{len(bad)} of {len(evidence)} segments are flagged{f' ({listed})' if listed else ''}; "
        f"estimate of all with an error {100 * share.estimate:.1f}%, limit {fail_above:g}%"
    )
    if not share.is_above:
        is_unsure = share.estimate > fail_above / 100
        say(f"{message}; complete text can have as much" if is_unsure else message)
        return
    why = "the estimate is above the limit"
    if share.has_too_many_certain:
        why = f"{share.certain} of {len(evidence)} are certainly wrong"
        bad = [n for n, item in enumerate(evidence, start=1) if item.detail["is_certain"][0]]
    _fail(f"{message}; {why}", bad)


def _count_kinds(reasons: Iterable[str]) -> str:
    """How often each kind of error comes first among the reasons, such as ``2 empty, 1 loop``."""
    kinds = Counter(reason.partition(":")[0].partition(";")[0] for reason in reasons)
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items())


def _fail(message: str, bad: Sequence[int]) -> None:
    """End the run with the exit status of a closed gate.

    Args:
        message: Why it is closed.
        bad: The numbers of the segments to blame, from 1.
    """
    say(f"{message}: segments {list_names([*map(str, bad)])}" if bad else message, "failed")
    click.get_current_context().exit(GATE_CLOSED_STATUS)


def _judge_without_model(
    test_set: Texts, keep: str | None, reject: str | None, fail_above: float | None, *, strict: bool
) -> None:
    """Split the segments, or close the gate, by output errors that are no guesses.

    There is no probability, because other outputs may leave text out.
    """
    output_errors = find_output_errors(test_set)
    echo_findings(check(test_set.sample, output_errors=output_errors), strict=strict)
    (errors,) = output_errors.values()
    segments = test_set.sample.size
    certain = {n: found for n, found in errors.items() if is_certain(found)}
    reasons = ["; ".join(map(str, certain.get(n, ()))) for n in range(segments)]
    message = f"{len(certain)} of {segments} segments have an error that needs no model"
    if certain:
        message += f" ({_count_kinds(filter(None, reasons))})"
    message += "; without --model, no omissions are looked for"
    if keep or reject:
        write_kept(test_set, reasons, {}, keep=keep, reject=reject)
    if fail_above is not None:
        message += f"; limit {fail_above:g}%"
        if len(certain) > fail_above / 100 * segments:
            _fail(message, [index + 1 for index in certain])
    say(message)


def _flag_report(result: Result, reasons: Sequence[str], resamples: int, spare: int) -> Report:
    """How many segments are flagged, and the strongest span of the worst.

    Args:
        result: The result of the evaluation.
        reasons: Why each segment is flagged; empty for others.
        resamples: Number of resamples of the interval.
        spare: Columns beyond 80 that texts may have; negative for a narrower terminal.
    """
    ((name, metric),) = result.metrics.items()
    score = result.score(name, resamples=resamples)
    report = score_report([score])
    (scores,) = report.tables
    ranks = [value or 0.0 for value in result.segment_scores(name)]
    bad = [index for index, reason in enumerate(reasons) if reason]
    worst = sorted(bad, key=lambda index: -ranks[index])[:WORST]

    widths = [max(10, width + spare // 2) for width in WIDTHS]

    def row(index: int) -> tuple[Cell, ...]:
        marks = result.explanations(name)[index][0].marks
        words = marks[0].text if marks else reasons[index]
        written = segment_text(result.rows[index].hypotheses[0])
        return index + 1, _shortened(words, widths[0]), _shortened(written, widths[1])

    interval = score.interval
    between = f" (95% interval {interval.low:.2f} to {interval.high:.2f})" if interval else ""
    flags = Table(
        ("segment", metric.presentation.kinds[0].singular, "output") if worst else (),
        [row(index) for index in worst],
        f"{len(bad)} of {len(reasons)} segments are flagged; {score.metric} "
        f"{score.score:.2f}{between}: {result.fitted[name].footnote}",
        notes=(_MORE,) if worst else (),
        signatures=scores.signatures,
        formats=HUMAN_FORMATS,
    )
    return replace(report, tables=(flags, replace(scores, formats=ROW_FORMATS | NUMBER_FORMATS)))


def _shortened(text: str, width: int) -> str:
    """The beginning of a text, in so many columns of a terminal."""
    from rich.text import Text

    beginning = Text(text)
    beginning.truncate(width, overflow="ellipsis")
    return beginning.plain
