"""The command ``coverage-eval meteor``, and its column in ``compare``."""

from __future__ import annotations

import csv
import io
import json
import re
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import RunCli
from tests.quality.meteor.texts import ENGLISH, GERMAN

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
def meteor(run_cli: RunCli, paraphrases: None) -> RunCli:
    """``coverage-eval meteor``."""
    return partial(run_cli, "meteor")


def test_the_score_and_its_signature(meteor, files):
    done = meteor(*files)
    assert re.fullmatch(
        r"METEOR\|refs:1\|id:meteor-1\.5-wo-en-no_norm-0\.85_0\.2_0\.6_0\.75-ex_st_sy_pa-1\.0_0\.6_0\.8_0\.6"
        r"\|scale:100\|backend:python\|data:pycocoevalcap-[\d.]+\|stemmer:snowballstemmer-2[\d.]+"
        r"\|version:[\d.]+ = \d\d\.\d{2}\n",
        done.stdout,
    )
    assert "English" not in done.stderr
    assert meteor(*files, "-b").stdout == done.stdout.rpartition(" ")[2]
    fine = meteor(*files, "-b", "-w", "10").stdout
    assert f"{float(fine):.2f}\n" == done.stdout.rpartition(" ")[2]


def test_segments_show_the_parts_of_their_scores(meteor, files):
    done = meteor(*files, "--sentence-level", "-f", "json")
    (score,) = json.loads(done.stdout)["scores"]
    sentences = score["sentences"]
    assert [line["segment"] for line in sentences] == [1, 2, 3, 4]
    assert sentences[2]["score"] == 0.0
    kinds = [[m["kind"] for m in line["inexact_matches"]] for line in sentences]
    assert kinds == [["stem"], ["paraphrase", "synonym"], [], ["paraphrase"]]
    assert sentences[3]["inexact_matches"][0]["hypothesis"] == ["as", "a", "result", "of"]
    for line in sentences:
        assert 0 <= line["score"] <= 100 * max(line["precision"], line["recall"]) + 1e-9
    table = meteor(*files, "--sentence-level", "-f", "csv").stdout
    assert [row["segment"] for row in csv.DictReader(io.StringIO(table))] == ["1", "2", "3", "4"]
    assert "cats ~ cat (stem) 2-2" in table


def test_text_options_and_the_variant_of_nltk(meteor, files):
    hyp, ref = files
    hyp.write_text(HYP.replace(" .", ".").upper())
    plain = float(meteor(hyp, ref, "-b").stdout)
    lower = float(meteor(hyp, ref, "-b", "--lower").stdout)
    norm = float(meteor(hyp, ref, "-b", "--norm").stdout)
    assert plain < lower < norm
    assert "-en-lc_only-" in meteor(hyp, ref, "--lower").stdout
    other = meteor(hyp, ref, "--variant", "nltk").stdout
    assert other.startswith("meteor-nltk|refs:1|alpha:0.9|")
    assert "|corpus:mean|scale:100|nltk:" in other
    assert 0 < float(other.split()[-1]) < 100


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """References in English and German, and for each an output with a word missing."""
    for name, lines in (("en", ENGLISH), ("de", GERMAN)):
        (tmp_path / name).write_text("\n".join(lines * 4) + "\n")
        short = [re.sub(r" \w+ \.$", " .", line) for line in lines * 4]
        (tmp_path / f"{name}.out").write_text("\n".join(short) + "\n")
    return tmp_path


NOT_ENGLISH = r"de: only \d\.\d% of the words are English function words; .*BLEU or chrF\n"


def test_compare_leaves_meteor_out_where_references_are_not_english(run_cli, texts, paraphrases):
    def columns(language: str, *more: str) -> tuple[list[str], str]:
        files = ("--ref", language, f"{language}.out")
        done = run_cli("compare", *files, "--resamples", 0, "-f", "json", *more, cwd=texts)
        found = json.loads(done.stdout)
        warned = "".join(line for line in done.stderr.splitlines(True) if "METEOR" in line)
        said = warned + "".join(f"{n}\n" for n in found.get("remarks", []) if "no METEOR" in n)
        return [score["metric"] for score in found["scores"]], said

    assert columns("en") == (["BLEU", "METEOR", "REP"], "")
    found, said = columns("de", "--strict")
    assert found == ["BLEU", "REP"]
    assert re.fullmatch(f"no METEOR in the table: {NOT_ENGLISH}", said)
    found, said = columns("de", "--metrics", "meteor,meteor-nltk,rep")
    assert found == ["METEOR", "meteor-nltk", "REP"]
    assert re.fullmatch(f"coverage-eval: warning: {NOT_ENGLISH}", said)
