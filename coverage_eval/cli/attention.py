"""``coverage-eval attention``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import click

from coverage_eval.alignment.gold_links import read_gold
from coverage_eval.attention_maps import FORMATS, AttentionMap, save
from coverage_eval.attention_maps.gold import compare_with_gold
from coverage_eval.attention_maps.hard import hard_links
from coverage_eval.attention_maps.scores import SCORES, ScoreSettings, score_table
from coverage_eval.cli.dumps import dump_options
from coverage_eval.cli.gold_options import gold_options, threshold_option
from coverage_eval.cli.options import FiniteRange, WholeRange, strict_option
from coverage_eval.cli.output import (
    Output,
    output_option,
    output_options,
    print_lines,
    show,
)
from coverage_eval.cli.overwriting import Group, OutputFile
from coverage_eval.cli.picture_files import PictureFile
from coverage_eval.cli.score_output import ScoreOutput, present_counted, scoring_options
from coverage_eval.cli.warnings import warn
from coverage_eval.data.alignment_checks import check_gold
from coverage_eval.data.files import source_name
from coverage_eval.errors import DataError
from coverage_eval.plotting import Scale
from coverage_eval.report.attention import present_attention, present_coverage
from coverage_eval.report.attention_picture import PICTURES, save_picture
from fast_align_wrapper.links import format_links

_FORMAT_LIST = "\n".join(f"  {name:15} {item.title}" for name, item in FORMATS.items())


@click.group(
    "attention", cls=Group, epilog=f"\b\nFormats of DUMP (--input-format):\n{_FORMAT_LIST}"
)
def command() -> None:
    """Attention maps of MT toolkits: scores, links, conversion, pictures.

    DUMP is a file with attention as a toolkit writes it. Its format is recognised or named;
    orientation and EOS are settled by its shapes against the texts, and refused when ambiguous.
    Of several layers and heads, --layer and --head choose.

    Segments, words, layers and heads are numbered from 1; links and the arrays of files count
    from 0.

    \b
    Example:
      coverage-eval attention score maps.npz --src test.de --hyp test.en --words
      coverage-eval attention plot maps.npz --index 3 -o third.png
    """


_SCORE_LIST = "\n".join(
    f"{name}: {score.summary}{' [experimental]' if score.experimental else ''}"
    for name, score in SCORES.items()
)


@command.command("score", epilog="\b\nScores:\n" + _SCORE_LIST)
@dump_options
@click.option(
    "-s", "--score", "names", multiple=True, type=click.Choice(list(SCORES)), metavar="NAME",
    help="Print only this score; may be repeated. By default, all are printed.",
)  # fmt: skip
@click.option(
    "--over", default=1.5, show_default=True, type=FiniteRange(0),
    help="Count a source word with more attention in total as over-attended.",
)  # fmt: skip
@click.option(
    "--under", default=0.2, show_default=True, type=FiniteRange(0),
    help="Count a source word with less attention in total as under-attended.",
)  # fmt: skip
@click.option("--with-eos", is_flag=True, help="Score EOS rows and columns like words.")
@click.option(
    "--per-word",
    is_flag=True,
    help="Print one line a source word: its position (from 1), its coverage.",
)  # fmt: skip
@click.option("--gold", metavar="FILE", type=click.Path(),
              help="Add AER and SAER against these gold links, in per cent.")  # fmt: skip
@gold_options
@threshold_option
@output_options
def score(
    maps: Sequence[AttentionMap],
    names: tuple[str, ...],
    over: float,
    under: float,
    with_eos: bool,
    per_word: bool,
    gold: str | None,
    threshold: float | None,
    output: Output,
    **gold_form: Any,
) -> None:
    """Coverage scores of segments and the corpus.

    There is one line a segment, then the corpus: the mean over segments, the sum for counts of
    words, and for AER and SAER the ratio of sums. Segments and source words are numbered from 1.
    Experimental scores follow a formula recalled from its paper, which was not read again.

    \b
    Example:
      coverage-eval attention score maps.npz --src test.de --hyp test.en -s dispersion
    """
    settings = ScoreSettings(over=over, under=under, with_eos=with_eos)
    agreement = None
    if gold is not None:
        agreement = compare_with_gold(maps, list(read_gold(gold, **gold_form)), threshold=threshold)
    table = score_table(maps, names or tuple(SCORES), settings, agreement)
    show((present_coverage if per_word else present_attention)(table), output)


@command.command("links")
@dump_options
@threshold_option
@output_option
def links(maps: Sequence[AttentionMap], threshold: float | None, output: str | None) -> None:
    """Hard links of attention as Pharaoh lines.

    DROP can run on them. Links are source-target, and positions count from 0. EOS is left out; a
    target word without any weight has no link.

    \b
    Example:
      coverage-eval attention links maps.npz --words -o attention.links
    """
    print_lines((format_links(hard_links(item, threshold)) for item in maps), output)


@command.command("aer")
@dump_options
@click.argument("gold")
@gold_options
@threshold_option
@strict_option
@scoring_options
def aer(
    maps: Sequence[AttentionMap],
    gold: str,
    threshold: float | None,
    strict: bool,
    output: ScoreOutput,
    **gold_form: Any,
) -> None:
    """AER and SAER of attention, against gold links.

    AER is of the attention's hard links, SAER of its weights, both in per cent. The links of GOLD
    are between the tokens of DUMP, or between words with --words.

    \b
    Example:
      coverage-eval attention aer maps.npz test.gold --words
    """
    golds = list(read_gold(gold, **gold_form))
    agreement = compare_with_gold(maps, golds, threshold=threshold)
    links = [tuple(hard_links(item, threshold)) for item in maps]
    found = check_gold(links, golds, name=source_name(gold))
    show(warn(present_counted(agreement.figures(), output), found, {}, strict=strict), output)


@command.command("convert")
@dump_options
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    type=OutputFile(),
    help="Write this file, an .npz or .jsonl.",
)
def convert(maps: Sequence[AttentionMap], output: str) -> None:
    """Write attention as .npz or JSON Lines.

    These are our own formats: target × source arrays with their tokens.

    \b
    Example:
      coverage-eval attention convert alignments.txt --src test.de --hyp test.en -o maps.npz
    """
    save(maps, output)


@command.command("plot")
@dump_options
@click.option(
    "--index", "number", default=1, show_default=True, type=WholeRange(1),
    help="Draw this segment, counted from 1.",
)  # fmt: skip
@click.option("--title", metavar="TEXT", help="Put this text above the picture.")
@click.option(
    "--scale", default="fixed", show_default=True, type=click.Choice(get_args(Scale)),
    help="Colours for weights from 0 to 1, up to the map's largest, or by their square roots: the "
    "last two show the structure of a map whose weights are all small.",
)  # fmt: skip
@click.option(
    "-o", "--output", metavar="FILE", required=True, type=PictureFile(PICTURES),
    help="Write this file, a .png, .svg, .pdf, or .gif for cumulative attention step by step.",
)  # fmt: skip
def plot(
    maps: Sequence[AttentionMap], number: int, title: str | None, scale: Scale, output: str
) -> None:
    """Draw the attention of one segment.

    The source goes down, the hypothesis across, and zeros are white.

    \b
    Example:
      coverage-eval attention plot maps.npz --index 3 -o third.png
    """
    if number > len(maps):
        raise DataError(f"--index {number}: there are {len(maps)} segments")
    save_picture(maps[number - 1], output, title=title, scale=scale)
