"""``coverage-eval omissions``."""

from __future__ import annotations

from operator import itemgetter

import click

from coverage_eval.cli.document_results import gate_documents, with_passages
from coverage_eval.cli.gate import OmissionGate, gate_options, rows_file
from coverage_eval.cli.help import option
from coverage_eval.cli.link_options import OF_LINKS, AlignmentOptions, alignment_options
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import (
    Command,
    ScoreOutput,
    false_alarms_option,
    refuse,
    scoring_options,
    strict_option,
)
from coverage_eval.cli.output import present_result, show, warn
from coverage_eval.cli.text_options import corpus_options
from coverage_eval.core.dataset import Dataset
from coverage_eval.core.files import Text, source_name
from coverage_eval.core.show.table import LazyRows
from coverage_eval.coverage.omissions import Additions, Omissions
from coverage_eval.coverage.trust import gauge_trust
from coverage_eval.documents.settings import DocumentSettings
from coverage_eval.evaluation import Evaluation
from coverage_eval.outputs.findings import reasons_of


@click.command("omissions", cls=Command)
@corpus_options("hyp", options=("ref",))
@option(
    "--peer", "peers", multiple=True, metavar="FILE",
    help="Rank segments by what this other system's output covers and HYP does not; give it once "
    "for each system. Three or more decide flags, too, without --ref.",
)  # fmt: skip
@option("--additions", is_flag=True, help="Find words of HYP that the source does not support.")
@false_alarms_option
@option(
    "--trust", is_flag=True, group="Output",
    help="Say how far the flags can be believed on this text: plant errors in some of its segments "
    "and count how many are found.",
)  # fmt: skip
@gate_options
@alignment_options(without=OF_LINKS)
@strict_option
@scoring_options
def command(
    hyp: Text,
    ref: tuple[Text, ...],
    peers: tuple[Text, ...],
    additions: bool,
    false_alarms: float,
    trust: bool,
    gate: OmissionGate,
    alignment: AlignmentOptions,
    strict: bool,
    output: ScoreOutput,
    documents: DocumentSettings | None,
) -> None:
    """Find source words that a hypothesis leaves out, or words that it adds.

    HYP is a file with one segment per line ('-' reads standard input; .gz and .zst files are
    unpacked), or a column of a table: out.jsonl:mt. The command prints the percentage of segments
    with an omission; outputs that translate nothing, such as copies and refusals, count. With
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
    texts = [hyp, *ref, *peers]
    alignment.check(texts)
    refuse({
        "omissions needs --model M, made by 'coverage-eval align train SRC TGT --prepare-for "
        "omissions -o M'; without parallel text, train on the source and the outputs themselves":
            alignment.model is None,
        "--additions compares HYP and source; leave out --ref": additions and ref,
    })  # fmt: skip
    alignment.check_files(texts)
    gate.check(hyp, is_cut=documents is not None)
    share = false_alarms / 100

    aligner = alignment.make()
    assert aligner is not None
    metric = Additions(aligner, share) if additions else Omissions(aligner, share, bool(ref))
    name = metric.name
    evaluation = Evaluation(
        Dataset({source_name(hyp): hyp}, ref, alignment.src, peers),
        metrics=(),
        others={name: metric},
        named=True,
        progress=True,
        documents=documents,
    )
    result = evaluation.run()
    (named,) = result.named.values()
    flagged = result.statistics_of(name)[:, 0].astype(bool).tolist()
    reasons = reasons_of(named, flagged, "addition" if additions else "omission")
    if documents:  # lines that were left out are no empty outputs
        printed = present_result(result, output, has_error=flagged)
    else:
        has_error = [*map(bool, reasons)]
        printed = present_result(result, output, has_error=has_error, reasons=reasons)
    if documents:
        printed = with_passages(printed, result.documents[source_name(hyp)], output)
    printed = warn(printed, result.findings, result.unknown_words, strict=strict)
    rows = None if documents else rows_file(hyp, output)
    if rows is None:
        show(printed, output)
    if additions:
        say(str(Additions.ranking), "note")
    evidence = LazyRows(itemgetter(0), result.evidence(name))
    figures = {
        "score": [item.score for item in evidence],
        "probability": [item.probability for item in evidence],
    }
    chances = [item.detail["chance"][0] for item in evidence]
    if trust:
        settled = result.metrics[name]
        assert isinstance(settled, Omissions)
        gauged = gauge_trust(settled, result.rows)
        say("; ".join(filter(None, [str(gauged), gauged.doubt])))
    if documents and gate.is_given:
        found = result.documents[source_name(hyp)]
        gate_documents(found, gate.fail_above, gate.keep, gate.reject, additions=additions)
    elif gate.is_given or rows:
        gate.write(evaluation.dataset, reasons, figures, rows)
        gate.judge(flagged, named, chances, share, "addition" if additions else "omission")
