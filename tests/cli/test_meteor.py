"""The command ``coverage-eval meteor`` as a user runs it."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from tests.conftest import RunCli

pytest.importorskip("pycocoevalcap", reason="the meteor extra is not installed")
pytest.importorskip("snowballstemmer", reason="the meteor extra is not installed")

HYP = "the cats sat on the mat .\nhe bought a car\n\nas a result of this , we lost\n"
REF = "the cat sat on the mat .\nhe bought an automobile\na b\nbecause of this , we lost\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    hyp, ref = tmp_path / "hyp", tmp_path / "ref"
    hyp.write_text(HYP)
    ref.write_text(REF)
    return hyp, ref


@pytest.fixture
def meteor(run_cli: RunCli, pytestconfig: pytest.Config) -> RunCli:
    """``coverage-eval meteor`` with the paraphrase index in pytest's cache."""
    cache = {"COVERAGE_EVAL_CACHE": str(pytestconfig.cache.mkdir("meteor"))}

    def run(*arguments: object, env: dict[str, str] | None = None, **options: object) -> object:
        return run_cli("meteor", *arguments, env={**cache, **(env or {})}, **options)

    return run


def without(packages: str, folder: Path) -> dict[str, str]:
    """An environment in which Python finds none of some packages."""
    (folder / "sitecustomize.py").write_text(
        "import importlib.metadata as metadata, importlib.util as util, sys\n"
        "find = util.find_spec\n"
        f"hidden = {packages.split()!r}\n"
        "util.find_spec = lambda name, *rest: None if name in hidden else find(name, *rest)\n"
        "version = metadata.version\n"
        "def find_version(name):\n"
        "    if name in hidden:\n"
        "        raise metadata.PackageNotFoundError(name)\n"
        "    return version(name)\n"
        "metadata.version = find_version\n"
        "sys.modules.update(dict.fromkeys(hidden))\n"
    )
    return {"PYTHONPATH": str(folder)}


def test_the_score_and_its_signature(meteor: RunCli, files: tuple[Path, Path]) -> None:
    done = meteor(*files)
    assert re.fullmatch(
        r"METEOR\|id:meteor-1\.5-wo-en-no_norm-0\.85_0\.2_0\.6_0\.75-ex_st_sy_pa-1\.0_0\.6_0\.8_0\.6"
        r"\|backend:python\|data:pycocoevalcap-[\d.]+\|stemmer:snowballstemmer-2[\d.]+"
        r"\|version:[\d.]+ = 0\.\d{4}\n",
        done.stdout,
    )
    assert done.stderr == ""
    assert meteor(*files, "-b").stdout == done.stdout.rpartition(" ")[2]
    assert meteor(*files, "-b", "-w", "2").stdout == f"{float(done.stdout.split()[-1]):.2f}\n"


def test_the_golden_corpus_score(meteor: RunCli, shared: Path) -> None:
    golden = shared / "golden" / "meteor"
    for variant, expected in (("full", "0.2988219209"), ("exact-stem", "0.2781633154")):
        done = meteor(golden / "hyp.txt", golden / "ref.txt", "--variant", variant, "-b", "-w", 10)
        assert done.stdout == expected + "\n"


def test_several_processes_print_the_same(meteor: RunCli, shared: Path) -> None:
    golden = shared / "golden" / "meteor"
    arguments = (golden / "hyp.txt", golden / "ref.txt", "--sentence-level", "-f", "json")
    assert meteor(*arguments, "-j", 2).stdout == meteor(*arguments).stdout


def test_segments_with_what_their_scores_are_made_of(
    meteor: RunCli, files: tuple[Path, Path]
) -> None:
    done = meteor(*files, "--sentence-level", "-f", "json")
    (score,) = json.loads(done.stdout)["scores"]
    sentences = score["sentences"]
    assert [line["segment"] for line in sentences] == [1, 2, 3, 4]
    assert sentences[2]["score"] == 0.0
    kinds = [[m["kind"] for m in line["inexact_matches"]] for line in sentences]
    assert kinds == [["stem"], ["paraphrase", "synonym"], [], ["paraphrase"]]
    assert sentences[3]["inexact_matches"][0]["hypothesis"] == ["as", "a", "result", "of"]
    for line in sentences:
        assert 0 <= line["score"] <= max(line["precision"], line["recall"]) + 1e-9
    table = meteor(*files, "--sentence-level", "-f", "csv").stdout
    assert [row["segment"] for row in csv.DictReader(io.StringIO(table))] == ["1", "2", "3", "4"]
    assert "cats ~ cat (stem) 2-2" in table


def test_text_options_and_the_other_metric(meteor: RunCli, files: tuple[Path, Path]) -> None:
    hyp, ref = files
    hyp.write_text(HYP.replace(" .", ".").upper())
    plain = float(meteor(hyp, ref, "-b").stdout)
    lower = float(meteor(hyp, ref, "-b", "--lower").stdout)
    norm = float(meteor(hyp, ref, "-b", "--norm").stdout)
    assert plain < lower < norm
    assert "-en-lc_only-" in meteor(hyp, ref, "--lower").stdout
    assert meteor(hyp, ref, "--variant", "nltk").stdout.startswith("meteor-nltk|alpha:0.9|")


def test_an_interval(meteor: RunCli, files: tuple[Path, Path]) -> None:
    done = meteor(*files, "--confidence", "-b")
    value, low, high = map(float, re.findall(r"[\d.]+", done.stdout))
    assert 0 <= low <= value <= high <= 1


def test_without_the_extra_one_line_says_what_to_install(
    meteor: RunCli, run_cli: RunCli, files: tuple[Path, Path], tmp_path: Path
) -> None:
    for package in ("pycocoevalcap", "snowballstemmer"):
        folder = tmp_path / package
        folder.mkdir()
        env = without(package, folder)
        done = meteor(*files, env=env, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert re.fullmatch(
            rf"coverage-eval: error: .*{package}.*pip install 'coverage-eval\[meteor\]'\n",
            done.stderr,
        )
        assert run_cli("rep", *files, "-b", env=env).stdout.strip()


def test_errors(meteor: RunCli, files: tuple[Path, Path], tmp_path: Path) -> None:
    hyp, ref = files
    ref.write_text("one line\n")
    done = meteor(hyp, ref, "-o", tmp_path / "out", check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"coverage-eval: error: .*hyp has 4, .*ref has 1; .*\n", done.stderr)
    assert not (tmp_path / "out").exists()
    done = meteor(hyp, hyp, "--variant", "nltk", "--norm", check=False)
    assert done.returncode == 2
    assert "neither --norm" in done.stderr
    done = meteor(hyp, hyp, "--backend", "java", env={"PATH": str(tmp_path)}, check=False)
    assert done.returncode == 1
    assert re.fullmatch(r"coverage-eval: error: --backend java needs a Java .*\n", done.stderr)


def test_a_java_that_fails_is_reported(
    meteor: RunCli, files: tuple[Path, Path], tmp_path: Path
) -> None:
    program = tmp_path / "java"
    for script, message in (
        ("echo out of luck >&2; exit 3", "failed with status 3, saying: out of luck"),
        ("echo 1 2 3", "gave 1 lines of statistics for 4"),
        ("echo Error: unequal", "printed no statistics but: Error: unequal"),
        ("true", "gave 0 lines of statistics for 4"),
    ):
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        done = meteor(*files, "--backend", "java", env={"PATH": str(tmp_path)}, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert message in done.stderr
        assert done.stderr.count("\n") == 1
