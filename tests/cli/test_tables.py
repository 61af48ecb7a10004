"""Texts from columns of tables give the output of plain files."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result

import coverage_eval as ce
from coverage_eval.cli import cli
from coverage_eval.core.packed import zstd
from tests.comparison.systems import damaged
from tests.grammar import generate

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A test set as files, as a table, and as a table with a row for each system."""
    path = tmp_path_factory.mktemp("tables")
    pairs = list(generate(60, seed=5))
    refs = [" ".join(pair.target) for pair in pairs]
    texts = {
        "src": [" ".join(pair.source) for pair in pairs],
        "ref": refs,
        "a": damaged(refs, 1, repeated=0.02, omitted=0.02),
        "b": damaged(refs, 2, repeated=0.3, omitted=0.3),
    }
    texts["a"][3] = texts["b"][7] = ""  # empty segments are data
    for name, segments in texts.items():
        (path / name).write_text("".join(f"{segment}\n" for segment in segments))
    rows = [dict(zip(texts, row, strict=True)) for row in zip(*texts.values(), strict=True)]
    lines = ["\t".join(texts), *("\t".join(row.values()) for row in rows)]
    (path / "t.tsv").write_text("".join(f"{line}\n" for line in lines))
    (path / "t.jsonl.zst").write_bytes(
        zstd.compress("".join(f"{json.dumps(row)}\n" for row in rows).encode())
    )
    frame = pd.DataFrame(rows)
    frame.to_csv(path / "t.csv", index=False)
    frame.to_csv(path / "quoted.tsv", sep="\t", index=False, quoting=csv.QUOTE_ALL)
    frame.to_csv(path / "bare.TSV.gz", sep="\t", index=False, header=False)
    frame.to_parquet(path / "t.parquet")
    paths = [{"given": {"src": r["src"]}, "refs": [r["ref"]], "out": r} for r in rows]
    (path / "paths.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in paths))
    return path


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(folder)

    def invoke(line: str, **options: Any) -> Result:
        return CliRunner().invoke(cli, line.split(), **options)

    return invoke


def good(result: Result) -> Result:
    assert result.exit_code == 0, (result.output, result.exception)
    return result


NAMES = {
    "t.tsv:{}": {},
    "t.csv:{}": {},
    "quoted.tsv:{}": {},
    "t.jsonl.zst:{}": {},
    "t.parquet:{}": {},
    "bare.TSV.gz:{}": {"src": "1", "ref": "2", "a": "3", "b": "4"},
    "paths.jsonl:{}": {"src": "given.src", "ref": "refs.0", "a": "out.a", "b": "out.b"},
}
LINES = [
    "compare --ref {ref} a={a} b={b} --src {src} --model model --resamples 50 -f json",
    "rep {b} {ref} --sentence-level -f json",
    "drop {b} {ref} --src {src} --model model",
    "omissions {b} --src {src} --peer {a} --model model --sentence-level",
    "align apply model {src} {b}",
]


@pytest.mark.parametrize(
    ("name", "line"),
    [*((name, LINES[0]) for name in NAMES), *(("paths.jsonl:{}", line) for line in LINES[1:])],
)
def test_columns_give_the_output_of_plain_files(run, folder, name, line):
    if "model" in line and not (folder / "model").exists():
        good(run("align train src ref -o model"))
    columns = {text: name.format(NAMES[name].get(text, text)) for text in ("src", "ref", "a", "b")}
    shown = good(run(line.format(**columns))).stdout
    for text, column in columns.items():  # in warnings
        shown = shown.replace(column, text)
    assert shown == good(run(line.format(**{text: text for text in columns}))).stdout != ""


def test_links_and_scores_are_columns_of_the_table_of_the_texts(run, folder):
    """From a file and from one pipe."""
    rows = [
        {"hyp": hyp, "ref": ref, "src": src, "links": links, "ref_links": of_ref, "comet": score}
        for hyp, ref, src, links, of_ref, score in (
            ("the house", "the red house", "das rote Haus", "0-0 2-1", "0-0 1-1 2-2", 0.25),
            ("a dog", "a dog", "ein Hund", "0-0 1-1", "0-0 1-1", 0.75),
        )
    ]
    table = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / "links.jsonl").write_text(table)
    for name in ("hyp", "ref", "src", "links", "ref_links"):
        (folder / f"{name}.txt").write_text("".join(f"{row[name]}\n" for row in rows))
    (folder / "comet.csv").write_text("segment,score\n1,0.25\n2,0.75\n")
    drop = "drop -i {0}:hyp -r {0}:ref --src {0}:src --links {0}:links --ref-links {0}:ref_links"
    compare = "compare --ref {0}:ref x={0}:hyp -m rep --scores comet={0}:comet --resamples 0"
    files = "drop hyp.txt ref.txt --src src.txt --links links.txt --ref-links ref_links.txt"
    given = "compare --ref ref.txt x=hyp.txt -m rep --scores comet=comet.csv --resamples 0"
    for line, in_files in ((drop, files), (compare, given)):
        expected = good(run(in_files)).stdout.partition("comet|")[0]
        for found in (run(line.format("links.jsonl")), run(line.format("-"), input=table)):
            assert good(found).stdout.partition("comet|")[0] == expected


def test_python_takes_names_of_texts(folder, monkeypatch):
    monkeypatch.chdir(folder)
    texts = {name: (folder / name).read_text().splitlines() for name in ("a", "ref", "src")}
    for name in ("t.tsv:a", "t.jsonl.zst:a", "paths.jsonl:out.a", Path("a"), "bare.TSV.gz:3"):
        assert list(ce.read_segments(name)) == texts["a"]
        assert ce.rep(name, "t.tsv:ref") == ce.rep(texts["a"], texts["ref"])
    table, lists = (
        str(ce.compare({"a": one, "b": two}, three, metrics=["rep"], resamples=0))
        for one, two, three in (
            ("t.tsv:a", "t.parquet:b", "t.csv:ref"),
            (texts["a"], list(ce.read_segments("b")), texts["ref"]),
        )
    )
    assert table == lists
    for sides in (("t.tsv:src", "t.tsv:ref"), (texts["src"], texts["ref"])):
        with ce.Aligner.train(*sides) as aligner:
            aligner.save(f"{type(sides[0]).__name__}.model")
    assert (folder / "str.model").read_bytes() == (folder / "list.model").read_bytes()
    with pytest.raises(TypeError, match=r"single string, and there is no file 'no\.tsv:a'"):
        ce.rep("no.tsv:a", texts["ref"])
    with pytest.raises(
        ce.DataError, match=r"is a table: name a column of it, as t\.tsv:COLUMN: src"
    ):
        ce.rep("t.tsv", texts["ref"])


def test_a_system_is_called_like_its_column(run):
    found = good(run("compare --ref t.tsv:ref t.tsv:a t.tsv:b --metrics rep --resamples 0 -f json"))
    assert {score["system"] for score in json.loads(found.stdout)["scores"]} == {"a", "b"}


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("drop t.tsv t.tsv --src t.tsv --model model",
         "coverage-eval drop t.tsv:COLUMN t.tsv:ref --src t.tsv:src --model model"),
        ("rep b --ref t.jsonl.zst", "coverage-eval rep b --ref t.jsonl.zst:ref"),
        ("compare --ref t.tsv:ref x=named.csv y=b",
         "coverage-eval compare --ref t.tsv:ref x=named.csv:mt y=b"),
        ("omissions named.csv --src named.csv --model model",
         "coverage-eval omissions named.csv:mt --src named.csv:source --model model"),
        ("drop a ref --src src --ref-links links.csv --links links.csv",
         "coverage-eval drop a ref --src src --ref-links links.csv:ref_links --links "
         "links.csv:links"),
        ("align train named.csv t.tsv -o m",
         "coverage-eval align train named.csv:source t.tsv:ref -o m"),
    ],
)  # fmt: skip
def test_a_table_without_a_column_is_answered_with_the_line_to_type(run_cli, folder, line, typed):
    (folder / "named.csv").write_text("id,source,mt\n1,a,b\n")
    (folder / "links.csv").write_text("links,ref_links\n0-0,0-0\n")
    done = run_cli(*line.split(), check=False, cwd=folder)
    assert done.returncode == 2
    assert done.stderr.rstrip().endswith(f"Type: {typed}")
    assert "It has: " in done.stderr


def test_the_gate(run_cli, folder):
    line = "compare --ref ref a b --metrics rep,bleu --resamples 100 --fail-if-worse"
    arguments = [*line.split(), "rep,bleu=1", "-f", "json"]
    result = run_cli(*arguments, cwd=folder, check=False)
    assert result.returncode == 3
    gate = json.loads(result.stdout)["gate"]
    assert [item["metric"] for item in gate["worse"]] == ["REP", "BLEU"]
    assert gate["smallest_difference"] == {"rep": 0, "bleu": 1}
    assert not gate["passed"]
    said = [line for line in result.stderr.splitlines() if ": worse: " in line]
    assert said[0].startswith("coverage-eval: worse: b is worse than a: REP ")
    assert "; most in segments " in said[0]
    passed = run_cli(*line.split(), "rep=1000", "--resamples", 80, "-f", "json", cwd=folder)
    assert json.loads(passed.stdout)["gate"]["passed"] is True
    swapped = run_cli(*arguments, "--baseline", "b", cwd=folder)
    assert json.loads(swapped.stdout)["gate"]["worse"] == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("b --fail-if-worse rep=-1", "-1.0 is not in the range x>=0"),
        ("b --fail-if-worse chrf", "--fail-if-worse: metric 'chrf' is not one of rep"),
        ("--fail-if-worse rep", "needs a system beside the baseline"),
    ],
)
def test_a_gate_that_cannot_close_is_a_usage_error(run, options, message):
    result = run(f"compare --ref ref --metrics rep a {options}")
    assert result.exit_code == 2
    assert message in result.stderr
