"""What several commands take: texts by their names, files that are written, options of scores."""

from __future__ import annotations

import os
import re
import shlex
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from coverage_eval.align.aligner import AlignerSettings
from coverage_eval.cli.help import (
    Decorator,
    HelpFormat,
    OutputFile,
    add_options,
    as_object,
    click_option,
    option,
)
from coverage_eval.core.batches import Texts
from coverage_eval.core.errors import CorpusWarning, DataError, UnequalLinesError
from coverage_eval.core.features import Feature
from coverage_eval.core.files import FileText, Text
from coverage_eval.core.formats import FORMATS
from coverage_eval.core.metric import Metric, output_file_setting, setting
from coverage_eval.core.report import ROWS
from coverage_eval.core.significance import DEFAULT_RESAMPLES, MAX_RESAMPLES
from coverage_eval.core.tables import TextTable, column_for
from coverage_eval.core.texts import check_stdin, is_table, open_text, split_name
from coverage_eval.core.writing import check_target, open_file_number

PACKED = (".gz", ".zst")
"""Endings of the names of archives, which are read but not written."""


class Command(HelpFormat):
    """A command that refuses to overwrite its input, or to read a pipe twice.

    Its files are checked here, before any work: every file that it writes is the value of an
    :class:`OutputFile`, or the :func:`signatures_file`.

    Args:
        *args: As for :class:`click.Command`.
        endings: Endings of ``--output`` beside those of its formats.
        any_ending: Whether it writes text to files with other endings.
        **attributes: As for :class:`click.Command`.
    """

    def __init__(
        self, *args: Any, endings: Sequence[str] = (), any_ending: bool = False, **attributes: Any
    ) -> None:
        super().__init__(*args, **attributes)
        self.endings, self.any_ending = endings, any_ending

    def invoke(self, ctx: click.Context) -> Any:
        """Check the names of files, then run."""
        try:
            self._infer_format(ctx)
        finally:  # the name of an input is the graver mistake
            _refuse_overwriting(ctx)
        try:
            check_stdin(map(FileText, _inputs(ctx)))
        except DataError as error:
            raise click.UsageError(str(error)) from None
        if ctx.params.get("strict"):
            ctx.with_resource(warnings.catch_warnings())
            warnings.simplefilter("error", CorpusWarning)
        return super().invoke(ctx)

    def _infer_format(self, context: click.Context) -> None:
        """Without ``--format``, ``-o table.tex`` is LaTeX.

        Raises:
            click.UsageError: An ending that the command does not write, or another ``--format``.
        """
        output = context.params.get("output") or ""
        ending, chosen = Path(output).suffix.lower(), context.params.get("output_format")
        kinds = (item.type for item in self.params if item.name == "output_format")
        choices = next((kind.choices for kind in kinds if isinstance(kind, click.Choice)), ())
        known = {end: form for end, form in _ENDINGS.items() if form in choices}
        if not ending or not (known or self.endings) or _is_device(output):
            return
        is_given = "output_format" in given_options()
        if ending in known and not (is_given and known[ending] != chosen):
            context.params["output_format"] = known[ending]
        elif is_given and (ending in known or ending in self.endings):
            raise click.UsageError(f"-o {output} is not -f {chosen}: leave -f out", context)
        elif not (self.any_ending or ending in self.endings):
            hint = "; a page is made by 'coverage-eval report'" if ending == ".html" else ""
            raise click.UsageError(
                f"-o {output}: the ending says what is written: "
                f"{', '.join([*known, *self.endings])}{hint}",
                context,
            )


_ENDINGS = {
    ".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".md": "markdown", ".tex": "latex",
    ".tsv": "tsv", ".txt": "text",
}  # fmt: skip
"""The formats that the ending of an output file stands for."""


class Group(HelpFormat, click.Group):
    """A group of such commands."""

    command_class = Command


def _refuse_overwriting(context: click.Context) -> None:
    """Raise a usage error if an output file is also an input, is named twice, or is packed."""
    read = {os.path.realpath(split_name(name)[0]) for name in _inputs(context)}
    written: dict[str, str] = {}
    for flag, name in _outputs(context):
        check_target(name)
        path = os.path.realpath(name)
        if not _is_device(path):  # several may write to a pipe or a device
            refuse({
                f"{flag} {name}: files are written unpacked; choose a name without it":
                    name.endswith(PACKED),
                f"{flag} {name} is one of the input files": path in read,
                f"{written.get(path)} and {flag} both write to {name}": path in written,
            })  # fmt: skip
            written[path] = flag


def _outputs(context: click.Context) -> Iterator[tuple[str, str]]:
    """Every file that the command writes, and the option that says so."""
    for parameter in context.command.params:
        name = context.params.get(parameter.name or "")
        if isinstance(parameter.type, OutputFile) and name not in {None, "-"}:
            yield parameter.opts[-1], name
    output, output_format = (context.params.get(name) for name in ("output", "output_format"))
    if beside := signatures_file(output, output_format):
        yield "the signatures, beside --output,", beside


def signatures_file(output: str | None, output_format: str | None) -> str | None:
    """The file for the signatures of tables that have no place for them.

    Args:
        output: The table's file; None or ``-`` for standard output, which has no such file.
        output_format: The table's format.
    """
    name = output or "-"
    # Nothing stands beside a pipe, /dev/null or /dev/stdout.
    is_stream = name == "-" or _is_device(name) or open_file_number(name) is not None
    return (
        None if is_stream or output_format not in {"csv", "jsonl", "tsv"} else f"{name}.signatures"
    )


def _is_device(name: str) -> bool:
    """Whether this is something else than a file, such as a pipe."""
    return os.path.exists(name) and not os.path.isfile(name)  # noqa: PTH110, PTH113


def _inputs(context: click.Context) -> Iterator[str]:
    """Every value on the command line that may name a file to read."""
    for parameter in context.command.params:
        if isinstance(parameter.type, (OutputFile, click.Choice)):
            continue
        value = context.params.get(parameter.name or "")
        if isinstance(value, dict):
            value = tuple(value.values())
        several = value if isinstance(value, tuple) else (value,)
        yield from (item for item in several if isinstance(item, str))


def given_options() -> set[str]:
    """Parameter names of the options that are on the command line."""
    context = click.get_current_context()
    source = click.core.ParameterSource.COMMANDLINE
    return {name for name in context.params if context.get_parameter_source(name) == source}


def refuse(mistakes: Mapping[str, object]) -> None:
    """Raise a usage error for the first mistake that was made.

    Args:
        mistakes: For each message, whether it applies.
    """
    for message, applies in mistakes.items():
        if applies:
            raise click.UsageError(message)


@dataclass(frozen=True)
class Output:
    """Where a command prints, and in which format."""

    output_format: str = setting(
        "text", "Print in this format.", flags=("-f", "--format"), choices=tuple(FORMATS)
    )
    digits: int = setting(
        2, "Print this many decimals.", flags=("-w", "--digits"), min=0, max=15, group="Output"
    )
    score_only: bool = setting(
        False, "Print only the numbers, one per line.", flags=("-b", "--score-only"), group="Output"
    )
    output: str | None = output_file_setting(
        "Write to this file; its ending says the format: .json, .jsonl, .csv, .tsv, .tex, .md.",
        flags=("-o", "--output"),
    )

    def require_several(self, what: str) -> None:
        """Raise a usage error for a format that holds one table, before any work.

        Args:
            what: The option or command that makes several tables.
        """
        if self.output_format in ROWS:
            name = self.output_format.upper()
            raise click.UsageError(f"{what} makes several tables, but {name} is one: use -f json")


@dataclass(frozen=True)
class ScoreOutput(Output):
    """Where and how a command prints a score."""

    sentence_level: bool = setting(False, "Print one score per segment, with evidence.")
    worst: int | None = setting(
        None,
        "Print this many of the worst segments: their texts with the errors in brackets, or rows "
        "with --sentence-level.",
        min=1,
    )
    confidence: bool = setting(False, "Add a 95% bootstrap interval.")
    resamples: int = setting(
        DEFAULT_RESAMPLES,
        "Number of resamples for --confidence.",
        min=1,
        max=MAX_RESAMPLES,
        group="Output",
    )
    strict: bool = setting(False, "Turn warnings into errors.", group="Advanced")

    def __post_init__(self) -> None:
        if self.confidence and self.by_segment:
            flag = "--sentence-level" if self.sentence_level else "--worst"
            raise click.UsageError(f"--confidence is for the corpus score; leave {flag} out")
        if not self.confidence and self.resamples != DEFAULT_RESAMPLES:
            raise click.UsageError("--resamples goes with --confidence")

    @property
    def by_segment(self) -> bool:
        """Whether segments are printed instead of a corpus score."""
        return self.sentence_level or self.worst is not None

    @property
    def drawn(self) -> int:
        """Number of bootstrap resamples; 0 for no interval."""
        return self.resamples if self.confidence else 0


output_options = as_object("output", Output)
"""Adds ``-f``, ``-w``, ``-b`` and ``-o``; the command receives them as one ``output``."""

scoring_options = as_object("output", ScoreOutput)
"""Adds these and the options of a score; the command receives them as one ``output``."""


def output_to(help_text: str, *, required: bool = True) -> Decorator:
    """The option for the only file that a command writes."""
    return option(
        "-o", "--output", metavar="FILE", type=OutputFile(), required=required, help=help_text
    )


output_option = output_to("Write to this file instead of standard output.", required=False)

signature_option = option(
    "--signature", is_flag=True, group="Output",
    help="Print signatures, too: they list every setting that affects a score. Files and JSON "
    "always have them.",
)  # fmt: skip

jobs_option = option(
    "-j", "--jobs", default=1, type=click.IntRange(1, 1024), group="Advanced",
    help="Number of processes; the result does not depend on it.",
)  # fmt: skip


strict_option = click_option(ScoreOutput.__dataclass_fields__["strict"])


def parse_named_files(
    _: click.Context, __: click.Parameter, values: Sequence[str]
) -> dict[str, str]:
    """A callback for ``NAME=TEXT`` or ``TEXT``: texts by name, which may be the file's own.

    A column of a table gives its own name.
    """
    files: dict[str, str] = {}
    for value in values:
        name, equals, path = value.partition("=")
        if not equals or os.path.isfile(value):  # noqa: PTH113 (a name may be too long for a file)
            name, path = split_name(value)[1] or Path(value).name, value
        if not (name and path):
            raise click.BadParameter(f"{value!r} is neither a file nor of the form NAME=FILE")
        if name in files:
            raise click.BadParameter(f"the name {name!r} is given twice; give names: NAME=FILE")
        files[name] = path
    return files


_SIDES = {
    "hyp": option("-i", "--hyp", multiple=True, metavar="TEXT", help="The output."),
    "systems": option(
        "-i", "--hyp", "systems", multiple=True, metavar="[NAME=]TEXT", callback=parse_named_files,
        help="A system's output.",
    ),
    "src": option("-s", "--src", metavar="TEXT", help="The source."),
    "tgt": option("--tgt", metavar="TEXT", help="The target text."),
    "ref": option(
        "-r", "--ref", multiple=True, metavar="TEXT",
        help="The reference; give it once for each of several references.",
    ),
}  # fmt: skip
"""The options of texts by the parameters that receive them."""

_SHOWN = {side: side.upper() for side in _SIDES} | {"systems": "[NAME=]TEXT..."}
"""Their names in the usage line."""

_SEVERAL = {"hyp", "systems", "ref"}
"""Those that are sequences or mappings."""

_TEXTS = (*_SIDES, "peers", "scores", "links", "ref_links")
"""All parameters that are names of texts."""


def text_options(*positional: str, options: Sequence[str] = ()) -> Decorator:
    """Add a command's texts, which are named by position or by option.

    The command receives them as one ``texts``, a :class:`Texts`, and ``documents`` if it has
    references: the tokeniser of outputs of other lines, or None. Put this above all options that
    make or read these parameters.

    Args:
        *positional: The texts that may be named without an option, in their order: ``hyp``,
            ``systems``, ``src``, ``tgt``, ``ref``. They must be there.
        options: The texts that only an option names. They must be there, too, but for references.
            The source that ``alignment_options`` adds is not among them.
    """
    cuts = "ref" in {*positional, *options}

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_texts(files: Any, **values: Any) -> Any:
            if len(outputs := values.get("hyp", ())) > 1:
                listed = ", ".join(outputs)
                raise click.UsageError(
                    f"one output is scored, but there are {listed}: 'compare' takes several"
                )
            _assign_files(files, positional, values)
            for side in (*positional, *options):
                if not values[side] and (side in positional or side != "ref"):
                    raise _missing(side, positional)
            values |= named_texts({name: values[name] for name in _TEXTS if name in values})
            if cuts:
                values["documents"] = _document_tokenizer(values)
            outputs = {output.name: output for output in values.pop("hyp", ())}
            targets = (values.pop("tgt"),) if "tgt" in values else ()
            given = Texts(
                values.pop("systems", outputs), values.pop("ref", targets),
                values.pop("src", None), values.pop("peers", ()),
            )  # fmt: skip
            try:
                return command(texts=given, **values)
            except UnequalLinesError as error:
                is_cut = not cuts or values["documents"]
                hint = "" if is_cut else _how_to_segment(error, given, values.get("model"))
                raise DataError(f"{error}{hint}") from error

        named = parse_named_files if "systems" in positional else None
        shown = " ".join(map(_SHOWN.__getitem__, positional))
        added = [
            click.argument("files", nargs=-1, metavar=shown, callback=named),
            *(add_side for side, add_side in _SIDES.items() if side in {*positional, *options}),
            *([_unaligned_option] if cuts else []),
        ]
        return add_options(with_texts, added)

    return add


def named_texts(named: Mapping[str, Any]) -> dict[str, Any]:
    """The texts of each parameter, by their names; columns of one table are read together.

    Raises:
        click.UsageError: A table without a column.
        DataError: As :func:`~coverage_eval.core.tables.find_text`.
    """
    parameters: defaultdict[str, list[str]] = defaultdict(list)
    for parameter, value in named.items():
        names = value.values() if isinstance(value, Mapping) else value or ()
        for name in [names] if isinstance(names, str) else names:
            parameters[name].append(parameter)
    # Tables of scores have columns that are found by their names.
    whole = [name for name in parameters if is_table(name) and parameters[name] != ["scores"]]
    if whole:
        raise _without_column({name: TextTable(name).names() for name in whole}, parameters)
    tables: dict[str, TextTable] = {}

    def texts(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {label: open_text(name, tables) for label, name in value.items()}
        if isinstance(value, tuple):
            return tuple(open_text(name, tables) for name in value)
        return None if value is None else open_text(value, tables)

    return {parameter: texts(value) for parameter, value in named.items()}


def _without_column(
    columns: Mapping[str, Sequence[str]], parameters: Mapping[str, list[str]]
) -> click.UsageError:
    """The error for tables without a column: the columns of the first, and the line to type.

    Args:
        columns: The names of each table's columns.
        parameters: The parameters that each file is given for.
    """
    context = click.get_current_context()
    texts = [item for item in context.command.params if item.name in _TEXTS]
    flags = {flag: item.name for item in texts for flag in item.opts}
    line = [*(context.find_root().obj or sys.argv[1:])]
    given_for = [flags.get(word) for word in ["", *line]]
    # Those that an option names first, since the others have what is left.
    for index, word in sorted(enumerate(line), key=lambda item: given_for[item[0]] is None):
        before, equals, name = word.rpartition("=")
        file, head = (word, "") if word in columns else (name, f"{before}{equals}")
        if file in columns and (left := parameters[file]):
            named = given_for[index]
            role = left.pop(left.index(named) if named in left else 0)
            column = column_for("hyp" if role in {"systems", "peers"} else role, columns[file])
            line[index] = f"{head}{file}:{column or 'COLUMN'}"
    table, *_ = columns
    return click.UsageError(
        f"{table} is a table: name a column of it, as {table}:COLUMN. It has: "
        f"{', '.join(columns[table])}. Type: {shlex.join(['coverage-eval', *line])}"
    )


def _assign_files(files: Any, positional: Sequence[str], values: dict[str, Any]) -> None:
    """Give the files that are named without an option to the texts that are still missing.

    Raises:
        click.UsageError: There are more files than texts, or it is not clear what they are.
    """
    if "systems" in positional:
        if twice := values["systems"].keys() & files.keys():
            raise click.UsageError(f"the name {min(twice)!r} is given twice; give names: NAME=FILE")
        values["systems"] = {**values["systems"], **files}
        return
    left = list(files)
    for side in positional:
        if left and not values[side]:
            taken = left if side == "ref" else left[:1]
            values[side] = tuple(taken) if side in _SEVERAL else taken[0]
            left = left[len(taken) :]
    path = click.get_current_context().command_path
    if "ref" in positional and len(files) > 1 and files == (*values["hyp"], *values["ref"]):
        _ask_about_order(path, files, has_source="src" in values)
    if left:
        flags = " or ".join(f"--{side}" for side in ("ref", "src") if side in values)
        raise click.UsageError(f"{left[0]} is one file too many; say what it is: {flags}")


_REFERENCE = re.compile(r"(^|[^a-z])(refs?|references?|gold)([^a-z]|$)")


def _ask_about_order(path: str, files: Sequence[str], *, has_source: bool) -> None:
    """Refuse several references, or a file in the place of HYP that is called like a reference.

    sacreBLEU has the reference first, and a score of swapped files is plausible.
    """
    first, second, *_ = files
    if len(files) > 2:
        *outputs, last = files
        references = " ".join(f"--ref {file}" for file in files[1:])
        source = f" The source: --src {last}." if len(files) == 3 and has_source else ""
        raise click.UsageError(
            f"HYP and REF are two files, but there are {len(files)}.{source} Several references: "
            f"{path} {first} {references}. Several outputs: coverage-eval compare --ref {last} "
            f"{' '.join(outputs)}"
        )
    if [_is_reference_name(Path(file).name) for file in files] == [True, False]:
        raise click.UsageError(
            f"the order is HYP REF, but {first} is called like a reference. Type: {path} {second} "
            f"{first}. If {first} is the output: {path} --hyp {first} --ref {second}"
        )


def _is_reference_name(name: str) -> bool:
    """Whether a file is called like a reference, such as ``test.ref`` or ``refs``."""
    return bool(_REFERENCE.search(name.lower()))


def _missing(side: str, positional: Sequence[str]) -> click.UsageError:
    """The error for a text that is not named."""
    if side == "ref":
        return click.UsageError(
            "the reference is missing: name it as REF or with --ref. Without one, "
            "'compare' finds repetitions, and 'omissions' what the output leaves out"
        )
    if side in positional:
        return click.MissingParameter(param_hint=f"'{_SHOWN[side]}'", param_type="argument")
    return click.MissingParameter(param_hint=f"'--{side}'", param_type="option")


_unaligned_option = option(
    "--unaligned", is_flag=True, group="Input",
    help="The lines of the outputs do not match: first cut each by the lines of the source with "
    "--model, or of the reference, as 'segment' does. A file is one document, and so is each row "
    "of a table.",
)  # fmt: skip


def _document_tokenizer(values: dict[str, Any]) -> str | None:
    """Take --unaligned from a command's values: what finds words, or None if lines match."""
    if not values.pop("unaligned"):
        return None
    if not (values["ref"] or (values.get("model") and values.get("src"))):
        raise click.UsageError("--unaligned needs --src with --model M, or --ref")
    return values.get("tokenize") or "none"


def _how_to_segment(error: UnequalLinesError, texts: Texts, model: str | None) -> str:
    """What to type if an output has other lines than the source; empty if that cannot be known."""
    whole, by = texts.source, ["--src", str(texts.source), "--model", str(model)]
    if not (model and isinstance(whole, FileText)):
        whole = next(iter(texts.references), None)
        by = ["--ref", str(whole)]
    lines = error.counts.get(str(whole))  # None for columns and standard input
    for output in map(str, texts.systems.values()):
        if lines is not None and error.counts.get(output, lines) != lines:
            path = Path(output)
            path = path.with_suffix("") if path.suffix in PACKED else path
            cut = path.with_name(f"{path.stem}.lines{path.suffix}")
            command = shlex.join(["coverage-eval", "segment", output, *by, "-o", str(cut)])
            return (
                ". If sentences of a document were joined, cut or left out, add --unaligned, or "
                f"cut the output first: {command}"
            )
    return ""


def document_features(
    documents: str | None, aligner: AlignerSettings | None, jobs: int = 1
) -> list[Feature]:
    """What cuts outputs of other lines than their source; nothing if lines match.

    Args:
        documents: The tokeniser that finds the words of references; None if lines match.
        aligner: Names the model, if there is one.
        jobs: Number of processes.
    """
    if documents is None:
        return []
    from coverage_eval.documents.feature import Documents

    return [Documents(documents, aligner, jobs=jobs)]


OF_DROP = {"sink", "symmetrize"}
"""Options that only the command of DROP has."""


def alignment_options(without: Set[str] = frozenset()) -> Decorator:
    """Add ``--src`` and where links come from; the command receives the latter as ``aligner``.

    Args:
        without: Fields of :class:`AlignerSettings` without an option.
    """
    source = option("-s", "--src", metavar="FILE", help="Read the source text from this file.")
    links = as_object("aligner", AlignerSettings, without=without, group="Alignment")
    return lambda command: links(source(command))


def check_links(
    aligner: AlignerSettings, source: Text | None, metrics: Mapping[str, type[Metric]]
) -> None:
    """Raise a usage error for options of links that do not go together, or lack what is needed.

    Args:
        aligner: The options.
        source: The source text.
        metrics: The metrics by their names in messages.
    """
    refuse({
        "give only one of: --model; --ref-links with --links": aligner.model and aligner.has_links,
        "--ref-links and --links go together": bool(aligner.ref_links) != bool(aligner.links),
        "--src is needed to align the texts": aligner.model and source is None,
    })  # fmt: skip
    for name, metric in metrics.items():
        covers = "coverages" in metric.needs
        if covers and aligner.has_links:
            raise click.UsageError(f"{name} needs a model: links have no probabilities")
        if (covers or "links" in metric.needs) and not aligner.is_given:
            purpose = f"--prepare-for {metric.model_purpose} " if metric.model_purpose else ""
            files = "" if covers else "; or --ref-links A with --links B"
            raise click.UsageError(
                f"{name} needs {'' if source else '--src, and '}--model M, made by "
                f"'coverage-eval align train SRC TGT {purpose}-o M'{files}"
            )
