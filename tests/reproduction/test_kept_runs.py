"""The kept files of our runs: the page and its tables come from them, scores are recomputed."""

from __future__ import annotations

import csv
import json
import runpy
import sys
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sacrebleu.metrics import BLEU

from coverage_eval.align.aligner import Aligner
from coverage_eval.core.texts import read_parallel, read_segments
from tests.reproduction.conftest import SCRIPTS

import score  # isort: skip
from resample import DRAWS, gains, resampled  # isort: skip
from score import FORMS, check_run, table_file  # isort: skip
from validated import kept_texts, read_choices  # isort: skip

FILES = {
    "multi30k-de-en": ("multi30k-de-en", "train.de train.en val.en test_2016_flickr.de "
                       "test_2016_flickr.en"),
    "multi30k-de-en-256": ("multi30k-de-en", "train.de train.en val.en test_2016_flickr.de "
                           "test_2016_flickr.en"),
    "small-ja-en": ("small-enja", "train.ja train.en dev.en test.ja test.en"),
}  # fmt: skip


@cache
def script() -> SimpleNamespace:
    """What the script that writes the page defines."""
    return SimpleNamespace(**runpy.run_path(str(SCRIPTS)))


@cache
def tables() -> dict[str, object]:
    return script().tables()


def runs(corpus: str) -> list[object]:
    return sorted(path.parent for path in SCRIPTS.glob(f"{corpus}-seed*/table1.csv"))


def kept(name: str) -> list[dict[str, str]]:
    with (SCRIPTS / f"tables/{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_the_page_and_its_tables_come_from_the_kept_runs():
    texts = script().contents(tables())
    for path, text in texts.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run `make figures`"
    others = set((SCRIPTS / "tables").iterdir()) - set(texts)
    assert {path.name for path in others} == {"by_epoch.csv", "resampling.csv", "validated.csv"}


def test_the_page_has_twelve_conclusions_in_at_most_2300_words():
    text = (SCRIPTS / "README.md").read_text(encoding="utf-8")
    sentences = [line for line in text.splitlines() if not line.startswith("|")]
    assert len(" ".join(sentences).split()) <= 2300
    conclusions = text.partition("## Twelve conclusions")[2].partition("## ")[0]
    assert [line.split(".")[0] for line in conclusions.strip().splitlines()] == [
        str(number) for number in range(1, 13)
    ]


EXCHANGED = {
    "csparsemax": "softmax",
    "sparsemax + COVPENALTY": "csoftmax",
    "sparsemax + COVVECTOR": "softmax + COVPENALTY",
}


@pytest.mark.slow
def test_with_the_names_exchanged_every_confirmed_claim_is_contradicted():
    names = EXCHANGED | {other: first for first, other in EXCHANGED.items()}

    class Exchanged(script().Results):
        def kept(self, form):
            return super().kept(form).rename(names, level="system")

    claims = [list(kind("table1", runs("multi30k-de-en")).claims())
           for kind in (script().Results, Exchanged)]  # fmt: skip
    pairs = list(zip(*claims, strict=True))
    assert len(pairs) == 9
    for before, after in pairs:
        if before["verdict"] == "confirmed":
            assert after["verdict"] == "contradicted"
            assert (after["holds in"], after["fails in"]) == (0, 8)
            assert after["p"] == before["p"]
    assert [first["verdict"] for first, _ in pairs].count("confirmed") == 3


def test_other_seeds_of_another_experiment_are_refused():
    mixed = [*runs("multi30k-de-en"), *runs("small-ja-en")]
    with pytest.raises(SystemExit, match="not the same experiment"):
        script().Results("table1", mixed)


def test_resampled_gains_are_those_of_the_kept_scores():
    known = {
        (r["form"], r["systems"], r["metric"]): r
        for r in kept("differences")
        if (r["corpus"], r["table"]) == ("German–English", "Table 1")
    }
    found = 0
    for row in kept("resampling"):
        same = known.get((row["form"], row["systems"], row["metric"]))
        low, gain, high = (float(row[n]) for n in ("seeds, low", "gain", "seeds, high"))
        if same:
            found += 1
            assert gain == pytest.approx(float(same["gain"]), abs=2e-4)
            assert high - gain == pytest.approx(float(same["±"]), abs=2e-4)
        assert low <= gain <= high
        for name in ("segments", "both"):
            assert float(row[f"{name}, low"]) < gain < float(row[f"{name}, high"])
    assert found == 3 * 3 * 4


def test_weights_that_validation_text_chooses_give_the_scores_of_a_form_that_has_them():
    """Where α is 1 for both systems, the table's gains are those of the form with α = 1."""
    found = 0
    for row in kept("validated"):
        if (row["softmax, α"], row["sparsemax, α"]) != ("1.0000", "1.0000"):
            continue
        with (SCRIPTS / row["run"] / "table1.normalized.csv").open(encoding="utf-8") as file:
            scores = {(r["system"], r["metric"]): float(r["score"]) for r in csv.DictReader(file)}
        expected = scores["sparsemax", row["metric"]] - scores["softmax", row["metric"]]
        assert float(row["gain"]) == pytest.approx(expected, abs=1e-3)
        assert row["segments"] == "1000"
        found += 1
    assert found == 4 * 2


@pytest.mark.parametrize("system", ["softmax", "sparsemax"])
def test_texts_of_lists_that_are_kept_without_words(system):
    run = SCRIPTS / "multi30k-de-en-seed8"
    lists = read_choices(run, system)
    known = kept_texts(run, system, lists)
    assert all(rank == 1 for _, rank in lists.choose(0.0, 0.0))
    for form, alpha in {"": 0.0, ".normalized": 1.0}.items():
        texts = list(read_segments(run / f"{system}.test{form}.hyp.gz"))
        assert [known[item] for item in lists.choose(alpha, 0.0)] == texts
    more = {known[item] for item in known.keys() - {*lists.choose(0.0, 0.0)}}
    assert more
    (row,) = (r for r in kept("validated") if (r["run"], r["metric"]) == (run.name, "BLEU"))
    choices = lists.choose(float(row[f"{system}, α"]), 0.0)
    assert sum(item in known for item in choices) >= int(row["segments"])


def test_both_sources_of_chance_are_drawn():
    """Runs that differ and segments that do not, and the other way round."""
    draws = np.random.default_rng(0).normal(size=DRAWS)
    only_runs = [np.full(1 + DRAWS, float(k)) for k in range(4)]
    only_segments = [np.append(0.0, draws)] * 4
    _, *seeds, low, high, both_low, both_high = resampled(only_runs)
    assert seeds[0] < 1.5 < seeds[1]
    assert (low, high) == (1.5, 1.5)
    assert both_low < 1
    assert both_high > 2
    _, *seeds, low, high, both_low, both_high = resampled(only_segments)
    assert seeds == [0, 0]
    assert low < -1.5
    assert (low, high) == pytest.approx((both_low, both_high))
    scores = np.array([[1.0, 4.0]])
    for lower, gain in ((False, -3.0), (True, 3.0)):
        assert gains(scores, ["a", "b"], "a against b", lower=lower) == gain


@pytest.mark.parametrize(
    ("ours", "text", "status"),
    [
        ((1.0, 2.0, None), "2 confirmed, 0 contradicted, 1 not checked", None),
        ((1.0, 2.1, None), "1 confirmed, 1 contradicted, 1 not checked", 1),
        ((None, None, None), "0 confirmed, 0 contradicted, 3 not checked", 1),
    ],
)
def test_a_check_can_fail(ours, text, status, monkeypatch, capsys):
    rows = [(f"score {k}", kept, now) for k, kept, now in zip("abc", (1, 2, 3), ours, strict=True)]
    monkeypatch.setattr(score, "check_run", lambda *_, **__: iter(rows))
    monkeypatch.setattr(sys, "argv", ["score.py", "run", "--check"])
    if status is None:
        score.main()
    else:
        with pytest.raises(SystemExit) as stopped:
            score.main()
        assert stopped.value.code == status
    assert text in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_every_kept_score_is_recomputed_from_the_translations(name, shared, tmp_path):
    """One seed of each corpus; DROP's model is trained again on the corpus."""
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
    assert len(rows) >= (36 if "256" in name else 150)
    tables = {what.partition(":")[0] for what, *_ in rows}
    assert {table_file("table1", form) for form in FORMS} <= tables


def test_translations_by_epoch_have_the_scores_of_their_table(shared):
    """By sacreBLEU's own function; α is the one with the highest BLEU of the validation text."""
    data = shared / "data" / "multi30k-de-en"
    tests = [f"test_{year}_flickr" for year in (2016, 2017)]
    references = [(data / f"{name}.en").read_text("utf-8").splitlines() for name in tests]
    bleu = BLEU(tokenize="none", lowercase=True)
    scores = {}
    for folder in SCRIPTS.glob("thirteen_epochs/*-seed*"):
        made = json.loads((folder / "manifest.json").read_text("utf-8"))["made"]
        (path,) = folder.glob("*.by_epoch.csv.gz")
        texts = pd.read_csv(path, na_filter=False)
        for epoch in (5, 9, 13):
            grid = made[f"{path.name.partition('.')[0]}, epoch {epoch}"]
            assert grid["valid BLEU"] == max(point[2] for point in grid["grid"])
            chosen = texts.query("epoch == @epoch")["with α from validation"].to_list()
            for test, lines, part in zip(
                tests, references, (chosen[:1000], chosen[1000:]), strict=True
            ):
                score_of_part = bleu.corpus_score(part, [lines]).score
                scores[str(epoch), test, folder.name] = score_of_part
    rows = [row for row in kept("by_epoch") if row["metric"] == "BLEU" and row["epoch"] != "kept"
            and row["test set"] != "both" and row["form"] == "with α from validation"]  # fmt: skip
    assert len(rows) >= 6
    seeds = {name.partition("-seed")[2] for *_, name in scores}
    for row in rows:
        first, other = row["systems"].split(" against ")
        where = row["epoch"], row["test set"]
        pairs = [((*where, f"{first}-seed{s}"), (*where, f"{other}-seed{s}")) for s in seeds]
        gains = [scores[a] - scores[b] for a, b in pairs if a in scores and b in scores]
        assert float(row["gain"]) == pytest.approx(np.mean(gains), abs=1e-3)
