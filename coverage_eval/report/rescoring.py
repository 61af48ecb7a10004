"""A grid search over the weights of rescoring, as a table."""

from __future__ import annotations

from coverage_eval.report.scores import score_as_dict
from coverage_eval.report.tables import render_json, render_table
from coverage_eval.rescoring.search import GridSearch

__all__ = ["render_grid"]


def render_grid(search: GridSearch, output_format: str, *, width: int = 2) -> str:
    """Render a grid search, without a final line end.

    Text, LaTeX and Markdown have one row an α and one column a β; text ends with the best score
    and its signature. CSV has one row a pair. JSON has all of it.

    Args:
        search: What :func:`coverage_eval.rescoring.search.grid_search` returned.
        output_format: One of :data:`coverage_eval.report.tables.FORMATS`.
        width: Digits after the decimal point of BLEU.
    """
    if output_format == "json":
        grid = [vars(point) for point in search.points]
        best = vars(search.best)
        return render_json({"scores": [score_as_dict(search.score)], "best": best, "grid": grid})
    if output_format == "csv":
        rows = [(p.alpha, p.beta, p.bleu, p == search.best) for p in search.points]
        return render_table(["alpha", "beta", "bleu", "best"], rows, output_format)
    betas = list(dict.fromkeys(point.beta for point in search.points))
    header = ["α \\ β", *(f"{beta:g}" for beta in betas)]
    table = [
        [f"{alpha:g}", *(point.bleu for point in search.points if point.alpha == alpha)]
        for alpha in dict.fromkeys(point.alpha for point in search.points)
    ]
    text = render_table(header, table, output_format, width=width)
    return f"{text}\n{search.score.format(width)}" if output_format == "text" else text
