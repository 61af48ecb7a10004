"""The effect of DROP's settings: symmetrisation, pruning, denominator, units, training text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from corpora import Corpus, Pairs, sampled, train
from scores import FullTables, Spoilt, by, drop_scores, omission_scores

from coverage_eval.alignment.aligner import ModelAligner
from coverage_eval.alignment.gold_links import Gold
from coverage_eval.metrics.aer import F1
from coverage_eval.metrics.drop import DENOMINATORS, DROP
from coverage_eval.tables.table import Table
from fast_align_wrapper import FastAlign
from fast_align_wrapper.links import SYMMETRIZATIONS

SIZES = (1_000, 3_000, 10_000)

UNITS: Mapping[str, Callable[[str], str]] = {
    "words": str,
    "first 5 letters": lambda text: " ".join(word[:5] for word in text.split()),
    "first 4 letters": lambda text: " ".join(word[:4] for word in text.split()),
    "characters": lambda text: " ".join(text.replace(" ", "▁")),
}


def links(corpus: Corpus, aligner: ModelAligner, spoilt: Spoilt) -> Table:
    """AUROC of DROP by symmetrisation, pruning and denominator."""
    full = ModelAligner(FullTables(aligner.model))  # type: ignore[arg-type]
    forms = {
        f"{tables}, of {denominator} words": (model, denominator)
        for tables, model in (("pruned", aligner), ("full tables", full))
        for denominator in DENOMINATORS
    }
    found = []
    for symmetrize in SYMMETRIZATIONS:
        scorers = {
            name: DROP(by(model, symmetrize), denominator=denominator)
            for name, (model, denominator) in forms.items()
        }
        found.append((symmetrize, *spoilt.areas(scorers).values()))
    title = f"Links and denominator: AUROC of DROP for phrases left out, {corpus.name}"
    return Table((corpus.name, *forms), tuple(found), title)


def units(corpus: Corpus, spoilt: Spoilt) -> Table:
    """AUROC of omission scores by the aligner's units."""
    found = []
    for name, cut in UNITS.items():
        pairs = [(cut(source), cut(target)) for source, target in corpus.training]
        aligner = train(pairs, for_omissions=False)
        areas = spoilt.seen_as(cut).areas(drop_scores(aligner))
        found.append((name, *areas.values()))
    title = f"Units of the aligner: AUROC for phrases left out, {corpus.name}"
    return Table((corpus.name, *areas), tuple(found), title)


def _samples(corpus: Corpus) -> dict[int, Pairs]:
    """Number → that many training pairs. A sample contains the smaller ones; the last has all."""
    shuffled = sampled(corpus.training, len(corpus.training))
    sizes = [*(size for size in SIZES if size < len(shuffled)), len(shuffled)]
    return {size: shuffled[:size] for size in sizes}


def training_size(corpus: Corpus, spoilt: Spoilt) -> Table:
    """AUROC of omission scores by the number of training pairs."""
    samples = _samples(corpus)
    found = {size: spoilt.areas(omission_scores(train(pairs))) for size, pairs in samples.items()}
    title = f"Training pairs: AUROC for phrases left out, {corpus.name}"
    rows = tuple((f"{size:,}", *areas.values()) for size, areas in found.items())
    first, *_ = found.values()
    return Table((corpus.name, *first), rows, title)


def link_agreement(corpus: Corpus) -> Table:
    """F1 of the references' links, compared with the links by a model of all training pairs."""
    models = {n: train(pairs, for_omissions=False).model for n, pairs in _samples(corpus).items()}
    *_, whole = models.values()
    gold = {
        method: [Gold(links, links) for links in whole.align(corpus.test, method)]
        for method in SYMMETRIZATIONS
    }

    def agreement(model: FastAlign, method: str) -> float:
        counts = F1.count(zip(model.align(corpus.test, method), gold[method], strict=True))
        return float(F1().formula(counts.sum(axis=0))) / 100

    rows = tuple(
        (f"{size:,}", *(agreement(model, method) for method in SYMMETRIZATIONS))
        for size, model in models.items()
    )
    title = f"Training pairs: agreement with the links of all pairs (F1), {corpus.name}"
    return Table((corpus.name, *SYMMETRIZATIONS), rows, title)


def without_training_text(corpus: Corpus, spoilt: Spoilt, others: Sequence[Sequence[str]]) -> Table:
    """AUROC with models that were trained on the test set itself.

    Args:
        corpus: The corpus.
        spoilt: The judged output.
        others: Further outputs of the test set.
    """
    test = corpus.test[: len(spoilt.rows)]
    judged = [str(row.hypotheses[0]) for row in spoilt.rows]
    outputs = [
        (source, line)
        for lines in (judged, *others)
        for (source, _), line in zip(test, lines, strict=False)  # some outputs have more lines
    ]
    texts: Mapping[str, Pairs] = {
        "training text": corpus.training,
        "the same, and references": corpus.training + test,
        "the same, references and outputs": corpus.training + test + outputs,
        "references and four outputs alone": test + outputs,
        "references and the output alone": test + outputs[: len(test)],
    }
    found = {name: spoilt.areas(omission_scores(train(pairs))) for name, pairs in texts.items()}
    rows = tuple(
        (f"{name} ({len(texts[name]):,} pairs)", *areas.values()) for name, areas in found.items()
    )
    title = f"Trained on the test set: AUROC for phrases left out, {corpus.name}"
    return Table((corpus.name, *next(iter(found.values()))), rows, title)
