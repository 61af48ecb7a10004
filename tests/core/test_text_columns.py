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
from hypothesis import assume, example, given
from hypothesis import strategies as st
from pyarrow import parquet

from coverage_eval.core import files
from coverage_eval.core import tables as tables_module
from coverage_eval.core.errors import CorpusWarning, DataError, MissingDependencyError
from coverage_eval.core.long_tables import find_systems
from coverage_eval.core.packed import zstd
from coverage_eval.core.tables import ColumnText, TextTable
from coverage_eval.core.texts import check_stdin, open_text, read_parallel, read_segments
from coverage_eval.core.unsupported_files import identify_lines

Columns = Mapping[str, Sequence[str]]
TEXTS = st.text(st.characters(exclude_characters='\0\n\t"', exclude_categories=["Cs"]), max_size=8)
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
@example(table={"h": [""], "r": ["{}"]})  # an object without fields is no row of a table
def test_columns_are_the_texts_of_plain_files(folder, name, table):
    (folder / name).write_bytes(WRITERS[name](table))
    for side, segments in table.items():
        assume(identify_lines(segments, side) is None)
        (folder / side).write_bytes("".join(f"{segment}\n" for segment in segments).encode())
    with warnings.catch_warnings():  # about carriage returns
        warnings.simplefilter("ignore", CorpusWarning)
        file = TextTable(folder / name)
        found = list(read_parallel(ColumnText(file, "r"), folder / "h", ColumnText(file, "h")))
        plain = list(read_parallel(folder / "r", folder / "h", folder / "h"))
        if table["h"][0].startswith("\ufeff") or table["r"][0].startswith("\ufeff"):
            # a byte order mark begins a file, not the first cell below a header
            found, plain = found[1:], plain[1:]
        assert found == plain
        assert file.names() == ["h", "r"]


@given(table=TABLES, quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
def test_quoted_fields(folder, table, quoting):
    first = {name: ['say "Ja"', *cells] for name, cells in table.items()}
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter="\t", lineterminator="\r\n", quoting=quoting).writerows(
        [first, *rows(first)]
    )
    (folder / "quoted.tsv").write_bytes(buffer.getvalue().encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)
        found = list(TextTable(folder / "quoted.tsv").texts(["h", "r"]))
    assert found == [tuple(cell.removesuffix("\r") for cell in row) for row in rows(first)]


def write(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def message_of(path: Path, *columns: str) -> str:
    """The error message for a file, without its name."""
    with pytest.raises(DataError) as caught:
        list(TextTable(path).texts(columns))
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
        ('h,r\na,b\n"c,d\n', "line 3: unexpected end of data"),
        ('{"h": "a"}\n{"r": "b"}\n', "line 2: no column h; there are: r"),
        ('{"h": "a"}\n{"h": null}\n', f"line 2, column 'h': {MISSING}"),
        ('{"h": {"t": "a"}}\n', "line 1, column 'h': is not text, but an object; name one of its"),
        (b"PK\x03\x04\xff" + b"x" * 99, "is a zip archive; unpack it"),
        ('{"h": "a", "h": "b"}\n', "line 1: not JSON: a name occurs twice in an object"),
        ('{"h": "a"}\n["h"]\n', "line 2: JSON, but not an object {…}"),
        ('[{"h": "a"}, 3]\n', "item 2: JSON, but not an object {…}"),
        ('[{"h": "a"},\n', "is no whole JSON array: "),
        ('{\n "data": [{"h": "a"}]\n}\n', "is one JSON object; write its rows as JSON Lines"),
        ("h\tr\na\tb\n".encode("utf-16"), "is UTF-16 text; convert it: iconv"),
        ("h\tr\na\tb\n".encode("utf-16-le"), "is UTF-16 text; convert it: iconv -f UTF-16LE"),
        ("h\tr\na\tb\n".encode("utf-16-be"), "is UTF-16 text; convert it: iconv -f UTF-16BE"),
        ("h\tr\na\tgr\xfcn\n".encode("latin-1"), "line 2: not valid UTF-8 at byte offset 8"),
        (gzip.compress(b"h\n", mtime=0), "is a gzip file; give it a name that ends in .gz"),
        ('h\tr\na\tb\n"c\n', "line 3: 1 fields where the header has 2"),
        ('h\tr\na\tb\n"c ""d"""\te\n"f\n', "line 4: unexpected end of data"),
        (as_parquet({"h": ["\xe4"]}), "is a Parquet file; give it a name that ends in .parquet"),
    ],
)  # fmt: skip
def test_cells_that_are_not_text_are_refused(tmp_path, data, message):
    assert message_of(write(tmp_path / "table", data), "h").startswith(message)


def test_parquet_that_is_refused(tmp_path):
    whole = as_parquet({"h": ["a", None]})  # type: ignore[list-item]
    path = write(tmp_path / "t.parquet", whole)
    assert message_of(path, "h") == f"row 2, column 'h': {MISSING}"
    assert message_of(tmp_path / "missing.parquet", "h") == "no such file"
    for damaged in (whole[:90] + b"\0" * 400 + b"PAR1", b"h\n"):
        assert message_of(write(path, damaged), "h").startswith("cannot be read as Parquet (")


def test_fields_longer_than_pythons_own_limit(tmp_path, monkeypatch):
    cell = "a, " * 100_000
    path = write(tmp_path / "table", f'h,r\n"{cell}",b\n')
    assert list(TextTable(path).texts(["h", "r"])) == [(cell, "b")]
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 1 << 18)
    csv.field_size_limit(131_072)
    assert "longer than 262,144 bytes" in message_of(path, "h")


def test_columns_without_names(tmp_path):
    file = TextTable(write(tmp_path / "t", "0.9\tein Haus\ta house\n1\t\t\n"))
    assert list(file.texts(["3", "2"])) == [("a house", "ein Haus"), ("", "")]
    assert message_of(tmp_path / "t", "4") == "line 1: no column 4; there are: 1, 2, 3"
    named = write(tmp_path / "n", "src\tmt\na\tb\n")
    assert message_of(named, "2") == "line 1: no column 2; there are: src, mt"


def test_a_column_alone_has_empty_segments(tmp_path):
    for name, data in {"t": "h\na\n\nb\n", "c": 'h,i\na,\n"",\nb,\n'}.items():
        file = TextTable(write(tmp_path / name, data))
        assert list(read_segments(ColumnText(file, "h"))) == ["a", "", "b"]


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ('h\tr\n"Ja", er\t"\n"nein"\t""\n', [('"Ja", er', '"'), ('"nein"', '""')]),
        ('h\tr\na\tb\n"""Ja"", er"\tc\n', [("a", "b"), ('"Ja", er', "c")]),
        ('h\tr\n"no\tb\n"say ""Ja"""\tc\n', [('"no', "b"), ('"say ""Ja"""', "c")]),
        ('"h"\t"r"\n"a"\t"b"\n', [("a", "b")]),
    ],
)  # fmt: skip
def test_the_first_cell_with_a_quotation_mark_decides(tmp_path, data, found):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(TextTable(write(tmp_path / "t.tsv", data)).texts("hr")) == found


def test_marks_that_do_not_tell_are_no_quotes(tmp_path, monkeypatch):
    path = write(tmp_path / "t.tsv", 'h\n"a"\nb\n"c ""d"""\n')
    assert list(TextTable(path).texts("h")) == [("a",), ("b",), ('c "d"',)]
    monkeypatch.setattr(tables_module, "_TELLING_LINES", 2)
    assert list(TextTable(path).texts("h")) == [('"a"',), ("b",), ('"c ""d"""',)]


@pytest.mark.filterwarnings("ignore:.*carriage return")
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


def test_urls_are_refused():
    with pytest.raises(DataError, match="is a URL; download the file first"):
        open_text("https://example.org/a.tsv:mt")


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
    assert found.names == [*map(str, names)]
    with pytest.raises(DataError, match="has a row for each segment and system"):
        list(read_segments(f"{path}:mt"))
    assert len(list(TextTable(path).cells(["mt", "system"]))) == 6  # who asks for it knows of it


def test_line_ends_of_other_systems(tmp_path):
    path = write(tmp_path / "t", b"\xef\xbb\xbfh\tr\r\na\tb\r\nc\td\r\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # CSV has such line ends
        assert list(TextTable(path).texts("rh")) == [("b", "a"), ("d", "c")]
    inside = write(tmp_path / "j", json_lines({"h": ["a\r", "b\rc", "d\r"]}))
    with pytest.warns(CorpusWarning) as caught:
        assert list(TextTable(inside).texts("h")) == [("a",), ("b\rc",), ("d",)]
    (warning,) = caught
    assert "line 1, column 'h': ends in a carriage return" in str(warning.message)


def test_parquet_needs_its_package(tmp_path, monkeypatch):
    path = write(tmp_path / "p.parquet", as_parquet({"h": ["a"]}))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=re.escape("coverage-eval[parquet]")):
        list(TextTable(path).texts("h"))


plain = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
objects = st.dictionaries(st.text(max_size=3), plain | st.lists(plain, max_size=3), max_size=3)


@given(st.lists(objects, min_size=1, max_size=3))
def test_written_files_are_read_back(tmp_path_factory, written):
    path = tmp_path_factory.mktemp("json") / "some.jsonl"
    path.write_text("".join(f"{json.dumps(item)}\n" for item in written), encoding="utf-8")
    assert list(TextTable(path).records()) == written
