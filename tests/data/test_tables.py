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
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from coverage_eval.data.files import (
    MAX_LINE_BYTES,
    Column,
    CorpusWarning,
    check_readable_again,
    check_source,
    check_stdin,
    read_parallel,
    read_segments,
    zstd,
)
from coverage_eval.data.json_objects import ONE_A_LINE, parse_object, read_objects
from coverage_eval.data.tables import ColumnFile, read_header, read_records, write_records
from coverage_eval.errors import DataError, MissingDependencyError

Table = Mapping[str, Sequence[str]]
TEXTS = st.text(st.characters(exclude_characters="\n\t", exclude_categories=["Cs"]), max_size=8)
TABLES = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6).map(
    lambda rows: dict(zip("hr", map(list, zip(*rows, strict=True)), strict=True))
)


def rows(table: Table) -> list[tuple[str, ...]]:
    return list(zip(*table.values(), strict=True))


def tsv(table: Table) -> bytes:
    return "".join("\t".join(row) + "\n" for row in [tuple(table), *rows(table)]).encode()


def as_csv(table: Table, delimiter: str = ",") -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter, lineterminator="\r\n").writerows([table, *rows(table)])
    return buffer.getvalue().encode()


def json_lines(table: Table, *, escaped: bool = True) -> bytes:
    records = (dict(zip(table, row, strict=True)) for row in rows(table))
    return "".join(json.dumps(item, ensure_ascii=escaped) + "\n" for item in records).encode()


def as_parquet(table: Table, **options: object) -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(pa.table(dict(table)), buffer, **options)
    return buffer.getvalue()


WRITERS: dict[str, Callable[[Table], bytes]] = {
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
def test_columns_are_the_texts_of_plain_files(folder, name, table):
    (folder / name).write_bytes(WRITERS[name](table))
    for side, segments in table.items():
        (folder / side).write_bytes("".join(f"{segment}\n" for segment in segments).encode())
    with warnings.catch_warnings():  # about carriage returns
        warnings.simplefilter("ignore", CorpusWarning)
        file = ColumnFile(folder / name, quoted=False)
        found = list(read_parallel(Column(file, "r"), folder / "h", Column(file, "h")))
        plain = list(read_parallel(folder / "r", folder / "h", folder / "h"))
        if table["h"][0].startswith("\ufeff") or table["r"][0].startswith("\ufeff"):
            # a byte order mark begins a file, not the first cell below a header
            found, plain = found[1:], plain[1:]
        assert found == plain
        assert file.names() == ["h", "r"]


@given(table=TABLES)
def test_quoted_fields(folder, table):
    (folder / "quoted.tsv").write_bytes(as_csv(table, "\t"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)
        found = list(ColumnFile(folder / "quoted.tsv", quoted=True).texts(["h", "r"]))
    assert found == [tuple(cell.removesuffix("\r") for cell in row) for row in rows(table)]


def write(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def message_of(path: Path, *columns: str, **options: bool) -> str:
    """The error message for a file, without its name."""
    with pytest.raises(DataError) as caught:
        list(ColumnFile(path, **options).texts(columns))
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


MISSING = "a missing value; if it is an empty segment, write an empty text"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "the file is empty"),
        ("x\ty\n", "line 1: no column h; there are: x, y"),
        ("h\th\na\tb\n", "line 1: two columns h; there are: h, h"),
        ("h\tr\na\tb\nc\n", "line 3: 1 fields where the header has 2"),
        ("h\tr\na\tb\nc\td\te\n", "line 3: 3 fields where the header has 2"),
        ('h,r\na,b\n"c,d\n', "line 3: unexpected end of data"),
        ('{"h": "a"}\n{"r": "b"}\n', "line 2: no column h; there are: r"),
        ('{"h": "a"}\n{"h": null}\n', f"line 2, column 'h': {MISSING}"),
        ('{"h": "a"}\n{"h": 5}\n', "line 2, column 'h': is not text, but a number"),
        ('{"h": ["a"]}\n', "line 1, column 'h': is not text, but a list; name one of its items"),
        ('{"h": {"t": "a"}}\n', "line 1, column 'h': is not text, but an object; name one of its"),
        (b"PK\x03\x04" + b"x" * 99, "not a table of Excel ("),
        ('{"h": "a\\ud800"}\n', "line 1, column 'h': not valid Unicode: half a character at 2"),
        ('{"h": "a", "h": "b"}\n', "line 1: not JSON: a name occurs twice in an object"),
        ('{"h": "a"}\n\n', "line 2: not JSON: Expecting value"),
        ('{"h": "a"}\n["h"]\n', "line 2: JSON, but not an object {…}"),
        ('{"h": ' + "[" * 100_000 + "\n", "line 1: not JSON: maximum recursion depth exceeded"),
        ('{"h": ' + "9" * 5000 + "}\n", "line 1, column 'h': is not text, but a number"),
        ('[{"h": "a"}]\n', f"is not JSON Lines; {ONE_A_LINE}"),
        ('[\n {"h": "a"}\n]\n', f"is not JSON Lines; {ONE_A_LINE}"),
        ("h\tr\na\tb\n".encode("utf-16"), "line 1: not valid UTF-8 at byte offset 0"),
        ("h\tr\na\tgr\xfcn\n".encode("latin-1"), "line 2: not valid UTF-8 at byte offset 8"),
        (gzip.compress(b"h\n", mtime=0), "a gzip file; give it a name that ends in .gz"),
        (zstd.compress(b"h\n"), "a zstd file; give it a name that ends in .zst"),
        (as_parquet({"x": ["a"]}), "no column h; there are: x"),
        (as_parquet({"h": ["a", None]}), f"row 2, column 'h': {MISSING}"),  # type: ignore[list-item]
        (as_parquet({"h": [1, 2]}), "column 'h' is not text: int64"),  # type: ignore[list-item]
        (as_parquet({"h": [["a"]]}), "column 'h' is not text: list<"),  # type: ignore[list-item]
        (as_parquet({"h": [b"a", b"\xff"]}), "row 2, column 'h': not valid UTF-8 at byte 0"),  # type: ignore[list-item]
        (as_parquet({"h": ["a"]})[:-6], "damaged Parquet file ("),
        (as_parquet({"h": ["a"]})[:90] + b"\0" * 400 + b"PAR1", "damaged Parquet file ("),
    ],
)  # fmt: skip
def test_cells_that_are_not_text_are_refused(tmp_path, data, message):
    assert message_of(write(tmp_path / "table", data), "h").startswith(message)


def test_numbers_of_any_length_in_other_columns(tmp_path):
    path = write(tmp_path / "table", '{"h": "a", "n": -' + "9" * 10_000 + ', "m": 1}\n')
    assert list(ColumnFile(path).texts(["h"])) == [("a",)]


def test_fields_longer_than_pythons_own_limit(tmp_path):
    cell = "a, " * 100_000
    path = write(tmp_path / "table", f'h,r\n"{cell}",b\n')
    assert list(ColumnFile(path).texts(["h", "r"])) == [(cell, "b")]
    MAX_LINE_BYTES.set(1 << 18)
    csv.field_size_limit(131_072)
    try:
        assert "longer than 262,144 bytes" in message_of(path, "h")
    finally:
        MAX_LINE_BYTES.set(1 << 26)


def test_missing_and_damaged_files(tmp_path):
    assert message_of(tmp_path / "nowhere", "h") == "no such file"
    assert message_of(tmp_path, "h") == "is a folder; name a text file"
    assert message_of(write(tmp_path / "a.zst", b"x"), "h").startswith("damaged zstd file (")
    cut = zstd.compress(b"h\tr\n" * 99)[:-3]
    assert message_of(write(tmp_path / "b.zst", cut), "h").startswith("damaged zstd file (")


def test_columns_without_names(tmp_path):
    file = ColumnFile(write(tmp_path / "t", "0.9\tein Haus\ta house\n1\t\t\n"), headed=False)
    assert file.names() == ["1", "2", "3"]
    assert list(file.texts(["3", "2"])) == [("a house", "ein Haus"), ("", "")]


def test_a_column_alone_has_empty_segments(tmp_path):
    for name, data in {"t": "h\na\n\nb\n", "c": 'h\na\n""\nb\n'}.items():
        file = ColumnFile(write(tmp_path / name, data), quoted=name == "c")
        assert list(read_segments(Column(file, "h"))) == ["a", "", "b"]


def test_quotes_are_plain_characters_by_default(tmp_path):
    path = write(tmp_path / "t", 'h\tr\n"Ja", er\t"\n"nein"\t""\n')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(ColumnFile(path).texts("hr")) == [('"Ja", er', '"'), ('"nein"', '""')]
    quoted = write(tmp_path / "q", 'h\tr\na\tb\n"""Ja"", er"\tc\n"""Nein"""\td\n')
    for chosen in (None, True):
        file = ColumnFile(quoted, quoted=chosen)
        assert list(file.texts("h"))[1:] == [('"Ja", er',), ('"Nein"',)]
    assert list(ColumnFile(quoted, quoted=False).texts("h"))[2] == ('"""Nein"""',)
    first_is_plain = write(tmp_path / "p", 'h\tr\n"no\tb\n"say ""Ja"""\tc\n')
    assert message_of(first_is_plain, "h").startswith("line 3, column 'h': is quoted, as spread")
    everywhere = write(tmp_path / "e", '"h"\t"r"\n"a"\t"b"\n')
    assert list(ColumnFile(everywhere).texts("rh")) == [("b", "a")]


def test_quotes_in_a_pipe_are_refused(run_cli):
    table = 'h\tr\na\tb\n"say ""Ja"""\tc\n'
    command = ("rep", "--from", "-", "--hyp-col", "h", "--ref-col", "r")
    refused = run_cli(*command, stdin=table, check=False)
    assert refused.returncode == 1
    assert "line 3, column 'h': is quoted, as spreadsheets and pandas write" in refused.stderr
    for choice in ("--quoted", "--unquoted"):
        assert run_cli(*command, choice, stdin=table).stdout


def test_line_ends_of_other_systems(tmp_path):
    path = write(tmp_path / "t", b"\xef\xbb\xbfh\tr\r\na\tb\r\nc\td\r\n")
    with pytest.warns(CorpusWarning, match="line 1 ends in a carriage return"):
        assert list(ColumnFile(path).texts("rh")) == [("b", "a"), ("d", "c")]
    inside = write(tmp_path / "j", json_lines({"h": ["a\r", "b\rc", "d\r"]}))
    with pytest.warns(CorpusWarning) as caught:
        assert list(ColumnFile(inside).texts("h")) == [("a",), ("b\rc",), ("d",)]
    (warning,) = caught
    assert "line 1, column 'h': ends in a carriage return" in str(warning.message)


@pytest.mark.parametrize("name", ["h.tsv", "h.jsonl", "h.parquet"])
def test_long_cells(tmp_path, name):
    path = write(tmp_path / name, WRITERS[name.replace("h.", "table.")]({"h": ["ä" * 300]}))
    token = MAX_LINE_BYTES.set(500)
    try:
        assert "is longer than 500 bytes; if it is text" in message_of(path, "h")
    finally:
        MAX_LINE_BYTES.reset(token)
    assert len(list(ColumnFile(path).texts("h"))) == 1


def test_files_that_unpack_too_large_are_refused(tmp_path):
    """Small files that unpack to more than 64 MiB."""
    zeros = pa.array([0] * 2000, pa.int32())
    shared = pa.DictionaryArray.from_arrays(zeros, pa.array(["z" * 50_000]))
    bombs = {
        "a.zst": zstd.compress(b"h\n" + (b"z" * 1_000_000 + b"\n") * 70),
        "dictionary": as_parquet({"h": shared}, compression="zstd"),
        "page": as_parquet({"h": ["z" * 70_000_000]}, compression="zstd", use_dictionary=False),
    }
    for name, data in bombs.items():
        assert len(data) < 100_000
        assert "unpacks to more than 400 times" in message_of(write(tmp_path / name, data), "h")


def test_parquet_with_all_text_types(tmp_path):
    for kind in (pa.string(), pa.large_string(), pa.binary()):
        column = pa.array(["a", "", "ü"]).cast(kind)
        for texts in (column, column.dictionary_encode()):
            path = write(tmp_path / "p", as_parquet({"h": texts}))
            assert list(ColumnFile(path).texts("h")) == [("a",), ("",), ("ü",)]


def test_parquet_needs_its_package(tmp_path, monkeypatch):
    path = write(tmp_path / "p", as_parquet({"h": ["a"]}))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=re.escape("coverage-eval[parquet]")):
        list(ColumnFile(path).texts("h"))


def test_standard_input_is_read_once_for_all_columns(monkeypatch):
    file = ColumnFile("-")
    texts = [Column(file, "h"), Column(file, "r"), Column(file, "h")]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"h\tr\na\tb\n\t\n")))
    check_stdin(*texts)
    check_source(texts[0])
    assert list(read_parallel(*texts)) == [("a", "b", "a"), ("", "", "")]
    with pytest.raises(DataError, match="standard input: is read several times"):
        check_readable_again(texts[0])
    with pytest.raises(DataError, match="named more than once"):
        check_stdin(*texts, "-")
    with pytest.raises(DataError, match="named more than once"):
        check_stdin(*texts, Column(ColumnFile("-"), "h"))


def test_columns_and_files_of_unequal_lengths(tmp_path):
    file = ColumnFile(write(tmp_path / "t", "h\tr\na\tb\n"))
    text = write(tmp_path / "plain", "x\ny\n")
    expected = f"unequal numbers of lines: {tmp_path}/t: column h has 1, {text} has 2"
    with pytest.raises(DataError, match=re.escape(expected)):
        list(read_parallel(Column(file, "h"), text))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.tsv", 'h\tn\na, "b"\t1\né\t\n=1\t\n'),
        ("r.CSV", 'h,n\n"a, ""b""",1\né,\n\'=1,\n'),
        ("r.jsonl", '{"h": "a, \\"b\\"", "n": 1}\n{"n": null, "h": "é"}\n{"h": "=1"}\n'),
    ],
)
def test_records_are_written_in_the_form_of_the_files_name(tmp_path, name, text):
    path = tmp_path / name
    rows = [{"h": 'a, "b"', "n": 1}, {"n": None, "h": "é"}, {"h": "=1"}]
    assert write_records(str(path), ["h", "n"], rows) == (name == "r.CSV")
    assert path.read_text("utf-8") == text


@pytest.mark.filterwarnings("ignore:.*carriage return")
@pytest.mark.parametrize("name", ["table.tsv", "table.csv", "table.jsonl", "table.parquet"])
def test_records_have_all_columns(tmp_path, name):
    path = write(tmp_path / name, WRITERS[name]({"h": ["a", ""], "r": ["b", "c"]}))
    assert list(ColumnFile(path).records()) == [{"h": "a", "r": "b"}, {"h": "", "r": "c"}]


def test_records_of_a_tsv_file_with_needed_columns(tmp_path):
    path = write(tmp_path / "t", 'h\tr\n"a"\tb\n\t\n')
    assert read_header(path) == ["h", "r"]
    expected = [(2, {"h": '"a"', "r": "b"}), (3, {"h": "", "r": ""})]
    assert list(read_records(path, ["h"])) == expected
    with pytest.raises(DataError, match="t: line 1: no column x; there are: h, r"):
        list(read_records(path, ["x"]))
    empty = write(tmp_path / "e", "h\tr\n")
    with pytest.raises(DataError, match="e: no row under the header"):
        list(read_records(empty, ["h"]))
    assert read_header(write(tmp_path / "n", "")) == [""]


def test_records_that_a_form_cannot_hold(tmp_path):
    path = str(tmp_path / "r.tsv")
    for cell in ("a\tb", "a\nb", "a\rb"):
        with pytest.raises(DataError, match=r"r\.tsv: a text has a tab or a line end, which TSV"):
            write_records(path, ["h"], [{"h": cell}])
    half = {"h": "\ud800"}
    write_records(str(tmp_path / "r.jsonl"), ["h"], [half])
    assert [record for _, record in read_objects(tmp_path / "r.jsonl")] == [half]


def test_missing_columns_are_reported_before_scoring(tmp_path):
    file = ColumnFile(write(tmp_path / "t", "h\tr\na\tb\n"))
    check_source(Column(file, "h"))
    with pytest.raises(DataError, match="no column x"):
        check_source(Column(file, "x"))


plain = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
objects = st.dictionaries(st.text(max_size=3), plain | st.lists(plain, max_size=3), max_size=3)


@given(st.lists(objects, max_size=3))
def test_written_files_are_read_back(tmp_path_factory, written):
    path = tmp_path_factory.mktemp("json") / "some.jsonl"
    path.write_text("".join(f"{json.dumps(item)}\n" for item in written), encoding="utf-8")
    places = [f"{path}: line {number}" for number in range(1, len(written) + 1)]
    assert list(read_objects(path)) == list(zip(places, written, strict=True))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON: Expecting value"),
        ('{"a": 1, "b": {"c": 2, "c": 3}}', "not JSON: a name occurs twice in an object"),
        ('{"a": ' + "[" * 100_000, "not JSON: maximum recursion depth exceeded"),
        ("[1]", "JSON, but not an object {…}"),
        ("null", "JSON, but not an object {…}"),
    ],
)
def test_a_line_that_is_not_an_object_is_named(text, message):
    with pytest.raises(DataError) as caught:
        parse_object(text, "some.jsonl: line 7")
    assert str(caught.value).startswith(f"some.jsonl: line 7: {message}")
