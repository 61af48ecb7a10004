"""The verdict: it never says more than the tests and facts behind it, and takes nothing broken."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import coverage_eval as ce
from coverage_eval.comparison.external_scores import ExternalScores
from coverage_eval.comparison.facts import (
    BrokenOutputs,
    Facts,
    LineFaults,
    PairTest,
)
from coverage_eval.comparison.pairs import make_tests
from coverage_eval.comparison.sentences import write_verdict
from coverage_eval.comparison.verdict import MAX_NAMED, RULES, decide
from coverage_eval.core.report import DECISIVE
from coverage_eval.core.significance import (
    MAX_RESAMPLES,
    Difference,
    Pair,
    SignificanceTest,
    holm,
)
from coverage_eval.coverage.drop import DROP
from coverage_eval.coverage.omissions import Omissions
from coverage_eval.quality.meteor.metric import METEOR
from coverage_eval.quality.sacre import BLEU, CHRF, TER
from coverage_eval.repetition.rep import REP
from tests.comparison.systems import compare_statistics
from tests.core.corrupt import confuse
from tests.grammar import generate

pytestmark = pytest.mark.filterwarnings("ignore::coverage_eval.core.errors.CorpusWarning")

REFERENCES = [" ".join(pair.target) for pair in generate(200, seed=4)]
GOOD = [*REFERENCES[:-1], f"{REFERENCES[-1]} x"]
"""Outputs that are nearly the references; those that are the references take no part."""

METRICS = {
    "bleu": BLEU, "chrf": CHRF, "meteor": METEOR, "ter": TER, "rep": REP, "drop": DROP,
    "omissions": Omissions,
}  # fmt: skip
ERRORS = {"rep", "drop"}


def situation(
    scores: Mapping[str, Mapping[str, float]], told: str = "", marked: str = "", **more: object
) -> Facts:
    """Scores by metric and system; the pairs ``metric:better>worse`` that tests tell apart.

    Tables mark others, which verdicts do not claim.
    """
    systems = list(next(iter(scores.values()), "ab"))
    named = [tuple(re.split("[:>]", item)) for item in f"{told} {marked}".split()]
    number = len(told.split())
    for metric, better, worse in named:
        is_lower = scores[metric][better] < scores[metric][worse]
        assert is_lower != bool(METRICS[metric].higher_is_better)
    significant = [PairTest(*name, p_value=0.001) for name in named[:number]]
    marked = [PairTest(*name, p_value=0.0404) for name in named[number:]]
    metrics = {name: METRICS[name] for name in scores}
    facts: dict[str, Any] = {"segments": 104, **more}
    return Facts(systems, metrics, scores, significant, marked, **facts)


BLEUS = {"a": 80.0, "b": 60.0}
TWO_LINES = LineFaults(60, 2, [(13, 13), (31, 31)], is_elsewhere=False, extra=0.0)


BY_HAND = [
    ("one_system", situation({"bleu": {"a": 80}}), "none", "a", ["a: BLEU 80.00."]),
    (
        "no_metric", situation({}), "none", "",
        ["No verdict: no score here can tell which system is better."],
    ),
    (
        "untested", situation({"bleu": BLEUS}, resamples=0), "untested", "",
        ["Nothing was tested, because no resamples were drawn."],
    ),
    (
        "untested", situation({"bleu": BLEUS}, resamples=9, min_resamples=20), "untested", "",
        ["9 resamples cannot show a difference: draw 20 or more (--resamples)."],
    ),
    (
        "untested", situation({"bleu": BLEUS}, min_resamples=None, all_tests=9999), "untested", "",
        ["9,999 tests are too many to show a difference."],
    ),
    (
        "untested", situation({"bleu": BLEUS}, segments=3), "untested", "",
        ["3 segments are too few to show a difference: p is at best 0.25."],
    ),
    (
        "no_merit",
        situation({"rep": {"a": 1, "b": 2}}, "rep:a>b", faults={"a": ["cut"]},
                  disqualified={"a"}),
        "no-difference", "",
        ["a: cut.", "Fewer errors of a are no merit."],
    ),
    (  # what leaves less out is shorter
        "no_merit",
        situation({"omissions": {"a": 5, "b": 20}}, "omissions:a>b", referenced=False,
                  contradicted={("omissions", "a", "b")}),
        "no-difference", "",
        ["Omissions and lengths point to different systems, so neither is named."],
    ),
    (  # a word more in each output
        "no_merit",
        situation({"bleu": {"a": 27.22, "b": 27.17}}, "bleu:a>b",
                  explained={("bleu", "a", "b")}),
        "no-difference", "",
        ["a has a better BLEU (27.22 against 27.17, p = 0.001), but no more than its length alone, "
         "or words that most of its outputs share, can give."],
    ),
    (  # what says more leaves less out
        "no_merit",
        situation({"omissions": {"a": 5, "b": 20}}, "omissions:a>b", referenced=False,
                  faults={"a": [BrokenOutputs(["note"], 9)]}, discounted={"a"}, padding={"a"}),
        "no-difference", "",
        ["a: 9 of 104 outputs end with words that translate nothing.",
         "Fewer errors of a are no merit."],
    ),
    (
        "no_difference",
        situation({"omissions": {"a": 5, "b": 20}}, referenced=False), "no-difference", "",
        ["No difference in omissions that these texts can show."],
    ),
    (
        "no_difference", situation({"bleu": BLEUS}), "no-difference", "",
        ["No difference that these texts can show."],
    ),
    (  # a star of the table is no claim
        "no_difference", situation({"bleu": BLEUS}, marked="bleu:a>b"), "no-difference", "",
        ["a has a better BLEU (80.00 against 60.00, p = 0.040), which may be chance: a verdict "
         "asks for p < 0.03."],
    ),
    (
        "no_difference", situation({"bleu": BLEUS}, faults={"a": [TWO_LINES]}),
        "no-difference", "",
        ["a lacks 2 of 60 lines: 13, 31.", "No other difference that these texts can show."],
    ),
    (  # faults of five systems
        "no_difference",
        situation({"bleu": dict.fromkeys("abcde", 9.0)},
                  faults={s: [TWO_LINES, "cut"] for s in "abcde"}),
        "no-difference", "",
        ["; ".join(f"{s} lacks 2 of 60 lines: 13, 31, and cut" for s in "abc")
         + "; 2 others have such faults.", "No other difference that these texts can show."],
    ),
    (
        "disagree",
        situation({"bleu": BLEUS, "rep": {"a": 2, "b": 1}}, "bleu:a>b rep:b>a"),
        "disagree", "ba",
        ["The scores disagree: b repeats less, a has a better BLEU.",
         "REP 1.00 against 2.00, p = 0.001; BLEU 80.00 against 60.00, p = 0.001."],
    ),
    (  # quality disagrees, and errors do not
        "disagree",
        situation({"bleu": BLEUS, "meteor": {"a": 1, "b": 2}, "rep": {"a": 1, "b": 2},
                   "drop": {"a": 1, "b": 2}}, "bleu:a>b meteor:b>a rep:a>b drop:a>b"),
        "disagree", "ba",
        ["The scores disagree: b has a better METEOR, a has a better BLEU.",
         "METEOR 2.00 against 1.00, p = 0.001; BLEU 80.00 against 60.00, p = 0.001.",
         "b repeats words and drops words more than a."],
    ),
    (  # three in a circle
        "disagree",
        situation({"bleu": {"a": 3, "b": 2, "c": 1}, "rep": {"a": 3, "b": 2, "c": 1}},
                  "bleu:a>b bleu:b>c rep:c>a"),
        "disagree", "ca",
        ["The scores disagree: c repeats less than a, a has a better BLEU than b.",
         "REP 1.00 against 3.00, p = 0.001; BLEU 3.00 against 2.00, p = 0.001."],
    ),
    (  # each of the others with its errors, the worst one first
        "take",
        situation({"bleu": {"a": 80, "b": 60, "c": 50}, "rep": {"a": 1, "b": 4, "c": 3}},
                  "bleu:a>b bleu:a>c rep:a>b rep:a>c"),
        "take", "a",
        ["Take a: it has a better BLEU (80.00 against 50.00 to 60.00, p ≤ 0.001).",
         "c repeats words, more than a (REP 3.00 against 1.00, p = 0.001).",
         "b repeats words, more than a (REP 4.00 against 1.00, p = 0.001)."],
    ),
    (  # the worst makes no errors, another one does
        "take",
        situation({"bleu": {"a": 80, "b": 60, "c": 50}, "rep": {"a": 1, "b": 4, "c": 2}},
                  "bleu:a>b bleu:a>c rep:a>b"),
        "take", "a",
        ["Take a: it has a better BLEU (80.00 against 50.00 to 60.00, p ≤ 0.001).",
         "b repeats words, more than a (REP 4.00 against 1.00, p = 0.001)."],
    ),
    (  # half of the quality: its few errors are no merit
        "take",
        situation({"bleu": {"a": 80, "b": 33}, "rep": {"a": 2, "b": 1}}, "bleu:a>b rep:b>a"),
        "take", "a",
        ["Take a: it has a better BLEU (80.00 against 33.00, p = 0.001)."],
    ),
    (  # nobody is taken for few errors
        "fewer_errors",
        situation({"bleu": BLEUS, "rep": {"a": 1, "b": 2}}, "rep:a>b"),
        "fewer-errors", "a",
        ["a repeats less (REP 1.00 against 2.00, p = 0.001)."],
    ),
    (  # two reasons are needed
        "fewer_errors",
        situation({"rep": {"a": 1, "b": 2, "c": 3}, "drop": {"a": 1, "b": 2, "c": 3}},
                  "rep:a>b drop:a>c"),
        "fewer-errors", "a",
        ["a repeats less than b (REP 1.00 against 2.00, p = 0.001).",
         "It drops fewer words than c (DROP 1.00 against 3.00, p = 0.001)."],
    ),
    (  # nobody is taken of whose outputs many are broken
        "fewer_errors",
        situation({"bleu": BLEUS}, "bleu:a>b", discounted={"a"},
                  faults={"a": [BrokenOutputs(["empty", "loop"], 9)]}),
        "fewer-errors", "a",
        ["a: 9 of 104 outputs are broken (empty, loop).",
         "a has a better BLEU (80.00 against 60.00, p = 0.001)."],
    ),
    (  # with references, omissions alone take nothing
        "fewer_errors",
        situation({"omissions": {"a": 5, "b": 20}}, "omissions:a>b"),
        "fewer-errors", "a",
        ["a leaves less out (Omissions 5.00% against 20.00%, p = 0.001)."],
    ),
    (
        "more_errors",
        situation({"rep": {"a": 1, "b": 2, "c": 8}}, "rep:a>c rep:b>c"),
        "more-errors", "c",
        ["c repeats words (REP 8.00 against 1.00 to 2.00, p ≤ 0.001)."],
    ),
    (
        "avoid",
        situation({"omissions": {"a": 500 / 104, "b": 600 / 104, "NLLB": 3600 / 104}},
                  "omissions:a>NLLB omissions:b>NLLB", referenced=False),
        "avoid", ["NLLB"],
        ["Avoid NLLB: it leaves text out (Omissions 36 of 104 against 5 to 6, p ≤ 0.001).",
         "No test tells the others apart."],
    ),
    (  # a reason that does not hold against all others says against which
        "avoid",
        situation({"bleu": {"a": 80, "b": 79, "c": 60}}, "bleu:a>c"),
        "avoid", "c",
        ["Avoid c: it has a worse BLEU than a (60.00 against 80.00, p = 0.001).",
         "No test tells the others apart."],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "found", "kind", "systems", "sentences"), BY_HAND)
def test_each_rule_by_hand(rule, found, kind, systems, sentences):
    verdict = decide(found)
    assert (verdict.kind, [*verdict.systems]) == (kind, [*systems])
    assert write_verdict(verdict, found) == tuple(sentences)
    assert next(own.__name__ for own in RULES if own(found)) == rule


def test_each_rule_has_its_test():
    assert {rule for rule, *_ in BY_HAND} == {rule.__name__ for rule in RULES}


@pytest.mark.parametrize("kind", [BLEU, TER, REP, Omissions])
def test_a_metric_by_another_name_has_the_same_verdict(kind):
    """What a metric is decides, and not what it is called."""
    other = type("Other", (kind,), {"name": "x"})
    scores = {"a": 80.0, "b": 30.0} if kind.higher_is_better else {"a": 30.0, "b": 80.0}
    for discounted in ({"a"}, set()):
        found = situation({"bleu": scores}, referenced=kind is not Omissions, discounted=discounted)
        found = replace(found, significant=[PairTest("bleu", "a", "b", 0.001)])
        first, second = (decide(replace(found, metrics={"bleu": m})) for m in (kind, other))
        assert first == second


def test_scores_of_another_program_can_recommend_a_system():
    scores = {"a": [0.9, 0.8, 0.85] * 20, "b": [0.5, 0.4, 0.3] * 20}
    texts = dict.fromkeys(scores, GOOD[-60:])
    for can_recommend, kind in ((True, "take"), (False, "fewer-errors")):
        comet = ExternalScores("COMET", scores, can_recommend=can_recommend)
        assert ce.compare(texts, REFERENCES[-60:], metrics=[comet]).verdict.kind == kind


def draw(chance: random.Random) -> Facts:
    """Any scores, tests, faults."""
    systems = [f"s{number}" for number in range(chance.choice([2, 2, 3, 4, 6, 11]))]
    names = chance.sample(list(METRICS), chance.randint(1, 4))
    scores = {
        name: {system: chance.uniform(0, chance.choice([20, 90])) for system in systems}
        for name in names
    }
    told = [
        f"{name}:{better}>{worse}"
        for name in names
        for better in systems
        for worse in systems
        if (scores[name][better] - scores[name][worse])
        * (1 if METRICS[name].higher_is_better else -1) > 0
        and chance.random() < chance.choice([0.02, 0.3, 0.9])
    ]  # fmt: skip
    disqualified = {system for system in systems if chance.random() < 0.1}
    discounted = {system for system in systems if chance.random() < 0.1} - disqualified
    padding = {system for system in discounted if chance.random() < 0.5}
    return situation(
        scores, " ".join(told), disqualified=disqualified, discounted=discounted, padding=padding,
        referenced=chance.random() < 0.5,
        faults={s: ["a fault"] for s in systems if s in disqualified | discounted},
        resamples=0 if not told and chance.random() < 0.5 else 1000,
    )  # fmt: skip


LESS = {name: metric.wording.less for name, metric in METRICS.items() if metric.wording}
BETTER = LESS | {n: f"has a better {m.name}" for n, m in METRICS.items() if not m.wording}


def test_the_headline_never_says_more_than_the_tests_and_faults():
    """200 situations; what may be said is worked out here from the tests, not from the code."""
    kinds = set()
    for seed in range(200):
        found = draw(random.Random(seed))
        verdict = decide(found)
        kinds.add(verdict.kind)
        told = {tuple(test[:3]) for test in found.significant}
        sentences = write_verdict(verdict, found)
        said = " ".join(sentences)
        assert 1 <= len(sentences) <= 3, seed
        assert bool(found.faults) == (": a fault" in sentences[0]), seed
        assert ("Take " in said) == (verdict.kind == "take"), seed
        _check_claims(sentences, told, {*found.systems} - found.disqualified)

        def has_merit(test: tuple[str, str, str], found: Facts = found, told=told) -> bool:
            metric, better, _ = test
            if metric == "omissions":
                return better not in found.disqualified | found.padding
            if metric not in ERRORS:
                return True
            cut = any(
                (
                    quality in {"bleu", "chrf", "meteor"}
                    and 2 * found.scores[quality][loser] < found.scores[quality][winner]
                )
                or (
                    quality == "omissions"
                    and 2 * (100 - found.scores[quality][loser])
                    < 100 - found.scores[quality][winner]
                )
                for quality, winner, loser in told
                if loser == better
            )
            return not (cut or better in found.disqualified | found.discounted)

        counted = {test for test in told if has_merit(test)}
        if verdict.kind == "take":
            names = {*found.metrics}
            assert names & {"bleu", "chrf", "meteor"} or not found.referenced, seed
            assert not any(test[2] in verdict.systems for test in counted), seed
            assert not {*verdict.systems} & (found.disqualified | found.discounted), seed
            for other in {*found.systems} - {*verdict.systems} - found.disqualified:
                won = {test[0] for test in counted if test[2] == other}
                proofs = {"bleu", "chrf", "meteor", *([] if found.referenced else ["omissions"])}
                assert won & proofs, seed
        elif verdict.kind == "avoid":
            for system in verdict.systems:
                beating = {test[1] for test in counted if test[2] == system}
                assert beating - {test[2] for test in counted if test[1] == system}, seed
            rest = {*found.systems} - {*verdict.systems} - found.disqualified
            assert not any({*test[1:]} <= rest for test in counted), seed
        elif verdict.kind == "more-errors":
            assert {test[0] for test in counted} <= ERRORS | {"omissions", "ter"}, seed
            assert any(test[2] in verdict.systems for test in counted), seed
        elif verdict.kind in {"no-difference", "untested"}:
            assert not counted, seed
            assert (verdict.kind == "untested") == (not found.resamples), seed
        elif verdict.kind == "disagree":
            assert len({test[0] for test in counted}) > 1, seed
    assert kinds == {
        "take", "fewer-errors", "more-errors", "disagree", "avoid", "no-difference", "untested",
    }  # fmt: skip


def _check_claims(
    sentences: Sequence[str], told: set[tuple[str, str, str]], competing: set[str]
) -> None:
    """Every "X repeats less than Y and Z" has its significant tests; no "than" means all others."""
    said = "\n".join(sentences)
    subject = ""
    for found in re.finditer(
        rf"^(?:Take (s\d+): it|(s\d+)|It) ({'|'.join(BETTER.values())})(?: than ([^(]*))? \(",
        said,
        flags=re.MULTILINE,
    ):
        taken, named, does, others = found.groups()
        subject = taken or named or subject
        metric = next(name for name, words in BETTER.items() if words == does)
        worse = competing - {subject} if others is None else re.findall(r"s\d+", others)
        assert worse or "others" in others
        assert all((metric, subject, system) in told for system in worse), said
    if listed := re.search(r"disagree: (s\d+) ([^,]*), (s\d+) ([^,]*)\.", said):
        for better, does in (listed.groups()[:2], listed.groups()[2:]):
            metric = next(n for n, words in BETTER.items() if does.startswith(words))
            assert any(test[:2] == (metric, better) for test in told), said


def test_p_values_are_corrected_for_all_pairs_and_columns_whatever_the_order():
    texts = {
        "good": REFERENCES,
        "fair": [" ".join(row) for row in confuse([line.split() for line in REFERENCES], 0.1)],
        "loops": [f"{line} and {line}" if i % 3 == 0 else line
                  for i, line in enumerate(REFERENCES)],
    }  # fmt: skip
    found, turned = (
        ce.compare({n: texts[n] for n in names}, REFERENCES, metrics=["bleu", "rep"], resamples=200)
        for names in (texts, [*texts][::-1])
    )
    assert found.tests.by_metric == turned.tests.by_metric
    p_values = [p.adjusted for column in found.tests.by_metric.values() for p in column.values()]
    assert min(p_values) == pytest.approx(6 / 201)  # three pairs, two columns


@pytest.mark.slow
def test_equal_systems_are_seldom_told_apart():
    """Five columns tell at most 5% of 60 pairs apart; each by itself, they would tell five."""
    told = 0
    for seed in range(60):
        texts = {}
        for name in "ab":
            chance = random.Random(f"{name}{seed}")
            words = ([w for w in t.split() if chance.random() > 0.1] for t in REFERENCES[:60])
            twice = ([w if chance.random() > 0.05 else f"{w} {w}" for w in row] for row in words)
            texts[name] = list(map(" ".join, twice))
        columns = ["bleu", "chrf", "ter", "rep", "rep-letters"]
        found = ce.compare(texts, REFERENCES[:60], metrics=columns, resamples=200)
        told += found.verdict.kind != "no-difference"
    assert told <= 3


def test_eleven_systems_can_differ():
    """55 pairs: with 1,000 resamples none could be significant after Holm's correction."""
    assert min(holm([1 / 1001] * 55)) > DECISIVE
    chance = random.Random(2)
    repeating = [f"{line} {line}" for line in GOOD[100:]]
    worse = {
        f"s{n}": [" ".join(w for w in line.split() if chance.random() < 0.7) for line in repeating]
        for n in range(1, 11)
    }
    found = ce.compare({**worse, "s0": GOOD[100:]}, REFERENCES[100:], metrics=["bleu", "rep"])
    assert (found.verdict.kind, found.verdict.systems) == ("take", ["s0"])


@pytest.mark.parametrize("systems", [2, 8, 40])
@pytest.mark.parametrize("resamples", [1, 1000, 600_000, MAX_RESAMPLES])
def test_resamples_are_multiplied_up_to_their_maximum(systems, resamples, monkeypatch):
    """With eight systems and 600,000 resamples, twice as many would be more than may be drawn."""
    drawn = []

    def record(
        columns: Sequence[object], pairs: Sequence[Pair], *, resamples: int, **_: object
    ) -> list[dict[Pair, Difference]]:
        drawn.append(resamples)
        return [{pair: Difference(0.0, 1.0) for pair in pairs} for _ in columns]

    monkeypatch.setattr("coverage_eval.comparison.pairs.pair_tests", record)
    statistics = {"rep": {f"s{n}": np.array([[n, 0, 9]] * 30) for n in range(systems)}}
    tests = make_tests(
        compare_statistics(statistics, {"rep": REP()}, SignificanceTest(resamples=0)).result,
        SignificanceTest(resamples=resamples),
        [(REP(), statistics["rep"])],
        None,
    )
    assert resamples <= drawn[0] <= MAX_RESAMPLES
    least = tests.min_resamples
    assert least is not None
    smallest = holm([1 / (drawn[0] + 1), *[1.0] * (tests.number - 1)])[0]
    assert (resamples < least) == (smallest >= DECISIVE)


@pytest.mark.slow
def test_eight_systems_with_many_resamples_have_a_verdict(run_cli, tmp_path):
    texts = {f"s{n}": " ".join(["a b"] * (n + 1)) for n in range(8)}
    for name, text in {"ref": "a b", **texts}.items():
        (tmp_path / name).write_text(f"{text}\n" * 5, encoding="utf-8")
    done = run_cli("compare", "--ref", "ref", "-m", "rep", "--resamples", 600_000, *texts,
                   cwd=tmp_path)  # fmt: skip
    assert "5 segments are too few to show a difference" in done.stdout


@pytest.mark.parametrize(
    ("resamples", "size", "said"),
    [
        (15, 200, "15 resamples cannot show a difference: draw 33 or more (--resamples)."),
        (0, 200, "Nothing was tested, because no resamples were drawn."),
        (1000, 5, "5 segments are too few to show a difference: p is at best 0.062."),
        (15, 5, "5 segments are too few to show a difference: p is at best 0.062."),
        (1000, 200, "No difference that these texts can show."),
    ],
)
def test_no_difference_is_not_said_where_none_could_be_found(resamples, size, said):
    texts = GOOD[-size:]
    found = ce.compare(
        {"a": texts, "b": texts}, REFERENCES[-size:], metrics=["bleu"], resamples=resamples
    )
    assert found.verdict_sentences[0] == said


DAMAGES: Mapping[str, Callable[[Sequence[str], Sequence[str]], list[str]]] = {
    "half": lambda ref, _: [" ".join(t.split()[: len(t.split()) // 2]) for t in ref],
    "75%": lambda ref, _: [" ".join(t.split()[: 3 * len(t.split()) // 4]) for t in ref],
    "shuffled": lambda ref, _: random.Random(1).sample(ref, len(ref)),
    "empty": lambda _, own: ["" if n % 10 == 0 else t for n, t in enumerate(own)],
    "salad": lambda ref, _: _salad(ref),
    "planted": lambda _, own: [
        f"{t} {' '.join(t.split()[-4:])}" if n % 12 == 0 else t for n, t in enumerate(own)
    ],
}


def _salad(texts: Sequence[str]) -> list[str]:
    chance, words = random.Random(3), " ".join(texts).split()
    return [" ".join(chance.choice(words) for _ in text.split()) for text in texts]


@pytest.mark.parametrize("with_reference", [True, False])
@pytest.mark.parametrize(
    ("damage", "systems"),
    [*((damage, 2) for damage in DAMAGES), ("planted", 5)],
)
def test_nothing_broken_is_taken(damage, systems, with_reference, demonstration, finder):
    def lines(name: str) -> list[str]:
        return (demonstration / name).read_text(encoding="utf-8").splitlines()[:300]

    careful, repeating, references = map(lines, ("careful.en", "repeating.en", "test.en"))
    chance = random.Random(4)
    fillers = [
        repeating if not n else
        [" ".join(w for w in t.split() if chance.random() < 0.9) for t in repeating]
        for n in range(systems - 2)
    ]  # fmt: skip
    texts = {"careful": careful, "bad": DAMAGES[damage](references, careful)}
    texts |= {f"s{n}": own for n, own in enumerate(fillers)}
    if with_reference:
        found = ce.compare(texts, references, metrics=["bleu", "rep"])
    else:
        aligner = ce.Aligner.load(finder)
        found = ce.compare(texts, None, lines("test.de"), aligner)
    verdict = found.verdict
    assert not (verdict.kind == "take" and "bad" in verdict.systems), verdict
    if with_reference and damage not in {"75%", "planted"}:
        assert [*verdict.systems] == ["careful"] or "bad" in verdict.systems, verdict
    if not with_reference and damage in {"half", "shuffled", "salad"}:
        assert "careful" not in verdict.systems or verdict.kind == "take", verdict


def test_missing_lines_come_first_and_have_no_p():
    pairs = {" ".join(p.source): " ".join(p.target) for p in generate(2060, seed=1)}
    sources, targets = list(pairs), list(pairs.values())
    cut = [text for n, text in enumerate(targets[:40]) if n not in {4, 5, 20}]
    with ce.Aligner.train(sources[40:], targets[40:]) as aligner:
        found = ce.compare(
            {"a": "\n".join(cut), "b": "\n".join(targets[:40])}, None, sources[:40], aligner,
            metrics=["missing-lines", "length-ratio"], unaligned=True,
        )  # fmt: skip
    first, *rest = found.verdict_sentences
    assert first == "a lacks 3 of 40 lines: 5–6, 21."
    assert "p =" not in " ".join([first, *rest])


def test_each_short_output_has_its_own_share():
    halves = {
        name: [" ".join(text.split()[:size]) for text in REFERENCES]
        for name, size in (("two", 2), ("three", 3))
    }
    found = ce.compare({"good": GOOD, **halves}, REFERENCES, metrics=["bleu", "rep"])
    shares = re.fullmatch(
        r"two has only (\d+)% of the length of the reference; "
        r"three has only (\d+)% of the length of the reference\.",
        found.verdict_sentences[0],
    )
    assert shares
    assert int(shares[1]) < int(shares[2])
    assert [*found.verdict.systems] == ["good"]


@pytest.mark.parametrize("metrics", [["bleu"], ["bleu", "rep", "chrf"]])
def test_a_system_that_is_the_reference_takes_no_part(metrics):
    """As the human translation in WMT's tables, whose figures are the best that can be."""
    worse = [" ".join([*text.split()[1::-1], *text.split()[2:]]) for text in REFERENCES]
    systems = {"good": GOOD, "worse": worse}
    alone = ce.compare(systems, REFERENCES, metrics=metrics)
    found = ce.compare({"human": REFERENCES, **systems}, REFERENCES, metrics=metrics)
    said, *sentences = found.verdict_sentences
    assert said == "human: the same text as the reference in all 200 segments."
    assert (found.verdict.kind, found.verdict.systems) == ("take", ["good"])
    assert [text.partition(" (")[0] for text in sentences] == [
        text.partition(" (")[0] for text in alone.verdict_sentences
    ]
    only = ce.compare({"human": REFERENCES, "good": GOOD}, REFERENCES, metrics=metrics)
    assert only.verdict.kind == "none"
    assert ce.compare({"human": REFERENCES}, REFERENCES, metrics=metrics).verdict.kind == "none"


def test_many_broken_outputs_are_said_by_name():
    texts = ["" if n % 10 == 0 else text for n, text in enumerate(REFERENCES)]
    found = ce.compare({"good": GOOD, "gaps": texts}, REFERENCES, metrics=["bleu", "rep"])
    assert [*found.verdict.systems] == ["good"]
    first, headline = found.verdict_sentences
    assert first == "gaps: 20 of 200 outputs have no words where other texts have some."
    assert headline.startswith("Take good: ")


def test_broken_outputs_of_several_kinds_are_added_up():
    texts = ["" if n % 67 == 0 else "no " * 30 if n % 67 == 25 else t
             for n, t in enumerate(REFERENCES)]  # fmt: skip
    found = ce.compare({"mixed": texts, "bad": REFERENCES[::-1]}, REFERENCES, metrics=["bleu"])
    first, headline = found.verdict_sentences
    assert first == "mixed: 6 of 200 outputs are broken (empty, loop)."
    assert headline.startswith("mixed has a better BLEU (")


def test_hints_have_no_say_and_no_star():
    sources = ["a b c d"] * 60
    systems = {"a": ["x y z"] * 60, "long": ["x y z z"] * 60}
    found = ce.compare(systems, None, sources, metrics=["length-ratio"], resamples=200)
    assert found.rows["long"]["length-ratio"].adjusted < 0.05
    assert found.verdict.kind == "none"
    assert "*" not in str(found)


def test_all_doors_say_the_same(demonstration, run_cli, tmp_path):
    texts = ("--ref", demonstration / "test.en", "-m", "bleu,rep", "--resamples", 200)
    systems = [demonstration / f"{name}.en" for name in ("careful", "dropping", "repeating")]
    printed = " ".join(run_cli("compare", *texts, *systems).stdout.split())
    told = json.loads(run_cli("compare", *texts, *systems, "-f", "json").stdout)["verdict"]
    report = run_cli("report", *texts, *systems, "-o", tmp_path / "r.html").stdout.splitlines()
    lines = [path.read_text(encoding="utf-8").splitlines() for path in systems]
    found = ce.compare(
        dict(zip([path.name for path in systems], lines, strict=True)),
        (demonstration / "test.en").read_text(encoding="utf-8").splitlines(),
        metrics=["bleu", "rep"],
        resamples=200,
    )
    page = (tmp_path / "r.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    page = re.sub("</?(b|bdi)>", "", page)
    assert report == [*told["sentences"], f"→ {tmp_path / 'r.html'}"]
    assert list(found.verdict_sentences) == told["sentences"]
    for sentence in told["sentences"]:
        assert sentence in printed
        assert sentence.replace(".en", "") in page
    assert MAX_NAMED >= len(told["systems"]) == 1
