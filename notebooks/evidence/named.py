"""Named errors, such as copies and refusals: found where they are planted, and where none is."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from corpora import Corpus
from flags import labelled_texts

from coverage_eval.alignment.aligner import ModelAligner
from coverage_eval.data.dataset import ONE_SYSTEM, Dataset
from coverage_eval.metrics.measure import measure
from coverage_eval.metrics.named_errors import KINDS
from coverage_eval.metrics.named_findings import find_named
from coverage_eval.metrics.omissions import Omissions
from coverage_eval.tables.table import Cell, Table

# The tests plant the same errors.
sys.path.append(str(Path(__file__).parents[2]))
from tests.metrics.language_model_rows import plant

SEEDS = range(10)

ROWS = 600

CORRECT = "nothing"


def planted_errors(corpus: Corpus, aligner: ModelAligner) -> Table:
    """How many planted errors have their name, or are rejected with flags of omissions, too."""
    pairs = corpus.test[:ROWS]
    planted, named, rejected = Counter[str](), Counter[str](), Counter[str]()
    for seed in SEEDS:
        rows = plant(pairs, corpus.name[-2:], seed)
        outputs, sources = [row.output for row in rows], [row.source for row in rows]
        dataset = Dataset.of_lists({ONE_SYSTEM: outputs}, None, sources)
        errors = find_named(dataset, aligner)[ONE_SYSTEM]
        flagged = measure(dataset, {"o": Omissions(aligner)}).statistics_of("o")[:, 0]
        for number, row in enumerate(rows):
            own = [error.kind for error in errors.get(number, ())]
            what = row.how or CORRECT
            planted[what] += 1
            named[what] += row.kind in own if row.kind else bool(own)
            rejected[what] += bool(own or flagged[number])
    listed = [*sorted(planted.keys() - {CORRECT}), CORRECT]
    return Table(
        ("planted", "outputs", "named %", "rejected %"),
        tuple(
            (
                what,
                planted[what],
                *(100 * found[what] / planted[what] for found in (named, rejected)),
            )
            for what in listed
        ),
        f"Named errors in {len(pairs)} outputs, planted ten times, {corpus.name}",
        notes=(
            "The references of the test set as outputs. named: an error of the planted kind is "
            "named; with nothing planted, any. rejected: something is named, or an omission is "
            "flagged at 4%.",
        ),
    )


def clean_text(data: Path, corpora: list[Corpus]) -> Table:
    """Named errors in training text and in outputs of real systems."""
    rows = []
    for name, dataset in _clean(data, corpora):
        found = find_named(dataset)
        counts = Counter(
            error.kind for own in found.values() for errors in own.values() for error in errors
        )
        outputs = sum(len(row.hypotheses) for row in dataset.rows())
        cells: list[Cell] = [counts[kind] for kind in KINDS]
        rows.append((name, outputs, *cells))
    return Table(
        ("text", "outputs", *KINDS),
        tuple(rows),
        "Named errors where none was planted",
        notes=("Found without a model's vocabulary. The outputs of WMT23 do have some errors.",),
    )


def _clean(data: Path, corpora: list[Corpus]) -> Iterator[tuple[str, Dataset]]:
    for corpus in corpora:
        for one in (corpus, corpus.flipped()):
            sources, targets = map(list, zip(*one.training, strict=True))
            yield (
                f"training text, {one.name}",
                Dataset.of_lists({ONE_SYSTEM: targets}, None, sources),
            )
    if found := labelled_texts(data):
        yield "WMT23, systems and people, en-de", Dataset.of_lists(found.texts, None, found.sources)
