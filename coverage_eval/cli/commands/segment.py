"""``coverage-eval segment``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from coverage_eval.align.aligner import Aligner
from coverage_eval.cli.gate import gate_documents
from coverage_eval.cli.help import option
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import (
    Command,
    Percentage,
    jobs_option,
    options_as,
    refuse,
)
from coverage_eval.cli.output import echo_findings, print_lines
from coverage_eval.cli.texts import named_texts
from coverage_eval.comparison.report.document_view import ViewedDocument, render_documents
from coverage_eval.core.checks import Finding
from coverage_eval.core.machine import progress_bar
from coverage_eval.core.metric import (
    file_setting,
    output_file_setting,
    setting,
)
from coverage_eval.core.show.formats import render_lines
from coverage_eval.core.show.table import Printable, Table
from coverage_eval.core.tokenizers import TOKENIZERS
from coverage_eval.documents.settings import DocumentTexts, read_documents

if TYPE_CHECKING:
    from coverage_eval.documents.cut_documents import CutDocument

COLUMNS = ("document", "line", "start", "end", "probability", "repeats", "text")


@dataclass(frozen=True)
class SegmentOptions:
    """Documents, by what their outputs are cut, and what is written."""

    hyp: str
    src: str | None = file_setting("Read the source from this file.", flags=("-s", "--src"))
    ref: str | None = file_setting(
        "In place of --src and --model: cut the output by the lines of this reference in the same "
        "language.",
        flags=("-r", "--ref"),
    )
    model: str | None = file_setting("Use the word probabilities of this model of align train.")
    tokenize: str = setting(
        "13a",
        "With --ref, apply this tokeniser of sacreBLEU to find words; a model has its own.",
        choices=TOKENIZERS,
    )
    output_format: str = setting(
        "text",
        "Print lines of text, or each piece of the output with document, line (from 1; none for "
        "text that was added), position of its characters (from 0), probability, and the line it "
        "repeats.",
        flags=("-f", "--format"),
        choices=("text", "tsv", "jsonl", "json"),
    )
    output: str | None = output_file_setting(
        "Write to this file: .tsv, .jsonl and .json have the pieces, .html is a page of source and "
        "output side by side, with gaps and brackets; others have lines of text.",
        flags=("-o", "--output"),
    )
    fail_above: float | None = setting(
        None,
        "End with exit status 3 if a document lacks more than this percentage of its source's "
        "words in whole lines, and name these documents.",
        metavar="PERCENT",
        type=Percentage(0, 100),
        group="Output",
    )
    keep: str | None = output_file_setting(
        "Write the documents that lack no more than --fail-above (by default nothing) to this "
        "file: JSON Lines with source, output, score and the missing lines.",
        group="Output",
    )
    reject: str | None = output_file_setting(
        "Write the other documents to this file.", group="Output"
    )

    def check(self) -> None:
        """Raise a usage error for options that do not say what to cut, and by what."""
        refuse({
            "give --src FILE with --model FILE, or --ref FILE for a reference in the output's "
            "language": bool(self.ref) == bool(self.src),
            "--ref needs no --model": self.ref and self.model,
            "--src goes with --model FILE; 'align train' makes models":
                self.src and not self.model,
        })  # fmt: skip

    def read(self) -> Iterator[DocumentTexts]:
        """The documents."""
        texts = named_texts({"hyp": self.hyp, "src": self.src, "ref": self.ref})
        return read_documents(texts["hyp"], texts["ref"] or texts["src"])


@click.command("segment", cls=Command, endings=(".html",), any_ending=True)
@options_as("options", SegmentOptions, click.argument("hyp", metavar="OUTPUT"))
@jobs_option
@option("--strict", is_flag=True, group="Advanced", help="Turn warnings into errors.")
def segment(options: SegmentOptions, jobs: int, strict: bool) -> None:
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
    from coverage_eval.documents.cut_documents import segment_documents
    from coverage_eval.documents.segment import Segmenter, summary

    options.check()
    documents = list(options.read())
    if options.ref:
        lines = (line for document in documents for line in document.source)
        segmenter = Segmenter.of_references(options.tokenize, lines)
    else:
        with Aligner.load(str(options.model)) as aligner:
            segmenter = Segmenter.of_model(aligner)
    with progress_bar("cutting documents") as progress:
        found = list(segment_documents(documents, segmenter, jobs=jobs, progress=progress))
    blank = [cut.document.name for cut in found if not cut.segmentation.output_words]
    findings = [Finding("empty-document", f"{name}: the output is empty") for name in blank]
    echo_findings(findings, strict=strict)
    is_page = (options.output or "").lower().endswith(".html")
    shown: Iterable[str] = [_page(found)] if is_page else _lines(found, options.output_format)
    print_lines(shown, options.output, as_is=True)
    said = summary([cut.segmentation for cut in found])
    is_silent = options.output_format == "text" and not is_page
    has_more = is_silent and any(row["line"] is None for row in _rows(found))
    hint = "; -f tsv shows them" if has_more else ""
    say(f"{len(found)} documents, {said}{hint}" if len(found) > 1 else f"{said}{hint}")
    gate_documents(found, options.fail_above, options.keep, options.reject)


def _page(found: Sequence[CutDocument]) -> str:
    """Source and output side by side."""
    title = f"{found[0].document.name}: what is missing" if len(found) == 1 else "What is missing"
    return render_documents([ViewedDocument.of(cut) for cut in found], title)


def _rows(found: Sequence[CutDocument]) -> Iterator[dict[str, Any]]:
    """The rows of ``Segmentation.rows`` of all documents."""
    for cut in found:
        for row in cut.segmentation.rows():
            yield {"document": cut.document.name, **{name: row[name] for name in COLUMNS[1:]}}


def _lines(found: Sequence[CutDocument], form: str) -> Iterator[str]:
    if form == "text":
        return (line for cut in found for line in cut.segmentation.lines)
    rows = list(_rows(found))
    documents = [
        {
            "document": cut.document.name,
            "score": 100 * cut.segmentation.score,
            "missing": [[passage.first, passage.last] for passage in cut.passages],
        }
        for cut in found
    ]
    cells = [tuple(row.values()) for row in rows]
    pieces = Printable((Table(COLUMNS, cells),), data={"documents": documents, "pieces": rows})
    return render_lines(pieces, form)
