"""The packaged tables and translations against the transcriptions of both papers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coverage_eval.papers.printed import (
    SYSTEMS,
    TABLES,
    PrintedCell,
    PrintedTable,
    load_appendix_b,
    load_table,
    read_data,
)

MARKDOWN = "malaviya-2018-sparse-constrained-attention.md"
PROCEEDINGS = "malaviya-2018-proceedings-text.txt"
REPORT = "madsen-2017-tensorflow-sparsemax.md"


@pytest.fixture
def papers(shared: Path) -> Path:
    return shared / "papers"


def printed_rows(table: PrintedTable) -> dict[str, list[str]]:
    return {
        system: [table.cells[(system, *column)].text for column in table.columns]
        for system in table.systems
    }


def rows_of(text: str, width: int, starts: tuple[str, ...]) -> dict[str, list[str]]:
    """Lines of a transcription that begin with a system and end with ``width`` figures."""
    rows = {}
    for line in text.splitlines():
        found = re.match(rf"(.+?)\s+((?:\d+\.\d+\s*){{{width}}})$", line.strip())
        if found and line.startswith(starts):
            name = re.sub(r"[$,]|\(.*\)", "", found[1])
            rows[" ".join(name.split())] = found[2].split()
    return rows


@pytest.mark.parametrize("transcription", [MARKDOWN, PROCEEDINGS])
def test_table_1_equals_both_transcriptions(papers, transcription):
    text = (papers / transcription).read_text("utf-8")
    starts = ("softmax", "sparsemax", "csoftmax", "csparsemax")
    assert rows_of(text, 12, starts) == printed_rows(load_table("table1"))


@pytest.mark.parametrize("transcription", [MARKDOWN, PROCEEDINGS])
def test_table_2_equals_both_transcriptions(papers, transcription):
    text = (papers / transcription).read_text("utf-8")
    starts = ("CONSTANT", "GUIDED", "PREDICTED")
    assert rows_of(text, 2, starts) == printed_rows(load_table("table2"))


def test_figure_1_equals_the_transcription(papers):
    text = (papers / PROCEEDINGS).read_text("utf-8")
    triple = r"\(([\d.−-]+), ?([\d.−-]+), ?([\d.−-]+)\)"
    found = [[part.replace("−", "-") for part in match] for match in re.findall(triple, text)]
    figure = read_data("figure1")
    attention = [row for rows in figure["attention"].values() for row in rows]
    assert found == [*attention, *figure["scores"]]


def test_tables_of_the_report_equal_the_transcription(papers):
    lines = (papers / REPORT).read_text("utf-8").splitlines()
    body = [re.sub(r"[*$]|</?b>", "", line).split("\t") for line in lines if "\t" in line]
    by_width = {width: [row for row in body if len(row) == width] for width in (5, 6)}
    second, third = load_table("report_table2"), load_table("report_table3")
    fourth = load_table("report_table4")

    def text(table: PrintedTable, *key: str) -> str:
        cell = table.cells.get((key[0], key[1], key[2]))
        return "-" if cell is None else cell.text

    def plain(cell: str) -> str:
        cell = cell.replace("\\%", "").replace("%", "").replace("–", "-").replace("_", "-").strip()
        cell = cell.replace(" \\pm ", " ± ")
        power = re.fullmatch(r"10\^\{?(-?\d+)\}?", cell)
        return f"1e{power[1]}" if power else cell

    rows = {row[0]: [plain(cell) for cell in row[1:]] for row in by_width[5] if "pm" in row[2]}
    for dataset in second.datasets:
        ours = [text(second, s, dataset, m) for s in second.systems for m in second.metrics]
        assert rows[dataset] == ours
    tested = [row for row in by_width[5] if re.fullmatch(r"0\.\d{3}", row[1])]
    for row, dataset in zip(tested, third.datasets, strict=True):
        ours = [text(third, s, dataset, m) for s in third.systems for m in third.metrics]
        assert [plain(cell) for cell in row] == [dataset, *ours]
    for row, dataset in zip(
        [row for row in by_width[6] if "pm" in row[1]], fourth.datasets, strict=True
    ):
        ours = [text(fourth, s, dataset, "seconds") for s in fourth.systems]
        assert [plain(cell) for cell in row] == [dataset, *ours]


def test_a_cell_knows_its_interval():
    cell = PrintedCell("0.10 ± 0.002", 0.10, 0.002)
    assert (cell.low, cell.high) == (0.098, pytest.approx(0.102))
    plain = load_table("table1").cells["csparsemax", "Ja-En", "REP"]
    assert (plain.text, plain.value, plain.half_width, plain.low) == ("11.40", 11.4, None, 11.4)


def test_no_two_cells_in_all_tables_share_a_name():
    keys = [key for name in TABLES for key in load_table(name).cells]
    assert len(set(keys)) == len(keys)


def test_appendix_b_has_eight_examples_by_four_systems():
    appendix = load_appendix_b()
    assert len(appendix.examples) == 8
    assert all(tuple(example.outputs) == SYSTEMS for example in appendix.examples)
    assert appendix.references[3] == "we can see that phosphorus is really critical ."
    assert appendix.outputs("csparsemax")[1] == "like that , you know ."


def test_every_line_of_appendix_b_equals_the_transcription(papers):
    text = (papers / MARKDOWN).read_text("utf-8").partition("B Examples of Translations")[2]
    lines = [re.sub("</?i>", "", line) for line in text.splitlines() if "\t" in line]
    ours = []
    for example in load_appendix_b().examples:
        ours += [f"input\t{example.source}", f"reference\t{example.reference}"]
        ours += [f"{system}\t{output}" for system, output in example.outputs.items()]
    assert ours == [line.rstrip() for line in lines]
