"""``coverage-eval attention``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from coverage_eval.attention_maps import FORMATS, AttentionMap, hard_links, save, score_table
from coverage_eval.attention_maps.arrays import ENDINGS
from coverage_eval.attention_maps.dumps import ORIENTATIONS
from coverage_eval.attention_maps.load import load
from coverage_eval.attention_maps.maps import UnclearMapsError
from coverage_eval.attention_maps.scores import SCORES, ScoreTable, SegmentScores
from coverage_eval.attention_maps.subwords import SCHEMES, Scheme, merge_subwords
from coverage_eval.cli.click_options import option
from coverage_eval.cli.command import Group
from coverage_eval.cli.output import print_lines, show
from coverage_eval.cli.output_options import OutputOptions, output_option, output_options, output_to
from coverage_eval.cli.parameters import InputFile, NameList, ParamType
from coverage_eval.core.errors import DataError
from coverage_eval.core.report import (
    HUMAN_FORMATS,
    NUMBER_FORMATS,
    ROW_FORMATS,
    Cell,
    Report,
    Table,
)
from coverage_eval.core.texts import read_segments
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
      coverage-eval attention convert alignments.txt --src test.de \\
        --hyp test.en -o maps.npz
      coverage-eval attention score maps.npz
      coverage-eval attention plot maps.npz --index 3 -o third.png
    """


class _Position(ParamType):
    """A layer or a head, whose value is an index: 1, 2, … become 0, 1, …; -1, -2, … stay.

    Args:
        mean: Whether it may be ``mean``, which stays, too.
    """

    name = "number"

    def __init__(self, *, mean: bool = False) -> None:
        self.mean = mean

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """The index, or a usage error."""
        if value == "mean" and self.mean:
            return "mean"
        number = int(value) if re.fullmatch(r"[+-]?[0-9]{1,9}", value, re.ASCII) else 0
        if number == 0:
            mean = ", or mean" if self.mean else ""
            message = f"{value!r} is not a number from 1, or -1 for the last{mean}."
            self.fail(message, param, ctx)
        return number - 1 if number > 0 else number


def read_maps(file: str) -> Sequence[AttentionMap]:
    """The maps of a file that leaves nothing open.

    Raises:
        DataError: As :func:`coverage_eval.attention_maps.load`; what the file leaves open, with the
            line to type.
    """
    try:
        return load(file)
    except UnclearMapsError as error:
        options = f"{error.options} -o {Path(file).name.partition('.')[0]}.maps.npz"
        line = f"coverage-eval attention convert {shlex.quote(file)} {options}"
        raise DataError(f"{error}. Type: {line}") from error


_maps_argument = click.argument("file", metavar="MAPS", type=InputFile())
_SCORE_LIST = {name: score.summary for name, score in SCORES.items()}


@attention.command("score", lists={"Scores": _SCORE_LIST})
@_maps_argument
@option(
    "-m", "--metrics", "names", metavar="LIST", multiple=True,
    callback=NameList("metric", SCORES).join,
    help="Show these columns, such as confidence,zeros.  [default: all]",
)  # fmt: skip
@option(
    "--per-word",
    is_flag=True,
    help="Print one line per source word: its position (from 1) and coverage.",
)  # fmt: skip
@output_options
def score(file: str, names: list[str] | None, per_word: bool, output: OutputOptions) -> None:
    """Print coverage scores of segments and of the corpus.

    There is one line per segment, then one for the corpus: the mean over segments, and the sum for
    counts of words. Segments and source words count from 1.

    \b
    Example:
      coverage-eval attention score maps.npz -m confidence
    """
    table = score_table(read_maps(file), names or tuple(SCORES))
    show(_word_report(table) if per_word else _segment_report(table), output)


def _segment_report(scores: ScoreTable) -> Report:
    """One row per segment, counted from 1, and one for the corpus; JSON adds words' coverage."""
    corpus = _cells(scores.corpus)
    header = ("segment", *scores.corpus, "over_attended_words", "under_attended_words")
    signature = str(scores.signature)
    rows: list[tuple[Cell, ...]] = []
    objects: list[dict[str, Any]] = []
    for number, item in enumerate(scores.segments, start=1):
        words = _outstanding(item)
        rows.append((str(number), *_cells(item.values), *map(" ".join, words.values())))
        objects.append({"segment": number, **item.values, "coverage": item.coverage, **words})
    rows.append(("corpus", *corpus, None, None))
    table = Table(header, rows, signatures=(signature,), formats=HUMAN_FORMATS | ROW_FORMATS)
    numbers = Table(tuple(scores.corpus), [corpus], formats=NUMBER_FORMATS)
    values = {"signature": signature, "corpus": scores.corpus, "segments": objects}
    return Report((table, numbers), values)


def _word_report(scores: ScoreTable) -> Report:
    """One row per source word: segment and position from 1, coverage, over- or under-attended."""
    header = ("segment", "position", "word", "coverage", "attended")
    rows: list[tuple[Cell, ...]] = []
    for number, item in enumerate(scores.segments, start=1):
        for i, (word, coverage) in enumerate(zip(item.words, item.coverage, strict=True)):
            attended = "over" if i in item.over else "under" if i in item.under else ""
            rows.append((number, i + 1, word, coverage, attended))
    signature = str(scores.signature)
    table = Table(header, rows, signatures=(signature,))
    return Report((table,), {"signature": signature, "words": table})


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
@output_option
def links(file: str, output: str | None) -> None:
    """Write hard links of attention as Pharaoh lines, which 'drop' can read.

    Each target word is linked to the source word that it attends to most. Links are source-target,
    and positions count from 0. EOS is left out, and a target word without any weight has no link.

    \b
    Example:
      coverage-eval attention links maps.npz -o attention.links
    """
    print_lines((format_links(hard_links(item)) for item in read_maps(file)), output)


@attention.command("convert", endings=ENDINGS)
@click.argument("file", metavar="DUMP", type=InputFile())
@option("--src", metavar="FILE", type=InputFile(), help="Source text as the toolkit saw it.")
@option("--hyp", metavar="FILE", type=InputFile(), help="Hypothesis as the toolkit wrote it.")
@option(
    "--input-format", metavar="NAME", type=click.Choice(tuple(FORMATS)),
    help=f"Format of DUMP, if it is not recognised: {', '.join(FORMATS)}.",
)  # fmt: skip
@option(
    "--orientation", type=click.Choice(ORIENTATIONS),
    help="What rows and columns of DUMP are, if its shapes leave it open.",
)  # fmt: skip
@option(
    "--layer", metavar="N", type=_Position(),
    help="Layer of arrays [layers, heads, T, S]: from 1, or -1 for the last.",
)  # fmt: skip
@option(
    "--head", metavar="N|mean", type=_Position(mean=True),
    help="Head of such arrays, or of [heads, T, S]: from 1, -1 for the last, or their mean.",
)  # fmt: skip
@option("--words", is_flag=True, help="Merge subwords to words.")
@option(
    "--src-subwords", type=click.Choice(SCHEMES),
    help="With --words, how source subwords are marked.",
)  # fmt: skip
@option(
    "--hyp-subwords", type=click.Choice(SCHEMES),
    help="With --words, how hypothesis subwords are marked.",
)  # fmt: skip
@output_to("Write this .npz or .jsonl file.")
def convert(
    file: str,
    src: str | None,
    hyp: str | None,
    words: bool,
    src_subwords: Scheme | None,
    hyp_subwords: Scheme | None,
    output: str,
    **reading: Any,
) -> None:
    """Write attention as .npz or JSON Lines, which the other commands read.

    DUMP is a file of attention as a toolkit writes it. Its format is recognised, and orientation
    and EOS follow from its shapes and the texts; if they do not, an error says what to give.

    \b
    Example:
      coverage-eval attention convert alignments.txt --src test.de \\
        --hyp test.en -o maps.npz
    """
    sources, hypotheses = (None if text is None else read_segments(text) for text in (src, hyp))
    maps = load(file, sources=sources, hypotheses=hypotheses, **reading)
    if words:
        maps = merge_subwords(maps, source_scheme=src_subwords, target_scheme=hyp_subwords)
    save(maps, output)


@attention.command("plot", endings=PICTURES)
@_maps_argument
@click.argument("other", metavar="[OTHER]", required=False, type=InputFile())
@option(
    "--index", "number", default=1, type=click.IntRange(1),
    help="The segment, counted from 1.",
)  # fmt: skip
@output_to("Write this .png, .svg or .pdf file.")
def plot(file: str, number: int, other: str | None, output: str) -> None:
    """Draw the attention of one segment, of one system or of two.

    Rows are source words, columns are hypothesis words, and zeros are white. The map of OTHER,
    another system's maps with its own words, is drawn beside that of MAPS, on the same scale.
    coverage_eval.plotting has other scales of colours.

    \b
    Example:
      coverage-eval attention plot maps.npz --index 3 -o third.png
      coverage-eval attention plot softmax.npz csparsemax.npz --index 3 \\
        -o both.png
    """
    from coverage_eval import plotting

    items = []
    for maps in map(read_maps, filter(None, (file, other))):
        if number > len(maps):
            raise DataError(f"--index {number}: there are {len(maps)} segments")
        item = maps[number - 1]
        if item.weights.size == 0:
            rows, columns = item.weights.shape
            raise DataError(f"nothing to draw: {rows} target and {columns} source tokens")
        items.append(item)
    if other is None:
        ax = plotting.attention_heatmap(items[0])
    else:
        stems = Path(file).stem, Path(other).stem
        both, names = (items[0], items[1]), stems if stems[0] != stems[1] else (file, other)
        ax, _ = plotting.attention_heatmaps_side_by_side(both, systems=names)
    save_figure(ax, output, tight=True)


@attention.command("simplex", endings=PICTURES)
@output_to("Write the picture to this file, a .png, .svg or .pdf.")
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
