"""``coverage-eval attention``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import click

from coverage_eval.align.gold import check_gold, read_gold
from coverage_eval.attention_maps import FORMATS, AttentionMap, hard_links, save, score_table
from coverage_eval.attention_maps.dumps import ORIENTATIONS, Orientation
from coverage_eval.attention_maps.formats.native import ENDINGS
from coverage_eval.attention_maps.load import load
from coverage_eval.attention_maps.maps import Head, UnclearMapsError
from coverage_eval.attention_maps.scores import (
    SCORES,
    ScoreTable,
    SegmentScores,
    compare_with_gold,
)
from coverage_eval.attention_maps.subwords import SCHEMES, Scheme, merged_maps
from coverage_eval.cli.help import option
from coverage_eval.cli.options import (
    FiniteRange,
    Group,
    Output,
    OutputFile,
    ScoreOutput,
    options_as,
    output_option,
    output_options,
    parse_list,
    scoring_options,
    strict_option,
)
from coverage_eval.cli.output import present_counted, print_lines, show, warn
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import source_name
from coverage_eval.core.machine import DiskList
from coverage_eval.core.metric import file_setting, setting
from coverage_eval.core.show.table import Cell, LazyRows, Printable, Table
from coverage_eval.core.text import read_segments
from coverage_eval.plotting import Scale
from coverage_eval.plotting.saving import ENDINGS as PICTURES
from coverage_eval.plotting.saving import save_figure
from fast_align_wrapper.links import format_links


@click.group("attention", cls=Group)
def attention() -> None:
    """Score, draw and convert attention maps of MT toolkits.

    MAPS is a file of 'attention convert', or another .npz or JSON Lines of one matrix per segment
    with its words. 'attention convert' makes it of what MT toolkits write: it chooses from several
    layers and heads, and merges subwords.

    Segments, words, layers and heads count from 1; links and the arrays of files count from 0.

    \b
    Example:
      coverage-eval attention convert alignments.txt --src test.de --hyp test.en -o maps.npz
      coverage-eval attention score maps.npz
      coverage-eval attention plot maps.npz --index 3 -o third.png
    """


_NUMBER = re.compile(r"[+-]?[0-9]{1,9}", re.ASCII)


def _as_index(_: click.Context, option: click.Parameter, text: str | None) -> int | str | None:
    """A callback: 1, 2, … become 0, 1, …; -1, -2, … count from the end; ``mean`` stays."""
    if text is None or (text == "mean" and option.name == "head"):
        return text
    number = int(text) if _NUMBER.fullmatch(text) else 0
    if number == 0:
        mean = ", or mean" if option.name == "head" else ""
        raise click.BadParameter(f"{text!r} is not a number from 1, or -1 for the last{mean}.")
    return number - 1 if number > 0 else number


@dataclass(frozen=True)
class DumpOptions:
    """A file of attention, and how to read it."""

    file: str
    src: str | None = file_setting("Source text as the toolkit saw it.")
    hyp: str | None = file_setting("Hypothesis as the toolkit wrote it.")
    input_format: str | None = setting(
        None,
        f"Format of DUMP, if it is not recognised: {', '.join(FORMATS)}.",
        choices=tuple(FORMATS),
        metavar="NAME",
    )
    orientation: Orientation | None = setting(
        None,
        "What rows and columns of DUMP are, if its shapes leave it open.",
        choices=ORIENTATIONS,
    )
    layer: int | None = setting(
        None,
        "Layer of arrays [layers, heads, T, S]: from 1, or -1 for the last.",
        metavar="N",
        type=str,
        callback=_as_index,
    )
    head: Head | None = setting(
        None,
        "Head of such arrays, or of [heads, T, S]: from 1, -1 for the last, or their mean.",
        metavar="N|mean",
        callback=_as_index,
    )
    right_to_left: bool = setting(False, "The model writes from right to left (Marian).")
    words: bool = setting(False, "Merge subwords to words.")
    src_subwords: Scheme | None = setting(
        None, "With --words, how source subwords are marked.", choices=SCHEMES
    )
    hyp_subwords: Scheme | None = setting(
        None, "With --words, how hypothesis subwords are marked.", choices=SCHEMES
    )

    def read(self) -> Sequence[AttentionMap]:
        """The maps of the file.

        Raises:
            DataError: As :func:`coverage_eval.attention_maps.load`.
        """
        maps = load(
            self.file,
            sources=None if self.src is None else read_segments(self.src),
            hypotheses=None if self.hyp is None else read_segments(self.hyp),
            input_format=self.input_format,
            orientation=self.orientation,
            right_to_left=self.right_to_left,
            layer=self.layer,
            head=self.head,
        )
        if not self.words:
            return maps
        of_words = merged_maps(
            maps, source_scheme=self.src_subwords, target_scheme=self.hyp_subwords
        )
        return DiskList(of_words)


@contextmanager
def saying_how_to_convert(file: str) -> Iterator[None]:
    """End an error about what a file leaves open with the line to type."""
    try:
        yield
    except UnclearMapsError as error:
        options = f"{error.options} -o {Path(file).name.partition('.')[0]}.maps.npz"
        line = f"coverage-eval attention convert {shlex.quote(file)} {options}"
        raise DataError(f"{error}. Type: {line}") from error


def _read(file: str) -> Sequence[AttentionMap]:
    """The maps of a file that leaves nothing open.

    Raises:
        DataError: As :func:`coverage_eval.attention_maps.load`.
    """
    with saying_how_to_convert(file):
        return load(file)


_maps_argument = click.argument("file", metavar="MAPS")
_threshold_option = option(
    "--threshold", type=FiniteRange(0, 1, max_open=True),
    help="Link all words with more weight than this.  [default: each target word's most attended "
    "source word]",
)  # fmt: skip

_SCORE_LIST = {name: score.summary for name, score in SCORES.items()}


@attention.command("score", lists={"Scores": _SCORE_LIST})
@_maps_argument
@option(
    "-m", "--metrics", "names", metavar="LIST", callback=parse_list("metric", SCORES), names=SCORES,
    help="Show these columns, such as confidence,zeros.  [default: all]",
)  # fmt: skip
@option(
    "--per-word",
    is_flag=True,
    help="Print one line per source word: its position (from 1) and coverage.",
)  # fmt: skip
@output_options
def score(file: str, names: list[str] | None, per_word: bool, output: Output) -> None:
    """Print coverage scores of segments and of the corpus.

    There is one line per segment, then one for the corpus: the mean over segments, and the sum for
    counts of words. Segments and source words count from 1.

    \b
    Example:
      coverage-eval attention score maps.npz -m confidence
    """
    table = score_table(_read(file), names or tuple(SCORES))
    show((_present_words if per_word else _present_segments)(table), output)


def _present_segments(scores: ScoreTable) -> Printable:
    """One row per segment, counted from 1, and one for the corpus; JSON adds words' coverage."""
    segments = scores.segments
    corpus = _cells(scores.corpus)
    header = ("segment", *scores.corpus, "over_attended_words", "under_attended_words")
    signature = str(scores.signature)

    def row(index: int) -> tuple[Cell, ...]:
        if index == len(segments):
            return "corpus", *corpus, None, None
        item = segments[index]
        return str(index + 1), *_cells(item.values), *map(" ".join, _outstanding(item).values())

    def plain(index: int) -> dict[str, Any]:
        item = segments[index]
        scored = {"segment": index + 1, **item.values, "coverage": list(item.coverage)}
        return scored | _outstanding(item)

    rows = LazyRows(row, range(len(segments) + 1))
    objects = LazyRows(plain, range(len(segments)))
    return Printable(
        (Table(header, rows, signatures=(signature,)),),
        data={"signature": signature, "corpus": scores.corpus, "segments": objects},
        numbers=corpus,
    )


def _present_words(scores: ScoreTable) -> Printable:
    """One row per source word: segment and position from 1, coverage, over- or under-attended."""
    header = ("segment", "position", "word", "coverage", "attended")
    rows: DiskList[tuple[Cell, ...]] = DiskList(
        (
            number,
            i + 1,
            word,
            value,
            "over" if i in item.over else "under" if i in item.under else "",
        )
        for number, item in enumerate(scores.segments, start=1)
        for i, (word, value) in enumerate(zip(item.words, item.coverage, strict=True))
    )
    signature = str(scores.signature)
    words = LazyRows(lambda row: dict(zip(header, row, strict=True)), rows)
    table = Table(header, rows, signatures=(signature,))
    return Printable((table,), data={"signature": signature, "words": words})


def _cells(values: Mapping[str, float | None]) -> tuple[Cell, ...]:
    """Scores as cells; scores that the corpus sums are counts."""
    counts = {name for name, score in SCORES.items() if score.corpus == "sum"}
    return tuple(
        int(value) if value is not None and name in counts else value
        for name, value in values.items()
    )


def _outstanding(item: SegmentScores) -> dict[str, list[str]]:
    """Over- and under-attended words, with their positions from 1."""
    return {
        "over_attended_words": [f"{i + 1}:{item.words[i]}" for i in item.over],
        "under_attended_words": [f"{i + 1}:{item.words[i]}" for i in item.under],
    }


@attention.command("links")
@_maps_argument
@_threshold_option
@output_option
def links(file: str, threshold: float | None, output: str | None) -> None:
    """Write hard links of attention as Pharaoh lines, which 'drop' can read.

    Links are source-target, and positions count from 0. EOS is left out, and a target word without
    any weight has no link.

    \b
    Example:
      coverage-eval attention links maps.npz -o attention.links
    """
    print_lines((format_links(hard_links(item, threshold)) for item in _read(file)), output)


@attention.command("aer")
@_maps_argument
@click.argument("gold")
@_threshold_option
@strict_option
@scoring_options
def aer(file: str, gold: str, threshold: float | None, strict: bool, output: ScoreOutput) -> None:
    """Print AER and SAER of attention against gold links.

    AER uses the attention's hard links, SAER its weights; both are percentages. GOLD links the
    tokens of MAPS.

    \b
    Example:
      coverage-eval attention aer maps.npz test.gold
    """
    maps, golds = _read(file), list(read_gold(gold))
    figures = compare_with_gold(maps, golds, threshold=threshold)
    links = [tuple(hard_links(item, threshold)) for item in maps]
    found = check_gold(links, golds, name=source_name(gold))
    show(warn(present_counted(figures, output), found, {}, strict=strict), output)


@attention.command("convert", endings=ENDINGS)
@options_as("dump", DumpOptions, click.argument("file", metavar="DUMP"))
@option(
    "-o", "--output", metavar="FILE", required=True, type=OutputFile(),
    help="Write this .npz or .jsonl file.",
)  # fmt: skip
def convert(dump: DumpOptions, output: str) -> None:
    """Write attention as .npz or JSON Lines, which the other commands read.

    DUMP is a file of attention as a toolkit writes it. Its format is recognised, and orientation
    and EOS follow from its shapes and the texts; if they do not, an error says what to give.

    \b
    Example:
      coverage-eval attention convert alignments.txt --src test.de --hyp test.en -o maps.npz
    """
    save(dump.read(), output)


@attention.command("plot", endings=PICTURES)
@_maps_argument
@click.argument("other", metavar="[OTHER]", required=False)
@option(
    "--index", "number", default=1, type=click.IntRange(1),
    help="The segment, counted from 1.",
)  # fmt: skip
@option(
    "--scale", default="auto", type=click.Choice(get_args(Scale)),
    help="Colours cover weights from 0 to 1 (fixed), up to the map's largest (max), or their "
    "square roots (sqrt). The last two show the structure of a map with only small weights.",
)  # fmt: skip
@option(
    "-o", "--output", metavar="FILE", required=True, type=OutputFile(),
    help="Write this .png, .svg or .pdf file.",
)  # fmt: skip
def plot(file: str, number: int, other: str | None, scale: Scale, output: str) -> None:
    """Draw the attention of one segment, of one system or of two.

    Rows are source words, columns are hypothesis words, and zeros are white. The map of OTHER,
    another system's maps with its own words, is drawn beside that of MAPS, on the same scale.

    \b
    Example:
      coverage-eval attention plot maps.npz --index 3 -o third.png
      coverage-eval attention plot softmax.npz csparsemax.npz --index 3 -o both.png
    """
    from coverage_eval import plotting

    files = [file] if other is None else [file, other]
    items = []
    for maps in map(_read, files):
        if number > len(maps):
            raise DataError(f"--index {number}: there are {len(maps)} segments")
        items.append(maps[number - 1])
    for item in items:
        if item.weights.size == 0:
            rows, columns = item.weights.shape
            raise DataError(f"nothing to draw: {rows} target and {columns} source tokens")
    if other is None:
        ax = plotting.attention_heatmap(items[0], scale=scale)
    else:
        stems = Path(file).stem, Path(other).stem
        both, names = (items[0], items[1]), stems if stems[0] != stems[1] else (file, other)
        ax, _ = plotting.attention_heatmaps_side_by_side(both, systems=names, scale=scale)
    save_figure(ax, output, tight=True)


@attention.command("simplex", endings=PICTURES)
@option(
    "-o", "--output", metavar="FILE", required=True, type=OutputFile(),
    help="Write the picture to this file, a .png, .svg or .pdf.",
)  # fmt: skip
def simplex(output: str) -> None:
    """Draw attention transformations on the probability simplex.

    This is Figure 1 of Malaviya et al. (2018): softmax, sparsemax and their constrained versions
    over three steps. coverage_eval.plotting.simplex_figure1 draws other scores and bounds.

    \b
    Example:
      coverage-eval attention simplex -o figure1.png
    """
    from coverage_eval.plotting.triangle import simplex_figure1

    save_figure(simplex_figure1()[0, 0], output)
