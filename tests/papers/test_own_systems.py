"""The paper's claims on a user's systems and seeds."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coverage_eval.core.errors import DataError
from coverage_eval.core.formats import FORMATS, render
from coverage_eval.papers.audit_tables import claims_of_table1
from coverage_eval.papers.claims import Verdict, better
from coverage_eval.papers.own_systems import SeededFact, judge, judge_files, sign_test
from coverage_eval.papers.printed import PrintedCell, load_table
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


CONFIRMED, CONTRADICTED, UNDECIDED = (
    verdict.value for verdict in (Verdict.CONFIRMED, Verdict.CONTRADICTED, Verdict.UNDECIDED)
)
MIXED = {**GOOD, "METEOR": 30.0, "DROP": 7.0}  # BLEU and REP better, the others worse
TINY = {m: BAD[m] + (GOOD[m] - BAD[m]) * 1e-4 for m in GOOD}
SPARSE_NAMES = ("sparsemax + COVPENALTY", "sparsemax + COVVECTOR", "csparsemax")


def figures(sparse: dict[str, float], **others: dict[str, float]) -> dict[str, dict[str, float]]:
    """Figures of all systems of Table 1: of the sparse models, and of others that are not BAD."""
    systems = dict.fromkeys(load_table("table1").systems, BAD)
    return {**systems, **dict.fromkeys(SPARSE_NAMES, sparse), **others}


@pytest.mark.parametrize(
    ("systems", "seeds", "expected"),
    [
        (figures(GOOD), 7, [CONFIRMED] * 3),  # by hand: 2 / 2⁷ for three claims, .047
        (figures(GOOD), 6, [UNDECIDED] * 3),
        (figures(GOOD), 1, [UNDECIDED] * 3),
        (figures(GOOD), 20, [CONFIRMED] * 3),
        (figures(TINY), 8, [CONFIRMED] * 3),
        (dict.fromkeys(load_table("table1").systems, GOOD), 8, [UNDECIDED] * 3),  # all tied
        (dict.fromkeys(load_table("table1").systems, GOOD), 20, [UNDECIDED] * 3),
        ({name: BAD if figure is GOOD else GOOD for name, figure in figures(GOOD).items()},
         7, [CONTRADICTED] * 3),
        (figures(MIXED), 20, [CONTRADICTED] * 3),  # fails in every seed
        (figures(MIXED), 6, [UNDECIDED] * 3),
        # csoftmax is better than all: on average it does not matter, everywhere it does.
        (figures(GOOD, csoftmax={"BLEU": 31.0, "METEOR": 33.0, "REP": 1.0, "DROP": 4.0}), 20,
         [CONFIRMED, UNDECIDED, CONTRADICTED]),
        # Only one of the four comparisons of the third claim is lost.
        (figures(GOOD, csoftmax={**BAD, "DROP": 4.0}), 20, [CONFIRMED, UNDECIDED, CONTRADICTED]),
    ],
)  # fmt: skip
def test_made_up_scores_get_the_verdict_that_is_true(systems, seeds, expected, tmp_path):
    report = judge_files([write(tmp_path / "a.csv", seeds, systems)])
    assert verdicts(report) == expected
    for form in FORMATS:
        assert render(report, form)


def noisy_scores(seeds: int, seed: int) -> Iterator[dict[str, dict[str, float]]]:
    rng = np.random.default_rng(seed)
    for _ in range(seeds):
        yield {s: {m: v + rng.normal() for m, v in BAD.items()} for s in figures(GOOD)}


def test_equal_systems_with_noise_are_rarely_told_apart(tmp_path):
    """The claims hold in fewer than half of the seeds, which does not contradict them."""
    wrong = 0
    for number in range(40):
        claims = []
        for scores in noisy_scores(20, number):
            values = {(s, "x", m): PrintedCell("", v) for s, f in scores.items()
                      for m, v in f.items()}  # fmt: skip
            table = load_table("table1")
            columns = tuple(("x", metric) for metric in BAD)
            claims.append(claims_of_table1(replace(table, columns=columns, cells=values,
                                                   is_printed=False)))  # fmt: skip
        wrong += any(claim.verdict is not Verdict.UNDECIDED for claim in judge(claims))
    assert wrong <= 5  # 40 · .05 = 2


def test_the_size_stands_beside_the_verdict(tmp_path):
    """A gain of .0001 is confirmed, and shows itself."""
    report = judge_files([write(tmp_path / "a.csv", 8, figures(TINY))])
    (bleu, _) = report.values["claims"][0]["sizes"]
    assert bleu["mean"] == pytest.approx(1e-4)
    assert bleu["half_width"] == pytest.approx(0, abs=1e-6)
    assert "BLEU +0.00010 ± 0.00000" in render(report, "text")


def test_a_comparison_over_seeds_by_hand():
    """Gains 1, 2, 3, 0 and -1: 3 won, 1 lost, 1 tied; 1 ± 2.776 · √(2.5 / 5)."""
    facts = [better(load_table("table1"), "BLEU", "BLEU: a, b", 30.0 + gain, 30.0, decisive=True)
             for gain in (1, 2, 3, 0, -1)]  # fmt: skip
    comparison = SeededFact(facts)
    assert (comparison.won, comparison.lost) == (3, 1)
    assert comparison.p == pytest.approx(2 * (4 + 1) / 2**4)
    mean, half = comparison.size
    assert (mean, half) == (pytest.approx(1.0), pytest.approx(2.776 * 0.5**0.5, abs=1e-3))


def test_equal_tables_are_one_seed(tmp_path):
    path = write(tmp_path / "a.csv", 1, figures(GOOD))
    copies = [tmp_path / f"{k}.csv" for k in range(8)]
    for copy in copies:
        copy.write_text(path.read_text().replace("\n0,", f"\n{copy.stem},"))
    report = judge_files(copies)
    assert verdicts(report) == [UNDECIDED] * 3
    assert {claim["seeds"] for claim in report.values["claims"]} == {1}
    assert "7 of 8 seeds repeat the figures of another one" in " ".join(
        render(report, "text").split()
    )


def test_sentences_about_absent_systems_are_not_decidable(tmp_path):
    """What is left of them says of whom it speaks, and names none that is absent."""
    report = judge_files([write(tmp_path / "a.csv", 8, {"softmax": BAD, "mine": GOOD})], ["mine"])
    assert verdicts(report) == [UNDECIDED, CONFIRMED] * 2 + [CONFIRMED]
    for claim in report.values["claims"]:
        if claim["verdict"] == CONFIRMED:
            assert "mine" in claim["claim"]
            assert "csoftmax" not in claim["claim"]
    text = " ".join(render(report, "text").split())
    assert "Judged on 1 of 8 systems of Table 1, 1 language pair: softmax, mine." in text
    report = judge_files([write(tmp_path / "a.csv", 8, {"softmax": BAD, "csparsemax": GOOD})])
    assert verdicts(report) == [UNDECIDED, CONFIRMED] * 2 + [CONFIRMED]


def test_names_of_metrics_may_have_any_case(tmp_path):
    lowered = {s: {m.lower(): v for m, v in f.items()} for s, f in figures(GOOD).items()}
    assert verdicts(judge_files([write(tmp_path / "a.csv", 8, lowered)])) == [CONFIRMED] * 3


def test_missing_systems_are_said(tmp_path):
    report = judge_files([write(tmp_path / "a.csv", 2, {"softmax": GOOD})])
    assert verdicts(report) == ["not checked"] * 3
    text = render(report, "text")
    assert "no sparse model" in text
    assert "--sparse" in text
    assert "corrected" not in text


def test_what_no_seed_can_show_is_not_decidable():
    assert sign_test(8, 0) == sign_test(0, 8) == 2 / 2**8
    assert sign_test(4, 4) == sign_test(0, 0) == 1


def test_table_2_is_judged_by_all_that_is_predicted(tmp_path):
    """PREDICTED with c = 0 counts: if it loses to the others, the strategy does not outperform."""
    names = load_table("table2").systems
    systems = {s: GOOD if s.startswith("PREDICTED") else BAD for s in names}
    assert verdicts(judge_files([write(tmp_path / "a.csv", 8, systems)])) == [CONFIRMED]
    systems["PREDICTED c = 0"] = {"BLEU": 28.0, "METEOR": 30.0}
    systems = {s: {m: f[m] for m in ("BLEU", "METEOR")} for s, f in systems.items()}
    report = judge_files([write(tmp_path / "a.csv", 12, systems)])
    assert verdicts(report) == [CONTRADICTED]
    assert "METEOR: PREDICTED c = 0, GUIDED" in render(report, "text")
    del systems["PREDICTED c = 0"]
    found = judge_files([write(tmp_path / "a.csv", 8, systems)])
    assert verdicts(found) == [UNDECIDED, CONFIRMED]


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
