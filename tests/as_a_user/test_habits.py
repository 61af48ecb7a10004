"""What users of sacreBLEU and others type first, and what must happen."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from coverage_eval.cli.main import SACREBLEU_OPTIONS
from tests.cli.tools import ALL_COMMANDS
from tests.conftest import RunCli

REF = ["the red house stands here", "the dog sleeps in the garden", "we go home now", "a good day"]
A = ["the red red house stands here", "the dog the dog sleeps", "we go home", "a good good day"]
B = ["the red house is here", "the dog sleeps in the garden", "we go home now", "a day"]
SRC = ["das rote haus steht hier", "der hund schläft im garten", "wir gehen heim", "ein guter tag"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, lines in {"ref": REF, "a": A, "b": B, "src": SRC}.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    rows = "".join(f"{h}\t{r}\n" for h, r in zip(A, REF, strict=True))
    (tmp_path / "t.tsv").write_text(f"h\tr\n{rows}")
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        "rep ref.txt -i a.txt",
        "rep a.txt --ref ref.txt",
        "rep a.txt -r ref.txt",
        "rep -i a.txt -r ref.txt",
        "rep --hyp a.txt --ref ref.txt",
        "rep t.tsv:h ref.txt",
        "rep a.txt --ref t.tsv:r",
        "rep t.tsv:h t.tsv:r",
    ],
)
def test_every_way_to_name_the_files_of_rep(run_cli, folder, line):
    expected = run_cli("rep", "a.txt", "ref.txt", cwd=folder).stdout
    assert run_cli(*line.split(), cwd=folder).stdout == expected


@pytest.mark.parametrize(
    "line",
    [
        "compare -r ref.txt -s src.txt a.txt b.txt -m rep,bleu",
        "compare --ref ref.txt a.txt b.txt -m rep -m bleu",
        "compare -m REP,BLEU --ref ref.txt a.txt b.txt",
        "compare --ref ref.txt -i a.txt b.txt -m Rep,BLEU",
        "compare --ref ref.txt b.txt -i a.txt --baseline a.txt -m rep,bleu",
        "compare t.tsv:h --ref t.tsv:r -m rep -m bleu -i b.txt",
    ],
)
def test_every_way_to_name_systems_and_metrics(run_cli, folder, line):
    files = ("compare", "--ref", "ref.txt", "a.txt", "b.txt", "--metrics", "rep,bleu")
    expected = scores(run_cli, folder, *files)
    found = scores(run_cli, folder, *line.split())
    if ":h" in line:  # there the system is named after its column
        found["a.txt"] = found.pop("h")
    assert found == expected


def scores(run_cli: RunCli, folder: Path, *arguments: str) -> dict[str, dict[str, float]]:
    options = ("--resamples", "0", "-f", "csv")
    table = run_cli(*arguments, *options, cwd=folder).stdout.splitlines()
    found: dict[str, dict[str, float]] = {}
    for row in csv.DictReader(table):
        found.setdefault(row["system"], {})[row["metric"]] = float(row["score"])
    return found


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("compare ref.txt a.txt b.txt", "--ref is missing, or --src to compare without a"),
        ("compare a.txt", "--ref is missing, or --src to compare without a reference"),
        ("rep a.txt b.txt ref.txt", "but there are 3. Each of several references is named with"),
        ("rep -i a.txt -i b.txt -r ref.txt", "'compare' takes several"),
        ("rep ref.txt a.txt", "Type: coverage-eval rep a.txt ref.txt. If ref.txt is the output:"),
        ("drpo a.txt ref.txt", "No such command 'drpo'"),
        ("chrf a.txt ref.txt", "coverage-eval compare -m chrf --ref REF FILE..."),
        ("align trian src.txt ref.txt", "trian"),
        ("rep a.txt ref.txt --sentence-levle", "Did you mean '--sentence-level'?"),
        ("rep a.txt ref.txt --resamples 9", "--resamples goes with --confidence"),
        ("bleu a.txt ref.txt -lc", "-lc is --lowercase."),
        ("bleu a.txt ref.txt -tok 13a", "-tok is --tokenize."),
        ("meteor a.txt ref.txt --lowercase", "METEOR and the aligner ignore case."),
        ("compare a.txt b.txt -r ref.txt --paired-bs", "'compare' tests all pairs of systems"),
        ("omissions a.txt src.txt --model m", "src.txt is one file too many; name it with --src"),
        ("omissions --src src.txt", "Name a file, or - to read standard input."),
        ("rep a.txt", "the reference is missing: name it as REF or with --ref. Without one,"),
        ("drop a.txt ref.txt src.txt", "a source with --src"),
        ("drop a.txt ref.txt --src src.txt", "DROP needs --model M, made by 'coverage-eval align"),
        ("drop a.txt ref.txt", "DROP needs --src, and --model M"),
        ("rep -i t.tsv -r ref.txt", "Type: coverage-eval rep -i t.tsv:COLUMN -r ref.txt"),
        ("compare --ref ref.txt a.txt -m rap", "unknown metric 'rap'; one of bleu, meteor,"),
        ("compare --ref ref.txt a.txt -m rep -m rep", "a metric is named twice in 'rep,rep'"),
        ("compare --ref ref.txt a.txt -m comet", "such as COMET: --scores NAME=FILE"),
        ("compare a.txt b.txt -s src.txt -m bleu", "bleu needs --ref"),
        ("compare a.txt b.txt -s src.txt -m drop", "drop needs --model"),
        ("compare a.txt --ref ref.txt -m length-ratio", "length-ratio needs --src"),
        ("omissions a.txt -s src.txt", "without parallel text, train on the source and the"),
    ],
)  # fmt: skip
def test_a_near_miss_is_answered_with_what_to_type(run_cli, folder, line, said):
    done = run_cli(*line.split(), cwd=folder, check=False)
    assert done.returncode == 2
    assert not done.stdout
    assert said in " ".join(done.stderr.split(" "))


@pytest.mark.parametrize(
    ("file", "output_format"),
    [
        ("t.tex", "latex"),
        ("t.md", "markdown"),
        ("t.CSV", "csv"),
        ("t.json", "json"),
        ("t.jsonl", "jsonl"),
        ("t.tsv", "tsv"),
        ("t", "text"),
    ],
)
def test_the_ending_of_an_output_file_names_its_format(run_cli, folder, file, output_format):
    line = ("compare", "--ref", "ref.txt", "a.txt", "b.txt", "-m", "rep", "--resamples", 0)
    run_cli(*line, "-o", file, cwd=folder)
    printed = run_cli(*line, "--signature", "-f", output_format, cwd=folder).stdout
    assert (folder / file).read_text() == printed


def test_a_table_of_all_segments_metrics_and_systems(run_cli, folder):
    line = ("compare", "--ref", "ref.txt", "a.txt", "b.txt", "-m", "rep,bleu", "--resamples", 0)
    table = run_cli(*line, "--sentence-level", "-f", "csv", cwd=folder).stdout.splitlines()
    found = list(csv.DictReader(table))
    assert list(found[0]) == ["segment", "system", "REP", "BLEU"]
    order = [(row["segment"], row["system"]) for row in found]
    assert order == [(str(n), name) for n in range(1, 5) for name in ("a.txt", "b.txt")]
    for system, metric, command in (("a.txt", "REP", "rep"), ("b.txt", "BLEU", "bleu")):
        alone = run_cli(command, system, "ref.txt", "--sentence-level", "-f", "csv", cwd=folder)
        scores = [row["score"] for row in csv.DictReader(alone.stdout.splitlines())]
        assert [row[metric] for row in found if row["system"] == system] == scores
    run_cli(*line, "--sentence-level", "-o", "s.csv", cwd=folder)
    assert list(csv.DictReader((folder / "s.csv").read_text().splitlines())) == found
    signatures = (folder / "s.csv.signatures").read_text().splitlines()
    assert [text.split("|")[0] for text in signatures] == ["REP", "BLEU"]


def test_arguments_stay_as_typed(run_cli, folder):
    line = ("compare", "--ref", "ref.txt", "a.txt", "-m", "rep", "bleu")
    done = run_cli(*line, cwd=folder, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "bleu: no such file" in done.stderr
    title = "-: a test"
    page = ("report", "--ref", "ref.txt", "a.txt", "-m", "rep", "-o", "page.html")
    run_cli(*page, "--title", title, cwd=folder)
    assert f"<title>{title}</title>" in (folder / "page.html").read_text()


def test_options_of_sacrebleu_lead_to_options_that_exist():
    assert len(SACREBLEU_OPTIONS) <= 15
    flags = {flag for command in ALL_COMMANDS.values() for p in command.params for flag in p.opts}
    for typed, answer in SACREBLEU_OPTIONS.items():
        here = re.sub(r"sacrebleu .*", "", answer)
        assert {*re.findall(r"(?<![\w-])--[a-z-]+", here)} <= flags, typed
