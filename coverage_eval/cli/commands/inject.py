"""``coverage-eval inject``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import click

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.cli.link_options import single_options
from coverage_eval.cli.options import Command, options_as, refuse, strict_option
from coverage_eval.cli.output import echo_findings, print_lines
from coverage_eval.cli.text_options import corpus_options
from coverage_eval.data.dataset import Dataset
from coverage_eval.data.documents import BOUNDARIES, split_documents
from coverage_eval.data.files import (
    STDIN,
    Text,
    atomic_write,
    check_source,
    file_of,
    read_segments,
    source_name,
    write_lines,
)
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.metrics.text_checks import check_inputs
from coverage_eval.settings import file_setting, output_file_setting, setting
from coverage_eval.testbed.document_damage import DOCUMENT_KINDS, NOTES, damage
from coverage_eval.testbed.injection import (
    HIGHEST_RATE,
    KINDS,
    REPAIRS,
    Injection,
    clean_segments,
    whole_words,
)
from coverage_eval.testbed.word_pool import WordPool


@dataclass(frozen=True)
class InjectionOptions:
    """Which errors are put in, and where they are written."""

    links: str | None = file_setting(
        "Read links of source and HYP from this file, such as 0-0 1-2."
    )
    model: str | None = file_setting("Link them with this model, made by 'align train'.")
    kinds: tuple[str, ...] = setting(
        (),
        "Put in errors of this kind (see above). With several kinds, each segment gets one of "
        "them at random.",
        flag="--kind",
        multiple=True,
        required=True,
        choices=(*KINDS, *DOCUMENT_KINDS),
        metavar="KIND",
    )
    rate: float = setting(
        0.0,
        "Leave out, replace or add this share of the words of HYP: 0.02 is 2%.",
        required=True,
        min=0,
        max=HIGHEST_RATE,
    )
    repair: str = setting(
        "none",
        "Replace omitted words by as many function words (filler) or words of another segment "
        "(detached), so that the length does not show the error.",
        choices=REPAIRS,
    )
    pool: str | None = file_setting(
        "Take word frequencies and other segments from this text. Give the same pool for all "
        "parts of a text.  [default: HYP]"
    )
    seed: int = setting(0, "Seed of the random choices.", min=0)
    output: str | None = output_file_setting(
        "Write to this file instead of standard output.", flags=("-o", "--output")
    )
    gold: str = output_file_setting("Write one line of JSON per error to this file.", required=True)
    boundaries: str = setting(
        "none",
        "For kinds of documents: with blank, blank lines separate documents in HYP.",
        flag="--documents",
        choices=BOUNDARIES,
    )


@click.command("inject", cls=Command)
@corpus_options("hyp", options=("src",), needed=("hyp", "src"))
@options_as("options", InjectionOptions)
@single_options("fast_align", "threads")
@strict_option
def command(
    hyp: Text, src: Text, options: InjectionOptions, strict: bool, **of_aligner: Any
) -> None:
    """Put errors of a known kind and rate into correct translations.

    HYP and its source are text files with one segment per line, such as a reference and its source.
    The output is HYP with errors, tokenised as the model's text was. The gold file has for every
    error its kind, its span in the output, the source positions and the words removed; positions
    count from 0. A segment's errors depend only on the seed and its own text.

    \b
    Kinds:
      omission-word           single words are missing; also omission-content,
                              omission-function, omission-rare
      omission-phrase         runs of 3 words on average are missing
      early-stop              the end is missing
      repetition-word         words come twice in a row; also repetition-phrase
      repetition-distant      words come back later
      repetition-oscillating  words come again and again
      repetition-tail         the end is repeated at growing length
      untranslated            source words instead of their translation
      addition                words of another segment are added
      hallucination           another segment replaces this one

    Other kinds concern the lines of a document, so the output has other lines than HYP. With
    several of them, a document gets all; --rate is the share of lines for each. Their gold file has
    the source lines, from 1, and the characters of the output, from 0.

    \b
    Kinds for documents:
      passage            runs of 3 lines on average are missing
      repeat-paragraph   runs of 3 lines on average come twice
      preface            lines without a source are added
      reorder            neighbouring lines are exchanged
      merge, split       two lines are joined; a line is cut in two

    \b
    Example:
      coverage-eval inject ref --src src --kind omission-phrase --rate 0.02 -o bad --gold gold
    """
    kinds, links, model, pool = options.kinds, options.links, options.model, options.pool
    if wholes := [kind for kind in kinds if kind in DOCUMENT_KINDS]:
        if len(wholes) < len(kinds):
            raise click.UsageError(f"--kind {wholes[0]} goes with other kinds for documents only")
        check_source(hyp, src, pool)
        _damage(hyp, src, options)
        return
    refuse({
        "give only one of --links and --model": links and model,
        "--kind untranslated needs --links or --model":
            "untranslated" in kinds and not (links or model),
        "HYP is read twice, so it must be a file, or give --pool":
            pool is None and file_of(hyp) == STDIN,
    })  # fmt: skip
    check_source(hyp, src, links, pool)
    aligner: Aligner | None = None
    if model:
        aligner = Aligner.load(model, **of_aligner)
    elif links:
        aligner = Aligner.from_links([], links)
    dataset = Dataset.of_files({source_name(hyp): hyp}, [], src)
    tokens = whole_words(aligner.tokens) if aligner else Tokenizer()
    words = WordPool.of(map(tokens, read_segments(pool or hyp)))
    injection = Injection(kinds, options.rate, words, options.seed, options.repair)
    segments = clean_segments(dataset.rows(), aligner)

    with atomic_write(options.gold) as errors:

        def lines() -> Iterator[str]:
            for number, segment in enumerate(segments, start=1):
                spoilt = injection.spoil(segment, number)
                errors.writelines(f"{error.to_json()}\n" for error in spoilt.errors)
                yield " ".join(spoilt.words)
            findings, _ = check_inputs(dataset, tokens=tokens, aligner=aligner)
            echo_findings(findings, strict=strict)

        print_lines(lines(), options.output, as_is=True)


def _damage(hyp: Text, src: Text, options: InjectionOptions) -> None:
    """Put errors into documents."""
    rows = list(Dataset.of_files({source_name(hyp): hyp}, [], src).rows())
    lines = [str(row.hypotheses[0]) for row in rows]
    pool = options.pool
    notes = NOTES if pool is None else [line for line in read_segments(pool) if line.strip()]
    documents = [lines] if options.boundaries == "none" else split_documents(lines)
    damaged = []
    first = 1
    for number, document in enumerate(documents, start=1):
        damaged.append(
            damage(
                document, options.kinds, options.rate, seed=options.seed, number=number,
                first=first, notes=notes,
            )
        )  # fmt: skip
        first += len(document)
    errors = [error.to_json() for document in damaged for error in document.errors]
    write_lines(options.gold, errors)
    separated = [["", *document.lines] for document in damaged]
    print_lines([line for block in separated for line in block][1:], options.output, as_is=True)
