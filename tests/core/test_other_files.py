"""Files that are nearly texts: read where their meaning is certain, else called what they are."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import warnings
import zipfile
from pathlib import Path

import pytest

from coverage_eval.core.errors import DataError
from coverage_eval.core.texts import open_text, read_parallel, read_segments

TEXTS = ["a house", "", "the “dog”, [he] said"]
ROWS = [{"mt": text, "out": {"n": number}} for number, text in enumerate(TEXTS)]


def write(path: Path, data: str) -> str:
    path.write_text(data, encoding="utf-8")
    return str(path)


def refusal(path: str) -> str:
    """What is said of a file that is no text, in one line that does not call it absent."""
    with pytest.raises(DataError) as caught:
        list(read_segments(path))
    message = str(caught.value)
    assert message.startswith(path)
    assert "\n" not in message
    assert "no such file" not in message
    return message


@pytest.mark.parametrize("indent", [None, 0, 2])
@pytest.mark.parametrize("name", ["array.json", "array.txt", "array"])
def test_a_json_array_is_a_table_or_a_text(tmp_path, indent, name):
    path = write(tmp_path / name, json.dumps(ROWS, indent=indent, ensure_ascii=False))
    assert list(read_segments(f"{path}:mt")) == TEXTS
    assert open_text(path).is_table()
    assert f"is a table: name a column of it, as {path}:COLUMN: mt, out, out.n" in refusal(path)
    text = write(tmp_path / f"strings {name}", json.dumps(TEXTS, indent=indent))
    assert not open_text(text).is_table()
    assert list(read_parallel(text, f"{path}:mt")) == list(zip(TEXTS, TEXTS, strict=True))


def test_json_lines_are_a_table_whatever_their_name(tmp_path):
    path = write(tmp_path / "out.txt", "".join(f"{json.dumps(row)}\n" for row in ROWS))
    assert list(read_segments(f"{path}:mt")) == TEXTS
    assert "is a table" in refusal(path)


@pytest.mark.parametrize(
    "line", ["[Applause]", "[", '["no" he said', "{name} sleeps", '{"no"', "[1]", "[]", "<s> a"]
)
def test_texts_that_begin_like_other_files_are_texts(tmp_path, line):
    path = write(tmp_path / "a", f"{line}\na house\n")
    assert list(read_segments(path)) == [line, "a house"]


def test_a_look_ahead_says_nothing_twice(tmp_path):
    path = write(tmp_path / "a", "a house\r\na dog\r\n")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert list(read_segments(path)) == ["a house", "a dog"]
    assert len(said) == 1


@pytest.mark.parametrize(
    "data", ["", "{}", "NaN", "7", '"a"', "[", "[" * 100_000, "[1, 2]", '["a", 2]', "[[]]",
             "a house\n", '{"a": "a dog", "b": ""}', '[{"mt": "a"},\n'],
)  # fmt: skip
def test_what_ends_in_json_is_json_of_texts(tmp_path, run_cli, data):
    path = write(tmp_path / "a.json", data)
    assert "is no JSON of texts, which is an array of strings or of objects" in refusal(path)
    done = run_cli("rep", "a.json", "a.json", cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout) == (1, "")


def test_rows_inside_an_object_are_named_with_the_line_that_writes_them(tmp_path):
    path = write(tmp_path / "all.json", json.dumps({"model": "x", "all rows": ROWS}))
    line = refusal(path).partition("; type: ")[2].replace("ROWS.json", "/dev/stdout")
    written = subprocess.run(line, shell=True, capture_output=True, check=True, text=True).stdout
    assert json.loads(written) == ROWS


def test_the_column_to_type_is_a_text_and_no_object(tmp_path, run_cli):
    rows = [{"hyp": {"text": text}, "ref": text} for text in TEXTS]
    write(tmp_path / "a.json", json.dumps(rows))
    said = run_cli("rep", "a.json", "a.json", cwd=tmp_path, check=False).stderr
    typed = said.partition("Type: coverage-eval ")[2].split()
    assert typed == ["rep", "a.json:COLUMN", "a.json:ref"]


TMX = (
    '<?xml version="1.0" encoding="ENCODING"?>\n<tmx version="1.4"><header/><body><tu><tuv '
    'xml:lang="de"><seg>ein <bpt i="1">&lt;b></bpt>Haus<ept i="1">&lt;/b></ept></seg></tuv>'
    '<tuv xml:lang="en"><seg>a <hi>house</hi></seg></tuv></tu></body></tmx>\n'
)
XLIFF_1 = (
    '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file><body><trans-unit '
    'id="1"><source>ein Haus</source><target>a <g id="1">house</g><ph id="2">{0}</ph>'
    "</target></trans-unit></body></file></xliff>\n"
)
XLIFF_2 = (
    '<?xml version="1.0"?>\n<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0"><file><unit>'
    "<segment><source>ein Haus</source><target>a house</target></segment></unit></file></xliff>\n"
)
SGM = '<refset setid="x">\n<doc>\n<seg id="1"> a house </seg>\n<seg id="2">he &amp; she</seg>\n'


@pytest.mark.parametrize(
    ("name", "data", "what", "written"),
    [
        ("x.tmx", TMX.replace("ENCODING", "UTF-8"), "a translation memory",
         "ein Haus\ta house\n"),
        ("16.tmx", TMX.replace("ENCODING", "UTF-16"), "a translation memory",
         "ein Haus\ta house\n"),
        ("x.xliff", XLIFF_1, "XLIFF", "ein Haus\ta house\n"),
        ("x.xlf", XLIFF_2, "XLIFF", "ein Haus\ta house\n"),
        ("my ref.sgm", SGM, "WMT's test sets", "a house\nhe & she\n"),
        ("x.html", "<!DOCTYPE html>\n<html></html>\n", "a web page", None),
        ("x.xml", '<?xml version="1.0"?>\n<a>b</a>\n', "a file of XML", None),
    ],
)  # fmt: skip
def test_other_files_are_called_what_they_are_with_a_line_that_runs(
    tmp_path, name, data, what, written
):
    path = str(tmp_path / name)
    Path(path).write_text(data, encoding="utf-16" if "UTF-16" in data else "utf-8")
    message = refusal(path)
    assert what in message
    if written is None:
        return
    command, _, target = message.split(": ", 2)[2].rpartition(" > ")
    assert Path(target.strip("'")).parent == tmp_path
    ran = subprocess.run(command, shell=True, capture_output=True, check=True, text=True)
    assert ran.stdout == written


@pytest.mark.parametrize(
    ("member", "what"), [("xl/workbook.xml", "a spreadsheet of Excel"),
                         ("word/document.xml", "a Word file"),
                         ("content.xml", "an OpenDocument file"), ("a.txt", "a zip archive")],
)  # fmt: skip
def test_zip_archives_are_told_by_their_members(tmp_path, member, what):
    path = tmp_path / "p.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(member, "text")
    for name in (str(path), f"{path}:mt"):
        with pytest.raises(DataError, match=f"is {what}"):
            list(open_text(name))


def test_data_with_zeros_is_no_text_of_utf_16(tmp_path):
    for name, encoding in (("le", "UTF-16LE"), ("be", "UTF-16BE")):
        (tmp_path / name).write_bytes("a house　and a dog\n".encode(encoding) * 40)
        assert f"iconv -f {encoding} " in refusal(str(tmp_path / name))
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        archive.add(tmp_path / "le", "le")
    for name in ("x.tar", sys.executable):
        assert "is data of a program" in refusal(str(tmp_path / name))


def test_a_file_that_is_there_is_never_called_absent(tmp_path, run_cli):
    write(tmp_path / "a=b.txt", "ref\tmt\na dog\ta dog\n")
    write(tmp_path / "x:y", "a dog\n")
    for name in ("a=b.txt:mt", "x:y", "n=x:y", "n=a=b.txt:mt"):
        shown = run_cli("compare", name, "--ref", "a=b.txt:ref", "-m", "rep", "-b", cwd=tmp_path)
        assert (shown.returncode, shown.stdout) == (0, "0.00\n")


def test_blank_lines_that_are_too_many_are_named(tmp_path):
    lines = [f"line {number}\n" for number in range(1, 31)]
    files = {
        "whole": lines, "last": [*lines, "\n"], "two": [*lines, "\n", " \n"],
        "middle": [*lines[:14], "\n", *lines[14:]], "more": [*lines, "line 31\n"],
    }  # fmt: skip
    paths = {name: write(tmp_path / name, "".join(data)) for name, data in files.items()}
    said = {
        "last": "line 31 of {} is blank and the last: remove it",
        "two": "lines 31, 32 of {} are blank and the last: remove them",
        "middle": "line 15 of {} is blank: remove it, ",
        "more": "line N of one file must belong to line N of the other",
    }
    for name, advice in said.items():
        for order in ((name, "whole"), ("whole", name)):
            with pytest.raises(DataError) as caught:
                list(read_parallel(*map(paths.get, order)))
            assert advice.format(paths[name]) in str(caught.value)
