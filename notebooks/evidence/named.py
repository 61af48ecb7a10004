"""Named errors, such as copies and refusals: found where they are planted, and where none is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pandas as pd
from corpora import Corpus
from flags import labelled_texts

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.core.batches import ONE_SYSTEM, Texts
from coverage_eval.core.evaluation import Evaluation
from coverage_eval.coverage.omissions import Omissions
from coverage_eval.outputs.named import KINDS, NamedErrors
from tests.outputs.language_model_rows import plant

SEEDS = range(10)

ROWS = 600

CORRECT = "nothing"


def planted_errors(corpus: Corpus, aligner: ModelAligner) -> pd.DataFrame:
    """How many planted errors have their name, or are rejected with flags of omissions, too."""
    found = []
    for seed in SEEDS:
        rows = plant(corpus.test[:ROWS], corpus.name[-2:], seed)
        texts, sources = zip(*((row.output, row.source) for row in rows), strict=True)
        dataset = Texts.from_lists({ONE_SYSTEM: texts}, None, sources)
        result = Evaluation(dataset, {"omissions": Omissions(aligner)}).run()
        named = result.of(NamedErrors)
        assert named is not None
        errors = named.by_system[ONE_SYSTEM]
        flagged = result.statistics_of("omissions")[:, 0]
        for number, row in enumerate(rows):
            kinds = [error.kind for error in errors.get(number, ())]
            named = row.kind in kinds if row.kind else bool(kinds)
            found.append((row.how or CORRECT, named, bool(kinds or flagged[number])))
    outputs = pd.DataFrame(found, columns=["planted", "named %", "rejected %"])
    table = outputs.groupby("planted").mean() * 100
    table.insert(0, "outputs", outputs["planted"].value_counts())
    return table.loc[[*table.index.drop(CORRECT), CORRECT]].reset_index()


def clean_text(data: Path, corpora: list[Corpus]) -> pd.DataFrame:
    """Named errors in training text and in outputs of real systems."""
    rows = []
    for name, dataset in _clean(data, corpora):
        named = NamedErrors()
        Evaluation(dataset, {}, [named]).run()
        errors = chain.from_iterable(found.values() for found in named.by_system.values())
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
