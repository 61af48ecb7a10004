"""Flags beside other systems' outputs: one rule, one figure, and people's labels."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from scipy.stats import kendalltau

import coverage_eval as ce
from coverage_eval.core.batches import Texts
from coverage_eval.core.counting import count
from coverage_eval.core.texts import read_segments
from coverage_eval.coverage.omission_finder import (
    FLAG_FACTOR,
    FLAG_MARGIN,
    FLAG_PROBABILITY,
    OmissionFinder,
)
from coverage_eval.coverage.omissions import Additions, FittedFlags, FlaggedSegments, Omissions
from coverage_eval.coverage.training import train_for_omissions
from coverage_eval.outputs.output_errors import find_output_errors
from tests.coverage.conftest import measured
from tests.coverage.test_peers import BAD, PEERS, SOURCES, TARGETS, corrupt

SYSTEMS = {
    "bad": BAD,
    "right": TARGETS,
    "one": PEERS[0],
    "two": PEERS[1],
    "added": corrupt("addition", 5)[0],
}


def figures(aligner: ce.Aligner, kind: type[FlaggedSegments], names: list[str]) -> dict[str, float]:
    systems = {name: SYSTEMS[name.removeprefix("again ")] for name in names}
    result = measured(Texts.from_lists(systems, None, SOURCES), o=kind(aligner))
    return {name: result.score("o", name).score for name in names}


@pytest.mark.parametrize("number", [3, 5])
@pytest.mark.parametrize("kind", [Omissions, Additions])
def test_an_identical_system_changes_no_figure(special, kind, number):
    names = list(SYSTEMS)[:number]
    before = figures(special, kind, names)
    after = figures(special, kind, [*names, f"again {names[0]}"])
    assert after == before | {f"again {names[0]}": before[names[0]]}


def test_a_flag_is_a_score_above_the_median_of_three_different_others(special):
    """The rule written out, by the scores of each output alone."""
    texts = Texts.from_lists(SYSTEMS, None, SOURCES)
    result = measured(texts, o=Omissions(special))
    fitted = result.fitted["o"]
    assert isinstance(fitted, FittedFlags)
    found = [row for batch in result.kept for row in fitted.finder.found_segments(batch)]
    alone = {
        (text, source): one.score
        for texts in SYSTEMS.values()
        for text, source, one in zip(
            texts, SOURCES, OmissionFinder(special).find_texts(texts, SOURCES), strict=True
        )
    }
    seen = {True: 0, False: 0}
    for number, (row, source) in enumerate(zip(found, SOURCES, strict=True)):
        texts = [lines[number] for lines in SYSTEMS.values()]
        for text, one in zip(texts, row, strict=True):
            others = {other for other in texts if other != text and other.split()}
            expected = one.probability >= FLAG_PROBABILITY
            is_alone = True
            if len(others) >= 3:
                usual = np.median([alone[other, source] for other in others])
                length = np.median([len(other.split()) for other in others])
                score = (1 + alone[text, source]) * length / max(1, len(text.split())) - 1
                is_above = score > FLAG_FACTOR * usual + FLAG_MARGIN
                expected = is_above or not text.split()
                is_alone = False
            assert one.is_flagged == expected
            seen[is_alone] += expected
    assert min(seen.values()) > 5


@pytest.mark.slow
def test_flags_agree_with_peoples_labels(shared):
    """All nine outputs of half of WMT23 en-de, by a model of captions; evidence.md has the rest."""
    file = shared / "data" / "wmt23-en-de" / "outputs.tsv"
    with file.open(encoding="utf-8", newline="") as opened:
        records = list(csv.DictReader(opened, delimiter="\t", quoting=csv.QUOTE_NONE))
    systems = list(dict.fromkeys(record["system"] for record in records))
    own = {name: [one for one in records if one["system"] == name] for name in systems}
    texts = {name: [one["output"] for one in lines] for name, lines in own.items()}
    labels = np.array([[int(one["omissions"]) > 0 for one in own[name]] for name in systems])
    captions = [
        list(read_segments(shared / "data" / "multi30k-de-en" / f"train.{side}"))
        for side in ("en", "de")
    ]
    with train_for_omissions(*captions, tokenize="13a") as aligner:
        sources = [one["source"] for one in own[systems[0]]]
        compared = ce.compare(texts, None, sources, aligner, metrics=["omissions"], resamples=0)
    statistics = compared.result.statistics["omissions"]
    flags = statistics[:, :, 0] > 0
    assert flags[systems.index("refA")].mean() <= 0.03
    assert (flags & labels).sum() / flags.sum() >= 0.9
    assert (flags & labels).sum() / labels.sum() >= 0.5
    assert kendalltau(flags.mean(axis=1), labels.mean(axis=1)).statistic >= 0.7


def test_named_errors_count_as_omissions(special):
    outputs = [*TARGETS[:60], *SOURCES[60:64], "", *TARGETS[65:100]]
    texts = Texts.from_lists({"x": outputs}, None, SOURCES[:100])
    result = count(texts, {"o": Omissions(special)}, keep_texts=True)
    named = find_output_errors(texts, special)
    kinds = {n: [error.kind for error in errors] for n, errors in named["x"].items()}
    assert {n for n, own in kinds.items() if own == ["untranslated"]} >= set(range(60, 64))
    assert kinds[64] == ["empty"]
    assert (result.statistics_of("o")[60:65, 0] > 0.99).all()
    assert result.explanations("o")[62][0].probability > 0.99
