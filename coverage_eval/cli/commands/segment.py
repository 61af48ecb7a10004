"""``coverage-eval segment``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from coverage_eval.align.aligner import Aligner
from coverage_eval.cli.click_options import option
from coverage_eval.cli.command import Command
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import jobs_option
from coverage_eval.cli.output import echo_findings, print_lines
from coverage_eval.cli.output_options import output_to, strict_option
from coverage_eval.cli.parameters import InputFile, TextType
from coverage_eval.core.errors import Finding
from coverage_eval.core.files import Text
from coverage_eval.core.formats import render_lines
from coverage_eval.core.progress import progress_bar
from coverage_eval.core.report import Report, Table

if TYPE_CHECKING:
    from coverage_eval.documents.cut_documents import Document
    from coverage_eval.documents.segment import Segmenter
    from coverage_eval.documents.segmentation import Segmentation

COLUMNS = ("document", "line", "start", "end", "repeats", "text")


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
    type=click.Choice(["text", "tsv", "csv", "jsonl", "json"]),
    help="Print lines of text, or each piece of the output with document, line (from 1; none for "
    "text that was added), position of its characters (from 0), and the line it repeats.",
)  # fmt: skip
@output_to(
    "Write to this file: .tsv, .csv, .jsonl and .json have the pieces, .html is a page of source "
    "and output side by side, with gaps and brackets; others have lines of text.",
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
      coverage-eval segment out.txt --src src.txt --model model -o out.lines
      coverage-eval segment out.txt --src src.txt --model model -o pieces.tsv
      coverage-eval segment asr.txt --ref ref.txt -o asr.lines
      coverage-eval segment docs.jsonl:output --src docs.jsonl:source \\
        --model model
    """
    # They import SciPy, which help, and omissions of texts that are aligned, do not need.
    from coverage_eval.documents.cut_documents import read_documents, segment_documents
    from coverage_eval.documents.segmentation import summary

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
    lines_to_print: Iterable[str] = [_page(cuts)] if is_page else _lines(cuts, output_format)
    # In a window the lines would push the answer out of sight.
    is_shown = output is None and output_format == "text" and sys.stdout.isatty()
    if not is_shown:
        print_lines(lines_to_print, output, as_is=True)
    message = f"{summary(cuts)}{'; -o FILE writes the lines' * is_shown}"
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


def _page(cuts: Sequence[Segmentation]) -> str:
    """Source and output side by side."""
    from coverage_eval.comparison.report.page import ViewedDocument, render_documents

    title = f"{cuts[0].name}: what is missing" if len(cuts) == 1 else "What is missing"
    return render_documents([ViewedDocument.of(cut) for cut in cuts], title)


def _lines(cuts: Sequence[Segmentation], output_format: str) -> Iterator[str]:
    """Lines of text; or the pieces of the output, and in JSON what each document lacks."""
    if output_format == "text":
        return (line for cut in cuts for line in cut.lines)
    documents: list[dict[str, Any]] = []
    rows: list[tuple[Any, ...]] = []
    for cut in cuts:
        missing = [[passage.first, passage.last] for passage in cut.passages]
        documents.append({"document": cut.name, "score": 100 * cut.score, "missing": missing})
        rows += ((cut.name, *(row[name] for name in COLUMNS[1:])) for row in cut.rows())
    table = Table(COLUMNS, rows)
    report = Report((table,), {"documents": documents, "pieces": table})
    return render_lines(report, output_format, as_is=True)
