"""``reproduce table1`` end to end, and every command that reads its folder."""

from __future__ import annotations

import csv
import gzip
import json
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu

torch = pytest.importorskip("torch", reason="PyTorch (the nmt extra) is not installed")
pytest.importorskip("tokenizers", reason="tokenizers (the nmt extra) is not installed")

import coverage_eval as ce
from coverage_eval.attention_maps import load
from coverage_eval.errors import DataError
from coverage_eval.papers.printed import load_table
from coverage_eval.papers.reproduction.paper_systems import find_system, find_systems
from coverage_eval.papers.reproduction.run_folder import RunFolder
from coverage_eval.papers.reproduction.run_results import hypotheses_of, keep_results
from coverage_eval.papers.reproduction.training import load_checkpoint, save_checkpoint
from fast_align_wrapper.files import file_sha256
from tests.conftest import COMMAND
from tests.papers.reproduction.conftest import PARTS, TINY, TUNED_ON, as_arguments, write_corpus

SYSTEMS = load_table("table1").systems
FELL = 1.5
"""Training perplexity falls by at least this factor from the first epoch to the last."""


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _epochs(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _lines(path)]


def _scores(path: Path) -> dict[tuple[str, str], float]:
    with path.open(encoding="utf-8", newline="") as file:
        return {(r["system"], r["metric"]): float(r["value"]) for r in csv.DictReader(file)}


def test_all_eight_systems_are_in_the_table(finished_run):
    with (finished_run / "table1.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = list(dict.fromkeys(row["system"] for row in rows))
    assert [name for name in found if not name.endswith(", rescoring")] == list(SYSTEMS)
    assert len(found) == len(SYSTEMS) + 2
    assert {"BLEU", "REP", "DROP"} <= {row["metric"] for row in rows}
    assert all(row["signature"] and row["low"] and row["high"] for row in rows)


def test_training_perplexity_falls(finished_run):
    logs = sorted(finished_run.glob("models/*/epochs.jsonl"))
    assert len(logs) == 7, "six models and the fertility predictor"
    for log in logs:
        first, *_, last = (record["train_perplexity"] for record in _epochs(log))
        if log.parent.name != "fertility-predictor":
            assert last < first / FELL, log.parent.name
        assert last < first
        records = _epochs(log)
        best = min(records, key=lambda record: float(record["valid_perplexity"]))
        words, seconds = (sum(record[key] for record in records) for key in ("words", "seconds"))
        assert _made(finished_run)[log.parent.name] == {
            "epochs": 3, "best epoch": best["epoch"],
            "valid perplexity": best["valid_perplexity"],
            "words per second": round(words / seconds, 1),
        }  # fmt: skip
    corpora = _made(finished_run)["corpora"]
    assert corpora["training pairs"] + corpora["left out"] == PARTS["train"]


def _made(run: Path) -> dict[str, Any]:
    made: dict[str, Any] = json.loads((run / "manifest.json").read_text(encoding="utf-8"))["made"]
    return made


def test_penalties_were_chosen_on_the_validation_set(finished_run, corpus, run_cli, tmp_path):
    made = _made(finished_run)
    for name in ("softmax-penalized", "sparsemax-penalized"):
        for part in (name, f"{name}, rescoring"):
            assert len(made[part]["grid"]) == 36
            best = max(point[2] for point in made[part]["grid"])
            assert made[part]["valid BLEU"] == pytest.approx(best, abs=1e-4)
        assert (finished_run / "systems" / name / "test.rescored.hyp").exists()
        assert made[name]["tuning"] == {"by": "beam", "sentences": int(TUNED_ON)}
        # Decoding again with the chosen weights gives the BLEU for which they were chosen.
        text = tmp_path / "valid.src"
        first = _lines(Path(corpus["valid_src"]))[: int(TUNED_ON)]
        text.write_text("".join(f"{line}\n" for line in first), encoding="utf-8")
        system = name.replace("-penalized", " + COVPENALTY")
        done = run_cli("reproduce", "translate", finished_run, text, "--system", system)
        references = _lines(Path(corpus["valid_tgt"]))[: int(TUNED_ON)]
        bleu = ce.bleu(done.stdout.splitlines(), references, tokenize="none", lowercase=True)
        assert made[name]["valid BLEU"] == pytest.approx(float(bleu), abs=1e-4)


def test_other_weights_are_chosen_without_training(finished_run, corpus, run_cli, tmp_path):
    """A run of an earlier version chose weights on n-best lists; its manifest does not say so."""
    run = tmp_path / "run"
    shutil.copytree(finished_run, run)
    parts = ("models/*/*.pt", "systems/*/test.hyp")
    before = {p: p.stat().st_mtime_ns for part in parts for p in run.glob(part)}
    name = "softmax-penalized"
    options = (
        *as_arguments(corpus), "-o", run, *TINY, "--resume", "--system", "softmax + COVPENALTY",
    )  # fmt: skip
    run_cli("reproduce", "table1", *options, "--tune-by", "lists")
    changed = [p for p in before if p.stat().st_mtime_ns != before[p]]
    assert changed == [run / "systems" / name / "test.hyp"]
    made = _made(run)
    assert made[name]["tuning"] == {"by": "lists", "sentences": None}
    assert made[name]["grid"] == _made(finished_run)[f"{name}, rescoring"]["grid"]
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    del manifest["settings"]["tuning"], manifest["settings"]["preset"]["scoring"]
    del manifest["made"][name]["tuning"]
    (run / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    before = {p: p.stat().st_mtime_ns for p in before}
    run_cli("reproduce", "table1", *options, "--tune-by", "lists")
    assert {p: p.stat().st_mtime_ns for p in before} == before
    done = run_cli("reproduce", "table1", *options, "--scoring", "additive", check=False)
    assert done.returncode == 1
    assert "began with preset.scoring bilinear, not additive" in done.stderr
    done = run_cli(
        "reproduce", "table1", *options, "--tune-by", "lists", "--tune-on", "3", check=False
    )
    assert done.returncode == 2


def test_rescore_reads_the_lists_and_chooses_the_same_weights(finished_run, corpus, run_cli):
    lists = finished_run / "systems" / "softmax-penalized"
    done = run_cli(
        "rescore", lists / "valid.nbest", "--attention", lists / "valid.coverage.jsonl",
        "--ref", corpus["valid_tgt"], "--tokenize", "none", "--lowercase", "--subwords", "bpe",
        "-f", "json",
    )  # fmt: skip
    kept = _made(finished_run)["softmax-penalized, rescoring"]
    assert kept["signature"] in done.stdout
    assert f'"alpha": {kept["alpha"]}' in done.stdout


def test_attention_of_every_sentence_is_dumped(finished_run):
    for folder in (finished_run / "systems").iterdir():
        maps = load(folder / "test.attention.npz")
        hypotheses = _lines(folder / "test.hyp")
        assert len(maps) == len(hypotheses) == PARTS["test"]
        assert all(hypotheses)
        for item, text in zip(maps, hypotheses, strict=True):
            assert item.row_stochastic
            assert item.source_labels[-1] == "<SINK>"
            assert "".join(item.hypothesis_words).replace("@@", "") == text.replace(" ", "")


def test_bounded_attention_keeps_its_bounds(finished_run):
    for name in ("constrained_softmax", "constrained_sparsemax"):
        folder = finished_run / "systems" / f"{name}-predicted-c0.2"
        bounds = [list(map(float, line.split())) for line in _lines(folder / "test.fertilities")]
        for item, row in zip(load(folder / "test.attention.npz"), bounds, strict=True):
            assert (item.weights.sum(axis=0) <= [bound + 1e-5 for bound in row]).all()


def test_the_audit_replays_all_systems(finished_run, run_cli):
    done = run_cli("audit", "run", finished_run, "-f", "json", "--segments", "30")
    claims = json.loads(done.stdout)["claims"]
    assert claims[0]["verdict"] == "holds"
    assert len(claims[0]["facts"]) == 16
    assert claims[1]["claim"].endswith("have the scores that table1 gives them")
    assert claims[1]["verdict"] == "holds"
    directions = [claim for claim in claims if claim["claim"].startswith("of two systems")]
    assert {len(claim["facts"]) for claim in directions} == {28}


def test_the_audit_notices_a_changed_model(finished_run, run_cli, tmp_path):
    """One weight is changed: the audit names the systems that use it, and no other."""
    run = tmp_path / "run"
    shutil.copytree(finished_run, run)
    path = run / "models" / "sparsemax" / "best.pt"
    content = load_checkpoint(path)
    content["model"]["attention.scorer.weight"] *= 1.5
    save_checkpoint(path, content)
    done = run_cli("audit", "run", run, "-f", "json", "--segments", "30")
    facts = json.loads(done.stdout)["claims"][0]["facts"]
    wrong = {fact["fact"] for fact in facts if not fact["holds"]}
    assert {"sparsemax: attention", "sparsemax + COVPENALTY: attention"} <= wrong
    assert all(fact.startswith("sparsemax") and "COVVECTOR" not in fact for fact in wrong)


@pytest.mark.parametrize("name", ["softmax + COVPENALTY", "csparsemax", "csoftmax"])
def test_a_trained_system_translates_other_text(finished_run, run_cli, tmp_path, name):
    """The test set, given as other text: fertilities are predicted, chosen weights are used."""
    dump = tmp_path / "dump.jsonl"
    done = run_cli(
        "reproduce", "translate", finished_run, finished_run / "test.src", "--system", name,
        "--attention", dump,
    )  # fmt: skip
    folder = finished_run / "systems" / find_system(name).folder
    assert done.stdout.splitlines() == _lines(folder / "test.hyp")
    for one, other in zip(load(dump), load(folder / "test.attention.npz"), strict=True):
        assert one.source == other.source
        np.testing.assert_allclose(one.weights, other.weights, atol=1e-6)


def test_text_that_cannot_be_translated_is_an_error(finished_run, run_cli, tmp_path):
    text = finished_run / "test.src"
    for name, message in (("hardmax", "no system is called"), ("GUIDED", "no such file")):
        done = run_cli("reproduce", "translate", finished_run, text, "--system", name, check=False)
        assert done.returncode == 1
        assert message in done.stderr
    run = tmp_path / "run"
    shutil.copytree(finished_run, run)
    models = run / "models"
    shutil.copytree(
        models / "constrained_sparsemax-predicted-c0.2", models / "constrained_sparsemax-guided-c0"
    )
    done = run_cli("reproduce", "translate", run, text, "--system", "GUIDED", check=False)
    assert done.returncode == 1
    assert "guided fertilities need the training text" in done.stderr


def test_kept_files_contain_no_source_text_and_no_weights(finished_run, run_cli, tmp_path):
    folder = tmp_path / "kept"
    listed = run_cli("reproduce", "keep", finished_run, "-o", folder).stdout.split()
    assert sorted(listed) == sorted(str(path) for path in folder.iterdir())
    assert len(list(folder.glob("*.epochs.jsonl"))) == 7
    with gzip.open(folder / "nbest_scores.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["system"] for row in rows} == set(SYSTEMS)
    lists = finished_run / "systems" / "softmax"
    expected, ranks = [], Counter[str]()
    for line, received in zip(
        _lines(lists / "test.nbest"), _lines(lists / "test.coverage.jsonl"), strict=True
    ):
        segment, text, _, score = line.split(" ||| ")
        ranks[segment] += 1
        penalty = np.log(np.clip(json.loads(received)["coverage"], 0.1, 1)).sum()
        expected += [int(segment) + 1, ranks[segment], float(score), len(text.split()), penalty]
    found = [list(row.values())[1:] for row in rows if row["system"] == "softmax"]
    assert [float(value) for row in found for value in row] == pytest.approx(expected, abs=1e-4)
    kept = b"".join(p.read_bytes() for p in folder.iterdir() if p.suffix != ".gz")
    kept += "".join(value for row in rows for value in row.values()).encode()
    for line in _lines(finished_run / "test.ref")[:20]:
        assert line.encode() not in kept
    assert str(finished_run).encode() not in kept


def test_translations_are_kept_and_give_the_scores_again(finished_run, corpus, run_cli, tmp_path):
    kept, again = tmp_path / "kept", tmp_path / "again"
    for folder in (kept, again):
        run_cli("reproduce", "keep", finished_run, "-o", folder)
    packed = sorted(path.name for path in kept.glob("*.hyp.gz"))
    assert len(packed) == 28, "eight systems in three forms; what rescoring and the beam chose"
    for name in (*packed, "nbest_scores.csv.gz"):
        assert (kept / name).read_bytes() == (again / name).read_bytes()
        if name.endswith((".test.hyp.gz", ".rescored.hyp.gz", ".valid.hyp.gz")):
            folder, part, file = re.split(r"\.(test|valid)\.", name.removesuffix(".gz"))
            text = (finished_run / "systems" / folder / f"{part}.{file}").read_bytes()
            assert gzip.decompress((kept / name).read_bytes()) == text
    done = run_cli(
        "audit", "run", kept, "--ref", finished_run / "test.ref", "--src",
        finished_run / "test.src", "--model", finished_run / "prepared" / "words.model",
        "--valid-ref", corpus["valid_tgt"], "-f", "json",
    )  # fmt: skip
    weights, *claims = json.loads(done.stdout)["claims"]
    assert weights["claim"].startswith("with the chosen weights of COVPENALTY")
    assert (weights["verdict"], len(weights["facts"])) == ("holds", 2)
    for table, claim in zip(("table1", "table1.normalized", "table1.equal"), claims, strict=False):
        assert claim["claim"].endswith(f"have the scores that {table} gives them")
        assert claim["verdict"] == "holds"
        with (finished_run / f"{table}.csv").open(encoding="utf-8", newline="") as file:
            assert len(claim["facts"]) == len(list(csv.DictReader(file)))


def test_lists_are_ranked_again_for_another_length(finished_run):
    """By log P / ((5 + length) / 6) ** α, where length counts the pieces without the end mark."""
    run = RunFolder.existing(finished_run)
    lists: dict[int, list[tuple[float, list[str]]]] = {}
    for line in _lines(finished_run / "systems" / "softmax" / "test.nbest"):
        segment, text, _, score = line.split(" ||| ")
        lists.setdefault(int(segment), []).append((float(score), text.split()))

    def chosen(alpha: float) -> list[str]:
        best = (
            max(items, key=lambda item: item[0] / ((5 + len(item[1])) / 6) ** alpha)[1]
            for items in lists.values()
        )
        return [" ".join(pieces).replace("@@ ", "") for pieces in best]

    (softmax,) = find_systems("table1", ["softmax"])
    assert hypotheses_of(run, [softmax], "normalized") == {"softmax": chosen(1.0)}
    wanted = sum(len(line.split()) for line in _lines(finished_run / "test.ref"))
    (equal,) = hypotheses_of(run, [softmax], "equal").values()
    off = abs(sum(len(line.split()) for line in equal) - wanted)
    assert off == min(
        abs(sum(len(line.split()) for line in chosen(step / 10)) - wanted) for step in range(31)
    )


def test_length_and_brevity_penalty_are_sacrebleus(finished_run):
    with (finished_run / "table1.csv").open(encoding="utf-8", newline="") as file:
        scores = {(r["system"], r["metric"]): float(r["score"]) for r in csv.DictReader(file)}
    for system, folder in (("softmax", "softmax"), ("sparsemax", "sparsemax")):
        theirs = sacrebleu.corpus_bleu(
            _lines(finished_run / "systems" / folder / "test.hyp"),
            [_lines(finished_run / "test.ref")],
            tokenize="none",
            force=True,
        )
        assert scores[system, "length"] == pytest.approx(theirs.sys_len / theirs.ref_len, abs=1e-6)
        assert scores[system, "BP"] == pytest.approx(theirs.bp, abs=1e-6)


def test_a_finished_run_is_scored_again_at_once(finished_run, corpus, run_cli):
    """Nothing is trained or decoded; only the table is written."""
    before = {p: p.stat().st_mtime_ns for p in finished_run.glob("systems/*/*")}
    before |= {p: p.stat().st_mtime_ns for p in finished_run.glob("models/*/*")}
    options = (
        *as_arguments(corpus), "-o", finished_run, *TINY, "--tune-on", TUNED_ON,
    )  # fmt: skip
    run_cli("reproduce", "table1", *options, "--resume")
    assert {p: p.stat().st_mtime_ns for p in before} == before
    done = run_cli("reproduce", "table1", *options, check=False)
    assert done.returncode == 1
    assert "already has a run; continue it with --resume" in done.stderr
    done = run_cli("reproduce", "table1", *options, "--resume", "--seed", "2", check=False)
    assert done.returncode == 1
    assert "began with seed 1, not 2" in done.stderr


def test_table2_continues_in_the_folder_of_table1(finished_run, corpus, run_cli, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(finished_run, run)
    run_cli(
        "reproduce", "table2", *as_arguments(corpus), "-o", run, *TINY, "--tune-on", TUNED_ON,
        "--resume", "--system", "PREDICTED c = 0.2",
    )  # fmt: skip
    one, two = (_scores(run / f"{table}.scores.csv") for table in ("table1", "table2"))
    assert two["PREDICTED c = 0.2", "BLEU"] == one["csparsemax", "BLEU"]


def test_a_killed_run_continues_to_the_same_files(tmp_path, run_cli):
    options = as_arguments(write_corpus(tmp_path, {"train": 100, "valid": 10, "test": 10}))
    settings = ["--preset", "tiny", "--beam", "2", "--system", "csparsemax", "--epochs", "3"]
    unbroken, killed = tmp_path / "unbroken", tmp_path / "killed"
    command = ["reproduce", "table1", *options, *settings]
    run_cli(*command, "-o", unbroken)
    model = "constrained_sparsemax-predicted-c0.2"
    arguments = [*command, "-o", str(killed), "--resume"]
    log = killed / "models" / model / "epochs.jsonl"
    with subprocess.Popen([str(COMMAND), *arguments], stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            if log.exists() and len(_lines(log)) >= 2:
                process.send_signal(signal.SIGKILL)  # no chance to clean up
                break
            time.sleep(0.02)
    assert process.returncode == -signal.SIGKILL, "the command ended before it could be killed"
    run_cli(*arguments)
    for name in ("test.hyp", "test.nbest", "test.coverage.jsonl", "test.fertilities"):
        one, other = (run / "systems" / model / name for run in (unbroken, killed))
        assert one.read_bytes() == other.read_bytes(), name
    assert (unbroken / "table1.csv").read_bytes() == (killed / "table1.csv").read_bytes()
    prepared = ("bpe.json", "source.vocabulary", "target.vocabulary")
    for run in (unbroken, killed):
        noted = json.loads((run / "manifest.json").read_text())["made"]["corpora"]["sha256"]
        assert noted == {name: file_sha256(unbroken / "prepared" / name) for name in prepared}
        assert noted == {name: file_sha256(run / "prepared" / name) for name in prepared}
    # Two runs of one seed on one machine are equal to the bit: every weight, every perplexity.
    for name in ("fertility-predictor", model):
        models = (run / "models" / name for run in (unbroken, killed))
        (one, first), (other, second) = (
            (load_checkpoint(folder / "best.pt"), _epochs(folder / "epochs.jsonl"))
            for folder in models
        )
        torch.testing.assert_close(one, other, rtol=0, atol=0)
        timed = {"seconds": None, "words_per_second": None}
        assert [epoch | timed for epoch in first] == [epoch | timed for epoch in second]
    for run in (unbroken, killed):
        assert not list(run.rglob(".*")), "no temporary file is left"


def test_a_run_that_is_not_finished_is_not_kept(tmp_path, finished_run):
    run, folder = tmp_path / "run", tmp_path / "kept"
    shutil.copytree(finished_run, run)
    next(run.glob("systems/*/test.hyp")).unlink()
    with pytest.raises(DataError, match="is begun but not finished; continue the run with its"):
        keep_results(RunFolder.existing(run), folder)
    shutil.rmtree(run / "systems")
    with pytest.raises(DataError, match="no system is finished"):
        keep_results(RunFolder.existing(run), folder)
    assert not folder.exists()


def test_wrong_input_is_named(tmp_path, corpus, run_cli):
    other = write_corpus(tmp_path, {"train": 3, "valid": 2, "test": 2})
    cases = {
        "unequal numbers of lines": {**corpus, "train_tgt": other["train_tgt"]},
        "no such file": {**corpus, "test_ref": "no-such-file"},
    }
    for message, options in cases.items():
        run = tmp_path / message.replace(" ", "-")
        done = run_cli("reproduce", "table1", *as_arguments(options), "-o", run, check=False)
        assert done.returncode == 1
        assert message in done.stderr
    for arguments in (("--device", "abacus"), ("--system", "hardmax")):
        done = run_cli(
            "reproduce", "table1", *as_arguments(corpus), "-o", tmp_path / "x", *arguments,
            check=False,
        )  # fmt: skip
        assert done.returncode == 1
        assert arguments[1] in done.stderr
