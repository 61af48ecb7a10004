"""Every figure in the sentences of the reproduction's page, computed again from its tables.

``page.md`` says which cell stands where; here each figure is computed from what its sentence says.
What is then left of a conclusion has no figure.
"""

from __future__ import annotations

import json
import re
from functools import cache

import numpy as np
import pandas as pd
import pytest

from coverage_eval.core.texts import read_segments
from coverage_eval.papers.printed import load_table
from tests.reproduction.conftest import SCRIPTS

EQUAL, DECODED, ALPHA = "at equal length", "as decoded", "with α = 1"
FORMS = (DECODED, ALPHA, EQUAL)
METRICS = ("BLEU", "METEOR", "REP", "DROP")
LOGS = {"csoftmax": "2.0", "csparsemax": "1.65"}
"""Time, of that of softmax with a coverage vector, by the words per second of the authors' logs:
4,851 / 2,469 and 4,851 / 2,942. They have no other softmax for German–English."""

NAMES = (
    r"Tables? \d( and \d)?|sections? \d(\.\d)?|Footnote 2|test_20\d\d_flickr|Multi30k|"
    r"[cfα] = \d(\.\d)?|95%|[Ss]eeds? \d( to \d)?(, \d)*( and \d)?|\d{4}-\d\d-\d\d|p < \.05"
)
"""What has digits and is no result."""


@cache
def table(name: str) -> pd.DataFrame:
    return pd.read_csv(SCRIPTS / f"{name}.csv")


def rows(name: str, **keys: object) -> pd.DataFrame:
    frame = table(name)
    for column, value in keys.items():
        frame = frame[frame[column] == value]
    return frame


def row(name: str, **keys: object) -> pd.Series:
    (found,) = rows(name, **keys).iloc
    return found


def difference(
    first: str, other: str, metric: str, form: str = EQUAL, number: int = 1
) -> pd.Series:
    """How much better the first system is."""
    return row("tables/differences", corpus="German–English", table=f"Table {number}", form=form,
               systems=f"{first} against {other}", metric=metric)  # fmt: skip


def claim(number: int, form: str = EQUAL, table: int = 1) -> pd.Series:
    return row("tables/claims", corpus="German–English", table=f"Table {table}", form=form,
               claim=f"claim {number}")  # fmt: skip


def sure(column: str) -> pd.DataFrame:
    """The differences beyond chance, by a column of p-values."""
    found = table("tables/differences")
    return found[found[column] < 0.05].assign(direction=lambda x: x["gain"] * x["printed"])


def minus(text: str) -> str:
    return text.replace("-", "−")


def gain_with_width(found: pd.Series) -> str:
    return minus(f"{found['gain']:+.2f} ± {found['±']:.2f}")


def perplexity_ratios(folder: str, slow: str, fast: str) -> list[float]:
    """Validation perplexities of one model over those of another, the mean over seeds by epoch."""
    ratios = [
        pd.read_json(SCRIPTS / path, lines=True)["valid_perplexity"]
        / pd.read_json(SCRIPTS / str(path).replace(slow, fast), lines=True)["valid_perplexity"]
        for path in (x.relative_to(SCRIPTS) for x in SCRIPTS.glob(f"{folder}/{slow}.epochs.jsonl"))
    ]
    return list(pd.concat(ratios, axis=1).mean(axis=1))


def conclusion_1() -> list[str]:
    sparse = difference("sparsemax", "softmax", "BLEU")
    adds = [
        gain_with_width(difference(first, other, "BLEU", form))
        for first, other, form in (
            ("sparsemax + COVPENALTY", "sparsemax", EQUAL),
            ("sparsemax + COVPENALTY", "sparsemax", DECODED),
            ("sparsemax + COVVECTOR", "sparsemax", EQUAL),
            ("softmax + COVVECTOR", "softmax", EQUAL), ("csparsemax", "sparsemax", EQUAL),
        )
    ]  # fmt: skip
    runs = [
        pd.read_csv(path).set_index(["metric", "system"])["score"]
        for path in sorted(SCRIPTS.glob("multi30k-de-en-seed*/table1.equal.csv"))
    ]
    sparse_models = ["sparsemax + COVPENALTY", "sparsemax + COVVECTOR", "csparsemax"]
    beside = {
        metric: pd.Series([x[metric][sparse_models].mean() - x[metric]["sparsemax"] for x in runs])
        for metric in ("BLEU", "METEOR")
    }
    alone = {
        metric: minus(f"{x.mean():+.2f} ± {2.365 * x.std() / 8**0.5:.2f}")  # t of 7 degrees
        for metric, x in beside.items()
    }
    constrained = "constrained_sparsemax-predicted-c0.2"
    learning = perplexity_ratios("multi30k-de-en-seed*", "softmax", "sparsemax")
    larger = perplexity_ratios("multi30k-de-en-256-seed*", "softmax", constrained)
    for fast in ("sparsemax", constrained):
        assert perplexity_ratios("small-ja-en-seed*", "softmax", fast)[-1] < 1
    gains = [
        row("tables/differences", corpus=corpus, table="Table 1", form=EQUAL, metric="BLEU",
            systems="csparsemax against softmax")
        for corpus in ("German–English", "German–English, 256 units")
    ]  # fmt: skip
    holds, whole = claim(1), row("tables/resampling", form=EQUAL, metric="BLEU",
                                 systems="sparse models against others")  # fmt: skip
    scores = rows("tables/scores", corpus="German–English", table="Table 1", form=EQUAL,
                  metric="BLEU").set_index("system")["mean"]  # fmt: skip
    ours = ["sparsemax + COVPENALTY", "sparsemax + COVVECTOR", "csparsemax"]
    printed = list(load_table("table1").systems)
    others = scores[printed].drop(ours).mean()
    japanese = rows("tables/scores", corpus="Japanese–English", form=DECODED)
    bleu = japanese[japanese["metric"] == "BLEU"].set_index("system")["mean"][printed]
    worse = bleu.drop(ours).mean() - bleu[ours].mean()
    rep = row("tables/scores", corpus="Japanese–English", form=DECODED, system="softmax",
              metric="REP")  # fmt: skip
    chosen = table("tables/validated").query("run != 'mean' and metric == 'BLEU'")
    validated = chosen["gain"]
    one_seed = {form: row("tables/claims", corpus="Japanese–English", form=form,
                          claim="claim 1")["outcome of one seed"] for form in FORMS}  # fmt: skip
    assert one_seed[DECODED] == f"worse by {worse:.2f}"
    assert holds["verdict"] == "confirmed"
    return [
        f"in {holds['holds in']} of {holds['seeds']} seeds, p = {holds['p']:.3f}",
        f"{alone['BLEU']} BLEU, in {(beside['BLEU'] > 0).sum()} of 8 seeds, and "
        f"{alone['METEOR']} METEOR",
        "(2 of 2, p = .50)",  # 2 / 2², the sign test of two
        f"{gain_with_width(sparse)} BLEU on softmax in {sparse['better in']} of 8 seeds "
        f"(print {sparse['printed']:+.2f})",
        "{:.2f}, {:.2f}, {:.2f} and {:.2f} times sparsemax's after epochs 2 to 5".format(
            *learning[1:]
        ),
        f"256 units nearly csparsemax's at the end ({larger[-1]:.2f})",
        f"{gains[0]['gain']:.2f} BLEU on softmax with 128 units, {gains[1]['gain']:.2f} with 256, "
        f"and {gains[0]['printed']:.2f} in print",
        "; see 9.",
        f"validation text {validated.mean():+.2f} in {(validated > 0).sum()} of {len(validated)} "
        f"({chosen['segments'].min():.0f} or more segments",
        f"COVPENALTY {adds[0]} (as decoded {adds[1]}), COVVECTOR {adds[2]} (to softmax {adds[3]}), "
        f"the constraint {adds[4]}",
        f"{scores[ours].mean() - others:+.2f} BLEU (drawn segments: "
        f"{whole['segments, low']:.2f} to {whole['segments, high']:.2f}",
        f"worse by {worse:.2f} BLEU as decoded, {one_seed[EQUAL]} at equal length",
        f"a REP of {rep['mean']:.2f}, where print has "
        f"{load_table('table1').value('softmax', 'Ja-En', 'REP')}",
    ]


def conclusion_2() -> list[str]:
    better = {
        (form, metric): [difference("csparsemax", x, metric, form)["better in"]
                         for x in ("softmax", "csoftmax")]
        for form in FORMS for metric in ("REP", "DROP")
    }  # fmt: skip
    decoded = better[DECODED, "DROP"]
    for form in FORMS:
        assert better[form, "REP"] == better[EQUAL, "REP"]
    assert {claim(n)["verdict"] for n in (2, 3)} == {"not decidable"}
    rep, drop = better[EQUAL, "REP"], better[EQUAL, "DROP"]
    return [
        f"in {claim(2)['holds in']} of 8 seeds, the third in {claim(3)['holds in']}.",
        f"in {rep[0]} and {rep[1]} of 8 seeds",
        f"better in {drop[0]} and {drop[1]} of 8 seeds",
        f"as decoded in {decoded[0]} and {decoded[1]}.",
    ]


def conclusion_3() -> list[str]:
    found = {m: difference("csparsemax", "sparsemax", m) for m in METRICS}
    assert all(one["gain"] > 0 < one["printed"] for one in found.values())
    meteor, rep, bleu, drop = (found[m] for m in ("METEOR", "REP", "BLEU", "DROP"))
    assert meteor["better in"] == rep["better in"] == 8
    assert f"{meteor['p, Holm in form']:.2f}" == f"{rep['p, Holm in form']:.2f}"
    tested = len(rows("tables/differences", corpus="German–English", table="Table 1", form=EQUAL))
    drawn = [
        row("tables/resampling", form=EQUAL, systems="csparsemax against sparsemax", metric=m)
        for m in ("METEOR", "REP")
    ]
    low, high = "both, low", "both, high"
    return [
        f"{meteor['gain']:+.2f} METEOR and {rep['gain']:.2f} less REP, each in 8 of 8 seeds "
        f"(raw p = {meteor['p']:.4f} and {rep['p']:.4f}; Holm: {rep['p, Holm in form']:.2f})",
        f"not after Holm over {tested} differences.",
        f"BLEU ({bleu['gain']:+.2f}, p = {bleu['p']:.2f})",
        f"DROP ({drop['gain']:.2f} less, p = {drop['p']:.2f})",
        f"{drawn[0][low]:.2f} to {drawn[0][high]:.2f} METEOR",
        f"{drawn[1][low]:.2f} to {drawn[1][high]:.2f} REP",
    ]


def conclusion_4() -> list[str]:
    found = {form: difference("csparsemax", "csoftmax", "REP", form) for form in FORMS}
    assert {one["better in"] for one in found.values()} == {8}
    over = {form: one["p, Holm over all"] for form, one in found.items()}
    assert found[EQUAL]["p, Holm in form"] > 0.05
    return [
        f"{over[EQUAL]:.2f} at equal length ({found[EQUAL]['p, Holm in form']:.3f} within",
        f"{over[DECODED]:.3f} as decoded and {over[ALPHA]:.3f} with",
    ]


def conclusion_5() -> list[str]:
    best = rows("tables/best", corpus="German–English", table="Table 1")
    systems = best.groupby("metric")["system"].nunique()
    assert list(systems[systems == 1].index) == ["DROP"]
    # In Table 2, BLEU, METEOR and REP have one.
    return ["In Table 1, only in DROP"]


def conclusion_6() -> list[str]:
    every, found = table("tables/differences"), sure("p, Holm over all")
    tested = every[every["p"].notna()]
    assert ((tested["gain"] * tested["printed"]) > 0).sum() > len(tested) / 2
    opposite = found[found["direction"] < 0]
    assert all(opposite["systems"].str.startswith("sparsemax + COVVECTOR"))
    assert all(opposite["gain"] > 0)
    penalized = tested["systems"].str.contains("COVPENALTY").mean()
    covered = found[found["systems"].str.contains("COVPENALTY")]
    return [
        f"all {len(tested)} differences leaves {(found['direction'] > 0).sum()} as printed and "
        f"{len(opposite)} opposite",
        f"{len(covered)} of these",
        f"({(covered['form'] == DECODED).sum()} as decoded, with the length penalty that was "
        "tuned)",
        f"{penalized:.0%} of the pairs",
    ]


def conclusion_7() -> list[str]:
    found = sure("p, Holm in form")
    found = found[found["metric"] == "DROP"]
    assert found["systems"].is_unique
    assert "DROP" not in set(sure("p, Holm over all")["metric"])
    return [
        f"{(found['direction'] > 0).sum()} differences as printed and "
        f"{(found['direction'] < 0).sum()} opposite"
    ]


def conclusion_8() -> list[str]:
    best = rows("tables/best", table="Table 2")
    best = best[best["metric"].isin(["BLEU", "METEOR"])]
    assert set(best["system"]) == {"PREDICTED c = 0.2"}
    assert len(best) == 6
    others = ("CONSTANT f = 2", "CONSTANT f = 3", "GUIDED")
    wins = {
        metric: [difference("PREDICTED c = 0.2", other, metric, number=2)["better in"]
                 for other in (*others, "PREDICTED c = 0")]
        for metric in ("BLEU", "METEOR")
    }  # fmt: skip
    for form in FORMS:
        assert claim(1, form, 2)["fails in"] == 2
        for other in others:
            for metric in ("BLEU", "METEOR"):
                lost = difference("PREDICTED c = 0", other, metric, form, 2)
                assert (lost["better in"], lost["seeds"]) == (0, 2)
    printed = [difference("PREDICTED c = 0", x, "BLEU", number=2)["printed"] for x in others]
    order = {
        metric: minus(f"{row('tables/orders', form=EQUAL, metric=metric)['rank correlation']:+.2f}")
        for metric in METRICS
    }
    return [
        f"holds in {claim(1, table=2)['holds in']} of 2 seeds",
        "in {}, {}, {} and {} of 2 seeds by BLEU".format(*wins["BLEU"]),
        "in {}, {}, {} and {} by METEOR".format(*wins["METEOR"]),
        "print has {:+.2f}, {:+.2f} and {:+.2f} BLEU".format(*printed),
        f"{order['BLEU']} in BLEU, {order['METEOR']} in METEOR and {order['DROP']} in DROP",
    ]


def by_epoch(epoch: object, metric: str = "BLEU", test: str = "both") -> pd.Series:
    return row("tables/by_epoch", systems="sparsemax against softmax", metric=metric,
               form="with α from validation", epoch=str(epoch), **{"test set": test})  # fmt: skip


def conclusion_9() -> list[str]:
    bleu, rep = ([by_epoch(e, metric) for e in (5, 9, 13)] for metric in ("BLEU", "REP"))
    seeds = len(list(SCRIPTS.glob("thirteen_epochs/sparsemax-seed*")))
    for found in bleu:
        sets = [by_epoch(found["epoch"], test=f"test_{y}_flickr")["gain"] for y in (2016, 2017)]
        assert found["gain"] == pytest.approx(np.mean(sets), abs=1e-4)
    kept = by_epoch("kept")
    assert kept["gain"] == pytest.approx(bleu[2]["gain"] - bleu[0]["gain"] / 2, abs=1e-4)
    gains = [
        f"{minus(format(found['gain'], '+.2f'))} {text} ({found['by seed']}"
        for found, text in zip(bleu, ("BLEU after epoch 5", "after 9", "after 13"), strict=True)
    ]
    learning = perplexity_ratios("thirteen_epochs/*-seed*", "softmax", "sparsemax")
    made = {
        path.parent.name: json.loads(path.read_text("utf-8"))["made"]
        for path in SCRIPTS.glob("thirteen_epochs/*-seed*/manifest.json")
    }
    valid = [
        made[f"sparsemax-seed{seed}"]["sparsemax, epoch 13"]["valid BLEU"]
        - made[f"softmax-seed{seed}"]["softmax, epoch 13"]["valid BLEU"]
        for seed in range(11, 11 + seeds)
    ]
    ends = [minus(f"{bleu[2][f'segments, {end}']:+.2f}") for end in ("low", "high")]
    fewer = [minus(f"{found['gain']:+.2f}") for found in rep]
    return [
        f"{seeds} of 3 new seeds",
        "at epoch 13 is above 0, and at least half of that at epoch 5",
        f"{gains[0]} by seed), {gains[1]}) and {gains[2]}; drawn segments: {ends[0]} to {ends[1]}; "
        f"by seeds ±{bleu[2]['±']:.2f}). The gain after 13 less half of that after 5 is "
        f"{minus(format(kept['gain'], '+.2f'))} ± {kept['±']:.2f}, so neither part",
        "{1:.2f} times sparsemax's after epoch 2, {4:.2f} after 5, {8:.2f} after 9 and {12:.2f} "
        "after 13".format(*learning),
        f"it then has {minus(' and '.join(f'{x:+.2f}' for x in valid))} BLEU by seed",
        "{}, {} and {} better".format(*fewer),
    ]


def best_steps(folder: str) -> pd.Series:
    """The most symbols that each training has right at any of its steps."""
    return pd.Series({
        (path.parts[-3], path.parts[-2]): pd.read_json(path, lines=True)["symbols"].max()
        for path in SCRIPTS.glob(f"{folder}/*/seed-*/epochs.jsonl")
    })  # fmt: skip


def conclusion_10() -> list[str]:
    kept = table("digits/digits")
    mean = kept.groupby("attention")["symbols"].mean()
    falls = {}
    for one in kept.itertuples():
        log = SCRIPTS / f"digits/{one.attention}/seed-{one.seed}/epochs.jsonl"
        steps = pd.read_json(log, lines=True)
        assert set(steps["step"].diff().dropna()) == {20}
        falls[one.attention, one.seed] = -steps["symbols"].diff()
    largest = [fall.max() for fall in falls.values()]
    assert len(largest) == 10
    # The most by which the end is below one of the three records before it.
    lost = {key: fall.iloc[-3:][::-1].cumsum().max() for key, fall in falls.items()}
    assert {key for key, points in lost.items() if points > 20} == {
        ("sparsemax", 1), ("sparsemax", 3),
    }  # fmt: skip
    best = best_steps("digits").unstack(0)
    ahead = (best["sparsemax"] > best["softmax"]).sum()
    gains = best_steps("output_layer/sparsemax") - best_steps("output_layer/softmax")
    return [
        f"reads {best['sparsemax'].mean():.1f}% of symbols right, softmax "
        f"{best['softmax'].mean():.1f}%, and is ahead in {ahead} of {len(best)} seeds",
        f"(p = .{round(100 * 2 / 2**5):02d})",  # the sign test of five
        f"{mean['sparsemax']:.1f}% to {mean['softmax']:.1f}%",
        f"swing {min(largest):.0f} to {max(largest):.0f} points within 20 steps",
        f"in {(gains >= 0).sum()} of {len(gains)} trainings, by {gains.min():.1f} to "
        f"{gains.max():.1f} points",
    ]


def conclusion_11() -> list[str]:
    iris = row("regression/sizes", data="Iris", examples=135, fitting="adam")
    least = row("regression/sizes", data="Iris", examples=135, fitting="minimum")
    assert f"{least['softmax JS']:.2f}" == f"{least['sparsemax JS']:.2f}"
    test = load_table("report_table3")
    printed = [test.value(system, "Iris", "test JS") for system in ("softmax", "sparsemax")]
    adam = rows("regression/sizes", fitting="adam")
    adam = adam[adam["examples"] * adam["epochs"] == 135 * 100]
    same, steps = adam["gain"], np.ceil(adam["examples"] / 10) * adam["epochs"]
    assert len(same) == 7
    penalties = rows("regression/penalties", fitting="adam")
    by = penalties.pivot(index="lambda", columns="activation", values="JS")
    assert len(by) == 10
    assert (by["sparsemax"] < by["softmax"]).all()
    errors = [test.value(system, "Iris", "error rate") for system in ("softmax", "sparsemax")]
    ours, whole = (row("regression/batches", fitting=f) for f in ("adam", "adam, full batch"))
    assert f"{ours['softmax JS']:.4f}" == f"{iris['softmax JS']:.4f}"
    return [
        "after 100 epochs", "After 100 epochs",
        f"{ours['softmax error']:.1f} and {ours['sparsemax error']:.1f}%, equal in "
        f"{ours['same error in']} of {ours['splits']} splits (print: {errors[0]:.1f} and "
        f"{errors[1]:.1f})",
        "batches of 10,",
        f"with full batches they are {whole['softmax JS']:.3f} and {whole['sparsemax JS']:.3f}",
        f"in {iris['splits below']} of {iris['splits']} splits",
        f"{iris['softmax JS']:.3f} with softmax, {iris['sparsemax JS']:.3f} with sparsemax "
        f"(print: {printed[0]}, {printed[1]})",
        f"both have {least['softmax JS']:.2f}",
        f"({steps.min():,.0f} to {steps.max():,.0f}) the gain",
        f"({same.min():.3f} to {same.max():.3f},",
    ]  # fmt: skip


def conclusion_12() -> list[str]:
    losses = {
        (one.classes, one.implementation): one.ratio
        for one in rows("timing/timing", data="random").itertuples()
    }
    assert min(losses.values()) == losses[10, "PyTorch, CPU"]
    assert max(losses.values()) == losses[1000, "PyTorch, CPU"]
    small, large = (
        [row("tables/timing", hidden=hidden, system=f"{name}, c = 0.2")
         for name in ("csoftmax", "csparsemax")]
        for hidden in (128, 256)
    )  # fmt: skip
    manifest = json.loads((SCRIPTS / "multi30k-de-en-seed1/manifest.json").read_text("utf-8"))
    pieces = manifest["made"]["corpora"]["target vocabulary"]
    steps = table("timing/training_step").groupby("hidden")["vocabulary"].unique()
    assert {hidden: [*pieces] for hidden, pieces in steps.items()} == {128: [500], 256: [8000]}
    return [
        f"{losses[10, 'PyTorch, CPU']:.1f} (PyTorch, 10 classes) to "
        f"{losses[1000, 'PyTorch, CPU']:.0f} times (1,000 classes)",
        f"128 units and 500 pieces (our runs have {pieces:,}) a step takes "
        f"{small[0]['ratio']:.2f} (csoftmax) and "
        f"{small[1]['ratio']:.2f} times",
        "256 units and 8,000 pieces "
        + " and ".join(f"{x['ratio']:.2f} ({x['low']:.2f} to {x['high']:.2f})" for x in large),
        f"{LOGS['csoftmax']} and {LOGS['csparsemax']} times that of softmax + COVVECTOR",
    ]


def larger_runs() -> list[str]:
    both = []
    for corpus, seeds in (("German–English, 256 units", 2), ("German–English", 8)):
        found = rows("tables/differences", corpus=corpus, table="Table 1",
                     systems="csparsemax against softmax")  # fmt: skip
        assert set(found["seeds"]) == {seeds}
        both.append(found[found["form"] == EQUAL].set_index("metric")["gain"])
        if seeds == 2:
            all_seeds = found["better in"] == 2
            assert list(found[~all_seeds]["form"] + found[~all_seeds]["metric"]) == [
                f"{DECODED}DROP"
            ]
    large, small = both
    for run in SCRIPTS.glob("multi30k-de-en-256-seed*"):
        assert json.loads((run / "manifest.json").read_text("utf-8"))["settings"]["hidden"] == 256
    return [
        "systems, 256 units: at",
        f"{large['BLEU']:+.2f} BLEU, {large['METEOR']:+.2f} METEOR, {large['REP']:.2f} less REP "
        f"and {large['DROP']:.2f} less DROP on softmax, each in 2 of 2 seeds",
        f"in small runs {small['BLEU']:+.2f}, {small['METEOR']:+.2f}, {small['REP']:.2f} and "
        f"{small['DROP']:.2f}",
        "csparsemax with 128 units",
    ]


def introduction() -> list[str]:
    lengths = table("tables/lengths").set_index(["level", "metric"])["R²"].map("{:.2f}".format)
    within, between = lengths["within systems"], lengths["between systems"]
    chance = table("tables/exchanged")["holds if exchanged"].map("{:.1f}".format)
    first = claim(1)
    settings = [
        json.loads((SCRIPTS / name / "manifest.json").read_text("utf-8"))["settings"]["preset"]
        for name in ("multi30k-de-en-seed1", "small-ja-en-seed1")
    ]
    assert first["seeds"] == 8
    for log in SCRIPTS.glob("*-en-*seed*/*.epochs.jsonl"):
        if "predictor" not in log.name:  # two predictors of fertilities got worse
            *_, before, last = pd.read_json(log, lines=True)["valid_perplexity"]
            assert last < before, log
    return [
        f"with {settings[0]['hidden']} units where the paper has 500, and "
        f"{settings[0]['epochs']} or {settings[1]['epochs']} epochs, in the last of which every "
        "translation model's perplexity still falls",
        "on one H100",
        *larger_runs(),
        f"R² {within['BLEU']} of BLEU, {within['DROP']} of DROP",
        f"REP ({between['REP']}) and DROP ({between['DROP']})",
        f"({between['BLEU']}, {between['METEOR']})",
        "in {}, {} and {} of cases".format(*chance),
    ]


PARTS = {number: globals()[f"conclusion_{number}"] for number in range(1, 13)}


def conclusions() -> dict[int, str]:
    text = (SCRIPTS / "README.md").read_text(encoding="utf-8")
    lines = text.partition("## Twelve conclusions")[2].partition("## ")[0].strip().splitlines()
    return {int(line.partition(".")[0]): line.partition(".")[2] for line in lines}


def check(text: str, expected: list[str]) -> None:
    """Every expected phrase is in the text, and no other figure."""
    text = re.sub(r"\]\([^)]*\)", "]", text)
    for phrase in expected:
        assert phrase in text
        text = text.replace(phrase, "", 1)
    rest = re.sub(NAMES, "", text)
    assert not re.search(r"\d", rest), f"a figure that nothing computes again: {rest}"


@pytest.mark.parametrize("number", PARTS)
def test_every_figure_of_a_conclusion_is_computed_again(number):
    check(conclusions()[number], PARTS[number]())


def test_every_figure_of_the_introduction_is_computed_again():
    text = (SCRIPTS / "README.md").read_text(encoding="utf-8")
    check(text.partition("## Twelve")[0], introduction())


def test_every_quotation_of_the_conclusions_is_printed(shared):
    """Words between quotation marks are the papers'."""
    papers = [path.read_text(encoding="utf-8") for path in (shared / "papers").iterdir()]
    quoted = re.findall(r'"([^"]+)"', " ".join(conclusions().values()))
    assert len(quoted) >= 3
    for words in quoted:
        assert any(words in paper for paper in papers), words


def test_what_is_kept_of_runs_is_what_the_page_says():
    """Settings, versions, hashes; three forms; 300 validation translations, of COVPENALTY."""
    for path in SCRIPTS.glob("*-en-*seed*/manifest.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        assert "sha256" in json.dumps(content["corpora"])
        assert "torch" in json.dumps(content.get("sessions", content.get("machine")))
        assert (path.parent / "nbest_scores.csv.gz").exists()
        for form in ("", ".normalized", ".equal"):
            assert (path.parent / f"softmax.test{form}.hyp.gz").exists()
            kept = pd.read_csv(path.parent / f"table1{form}.csv")
            assert kept[["low", "high", "signature"]].notna().any().all()
        for name, made in content["made"].items():
            if name.endswith("-penalized"):
                assert (len(made["grid"]), made["tuning"]["sentences"]) == (36, 300)
                assert len([*read_segments(path.parent / f"{name}.valid.hyp.gz")]) == 300


def test_a_figure_of_another_row_is_noticed():
    """The sentence that gave the number of seeds of a claim for those of its comparisons."""
    wrong = conclusions()[8].replace("in 2, 2, 1 and 2 of 2 seeds", "in 1, 1, 1 and 1 of 2 seeds")
    with pytest.raises(AssertionError):
        check(wrong, conclusion_8())
    with pytest.raises(AssertionError, match="computes again"):
        check(conclusions()[8] + " They gain 0.3.", conclusion_8())
