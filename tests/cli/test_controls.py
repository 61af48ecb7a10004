"""Control characters of texts, links, models, names and other programs do not reach a terminal."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from coverage_eval.core.escapes import HIDDEN as HIDDEN_CHARACTERS
from tests.conftest import COMMAND, ROOT, RunCli

C0, C1, OVERRIDE = "\x1b[31m", "\x9b31m", "\u202e"
TAGS = "\U000e0041\U000e007f"
HIDDEN = f"\u2028\u200b\xad\ufeff{TAGS}"
NASTY = f"x{C0}{C1}{OVERRIDE}\u2066\u200f\x07{HIDDEN}y"
CONTROLS = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), *NASTY[4:-1]} - {*"\n31m"}


def controls(text: str) -> set[str]:
    return CONTROLS & set(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "hyp").write_text(f"{NASTY} {NASTY} {NASTY}\n")
    (tmp_path / "ref").write_text("a b\n")
    return tmp_path


@pytest.mark.parametrize("form", ["text", "json", "csv", "latex"])
def test_control_characters_of_texts_are_escaped(run_cli, folder, form):
    found = run_cli("rep", "hyp", "ref", "--sentence-level", "-f", form, cwd=folder).stdout
    assert controls(found.replace("\r\n", "\n")) == set()
    if form == "json":
        (sentence,) = json.loads(found)["scores"][0]["sentences"]
        words = sentence["marks"][0]["text"].split()  # a line separator is white space, too
        assert "".join(words) in "".join(f"{NASTY} {NASTY} {NASTY}".split())
        assert len(words) > 1
    else:
        assert "31m" in found


BY_MODEL = "--src src --model finder"
DOCUMENTS = "docs.jsonl:hyp --src docs.jsonl:src --model finder"
JSON_FILES = {
    "rep hyp ref --sentence-level -o a.json": 1,
    "rep hyp ref --sentence-level -o a.jsonl": 20,
    "rep t.jsonl:hyp t.jsonl:ref --sentence-level -o a.jsonl": 20,
    "rep hyp ref --keep a.jsonl --reject b.jsonl": 20,
    f"omissions hyp {BY_MODEL} -o a.json": 1,
    f"omissions hyp {BY_MODEL} --keep a.jsonl --reject b.jsonl": 20,
    f"omissions {DOCUMENTS} --unaligned --keep a.jsonl --reject b.jsonl": 2,
    f"omissions {DOCUMENTS} --unaligned --sentence-level -o a.json": 1,
    "compare --ref ref -m rep hyp --worst 2 -o a.json": 1,
    "compare --ref ref -m rep hyp --sentence-level -o a.jsonl": 21,
    f"segment hyp {BY_MODEL} -o a.json": 1,
    f"segment {DOCUMENTS} -o a.jsonl": 20,
}  # fmt: skip
"""Commands and how many JSON texts their files have; JSON Lines have one a line."""


@pytest.mark.parametrize("line", JSON_FILES)
def test_every_json_file_parses_whatever_the_texts_hide(
    run_cli, demonstration, finder, tmp_path, line
):
    hidden = "".join(map(chr, HIDDEN_CHARACTERS)).replace("\n", "").replace("\r", "")
    hidden = hidden.encode(errors="ignore").decode()  # without lone surrogates
    sides = {}
    for side, name in (("src", "test.de"), ("ref", "test.en"), ("hyp", "test.en")):
        texts = (demonstration / name).read_text().splitlines()[:20]
        texts[3] = f"{hidden} x {hidden} x {texts[3]}"
        sides[side] = texts
        (tmp_path / side).write_text("".join(f"{text}\n" for text in texts))
    (tmp_path / "finder").symlink_to(finder)
    rows = [dict(zip(sides, texts, strict=True)) for texts in zip(*sides.values(), strict=True)]
    for name, objects in (
        ("t.jsonl", rows),
        (
            "docs.jsonl",
            [
                {side: "\n".join(row[side] for row in part) for side in sides}
                for part in (rows[:10], rows[10:])
            ],
        ),
    ):
        (tmp_path / name).write_text("".join(f"{json.dumps(item)}\n" for item in objects))
    run_cli(*line.split(), cwd=tmp_path)
    found = []
    for file in (*tmp_path.glob("[ab].json"), *tmp_path.glob("[ab].jsonl")):
        text = file.read_text()
        assert controls(text) == set()
        found += map(json.loads, [text] if file.suffix == ".json" else text.splitlines())
    assert len(found) >= JSON_FILES[line]


def test_the_script_of_reports_hides_the_same_characters():
    """Its regular expression is written as this test writes it."""
    codes = sorted(set(HIDDEN_CHARACTERS) - {*range(0xD800, 0xE000)})  # JSON in UTF-8 has no halves
    spelt = {code: f"\\u{code:04x}" if code < 0x10000 else f"\\u{{{code:x}}}" for code in codes}
    runs = ""
    for code in codes:
        if code - 1 not in spelt or code + 1 not in spelt:
            runs += spelt[code]
            if code - 1 not in spelt and {code + 1, code + 2} <= spelt.keys():
                runs += "-"
    frontend = ROOT / "coverage_eval" / "comparison" / "report"
    for script in ("frontend/src/dom.ts", "assets/report.js"):
        assert f"/[{runs}]/gu" in (frontend / script).read_text(encoding="utf-8")


def messages(run_cli: RunCli, *arguments: object, **options: object) -> str:
    """The message of a failing command: a few lines without control characters."""
    result = run_cli(*arguments, check=False, **options)
    assert result.returncode in {1, 2}
    assert result.stdout == ""
    assert controls(result.stderr) == set()
    assert len(result.stderr.splitlines()) <= 6
    return result.stderr


def test_messages_about_files(run_cli, folder):
    (folder / "links").write_text(f"0-{C0}{C1}\n")
    (folder / "dump").write_text(f"{{{C1}: 1}}\n")
    assert "is not a link" in messages(run_cli, "align", "aer", "links", "links", cwd=folder)
    messages(run_cli, "attention", "score", "dump", cwd=folder)
    for form in ("jsonl", "marian", "alti"):
        convert = ("attention", "convert", "dump", "--input-format", form, "-o", "maps.npz")
        messages(run_cli, *convert, cwd=folder)
    for name in (f"no{C0}\nfile", f"no{C1}{OVERRIDE}file"):
        assert "no such file" in messages(run_cli, "rep", name, "ref", cwd=folder)


def test_messages_about_the_command_line(run_cli, folder):
    for arguments in (
        ("rep", "hyp", "ref", "-n", NASTY),
        ("rep", "hyp", "ref", f"--{NASTY}"),
        (NASTY,),
        ("compare", "--ref", "ref", "hyp", "--baseline", NASTY),
    ):
        assert "error: " in messages(run_cli, *arguments, cwd=folder)


def test_a_reader_that_stops_early_is_no_error_and_a_full_disk_is(run_cli, folder):
    # A reader that stops early is no error, and the rest is done.
    (folder / "long").write_text("a red red house\n" * 6_000)
    early = "rep long long --sentence-level --keep good"
    done = subprocess.run(
        ["/bin/sh", "-c", f'{{ "{COMMAND}" {early}; echo "status $?" >&2; }} | head -n 1'],
        cwd=folder, check=True, text=True, capture_output=True,
    )  # fmt: skip
    assert done.stdout == "segment  score\n"
    assert [line for line in done.stderr.splitlines() if "warning" not in line] == ["status 0"]
    assert (folder / "good").read_bytes().count(b"\n") == 6_000
    compare = ("compare", "--ref", "ref", "hyp", "--metrics", "rep", "--resamples", 0)
    done = run_cli(*compare, "-o", "/dev/full", cwd=folder, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    message = "/dev/full: cannot be written: No space left on device"
    assert done.stderr == f"coverage-eval: error: {message}\n"


@pytest.mark.parametrize(
    "line",
    ["rep hyp ref", "rep hyp ref --worst 1", "compare hyp --ref ref -m rep", "--version",
     "rep --help", "segment hyp --ref hyp"],
)  # fmt: skip
def test_a_closed_standard_output_is_an_error(folder, line):
    """Nobody gets what is printed there, so status 0 would say that a file was written."""
    done = subprocess.run(
        ["/bin/sh", "-c", f'"{COMMAND}" {line} >&-'],
        cwd=folder, check=False, text=True, capture_output=True,
    )  # fmt: skip
    assert done.returncode == 1
    assert "error: standard output: " in done.stderr
    assert "Bad file descriptor" in done.stderr


def test_closed_streams_are_as_good_as_empty_ones(folder):
    closed = f'"{COMMAND}" rep hyp ref -o score <&- >&- 2>&-; echo $?; "{COMMAND}" rep - ref <&-'
    done = subprocess.run(
        ["/bin/sh", "-c", closed], cwd=folder, check=False, text=True, capture_output=True
    )
    assert done.stdout == "0\n"
    assert (folder / "score").read_text().startswith("REP|")
    assert "error: unequal numbers of lines: standard input has 0, ref has 1;" in done.stderr
