"""The kept files of our runs: the README's tables come from them, and scores are recomputed."""

from __future__ import annotations

import csv
import runpy
from pathlib import Path

import pytest

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.data.files import read_parallel
from coverage_eval.papers.claims import Verdict
from coverage_eval.papers.reproduction.paper_systems import TABLES
from coverage_eval.papers.reproduction.run_audit import score_claims
from coverage_eval.papers.reproduction.run_folder import RunFolder
from coverage_eval.papers.reproduction.run_results import FORMS, table_file
from tests.conftest import IS_CI, ROOT

HERE = ROOT / "notebooks" / "reproduction"
RUNS = sorted(path.parent for path in HERE.glob("*/table1.csv"))
FILES = {
    "multi30k-de-en": ("multi30k-de-en", "train.de train.en val.en test_2016_flickr.de "
                       "test_2016_flickr.en"),
    "small-ja-en": ("small-enja", "train.ja train.en dev.en test.ja test.en"),
}  # fmt: skip


def test_the_readme_has_the_tables_of_the_kept_runs():
    made = runpy.run_path(str(HERE))["with_results"]
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    assert made(readme) == readme, "out of date: run `make figures`"


def _kept_scores(folder: Path, table: str, form: str) -> dict[tuple[str, str], float]:
    with (folder / f"{table_file(table, form)}.csv").open(encoding="utf-8", newline="") as file:
        return {(row["system"], row["metric"]): float(row["score"]) for row in csv.DictReader(file)}


@pytest.mark.parametrize("form", FORMS)
def test_a_system_of_both_tables_has_the_same_scores_in_both(form):
    """csparsemax of Table 1 is PREDICTED c = 0.2 of Table 2."""
    first = {system.folder: system.name for system in TABLES["table1"]}
    both = {s.name: first[s.folder] for s in TABLES["table2"] if s.folder in first}
    assert both == {"PREDICTED c = 0.2": "csparsemax"}
    with_second = [folder for folder in RUNS if (folder / "table2.csv").exists()]
    assert with_second
    for folder in with_second:
        one, two = (_kept_scores(folder, table, form) for table in ("table1", "table2"))
        for name, other in both.items():
            found = {metric: score for (system, metric), score in two.items() if system == name}
            assert found == {m: score for (system, m), score in one.items() if system == other}
            assert {"BLEU", "METEOR", "REP", "DROP", "length"} <= found.keys()


@pytest.mark.parametrize("name", FILES if IS_CI else ["small-ja-en"])
def test_every_kept_score_is_recomputed_from_the_translations(name, shared, tmp_path):
    """One seed of a corpus, in CI of both; DROP's model is trained again on the corpus."""
    corpus, names = FILES[name]
    paths = [shared / "data" / corpus / name for name in names.split()]
    train_src, train_tgt, valid_ref, src, ref = paths
    with Aligner.train_pairs(list(read_parallel(train_src, train_tgt))) as aligner:
        aligner.save(tmp_path / "words.model")
    folder = HERE / f"{name}-seed1"
    run = RunFolder.existing(folder)
    claims = list(
        score_claims(run, ref=ref, src=src, model=tmp_path / "words.model", valid_ref=valid_ref)
    )
    assert len(claims) == 1 + len(list(folder.glob("table?*.scores.csv"))) >= 2
    for claim in claims:
        assert claim.verdict is Verdict.HOLDS, claim
    assert sum(len(claim.facts) for claim in claims) >= 150
