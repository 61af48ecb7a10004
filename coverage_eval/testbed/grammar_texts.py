"""The demonstration's corpus: training and test text of the grammar, and outputs with errors."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coverage_eval.data.files import atomic_write
from coverage_eval.errors import DataError
from coverage_eval.testbed.grammar import Pair, generate, paraphrase
from coverage_eval.testbed.injection import inject_lines
from fast_align_wrapper.links import format_links

TRAINING_PAIRS = 4000
TEST_PAIRS = 500
SEED = 2018

RATES = {"careful": (0.0, 0.0), "repeating": (0.06, 0.0), "dropping": (0.0, 0.1)}
"""Name of an output → words repeated and words left out, per word."""


@dataclass(frozen=True)
class GrammarTexts:
    """The grammar's corpus and the outputs made from its test set.

    Attributes:
        training: Pairs to train an aligner on.
        test: Further pairs; their links are the truth.
        outputs: The test set's target side as each of :data:`RATES` translates it.
    """

    training: list[Pair]
    test: list[Pair]
    outputs: dict[str, list[str]]

    @property
    def sources(self) -> list[str]:
        """The source side of the test set."""
        return [" ".join(pair.source) for pair in self.test]

    @property
    def references(self) -> list[str]:
        """The target side of the test set."""
        return [" ".join(pair.target) for pair in self.test]


def make_texts() -> GrammarTexts:
    """Make the texts; they are the same every time."""
    pairs = generate(TRAINING_PAIRS + TEST_PAIRS, SEED)
    test = pairs[TRAINING_PAIRS:]
    # Translators differ, in training text as in outputs; a synonym takes the place of one word.
    translator = random.Random(SEED)  # noqa: S311 (not for secrets)
    training = [
        replace(pair, target=tuple(paraphrase(pair.target, 0.3, translator)))
        for pair in pairs[:TRAINING_PAIRS]
    ]
    return GrammarTexts(training, test, {name: _output(test, name) for name in RATES})


def _output(test: Sequence[Pair], name: str) -> list[str]:
    repetitions, omissions = RATES[name]
    generator = random.Random(f"{SEED} {name}")  # noqa: S311 (not for secrets)
    lines = [" ".join(paraphrase(pair.target, 0.5, generator)) for pair in test]
    lines = inject_lines(lines, "omission-word", omissions, SEED)
    return inject_lines(lines, "repetition-phrase", repetitions, SEED)


def write_texts(texts: GrammarTexts, folder: Path) -> None:
    """Write corpus and outputs as text files, one line per segment.

    The files are ``train.de`` and ``train.en``, ``test.de`` and ``test.en``, the truth
    ``test.links``, and ``careful.en``, ``repeating.en`` and ``dropping.en``.

    Raises:
        DataError: The folder has another file of one of these names, which is kept.
    """
    files: dict[str, Iterable[str]] = {
        "train.de": (" ".join(pair.source) for pair in texts.training),
        "train.en": (" ".join(pair.target) for pair in texts.training),
        "test.de": texts.sources,
        "test.en": texts.references,
        "test.links": (format_links(pair.links) for pair in texts.test),
        **{f"{name}.en": lines for name, lines in texts.outputs.items()},
    }
    contents = {folder / name: "".join(f"{x}\n" for x in lines) for name, lines in files.items()}
    for path, content in contents.items():
        if path.exists() and not (path.is_file() and path.read_bytes() == content.encode()):
            raise DataError(f"{path}: is there already, and is another file; name a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in contents.items():
        with atomic_write(path) as file:
            file.write(content)
