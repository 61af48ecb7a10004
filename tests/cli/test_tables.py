"""Texts from tables and test sets give the output of plain files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sacrebleu.dataset import DATASETS

from coverage_eval.cli import cli
from coverage_eval.data.files import zstd
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
    long = [f"{name}\t{r['src']}\t{r['ref']}\t{r[name]}" for name in "ab" for r in rows]
    (path / "long.tsv").write_text("".join(f"{x}\n" for x in ["name\tsrc\tref\thyp", *long]))
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


def test_a_model_from_columns_equals_one_from_files(run, folder):
    good(run("align train src ref -o model"))
    good(run("align train --from t.tsv --src-col src --tgt-col ref -o other"))
    assert (folder / "model").read_bytes() == (folder / "other").read_bytes()


T, J = "--from t.tsv", "--from t.jsonl.zst"
L = "--from long.tsv --system-col name --hyp-col hyp"
SAME = [
    ("rep b ref --sentence-level -f json", f"rep {T} --hyp-col b --ref-col ref"),
    ("rep b --ref ref --ref a --confidence", f"rep {J} --hyp-col b --ref-col ref --ref-col a"),
    ("rep b ref", f"rep {L} --system b --ref-col ref"),
    ("rep b a", f"rep {L} --ref-system a"),
    ("rep b ref", "rep b --from t.tsv --ref-col ref"),
    ("bleu b ref", f"bleu {J} --hyp-col b --ref-col ref"),
    ("drop b ref --src src --model model",
     f"drop {T} --hyp-col b --ref-col ref --src-col src --model model"),
    ("drop b ref --src src --model model --soft",
     f"drop {L} --system b --ref-col ref --src-col src --model model --soft"),
    ("omissions b --src src --model model --sentence-level",
     f"omissions {T} --hyp-col b --src-col src --model model --sentence-level"),
    ("align apply model src b", f"align apply model {T} --src-col src --tgt-col b"),
    ("compare --ref ref a b --src src --model model --resamples 50 -f json",
     f"compare {T} --ref-col ref --hyp-col a --hyp-col b --src-col src --model model "
     "--resamples 50 -f json"),
    ("compare --ref ref a b --metrics rep,chrf --resamples 50 --breakdown all --src src",
     f"compare {L} --ref-col ref --src-col src --metrics rep,chrf --resamples 50 --breakdown all"),
    ("report --ref ref a b --metrics rep --resamples 50 -o r.html",
     f"report {T} --ref-col ref --hyp-col a --hyp-col b --metrics rep --resamples 50 -o r.html"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "table"), SAME)
def test_columns_give_the_output_of_plain_files(run, folder, files, table):
    if "model" in files and not (folder / "model").exists():
        good(run("align train src ref -o model"))
    more = files.partition("--sentence-level")[2] if table.startswith("rep") else ""
    table += f" --sentence-level{more}" if more else ""
    table += " --confidence" if "--confidence" in files else ""
    shown = re.sub(r"[\w.]+: column ", "", good(run(table)).stdout)  # in the names of warnings
    assert shown == good(run(files)).stdout != ""


def test_a_table_from_standard_input(run, folder):
    table = (folder / "t.tsv").read_bytes()
    found = good(run("rep --from - --hyp-col b --ref-col ref", input=table))
    assert found.stdout == good(run("rep b ref")).stdout


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("rep a", "the reference is missing: name it as REF or with --ref"),
        (f"rep {T}", "columns: --src-col, --ref-col, --hyp-col; t.tsv has: src, ref, a, b"),
        (f"rep a ref {T} --hyp-col a --ref-col ref", "a is one file too many"),
        (f"rep {T} --hyp-col a --hyp-col b --ref-col a",
         "one output is scored, but there are a, b: name one --hyp-col"),
        (f"rep {L} --ref-col ref", "one output is scored, but there are a, b"),
        ("rep a ref --hyp-col a", "--hyp-col goes with --from"),
        (f"rep {T} --system-col a --ref-col ref", "--system-col goes with one --hyp-col"),
        ("rep a -t wmt20", "--test-set and --langpair go together"),
        ("rep a -t wmt20 -l de-xx", "test set wmt20 has no languages 'de-xx'"),
        ("drop --from - --hyp-col a --ref-col b --src - --model m",
         "'-' (standard input) is named more than once"),
    ],
)  # fmt: skip
def test_usage_errors(run, line, message):
    result = run(line)
    assert result.exit_code == 2, (result.output, result.exception)
    assert message in result.stderr


def test_a_test_set_and_the_gate(run_cli, folder, monkeypatch):
    """Source and references are where sacreBLEU would have put them."""
    home = folder / "sacrebleu"
    (home / "wmt20").mkdir(parents=True)
    for name in ("src", "ref", "docid", "genre", "origlang"):
        text = (folder / name if (folder / name).exists() else folder / "src").read_text()
        (home / "wmt20" / f"wmt20.de-en.{name}").write_text(text)
    for name in ("wmt19", "wmt20"):
        monkeypatch.setattr(DATASETS[name], "_outdir", str(home / name))
    line = "compare -t wmt20 -l de-en a b --metrics rep,bleu --resamples 100 --fail-if-worse"
    arguments = [*line.split(), "rep,bleu=1", "-f", "json"]
    result = run_cli(*arguments, cwd=folder, check=False)
    assert result.returncode == 3
    gate = json.loads(result.stdout)["gate"]
    assert [item["metric"] for item in gate["worse"]] == ["REP", "BLEU"]
    assert gate["smallest_difference"] == {"rep": 0, "bleu": 1}
    assert not gate["passed"]
    said = [line for line in result.stderr.splitlines() if ": worse: " in line]
    assert said[0].startswith("coverage-eval: worse: b is worse than a by REP: ")
    assert "; most in segments " in said[0]
    passed = run_cli(*line.split(), "rep=1000", "--resamples", 20, "-f", "json", cwd=folder)
    assert json.loads(passed.stdout)["gate"]["passed"] is True
    swapped = run_cli(*arguments, "--baseline", "b", cwd=folder)
    assert json.loads(swapped.stdout)["gate"]["worse"] == []
    absent = run_cli(
        "rep", "a", "-t", "wmt19", "-l", "de-en", cwd=folder, check=False,
        env=dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9"),
    )  # fmt: skip
    assert absent.returncode == 1
    assert "run: sacrebleu -t wmt19 -l de-en --echo src" in absent.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--fail-if-worse rep=-1", "must be at least 0, not -1"),
        ("--fail-if-worse chrf", "--fail-if-worse chrf: it is not among the --metrics"),
        ("--fail-if-worse rep --resamples 19", "--resamples 19 cannot show p < 0.05: draw 20 or"),
        ("--fail-if-worse rep --p-value 0", "must be at least 1e-06 and below 1, not 0"),
    ],
)
def test_a_gate_that_cannot_close_is_a_usage_error(run, options, message):
    result = run(f"compare --ref ref a b --metrics rep {options}")
    assert result.exit_code == 2
    assert message in result.stderr
    alone = run("compare --ref ref a --metrics rep --fail-if-worse rep")
    assert "needs a system beside the baseline" in alone.stderr
