"""What the repository keeps of our runs: the README's tables, and every score recomputed."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.data.files import read_parallel
from coverage_eval.papers.claims import Verdict
from coverage_eval.papers.reproduction.run_audit import score_claims
from coverage_eval.papers.reproduction.run_folder import RunFolder
from tests.conftest import ROOT

HERE = ROOT / "notebooks" / "reproduction"
RUNS = sorted(path.parent for path in HERE.glob("*/table1.csv"))
FILES = {
    "multi30k-de-en": ("multi30k-de-en", "train.de train.en val.en test_2016_flickr.de "
                       "test_2016_flickr.en"),
    "small-ja-en": ("small-enja", "train.ja train.en dev.en test.ja test.en"),
}  # fmt: skip


def test_the_tables_of_the_readme_are_those_of_the_runs() -> None:
    made = runpy.run_path(str(HERE / "__main__.py"))["with_results"]
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    assert made(readme) == readme, "make figures"


@pytest.mark.parametrize(
    "folder", [path for path in RUNS if path.name.endswith("seed1")], ids=lambda path: path.name
)
def test_every_kept_score_comes_out_of_the_translations(
    folder: Path, shared: Path, tmp_path: Path
) -> None:
    """Where the corpora are, for one seed of each; DROP's model is trained again from its text."""
    corpus, names = FILES[folder.name.rpartition("-seed")[0]]
    paths = [shared / "data" / corpus / name for name in names.split()]
    train_src, train_tgt, valid_ref, src, ref = paths
    with Aligner.train_pairs(list(read_parallel(train_src, train_tgt))) as aligner:
        aligner.save(tmp_path / "words.model")
    run = RunFolder.existing(folder)
    claims = list(
        score_claims(run, ref=ref, src=src, model=tmp_path / "words.model", valid_ref=valid_ref)
    )
    assert len(claims) >= 4
    for claim in claims:
        assert claim.verdict is Verdict.HOLDS, claim
    assert sum(len(claim.facts) for claim in claims) >= 150
