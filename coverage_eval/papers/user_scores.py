"""A user's own table beside the printed ones: differences of cells, directions of effects."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from coverage_eval.core.errors import DataError
from coverage_eval.core.files import Source, read_segments, source_name
from coverage_eval.core.show.table import Printable, Table
from coverage_eval.papers.printed import TABLES, load_table

KEY = ["system", "dataset", "metric"]


def compare_scores(source: Source, tables: Sequence[str] = TABLES) -> Printable:
    """Compare a user's table with printed ones.

    Args:
        source: A CSV file with the columns ``system,dataset,metric,value`` and the printed names,
            or ``-`` for standard input.
        tables: The printed tables in which its figures are looked up.

    Returns:
        The cells with their differences, and every pair of systems with the direction of its
        effect: ``same``, ``opposite`` or ``tie``.

    Raises:
        DataError: The file does not have this form, names something that is not printed, or has a
            cell twice.
    """
    import pandas as pd

    name = source_name(source)
    rows = [row for row in csv.reader(read_segments(source)) if row]
    header = [cell.strip() for cell in rows[0]] if rows else []
    if sorted(header) != sorted([*KEY, "value"]):
        raise DataError(f"{name}: line 1: the columns must be {','.join(KEY)},value")
    uneven = [k for k, row in enumerate(rows, 1) if len(row) != len(header)]
    if uneven or len(rows) == 1:
        where = f"line {uneven[0]}: not {len(header)} cells" if uneven else "no figures"
        raise DataError(f"{name}: {where}; each line is like csparsemax,De-En,BLEU,29.85")
    ours = pd.DataFrame(rows[1:], columns=header).map(str.strip)
    ours["yours"] = pd.to_numeric(ours["value"], errors="coerce")
    printed = pd.concat(
        pd.DataFrame(
            [(table, *key, cell.value) for key, cell in load_table(table).cells.items()],
            columns=["table", *KEY, "printed"],
        )
        for table in tables
    )
    cells = printed.merge(ours[[*KEY, "yours"]], on=KEY, how="inner")
    unknown = ours.merge(printed, on=KEY, how="left")["printed"].isna()
    for what, wrong in (
        ("no printed table has this figure", unknown.to_numpy()),
        ("not a number", ~ours["yours"].abs().lt(float("inf")).to_numpy()),
        ("twice in the file", ours.duplicated(KEY).to_numpy()),
    ):
        if wrong.any():
            shown = ",".join(map(str, ours.loc[wrong, [*KEY, "value"]].iloc[0]))
            raise DataError(f"{name}: {shown}: {what}")
    cells["difference"] = (cells["yours"] - cells["printed"]).round(9)
    better = {m: b for table in tables for m, b in load_table(table).better.items()}
    numbered = cells.reset_index()
    pairs = numbered.merge(numbered, on=["table", "dataset", "metric"], suffixes=("", " of other"))
    pairs = pairs[(pairs["index"] < pairs["index of other"]) & pairs["metric"].isin(list(better))]
    sign = [1 if better[metric] == "higher" else -1 for metric in pairs["metric"]]
    pairs = pairs.assign(
        other=pairs["system of other"],
        printed=(sign * (pairs["printed"] - pairs["printed of other"])).round(9),
        yours=(sign * (pairs["yours"] - pairs["yours of other"])).round(9),
    )
    agreement = (pairs["printed"] * pairs["yours"]).to_list()
    pairs["direction"] = ["same" if a > 0 else "tie" if a == 0 else "opposite" for a in agreement]
    columns = ["table", "system", "other", "dataset", "metric", "printed", "yours"]
    pairs = pairs[[*columns, "direction"]]
    both = {"cells": cells, "directions": pairs}
    kinds = [cells.assign(kind="cell"), pairs.assign(kind="direction")]
    everything = pd.concat(kinds)[["kind", *columns, "difference", "direction"]]
    everything = everything.astype(object).where(everything.notna(), None)
    shown_tables = tuple(
        Table(tuple(frame.columns), tuple(frame.itertuples(index=False, name=None)))
        for frame in both.values()
        if len(frame)
    )
    return Printable(
        shown_tables,
        records=Table(
            tuple(everything.columns), tuple(everything.itertuples(index=False, name=None))
        ),
        data={key: frame.to_dict("records") for key, frame in both.items()},
        numbers=tuple(cells["difference"].to_list()),
    )
