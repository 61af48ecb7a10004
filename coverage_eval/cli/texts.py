"""The texts of a command, which are named by their position or by an option."""

from __future__ import annotations

import re
import shlex
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from coverage_eval.cli.click_options import Decorator, option, option_group
from coverage_eval.cli.parameters import NamedText, TextType, by_name
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import STDIN, Text, check_file
from coverage_eval.core.tables import (
    SYSTEM,
    ColumnText,
    LongTable,
    TextTable,
    column_for,
    find_systems,
    list_names,
)
from coverage_eval.core.texts import JoinedText, SegmentFile

_OPTIONS = {
    "hyp": option(
        "-i", "--hyp", multiple=True, metavar="TEXT", type=TextType(), help="The output.",
    ),
    "systems": option(
        "-i", "--hyp", "systems", multiple=True, metavar="[NAME=]TEXT", type=NamedText(),
        callback=by_name, help="A system's output.",
    ),
    "src": option("-s", "--src", metavar="TEXT", type=TextType(), help="The source."),
    "tgt": option("--tgt", metavar="TEXT", type=TextType(), help="The target text."),
    "ref": option(
        "-r", "--ref", multiple=True, metavar="TEXT", type=TextType(),
        help="The reference; give it once for each of several references.",
    ),
}  # fmt: skip
"""The options of texts by the parameters that receive them."""

_unaligned_option = option(
    "--unaligned", is_flag=True, group="Input",
    help="The lines of the outputs do not match: first cut each by the lines of the source with "
    "--model, or of the reference, as 'segment' does. A file is one document, and so is each row "
    "of a table.",
)  # fmt: skip


def texts(*positional: str, options: Sequence[str] = (), row_by_row: bool = False) -> Decorator:
    """Add a command's texts.

    The command receives ``hyp``, ``src`` and ``tgt`` as a text each, ``ref`` as a tuple of texts,
    ``systems`` as a dictionary of texts by their names; and ``unaligned`` if it has references.

    Args:
        *positional: The texts that may be named without an option, in their order: ``hyp``,
            ``systems``, ``src``, ``tgt``, ``ref``. They must be there.
        options: The texts that only an option names. They must be there, too, but for references.
            The source that ``cli.alignment_options.source_option`` adds is not among them.
        row_by_row: Whether a table with a row for each segment and system is taken row by row,
            since the command judges segments or pairs and not a system.
    """
    names = {*positional, *options}
    several = positional == ("systems",)
    required = [name for name in options if name != "ref"]
    return option_group(
        click.argument(
            "files", cls=TextArguments, texts=positional, required_texts=required, nargs=-1,
            row_by_row=row_by_row,
            metavar=" ".join(map(_shown_name, positional)),
            type=NamedText() if several else TextType(),
            callback=by_name if several else None,
        ),
        *(add_option for name, add_option in _OPTIONS.items() if name in names),
        *([_unaligned_option] if "ref" in names else []),
    )  # fmt: skip


def _shown_name(text: str) -> str:
    """The name of a text in the usage line, such as ``HYP``."""
    return "[NAME=]TEXT..." if text == "systems" else text.upper()


class TextArguments(click.Argument):
    """The texts that are named by their position.

    Args:
        *args: As for :class:`click.Argument`.
        texts: The parameters of these texts, in their order.
        required_texts: Parameters of further texts that must be there.
        row_by_row: Whether rows of several systems are taken as they are.
        **attributes: As for :class:`click.Argument`.
    """

    def __init__(
        self,
        *args: Any,
        texts: Sequence[str],
        required_texts: Sequence[str],
        row_by_row: bool,
        **attributes: Any,
    ) -> None:
        super().__init__(*args, **attributes)
        self.texts, self.required_texts, self.row_by_row = texts, required_texts, row_by_row

    def assign(self, ctx: click.Context) -> None:
        """Give each text its value among the parameters of the command.

        Raises:
            click.UsageError: A text is missing, there is one too many, or it is not clear which is
                which.
        """
        values, files = ctx.params, ctx.params.pop("files")
        if len(outputs := values.get("hyp", ())) > 1:
            listed = ", ".join(map(str, outputs))
            raise click.UsageError(
                f"one output is scored, but there are {listed}: 'compare' takes several", ctx
            )
        if "systems" in values:
            if twice := values["systems"].keys() & files.keys():
                raise click.UsageError(
                    f"the name {min(twice)!r} is given twice; give names: NAME=FILE", ctx
                )
            values["systems"] |= files
        else:
            self._assign_in_order(ctx, files)
        for name in self.texts:
            if not values[name]:
                raise _missing_text(ctx, name)
        for name in self.required_texts:
            if not values[name]:
                raise click.MissingParameter(ctx=ctx, param_hint=f"'--{name}'", param_type="option")
        if "hyp" in values:
            (values["hyp"],) = values["hyp"]

    def split_by_system(self, ctx: click.Context) -> None:
        """Give tables with a row for each segment and system a text for each system.

        Where one output is scored, the command takes the rows as they are, or the table is refused
        when it is read.

        Raises:
            click.UsageError: There are no systems in the column that is named.
            DataError: A table cannot be read, or two systems have one name.
        """
        values, column = ctx.params, ctx.params.pop("systems_in", None)
        if not (self.row_by_row or "systems" in values):
            return
        texts = {
            text.table
            for item in ctx.command.params
            for text in values_of(ctx, item)
            if isinstance(text, ColumnText)
        }
        found = ((table, find_systems(table, column or SYSTEM)) for table in texts)
        tables = {table: several for table, several in found if several}
        if column and not tables:
            raise click.UsageError(f"--systems-in {column}: no table has systems in it", ctx)
        for name, value in values.items():
            if isinstance(value, tuple):
                values[name] = tuple(self._as_given(text, tables) for text in value)
            else:
                values[name] = self._as_given(value, tables)
        if "systems" in values:
            values["systems"] = _by_system(values["systems"], tables)

    def _as_given(self, text: Any, tables: Mapping[TextTable, LongTable]) -> Any:
        """A text of the rows or segments of its table; another value as it is."""
        if not isinstance(text, ColumnText) or text.table not in tables:
            return text
        found = tables[text.table]
        return ColumnText(found.pooled if self.row_by_row else found.shared, text.column)

    def _assign_in_order(self, ctx: click.Context, files: Sequence[Text]) -> None:
        """Give the files to the texts that no option names; REF, the last, takes all that are left.

        Raises:
            click.UsageError: There are more files than texts, or it is not clear which is which.
            DataError: There are more, and one does not exist.
        """
        values, left = ctx.params, list(files)
        for text in files if len(files) > len(self.texts) else ():
            check_file(text.path or STDIN)  # more likely the value of an option than a text
        file = files[0] if len(files) == 1 and self.texts == ("src", "tgt") else None
        if isinstance(file, SegmentFile) and not (values["src"] or values["tgt"]):
            if all("|||" in line for line in file.first_lines):
                # As aligners read them.
                left = [JoinedText(file, "source"), JoinedText(file, "target")]
            elif all("\t" in line for line in file.first_lines) or file.is_table():
                raise _pair_of_columns(ctx, TextTable(file.path, ["1"], file))
        for name in self.texts:
            if left and not values[name]:
                count = len(left) if name == "ref" else 1
                values[name] = tuple(left[:count]) if name in {"hyp", "ref"} else left[0]
                left = left[count:]
        if "ref" in self.texts and len(files) > 1 and files == (*values["hyp"], *values["ref"]):
            _check_order(ctx, [*map(str, files)])
        if left:
            free = [f"--{name}" for name in ("src", "ref") if name in values and not values[name]]
            what = f"; name it with {' or '.join(free)}" if free else ""
            raise click.UsageError(f"{left[0]} is one file too many{what}", ctx)


def _missing_text(ctx: click.Context, text: str) -> click.UsageError:
    """The error for a text that is not named."""
    if text == "ref":
        return click.UsageError(
            "the reference is missing: name it as REF or with --ref. Without one, "
            "'compare' finds repetitions, and 'omissions' what the output leaves out",
            ctx,
        )
    return click.MissingParameter(
        "Name a file, or - to read standard input.",
        ctx=ctx,
        param_hint=f"'{_shown_name(text)}'",
        param_type="argument",
    )


_REFERENCE = re.compile(r"(^|[^a-z])(refs?|references?|gold)([^a-z]|$)")
"""A file that is called like a reference, such as ``test.ref`` or ``refs``."""


def _check_order(ctx: click.Context, files: Sequence[str]) -> None:
    """Refuse several references, or a file in the position of HYP that is called like a reference.

    sacreBLEU has the reference first, and a score of swapped files is plausible.

    Args:
        ctx: The command.
        files: The output and the references, as they were named without an option.

    Raises:
        click.UsageError: The message has the line to type.
    """
    path, (first, second, *more) = ctx.command_path, files
    if more:
        raise click.UsageError(
            f"HYP and REF are two files, but there are {len(files)}. Each of several references is "
            "named with --ref, a source with --src; 'compare' takes several outputs",
            ctx,
        )
    if _REFERENCE.search(Path(first).name.lower()) and not _REFERENCE.search(
        Path(second).name.lower()
    ):
        raise click.UsageError(
            f"the order is HYP REF, but {first} is called like a reference. Type: {path} {second} "
            f"{first}. If {first} is the output: {path} --hyp {first} --ref {second}",
            ctx,
        )


def _by_system(texts: Mapping[str, Text], tables: Mapping[TextTable, LongTable]) -> dict[str, Text]:
    """The text of each system, of those in tables, too."""
    systems: dict[str, Text] = {}
    for name, text in texts.items():
        new: dict[str, Text] = {name: text}
        if isinstance(text, ColumnText) and text.table in tables:
            found = tables[text.table]
            found.check()
            new = {system: found.of_system(system, text.column) for system in found.systems}
        if twice := systems.keys() & new.keys():
            raise DataError(f"{text}: the system {min(twice)!r} is there twice")
        systems |= new
    return systems


def check_columns(ctx: click.Context) -> None:
    """Refuse tables of which no column is named.

    Raises:
        click.UsageError: The message lists the columns, and has a line to type.
        DataError: The table cannot be read.
    """
    tables: defaultdict[str, list[str]] = defaultdict(list)
    flags = {}
    for item in ctx.command.params:
        if isinstance(item.type, (TextType, NamedText)) and item.name:
            flags.update(dict.fromkeys(item.opts, item.name))
            for text in values_of(ctx, item):
                is_file = isinstance(text, SegmentFile)
                if is_file and not getattr(item.type, "allow_table", False) and text.is_table():
                    tables[str(text)].append(item.name)
    if tables:
        raise _missing_column(ctx, tables, flags)


def values_of(ctx: click.Context, parameter: click.Parameter) -> Sequence[Any]:
    """The values of a parameter: none, one or several."""
    value = ctx.params.get(parameter.name or "")
    if isinstance(value, Mapping):
        return tuple(value.values())
    return value if isinstance(value, tuple) else () if value is None else (value,)


def _missing_column(
    ctx: click.Context, tables: Mapping[str, list[str]], flags: Mapping[str, str]
) -> click.UsageError:
    """The error for tables without a column: the columns of the first, and the line to type.

    Args:
        ctx: The command.
        tables: The parameters that name each table.
        flags: The parameter of each option that names a text.
    """
    columns = {name: _text_columns(TextTable(name)) for name in tables}
    line = _typed(ctx)
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
        beside = {role: column_for(role, columns[table]) for role in ("ref", "src")}
        role = "ref" if beside["ref"] else "src"
        line += [f"--{role}", f"{table}:{beside[role]}"] if beside[role] else []
    return _table_error(ctx, table, columns[table], f"a column of it, as {table}:COLUMN", line)


def _pair_of_columns(ctx: click.Context, table: TextTable) -> click.UsageError:
    """The error for one table instead of two texts, with the line that names both columns."""
    names = _text_columns(table)
    first, second = [*names, *names][:2]
    columns = column_for("src", names) or first, column_for("tgt", names) or second
    line: list[str] = []
    for word in _typed(ctx):
        line += [f"{word}:{column}" for column in columns] if word == str(table.path) else [word]
    return _table_error(ctx, str(table.path), names, "its columns of source and target", line)


def _typed(ctx: click.Context) -> list[str]:
    """The words of the command line."""
    return [*(ctx.find_root().obj or sys.argv[1:])]


def _table_error(
    ctx: click.Context, table: str, columns: Sequence[str], wanted: str, line: Sequence[str]
) -> click.UsageError:
    return click.UsageError(
        f"{table} is a table: name {wanted}. It has: {list_names(columns)}. "
        f"Type: {shlex.join(['coverage-eval', *line])}",
        ctx,
    )


def _text_columns(table: TextTable) -> list[str]:
    """The columns that may be texts: no object, and no list, of other columns."""
    columns = table.names
    objects = {name.rpartition(".")[0] for name in columns}
    return [name for name in columns if name not in objects]
