"""Texts in columns of tables: written texts are read back, and errors name the bad cell."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import parquet

from coverage_eval.core import tables as tables_module
from coverage_eval.core.errors import DataError, MissingDependencyError
from coverage_eval.core.packed import zstd
from coverage_eval.core.tables import ColumnText, TextTable, find_systems
from coverage_eval.core.texts import check_stdin, open_text, read_parallel, read_segments

Columns = Mapping[str, Sequence[str]]
TEXTS = st.one_of(
    st.text(st.characters(exclude_characters='\n\r\t"', exclude_categories=["Cs"]), max_size=8),
    st.sampled_from(["007", "1e5", "NA", "null", "nan", "None", "", "[]", "{}", "true", " a "]),
)
TABLES = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6).map(
    lambda rows: dict(zip("hr", map(list, zip(*rows, strict=True)), strict=True))
)


def rows(table: Columns) -> list[tuple[str, ...]]:
    return list(zip(*table.values(), strict=True))


def tsv(table: Columns) -> bytes:
    return "".join("\t".join(row) + "\n" for row in [tuple(table), *rows(table)]).encode()


def as_csv(table: Columns, delimiter: str = ",") -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter, lineterminator="\r\n").writerows([table, *rows(table)])
    return buffer.getvalue().encode()


def json_lines(table: Columns, *, escaped: bool = True) -> bytes:
    records = (dict(zip(table, row, strict=True)) for row in rows(table))
    return "".join(json.dumps(item, ensure_ascii=escaped) + "\n" for item in records).encode()


def as_parquet(table: Columns, **options: object) -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(pa.table(dict(table)), buffer, **options)
    return buffer.getvalue()


WRITERS: dict[str, Callable[[Columns], bytes]] = {
    "table.tsv": tsv,
    "table.tsv.gz": lambda table: gzip.compress(tsv(table)),
    "table.tsv.zst": lambda table: zstd.compress(tsv(table)),
    "table.csv": as_csv,
    "table.jsonl": json_lines,
    "unescaped.jsonl.zst": lambda table: zstd.compress(json_lines(table, escaped=False)),
    "table.parquet": as_parquet,
    "small.parquet": lambda table: as_parquet(table, row_group_size=2, use_dictionary=False),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("columns")


@pytest.mark.parametrize("name", WRITERS)
@given(table=TABLES)
@example(table={"h": [""], "r": ["{}"]})
def test_written_texts_are_read_back_as_they_are(folder, name, table):
    (folder / name).write_bytes(WRITERS[name](table))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        file = TextTable(folder / name)
        assert file.names == ["h", "r"]
        assert {column: file.texts(column) for column in "hr"} == table
        assert [row["r"] for row in file.rows] == table["r"]


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=8)


@given(cells=st.lists(CELLS, min_size=1), delimiter=st.sampled_from(",;\t"))
def test_cells_of_quoted_tables_may_have_anything_in_them(folder, cells, delimiter):
    buffer = io.StringIO(newline="")
    quoted = csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    quoted.writerows([["h", "n"], *([cell, "x"] for cell in cells)])
    (folder / "quoted.csv").write_bytes(buffer.getvalue().encode())
    assert [cell for _, cell in TextTable(folder / "quoted.csv").cells("h")] == cells


def write(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def message_of(path: Path, column: str) -> str:
    """The error message for a file, without its name."""
    with pytest.raises(DataError) as caught:
        TextTable(path, [column]).texts(column)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


MISSING = "a missing value; if it is an empty segment, write an empty text"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "the file is empty"),
        ("x\ty\n", "no column h; there are: x, y"),
        ("x\ty\na\tb\n", "no column h; there are: x, y"),
        ("h\th\na\tb\n", "two columns are called h; there are: h, h"),
        ("h\tr\na\tb\nc\n", "row 2: 1 fields where the first line has 2"),
        ("h,r\na,b\nc\n", "row 2: 1 fields where the first line has 2"),
        ("h,r\na,b,c\n", "row 1: 3 fields where the first line has 2"),
        ('h,r\na,b\n"c,d\n', "line 3: unexpected end of data"),
        ('h,r\n"a"c,b\n', "line 2: ',' expected after"),
        ('{"h": "a"}\n{"r": "b"}\n', "row 2: no column h; there are: r"),
        ('{"h": "a"}\n{"h": null}\n', f"row 2, column 'h': {MISSING}"),
        ('{"h": 7}\n', "row 1, column 'h': is not text, but a number"),
        ('{"h": true}\n', "row 1, column 'h': is not text, but true"),
        ('{"h": {"t": "a"}}\n', "row 1, column 'h': is not text, but an object; name one of its"),
        ('{"h": "\\ud800"}\n', "row 1, column 'h': not valid Unicode: half a character at 1"),
        (b"PK\x03\x04\xff" + b"x" * 99, "is a zip archive; unpack it"),
        ('{"h": "a"}\n["h"]\n', "no column h; there are: {"),
        ('{"h": "a"}\n{"h": "b"}\n["h"]\n', "row 3: JSON, but not an object {…}"),
        ('{"h": "a"}\n{"h": "b"}\n{"h\n', "row 3: not JSON: "),
        ('{"h": "a", "h": "b"}\n{"h": "b"}\n', "row 1: an object has two fields 'h'"),
        ('[{"h": "a"},\n{"h": "a", "x": {"y": 1, "y": 2}}]\n', "an object has two fields 'y'"),
        ('[{"h": "a"}, 3]\n', "row 2: JSON, but not an object {…}"),
        ("h\tr\na\tb\n".encode("utf-16"), "is UTF-16 text; convert it: iconv"),
        ("h\tr\na\tb\n".encode("utf-16-le"), "is UTF-16 text; convert it: iconv -f UTF-16LE"),
        ("h\tr\na\tb\n".encode("utf-16-be"), "is UTF-16 text; convert it: iconv -f UTF-16BE"),
        ("h\tr\na\tgr\xfcn\n".encode("latin-1"), "line 2: not valid UTF-8 (byte 0xfc)"),
        (gzip.compress(b"h\n", mtime=0), "is a gzip file; give it a name that ends in .gz"),
        (as_parquet({"h": ["\xe4"]}), "is a Parquet file; give it a name that ends in .parquet"),
    ],
)  # fmt: skip
def test_cells_that_are_not_text_are_refused(tmp_path, data, message):
    assert message_of(write(tmp_path / "table", data), "h").startswith(message)


def test_an_error_lists_at_most_twenty_columns(tmp_path):
    names = [f"c{number}" for number in range(30)]
    path = write(tmp_path / "t.csv", f"{','.join(names)}\n{','.join('x' * 30)}\n")
    listed = f"{', '.join(names[:20])} and 10 more"
    assert message_of(path, "h") == f"no column h; there are: {listed}"
    with pytest.raises(DataError, match=f"COLUMN: {listed}$"):
        list(read_segments(path))


@pytest.mark.parametrize("name", ["table.tsv.gz", "table.csv", "table.jsonl", "table.parquet"])
def test_a_table_larger_than_memory_is_refused_with_its_size(tmp_path, monkeypatch, name):
    path = write(tmp_path / name, WRITERS[name]({"h": ["a house"] * 9, "r": ["b"] * 9}))
    monkeypatch.setattr(tables_module, "_MAX_BYTES", 60)
    message = message_of(path, "h")
    assert message.startswith("a table of more than 0.0 GB, which is too large for ")
    assert message.endswith("score it with Spark, or in parts")


def test_parquet_that_is_refused(tmp_path):
    whole = as_parquet({"h": ["a", None]})  # type: ignore[list-item]
    path = write(tmp_path / "t.parquet", whole)
    assert message_of(path, "h") == f"row 2, column 'h': {MISSING}"
    assert message_of(tmp_path / "missing.parquet", "h") == "no such file"
    for damaged in (whole[:90] + b"\0" * 400 + b"PAR1", b"h\n"):
        assert message_of(write(path, damaged), "h").startswith("cannot be read as Parquet (")


def test_fields_longer_than_pythons_own_limit(tmp_path):
    cell = "a, " * 100_000
    path = write(tmp_path / "table", f'h,r\n"{cell}",b\n')
    assert TextTable(path).texts("h") == [cell]


def test_columns_without_names(tmp_path):
    path = write(tmp_path / "t", "0.9\tein Haus\ta house\n1\t\t\n")
    file = TextTable(path, ["3", "2"])
    assert (file.texts("3"), file.texts("2")) == (["a house", ""], ["ein Haus", ""])
    assert message_of(path, "4") == "no column 4; there are: 1, 2, 3"
    named = write(tmp_path / "n", "src\tmt\na\tb\n")
    assert message_of(named, "2") == "no column 2; there are: src, mt"


@pytest.mark.parametrize(
    ("name", "data"),
    [("t", "h\na\n\nb\n"), ("c", 'h,i\na,\n"",\nb,\n'), ("t.csv", 'h\r\n"a"\r\n\r\nb\r\n')],
)
def test_a_column_alone_has_empty_segments(tmp_path, name, data):
    assert TextTable(write(tmp_path / name, data)).texts("h") == ["a", "", "b"]


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ('h\tr\n"Ja", er\t"\n"nein"\t""\n', ['"Ja", er', '"nein"']),
        ('"h"\tr\n"a"\tb\n', None),
        ('"h"\t"r"\n"a"\t"b"\n"""c\td"""\te\n', ["a", '"c\td"']),
    ],
)  # fmt: skip
def test_tsv_is_quoted_if_its_header_is(tmp_path, data, found):
    path = write(tmp_path / "t.tsv", data)
    if found is None:
        assert message_of(path, "h") == 'no column h; there are: "h", r'
    else:
        assert TextTable(path).texts("h") == found


@pytest.mark.parametrize("name", ["table.tsv", "table.csv", "table.jsonl"])
def test_pipes_are_tables_too(monkeypatch, name):
    data = WRITERS[name]({"h": ["a", 'b "c"'], "r": ["d", "e"]})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    tables: dict[str, TextTable] = {}
    texts = [open_text(f"-:{name}", tables) for name in "hrh"]
    check_stdin(texts)
    assert list(read_parallel(*texts)) == [("a", "d", "a"), ('b "c"', "e", 'b "c"')]
    with pytest.raises(DataError, match="named more than once"):
        check_stdin([*texts, open_text("-")])


@pytest.mark.parametrize(
    ("name", "file", "column"),
    [
        ("out.jsonl:mt", "out.jsonl", "mt"),
        ("OUT.JSONL.GZ:out.text", "OUT.JSONL.GZ", "out.text"),
        ("-:mt", "-", "mt"),
        ("/dev/fd/63:a b", "/dev/fd/63", "a b"),
    ],
)
def test_a_column_is_named_behind_its_file(name, file, column):
    text = open_text(name)
    assert isinstance(text, ColumnText)
    assert (text.path, text.column) == (file, column)


PROMPT = "You are a careful translator of German news ."


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
@pytest.mark.parametrize(
    "systems",
    [
        [{"prompt": PROMPT}, {"prompt": "b"}] * 3,
        [["A"], ["B"]] * 3,
        [PROMPT, "Answer with nothing but the translation , please ."] * 3,
        [f"number {n}" for n in range(6)],
        ["", "A"] * 3,
        [None, "A"] * 3,
        ["A", None, "B"] * 2,
        ["A"] * 6,
    ],
    ids=["object", "list", "prompt", "varying", "empty", "null", "gap", "one"],
)
def test_what_names_no_systems_is_a_column_like_others(tmp_path, ending, systems):
    texts = ["a", "b", "c", "d", "e", "f"]
    path = write(
        tmp_path / f"t.{ending}", WRITERS[f"table.{ending}"]({"system": systems, "mt": texts})
    )
    assert find_systems(TextTable(path)) is None
    assert list(read_segments(f"{path}:mt")) == texts


@pytest.mark.parametrize("names", [["A", "B"], ["GPT-4 (temperature 0)", "NLLB_MBR.6862"], [1, 2]])
@pytest.mark.parametrize("order", ["by system", "by segment"])
def test_names_that_repeat_are_systems(tmp_path, names, order):
    systems = names * 3 if order == "by segment" else [name for name in names for _ in range(3)]
    path = write(tmp_path / "t.jsonl", json_lines({"system": systems, "mt": [*"abcdef"]}))
    found = find_systems(TextTable(path))
    assert found is not None
    assert [*found.systems] == [*map(str, names)]
    with pytest.raises(DataError, match="has a row for each segment and system"):
        list(read_segments(f"{path}:mt"))
    assert len(TextTable(path).texts("mt")) == 6  # who asks for it knows of it


def test_line_ends_of_other_systems(tmp_path):
    path = write(tmp_path / "t", b"\xef\xbb\xbfh\tr\r\na\tb\r\nc\td\r\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # CSV has such line ends
        assert TextTable(path).texts("h") == ["a", "c"]
        assert TextTable(path).texts("r") == ["b", "d"]
        inside = write(tmp_path / "j", json_lines({"h": ["a\r", "b\rc", "d\r"]}))
        assert TextTable(inside).texts("h") == ["a", "b\rc", "d"]


def test_parquet_needs_its_package(tmp_path, monkeypatch):
    path = write(tmp_path / "p.parquet", as_parquet({"h": ["a"]}))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=re.escape("coverage-eval[parquet]")):
        TextTable(path).texts("h")


plain = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
objects = st.dictionaries(
    st.text(max_size=3), plain | st.lists(plain, max_size=3), min_size=1, max_size=3
)


@given(st.lists(objects, min_size=1, max_size=3))
def test_written_files_are_read_back(tmp_path_factory, written):
    path = tmp_path_factory.mktemp("json") / "some.jsonl"
    path.write_text("".join(f"{json.dumps(item)}\n" for item in written), encoding="utf-8")
    assert TextTable(path).rows == written
