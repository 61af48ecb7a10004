"""Findings about models on the right and the wrong text, and a model's notes on its own text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from statistics import fmean

import numpy as np
import pytest

from coverage_eval.align.aligner import Aligner
from coverage_eval.checks.check import (
    ALIGNER,
    CHECKS,
    COUNTED,
    COUNTED_WORDS,
    MODEL,
    WRITTEN,
    combine,
    run_checks,
)
from coverage_eval.checks.line_order import LAGS, look_for_other_order, neighbours
from coverage_eval.checks.model import model_fits, unknown_words
from coverage_eval.core.errors import Finding
from coverage_eval.core.sampled_texts import SampledTexts
from coverage_eval.core.tokenizers import SINK, tokenize
from fast_align_wrapper import FastAlign
from tests.core.corrupt import (
    Rows,
    confuse,
    glue,
    omit,
    pairs,
    repeat,
    sample,
    shift,
    shift_half,
    shuffle,
    spell,
    titles,
)

TRAINING, TEST = 2000, 400
TRAIN = [
    list(column) for column in zip(*((p.source, p.target) for p in pairs(TRAINING)), strict=True)
]
NEW = pairs(TEST, seed=11)
SOURCES: Rows = [pair.source for pair in NEW]
TARGETS: Rows = [pair.target for pair in NEW]
OUTPUT = confuse(TARGETS)


@pytest.fixture(scope="module")
def model() -> Iterator[FastAlign]:
    with FastAlign.train(zip(*TRAIN, strict=True), threads=1) as trained:
        yield trained


def check_model(seen: SampledTexts, model: FastAlign) -> list[Finding]:
    """What checks say of texts that this model is to align, without the order of words."""
    checks = [check for check in CHECKS if check.look is not look_for_other_order]
    split = {COUNTED: (seen,), WRITTEN: (seen,), MODEL: (seen, model)}
    found = run_checks(checks, split, {ALIGNER, COUNTED_WORDS})
    assert not any("\n" in finding.message for finding in found)
    return combine(found, seen.source.name if seen.source else None)


def name(finding: Finding) -> str:
    return finding.kind


def names(model: FastAlign, source: Rows, target: Rows | None, **outputs: Rows) -> list[str]:
    found = check_model(sample(source, target, **(outputs or {"hyp": OUTPUT})), model)
    return [problem for problem in map(name, found) if problem not in {"equal", "blank"}]


@pytest.mark.parametrize("number", [1, 5, 19, 20, 35, TEST])
def test_text_like_the_training_text_gives_no_finding(model, number):
    few = (SOURCES[:number], TARGETS[:number])
    assert names(model, *few, hyp=OUTPUT[:number]) == []


@pytest.mark.parametrize("noise", [omit, repeat, shuffle, lambda rows: confuse(rows, 0.8)])
def test_bad_outputs_do_not_blame_the_model(model, noise):
    assert names(model, SOURCES, TARGETS, hyp=noise(TARGETS)) == []


def test_a_small_model_gives_no_finding():
    with FastAlign.train(list(zip(*TRAIN, strict=True))[:150], threads=1) as small:
        assert names(small, SOURCES, TARGETS) == []


def test_shares_of_unknown_tokens(model):
    source, target = [[*row, "qq"] for row in SOURCES], [[*row, "qq", "qqq"] for row in TARGETS]
    shares = unknown_words(model, sample(source, target, hyp=OUTPUT))
    assert shares == {
        "unknown_source_tokens": pytest.approx(TEST / sum(map(len, source))),
        "unknown_target_tokens": pytest.approx(2 * TEST / sum(map(len, target))),
    }
    shares = unknown_words(model, sample(SOURCES, None, a=TARGETS, b=[["qq"]] * TEST))
    assert shares == {"unknown_source_tokens": 0, "unknown_target_tokens": 0.5}
    shares = unknown_words(model, sample([[]], [[]], hyp=[[]]))
    assert shares == {"unknown_source_tokens": 0, "unknown_target_tokens": 0}


def test_swapped_sides(model):
    seen = sample(TARGETS, SOURCES, hyp=SOURCES)
    findings, shares = check_model(seen, model), unknown_words(model, seen)
    assert name(findings[0]) == "swapped-sides"
    problem = "src: the model knows its words, and those of ref, as the other language's"
    assert findings[0].message.startswith(problem)
    assert min(shares.values()) > 0.8


def test_a_model_of_three_pairs_is_reported():
    with FastAlign.train(list(zip(*TRAIN, strict=True))[:3], threads=1) as tiny:
        found = check_model(sample(SOURCES[:3], TARGETS[:3], hyp=OUTPUT[:3]), tiny)
    assert list(map(name, found)) == ["small-model"]
    assert found[0].message.startswith("the model was trained on 3 pairs, too few")


@pytest.mark.parametrize("spoiled", [shift, shift_half, shuffle])
def test_lines_out_of_step(model, spoiled):
    expected = ["reordered" if spoiled is shuffle else "shifted"]
    assert names(model, SOURCES, spoiled(TARGETS)) == expected
    # Without a reference, every output is checked.
    seen = sample(SOURCES, None, good=OUTPUT, bad=spoiled(OUTPUT))
    findings = check_model(seen, model)
    assert list(map(name, findings)) == expected
    where = "lines 201 to 400" if spoiled is shift_half else "all lines"
    assert where in findings[0].message
    if spoiled is not shuffle:
        assert findings[0].message.startswith(
            f"bad: {where} are 1 line early (line N fits line N+1 of s"
        )


@pytest.mark.parametrize("spoiled", [spell, glue, titles, lambda rows: TARGETS])
def test_unknown_tokens(model, spoiled):
    findings = check_model(sample(spoiled(SOURCES), TARGETS, hyp=OUTPUT), model)
    assert name(findings[0]) == ("untokenised" if spoiled is glue else "wrong-model")
    assert findings[0].message.startswith("src: ")
    assert findings[0].texts == ("src",)


def test_unknown_tokens_of_a_hypothesis(model):
    other = [
        [f"{token}x" if i % 3 == 0 else token for i, token in enumerate(row)] for row in TARGETS
    ]
    assert names(model, SOURCES, TARGETS, hyp=other) == ["unknown-words"]
    # Words that a weak system invents.
    weak = [["xyz" if i % 6 == 0 else token for i, token in enumerate(row)] for row in TARGETS]
    assert names(model, SOURCES, TARGETS, hyp=weak) == []


FOREIGN: Rows = [[f"{token}x" for token in row] for row in OUTPUT]


@pytest.mark.parametrize("reference", [TARGETS, None])
@pytest.mark.parametrize("others", [{"good": OUTPUT}, {"good": OUTPUT, "second": FOREIGN}])
def test_an_output_of_words_that_the_model_does_not_know(model, reference, others):
    found = check_model(sample(SOURCES, reference, first=FOREIGN, **others), model)
    foreign = [finding for finding in found if finding.kind != "equal"]
    assert [item.kind for item in foreign] == ["foreign-output"]
    assert foreign[0].texts == ("first", *[name for name in others if name == "second"])
    problem = "100% of its words are unknown to the model, such as 'thex'"
    assert foreign[0].labels == (problem,) * len(foreign[0].texts)
    assert problem in foreign[0].message


def test_no_output_is_foreign_to_a_model_that_knows_no_text_well(model):
    def half_known(rows: Rows, every: int) -> Rows:
        return [[f"{t}x" if i % every else t for i, t in enumerate(row)] for row in rows]

    sides = (half_known(SOURCES, 2), None)
    outputs = {"good": half_known(OUTPUT, 2), "other": half_known(OUTPUT, 3)}
    assert "foreign-output" not in names(model, *sides, **outputs)
    assert names(model, SOURCES, None, **outputs) == ["unknown-words"]
    # Nor if it knows no other output, or not the source.
    assert names(model, SOURCES, None, first=FOREIGN) == ["wrong-model"]
    assert names(model, SOURCES, None, first=FOREIGN, blank=[[]] * TEST) == [
        "too-short",
        "unknown-words",
    ]
    assert names(model, FOREIGN, None, good=OUTPUT, first=FOREIGN)[0] == "wrong-model"


def test_an_output_is_not_taken_for_the_source_whose_name_it_has(model):
    found = check_model(sample(SOURCES, TARGETS, src=FOREIGN), model)
    assert list(map(name, found)) == ["foreign-output"]


def test_a_model_with_the_sink():
    pairs = (([*source, SINK], target) for source, target in zip(*TRAIN, strict=True))
    with FastAlign.train(pairs, notes={"sink": True}, threads=1) as model:
        assert names(model, SOURCES, TARGETS) == []
        assert names(model, SOURCES, shift(TARGETS)) == ["shifted"]


def test_fit_equals_its_definition(model):
    texts = sample(SOURCES, TARGETS, hyp=OUTPUT)
    rows = range(10, 20)
    training = model.manifest.forward.log_likelihood[-1] / model.manifest.target_tokens

    def per_token(row: int, lag: int) -> float:
        return next(model.scores([(SOURCES[row + lag], TARGETS[row])])) / len(TARGETS[row])

    around = fmean(per_token(row, lag) for row in rows for lag in LAGS)
    expected = [
        [(per_token(row, lag) - around) / (training - around) for row in rows] for lag in (0, *LAGS)
    ]
    near = neighbours(texts, texts.references[0])[:, rows]
    found = model_fits(model, SOURCES, TARGETS, rows, near)
    assert found == pytest.approx(np.clip(expected, -1, 1))
    assert found[0].mean() > 0.5


def test_a_slip_of_sources_is_named(model):
    slipped = [*SOURCES[:99], [], *SOURCES[99:139], *SOURCES[140:]]
    (found,) = check_model(sample(slipped, None, hyp=OUTPUT), model)
    assert found.message.startswith("hyp: lines 99 to 139 are 1 line early (line N fits line N+1 ")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("corpus", "training", "languages", "parts"),
    [
        ("multi30k-de-en", 1_000, ("en", "de"), ("test_2017_flickr",)),
        ("small-enja", 8_000, ("ja", "en"), ("test",)),
    ],
)
def test_findings_on_real_corpora(shared, corpus, training, languages, parts):
    def read(part: str) -> list[Rows]:
        files = (shared / "data" / corpus / f"{part}.{language}" for language in languages)
        return [[tokenize(t) for t in f.read_text("utf-8").split("\n")[:-1]] for f in files]

    pairs_read = zip(*read("train"), strict=True)
    with FastAlign.train(islice(pairs_read, training)) as model:
        for part in parts:
            source, target = read(part)
            outputs = {"a": omit(target), "b": confuse(target)}
            assert names(model, source, target, **outputs) == []
            assert names(model, target, source, **outputs)[0] == "swapped-sides"
            assert names(model, source, shift(target), **outputs) == ["shifted"]
            if languages[0] == "ja":
                assert names(model, SOURCES, TARGETS) == ["wrong-model"]


@pytest.mark.filterwarnings("ignore:the model was trained with <SINK>")
@pytest.mark.parametrize(
    ("pairs", "sink"),
    [
        ([("a <SINK>", "x"), (["b", "<SINK>"], "y")], True),
        ([("a <SINK>", "x"), ("b", "y")], False),
        ([("a", "x"), ("b <SINK>", "y")], False),
        ([("<SINK> a", "x")], False),
        ([("a\u00a0<SINK>", "x")], True),
        ([("a <SINK>", "x"), ("", "y"), ("b", " ")], True),  # not trained on
    ],
)
def test_a_model_notes_a_sink_if_every_source_has_one(pairs, sink):
    with Aligner.train_pairs(pairs, sink=False).model as model:
        assert model.manifest.notes["sink"] is sink
