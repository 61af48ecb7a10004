"""A user's table compared with the printed ones."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

from coverage_eval.core.errors import DataError
from coverage_eval.papers.printed import TABLES, compare_scores, load_table

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
    values = compare_scores(tmp_path / "my.csv").values
    found = {name: table.to_dict()["rows"] for name, table in values.items()}
    assert len(found["cells"]) == sum(len(load_table(name).cells) for name in TABLES)
    assert {cell["difference"] for cell in found["cells"]} == {0.0}
    assert {item["direction"] for item in found["directions"]} <= {"same", "tie"}
    # 28 pairs of systems in Table 1, 12 columns.
    assert sum(item["table"] == "table1" for item in found["directions"]) == 28 * 12


def test_directions_agree_with_a_plain_count(tmp_path):
    table = load_table("table1")
    generator = random.Random(1)
    ours = {key: cell.value + generator.choice((-1, 0, 1)) for key, cell in table.cells.items()}
    lines = (f"{s},{d},{m},{value}" for (s, d, m), value in ours.items())
    found = compare_scores(write(tmp_path, *lines)).values["directions"].to_dict()["rows"]
    opposite = 0
    for first in table.systems:
        for second in table.systems[table.systems.index(first) + 1 :]:
            for dataset, metric in table.columns:
                left, right = (first, dataset, metric), (second, dataset, metric)
                printed = round(table.cells[left].value - table.cells[right].value, 6)
                opposite += printed * round(ours[left] - ours[right], 6) < 0
    assert sum(item["direction"] == "opposite" for item in found) == opposite > 0


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["softmx,De-En,BLEU,1"], "softmx,De-En,BLEU,1: no printed table has this figure"),
        (["softmax,De-En,BLEU,1", "softmax,De-En,BLEU,2"], "BLEU,2: twice in the file"),
        (["softmax,De-En,BLEU,inf"], "BLEU,inf: not a number"),
        (["softmax,De-En,BLEU"], "row 1: 3 fields where the first line has 4"),
        (["soft\rmax,De-En,BLEU,1"], "line 2: new-line character"),
        ([], "no figures"),
    ],
)
def test_bad_lines_are_named(tmp_path, lines, message):
    with pytest.raises(DataError, match=r"my\.csv: ") as caught:
        compare_scores(write(tmp_path, *lines))
    assert message in str(caught.value)


def test_a_bad_header_is_named(tmp_path):
    path = write(tmp_path, "softmax,De-En,BLEU,1", header="system,dataset,metric,score\n")
    with pytest.raises(DataError, match="the columns must be system,dataset,metric,value"):
        compare_scores(path)


def test_a_table_can_be_chosen(tmp_path):
    path = write(tmp_path, "GUIDED,De-En,BLEU,1")
    assert compare_scores(path, ["table2"]).values["cells"].rows
    with pytest.raises(DataError, match="no printed table has this figure"):
        compare_scores(path, ["table1"])
