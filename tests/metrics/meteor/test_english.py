"""Which texts look English: Meteor's own function words say so, on text where they must and not."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from coverage_eval.data.dataset import Row
from coverage_eval.data.files import read_segments
from coverage_eval.metrics.meteor import METEOR
from coverage_eval.metrics.meteor.nltk_variant import NLTKMeteor
from coverage_eval.metrics.meteor.words import FEWEST_WORDS, object_to_other_languages
from coverage_eval.testbed.grammar import generate
from fast_align_wrapper.text import Segment
from tests.metrics.meteor.texts import DANISH, DUTCH, ENGLISH, GERMAN, JAPANESE, SPANISH


def looks_english(segments: Iterable[Segment]) -> bool:
    return object_to_other_languages([Row((), (segment,)) for segment in segments]) is None


@pytest.mark.parametrize("text", [GERMAN, JAPANESE, DUTCH, DANISH, SPANISH])
def test_other_languages_do_not_look_english(text: list[str]) -> None:
    assert not looks_english(text)
    assert not looks_english([line.split() for line in text])
    assert not looks_english([line.upper() for line in text])


def test_english_does() -> None:
    assert looks_english(ENGLISH)
    assert looks_english([line.split() for line in ENGLISH])
    assert looks_english([line.upper() for line in ENGLISH])
    assert looks_english(line.replace(" .", ".").replace(" ,", ",") for line in ENGLISH)


def test_a_few_words_are_too_few_to_tell_the_language() -> None:
    words = " ".join(GERMAN).replace(" .", "").replace(" ,", "").split()
    few = words[: FEWEST_WORDS - 1]
    assert looks_english([few])
    assert looks_english([[*few, ".", "12", "%"]])
    assert not looks_english([words[:FEWEST_WORDS]])
    assert looks_english([])
    assert looks_english(["", "  "] * 100)


def test_both_meteors_warn_only_of_references_in_another_language() -> None:
    for metric in (METEOR(), NLTKMeteor()):
        assert metric.objection([Row((line,), (line,), "Haus") for line in ENGLISH]) is None
        assert metric.objection([Row((line,), ("the",)) for line in GERMAN]) is None
        said = metric.objection([Row(("the of and",), (line,)) for line in GERMAN])
        assert said is not None
        assert "% of the words are English function words" in said


def test_the_grammar_of_the_demo() -> None:
    pairs = generate(50, seed=1)
    assert looks_english([pair.target for pair in pairs])
    assert not looks_english([pair.source for pair in pairs])


def test_every_block_of_fifty_real_lines_is_english(shared: Path) -> None:
    for folder, other in (("multi30k-de-en", "de"), ("small-enja", "ja")):
        for language in ("en", other):
            lines = list(read_segments(shared / "data" / folder / f"train.{language}"))
            parts = [lines[start : start + 50] for start in range(0, len(lines), 50)]
            assert {looks_english(part) for part in parts} == {language == "en"}
