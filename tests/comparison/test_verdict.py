"""What a comparison says in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

import coverage_eval as ce
from coverage_eval.comparison.presentation import plain_verdict
from coverage_eval.testbed.grammar import generate
from tests.comparison.systems import damaged

REFERENCES = [" ".join(pair.target) for pair in generate(60, seed=4)]


def verdict(systems: Mapping[str, Sequence[str]], **options: object) -> list[str]:
    metrics = options.pop("metrics", ["bleu", "rep"])
    return plain_verdict(ce.compare(systems, REFERENCES, metrics=metrics, **options))  # type: ignore[arg-type]


def test_errors_come_first_and_what_does_not_differ_last() -> None:
    systems = {
        "clean": REFERENCES,
        "same": REFERENCES,
        "again": damaged(REFERENCES, 1, repeated=0.3),
    }
    worst, same, again = verdict(systems)
    assert worst.startswith("again repeats most (REP ")
    assert "; again is worst by BLEU " in worst
    assert same == (
        "clean and same: no real difference was found in repetitions (0.00 against 0.00, "
        "p = 1.000) and BLEU (100.00 against 100.00, p = 1.000)."
    ).replace("clean and same", "same and clean")
    assert again.startswith("again repeats more than clean: ")
    assert " against 0.00, p = 0.002; has a worse BLEU than clean: " in again


def test_fewer_errors_than_the_baseline() -> None:
    systems = {"again": damaged(REFERENCES, 1, repeated=0.3), "clean": REFERENCES}
    assert "clean repeats less than again: 0.00 against " in verdict(systems)[1]
    assert "has a better BLEU than again: 100.00" in verdict(systems)[1]


def test_without_resamples_nothing_was_tested() -> None:
    systems = {"clean": REFERENCES, "again": damaged(REFERENCES, 1, repeated=0.3)}
    assert verdict(systems, resamples=0)[1].endswith("; nothing was tested.")
    assert "p = " not in verdict(systems, resamples=0)[1]


def test_one_system_and_equal_ones() -> None:
    assert verdict({"a": REFERENCES}) == ["a has BLEU 100.00, REP 0.00."]
    first = verdict({"a": REFERENCES, "b": REFERENCES})[0]
    assert first == "all have REP 0.00; all have BLEU 100.00."


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("drop", "drops more words"),
        ("softdrop", "loses"),
        ("omissions", "leaves something out more often"),
    ],
)
def test_metrics_of_links(metric: str, words: str) -> None:
    pairs = [(" ".join(pair.source), " ".join(pair.target)) for pair in generate(400, seed=5)]
    aligner = ce.Aligner.train_pairs(pairs)
    sources, references = zip(*pairs[:60], strict=True)
    systems = {"all": references, "few": damaged(references, 2, omitted=0.4)}
    found = ce.compare(systems, references, sources, aligner, metrics=[metric])
    assert f"few {words}" in plain_verdict(found)[1]
