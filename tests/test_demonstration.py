"""The demonstration's texts are those of the grammar, with errors at the rates that it says."""

from __future__ import annotations

import random

from coverage_eval.demonstration import RATES, TEXTS, demonstration_texts
from fast_align_wrapper.links import format_links
from tests.grammar import generate, paraphrase
from tests.planting import inject_lines

TRAINING_PAIRS, TEST_PAIRS, SEED = 4000, 500, 2018


def test_the_texts_are_made_by_the_grammar():
    pairs = generate(TRAINING_PAIRS + TEST_PAIRS, SEED)
    training, test = pairs[:TRAINING_PAIRS], pairs[TRAINING_PAIRS:]
    # Translators differ, in the training text and in outputs: some words become synonyms.
    translator = random.Random(SEED)
    expected = {
        "train.de": [" ".join(pair.source) for pair in training],
        "train.en": [" ".join(paraphrase(pair.target, 0.3, translator)) for pair in training],
        "test.de": [" ".join(pair.source) for pair in test],
        "test.en": [" ".join(pair.target) for pair in test],
        "test.links": [format_links(pair.links) for pair in test],
    }
    for name, (repetitions, omissions) in RATES.items():
        translator = random.Random(f"{SEED} {name}")
        lines = [" ".join(paraphrase(pair.target, 0.5, translator)) for pair in test]
        lines = inject_lines(lines, "omission-word", omissions, SEED)
        expected[f"{name}.en"] = inject_lines(lines, "repetition-phrase", repetitions, SEED)
    assert tuple(expected) == TEXTS
    assert demonstration_texts() == expected
