"""Systems compared, as a LaTeX table that looks like Table 1 of Malaviya et al. (2018)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from coverage_eval.comparison.table import Cell, Comparison
from coverage_eval.metrics.registry import table_factor

__all__ = ["escape_latex", "render_latex", "render_latex_table"]

_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "`": "{`}",
    '"': r"{\char34}",  # babel makes it active in some languages
    "×": r"$\times$",
}  # fmt: skip


def escape_latex(text: str) -> str:
    """Text as LaTeX prints it; control characters become spaces, and nothing is a ligature."""
    escaped = "".join(_ESCAPES.get(c, c if c.isprintable() else " ") for c in text)
    return re.sub(r"([-'])(?=\1)", r"\1{}", escaped)


def render_latex(
    comparison: Comparison, notes: Sequence[str], signatures: Sequence[str], *, width: int = 2
) -> str:
    """A floating table in the style of booktabs, which the document must load.

    Args:
        comparison: The systems.
        notes: Sentences of the caption.
        signatures: Printed under the table.
        width: Digits after the decimal point.
    """
    metrics = comparison.metrics.values()
    labels = [
        f"{escape_latex(metric.name)}${'↑' if metric.higher_is_better else '↓'}$"
        for metric in metrics
    ]
    header = " & ".join(["", *labels]).replace("↑", r"\uparrow").replace("↓", r"\downarrow")
    groups = [list(_rows(comparison, system, width)) for system in comparison.rows]
    space = [r"\addlinespace"] if any(len(group) > 1 for group in groups) else []
    rows = [line for group in groups for line in [*group, *space]]
    rows = rows[: len(rows) - len(space)]
    caption = f"{_listed([metric.name for metric in metrics])} scores. {' '.join(notes)}"
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}[t]",
        r"\centering",
        rf"\begin{{tabular}}{{l{'r' * len(labels)}}}",
        r"\toprule",
        rf"{header} \\",
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{escape_latex(caption)}}}",
        r"\par\smallskip\raggedright\tiny\ttfamily",
        *(rf"{_breakable(signature)}\par" for signature in signatures),
        r"\end{table}",
    ]
    return "\n".join(lines)


def render_latex_table(
    title: str, header: Sequence[str], rows: Sequence[Sequence[object]], *, width: int = 2
) -> str:
    """A table of plain values with a title, numbers to the right and text to the left."""
    numbers = [
        not any(isinstance(cell, str) for cell in cells) for cells in zip(*rows, strict=True)
    ]
    columns = "".join("r" if number else "l" for number in numbers) or "l" * len(header)
    lines = [
        r"\begin{table}[t]",
        r"\centering",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _row(*_first_and_rest(header, width)),
        r"\midrule",
        *(_row(*_first_and_rest(row, width)) for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{escape_latex(title)}.}}",
        r"\end{table}",
    ]
    return "\n".join(lines)


def _first_and_rest(cells: Sequence[object], width: int) -> tuple[str, list[str]]:
    first, *rest = [_plain_cell(cell, width) for cell in cells]
    return _after_break(first), rest


def _plain_cell(cell: object, width: int) -> str:
    if cell is None:
        return ""
    return f"{cell:.{width}f}" if isinstance(cell, float) else escape_latex(str(cell))


def _after_break(text: str) -> str:
    r"""A row's first cell; a star or a bracket would belong to the \\ before it."""
    return f"{{}}{text}" if text[:1] in {"*", "["} else text


def _rows(comparison: Comparison, system: str, width: int) -> Iterator[str]:
    """A system's scores; in small print below them the intervals, and then the p-values."""
    cells = comparison.rows[system]
    yield _row(
        _after_break(escape_latex(system)),
        [_score(cell, key, width) for key, cell in cells.items()],
    )
    small: list[Callable[[Cell, str, int], str]] = [_interval, _p_value]
    for render in small:
        texts = [render(cell, key, width) for key, cell in cells.items()]
        if any(texts):
            yield _row("", [rf"{{\scriptsize {text}}}" for text in texts])


def _row(first: str, cells: Sequence[str]) -> str:
    return " & ".join([first, *cells]) + r" \\"


def _score(cell: Cell, name: str, width: int) -> str:
    text = f"{table_factor(name) * cell.score.value:.{width}f}"
    return rf"\textbf{{{text}}}" if cell.best else text


def _interval(cell: Cell, name: str, width: int) -> str:
    if (interval := cell.score.interval) is None:
        return ""
    factor = table_factor(name)
    return f"[{factor * interval.low:.{width}f}, {factor * interval.high:.{width}f}]"


def _p_value(cell: Cell, _: str, __: int) -> str:
    if cell.adjusted is None:
        return ""
    return "$p<0.001$" if cell.adjusted < 0.0005 else f"$p={cell.adjusted:.3f}$"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _breakable(signature: str) -> str:
    """A signature that may be broken into lines after each of its settings."""
    return r"\textbar\allowbreak{}".join(map(escape_latex, signature.split("|")))
