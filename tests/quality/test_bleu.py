"""BLEU equals sacreBLEU's, and multi-bleu.perl's in compatibility mode; TER has a limit."""

from __future__ import annotations

import math
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

import coverage_eval as ce
from coverage_eval.checks.check import check
from coverage_eval.core.batches import Texts
from coverage_eval.core.counting import count
from coverage_eval.core.errors import DataError
from coverage_eval.quality.sacre import BLEU
from tests.rows import score_of, statistics_of

WORDS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=7)


@pytest.fixture(scope="module")
def texts(shared: Path) -> tuple[list[str], list[str]]:
    references = (shared / "data/multi30k-de-en/test_2016_flickr.en").read_text().splitlines()
    generator = random.Random(5)
    hypotheses = [
        " ".join(word.capitalize() for word in text.split() if generator.random() < 0.9)
        for text in references
    ]
    return hypotheses, references


@pytest.mark.parametrize(
    ("tokenize", "lowercase"), [("13a", True), ("intl", False), ("char", True)]
)
def test_equals_sacrebleu(texts, tokenize, lowercase):
    metric = BLEU(tokenize=tokenize, lowercase=lowercase)
    score = score_of(metric, *texts)
    theirs = sacrebleu.BLEU(tokenize=tokenize, lowercase=lowercase)
    assert score.score == theirs.corpus_score(texts[0], [texts[1]]).score
    assert str(theirs.get_signature()) in str(score.signature)


def multi_bleu(hypotheses: list[str], references: list[str]) -> float:
    """The formula of multi-bleu.perl -lc: corpus BLEU-4 of lowercased words, unsmoothed."""
    matches, totals = [0] * 4, [0] * 4
    hyp_words = ref_words = 0
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        hyp, ref = hypothesis.lower().split(), reference.lower().split()
        hyp_words, ref_words = hyp_words + len(hyp), ref_words + len(ref)
        for n in range(1, 5):
            t, r = (Counter(tuple(s[i : i + n]) for i in range(len(s) - n + 1)) for s in (hyp, ref))
            matches[n - 1] += sum((t & r).values())
            totals[n - 1] += sum(t.values())
    if not all(matches):
        return 0.0
    precision = sum(math.log(m / t) for m, t in zip(matches, totals, strict=True)) / 4
    return 100 * min(1, math.exp(1 - ref_words / hyp_words)) * math.exp(precision)


def test_compatibility_mode_equals_multi_bleu(texts):
    metric = BLEU(tokenize="none", lowercase=True, smooth="none")
    value = metric.score(statistics_of(metric, *texts)).score
    assert f"{value:.2f}" == f"{multi_bleu(*texts):.2f}"
    assert multi_bleu(["a b c"], ["a b c"]) == 0  # there is no 4-gram, and no smoothing
    assert metric.score(statistics_of(metric, ["a b c"], ["a b c"])).score == 0


def test_ter_of_long_segments_is_refused_at_once():
    words = [f"w{number}" for number in range(500)]
    long, backwards = " ".join(words), " ".join(reversed(words))
    with pytest.raises(DataError, match=r"TER: a segment of 500 words against 500 .* 'w499 w498"):
        ce.ter([backwards], [long])
    assert float(ce.ter([long, "a"], [long, "b"])) == pytest.approx(100 / 501)


def notes(text: str, **settings: str) -> list[str]:
    """What a run on thirty such outputs says of BLEU."""
    texts = Texts.from_lists({"a": [text] * 30}, [text] * 30)
    findings = check(texts.sample, [BLEU(**settings)])
    return [item.message for item in findings if "comparable" in item.message]


def test_bleu_of_tokenised_text_is_said_not_to_be_comparable_once():
    assert len(notes("the cat sat on the mat .")) == 1
    assert not notes("the cat sat on the mat.")
    assert not notes("the cat sat on the mat .", tokenize="none"), "as in sacreBLEU"


@pytest.mark.parametrize("number", [1, 2])
def test_the_signature_is_sacrebleus_and_counts_the_references(number):
    references = [["a b c d"], ["a b d c"]][:number]
    theirs = sacrebleu.BLEU()
    theirs.corpus_score(["a b c d e"], references)
    settings = f"{theirs.get_signature()}|coverage-eval:{ce.__version__}"
    assert f"nrefs:{number}" in settings
    metric = BLEU()
    assert str(metric.signature_for(references=number)) == f"BLEU|{settings}"
    # Without texts, the number is not known, whatever texts were scored before.
    assert "nrefs" not in str(metric.get_signature())


def segment_scores(metric: BLEU, hypotheses: list[str], references: list[str]) -> list[float]:
    counted = count(Texts.from_lists({"a": hypotheses}, references), {"bleu": metric})
    return [score or 0.0 for score in counted.segment_scores("bleu")]


def test_sentence_scores_are_sacrebleus_and_short_strings_get_a_line(shared):
    case = shared / "cases" / "short-strings-bleu"
    read = {path.name: path.read_text("utf-8").splitlines() for path in case.iterdir()}
    found = np.round(segment_scores(BLEU(), read["hypm"], read["refm"]), 2)
    assert found.tolist() == [100, 100, 100, 53.73, 73.49, 100, 50, 100]
    texts = Texts.from_lists({"a": read["bad200"], "b": read["nearly"]}, read["ref200"])
    (said,) = [item for item in check(texts.sample, [BLEU()]) if item.kind == "short-outputs"]
    assert "a (200 of 200 outputs have fewer than four words), b (200 of 200 " in said.message
    texts = Texts.from_lists({"a": read["hypm"]}, read["refm"])
    assert not [item for item in check(texts.sample, [BLEU()]) if item.kind == "short-outputs"]


@given(WORDS, WORDS, st.sampled_from(["exp", "floor", "none"]))
def test_scores_of_segments_are_those_of_sentences(hypothesis, reference, smooth):
    theirs = sacrebleu.BLEU(smooth_method=smooth, effective_order=True)
    expected = theirs.sentence_score(" ".join(hypothesis), [" ".join(reference)]).score
    found = segment_scores(BLEU(smooth=smooth), [" ".join(hypothesis)], [" ".join(reference)])
    assert found == [pytest.approx(expected)]
