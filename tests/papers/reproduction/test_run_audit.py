"""Scores of runs beside the printed ones; needs no PyTorch, as what was kept of a run does not."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from scipy import stats

from coverage_eval.errors import DataError
from coverage_eval.papers.claims import Verdict
from coverage_eval.papers.printed import load_table
from coverage_eval.papers.reproduction.run_audit import audit_runs, comparison_claims
from coverage_eval.papers.reproduction.run_folder import PRESETS, RunFolder
from tests.conftest import ROOT, RunCli

PRINTED = load_table("table1")
PRESET = {name: getattr(PRESETS["small"], name) for name in PRESETS["small"].__dataclass_fields__}


def _run(folder: Path, seed: int, shift: dict[str, float], corpus: str = "a") -> RunFolder:
    """A run with the printed scores, some systems' BLEU moved."""
    folder.mkdir()
    settings = {"preset_name": "small", "preset": PRESET, "seed": seed, "beam": 10}
    manifest = {
        "settings": {**settings, "dataset": "De-En"}, "made": {}, "sessions": [],
        "corpora": {"train_src": {"file": "train.de", "sha256": corpus}},
    }  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    lines = ["system,dataset,metric,value"]
    for (system, dataset, metric), cell in PRINTED.cells.items():
        if dataset == "De-En":
            moved = cell.value + (shift.get(system, 0.0) if metric == "BLEU" else 0.0)
            lines.append(f"{system},{dataset},{metric},{moved:.4f}")
    (folder / "table1.scores.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return RunFolder.existing(folder)


def test_the_printed_scores_agree_with_themselves(tmp_path: Path) -> None:
    claims = comparison_claims([_run(tmp_path / "a", 1, {})], "table1")
    directions = [claim for claim in claims if claim.text.startswith("of two systems")]
    assert [claim.text.split("better ")[1].split(" ")[0] for claim in directions] == [
        "BLEU", "METEOR", "REP", "DROP",
    ]  # fmt: skip
    for claim in directions:
        assert len(claim.facts) == 28
        assert all(fact.holds == (fact.outcome == "same") for fact in claim.facts)
        assert {fact.outcome for fact in claim.facts} <= {"same", "tie"}
    assert len(claims) == 7, "four metrics, and three claims of section 5 over these figures"


def test_a_system_that_fell_is_seen(tmp_path: Path) -> None:
    (bleu, *_) = comparison_claims([_run(tmp_path / "a", 1, {"csparsemax": -5.0})], "table1")
    assert bleu.verdict is Verdict.EXCEPTIONS
    opposite = {fact.what for fact in bleu.facts if fact.outcome == "opposite"}
    assert opposite == {
        f"{other} against csparsemax" for other in PRINTED.systems if other != "csparsemax"
    }


def test_several_seeds_have_the_interval_of_students_t(tmp_path: Path) -> None:
    shifts = [0.1, -0.3, 0.5]
    runs = [
        _run(tmp_path / str(seed), seed, {"csparsemax": shift}) for seed, shift in enumerate(shifts)
    ]
    (bleu, *_) = comparison_claims(runs, "table1")
    (fact,) = [f for f in bleu.facts if f.what == "csoftmax against csparsemax"]
    gains = [29.39 - 29.85 - shift for shift in shifts]
    mean = sum(gains) / 3
    low, high = stats.t.interval(0.95, 2, loc=mean, scale=stats.sem(gains))
    assert fact.against == f"{mean:+.2f} ± {(high - low) / 2:.2f}"
    assert math.isclose((low + high) / 2, mean)
    assert fact.outcome == "same, within chance"


def test_runs_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    one = _run(tmp_path / "one", 1, {})
    with pytest.raises(DataError, match="on other texts"):
        comparison_claims([one, _run(tmp_path / "other", 2, {}, "b")], "table1")
    with pytest.raises(DataError, match="same seed"):
        comparison_claims([one, _run(tmp_path / "again", 1, {})], "table1")


def _leave_out(run: RunFolder, word: str) -> None:
    """Take the scores out of a run whose lines have this word."""
    path = run.path / "table1.scores.csv"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if word not in line), encoding="utf-8")


def test_claims_of_the_paper_need_all_systems(tmp_path: Path) -> None:
    run = _run(tmp_path / "a", 1, {})
    _leave_out(run, "csof")
    claims = comparison_claims([run], "table1")
    assert len(claims) == 4
    assert all(len(claim.facts) == 21 for claim in claims)
    assert comparison_claims([run], "table2") == ()


def test_claims_of_the_paper_need_all_metrics(tmp_path: Path) -> None:
    """Where METEOR is not installed a run has no such column."""
    run = _run(tmp_path / "a", 1, {})
    _leave_out(run, "METEOR")
    claims = comparison_claims([run], "table1")
    assert len(claims) == 3
    assert not any("over our figures" in claim.text for claim in claims)


def test_a_folder_without_figures_is_refused(tmp_path: Path) -> None:
    run = _run(tmp_path / "a", 1, {})
    (run.path / "table1.scores.csv").unlink()
    with pytest.raises(DataError, match="no system is finished yet"):
        audit_runs([run.path])
    with pytest.raises(DataError, match="no run is there"):
        audit_runs([tmp_path])


@pytest.mark.parametrize(
    "folder",
    sorted(path.parent for path in (ROOT / "notebooks" / "reproduction").glob("*/table1.csv")),
    ids=lambda path: path.name,
)
def test_what_was_kept_is_read_by_the_audit(folder: Path, run_cli: RunCli) -> None:
    done = run_cli("audit", "run", folder, "-f", "json")
    assert json.loads(done.stdout)["claims"]
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert any("reproduce table1" in session["command"] for session in manifest["sessions"])
    assert "/" not in "".join(session["command"] for session in manifest["sessions"])
