"""A user's table compared with the printed ones."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

from coverage_eval.errors import DataError
from coverage_eval.papers.printed import TABLES, load_table
from coverage_eval.papers.user_scores import compare_scores, present_user_scores

HEADER = "system,dataset,metric,value\n"


def write(path: Path, *lines: str, header: str = HEADER) -> Path:
    (path / "my.csv").write_text(header + "".join(f"{line}\n" for line in lines))
    return path / "my.csv"


def test_the_printed_tables_agree_with_themselves(tmp_path):
    with (tmp_path / "my.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["metric", "value", "system", "dataset"])
        for name in TABLES:
            for (system, dataset, metric), cell in load_table(name).cells.items():
                writer.writerow([metric, cell.value, system, dataset])
    comparison = compare_scores(tmp_path / "my.csv")
    assert len(comparison.cells) == sum(len(load_table(name).cells) for name in TABLES)
    assert {cell.difference for cell in comparison.cells} == {0.0}
    assert {item.outcome for item in comparison.directions} <= {"same", "tie"}
    # 28 pairs of systems in Table 1, 12 columns.
    assert sum(item.table == "table1" for item in comparison.directions) == 28 * 12


def test_differences_and_directions(tmp_path):
    path = write(
        tmp_path,
        "softmax,de-en,BLEU,30",
        "csparsemax (c = 0.2),De-En,bleu,29",
        "softmax,De-En,REP,3.37",
        "CSPARSEMAX,De-En,REP,3.36",
        "Sparsemax+CovVector,De-En,REP,3.37",
    )
    comparison = compare_scores(path)
    found = {cell.key: cell.difference for cell in comparison.cells}
    assert found["softmax", "De-En", "BLEU"] == pytest.approx(0.49)
    assert found["csparsemax", "De-En", "BLEU"] == pytest.approx(-0.85)
    outcomes = {(d.system, d.other, d.metric): d for d in comparison.directions}
    bleu = outcomes["softmax", "csparsemax", "BLEU"]
    assert (bleu.outcome, bleu.printed, bleu.ours) == ("opposite", -0.34, 1.0)
    rep = outcomes["softmax", "csparsemax", "REP"]  # lower is better
    assert (rep.outcome, rep.printed, rep.ours) == ("same", -0.7, -0.01)
    assert outcomes["softmax", "sparsemax + COVVECTOR", "REP"].outcome == "tie"
    assert outcomes["sparsemax + COVVECTOR", "csparsemax", "REP"].outcome == "same"


def test_directions_agree_with_a_plain_count(tmp_path):
    table = load_table("table1")
    generator = random.Random(1)
    ours = {key: cell.value + generator.choice((-1, 0, 1)) for key, cell in table.cells.items()}
    lines = (f"{s},{d},{m},{value}" for (s, d, m), value in ours.items())
    comparison = compare_scores(write(tmp_path, *lines))
    opposite = 0
    for first in table.systems:
        for second in table.systems[table.systems.index(first) + 1 :]:
            for dataset, metric in table.columns:
                one, two = (first, dataset, metric), (second, dataset, metric)
                printed = round(table.cells[one].value - table.cells[two].value, 6)
                opposite += printed * round(ours[one] - ours[two], 6) < 0
    assert sum(item.outcome == "opposite" for item in comparison.directions) == opposite > 0


def test_figures_that_differ_only_by_rounding_tie(tmp_path):
    path = write(tmp_path, "softmax,De-En,BLEU,0.3", f"sparsemax,De-En,BLEU,{0.1 + 0.2}")
    (direction,) = compare_scores(path).directions
    assert direction.outcome == "tie"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["softmx,De-En,BLEU,1"], "line 2: no printed table has system 'softmx'; one of softmax,"),
        (["softmax,Fr-En,BLEU,1"], "line 2: no printed table has dataset 'Fr-En'"),
        (["softmax,De-En,TER,1"], "line 2: no printed table has metric 'TER'"),
        (["GUIDED,Ja-En,BLEU,1"], "no printed table has a figure for GUIDED, Ja-En, BLEU"),
        (["softmax,De-En,BLEU,1", "", "softmax,de-en,bleu,2"], "line 4: softmax, De-En, BLEU is"),
        (["softmax,De-En,BLEU,high"], "line 2: value 'high' is not a number"),
        (["softmax,De-En,BLEU,nan"], "line 2: value 'nan' is not a number"),
        (["softmax,De-En,BLEU"], "line 2: 3 cells instead of 4"),
        ([], "no figures below the first line"),
    ],
)
def test_bad_lines_are_named(tmp_path, lines, message):
    with pytest.raises(DataError, match=r"my\.csv: ") as caught:
        compare_scores(write(tmp_path, *lines))
    assert message in str(caught.value)


def test_a_long_cell_is_read_once_and_shown_in_part(tmp_path):
    # A search to the end of the cell from each parenthesis would take minutes.
    with pytest.raises(DataError) as caught:
        compare_scores(write(tmp_path, "(" * 130_000 + ",De-En,BLEU,1"))
    assert "no printed table has system '((((" in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("header", ["", "system,dataset,value\n", "system,dataset,metric,score\n"])
def test_a_bad_header_is_named(tmp_path, header):
    path = write(tmp_path, "softmax,De-En,BLEU,1", header=header)
    with pytest.raises(DataError, match="line 1: the columns must be system,dataset,metric,value"):
        compare_scores(path)


def test_a_table_can_be_chosen(tmp_path):
    path = write(tmp_path, "GUIDED,De-En,BLEU,1")
    assert compare_scores(path, ["table2"]).cells
    with pytest.raises(DataError, match="no printed table has system 'GUIDED'"):
        compare_scores(path, ["table1"])


def test_tables_for_people_count_agreeing_data_sets_and_list_other_effects(tmp_path):
    path = write(
        tmp_path,
        "softmax,De-En,BLEU,30",
        "csparsemax,De-En,BLEU,29",
        "softmax,Ro-En,BLEU,29",
        "csparsemax,Ro-En,BLEU,30",
        "softmax,De-En,REP,4",
        "csparsemax,De-En,REP,3",
        "sparsemax,De-En,BLEU,31",
    )
    printable = present_user_scores(compare_scores(path))
    cells, agreement, others = printable.tables
    assert len(cells.rows) == 7
    assert agreement.header == ("system", "other", "BLEU", "REP")
    assert agreement.rows == (
        ("softmax", "sparsemax", "1 of 1", None),
        ("softmax", "csparsemax", "1 of 2", "1 of 1"),
        ("sparsemax", "csparsemax", "0 of 1", None),
    )
    assert [row[1:5] + row[-1:] for row in others.rows] == [
        (system, "csparsemax", "De-En", "BLEU", "opposite") for system in ("softmax", "sparsemax")
    ]
    kinds = [record[0] for record in printable.records.rows]
    assert (kinds.count("cell"), kinds.count("direction")) == (7, 5)
