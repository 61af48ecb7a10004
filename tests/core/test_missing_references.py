"""A reference may be missing for a segment: blank, None, NaN or null, for every metric."""

from __future__ import annotations

import json

import pytest
import sacrebleu

import coverage_eval as ce
from coverage_eval import DROP, METEOR, REP, Aligner, SoftDROP
from coverage_eval.checks.check import check
from coverage_eval.core.batches import Texts
from coverage_eval.core.counting import count
from coverage_eval.core.errors import CorpusWarning
from coverage_eval.coverage.omission_finder import OmissionFinder
from coverage_eval.quality.meteor.nltk_variant import NLTKMeteor
from coverage_eval.quality.sacre import BLEU, CHRF, TER

HYPOTHESES = ["the lake froze over night .", "nobody expected the the snow snow .", "a ferry ."]
FIRST = ["the lake froze overnight .", "no one expected snow .", "the ferry was late ."]
SECOND = ["overnight the lake froze .", None, "one ferry was delayed ."]
SOURCES = ["der see", "kein schnee", "die fähre"]
PAIRS = [*SOURCES, "der schnee"] * 20, ["the lake", "no snow", "the ferry", "the snow"] * 20

pytestmark = pytest.mark.filterwarnings("ignore:.* blank in 1 of")


@pytest.fixture(scope="module")
def aligner():
    with Aligner.train(*PAIRS) as trained:
        yield trained


@pytest.mark.parametrize("missing", [None, "", " \u3000", float("nan"), []])
def test_every_metric_leaves_a_missing_reference_out(aligner, missing):
    second = [text or missing for text in SECOND]
    metrics = [BLEU(), CHRF(), TER(), METEOR(), NLTKMeteor(), REP(), DROP(aligner)]
    for metric in [*metrics, SoftDROP(aligner)]:
        texts = Texts.from_lists({"h": HYPOTHESES}, [FIRST, second], SOURCES)
        result = count(texts, {"m": metric})
        of_one = metric.sentence_score(HYPOTHESES[1], FIRST[1], SOURCES[1])
        assert result.segment_scores("m")[1] == pytest.approx(float(of_one)), (
            metric.presentation.name
        )
        said = [
            item.message for item in check(texts.sample, [metric]) if item.texts == ("reference 2",)
        ]
        assert said == [
            "reference 2: blank in 1 of 3 segments; where another reference has words, only that "
            "one counts"
        ]


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_sacrebleu_with_none_gives_the_same(name):
    theirs = getattr(sacrebleu, f"corpus_{name}")(HYPOTHESES, [FIRST, SECOND]).score
    assert float(getattr(ce, name)(HYPOTHESES, [FIRST, SECOND])) == pytest.approx(theirs, abs=1e-9)
    assert float(getattr(ce, name)(HYPOTHESES, [SECOND, FIRST])) == pytest.approx(theirs, abs=1e-9)


def test_omissions_expect_what_the_other_references_cover(aligner):
    finder = OmissionFinder(aligner, referenced=True)
    several = Texts.from_lists({"h": HYPOTHESES}, [FIRST, SECOND], SOURCES)
    one = Texts.from_lists({"h": HYPOTHESES[1:2]}, FIRST[1:2], SOURCES[1:2])
    found, (alone,) = [*finder.find(several.rows())], finder.find(one.rows())
    assert found[1].score == pytest.approx(alone.score)
    assert found[1].losses == pytest.approx(alone.losses)


def test_given_links_of_a_missing_reference_do_not_count():
    links = [[(0, 0), (1, 1)]], [[]]
    aligner = Aligner.from_links(links, [[(0, 0)]])
    assert float(ce.drop(["a"], [["a house"], [None]], ["ein haus"], aligner)) == 50


def test_null_and_nan_in_columns_and_files(tmp_path, monkeypatch, run_cli):
    monkeypatch.chdir(tmp_path)
    rows = zip(HYPOTHESES, FIRST, SECOND, [*SECOND[:1], float("nan"), SECOND[2]], strict=True)
    lines = [json.dumps(dict(zip("habc", row, strict=True))) for row in rows]
    (tmp_path / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")
    expected = sacrebleu.corpus_ter(HYPOTHESES, [FIRST, SECOND]).score
    for second in ("b", "c"):
        references = ["-r", "t.jsonl:a", "-r", f"t.jsonl:{second}"]
        done = run_cli("compare", "t.jsonl:h", *references, "-m", "ter", "-f", "json")
        assert json.loads(done.stdout)["scores"][0]["score"] == pytest.approx(expected)
        assert f"t.jsonl:{second}: blank in 1 of 3 segments" in done.stderr
    assert float(ce.rep(HYPOTHESES, "t.jsonl:b")) > 0


@pytest.mark.parametrize("missing", [None, "", float("nan")])
def test_a_segment_without_any_reference_is_scored_against_no_words_and_said(missing):
    with pytest.warns(CorpusWarning, match="1 of 3 segments have no reference: none of the words"):
        score = float(ce.bleu(HYPOTHESES, [text or missing for text in SECOND]))
    blank = [text or "" for text in SECOND]
    assert score == pytest.approx(sacrebleu.corpus_bleu(HYPOTHESES, [blank]).score)


@pytest.mark.filterwarnings("error")
def test_a_line_that_is_blank_in_all_texts_is_not_worth_a_word():
    texts = ["a house by the sea", ""]
    assert float(ce.bleu(texts, texts)) == sacrebleu.corpus_bleu(texts, [texts]).score
