"""``coverage-eval segment``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.cli.document_results import gate_documents
from coverage_eval.cli.help import option
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import (
    Command,
    NoFile,
    OutputFile,
    OutputFileOrFolder,
    Percentage,
    jobs_option,
)
from coverage_eval.cli.output import echo_findings, print_lines
from coverage_eval.data.documents import (
    BOUNDARIES,
    DocumentTexts,
    read_document_files,
    read_document_rows,
    read_documents,
)
from coverage_eval.data.files import write_lines
from coverage_eval.data.input_checks import Finding
from coverage_eval.data.tables import ColumnFile
from coverage_eval.data.tokenizers import TOKENIZERS
from coverage_eval.report.document_view import ViewedDocument, render_documents

if TYPE_CHECKING:
    from coverage_eval.alignment.cut_documents import CutDocument

COLUMNS = ("document", "line", "start", "end", "probability", "repeats", "text")


@click.command("segment", cls=Command)
@click.argument("outputs", nargs=-1, metavar="OUTPUT...")
@option(
    "-s", "--src", "sources", metavar="FILE", multiple=True,
    help="Read the source from this file, or folder; give it once for each OUTPUT.",
)  # fmt: skip
@option(
    "-r", "--ref", "references", metavar="FILE", multiple=True,
    help="In place of --src and --model: cut the output by the lines of this reference in the same "
    "language.",
)  # fmt: skip
@option("--model", metavar="FILE", help="Use the word probabilities of this model of align train.")
@option(
    "--documents", "boundaries", default="none", type=click.Choice(BOUNDARIES), group="Input",
    help="With blank, blank lines separate documents in both files; otherwise a file is one.",
)  # fmt: skip
@option(
    "--from", "table", metavar="FILE", group="Input",
    help="Read texts from columns of this file: TSV, CSV, JSON Lines or Parquet. Each row is a "
    "document, with line ends in its cells, unless there is --doc-col.",
)  # fmt: skip
@option("--src-col", metavar="NAME", type=NoFile(), group="Input",
        help="Read the source from this column.")  # fmt: skip
@option("--ref-col", metavar="NAME", type=NoFile(), group="Input",
        help="Read the reference from this column.")  # fmt: skip
@option("--hyp-col", metavar="NAME", type=NoFile(), group="Input",
        help="Read the output from this column.")  # fmt: skip
@option(
    "--doc-col", metavar="NAME", type=NoFile(), group="Input",
    help="This column names the document; each row is a line of its source.",
)  # fmt: skip
@option(
    "--tokenize", default="13a", type=click.Choice(TOKENIZERS),
    help="With --ref, apply this tokeniser of sacreBLEU to find words; a model has its own.",
)  # fmt: skip
@option(
    "-f", "--format", "form", default="text", type=click.Choice(("text", "tsv", "jsonl", "json")),
    help="Print in this format: lines of text only, or each piece of the output with document, "
    "line (from 1), position of its characters (from 0), probability, and the line it repeats.",
)  # fmt: skip
@option(
    "-o", "--output", metavar="FILE", type=OutputFileOrFolder("outputs"),
    help="Write to this file instead of standard output; if it is a folder, or ends in a slash, "
    "text is written to one file a document there.",
)  # fmt: skip
@option(
    "--extra", metavar="FILE", type=OutputFile(),
    help="Write the pieces that belong to no line to this file: JSON Lines if its name ends in "
    ".jsonl, else TSV.",
)  # fmt: skip
@option(
    "--html", "page", metavar="FILE", type=OutputFile(), group="Output",
    help="Write a page to read to this file: source and output side by side, gaps where lines are "
    "missing, brackets around text that was added.",
)  # fmt: skip
@option(
    "--fail-above", metavar="PERCENT", type=Percentage(0, 100), group="Output",
    help="End with exit status 3 if a document lacks more than this percentage of its source's "
    "words in whole lines, and name these documents.",
)  # fmt: skip
@option(
    "--keep", metavar="FILE", type=OutputFile(), group="Output",
    help="Write the documents that lack no more than --fail-above (by default nothing) to this "
    "file: JSON Lines with source, output, score and the missing lines.",
)  # fmt: skip
@option(
    "--reject", metavar="FILE", type=OutputFile(), group="Output",
    help="Write the other documents to this file.",
)  # fmt: skip
@jobs_option
@option("--strict", is_flag=True, group="Advanced", help="Turn warnings into errors.")
def command(
    outputs: tuple[str, ...],
    sources: tuple[str, ...],
    references: tuple[str, ...],
    model: str | None,
    boundaries: str,
    table: str | None,
    src_col: str | None,
    ref_col: str | None,
    hyp_col: str | None,
    doc_col: str | None,
    tokenize: str,
    form: str,
    output: str | None,
    extra: str | None,
    page: str | None,
    fail_above: float | None,
    keep: str | None,
    reject: str | None,
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
      coverage-eval segment out.txt --src src.txt --model de-en.model > out.lines
      coverage-eval segment out.txt --src src.txt --model de-en.model -f jsonl --extra more.tsv
      coverage-eval segment asr.txt --ref ref.txt > asr.lines
      coverage-eval segment out/ --src src/ --model de-en.model -o cut/
      coverage-eval segment --from docs.jsonl --src-col source --hyp-col output --model de-en.model
    """
    from coverage_eval.alignment.cut_documents import segment_documents
    from coverage_eval.alignment.segmentation import Segmenter, summary

    by_reference = bool(references or ref_col)
    _check(by_reference, bool(sources or src_col), model)
    one_a_file = output is not None and Path(output).is_dir()
    if one_a_file and (form != "text" or table):
        raise click.UsageError("a folder as -o is for documents in files, and -f text")
    documents = _documents(
        outputs, references or sources, boundaries, table, hyp_col, ref_col or src_col, doc_col
    )
    if by_reference:
        segmenter = Segmenter.of_references(tokenize)
    else:
        with Aligner.load(str(model)) as aligner:
            segmenter = Segmenter.of_model(aligner)
    found = list(segment_documents(documents, segmenter, jobs=jobs, progress=True))
    blank = [cut.document.name for cut in found if not cut.segmentation.output_words]
    findings = [Finding("empty-document", f"{name}: the output is empty") for name in blank]
    echo_findings(findings, strict=strict)
    if one_a_file:
        for cut in found:
            file = OutputFileOrFolder.file_in(str(output), cut.document.name)
            write_lines(file, cut.segmentation.lines)
    else:
        print_lines(_lines(found, form), output, as_is=True)
    more = [row for row in _rows(found) if row["line"] is None]
    if extra:
        shown = _jsonl(more) if extra.endswith(".jsonl") else _tsv(more)
        print_lines(shown, extra, as_is=True)
    if page:
        print_lines([_page(found)], page, as_is=True)
    said = summary([cut.segmentation for cut in found])
    hint = "; --extra FILE writes them" if more and not extra and form == "text" else ""
    say(f"{len(found)} documents, {said}{hint}" if len(found) > 1 else f"{said}{hint}")
    gate_documents(found, fail_above, keep, reject)


def _check(by_reference: bool, by_source: bool, model: str | None) -> None:
    """Refuse options that do not say what to cut by."""
    if by_reference == by_source:
        raise click.UsageError(
            "give --src FILE with --model FILE, or --ref FILE for a reference in the output's "
            "language"
        )
    if by_reference and model:
        raise click.UsageError("--ref needs no --model")
    if not (by_reference or model):
        raise click.UsageError("--src goes with --model FILE; 'align train' makes models")


def _page(found: Sequence[CutDocument]) -> str:
    """The documents as a page to read."""
    title = f"{found[0].document.name}: what is missing" if len(found) == 1 else "What is missing"
    return render_documents([ViewedDocument.of(cut) for cut in found], title)


def _documents(
    outputs: Sequence[str],
    sources: Sequence[str],
    boundaries: str,
    table: str | None,
    output_column: str | None,
    source_column: str | None,
    document_column: str | None,
) -> Iterator[DocumentTexts]:
    """The documents that the options name."""
    if table is None:
        if output_column or source_column or document_column:
            raise click.UsageError("--hyp-col, --src-col, --ref-col and --doc-col go with --from")
        if not outputs:
            raise click.MissingParameter(param_hint="'OUTPUT'", param_type="argument")
        if boundaries == "none" or len(outputs) > 1 or len(sources) > 1:
            if boundaries != "none":
                raise click.UsageError("--documents blank is for one OUTPUT and one source")
            return read_document_files(outputs, sources)
        return read_documents(outputs[0], sources[0], boundaries)
    if outputs or sources:
        raise click.UsageError("give the texts as files, or as columns with --from")
    if not (output_column and source_column):
        raise click.UsageError("--from needs --hyp-col, and --src-col or --ref-col")
    return read_document_rows(ColumnFile(table), output_column, source_column, document_column)


def _rows(found: Sequence[CutDocument]) -> Iterator[dict[str, Any]]:
    """The rows of ``Segmentation.rows``; lines count as in the source's file."""
    for cut in found:
        before = cut.document.first - 1
        for found_row in cut.segmentation.rows():
            row: dict[str, Any] = {"document": cut.document.name, **found_row}
            for name in ("line", "repeats"):
                row[name] = row[name] and row[name] + before
            yield {name: row[name] for name in COLUMNS}


def _lines(found: Sequence[CutDocument], form: str) -> Iterator[str]:
    if form == "text":
        return (line for cut in found for line in cut.segmentation.lines)
    if form == "tsv":
        return _tsv(_rows(found))
    if form == "jsonl":
        return _jsonl(_rows(found))
    rows = list(_rows(found))
    documents = [
        {
            "document": cut.document.name,
            "score": 100 * cut.segmentation.score,
            "missing": [[passage.first, passage.last] for passage in cut.passages],
        }
        for cut in found
    ]
    data = {"documents": documents, "pieces": rows}
    return iter(json.dumps(data, ensure_ascii=False, indent=1).split("\n"))


def _tsv(rows: Any) -> Iterator[str]:
    yield "\t".join(COLUMNS)
    for row in rows:
        cells = ("" if row[name] is None else row[name] for name in COLUMNS)
        yield "\t".join(
            f"{cell:.2f}" if isinstance(cell, float) else str(cell).replace("\t", " ")
            for cell in cells
        )


def _jsonl(rows: Any) -> Iterator[str]:
    return (json.dumps(row, ensure_ascii=False) for row in rows)
