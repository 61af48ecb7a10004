"""More words are no merit: neither as many of any kind, nor the same ones in each output."""

from __future__ import annotations

import pytest

import coverage_eval as ce
from coverage_eval.comparison.gate import find_worse
from tests.comparison.systems import damaged
from tests.grammar import generate

pytestmark = pytest.mark.filterwarnings("ignore::coverage_eval.core.errors.CorpusWarning")

REFERENCES = [" ".join(pair.target) for pair in generate(150, seed=4)]
SHORT = [
    " ".join(word for n, word in enumerate(text.split()) if n % 3)
    for text in damaged(REFERENCES, 3, omitted=0.02)
]


@pytest.mark.parametrize(
    "padded",
    [
        [f"{text} xyzzy" for text in SHORT],
        [f"{text} the end" for text in SHORT],
        [f"well {text}" for text in SHORT],
        [f"{text} {'abcdefghij'[n % 10] * 5}" for n, text in enumerate(SHORT)],
    ],
    ids=["one word", "words of the language", "at the beginning", "another word each time"],
)
def test_padding_takes_nothing_and_closes_no_gate(padded):
    found = ce.compare({"padded": padded, "short": SHORT}, REFERENCES, metrics=["bleu", "rep"])
    cells = {system: row["bleu"] for system, row in found.rows.items()}
    assert cells["padded"].score.score > cells["short"].score.score
    assert cells["short"].adjusted is not None
    assert cells["short"].adjusted < 0.05  # a constant gain is significant
    assert found.verdict.kind == "no-difference"
    assert "no more than its length alone" in " ".join(found.verdict_sentences)
    assert find_worse(found, {"bleu": 0.0}) == []


def test_words_that_mean_something_are_a_merit():
    found = ce.compare({"whole": damaged(REFERENCES, 3, omitted=0.02), "short": SHORT}, REFERENCES)
    assert (found.verdict.kind, found.verdict.systems) == ("take", ["whole"])
