"""Named errors, such as copies and refusals: found where they are planted, and where none is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import pandas as pd
from corpora import Corpus, Pairs
from people import labelled_texts

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.core.batches import ONE_SYSTEM, Row, Texts
from coverage_eval.core.counting import count
from coverage_eval.core.texts import read_segments
from coverage_eval.coverage.omissions import Omissions
from coverage_eval.outputs.output_errors import (
    KINDS,
    OutputError,
    OutputErrorFinder,
    find_output_errors,
)
from tests.outputs.language_model_rows import plant

SEEDS = range(10)

ROWS = 600

CORRECT = "nothing"

REPRODUCTION = Path(__file__).parents[1] / "reproduction"

REPRODUCED = (
    ("multi30k-de-en", ("de", "en"), "test_2016_flickr"),
    ("small-enja", ("ja", "en"), "test"),
)
"""The corpora of the reproduction, its languages, and the test set of the kept outputs."""


def planted_errors(corpus: Corpus, aligner: ModelAligner) -> pd.DataFrame:
    """How many planted errors have their name, and how many outputs are rejected."""
    found = []
    for seed in SEEDS:
        rows = plant(corpus.test[:ROWS], corpus.name[-2:], seed)
        texts, sources = zip(*((row.output, row.source) for row in rows), strict=True)
        dataset = Texts.from_lists({ONE_SYSTEM: texts}, None, sources)
        result = count(dataset, {"omissions": Omissions(aligner)}, keep_texts=True)
        errors = find_output_errors(dataset, aligner)[ONE_SYSTEM]
        reasons = [item.detail["reason"] for item in result.explanations_of("omissions")]
        for number, row in enumerate(rows):
            kinds = [error.kind for error in errors.get(number, ())]
            named = row.kind in kinds if row.kind else bool(kinds)
            found.append((row.how or CORRECT, named, bool(reasons[number])))
    outputs = pd.DataFrame(found, columns=["planted", "named %", "rejected %"])
    table = outputs.groupby("planted").mean() * 100
    table.insert(0, "outputs", outputs["planted"].value_counts())
    return table.loc[[*table.index.drop(CORRECT), CORRECT]].reset_index()


def clean_text(data: Path, corpora: list[Corpus]) -> pd.DataFrame:
    """Named errors in training text and in outputs of real systems."""
    rows = []
    for name, dataset in _clean(data, corpora):
        by_system = find_output_errors(dataset)
        errors = chain.from_iterable(found.values() for found in by_system.values())
        kinds = [error.kind for error in chain.from_iterable(errors)]
        outputs = sum(len(row.hypotheses) for row in dataset.rows())
        rows.append({"text": name, "outputs": outputs, **{k: kinds.count(k) for k in KINDS}})
    return pd.DataFrame(rows)


def _clean(data: Path, corpora: list[Corpus]) -> Iterator[tuple[str, Texts]]:
    for corpus in corpora:
        for direction in (corpus, corpus.flipped()):
            sources, targets = map(list, zip(*direction.training, strict=True))
            dataset = Texts.from_lists({ONE_SYSTEM: targets}, None, sources)
            yield f"training text, {direction.name}", dataset
    if found := labelled_texts(data):
        yield "WMT23, systems and people, en-de", Texts.from_lists(found.texts, None, found.sources)
    for folder, sides, test in REPRODUCED:
        sources = [*read_segments(data / folder / f"{test}.{sides[0]}")]
        for runs in sorted(REPRODUCTION.glob(f"{folder.split('-')[0]}-{sides[0]}-{sides[1]}-*")):
            outputs = {file.name: [*read_segments(file)] for file in runs.glob("*.test.hyp.gz")}
            if all(len(text) == len(sources) for text in outputs.values()):  # not another test set
                yield f"kept outputs, {runs.name}", Texts.from_lists(outputs, None, sources)


# Text left in the source's language


def untranslated(data: Path, captions: Corpus) -> pd.DataFrame:
    """How often text that is left in the source's language is named: among others, and alone."""
    rows = []
    for name, pairs, leave in _left(data, captions):
        finder = OutputErrorFinder.learn([Row((target,), (), source) for source, target in pairs])
        left = [Row((output,), (), s) for s, t in pairs if (output := leave(s, t))]
        alone = [OutputErrorFinder.learn([row]).find_row(row) for row in left]
        rows.append({
            "text": name,
            "outputs": len(left),
            "named %": 100 * _share(map(finder.find_row, left)),
            "named alone %": 100 * _share(alone),
        })  # fmt: skip
    return pd.DataFrame(rows)


def _share(found: Iterable[Sequence[Sequence[OutputError]]]) -> float:
    """The share of outputs that are said to be untranslated, or in another language."""
    kinds = [{error.kind for error in errors} for (errors,) in found]
    return sum(not own.isdisjoint({"untranslated", "wrong-language"}) for own in kinds) / len(kinds)


Leave = Callable[[str, str], str]
"""Leaves some of a translation in the source's language; empty if it cannot."""


def _left(data: Path, captions: Corpus) -> Iterator[tuple[str, Pairs, Leave]]:
    some = captions.test
    yield "captions into English, all left", some, lambda source, _: source
    yield "captions into English, second half left", some, leave_half
    if found := labelled_texts(data):
        pairs = [pair for out in found.texts.values() for pair in zip(found.sources, out)]
        yield "WMT23 paragraphs en-de, half of the sentences left", pairs, _leave_sentences
        yield "WMT23 paragraphs en-de, one sentence left", pairs, partial(_leave_sentences, most=1)


def leave_half(source: str, target: str) -> str:
    """The first half of a translation, then the second half of its source."""
    words, of_source = target.split(), source.split()
    return " ".join(words[: len(words) // 2] + of_source[len(of_source) // 2 :])


def _leave_sentences(source: str, target: str, most: int | None = None) -> str:
    """A translation with sentences from the middle on left, if both have as many sentences."""
    sentences, of_source = (re.split(r"(?<=[.!?]) ", text) for text in (target, source))
    if len(sentences) != len(of_source) or len(sentences) < 2:
        return ""
    middle = len(sentences) // 2
    end = len(sentences) if most is None else middle + most
    return " ".join(sentences[:middle] + of_source[middle:end] + sentences[end:])
