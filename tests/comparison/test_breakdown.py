"""Breakdowns: their parts add up to the whole, and small cases by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain

import pytest

from coverage_eval.align.aligner import Aligner, ModelAligner
from coverage_eval.comparison.compare import compare, compare_result
from coverage_eval.comparison.segments import evidence_records
from coverage_eval.comparison.table import Comparison
from coverage_eval.core.batches import Texts
from coverage_eval.core.counting import count_fitted
from coverage_eval.core.report import Table
from coverage_eval.core.significance import SignificanceTest
from coverage_eval.core.tokenizers import tokenize
from coverage_eval.coverage.drop import DROP, SoftDROP
from coverage_eval.registry import METRICS
from coverage_eval.repetition.rep import REP
from tests.comparison.systems import damaged
from tests.grammar import generate
from tests.rows import segment_scores_of

PAIRS = generate(1500, seed=8)
SOURCES, REFERENCES = (
    [" ".join(getattr(pair, side)) for pair in PAIRS[:200]] for side in ("source", "target")
)
SYSTEMS = {
    "good": damaged(REFERENCES, 1, repeated=0.01, omitted=0.02),
    "bad": damaged(REFERENCES, 2, repeated=0.08, omitted=0.10),
}
NONE = SignificanceTest(resamples=0)


@pytest.fixture(scope="module")
def aligner() -> Iterator[ModelAligner]:
    with Aligner.train_pairs((pair.source, pair.target) for pair in PAIRS) as trained:
        yield trained


@pytest.fixture(scope="module")
def comparison(aligner: ModelAligner) -> Comparison:
    return compare(
        SYSTEMS, REFERENCES, SOURCES, aligner, metrics=("bleu", "rep", "drop", "softdrop"),
        resamples=0,
    )  # fmt: skip


def totals(comparison: Comparison, system: str, name: str) -> dict[str, float]:
    return comparison.rows[system][name].score.statistics


def table(comparison: Comparison, name: str, top: int = 5) -> Table:
    (found,) = comparison.break_down([name], top=top)
    assert found.name == name
    return found


def test_parts_of_drop_add_up(comparison):
    for system in SYSTEMS:
        rows = [row for row in table(comparison, "source-position").rows if row[1] == system]
        whole = totals(comparison, system, "drop")
        assert sum(int(str(row[2])) for row in rows) == whole["expected_words"]
        assert sum(int(str(row[3])) for row in rows) == whole["dropped_words"]
        for _, _, expected, dropped, share in rows:
            assert share == pytest.approx(100 * int(str(dropped)) / int(str(expected)))


def test_parts_of_rep_add_up(comparison):
    for system in SYSTEMS:
        rows = [row for row in table(comparison, "output-position").rows if row[1] == system]
        assert len(rows) == 5
        assert sum(float(str(row[3])) for row in rows) == pytest.approx(
            comparison.rows[system]["rep"].score.score
        )


def test_scores_by_length_are_those_of_the_segments_alone(comparison, aligner):
    found = table(comparison, "source-length")
    assert found.header[3:] == ("BLEU", "REP", "DROP", "SoftDROP")
    lengths = [len(tokenize(text)) for text in SOURCES]
    inside = [i for i, n in enumerate(lengths) if 1 <= n <= 10]
    rows = [row for row in found.rows if row[0] == "1–10"]
    assert [row[1] for row in rows] == [len(inside)] * 2
    alone = compare(
        {name: [outputs[i] for i in inside] for name, outputs in SYSTEMS.items()},
        [REFERENCES[i] for i in inside],
        [SOURCES[i] for i in inside],
        aligner,
        metrics=tuple(comparison.metrics),
        resamples=0,
    )
    for row in rows:
        cells = alone.rows[str(row[2])].values()
        assert row[3:] == pytest.approx([cell.score.score for cell in cells])
    assert sum(int(str(row[1])) for row in found.rows) == 2 * len(SOURCES)


def by_hand() -> Comparison:
    """Three segments with links and repetitions that can be counted by hand."""
    texts = Texts.from_lists(
        {"one": ["x x y z", "x", ""], "two": ["x y z x y z", "", "x x"]},
        ["x y z", "x y", ""],
        ["a b c", "a b", ""],
    )
    full, short = {(0, 0), (1, 1), (2, 2)}, {(0, 0), (1, 1)}
    one = [{(0, 0), (1, 2), (2, 3)}, {(0, 0)}, []]
    two = [{(0, 0)}, [], []]
    drop = DROP(Aligner.from_links([full, short, []], [one, two]))
    return compare_result(count_fitted(texts, {"rep": REP(), "drop": drop}, keep_texts=True), NONE)


def test_lists_by_hand():
    comparison = by_hand()
    assert table(comparison, "dropped-words").rows == (
        ("one", "b", 1, 2, 50.0),
        ("two", "b", 2, 2, 100.0),
        ("two", "a", 1, 2, 50.0),
        ("two", "c", 1, 1, 100.0),
    )
    assert table(comparison, "repeated-ngrams").rows == (
        ("one", "x x", "word twice in a row", 1, 1),
        ("two", "x x", "word twice in a row", 1, 1),
        ("two", "x y", "n-gram", 1, 1),
        ("two", "y z", "n-gram", 1, 1),
    )
    assert table(comparison, "dropped-words", top=1).rows[1][:2] == ("two", "b")
    assert len(table(comparison, "dropped-words", top=1).rows) == 2
    ties = compare({"s": ["b b a a"]}, ["c"], metrics=["rep"], resamples=0)
    assert [row[1] for row in table(ties, "repeated-ngrams").rows] == ["a a", "b b"]
    frame = table(comparison, "dropped-words").to_frame()
    assert list(frame.columns) == ["system", "word", "dropped", "expected", "% dropped"]
    assert frame["dropped"].sum() == 5


@pytest.mark.parametrize("metric", [name for name in METRICS if name.startswith("rep")])
def test_what_references_repeat_as_often_is_no_common_error(metric):
    """Each of both says "it 's" twice where the other does not; a loop is the output's alone."""
    twice, once = "it 's true that it 's late", "it 's true and late"
    outputs = [twice, once, "he goes he goes", "x"]
    for references, listed in (
        ([once, twice, "he goes", "x"], {"he goes"}),
        ([once, once, "he goes", "x"], {"it 's", "he goes"}),
    ):
        made = compare({"a": outputs}, references, ["ein"] * 4, metrics=[metric], resamples=0)
        found = {row[1] for row in table(made, "repeated-ngrams", top=20).rows}
        assert {"it 's", "he goes"} & found == listed


def test_classes_by_hand():
    comparison = by_hand()
    # In "x y z x y z" the second "x y" and "y z" are repetitions, at positions 3 and 4 of 6.
    places = [row[:3] for row in table(comparison, "output-position").rows if row[1] == "two"]
    assert places == [
        ("0–20%", "two", 1), ("20–40%", "two", 0), ("40–60%", "two", 1),
        ("60–80%", "two", 1), ("80–100%", "two", 0),
    ]  # fmt: skip
    lengths = table(comparison, "source-length")
    assert [row[:3] for row in lengths.rows] == [
        ("0", 1, "one"), ("0", 1, "two"), ("1–10", 2, "one"), ("1–10", 2, "two"),
    ]  # fmt: skip
    assert lengths.rows[0][3:] == (None, None)  # no word of reference or source: undefined


def test_differences_by_hand():
    """REP of both is 66.67 in the first segment and undefined in the last: no difference."""
    found = by_hand().most_different(1)
    assert found.rows == (
        ("DROP", 1, "reference", None, "x y z"),
        ("DROP", 1, "source of one", None, "a b c"),
        ("DROP", 1, "one", 0.0, "x [x] y z"),
        ("DROP", 1, "source of two", None, "a [b c]"),
        ("DROP", 1, "two", pytest.approx(200 / 3), "x y z [x y z]"),
    )
    assert found.notes == (
        "[Brackets] in an output: repeated words.",
        "[Brackets] in a source: dropped words of the system named beside it.",
    )


def test_places_of_repetitions_in_letters_sum_to_their_score():
    found = compare(SYSTEMS, REFERENCES, metrics=["rep-letters", "rep"], resamples=0)
    (places,) = found.break_down(["output-position"])
    assert places.header[3] == "part of REP-letters"
    for system in SYSTEMS:
        parts = [float(str(row[3])) for row in places.rows if row[1] == system]
        assert sum(parts) == pytest.approx(found.rows[system]["rep-letters"].score.score)


def test_differences_are_the_largest(comparison):
    rows = [row for row in comparison.most_different(4).rows if row[0] == "REP"]
    assert len(rows) == 5 * 4
    scores = {system: segment_scores_of(REP(), SYSTEMS[system], REFERENCES) for system in SYSTEMS}
    gaps = [abs((a or 0) - (b or 0)) for a, b in zip(*scores.values(), strict=True)]
    shown = [int(str(row[1])) - 1 for row in rows[::5]]
    assert [gaps[i] for i in shown] == sorted(gaps, reverse=True)[:4]
    for start, texts in ((1, SOURCES), (2, SYSTEMS["good"]), (3, SOURCES), (4, SYSTEMS["bad"])):
        unmarked = [str(row[4]).replace("[", "").replace("]", "") for row in rows[start::5]]
        assert unmarked == [texts[i] for i in shown]


def test_details_hold_all_evidence(comparison):
    header, *records = evidence_records(comparison)
    assert header["kind"] == "comparison"
    assert header["signatures"]["REP"] == str(REP().signature_for(references=1))
    sides = {name: {kind["side"] for kind in kinds} for name, kinds in header["kinds"].items()}
    assert sides == {"BLEU": set(), "REP": {"output"}, "DROP": {"source"}, "SoftDROP": {"source"}}
    assert len(records) == 2 * len(REFERENCES)
    sums: Counter[tuple[str, str]] = Counter()
    for record in records:
        number, system = record["segment"] - 1, record["system"]
        assert record["kind"] == "segment"
        assert record["hypothesis"] == SYSTEMS[system][number]
        assert (record["source"], record["reference"]) == (SOURCES[number], REFERENCES[number])
        metrics = record["metrics"]
        assert list(metrics) == ["BLEU", "REP", "DROP", "SoftDROP"]
        for label, values in metrics.items():
            for name, value in values["statistics"].items():
                sums[system, f"{label} {name}"] += value
        marks = {label: values["marks"] for label, values in metrics.items()}
        shape = ["side", "kind", "text", "start", "end", "amount"]
        shape += ["first_start", "first_end", "detail"]
        assert all(list(mark) == shape for found in marks.values() for mark in found)
        texts = {"source": record["source"], "output": record["hypothesis"]}
        for mark in chain.from_iterable(marks.values()):
            assert texts[mark["side"]][mark["start"] : mark["end"]] == mark["text"]
        assert len(marks["DROP"]) == metrics["DROP"]["statistics"]["dropped_words"]
        twice = [mark for mark in marks["REP"] if mark["kind"] == "word twice in a row"]
        assert len(twice) == metrics["REP"]["statistics"]["repeated_words"]
        assert marks["BLEU"] == []
        lost = sum(mark["amount"] for mark in marks["SoftDROP"])
        assert lost == pytest.approx(metrics["SoftDROP"]["statistics"]["lost_coverage"])
    for system in SYSTEMS:
        for cell in comparison.rows[system].values():
            for name, value in cell.score.statistics.items():
                assert sums[system, f"{cell.score.metric} {name}"] == pytest.approx(value)


def test_evidence_counts_words_as_its_metric_cuts_them():
    """A metric with a tokeniser of its own, beside one that the comparison was told."""
    systems = {"one": ["a house."], "two": ["a,a,a,a,a house."]}
    comparison = compare(systems, ["a house."], metrics=[REP(tokenize="intl")], resamples=0)
    places = [row for row in table(comparison, "output-position").rows if row[1] == "two"]
    assert sum(float(str(row[3])) for row in places) == pytest.approx(
        comparison.rows["two"]["rep"].score.score
    )
    marked = str(comparison.most_different(5).rows[-1][4])
    assert marked == "[a,a,a,a,a] house."


def test_details_have_the_texts_as_they_were_written():
    pairs = ["Ein Haus.", "Das Haus.", "Ein Hund."] * 20, ["A house.", "The house.", "A dog."] * 20
    with Aligner.train(*pairs, tokenize="13a") as aligner:  # the metric's own, and of no argument
        metrics = [SoftDROP(aligner), REP(tokenize="13a")]
        systems, references = {"one": ["A dog."]}, ["A house."]
        comparison = compare(systems, references, ["Ein Haus."], metrics=metrics, resamples=0)
    _, record = evidence_records(comparison)
    assert (record["source"], record["hypothesis"]) == ("Ein Haus.", "A dog.")
    (mark,) = record["metrics"]["SoftDROP"]["marks"]
    assert (mark["start"], mark["end"], mark["text"]) == (4, 8, "Haus")
