"""A grid search over the weights of rescoring, as it is printed."""

from __future__ import annotations

from coverage_eval.attention_maps.rescoring import GridSearch
from coverage_eval.report.scores import scores_table
from coverage_eval.tables.printout import Printout
from coverage_eval.tables.table import Cell, Table


def present_grid(search: GridSearch) -> Printout:
    """BLEU of all pairs of weights, and the best score with its signature.

    The tables for people have one row an α and one column a β; CSV has one row a pair.

    Args:
        search: What :func:`coverage_eval.attention_maps.rescoring.grid_search` returned.
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
    return Printout(
        (grid, scores_table([search.score])),
        records=Table(("alpha", "beta", "bleu", "best"), pairs),
        data={
            "scores": [search.score.to_dict()],
            "best": vars(search.best),
            "grid": [vars(point) for point in points],
        },
        numbers=(search.score.score,),
    )
