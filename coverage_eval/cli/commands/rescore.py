"""``coverage-eval rescore``."""

from __future__ import annotations

from typing import Any

import click

from coverage_eval.cli.help import option
from coverage_eval.cli.options import (
    Command,
    FiniteRange,
    Output,
    OutputFile,
    options_as,
    options_of,
    output_options,
    refuse,
)
from coverage_eval.cli.output import print_lines, scores_table, show
from coverage_eval.data.files import read_segments
from coverage_eval.metrics.sacrebleu_adapters import BLEU
from coverage_eval.papers.rescoring import (
    GRID,
    Candidates,
    GridSearch,
    grid_search,
    read_coverage,
    read_nbest,
)
from coverage_eval.tables.table import Cell, Printable, Table

_SHOWN_GRID = "0, 0.2, …, 1"


@click.command("rescore", cls=Command)
@click.argument("nbest")
@option(
    "--attention", metavar="FILE",
    help="Read the attention of the hypotheses in their order: JSON Lines or .npz.",
)  # fmt: skip
@option(
    "-r", "--ref", metavar="FILE",
    help="Search the α and β with the best BLEU against these references of a development set.",
)  # fmt: skip
@option(
    "--alpha", type=FiniteRange(0),
    help=f"Weight of the length penalty.  [with --ref: tries {_SHOWN_GRID}]",
)  # fmt: skip
@option(
    "--beta", type=FiniteRange(0),
    help=f"Weight of the coverage penalty.  [with --ref: tries {_SHOWN_GRID}]",
)  # fmt: skip
@option(
    "--feature", metavar="NAME",
    help="Read the log-probability from this feature instead of the fourth field.",
)  # fmt: skip
@options_of(Candidates)
@options_as("bleu", BLEU, without={"smooth"})
@output_options(file=False)
@option(
    "-o", "--output", "chosen", metavar="FILE", type=OutputFile(),
    help="Write the chosen hypotheses to this file.",
)  # fmt: skip
def command(
    nbest: str,
    attention: str | None,
    ref: str | None,
    alpha: float | None,
    beta: float | None,
    feature: str | None,
    bleu: BLEU,
    output: Output,
    chosen: str | None,
    **settings: Any,
) -> None:
    """Rescore n-best lists with length and coverage penalties.

    NBEST has lines 'segment ||| hypothesis ||| features ||| log-probability'; segments count from
    0. The attention file has one JSON object per hypothesis: {"attention": [[…], …]} with one row
    per target token, or {"coverage": […]} with the total of each source word.

    With --ref the command prints BLEU for each pair of weights, and the best pair; -o writes the
    hypotheses that the best pair chooses. Without --ref it prints the hypotheses that --alpha and
    --beta choose.

    \b
    Example:
      coverage-eval rescore dev.nbest --attention dev.jsonl --ref dev.en
      coverage-eval rescore test.nbest --attention test.jsonl --alpha 0.2 --beta 0.4
    """
    refuse({
        "give --ref to search for the weights, or --alpha and --beta":
            ref is None and None in {alpha, beta},
        "the coverage penalty needs --attention (or give --beta 0)":
            attention is None and beta != 0,
    })  # fmt: skip
    lists = read_nbest(nbest, feature=feature)
    coverage = None if attention is None else read_coverage(attention, lists)
    candidates = Candidates(lists, coverage, **settings)
    if ref is not None:
        alphas, betas = (GRID if w is None else (w,) for w in (alpha, beta))
        references = list(read_segments(ref))
        search = grid_search(candidates, references, alphas=alphas, betas=betas, metric=bleu)
        show(_present_grid(search), output)
        alpha, beta = search.best.alpha, search.best.beta
    assert alpha is not None
    assert beta is not None
    if chosen is not None or ref is None:
        print_lines(candidates.chosen_texts(alpha, beta), chosen, as_is=True)


def _present_grid(search: GridSearch) -> Printable:
    """BLEU of all pairs of weights, and the best score with its signature.

    Tables for people have one row per α and one column per β; CSV has one row per pair.
    """
    points = search.points
    betas = dict.fromkeys(point.beta for point in points)
    alphas = dict.fromkeys(point.alpha for point in points)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (f"{alpha:g}", *(point.bleu for point in points if point.alpha == alpha))
        for alpha in alphas
    )
    grid = Table(("α \\ β", *(f"{beta:g}" for beta in betas)), rows)
    pairs = tuple((p.alpha, p.beta, p.bleu, p == search.best) for p in points)
    return Printable(
        (grid, scores_table([search.score])),
        records=Table(("alpha", "beta", "bleu", "best"), pairs),
        data={
            "scores": [search.score.to_dict()],
            "best": vars(search.best),
            "grid": [vars(point) for point in points],
        },
        numbers=(search.score.score,),
    )
