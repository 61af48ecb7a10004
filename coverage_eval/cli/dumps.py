"""The options by which ``attention`` commands read a dump of any toolkit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

import click

from coverage_eval.attention_maps import FORMATS, AttentionMap
from coverage_eval.attention_maps.dumps import ORIENTATIONS
from coverage_eval.attention_maps.load import load_spooled
from coverage_eval.attention_maps.subwords import SCHEMES, merged_maps
from coverage_eval.cli.options import add_options
from coverage_eval.data.disk_list import DiskList
from coverage_eval.data.files import check_stdin, read_segments

F = TypeVar("F", bound=Callable[..., Any])

_NUMBER = re.compile(r"[+-]?[0-9]{1,9}", re.ASCII)


def _as_index(_: click.Context, option: click.Parameter, text: str | None) -> int | str | None:
    """A number from 1, or from -1 backwards, as an index from 0; the mean of heads as it is."""
    if text is None or (text == "mean" and option.name == "head"):
        return text
    number = int(text) if _NUMBER.fullmatch(text) else 0
    if number == 0:
        mean = ", or mean" if option.name == "head" else ""
        raise click.BadParameter(f"{text!r} is not a number from 1, or -1 for the last{mean}.")
    return number - 1 if number > 0 else number


_OPTIONS = [
    click.argument("dump"),
    click.option("--src", metavar="FILE", help="Read the source, as the toolkit saw it."),
    click.option("--hyp", metavar="FILE", help="Read the hypothesis, as the toolkit wrote it."),
    click.option(
        "--input-format", type=click.Choice(list(FORMATS)), metavar="NAME",
        help=f"Read DUMP in this format, if it is not recognised: {', '.join(FORMATS)}.",
    ),
    click.option(
        "--orientation", type=click.Choice(ORIENTATIONS),
        help="Say what rows and columns of DUMP are, if the shapes leave it open.",
    ),
    click.option(
        "--layer", metavar="N", callback=_as_index,
        help="Take this layer of arrays [layers, heads, T, S]: from 1, or -1 for the last.",
    ),
    click.option(
        "--head", metavar="N|mean", callback=_as_index,
        help="Take this head of such arrays, or of [heads, T, S]: from 1, or -1 for the last, or "
        "their mean.",
    ),
    click.option(
        "--side", type=click.Choice(["pred", "gold"]), default="pred", show_default=True,
        help="Take the maps of the output, or of the given translation (OpenNMT-py -dump_attn; the "
        "authors' were computed without fertilities).",
    ),
    click.option(
        "--right-to-left", is_flag=True, help="The model wrote from right to left (Marian)."
    ),
    click.option("--words", is_flag=True, help="Merge subwords to words."),
    click.option(
        "--src-subwords", type=click.Choice(SCHEMES),
        help="Take source subwords to be marked so (--words).",
    ),
    click.option(
        "--hyp-subwords", type=click.Choice(SCHEMES),
        help="Take hypothesis subwords to be marked so (--words).",
    ),
]  # fmt: skip
_NAMES = (
    "dump", "src", "hyp", "input_format", "orientation", "layer", "head", "side", "right_to_left",
    "words", "src_subwords", "hyp_subwords",
)  # fmt: skip


def dump_options(command: F) -> Callable[..., Any]:
    """Add DUMP and the options to read it; the command receives the maps as ``maps``."""

    @wraps(command)
    def with_maps(**values: Any) -> Any:
        return command(maps=_read(**{name: values.pop(name) for name in _NAMES}), **values)

    return add_options(with_maps, _OPTIONS)


def _read(
    dump: str,
    src: str | None,
    hyp: str | None,
    words: bool,
    src_subwords: Any,
    hyp_subwords: Any,
    **options: Any,
) -> Sequence[AttentionMap]:
    check_stdin(dump, src, hyp)
    maps = load_spooled(
        dump,
        sources=None if src is None else read_segments(src),
        hypotheses=None if hyp is None else read_segments(hyp),
        **options,
    )
    if not words:
        return maps
    return DiskList(merged_maps(maps, source_scheme=src_subwords, target_scheme=hyp_subwords))
