"""Words and n-grams that systems get right: cases by hand, and a plain count of all."""

from __future__ import annotations

import random

import pytest

from coverage_eval.comparison.comparison import compare
from coverage_eval.errors import DataError
from coverage_eval.tables.table import Table

REFERENCES = ["the cat saw the dog", "a red house burns", "the dog sleeps"]
SYSTEMS = {
    "one": ["the the the cat", "a red house burns", "the dog sleeps"],
    "two": ["the cat saw the dog", "a house", "dog dog"],
}
LABELS = [["D", "N", "V", "D", "N"], ["D", "A", "N", "V"], ["D", "N", "V"]]


def table(name: str, **options: object) -> Table:
    (found,) = compare(SYSTEMS, REFERENCES, metrics=["rep"], resamples=0).break_down(
        [name],
        **options,  # type: ignore[arg-type]
    )
    assert found.name == name
    return found


def test_words_by_frequency():
    # In the training text "the" is frequent and "dog" is rare; it has no other word.
    rows = table("word-frequency", target_frequencies={"the": 5000, "dog": 5}).rows
    assert ("1000+", "one", 3, 3, 100.0, 4, pytest.approx(600 / 7)) in rows
    assert ("1000+", "two", 3, 2, pytest.approx(200 / 3), 2, 80.0) in rows
    assert ("2–9", "two", 2, 2, 100.0, 3, 80.0) in rows
    unknown = [row for row in rows if row[0] == "0"]
    assert [row[2:4] for row in unknown] == [(7, 6), (7, 4)]
    own = table("word-frequency")
    assert "frequency in the reference" in own.title
    assert sum(int(str(row[2])) for row in own.rows if row[1] == "one") == 12


def test_words_by_label():
    rows = {row[:2]: row[2:] for row in table("word-labels", word_labels=LABELS).rows}
    assert rows["D", "one"] == (4, 4, 100.0)
    assert rows["D", "two"] == (4, 3, 75.0)
    assert rows["A", "two"] == (1, 0, 0.0)
    assert rows["V", "one"] == (3, 2, pytest.approx(200 / 3))
    # The reference has "the" twice and the output once: only the first one is right.
    once = compare({"s": ["cat the"]}, ["the cat the"], metrics=["rep"], resamples=0)
    (counted,) = once.break_down(["word-labels"], word_labels=[["first", "noun", "second"]])
    assert {row[0]: row[3] for row in counted.rows} == {"first": 1, "noun": 1, "second": 0}
    with pytest.raises(DataError, match="labels of 2 segments for 3 references"):
        table("word-labels", word_labels=LABELS[:2])
    with pytest.raises(DataError, match="line 2: 1 labels, and the reference has 4 words"):
        table("word-labels", word_labels=[LABELS[0], ["D"], LABELS[2]])


def test_ngrams_that_tell_two_systems_apart():
    rows = table("telling-ngrams", top=2).rows
    assert [row[:5] for row in rows] == [
        ("one", "two", "a red house burns", 1, 0),
        ("one", "two", "the dog sleeps", 1, 0),
        ("two", "one", "cat saw the dog", 1, 0),
        ("two", "one", "the cat saw the", 1, 0),
    ]
    assert rows[0][5:] == (2, "[a red house burns]")
    assert rows[2][5:] == (1, "the [cat saw the dog]")


def test_ngrams_are_counted_as_by_a_plain_count():
    draw = random.Random(4)
    texts = [
        [" ".join(draw.choices("abc", k=draw.randint(0, 6))) for _ in range(20)] for _ in range(3)
    ]
    references, one, two = texts
    systems = {"one": one, "two": two}
    (found,) = compare(systems, references, metrics=["bleu"], resamples=0).break_down(
        ["telling-ngrams"], top=100
    )

    def right(system: str, gram: str) -> int:
        size = len(gram.split())

        def times(text: str) -> int:
            words = text.split()
            return sum(" ".join(words[n : n + size]) == gram for n in range(len(words)))

        pairs = zip(systems[system], references, strict=True)
        return sum(min(times(out), times(ref)) for out, ref in pairs)

    assert len(found.rows) > 10
    for system, other, gram, ours, theirs, segment, words in found.rows:
        assert (ours, theirs) == (right(str(system), str(gram)), right(str(other), str(gram)))
        text = systems[str(system)][int(str(segment)) - 1]
        assert str(words).replace("[", "").replace("]", "") == text


def test_the_command_prints_right_words_and_ngrams(run_cli, tmp_path):
    for name, lines in {"ref": REFERENCES, **SYSTEMS}.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    (tmp_path / "tags").write_text("\n".join(map(" ".join, LABELS)) + "\n")
    options = ("--metrics", "rep", "--resamples", 0, "--breakdown", "word-labels,telling-ngrams")
    texts = ("compare", "--ref", "ref", "one", "two", *options)
    shown = run_cli(*texts, "--ref-labels", "tags", cwd=tmp_path).stdout
    assert "Words of the reference that systems get right, by label" in shown
    assert "[a red house burns]" in shown
