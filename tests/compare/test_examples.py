"""Examples lose most words that the model knows and others translate; broken outputs are found."""

import coverage_eval as ce
from coverage_eval.compare.report.examples import find_examples
from coverage_eval.compare.report.html import make_document
from coverage_eval.compare.report.segments import ReportOptions
from tests.grammar import generate

PAIRS = [(" ".join(pair.source), " ".join(pair.target)) for pair in generate(400, seed=5)]
SOURCES, REFERENCES = (
    [side for side in column if len(side.split()) > 6][:20] for column in zip(*PAIRS, strict=True)
)


def test_most_words_that_another_system_has_come_first():
    texts = ["a b c d e f g", "h i j k l m n", "o p q r s t u"]
    both = ce.compare(
        {"one": [f"{texts[0]} b c", f"{texts[1]} h i j", texts[2]],
         "two": [texts[0], f"{texts[1]} h i j", texts[2]]},
        texts, metrics=["rep"], resamples=0,
    )  # fmt: skip
    found = find_examples(both, 3, 3)
    # Both repeat the phrase of the second segment: only the first proves anything against "one".
    assert [item.place for item in found["one"]] == [0, 1]
    assert [item.place for item in found["two"]] == [1]
    outputs = [f"{texts[0]} b c", f"{texts[1]} h i j", texts[2]]
    alone = ce.compare({"one": outputs}, texts, metrics=["rep"], resamples=0)
    assert [item.place for item in find_examples(alone, 3, 3)["one"]] == [1, 0]


def test_words_that_the_model_does_not_know_are_no_examples():
    sources = [f"{line} zzyx" for line in SOURCES]
    with ce.Aligner.train_pairs(PAIRS) as aligner:
        made = ce.compare(
            {"a": REFERENCES}, [f"{line} unseen" for line in REFERENCES], sources, aligner,
            metrics=["softdrop"], resamples=0,
        )  # fmt: skip
        last = [len(line.split()) - 1 for line in sources]
        for item in find_examples(made, len(sources), 5)["a"]:
            assert last[item.place] is not None
            marks = made.measured.evidence_of("softdrop", "a")[item.place].marks
            assert any(m.amount >= 0.5 and m.positions[0] != last[item.place] for m in marks)


def test_short_segments_are_shown_only_if_there_are_no_others():
    short = ["x y", "a b"]
    made = ce.compare({"one": ["x x x", "a b"]}, short, metrics=["rep"], resamples=0)
    assert [item.place for item in find_examples(made, 2, 3)["one"]] == [0]
    longer = [*short, "a b c d e f"]
    made = ce.compare(
        {"one": ["x x x", "a b", "a b c d d e f"]}, longer, metrics=["rep"], resamples=0
    )
    assert [item.place for item in find_examples(made, 3, 3)["one"]] == [2]


def test_broken_outputs_are_listed():
    sources = ["ein rotes haus steht hier", "der hund schläft", "ich gehe an den strand"]
    outputs = ["ein rotes haus steht hier", "", "on the beach on the beach on the beach"]
    made = ce.compare({"a": outputs, "b": ["fine"] * 3}, ["a b"] * 3, sources, metrics=["rep"],
                      resamples=0)  # fmt: skip
    one, two = make_document(made, ReportOptions()).cards
    found = {words: numbers for words, numbers in one.odd.items() if numbers}
    assert found == {
        "empty": [2],
        "copied from the source": [1],
        "with a phrase over and over": [3],
    }
    assert not any(two.odd.values())
