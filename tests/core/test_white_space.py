"""White space is Unicode's for every metric, wherever a text comes from."""

from __future__ import annotations

import json

import pytest
import sacrebleu

import coverage_eval as ce
from coverage_eval import DROP, METEOR, REP, TER, Aligner, SoftDROP
from coverage_eval.quality.meteor.nltk_variant import NLTKMeteor
from coverage_eval.quality.sacre import BLEU, CHRF
from coverage_eval.registry import METRICS, make_metric

SPACES = ["\u00a0", "\u3000", "\u2009", "\u202f", "\u2028", "\n", "\r\n", "\t", "\x0b", "\x85"]
PAIRS = (
    ["ein haus", "das haus", "ein hund", "das tier"] * 20,
    (["a house", "the house", "a dog", "the animal"] * 20),
)


@pytest.fixture(scope="module")
def aligner():
    with Aligner.train(*PAIRS) as trained:
        yield trained


@pytest.mark.parametrize("space", SPACES)
def test_each_space_separates_words_for_every_metric(aligner, space):
    hypothesis, reference, source = "the the house", "the house , a dog", "das haus ein hund"
    glued = [text.replace(" ", space) for text in (hypothesis, reference, source)]
    metrics = [DROP(aligner), SoftDROP(aligner), METEOR(), NLTKMeteor(), TER(), CHRF()]
    metrics += [REP(), REP(tokenize="13a"), BLEU(), BLEU(tokenize="none")]
    metrics += [
        make_metric(name, {})
        for name in METRICS
        if name.startswith(("rep", "seq", "tng", "tail", "length"))
    ]
    for metric in metrics:
        as_written = metric.sentence_score(*glued)
        assert as_written == metric.sentence_score(hypothesis, reference, source), (
            metric.presentation.name
        )


@pytest.mark.parametrize("space", SPACES[:5])
def test_marks_stand_where_the_user_wrote_the_words(aligner, space):
    source = f"das{space}haus{space}{space}ein{space}hund"
    marks = DROP(aligner).evidence("the house", "the house a dog", source)
    assert [source[start:end] for mark in marks for start, end in mark.spans] == ["ein", "hund"]
    (mark,) = [mark for mark in REP().evidence(f"a{space}b{space}a{space}b", "a b") if mark.spans]
    assert mark.text == f"a{space}b"


@pytest.mark.filterwarnings("ignore:.* with line breaks, read as one line")
def test_files_cells_and_strings_with_spaces_score_alike(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hypothesis, reference = "très\u00a0très beau\u202f!", "très beau !"
    (tmp_path / "h").write_text(f"{hypothesis}\n", encoding="utf-8")
    cell = {"h": hypothesis.replace("\u202f", "\n"), "r": reference}
    (tmp_path / "t.jsonl").write_text(json.dumps(cell), encoding="utf-8")
    (tmp_path / "t.csv").write_text(f'h,r\n"{cell["h"]}",{reference}\n', encoding="utf-8")
    expected = float(ce.rep(["très très beau !"], [reference]))
    assert expected == 100.0 * 2 / 3
    for text in (["très\ntrès beau !"], "h", "t.jsonl:h", "t.csv:h"):
        assert float(ce.rep(text, [reference])) == expected


def test_bleu_of_a_text_with_line_breaks_is_sacrebleus():
    texts = ["a well-\nknown\u3000cat sat\u00a0there .\n"], ["a wellknown cat sat there ."]
    ours = float(ce.bleu(*texts))
    assert ours == sacrebleu.corpus_bleu(texts[0], [texts[1]]).score == pytest.approx(100)
