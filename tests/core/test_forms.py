"""Lines that are no sentences: named, with a line to type that makes sentences of them."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from coverage_eval.checks.check import check
from coverage_eval.core.batches import Texts
from coverage_eval.core.forms import conversion_command, identify_form
from coverage_eval.core.texts import open_text, read_segments

FAIRSEQ = (
    "S-1\ter schläft\nT-1\the sleeps\nH-1\t-0.5\the sleep@@ s\nD-1\t-0.5\the sleeps\n"
    "D-1\t-0.9\the sleep\nP-1\t-0.1\nS-0\tein Haus\nH-0\t-1e-05\ta house\nD-0\t-1e-05\ta house\n"
)
SRT = (
    "1\r\n00:00:01,000 --> 00:00:02,000\r\na\r\nhouse\r\n\r\n2\r\n00:00:03,000 --> "
    "00:00:04,000\r\n\r\n3\r\n00:00:05,000 --> 00:00:06,000\r\nhe\r\n\r\n42 dogs\r\n\r\n4\r\n"
    "00:00:07,000 --> 00:00:08,000\r\n5\r\n"
)
VTT = (
    "WEBVTT\n\n00:01.000 --> 00:02.000\na house\n\nNOTE a\nb\n\nintro\n00:03.000 --> 00:04.000\n"
    "he\n\n00:05.000 --> 00:06.000\nshe\n"
)
ASS = (
    "[Script Info]\n\n[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, "
    "Effect, Text\nDialogue: 0,0:00:00.00,0:00:03.00,Default,,0,0,0,,{\\i1}a{\\i0} dog, a\\Nhouse\n"
    "Dialogue: Marked=0,0:00:03.00,0:00:06.00,Default,,0,0,0,,he\n"
)
PO = (
    'msgid ""\nmsgstr ""\n"Language: de\\n"\n\n#: a.c:1\n'
    'msgid "a house"\nmsgstr "ein "\n"\\"Haus\\"\\n"\n\n'
    'msgid "he"\nmsgid_plural "they"\nmsgstr[0] "er"\nmsgstr[1] "sie"\n'
)


@pytest.mark.parametrize(
    ("name", "data", "what", "written"),
    [
        ("gen.log", FAIRSEQ, "fairseq's log", "a house\nhe sleeps\n"),
        ("h.log", "H-1\t-0.5\the sleeps\nH-0\t-1e-05\ta house\n", "fairseq's log",
         "a house\nhe sleeps\n"),
        ("o.log", "x\nSENT 1: ['a']\nPRED 1: a house\nPRED SCORE: -1.2\n", "log", "a house\n"),
        ("x.srt", SRT, "subtitles", "a house\n\nhe 42 dogs\n5\n"),
        ("x.vtt", VTT, "subtitles", "a house\nhe\nshe\n"),
        ("x.sbv", "0:00:01.000,0:00:02.000\na house\n\n0:00:03.000,0:00:04.000\nhe\n",
         "subtitles", "a house\nhe\n"),
        ("x.out", "[00:01.000 --> 00:02.000]  a house\n[00:02.000 --> 00:03.000]\n", "Whisper",
         "a house\n\n"),
        ("x.ass", ASS, "SubStation", "a dog, a house\nhe\n"),
        ("x.sub", "{0}{70}a house|he\n{75}{145}{y:i}she\n", "MicroDVD", "a house he\nshe\n"),
        ("x.lrc", "[ar:x]\n[00:01.00]a house\n[00:02.00][01:02.00] he\n", "LRC", "a house\nhe\n"),
        ("x.po", PO, "gettext", 'ein "Haus"\ner\n'),
        ("best", "0 ||| a house ||| F0= -1 ||| -1\n0 ||| the house ||| F0= -2 ||| -2\n"
         "1 ||| he ||| F0= -1 ||| -1\n", "an n-best list", "a house\nhe\n"),
        ("scored", "-0.5 ||| a house ||| 0-0 1-1\n-1.5 ||| he\n", "a score before",
         "a house\nhe\n"),
        ("aligned", "a house ||| 0-0 1-1\nhe |||\n", "its alignment behind", "a house\nhe\n"),
        ("soft", "a ||| 0.5,0.5 1,0\nhe ||| 1,0 0,1\n", "its alignment behind", "a\nhe\n"),
        ("joined", "ein Haus ||| a house\ner ||| he\n", "two texts", "a house\nhe\n"),
        ("pairs", "ein Haus\ta house\ner\the\n", "tabs between", "a house\nhe\n"),
        ("my ref.seg", "<doc>\n<seg id=1>a house</seg>\n<seg id=2>he &amp; she</seg>\n</doc>\n",
         "WMT's markup", "a house\nhe & she\n"),
        ("x.html", "<p>a <b>house</b></p>\n<p>he</p>\n", "HTML", "a house\nhe\n"),
        ("x.num", "1. a house\n2. he\n3. 4 dogs\n", "numbered lines", "a house\nhe\n4 dogs\n"),
    ],
)  # fmt: skip
def test_forms_are_named_with_a_line_that_makes_sentences(tmp_path, name, data, what, written):
    path = tmp_path / name
    path.write_text(data, encoding="utf-8", newline="")
    command = line_to_type(path, what)
    subprocess.run(command, shell=True, check=True)
    assert Path(shlex.split(command)[-1]).read_text("utf-8") == written
    assert line_to_type(path, what) != command  # what it wrote is not overwritten


def line_to_type(path: Path, what: str) -> str:
    """The line that a warning of a file gives."""
    text = open_text(str(path))
    found = check(Texts({text.name: text}).sample)
    (warning,) = [item for item in found if item.kind == "form"]
    assert warning.message.startswith(f"{path}: is ")
    assert what in warning.message
    return warning.message.split(": ", 2)[2]


@pytest.mark.parametrize(
    "line",
    ["SENT 1: hello", 'msgid "x"', "<html> is the root element .", "<?xml ?> is the first line .",
     "00:00:01,000 --> 00:00:02,000", "H-1\t-0.5\thello", "a ||| b", "{0}{1}", "1. first"],
)  # fmt: skip
def test_one_line_never_condemns_a_text(tmp_path, line):
    lines = [line, *("a house", "a dog") * 3]
    (tmp_path / "a").write_text("\n".join(lines) + "\n", "utf-8")
    assert list(read_segments(str(tmp_path / "a"))) == lines
    assert identify_form(lines) is None
    assert identify_form([line]) is None


@pytest.mark.parametrize("form", ["{} {}", "{}: {}", "{}. {}", "[{}] {}", "({}) {}", "#{} {}"])
@pytest.mark.parametrize("first", [0, 1, 700])
def test_numbers_of_lines_are_named_and_stripped(tmp_path, form, first):
    texts = [f"{number % 7} dogs" for number in range(50)]
    assert identify_form(texts) is None
    lines = [form.format(number, text) for number, text in enumerate(texts, start=first)]
    found = identify_form(lines[::3], range(1, 51, 3))
    assert found is not None
    assert found.name == "numbered lines"
    (tmp_path / "o.txt").write_text("\n".join(lines) + "\n", "utf-8")
    command = conversion_command(found.command, tmp_path / "o.txt")
    subprocess.run(command, shell=True, check=True)
    assert (tmp_path / "o.new.txt").read_text("utf-8").splitlines() == texts


def test_columns_and_standard_input_get_no_command(tmp_path):
    rows = "".join(f'{{"mt": "[00:0{n}.00]a"}}\n' for n in range(9))
    (tmp_path / "o.jsonl").write_text(rows, "utf-8")
    text = open_text(f"{tmp_path / 'o.jsonl'}:mt")
    (found,) = [item for item in check(Texts({text.name: text}).sample) if item.kind == "form"]
    assert found.message.endswith("; write the text of each")
    for name in ("standard input", "-", f"{tmp_path}/o.jsonl:mt", f"{tmp_path}/o.jsonl.gz"):
        assert not conversion_command("cut -f1 FILE > STEM.1", name)


def test_unequal_lines_are_explained_by_the_form(tmp_path, run_cli):
    (tmp_path / "gen.log").write_text(FAIRSEQ, "utf-8")
    (tmp_path / "ref").write_text("a house\nhe sleeps\n", "utf-8")
    shown = run_cli("rep", "gen.log", "ref", cwd=tmp_path, check=False)
    assert shown.returncode == 1
    assert "gen.log has 9, ref has 2; gen.log is fairseq's log: write its out" in shown.stderr
    command = shown.stderr.split("in order: ")[1]
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    assert run_cli("rep", "gen.hyp", "ref", "-b", cwd=tmp_path).stdout == "0.00\n"


def test_transcripts_are_named_and_the_lines_give_the_right_value(shared, tmp_path, run_cli):
    case = shared / "cases" / "transcripts-as-text"
    for ending in ("ass", "log", "sub", "lrc"):
        texts = [f"{name}.{ending}" for name in ("ref", "a", "b")]
        for name in texts:
            (tmp_path / name).write_bytes((case / name).read_bytes())
            subprocess.run(line_to_type(tmp_path / name, ""), shell=True, check=True)
            (tmp_path / name).with_suffix(".txt").rename(tmp_path / f"{name}.done")
        ref, *outputs = (f"{name}.done" for name in texts)
        shown = run_cli("compare", "-r", ref, *outputs, "-m", "bleu", "-b", cwd=tmp_path)
        assert shown.stdout.split() == ["86.76", "68.84"]
        assert "is subtitles" not in shown.stderr
    typed = ["compare", "--ref", "ref.lrc", "a.lrc", "-m", "bleu", "--strict"]
    strict = run_cli(*typed, cwd=tmp_path, check=False)
    assert strict.returncode == 1
    assert "ref.lrc: is lyrics with times (LRC)" in strict.stderr
