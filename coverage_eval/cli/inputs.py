"""Where a command's texts and links come from: files, columns of tables, test sets, a model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial, wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.cli.help import option
from coverage_eval.cli.options import (
    NoFile,
    OutputFile,
    WholeRange,
    add_options,
    click_options,
    given_options,
    listed_options,
    options_as,
    parse_named_files,
)
from coverage_eval.data.files import (
    STDIN,
    Column,
    Text,
    check_readable_again,
    check_source,
    check_stdin,
    check_target,
    find_test_set,
    read_parallel,
    read_segments,
)
from coverage_eval.data.tables import ColumnFile, SystemTexts, check_columns
from coverage_eval.data.tokenizers import TOKENIZERS, Tokenizer
from coverage_eval.data.wmt import find_wmt_set
from coverage_eval.errors import DataError
from coverage_eval.metrics.drop import DEFAULT_DENOMINATOR, DENOMINATORS, StopWords
from coverage_eval.metrics.score import setting
from fast_align_wrapper.links import DEFAULT_SYMMETRIZATION, SYMMETRIZATIONS

F = TypeVar("F", bound=Callable[..., Any])


class _Side(NamedTuple):
    """A text that a command reads: a file by position or by option, or a column of a table.

    Attributes:
        column: The field of :class:`CorpusOptions` that names its column.
        flags: Its options.
        help: Their help.
        old: Names of the option that other tools have.
    """

    column: str
    flags: tuple[str, ...]
    help: str
    old: tuple[str, ...] = ()


_SIDES = {
    "hyp": _Side("hyp_col", ("-i", "--hyp"), "Read HYP from this file.", ("--input",)),
    "systems": _Side(
        "hyp_col", ("-i", "--hyp"), "Read a system's output from this file.", ("--input",)
    ),
    "src": _Side("src_col", ("-s", "--src"), "Read the source text from this file."),
    "tgt": _Side("tgt_col", ("--tgt",), "Read the target side from this file."),
    "ref": _Side(
        "ref_col", ("-r", "--ref"),
        "Read the reference from this file; give it once for each of several references.",
    ),
}  # fmt: skip
"""Texts by the parameters that they are."""

KEYS = "coverage-eval.keys"
"""By this name the context has the columns that are carried into tables of segments."""

_SHOWN = {"systems": "[NAME=]FILE...", "ref": "REF", "hyp": "HYP", "src": "SRC", "tgt": "TGT"}
"""How the usage line names them."""


@dataclass(frozen=True)
class CorpusOptions:
    """Where texts are, other than in files of their own, as the command line names it."""

    table: str | None = setting(
        None,
        "Read texts from columns of this file: TSV, CSV, JSON Lines or Parquet, a row a segment; "
        "of WMT's MQM files they need no names. Or from a folder of mt-metrics-eval, such as "
        "wmt23, with -l.",
        flag="--from",
        metavar="FILE",
        group="Options",
    )
    src_col: str | None = setting(
        None, "Take this column as the source.", metavar="NAME", type=NoFile()
    )
    tgt_col: str | None = setting(
        None, "Take this column as the target side.", metavar="NAME", type=NoFile()
    )
    hyp_col: tuple[str, ...] = setting(
        (), "Take this column as {hypothesis}.", metavar="NAME", type=NoFile(), multiple=True
    )
    ref_col: tuple[str, ...] = setting(
        (),
        "Take this column as the reference; give it once for each of several references.",
        metavar="NAME",
        type=NoFile(),
        multiple=True,
    )
    system_col: str | None = setting(
        None,
        "Take a row as one segment of the system that this column names.",
        metavar="NAME",
        type=NoFile(),
    )
    segment_col: str | None = setting(
        None,
        "Tell the segments of systems apart by this column.  [default: by their order]",
        metavar="NAME",
        type=NoFile(),
    )
    system: tuple[str, ...] = setting(
        (),
        "Take this system; give it once for each.  [default: all]",
        metavar="NAME",
        type=NoFile(),
        multiple=True,
    )
    ref_system: tuple[str, ...] = setting(
        (),
        "Take what this system says as the reference; give it once for each of several.",
        metavar="NAME",
        type=NoFile(),
        multiple=True,
    )
    key_col: tuple[str, ...] = setting(
        (),
        "Carry this column, such as an identifier, into --sentence-level; give it once for each.",
        metavar="NAME",
        type=NoFile(),
        multiple=True,
    )
    quoted: bool | None = setting(
        None,
        "Take the fields of a TSV file to be quoted, as spreadsheets and pandas write them, or not "
        "to be.  [default: as they look]",
        flag="--quoted/--unquoted",
    )
    no_header: bool = setting(False, "Name the columns of a TSV or CSV file 1, 2, 3 and so on.")
    test_set: str | None = setting(
        None,
        "Take source and reference from this test set of sacreBLEU, such as wmt23; it is "
        "downloaded once.",
        flags=("-t", "--test-set"),
        metavar="NAME",
        type=NoFile(),
    )
    languages: str | None = setting(
        None,
        "Take these languages of the test set, such as de-en.",
        flags=("-l", "--langpair"),
        metavar="PAIR",
        type=NoFile(),
    )

    def check(self) -> None:
        """Refuse options that lack another one, before any file is read.

        Raises:
            click.UsageError: The first thing that is wrong.
        """
        of_tables = {
            item.name
            for item in fields(self)
            if item.name not in {"table", "test_set", "languages"}
            and getattr(self, item.name) not in {None, False, ()}
        }
        if of_tables and self.table is None:
            raise click.UsageError(f"{listed_options(of_tables)} goes with --from")
        if (self.test_set is None) != (self.languages is None) and not self._is_folder:
            raise click.UsageError("--test-set and --langpair go together")
        if self.segment_col and not self.system_col:
            raise click.UsageError("--segment-col goes with --system-col")
        if self.system_col and len(self.hyp_col) != 1:
            raise click.UsageError("--system-col goes with one --hyp-col")

    def texts(self) -> dict[str, Any]:
        """The texts by the parameters that they stand for; the hypotheses by system.

        Raises:
            click.UsageError: No columns are named, or no such system or test set is known.
            DataError: The file cannot be read.
            MissingDependencyError: A test set that is not here, or Parquet without its package.
        """
        found: dict[str, Any] = {}
        if self.test_set is not None:
            try:
                files = find_test_set(self.test_set, str(self.languages))
            except ValueError as error:
                raise click.UsageError(str(error)) from None
            found |= {"src": files.source, "ref": files.references}
        if self.table is None:
            return found
        if self._is_folder:
            columns = self._of_folder()
        else:
            columns = self._of_systems() if self._is_by_system() else self._of_columns()
        if not columns:
            raise click.UsageError(f"--from needs the names of columns; {self._there_are()}")
        for side in found.keys() & columns.keys():
            raise click.UsageError(f"the {side} is in --test-set and in --from: give one of them")
        return found | columns

    @property
    def _is_folder(self) -> bool:
        return self.table is not None and Path(self.table).is_dir()

    def _of_folder(self) -> dict[str, Any]:
        """Texts of a test set of mt-metrics-eval; its references are taken by --ref-system."""
        texts = find_wmt_set(str(self.table), self.languages)
        references = self.ref_system or tuple(texts.references)
        if len(references) > 1 and not self.ref_system:
            listed = ", ".join(references)
            raise click.UsageError(f"{self.table} has the references {listed}: name --ref-system")
        systems = self.system or [name for name in texts.systems if name not in references]
        known = {
            "--system": (systems, texts.systems),
            "--ref-system": (references, texts.references),
        }
        for flag, (names, there) in known.items():
            if wrong := [name for name in names if name not in there]:
                raise click.UsageError(f"{flag} {wrong[0]}: there are {', '.join(there)}")
        found = {"src": texts.source, "systems": {name: texts.systems[name] for name in systems}}
        return found | {"ref": tuple(texts.references[name] for name in references)}

    def keys(self) -> dict[str, list[Any]]:
        """The columns that are carried into tables of segments, by name.

        Raises:
            click.UsageError: The rows of the table are not segments.
            DataError: The table cannot be read again, or lacks a column.
        """
        if not self.key_col:
            return {}
        if self._is_by_system():
            _, shared = self._by_system
            if wrong := [name for name in self.key_col if name not in shared]:
                raise click.UsageError(f"--key-col {wrong[0]} needs --system-col to be named")
            return {name: list(read_segments(shared[name])) for name in self.key_col}
        check_readable_again(Column(self._file, self.key_col[0]))
        where = f"{self.table}: line 1"
        check_columns(where, self._file.names(), self.key_col)
        records = [[record.get(name) for name in self.key_col] for record in self._file.records()]
        return {name: [row[i] for row in records] for i, name in enumerate(self.key_col)}

    @property
    def _file(self) -> ColumnFile:
        return ColumnFile(str(self.table), self.quoted, not self.no_header)

    def _is_mqm(self) -> bool:
        """Whether the table is a file of WMT's, whose columns need no naming."""
        if self.table == STDIN or self.src_col or self.tgt_col or self.hyp_col or self.ref_col:
            return False
        from coverage_eval.testbed.labels import has_mqm_columns

        return has_mqm_columns(self._file.names())

    def _is_by_system(self) -> bool:
        if self.system_col is None and not self._is_mqm():
            if self.system or self.ref_system:
                given = listed_options({"system": self.system, "ref_system": self.ref_system})
                raise click.UsageError(f"{given} goes with --system-col")
            return False
        return True

    def _of_columns(self) -> dict[str, Any]:
        """Texts that are columns."""
        file = self._file
        found: dict[str, Any] = {
            side: Column(file, name)
            for side, name in {"src": self.src_col, "tgt": self.tgt_col}.items()
            if name is not None
        }
        if self.ref_col:
            found["ref"] = tuple(Column(file, name) for name in self.ref_col)
        if self.hyp_col:
            found["systems"] = {name: Column(file, name) for name in self.hyp_col}
        return found

    def _of_systems(self) -> dict[str, Any]:
        """Texts of systems that a column names."""
        by_system, columns = self._by_system
        found: dict[str, Any] = {}
        if self.system_col is None:
            found["src"] = columns["source"]
        elif self.src_col is not None:
            found["src"] = columns[self.src_col]
        references = [columns[name] for name in self.ref_col]
        references += [by_system[name] for name in self.ref_system]
        if references:
            found["ref"] = tuple(references)
        systems = self.system or [name for name in by_system if name not in self.ref_system]
        return found | {"systems": {name: by_system[name] for name in systems}}

    @cached_property
    def _by_system(self) -> tuple[dict[str, Column], dict[str, Column]]:
        """Columns by system, and those that all systems share, keys among them, by name."""
        if self.system_col is None:
            from coverage_eval.testbed.labels import read_translations

            texts = read_translations(str(self.table))
        else:
            own = [] if self.src_col is None else [self.src_col]
            shared = dict.fromkeys([*own, *self.ref_col, *self.key_col])
            texts = SystemTexts.read(
                self._file, self.system_col, self.hyp_col[0], list(shared), self.segment_col
            )
        chosen = self.system or [name for name in texts.systems if name not in self.ref_system]
        return texts.columns([*chosen, *self.ref_system])

    def _there_are(self) -> str:
        if self.table == STDIN:
            return "--hyp-col, --ref-col, --src-col"
        return f"{self.table} has: {', '.join(self._file.names())}"


def corpus_options(
    *positional: str, options: Sequence[str] = (), needed: Sequence[str] | None = None
) -> Callable[[F], Callable[..., Any]]:
    """Add a command's texts: files by position or by option, columns of a table, or a test set.

    The command receives ``hyp``, ``systems``, ``src``, ``tgt`` and ``ref``, as far as it has them,
    wherever they come from. It goes above all options that make or take these parameters.

    Args:
        *positional: The texts that may be named without an option, in their order.
        options: Those that are only named by their options. The source that
            :func:`alignment_options` adds need not be named here.
        needed: Those that must be there, as ``ref|src`` where one of several must; by default the
            positional ones.
    """
    needed = positional if needed is None else needed
    names = [item.name for item in fields(CorpusOptions)]

    def add(command: F) -> Callable[..., Any]:
        own = {item.name for item in command.__click_params__}  # type: ignore[attr-defined]
        sides = [side for side in _SIDES if side in {*positional, *options, *own}]

        @wraps(command)
        def with_texts(files: Any, **values: Any) -> Any:
            columns = CorpusOptions(**{n: values.pop(n) for n in names if n in values})
            columns.check()
            if columns.key_col and not (values.get("sentence_level") or values.get("show")):
                raise click.UsageError("--key-col goes with --sentence-level")
            click.get_current_context().meta[KEYS] = columns.keys()
            if "hyp" in sides:
                values["hyp"] = _only_one(values["hyp"])
            for side, text in _fitting(columns.texts(), sides).items():
                if values[side]:
                    raise click.UsageError(f"{_SIDES[side].flags[-1]} is given as a file, too")
                values[side] = text
            _place(files, positional, values)
            for alternatives in needed:
                first, *others = alternatives.split("|")
                if not any(values[side] for side in (first, *others)):
                    raise _missing(first, positional, values)
            return command(**values)

        shown = " ".join(_SHOWN[side] for side in positional)
        named = parse_named_files if "systems" in positional else None
        added = [
            click.argument("files", nargs=-1, metavar=shown, callback=named),
            *(_text_option(side) for side in sides if side not in own),
        ]
        unfit = {item.column for item in _SIDES.values()} - {_SIDES[side].column for side in sides}
        if "hyp_col" in unfit:
            unfit |= {"system_col", "segment_col", "system", "ref_system"}
        if "ref" not in sides:
            unfit |= {"test_set", "languages"}
        one = "a system's output; give it once for each system" if "systems" in sides else "HYP"
        added += click_options(CorpusOptions, without=unfit, group="Input", hypothesis=one)
        return add_options(with_texts, added)

    return add


def _text_option(name: str) -> Callable[[Any], Any]:
    side = _SIDES[name]
    several: dict[str, Any] = {"multiple": name in {"hyp", "systems", "ref"}, "metavar": "FILE"}
    if name == "systems":
        several |= {"callback": parse_named_files, "metavar": "[NAME=]FILE"}
    return option(*side.flags, name, help=side.help, old=side.old, **several)


def _only_one(files: Sequence[str]) -> str | None:
    if len(files) > 1:
        raise click.UsageError(
            f"one output is scored, and there are {', '.join(files)}: 'compare' takes several"
        )
    return files[0] if files else None


def _place(files: Any, positional: Sequence[str], values: dict[str, Any]) -> None:
    """Give files that are named without an option to the texts that are not yet there.

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
            values[side] = left.pop(0)
            if side == "ref":
                values[side] = (values[side], *left)
                left = []
    references = values.get("ref") or ()
    if "ref" in positional and references == files[1:] and len(references) > 1:
        *outputs, last = files
        of_references = " ".join(f"--ref {file}" for file in references)
        raise click.UsageError(
            f"HYP and REF are two files, and there are {len(files)}. Several references: "
            f"{files[0]} {of_references}. Several outputs: compare --ref {last} {' '.join(outputs)}"
        )
    if left:
        flags = " or ".join(_SIDES[side].flags[-1] for side in ("ref", "src") if side in values)
        raise click.UsageError(f"{left[0]} is one file too many; say what it is: {flags}")


def _missing(side: str, positional: Sequence[str], values: Mapping[str, Any]) -> click.UsageError:
    """The error for a text that is not named; to whom compares, with the line to type."""
    flag = _SIDES[side].flags[-1]
    if side in positional:
        hint = f"'{_SHOWN[side]}'"
        return click.MissingParameter(param_hint=hint, param_type="argument")
    systems = values.get("systems") or {}
    if side == "ref" and len(systems) > 1:
        path = click.get_current_context().command_path
        first, *others = map(str, systems.values())
        return click.UsageError(
            f"{flag} is missing, or --src to compare without it. If {first} is the reference, "
            f"type: {path} {flag} {first} {' '.join(others)}"
        )
    return click.MissingParameter(param_hint=f"'{flag}'", param_type="option")


def _fitting(texts: Mapping[str, Any], sides: Sequence[str]) -> dict[str, Any]:
    """The texts that a command has a use for; one hypothesis where it takes one."""
    found = dict(texts)
    if "hyp" in sides and "systems" in found:
        systems = found["systems"]
        if len(systems) > 1:
            raise click.UsageError(
                f"one output is scored, and there are {', '.join(systems)}: name one --hyp-col, or "
                "one --system"
            )
        (found["hyp"],) = systems.values()
    return {side: found[side] for side in sides if side in found}


@dataclass(frozen=True)
class AlignmentOptions:
    """The source, an aligner and what counts of its links, as the command line names them."""

    src: Text | None = setting(  # noqa: RUF009
        None, _SIDES["src"].help, flags=_SIDES["src"].flags, metavar="FILE", group="Options"
    )
    model: str | None = setting(
        None, "Align by this model, made by 'align train'.", metavar="FILE", group="Options"
    )
    train_src: str | None = setting(None, "Train a model on this source text.", metavar="FILE")
    train_tgt: str | None = setting(None, "Train it on this target side.", metavar="FILE")
    save_model: str | None = setting(
        None, "Keep the trained model in this file.", metavar="FILE", type=OutputFile()
    )
    sink: bool = setting(
        False, "Append <SINK> to every source; it does not count.", group="Advanced"
    )
    fast_align: str | None = setting(
        None,
        "Run this fast_align executable, or the one in this folder.  "
        "[default: FAST_ALIGN, or the one included]",
        metavar="FILE",
        type=click.Path(),
        group="Advanced",
    )
    threads: int | None = setting(
        None,
        "Run the aligner in this many threads; the result does not depend on it.  "
        "[default: all cores]",
        type=WholeRange(1, 1024),
        group="Advanced",
    )
    src_ref_align: tuple[str, ...] = setting(
        (),
        "Take links of source and reference from this file, one line for each segment, "
        "made by any aligner; give it once for each reference.",
        metavar="FILE",
        multiple=True,
    )
    src_hyp_align: tuple[str, ...] = setting(
        (),
        "Take links of source and hypothesis from this file; give it once for each "
        "system, in their order.",
        metavar="FILE",
        multiple=True,
    )
    coverage: tuple[str, ...] = setting(
        (),
        "Take soft links of source and hypothesis from this file, made by any aligner or "
        "attention: JSON Lines, a row [source words] or a matrix [target words][source words] for "
        "each segment; give it once for each system, in their order, and then for each peer.",
        metavar="FILE",
        multiple=True,
    )
    ref_coverage: tuple[str, ...] = setting(
        (),
        "Take soft links of source and reference from this file; give it once for each reference.",
        metavar="FILE",
        multiple=True,
    )
    encoder: str | None = setting(
        None,
        "Align by the vectors of this encoder of Hugging Face, such as "
        "bert-base-multilingual-cased, which must be here; how well it does is not measured.",
        metavar="NAME",
        type=NoFile(),
        group="Advanced",
    )
    encoder_layer: int = setting(
        8, "Take the vectors of this layer of --encoder.", least=0, group="Advanced"
    )
    symmetrize: str = setting(
        DEFAULT_SYMMETRIZATION,
        "Join the links of the two directions in this way.",
        choices=SYMMETRIZATIONS,
    )
    stopwords: str | None = setting(
        None,
        "Leave the source words in this file, one a line, out of account.",
        metavar="FILE",
        group="Metrics",
    )
    denominator: str = setting(
        DEFAULT_DENOMINATOR,
        "Relate DROP to the source words aligned with the reference, or to all source words.",
        choices=DENOMINATORS,
        group="Metrics",
    )
    tokenize: str | None = setting(
        None,
        "Apply one of sacreBLEU's tokenisers to {sides}.  [default: none, or the model's]",
        choices=TOKENIZERS,
        group="Metrics",
    )
    src_tokenize: str | None = setting(
        None, "Apply another tokeniser to the source.", choices=TOKENIZERS, group="Metrics"
    )
    lowercase: bool = setting(False, "Lowercase {sides}.", group="Metrics")

    @property
    def has_model(self) -> bool:
        """Whether a model is named, or the text to train one on, or an encoder."""
        trains = None not in {self.train_src, self.train_tgt}
        return self.model is not None or trains or self.encoder is not None

    @property
    def has_links(self) -> bool:
        """Whether files of links are named."""
        return bool(self.src_ref_align or self.src_hyp_align)

    @property
    def has_coverage(self) -> bool:
        """Whether files of soft links are named."""
        return bool(self.coverage or self.ref_coverage)

    @property
    def is_taken(self) -> bool:
        """Whether links of either kind come from files, which are taken as they are."""
        return self.has_links or self.has_coverage

    @property
    def is_given(self) -> bool:
        """Whether links come from anywhere."""
        return self.has_model or self.is_taken

    @property
    def tokens(self) -> Tokenizer:
        """The tokenisers of texts unless the aligner has its own."""
        return Tokenizer(self.tokenize or "none", self.lowercase)

    @property
    def of_model(self) -> dict[str, Any]:
        """How a model is used, by the options of :meth:`coverage_eval.Aligner.load`."""
        return {
            "symmetrize": self.symmetrize,
            "tokenize": self.tokenize,
            "src_tokenize": self.src_tokenize,
            "lowercase": self.lowercase or None,
            "sink": self.sink,
        }

    def check(self, texts: Sequence[Text], *, needs_reference_links: bool = True) -> None:
        """Raise for mistakes before any file is read: at most one complete origin of links.

        Args:
            texts: The other files that the command names.
            needs_reference_links: Whether links of the reference must be there, too.

        Raises:
            click.UsageError: The first thing that is wrong.
        """
        training = (self.train_src, self.train_tgt)
        links = (
            *self.src_ref_align, *self.src_hyp_align, *self.coverage, *self.ref_coverage
        )  # fmt: skip
        files = (*texts, self.src, *training, self.stopwords, *links)
        together = bool(self.src_ref_align) == bool(self.src_hyp_align)
        of_models = {"symmetrize", "tokenize", "src_tokenize"}
        for_models = listed_options(of_models & given_options()) if self.is_taken else ""
        of_links = {"sink", "stopwords", "denominator"}
        for_links = "" if self.is_given else listed_options(of_links & given_options())
        not_encoders = {"symmetrize", "sink"} if self.encoder else {"encoder_layer"}
        for_encoder = listed_options(not_encoders & given_options())
        origins = [self.model, any(training), self.has_links, self.has_coverage, self.encoder]
        wrong = {
            "--train-src and --train-tgt go together": any(training) and not all(training),
            "give only one of: --model; --train-src with --train-tgt; --src-ref-align with "
            "--src-hyp-align; --coverage; --encoder": sum(map(bool, origins)) > 1,
            f"{for_encoder} is not for --encoder": self.encoder and for_encoder,
            "--encoder-layer goes with --encoder": not self.encoder and for_encoder,
            "--ref-coverage goes with --coverage": bool(self.ref_coverage) and not self.coverage,
            "--src-ref-align and --src-hyp-align go together": self.has_links
            and not (together if needs_reference_links else self.src_hyp_align),
            "--src is needed to align the texts": self.has_model and self.src is None,
            "--coverage needs --src": self.has_coverage and self.src is None,
            "--save-model goes with --train-src": self.save_model is not None and not all(training),
            f"{for_models} is not for links from files, which are taken as they are": for_models,
            f"{for_links} is for figures of links: name a model, or files of links": for_links,
        }
        for message, applies in wrong.items():
            if applies:
                raise click.UsageError(message)
        try:
            check_stdin(*files)
        except DataError as error:
            raise click.UsageError(str(error)) from None

    def check_fits(self, label: str, needs: Collection[str]) -> None:
        """Raise a usage error if a metric cannot use links of this kind.

        Args:
            label: The metric, for the message.
            needs: What it needs.
        """
        if "links" in needs and self.has_coverage:
            raise click.UsageError(
                f"{label} needs links, and --coverage gives soft links: use 'drop --soft', or "
                "softdrop in 'compare'"
            )
        if "coverages" in needs and self.has_links:
            raise click.UsageError(
                f"{label} needs a model or --coverage: links have no probabilities"
            )

    def check_files(self, texts: Sequence[Text]) -> None:
        """Refuse files that are not there, after :meth:`check` and before minutes of training.

        Args:
            texts: The other files that the command names.

        Raises:
            DataError: The first of them.
        """
        check_source(*texts, self.src, self.train_src, self.train_tgt, self.stopwords)

    def settings(self) -> dict[str, Any]:
        """Settings of metrics of links, by the names of their fields.

        Raises:
            DataError: As :meth:`StopWords.read`.
        """
        words = StopWords.read(self.stopwords) if self.stopwords else StopWords()
        return {"stopwords": words, "denominator": self.denominator}

    def make(self, add_data: Callable[..., None] | None = None) -> Aligner | None:
        """The aligner; None if no origin of links is named.

        Args:
            add_data: Adds to a newly trained model what a command needs beside it, before it is
                saved; it is given the model, a function that reads the training text again, and
                the options of training.

        Raises:
            DataError: Unreadable files, or ``save_model`` cannot be written, which is found before
                the training.
            AlignerError: A damaged model, or the aligner failed.
        """
        if self.has_links:
            return Aligner.from_links(self.src_ref_align, self.src_hyp_align, sink=self.sink)
        if self.has_coverage:
            return Aligner.from_posteriors(self.ref_coverage, self.coverage, sink=self.sink)
        if self.encoder is not None:
            return Aligner.from_encoder(
                self.encoder,
                layer=self.encoder_layer,
                tokenize=self.tokenize or "none",
                src_tokenize=self.src_tokenize,
                lowercase=self.lowercase,
            )
        if self.model is not None:
            return Aligner.load(
                self.model, **self.of_model, fast_align=self.fast_align, threads=self.threads
            )
        return self._train(add_data) if self.has_model else None

    def _train(self, add_data: Callable[..., None] | None) -> ModelAligner:
        assert self.train_src is not None
        assert self.train_tgt is not None
        if self.save_model is not None:
            check_target(self.save_model)
        if add_data is not None:
            check_readable_again(self.train_src, self.train_tgt)
        read = partial(read_parallel, self.train_src, self.train_tgt)
        options: dict[str, Any] = {
            "sink": self.sink,
            "fast_align": self.fast_align,
            "threads": self.threads,
            "progress": True,
        }
        aligner = Aligner.train_pairs(
            read(),
            symmetrize=self.symmetrize,
            tokenize=self.tokenize or "none",
            src_tokenize=self.src_tokenize,
            lowercase=self.lowercase,
            **options,
        )
        if add_data is not None:
            add_data(aligner, read, **options)
        if self.save_model is not None:
            aligner.save(self.save_model)
        return aligner


_WORDS = {"tokenize", "src_tokenize", "lowercase"}
_OF_LINKS = {"src_ref_align", "src_hyp_align", "symmetrize", "stopwords", "denominator"}
_FROZEN = {"model", "sink", "symmetrize", "stopwords", "denominator", *_WORDS}
"""Options of a command that takes a model file, and its texts from elsewhere."""


def alignment_options(
    words_of: str = "every side",
    *,
    links: bool = True,
    coverage: bool = True,
    frozen: bool = False,
) -> Callable[[F], Callable[..., Any]]:
    """Add the options; the command receives them as one ``alignment``.

    Args:
        words_of: What ``--tokenize`` and ``--lowercase`` apply to, in the words of the help.
        links: Whether the command has to do with links; else there are none of their options.
        coverage: Whether it has to do with soft links.
        frozen: Leave out what names files of texts or links, or trains: a model file is all.
    """
    names = {item.name for item in fields(AlignmentOptions)}
    unfit = (names - _FROZEN if frozen else set()) | (set() if links else _OF_LINKS)
    unfit |= set() if coverage else {"coverage", "ref_coverage"}
    options = click_options(AlignmentOptions, without=unfit, group="Alignment", sides=words_of)
    return options_as("alignment", AlignmentOptions, options)


def word_options() -> Callable[[Any], Any]:
    """``--tokenize``, ``--src-tokenize`` and ``--lowercase``, whose defaults are a model's own."""
    names = {item.name for item in fields(AlignmentOptions)}
    options = click_options(AlignmentOptions, without=names - _WORDS, sides="every side")
    return partial(add_options, options=options)
