"""What to type instead: the answers to mistakes that people made."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from coverage_eval.core.errors import UnequalLinesError
    from coverage_eval.core.tables import TextTable

HINTS = {
    "--bootstrap": "The interval of one score: --confidence --resamples N",
    "--force": "It is not needed: files are replaced, and tokenised text is only warned of.",
    "--html": "A page is made by: coverage-eval report --ref REF FILE... -o PAGE.html",
    "--lowercase": "Words are aligned without regard to capitals; to lowercase a file: "
    r"sed 's/.*/\L&/' FILE > LOWER",
    "--paired-ar": "Systems are tested in pairs by: coverage-eval compare --ref REF FILE...",
    "--paired-bs": "Systems are tested in pairs by: coverage-eval compare --ref REF FILE...",
    "--plot": "The ending of -o says what is written: coverage-eval compare --ref REF FILE... -o "
    "PICTURE.svg",
    "--prepare-for": "It is for training: coverage-eval align train SRC TGT --prepare-for "
    "omissions -o MODEL",
    "--reference": "The option is -r, --ref.",
    "--resamples": "The interval of one score: --confidence --resamples N",
    "--seed": "It is 12345 in every run, as in sacreBLEU; functions of Python have seed=.",
    "--sort": "The worst segments: --worst N",
    "--false-alarms": "A segment is flagged if an error is more likely than not; every segment's "
    "probability: coverage-eval omissions HYP --src SRC --model MODEL --sentence-level",
    "--threshold": "Each segment's probability: coverage-eval omissions HYP --src SRC --model "
    "MODEL --sentence-level",
    "-t": "A tokeniser is --tokenize NAME. Texts are files; those of a test set are written by: "
    "sacrebleu -t wmt23 -l en-de --echo src > SRC (and --echo ref > REF)",
    "--tokenize": "METEOR has --norm. Elsewhere, words are those of the model: coverage-eval align "
    "train SRC TGT --tokenize 13a -o MODEL",
    "train": "coverage-eval align train SRC TGT -o MODEL",
    "-m": "A model is --model MODEL; columns are chosen by: coverage-eval compare -m bleu,rep "
    "--ref REF FILE...",
}
"""Options and commands that people type although there are none here, and what to type."""


def suggest(name: str, known: Iterable[str]) -> str:
    """``; did you mean …?``, to append to an error; empty if no known name is near."""
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), list(known), n=1, cutoff=0.66)
    return f"; did you mean {near[0]}?" if near else ""


def check_order(ctx: click.Context, files: Sequence[str], *, has_source: bool) -> None:
    """Refuse several references, or a file in the position of HYP that is called like a reference.

    sacreBLEU has the reference first, and a score of swapped files is plausible.

    Args:
        ctx: The command.
        files: The output and the references, as they were named without an option.
        has_source: Whether the command takes a source, and none is named.

    Raises:
        click.UsageError: The message has the line to type.
    """
    path, (first, second, *_) = ctx.command_path, files
    if len(files) > 2:
        *outputs, last = files
        references = " ".join(f"--ref {file}" for file in files[1:])
        one = f"Several references: {path} {first} {references}"
        if len(files) == 3 and has_source:
            one = f"If {last} is the source, type: {_line_with(ctx, last, '--src')}"
        raise click.UsageError(
            f"HYP and REF are two files, but there are {len(files)}. {one}. Several outputs: "
            f"coverage-eval compare --ref {last} {' '.join(outputs)}",
            ctx,
        )
    if _is_reference_name(Path(first).name) and not _is_reference_name(Path(second).name):
        raise click.UsageError(
            f"the order is HYP REF, but {first} is called like a reference. Type: {path} {second} "
            f"{first}. If {first} is the output: {path} --hyp {first} --ref {second}",
            ctx,
        )


_REFERENCE = re.compile(r"(^|[^a-z])(refs?|references?|gold)([^a-z]|$)")


def _is_reference_name(name: str) -> bool:
    """Whether a file is called like a reference, such as ``test.ref`` or ``refs``."""
    return bool(_REFERENCE.search(name.lower()))


def missing_text(ctx: click.Context, text: str, argument: str | None = None) -> click.UsageError:
    """The error for a text that is not named.

    Args:
        ctx: The command.
        text: The text, such as ``ref``.
        argument: Its name in the usage line, such as ``REF``; None if only an option names it.
    """
    if text == "ref":
        return click.UsageError(
            "the reference is missing: name it as REF or with --ref. Without one, "
            "'compare' finds repetitions, and 'omissions' what the output leaves out",
            ctx,
        )
    if argument is None:
        return click.MissingParameter(ctx=ctx, param_hint=f"'--{text}'", param_type="option")
    return click.MissingParameter(
        "Name a file, or - to read standard input.",
        ctx=ctx,
        param_hint=f"'{argument}'",
        param_type="argument",
    )


def columns_of_pairs(ctx: click.Context, table: TextTable) -> click.UsageError:
    """The error for one table instead of two texts, with the line that names both columns."""
    from coverage_eval.core.tables import column_for

    names = _texts_of(table.columns())
    first, second = [*names, *names][:2]
    columns = column_for("src", names) or first, column_for("tgt", names) or second
    line: list[str] = []
    for word in ctx.find_root().obj or sys.argv[1:]:
        is_table = word == str(table.path)
        line += [f"{word}:{column}" for column in columns] if is_table else [word]
    return click.UsageError(
        f"{table.path} is a table: name its columns of source and target. It has: "
        f"{', '.join(names)}. Type: {shlex.join(['coverage-eval', *line])}",
        ctx,
    )


def one_too_many(ctx: click.Context, file: str, flags: Sequence[str]) -> click.UsageError:
    """The error for a file behind those that have a position.

    Args:
        ctx: The command.
        file: The file.
        flags: The options that take such a text and are not given.
    """
    if len(flags) != 1:
        message = f"say what it is: {' or '.join(flags)}" if flags else "leave it out"
        return click.UsageError(f"{file} is one file too many; {message}", ctx)
    line = _line_with(ctx, file, flags[0])
    return click.UsageError(f"{file} is one file too many. If it is {flags[0]}, type: {line}", ctx)


def _line_with(ctx: click.Context, file: str, flag: str) -> str:
    """The line as it was typed, but with an option before a file that had none."""
    typed = ctx.find_root().obj or sys.argv[1:]
    line = [word for word in typed if word.rpartition("=")[2] != file]
    names = len(ctx.command_path.split()) - 1
    return shlex.join(["coverage-eval", *line[:names], flag, file, *line[names:]])


def texts_beside(table: TextTable) -> list[str]:
    """The options that name the reference in a table, or else the source; none if it has neither.

    Args:
        table: The table, which has the outputs.
    """
    from coverage_eval.core.tables import column_for

    names = table.names()
    for role in ("ref", "src"):
        if name := column_for(role, names):
            return [f"--{role}", f"{table.path}:{name}"]
    return []


def missing_reference(
    ctx: click.Context, systems: Mapping[str, object], named_by_position: Iterable[str]
) -> click.UsageError:
    """The error for a comparison with neither reference nor source.

    Args:
        ctx: The command.
        systems: The text of each system.
        named_by_position: The systems that are named without an option.
    """
    table = getattr(next(iter(systems.values())), "table", None)
    if table is not None and (texts := texts_beside(table)):
        return click.UsageError(
            f"--ref is missing, or --src to compare without a reference. Add: {shlex.join(texts)}",
            ctx,
        )
    if len(systems) < 2:
        return click.UsageError("--ref is missing, or --src to compare without a reference", ctx)
    # Beside systems that -i names, a file without an option is the reference, as in sacreBLEU.
    first = str(systems[next(iter(named_by_position), next(iter(systems)))])
    return click.UsageError(
        f"--ref is missing, or --src to compare without it. If {first} is the reference, "
        f"type: {_line_with(ctx, first, '--ref')}",
        ctx,
    )


def missing_column(
    ctx: click.Context, tables: Mapping[str, list[str]], flags: Mapping[str, str]
) -> click.UsageError:
    """The error for tables without a column: the columns of the first, and the line to type.

    Args:
        ctx: The command.
        tables: The parameters that name each table.
        flags: The parameter of each option that names a text.
    """
    from coverage_eval.core.tables import TextTable, column_for

    columns = {name: _texts_of(TextTable(name).names()) for name in tables}
    line = [*(ctx.find_root().obj or sys.argv[1:])]
    by_option = [flags.get(word) for word in ["", *line]]  # the parameter of the word before
    # Those that an option names first, since the others have what is left.
    for index, word in sorted(enumerate(line), key=lambda item: by_option[item[0]] is None):
        before, equals, name = word.rpartition("=")
        file, head = (word, "") if word in columns else (name, f"{before}{equals}")
        if file in columns and (left := tables[file]):
            parameter = by_option[index]
            role = left.pop(left.index(parameter) if parameter in left else 0)
            column = column_for("hyp" if role in {"systems", "peers"} else role, columns[file])
            line[index] = f"{head}{file}:{column or 'COLUMN'}"
    table, *_ = columns
    if "systems" in ctx.params and not (ctx.params["ref"] or ctx.params["src"]):
        line += texts_beside(TextTable(table))
    return click.UsageError(
        f"{table} is a table: name a column of it, as {table}:COLUMN. It has: "
        f"{', '.join(columns[table])}. Type: {shlex.join(['coverage-eval', *line])}",
        ctx,
    )


def _texts_of(columns: Sequence[str]) -> list[str]:
    """Those of some columns that may be texts: no object, and no list, of other columns."""
    objects = {name.rpartition(".")[0] for name in columns}
    return [name for name in columns if name not in objects]


def how_to_segment(
    error: UnequalLinesError,
    outputs: Iterable[object],
    references: Sequence[object],
    source: object | None,
    model: str | None,
) -> str:
    """What to type if an output has other lines than the source; empty if that cannot be known.

    Args:
        error: The number of lines of each text.
        outputs: The outputs of systems.
        references: The references.
        source: The source, if it is a file; it is of use with a model.
        model: The name of the model.
    """
    whole, by = source, ["--src", str(source), "--model", str(model)]
    if not (model and source):
        whole = next(iter(references), None)
        by = ["--ref", str(whole)]
    lines = error.counts.get(str(whole))  # None for columns and standard input
    for output in map(str, outputs):
        if lines is not None and error.counts.get(output, lines) != lines:
            path = Path(output)
            path = path.with_suffix("") if path.suffix in {".gz", ".zst"} else path
            cut = path.with_name(f"{path.stem}.lines{path.suffix}")
            command = shlex.join(["coverage-eval", "segment", output, *by, "-o", str(cut)])
            return (
                ". If sentences of a document were joined, cut or left out, add --unaligned, or "
                f"cut the output first: {command}"
            )
    return ""
