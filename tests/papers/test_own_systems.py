"""The paper's claims on a user's systems and seeds."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from coverage_eval.core.errors import DataError
from coverage_eval.core.formats import FORMATS, render
from coverage_eval.papers.claims import Verdict
from coverage_eval.papers.own_systems import judge_files, sign_test
from coverage_eval.papers.printed import load_table
from tests.conftest import ROOT

RUNS = ROOT / "notebooks" / "reproduction"
GOOD = {"BLEU": 30.0, "METEOR": 32.0, "REP": 2.0, "DROP": 5.0}
BAD = {"BLEU": 29.0, "METEOR": 31.0, "REP": 3.0, "DROP": 6.0}


def write(path: Path, seeds: int, systems: dict[str, dict[str, float]], **columns: str) -> Path:
    """A table with a column for seeds, and others that are not read."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["seed", "system", "metric", "score", *columns])
        for seed in range(seeds):
            for system, scores in systems.items():
                for metric, score in scores.items():
                    writer.writerow([seed, system, metric, score + seed / 100, *columns.values()])
    return path


def verdicts(report) -> list[str]:
    return [claim["verdict"] for claim in report.values["claims"]]


@pytest.mark.parametrize("form", ["", ".normalized", ".equal"])
def test_our_own_runs_have_the_verdicts_of_their_page(form):
    files = sorted(RUNS.glob(f"multi30k-de-en-seed*/table1{form}.scores.csv"))
    found = judge_files(files).values["claims"]
    names = {"": "as decoded", ".normalized": "with α = 1", ".equal": "at equal length"}
    with (RUNS / "tables/claims.csv").open(encoding="utf-8", newline="") as file:
        kept = [row for row in csv.DictReader(file)
                if (row["corpus"], row["table"], row["form"])
                == ("German–English", "Table 1", names[form])]  # fmt: skip
    assert len(found) == len(kept) == 3
    for ours, theirs in zip(found, kept, strict=True):
        assert (ours["verdict"], ours["holds in"]) == (theirs["verdict"], int(theirs["holds in"]))
        assert ours["p"] == pytest.approx(float(theirs["p"]), abs=1e-6)


def test_a_system_that_the_paper_lacks_is_judged_where_it_is_said_to_belong(tmp_path):
    """By hand: 7 of 7 seeds, 2 / 2⁷, for three claims: .047."""
    path = write(tmp_path / "a.csv", 7, {"softmax": BAD, "mine": GOOD}, low="", high="")
    report = judge_files([path], ["mine"])
    assert verdicts(report) == ["confirmed"] * 3
    assert {claim["p"] for claim in report.values["claims"]} == {3 * 2 / 2**7}
    assert report.values["claims"][2]["claim"].startswith("mine has better REP and DROP")
    exchanged = write(tmp_path / "b.csv", 7, {"softmax": GOOD, "mine": BAD})
    assert verdicts(judge_files([exchanged], ["mine"])) == ["contradicted"] * 3
    assert verdicts(judge_files([write(tmp_path / "c.csv", 6, {"softmax": BAD, "mine": GOOD})],
                                ["mine"])) == ["not decidable"] * 3  # fmt: skip
    for form in FORMATS:
        assert render(report, form)


def test_each_file_is_a_seed_and_missing_systems_are_said(tmp_path):
    for seed in "ab":
        lines = [f"softmax,{m},{v}" for m, v in GOOD.items()]
        (tmp_path / f"{seed}.csv").write_text("\n".join(["system,metric,value", *lines, ""]))
    report = judge_files([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert verdicts(report) == ["not checked"] * 3
    assert "no sparse model" in render(report, "text")
    assert "--sparse" in render(report, "text")


def test_what_no_seed_can_show_is_not_decidable():
    assert sign_test(8, 8) == 2 / 2**8
    assert sign_test(4, 8) == sign_test(0, 8) == 1


def test_table_2_is_judged_if_its_systems_are_there(tmp_path):
    table = load_table("table2")
    systems = {s: {m: table.value(s, "De-En", m) for m in table.metrics} for s in table.systems}
    report = judge_files([write(tmp_path / "a.csv", 6, systems)])
    (claim,) = report.values["claims"]
    assert (claim["verdict"], claim["holds in"]) == (Verdict.CONFIRMED.value, 6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system,metric\n", "no column 'score'"),
        ("system,metric,value\na,BLEU,x\n", "a,your text,BLEU,x: not a number"),
        ("system,metric,value\na,BLEU,1\na,BLEU,2\n", "a,your text,BLEU: twice"),
        ("system,metric,value,seed\na,BLEU,1,1\nb,BLEU,1,2\n", "has no figure for b,"),
        ("system,metric,value\n", "no figures"),
        ("system,metric,value\na,BLEU,1\n", "--sparse mine: no system has this name: a"),
    ],
)
def test_a_wrong_file_shows_itself(text, message, tmp_path):
    (tmp_path / "my.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        judge_files([tmp_path / "my.csv"], ["mine"])
