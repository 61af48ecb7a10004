"""Scores of runs beside the printed ones, and Figure 2; kept files need no PyTorch."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import coverage_eval as ce
from coverage_eval.attention_maps.formats.native import save
from coverage_eval.attention_maps.maps import AttentionMap
from coverage_eval.errors import DataError
from coverage_eval.papers.claims import Verdict
from coverage_eval.papers.printed import load_table
from coverage_eval.papers.reproduction.paper_systems import find_system
from coverage_eval.papers.reproduction.run_audit import (
    audit_runs,
    comparison_claims,
    effects_of,
    score_claims,
)
from coverage_eval.papers.reproduction.run_folder import PRESETS, RunFolder
from coverage_eval.papers.reproduction.run_results import draw_figure2, fixed_repetitions
from coverage_eval.papers.user_scores import read_scores
from tests.conftest import ROOT

PRINTED = load_table("table1")
PRESET = {name: getattr(PRESETS["small"], name) for name in PRESETS["small"].__dataclass_fields__}


def _run(folder: Path, seed: int, shift: dict[str, float], corpus: str = "a") -> RunFolder:
    """A run with the printed scores, after ``shift`` is added to the BLEU of some systems."""
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


def test_the_printed_scores_agree_with_themselves(tmp_path):
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


def test_a_much_worse_system_is_noticed(tmp_path):
    (bleu, *_) = comparison_claims([_run(tmp_path / "a", 1, {"csparsemax": -5.0})], "table1")
    assert bleu.verdict is Verdict.EXCEPTIONS
    opposite = {fact.what for fact in bleu.facts if fact.outcome == "opposite"}
    assert opposite == {
        f"{other} against csparsemax" for other in PRINTED.systems if other != "csparsemax"
    }


def test_several_seeds_have_the_interval_of_students_t(tmp_path):
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


def test_intervals_that_exclude_0_are_counted_and_corrected(tmp_path):
    """Differences that hardly vary survive Holm's correction; those near chance do not."""
    runs = [
        _run(tmp_path / str(seed), seed, {"csparsemax": 20 + 0.01 * seed, "csoftmax": noise})
        for seed, noise in enumerate([-1.0, 1.2, 0.4, -0.6])
    ]
    scores = [read_scores(run.path / "table1.scores.csv", [PRINTED]) for run in runs]
    printed = replace(PRINTED, columns=tuple(c for c in PRINTED.columns if c == ("De-En", "BLEU")))
    effects = {effect.pair: effect for effect in effects_of(printed, scores)}
    assert len(effects) == 28
    sure, unsure = effects["softmax", "csparsemax"], effects["softmax", "csoftmax"]
    assert sure.outcome == "same, beyond chance"
    assert unsure.outcome.endswith("within chance")
    plain = {
        pair: 0.0 if len(set(e.gains)) == 1 else float(stats.ttest_1samp(e.gains, 0).pvalue)
        for pair, e in effects.items()
    }
    expected = _holm_by_hand(list(plain.values()))
    assert [e.adjusted for e in effects.values()] == pytest.approx(expected)
    (bleu, *_) = comparison_claims(runs, "table1")
    assert "Of the 112 intervals of all metrics" in bleu.note
    of_print = replace(PRINTED, columns=tuple(c for c in PRINTED.columns if c[0] == "De-En"))
    beyond = [e.outcome for e in effects_of(of_print, scores) if "beyond chance" in e.outcome]
    opposite = sum(outcome.startswith("opposite") for outcome in beyond)
    assert f"correction: {len(beyond)}, {opposite} of them in the opposite" in bleu.note
    assert "about 6 would by chance" in bleu.note


@pytest.mark.filterwarnings("error")
def test_gains_that_differ_by_rounding_alone_are_equal(tmp_path):
    run = _run(tmp_path / "run", 1, {"csparsemax": 2.0})
    first = read_scores(run.path / "table1.scores.csv", [PRINTED])
    second = {key: (value + 0.1) * 3 / 3 - 0.1 for key, value in first.items()}
    printed = replace(PRINTED, columns=tuple(c for c in PRINTED.columns if c[0] == "De-En"))
    effects = effects_of(printed, [first, second, first])
    assert any(0 < abs(e.gains[0] - e.gains[1]) < 1e-12 for e in effects)
    assert {e.p_value for e in effects} <= {0.0, 1.0}


def _holm_by_hand(p_values: list[float]) -> list[float]:
    """Adjusted p-values as in Holm's paper: the k-th smallest times n - k + 1."""
    ranked = sorted(p_values)
    return [
        min(1.0, max((len(ranked) - k) * q for k, q in enumerate(ranked) if q <= p))
        for p in p_values
    ]


def test_two_seeds_decide_nothing(tmp_path):
    runs = [_run(tmp_path / str(seed), seed, {"csparsemax": 20 + 1e-6 * seed}) for seed in (1, 2)]
    (bleu, *_, last) = comparison_claims(runs, "table1")
    assert {fact.outcome.partition(", ")[2] for fact in bleu.facts} == {"too few seeds"}
    assert "With fewer than 3 seeds no difference counts." in bleu.note
    assert "in single seeds it holds in 2 of 2." in last.note


def test_tables_at_equal_length_have_separate_claims(tmp_path):
    run = _run(tmp_path / "a", 1, {})
    plain = (run.path / "table1.scores.csv").read_text(encoding="utf-8")
    (run.path / "table1.equal.scores.csv").write_text(plain, encoding="utf-8")
    texts = [claim.text for claim in comparison_claims([run], "table1")]
    assert len(texts) == 14, "four metrics, and three claims of section 5, for each form"
    assert sum(text.startswith("at equal length: of two systems") for text in texts) == 4


REFERENCES = ["the cat sat on the mat .", "a dog ran to the old house .", "we saw it ."] * 5
SOURCES = ["die katze sass auf der matte .", "ein hund lief zum alten haus .", "wir sahen es ."] * 5
HYPOTHESES = {
    "softmax": ["the cat cat sat on the mat .", "a dog ran to the house .", "we saw it ."] * 5,
    "softmax-penalized": ["the cat sat on it .", "a dog ran ran to the old house .", "it ."] * 5,
}
RESCORED = ["the mat .", "a dog ran to the old house house house .", "we saw ."] * 5


def _write(path: Path, lines: list[str]) -> Path:
    content = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.fixture
def kept(tmp_path: Path) -> RunFolder:
    """The kept files of a run: translations, and the table of their BLEU, REP and DROP."""
    run = _run(tmp_path / "kept", 1, {})
    texts = {"test_ref": REFERENCES, "test_src": SOURCES}
    manifest = run.manifest
    for option, lines in texts.items():
        file = _write(tmp_path / option, lines)
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
        manifest["corpora"][option] = {"file": option, "sha256": sha256}
    (run.path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    for folder, lines in HYPOTHESES.items():
        _write(run.path / f"{folder}.test.hyp.gz", lines)
    _write(run.path / "softmax-penalized.test.rescored.hyp.gz", RESCORED)
    named = {
        "softmax": HYPOTHESES["softmax"],
        "softmax + COVPENALTY": HYPOTHESES["softmax-penalized"],
        "softmax + COVPENALTY, rescoring": RESCORED,
    }
    rows = ["system,metric,score"]
    with ce.Aligner.train_pairs(list(zip(SOURCES, REFERENCES, strict=True))) as aligner:
        aligner.save(tmp_path / "words.model")
        for system, lines in named.items():
            scores = (
                ce.bleu(lines, REFERENCES, tokenize="none", lowercase=True),
                ce.rep(lines, REFERENCES),
                ce.drop(lines, REFERENCES, SOURCES, aligner=aligner),
            )
            rows += [f'"{system}",{score.metric},{score.score!r}' for score in scores]
    _write(run.path / "table1.csv", rows)
    return run


def test_kept_scores_are_recomputed_from_the_kept_translations(kept):
    texts = kept.path.parent
    (claim,) = score_claims(kept, ref=texts / "test_ref")
    assert claim.verdict is Verdict.HOLDS
    assert len(claim.facts) == 6, "BLEU and REP of two systems, and of what rescoring chose"
    assert {fact.outcome for fact in claim.facts} == {"equal"}
    assert "DROP is not recomputed" in claim.note
    model = texts / "words.model"
    assert [*score_claims(kept, ref=texts / "test_ref", model=model)] == [claim], "no source"
    (claim,) = score_claims(kept, ref=texts / "test_ref", src=texts / "test_src", model=model)
    assert claim.verdict is Verdict.HOLDS
    assert sum(fact.what.endswith(": DROP") for fact in claim.facts) == 3
    assert "DROP" not in claim.note


def test_a_changed_translation_is_noticed(kept):
    _write(kept.path / "softmax.test.hyp.gz", REFERENCES)
    (claim,) = score_claims(kept, ref=kept.path.parent / "test_ref")
    assert claim.verdict is Verdict.FAILS
    assert {fact.what for fact in claim.exceptions} == {"softmax: BLEU", "softmax: REP"}
    assert {fact.outcome for fact in claim.exceptions} == {"differs"}


def test_systems_without_translations_are_named(kept):
    (kept.path / "softmax.test.hyp.gz").unlink()
    (claim,) = score_claims(kept, ref=kept.path.parent / "test_ref")
    assert claim.verdict is Verdict.HOLDS
    assert len(claim.facts) == 4
    assert "There are no translations of softmax." in claim.note
    _write(kept.path / "table1.csv", ["system,metric,score", "softmax,BLEU,30.0"])
    (claim,) = score_claims(kept, ref=kept.path.parent / "test_ref")
    assert claim.verdict is Verdict.UNCHECKED


def test_without_the_references_no_score_is_recomputed(kept):
    (claim,) = score_claims(kept)
    assert claim.verdict is Verdict.UNCHECKED
    assert "name them with --ref" in claim.unchecked
    (kept.path / "softmax.test.hyp.gz").unlink()
    (kept.path / "softmax-penalized.test.hyp.gz").unlink()
    assert list(score_claims(kept)) == [], "the kept files of earlier runs have no translations"


def test_other_texts_and_damaged_tables_are_refused(kept):
    texts = kept.path.parent
    with pytest.raises(DataError, match=r"test_src: is not the text that .* was made with"):
        list(score_claims(kept, ref=texts / "test_src"))
    with pytest.raises(DataError, match="no such file"):
        list(score_claims(kept, ref=texts / "absent"))
    for content in ("system,metric\n", "system,metric,score\nsoftmax,BLEU,high\n"):
        (kept.path / "table1.csv").write_text(content + "softmax,BLEU\n", encoding="utf-8")
        with pytest.raises(DataError, match=r"table1\.csv: is not a table of a run's scores"):
            list(score_claims(kept, ref=texts / "test_ref"))


def test_the_command_recomputes_kept_scores(kept, run_cli):
    texts = kept.path.parent
    done = run_cli(
        "audit", "run", kept.path, "--ref", texts / "test_ref", "--src", texts / "test_src",
        "--model", texts / "words.model", "-f", "json",
    )  # fmt: skip
    first = json.loads(done.stdout)["claims"][0]
    assert first["claim"].endswith("have the scores that table1 gives them")
    assert (first["verdict"], len(first["facts"])) == ("holds", 9)
    done = run_cli("audit", "table1", "--ref", texts / "test_ref", check=False)
    assert done.returncode == 2
    assert "--ref, --src, --model and --valid-ref go with 'run'" in done.stderr


def test_runs_that_do_not_belong_together_are_refused(tmp_path):
    one = _run(tmp_path / "one", 1, {})
    with pytest.raises(DataError, match="used other texts"):
        comparison_claims([one, _run(tmp_path / "other", 2, {}, "b")], "table1")
    with pytest.raises(DataError, match="same seed"):
        comparison_claims([one, _run(tmp_path / "again", 1, {})], "table1")


def _leave_out(run: RunFolder, word: str) -> None:
    """Remove the scores of a run whose lines contain a word."""
    path = run.path / "table1.scores.csv"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if word not in line), encoding="utf-8")


def test_claims_of_the_paper_need_all_systems(tmp_path):
    run = _run(tmp_path / "a", 1, {})
    _leave_out(run, "csof")
    claims = comparison_claims([run], "table1")
    assert len(claims) == 4
    assert all(len(claim.facts) == 21 for claim in claims)
    assert comparison_claims([run], "table2") == ()


def test_claims_of_the_paper_need_all_metrics(tmp_path):
    """A run made without METEOR has no such column."""
    run = _run(tmp_path / "a", 1, {})
    _leave_out(run, "METEOR")
    claims = comparison_claims([run], "table1")
    assert len(claims) == 3
    assert not any("over our figures" in claim.text for claim in claims)


def test_a_folder_without_figures_is_refused(tmp_path):
    run = _run(tmp_path / "a", 1, {})
    (run.path / "table1.scores.csv").unlink()
    with pytest.raises(DataError, match="no system is finished yet"):
        audit_runs([run.path])
    with pytest.raises(DataError, match="is not the folder of a run"):
        audit_runs([tmp_path])


def test_figure_2_shows_a_repetition_that_the_other_system_does_not_have(tmp_path):
    run = _run(tmp_path / "a", 1, {})
    _write(run.path / "test.ref", ["a b c", "d e f g h i", "x", "u"])
    outputs = {
        "softmax": ["a b b", "d d d d e f", "x x", "u"],
        "csparsemax": ["a b c", "d e f g", "x x", "u"],
    }
    names = ("softmax", "csparsemax")
    for name, lines in outputs.items():
        with pytest.raises(DataError, match=f"{name} is not finished yet"):
            fixed_repetitions(run, names)
        folder = run.folder("systems", find_system(name).folder)
        _write(folder / "test.hyp", lines)
        maps = [
            AttentionMap(np.eye(len(line.split()), 7), source=tuple("ABCDEFG"), hypothesis=words)
            for line in lines
            if (words := tuple(line.split()))
        ]
        save(maps, folder / "test.attention.npz")
    assert fixed_repetitions(run, names) == [2, 1]  # both repeat words in the third segment
    for number, expected in ((None, 1), (1, 0), (4, 3)):
        axes = draw_figure2(run, number)
        shown = [" ".join(label.get_text() for label in ax.get_xticklabels()) for ax in axes]
        assert shown == [outputs[name][expected] for name in names]
        assert [ax.get_title("left") for ax in axes] == list(names)
    with pytest.raises(DataError, match="segment 5: the test set has 4"):
        draw_figure2(run, 5)
    with pytest.raises(DataError, match="no segment in which csparsemax repeats words and softmax"):
        draw_figure2(run, names=("csparsemax", "softmax"))


@pytest.mark.parametrize(
    "folder",
    sorted(path.parent for path in (ROOT / "notebooks" / "reproduction").rglob("table1.csv")),
    ids=lambda path: "-".join(path.parts[-2:]),
)
def test_the_audit_reads_every_kept_run(folder, run_cli):
    done = run_cli("audit", "run", folder, "-f", "json")
    assert json.loads(done.stdout)["claims"]
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert any("reproduce table1" in session["command"] for session in manifest["sessions"])
    assert "/" not in "".join(session["command"] for session in manifest["sessions"])
