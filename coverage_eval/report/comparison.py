"""Systems compared: one table with intervals and p-values, as text, JSON, CSV, LaTeX, Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coverage_eval.comparison.evidence import BreakdownTable
from coverage_eval.comparison.table import Cell, Comparison
from coverage_eval.metrics.registry import table_factor
from coverage_eval.report.comparison_latex import render_latex, render_latex_table
from coverage_eval.report.scores import score_as_dict
from coverage_eval.report.tables import escape_markdown, render_json, render_table

__all__ = ["comparison_as_dict", "comparison_notes", "render_comparison"]

_TESTS = {
    "bootstrap": "sacreBLEU's paired bootstrap, with some 10 % false positives at 0.05",
    "randomization": "approximate randomisation, two-sided",
}
_CSV_HEADER = (
    "system", "metric", "score", "low", "high", "difference", "p", "p_holm", "best", "better",
    "table_factor", "baseline", "signature",
)  # fmt: skip


def render_comparison(
    comparison: Comparison,
    output_format: str,
    *,
    breakdowns: Sequence[BreakdownTable] = (),
    width: int = 2,
) -> str:
    """Render the table, its notes, the metrics' signatures and breakdowns, without a last line end.

    For people (text, LaTeX, Markdown) a metric is shown times its factor, METEOR × 100; JSON and
    CSV have every score in its own unit and name the factor.

    Args:
        comparison: The systems.
        output_format: One of :data:`coverage_eval.report.tables.FORMATS`.
        breakdowns: Tables that follow; CSV, being one table, has no place for them.
        width: Digits after the decimal point in text, LaTeX and Markdown.

    Raises:
        ValueError: Breakdowns in CSV.
    """
    if output_format == "json":
        tables = {"breakdowns": list(map(_table_as_dict, breakdowns))} if breakdowns else {}
        return render_json(comparison_as_dict(comparison) | tables)
    if output_format == "csv":
        if breakdowns:
            raise ValueError("CSV is one table: ask for breakdowns in another form")
        return render_table(_CSV_HEADER, _csv_rows(comparison), "csv")
    parts = [_main_table(comparison, output_format, width)]
    parts += [_breakdown(table, output_format, width) for table in breakdowns]
    return "\n\n".join(parts)


def _main_table(comparison: Comparison, output_format: str, width: int) -> str:
    """The table with what belongs below it."""
    notes = comparison_notes(comparison, output_format)
    signatures = [str(metric.signature()) for metric in comparison.metrics.values()]
    if output_format == "latex":
        return render_latex(comparison, notes, signatures, width=width)
    if output_format == "markdown":
        lines = [f"- {escape_markdown(note)}" for note in notes]
        lines += [f"- `{text}`" for text in signatures]
        return "\n".join([_markdown(comparison, width), "", *lines])
    return "\n".join([_text(comparison, width), "", *notes, "", *signatures])


def _breakdown(table: BreakdownTable, output_format: str, width: int) -> str:
    if output_format == "latex":
        return render_latex_table(table.title, table.header, table.rows, width=width)
    title = f"**{escape_markdown(table.title)}**" if output_format == "markdown" else table.title
    return f"{title}\n\n{render_table(table.header, table.rows, output_format, width=width)}"


def _table_as_dict(table: BreakdownTable) -> dict[str, Any]:
    rows = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    return {"name": table.name, "title": table.title, "rows": rows}


def comparison_as_dict(comparison: Comparison) -> dict[str, Any]:
    """The comparison as plain values, its scores in the schema of single scores."""
    testing = comparison.testing
    return {
        "baseline": comparison.baseline,
        "segments": comparison.segments,
        "test": testing.test if testing.resamples else None,
        "resamples": testing.resamples,
        "seed": testing.seed,
        "notes": comparison_notes(comparison, "json"),
        "scores": [
            {
                **score_as_dict(cell.score),
                "table_factor": table_factor(name),
                "best": cell.best,
                "difference": cell.difference,
                "p_value": cell.p_value,
                "p_value_holm": cell.adjusted,
            }
            for cells in comparison.rows.values()
            for name, cell in cells.items()
        ],
    }


def comparison_notes(comparison: Comparison, output_format: str = "text") -> list[str]:
    """What must be known to read the table: one sentence a line.

    Args:
        comparison: The systems.
        output_format: Whose mark of the best figure is explained; JSON has none.
    """
    mark = {"text": "*: best figure.", "latex": "Best figures in bold."}
    mark["markdown"] = "Bold: best figure."
    notes = [mark[output_format]] if output_format in mark else []
    for name, metric in comparison.metrics.items():
        if output_format in mark and table_factor(name) != 1:
            notes.append(f"{metric.name} is shown × {table_factor(name):g}.")
    testing = comparison.testing
    notes.append(f"{comparison.segments:,} segments.")
    if testing.resamples == 0:
        return notes
    drawn = f"{testing.resamples:,} resamples, seed {testing.seed}"
    notes.append(f"[low, high]: 95 % interval (percentile bootstrap, {drawn}).")
    others = len(comparison.rows) - 1
    if others:
        what = f"{_TESTS[testing.test]}, {drawn}"
        correction = (
            f"Holm-corrected, in each metric, over the {others} systems compared with it"
            if others > 1
            else "one system, no correction"
        )
        notes.append(f"p: against {comparison.baseline} ({what}; {correction}).")
    return notes


def _text(comparison: Comparison, width: int) -> str:
    from tabulate import tabulate

    header = ["system", *_labels(comparison)]
    rows = []
    for system, cells in comparison.rows.items():
        name = f"{system}\n(baseline)" if system == comparison.baseline else system
        columns = ["\n".join(_lines(cell, key, width)) for key, cell in cells.items()]
        rows.append([name, *columns])
    return tabulate(rows, headers=header, tablefmt="simple", disable_numparse=True)


def _lines(cell: Cell, name: str, width: int) -> list[str]:
    """Score, interval and p-value of one cell, the best score with a star."""
    factor = table_factor(name)
    lines = [f"{factor * cell.score.value:.{width}f}{'*' if cell.best else ''}"]
    if interval := cell.score.interval:
        lines.append(f"[{factor * interval.low:.{width}f}, {factor * interval.high:.{width}f}]")
    if cell.adjusted is not None:
        lines.append(format_p(cell.adjusted))
    return lines


def _markdown(comparison: Comparison, width: int) -> str:
    rows = []
    for system, cells in comparison.rows.items():
        columns = []
        for name, cell in cells.items():
            score, *rest = _lines(cell, name, width)
            best = f"**{score.removesuffix('*')}**" if cell.best else score
            columns.append("<br>".join([best, *rest]))
        rows.append([escape_markdown(system), *columns])
    return render_table(["system", *_labels(comparison)], rows, "markdown", markup=True)


def _labels(comparison: Comparison) -> list[str]:
    """The metrics with arrows in their better direction."""
    return [
        f"{metric.name} {'↑' if metric.higher_is_better else '↓'}"
        for metric in comparison.metrics.values()
    ]


def _csv_rows(comparison: Comparison) -> Sequence[Sequence[object]]:
    return [
        (
            system,
            cell.score.metric,
            cell.score.value,
            cell.score.interval.low if cell.score.interval else None,
            cell.score.interval.high if cell.score.interval else None,
            cell.difference,
            cell.p_value,
            cell.adjusted,
            "yes" if cell.best else "no",
            "higher" if cell.score.higher_is_better else "lower",
            table_factor(name),
            comparison.baseline,
            str(cell.score.signature),
        )
        for system, cells in comparison.rows.items()
        for name, cell in cells.items()
    ]


def format_p(value: float) -> str:
    """A p-value as a table has it: ``p = 0.012``, ``p < 0.001``."""
    return "p < 0.001" if value < 0.0005 else f"p = {value:.3f}"
