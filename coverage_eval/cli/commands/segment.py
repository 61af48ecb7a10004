"""``coverage-eval segment``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from coverage_eval.align.aligner import Aligner
from coverage_eval.cli.command import Command
from coverage_eval.cli.help import option
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import jobs_option, strict_option
from coverage_eval.cli.output import CLOSED, echo_findings, print_lines
from coverage_eval.cli.output_options import output_to
from coverage_eval.cli.parameters import InputFile, TextType
from coverage_eval.core.errors import Finding
from coverage_eval.core.files import Text
from coverage_eval.core.formats import json_line, render_lines
from coverage_eval.core.machine import progress_bar
from coverage_eval.core.report import PEOPLE, Report, Table

if TYPE_CHECKING:
    from coverage_eval.documents.cut_documents import Document
    from coverage_eval.documents.segment import Segmentation, Segmenter

COLUMNS = ("document", "line", "start", "end", "repeats", "text")

MAX_LISTED = 5
"""Documents that a closed gate names."""


@click.command("segment", cls=Command, endings=(".html",), any_ending=True)
@click.argument("hyp", metavar="OUTPUT", type=TextType())
@option("-s", "--src", metavar="FILE", type=TextType(), help="Read the source from this file.")
@option(
    "-r", "--ref", metavar="FILE", type=TextType(),
    help="In place of --src and --model: cut the output by the lines of this reference in the same "
    "language.",
)  # fmt: skip
@option(
    "--model", metavar="FILE", type=InputFile(),
    help="Use the word probabilities of this model of align train.",
)  # fmt: skip
@option(
    "-f", "--format", "output_format", default="text",
    type=click.Choice(["text", "tsv", "jsonl", "json"]),
    help="Print lines of text, or each piece of the output with document, line (from 1; none for "
    "text that was added), position of its characters (from 0), and the line it repeats.",
)  # fmt: skip
@output_to(
    "Write to this file: .tsv, .jsonl and .json have the pieces, .html is a page of source and "
    "output side by side, with gaps and brackets; others have lines of text.",
    required=False,
)
@jobs_option
@strict_option
def segment(
    hyp: Text,
    src: Text | None,
    ref: Text | None,
    model: str | None,
    output_format: str,
    output: str | None,
    jobs: int,
    strict: bool,
) -> None:
    """Cut an output by its source's lines, and find the lines that are missing.

    OUTPUT is the translation of a document, with any lines ('-' reads standard input; .gz and .zst
    files are unpacked). The command prints it with as many lines as the source has, so that other
    commands can score it: joined lines have a space between them, and a source line without
    translation gets an empty line. On standard error it says how many lines are missing, and how
    much of the output belongs to none, such as a preface or a repeated paragraph.

    The model needs to know the languages, not the text. What is no translation of the source is
    refused.

    \b
    Example:
      coverage-eval segment out.txt --src src.txt --model de-en.model -o out.lines
      coverage-eval segment out.txt --src src.txt --model de-en.model -o pieces.tsv
      coverage-eval segment asr.txt --ref ref.txt -o asr.lines
      coverage-eval segment docs.jsonl:output --src docs.jsonl:source --model de-en.model
    """
    # They import SciPy, which help, and omissions of texts that are aligned, do not need.
    from coverage_eval.documents.cut_documents import read_documents, segment_documents
    from coverage_eval.documents.segment import summary

    lines = ref or src
    if lines is None or (ref and src):
        raise click.UsageError(
            "give --src FILE with --model FILE, or --ref FILE for a reference in the output's "
            "language"
        )
    if ref and model:
        raise click.UsageError("--ref needs no --model")
    if src and not model:
        raise click.UsageError("--src goes with --model FILE; 'align train' makes models")
    documents = read_documents(hyp, lines)
    segmenter = _segmenter(documents, model)
    with progress_bar("cutting documents") as progress:
        cuts = segment_documents(documents, segmenter, jobs=jobs, progress=progress)
    blank = [cut.name for cut in cuts if not cut.output_words]
    findings = [Finding(f"{name}: the output is empty") for name in blank]
    echo_findings(findings, strict=strict)
    is_page = (output or "").lower().endswith(".html")
    shown: Iterable[str] = [_page(cuts)] if is_page else _lines(cuts, output_format)
    print_lines(shown, output, as_is=True)
    message = summary(cuts)
    hides_extra = output_format == "text" and not is_page and any(cut.extra for cut in cuts)
    hint = "; -f tsv shows them" if hides_extra else ""
    say(f"{len(cuts)} documents, {message}{hint}" if len(cuts) > 1 else f"{message}{hint}")


def _segmenter(documents: Sequence[Document], model: str | None) -> Segmenter:
    """What cuts documents: by a model, or else by the words of the lines themselves."""
    from coverage_eval.documents.segment import Segmenter

    if model is None:
        lines = (line for document in documents for line in document.source)
        return Segmenter.of_references(references=lines)
    with Aligner.load(model) as aligner:
        return Segmenter.of_model(aligner)


def _page(found: Sequence[Segmentation]) -> str:
    """Source and output side by side."""
    from coverage_eval.comparison.report.page import ViewedDocument, render_documents

    title = f"{found[0].name}: what is missing" if len(found) == 1 else "What is missing"
    return render_documents([ViewedDocument.of(cut) for cut in found], title)


def _rows(found: Sequence[Segmentation]) -> Iterator[dict[str, Any]]:
    """The rows of ``Segmentation.rows`` of all documents."""
    for cut in found:
        for row in cut.rows():
            yield {"document": cut.name, **{name: row[name] for name in COLUMNS[1:]}}


def _lines(found: Sequence[Segmentation], form: str) -> Iterator[str]:
    if form == "text":
        return (line for cut in found for line in cut.lines)
    rows = list(_rows(found))
    documents = [
        {
            "document": cut.name,
            "score": 100 * cut.score,
            "missing": [[passage.first, passage.last] for passage in cut.passages],
        }
        for cut in found
    ]
    table = Table(COLUMNS, [tuple(row.values()) for row in rows])
    report = Report((table,), {"documents": documents, "pieces": table})
    return render_lines(report, form, as_is=True)


def gate_documents(
    documents: Sequence[Segmentation],
    fail_above: float | None,
    keep: str | None,
    reject: str | None,
    *,
    additions: bool = False,
) -> None:
    """Write the documents that lack too much, and the others; then end the run if there are any.

    Args:
        documents: The documents.
        fail_above: The percentage of the source's words that may be in missing lines.
        keep: The file for good documents, as JSON Lines; None for none.
        reject: The file for the others.
        additions: Judge by the percentage of output words that belong to no line instead.
    """
    figure = "extra" if additions else "score"
    good: list[dict[str, Any]] = []
    bad: list[dict[str, Any]] = []
    for record in map(_record, documents):
        (bad if record[figure] > (fail_above or 0.0) else good).append(record)
    for file, records in ((keep, good), (reject, bad)):
        if file is not None:
            print_lines(map(json_line, records), file, as_is=True)
    if fail_above is not None and bad:
        names = [record["document"] for record in bad]
        listed = ", ".join(names[:MAX_LISTED]) + " …" * (len(bad) > MAX_LISTED)
        has = f"lack more than {fail_above:g}% of the source's words"
        if additions:
            has = f"have more than {fail_above:g}% of their words beside the source's lines"
        say(f"{len(bad)} of {len(documents)} documents {has}: {listed}", "failed")
        click.get_current_context().exit(CLOSED)


def _record(cut: Segmentation) -> dict[str, Any]:
    """A document for --keep and --reject."""
    return {
        **document_figures(cut),
        "missing": [passage._asdict() for passage in cut.passages],
        "source": "\n".join(cut.source),
        "output": cut.output,
    }


def document_figures(cut: Segmentation) -> dict[str, Any]:
    """A document's name, and its percentages of missing source words and of extra words."""
    return {
        "document": cut.name,
        "score": 100 * cut.score,
        "extra": 100 * cut.extra_share,
    }


def with_passages(report: Report, documents: Sequence[Segmentation]) -> Report:
    """Put missing lines, and text that belongs to none, before what people see of segments."""
    passages = [passage for cut in documents for passage in cut.passages]
    extra = [
        (cut.name, piece)
        for cut in documents
        for line in cut.line_matches()
        for piece in line.extra
    ]

    def place(document: str, where: object) -> str:
        return f"{document}, {where}" if len(documents) > 1 else str(where)

    lost = Table(
        ("missing", "lines", "words"),
        [(place(item.document, item), item.last - item.first + 1, item.words) for item in passages],
        "Lines without a translation" if passages else "No line is without a translation.",
        formats=PEOPLE,
    )
    more = Table(
        ("extra", "words", "text"),
        [(place(name, piece.place), piece.words, piece.text) for name, piece in extra],
        "Text that belongs to no line",
        formats=PEOPLE,
    )
    tables = (lost, more, *report.tables) if extra else (lost, *report.tables)
    return replace(report, tables=tables).with_values(
        passages=[passage._asdict() for passage in passages],
        additions=[{"document": name, **piece.to_dict()} for name, piece in extra],
        documents=[document_figures(cut) for cut in documents],
    )
