"""The kept files of our runs: the README's tables come from them, and scores are recomputed."""

from __future__ import annotations

import runpy

import pytest

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.data.files import read_parallel
from tests.conftest import IS_CI
from tests.reproduction.conftest import SCRIPTS

from score import FORMS, check_run, table_file  # isort: skip
from systems import TABLES  # isort: skip

FILES = {
    "multi30k-de-en": ("multi30k-de-en", "train.de train.en val.en test_2016_flickr.de "
                       "test_2016_flickr.en"),
    "small-ja-en": ("small-enja", "train.ja train.en dev.en test.ja test.en"),
}  # fmt: skip


def test_the_readme_has_the_tables_of_the_kept_runs():
    made = runpy.run_path(str(SCRIPTS))["with_results"]
    readme = (SCRIPTS / "README.md").read_text(encoding="utf-8")
    assert made(readme) == readme, "out of date: run `make figures`"


@pytest.mark.parametrize("name", FILES if IS_CI else ["small-ja-en"])
def test_every_kept_score_is_recomputed_from_the_translations(name, shared, tmp_path):
    """One seed of a corpus, in CI of both; DROP's model is trained again on the corpus."""
    corpus, names = FILES[name]
    train_src, train_tgt, valid_ref, src, ref = (
        shared / "data" / corpus / name for name in names.split()
    )
    with Aligner.train_pairs(list(read_parallel(train_src, train_tgt))) as aligner:
        aligner.save(tmp_path / "words.model")
    folder = SCRIPTS / f"{name}-seed1"
    rows = list(
        check_run(folder, ref=ref, src=src, model=tmp_path / "words.model", valid_ref=valid_ref)
    )
    for what, kept, ours in rows:
        assert ours == pytest.approx(kept, abs=1e-4), what
    assert len(rows) >= 150
    tables = {what.partition(":")[0] for what, *_ in rows}
    assert {table_file("table1", form) for form in FORMS} <= tables


def test_a_system_of_both_tables_has_one_model():
    """csparsemax of Table 1 is PREDICTED c = 0.2 of Table 2."""
    first = {system.file: system.name for system in TABLES["table1"]}
    both = {s.name: first[s.file] for s in TABLES["table2"] if s.file in first}
    assert both == {"PREDICTED c = 0.2": "csparsemax"}
