"""Whole lines left out, joined, cut, moved, repeated and added; and counts of what is found."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import coverage_eval as ce
from coverage_eval.testbed.document_damage import (
    DOCUMENT_KINDS,
    NOTES,
    SegmentationCounts,
    damage,
    f_measure,
)
from coverage_eval.testbed.grammar import generate
from tests.cli.tools import write_grammar

LINES = [f"word{n} is number {n} of this text ." for n in range(400)]


@given(st.sets(st.sampled_from(DOCUMENT_KINDS)), st.integers(0, 9), st.floats(0, 0.5))
def test_gold_says_where_everything_is(kinds, seed, rate):
    lines = LINES[:30]
    found = damage(lines, sorted(kinds), rate, seed=seed)
    assert found == damage(lines, sorted(kinds), rate, seed=seed)
    text = "\n".join(found.lines)
    pieces: dict[int, list[str]] = {}
    last = 0
    for start, end, line in found.spans:
        assert text[last:start].strip() == ""
        last = end
        if line is not None:
            pieces.setdefault(line, []).append(text[start:end])
    assert last == len(text)
    assert {n: " ".join(parts) for n, parts in pieces.items()} == {
        n: line for n, line in enumerate(lines) if n not in found.missing
    }
    for error in found.errors:
        start, end = error.output
        said = text[start:end]
        assert error.kind in kinds
        if error.kind == "passage":
            assert error.removed == "\n".join(lines[n - 1] for n in error.lines)
        elif error.kind == "repeat-paragraph":
            assert said == lines[error.lines[0] - 1]
        elif error.kind == "preface":
            assert said in NOTES
    gone = {n - 1 for error in found.errors if error.kind == "passage" for n in error.lines}
    assert gone == found.missing


@pytest.mark.parametrize("kind", DOCUMENT_KINDS)
def test_the_rate_is_the_share_of_lines(kind):
    errors = [error for seed in range(10) for error in damage(LINES, [kind], 0.1, seed=seed).errors]
    lines = sum(max(1, len(error.lines)) for error in errors if error.kind == kind)
    lines -= len(errors) if kind == "merge" else 0  # it concerns a line and the one before it
    assert 0.07 < lines / (10 * len(LINES)) < 0.13


def test_no_kind_and_no_rate_change_nothing():
    assert damage(LINES, [], 0.5).lines == damage(LINES, DOCUMENT_KINDS, 0).lines == LINES
    with pytest.raises(ValueError, match="kinds are some of reorder, passage"):
        damage(LINES, ["omission"], 0.1)


def test_counts_compare_a_segmentation_with_gold():
    lines = LINES[:20]
    gold = damage(lines, ["passage", "preface"], 0.15, seed=2)
    assert gold.missing
    perfect = SegmentationCounts.of(ce.segment(gold.lines, references=lines), gold)
    assert (perfect.accuracy, f_measure(perfect.missing), f_measure(perfect.extra)) == (1, 1, 1)
    assert perfect.missing[0] == len(gold.missing)
    other = damage(lines, ["preface"], 0.15, seed=2)
    wrong = SegmentationCounts.of(ce.segment(other.lines, references=lines), gold._replace(
        lines=other.lines, spans=[(start, end, 0) for start, end, _ in other.spans]
    ))  # fmt: skip
    assert wrong.missing == (0, 0, len(gold.missing))
    assert wrong.accuracy < 0.2
    both = perfect + wrong
    assert both.words == perfect.words + wrong.words
    assert f_measure(both.missing) == pytest.approx(2 / 3)


def test_planted_damage_is_found():
    pairs = generate(4000, seed=1)
    sources, targets = (
        [" ".join(getattr(p, side)) for p in pairs] for side in ("source", "target")
    )
    with ce.Aligner.train(sources[400:], targets[400:]) as aligner:
        segmenter = ce.Segmenter.of_model(aligner)
    total = SegmentationCounts()
    for number in range(10):
        part = slice(40 * number, 40 * number + 40)
        gold = damage(targets[part], DOCUMENT_KINDS, 0.04, number=number)
        total += SegmentationCounts.of(segmenter(gold.lines, sources[part]), gold)
    assert total.accuracy > 0.96
    assert f_measure(total.missing) > 0.9
    assert f_measure(total.extra) > 0.85
    assert total.false_missing < 0.01


def test_the_command_damages_documents(run_cli, tmp_path):
    lines = write_grammar(tmp_path, 1, 60)
    for side in ("source", "target"):
        text = (tmp_path / f"test.{side}").read_text().splitlines()
        (tmp_path / side).write_text("\n".join([*text[:30], "", *text[30:]]) + "\n")
    command = ("inject", "target", "--src", "source", "--rate", 0.1, "--gold", "gold")
    kinds = ("--kind", "passage", "--kind", "merge")
    done = run_cli(*command, *kinds, "--documents", "blank", cwd=tmp_path)
    errors = [json.loads(line) for line in (tmp_path / "gold").read_text().splitlines()]
    removed = [error for error in errors if error["kind"] == "passage"]
    assert {error["document"] for error in errors} == {1, 2}
    numbered = [*lines[:30], "", *lines[30:]]
    for error in removed:
        assert error["removed"].split("\n") == [numbered[n - 1] for n in error["lines"]]
    kept = 60 - sum(len(error["lines"]) for error in removed)
    blocks = done.stdout.split("\n\n")
    assert len(blocks) == 2
    assert len(done.stdout.split()) == sum(map(len, map(str.split, lines))) - sum(
        len(error["removed"].split()) for error in removed
    )
    merged = sum(error["kind"] == "merge" for error in errors)
    assert sum(len(block.strip().split("\n")) for block in blocks) == kept - merged
    mixed = run_cli(*command, *kinds, "--kind", "addition", cwd=tmp_path, check=False)
    assert mixed.returncode == 2
    assert "--kind passage goes with other kinds for documents only" in mixed.stderr
