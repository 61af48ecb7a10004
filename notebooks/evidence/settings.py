"""The effect of DROP's settings: symmetrisation, denominator, units, training text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
from areas import Found
from corpora import Corpus, Pairs, sampled, train
from scores import Spoilt, by, drop_scores, omission_scores

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.align.gold import F1, Gold
from coverage_eval.coverage.drop import DENOMINATORS, DROP
from fast_align_wrapper import FastAlign
from fast_align_wrapper.links import SYMMETRIZATIONS

SIZES = (1_000, 3_000, 10_000)

UNITS: Mapping[str, Callable[[str], str]] = {
    "words": str,
    "first 5 letters": lambda text: " ".join(word[:5] for word in text.split()),
    "first 4 letters": lambda text: " ".join(word[:4] for word in text.split()),
    "characters": lambda text: " ".join(text.replace(" ", "▁")),
}


def links(aligner: ModelAligner, spoilt: Spoilt) -> Found:
    """AUROC of DROP by symmetrisation and denominator."""
    return {
        symmetrize: spoilt.areas({
            f"of {name} words": DROP(by(aligner, symmetrize), denominator=name)
            for name in DENOMINATORS
        })
        for symmetrize in SYMMETRIZATIONS
    }  # fmt: skip


def units(corpus: Corpus, spoilt: Spoilt) -> Found:
    """AUROC of omission scores by the aligner's units."""
    found = {}
    for name, split in UNITS.items():
        pairs = [(split(source), split(target)) for source, target in corpus.training]
        aligner = train(pairs, for_omissions=False)
        found[name] = spoilt.seen_as(split).areas(drop_scores(aligner))
    return found


def _samples(corpus: Corpus) -> dict[int, Pairs]:
    """Number → that many training pairs. A sample contains the smaller ones; the last has all."""
    shuffled = sampled(corpus.training, len(corpus.training))
    sizes = [*(size for size in SIZES if size < len(shuffled)), len(shuffled)]
    return {size: shuffled[:size] for size in sizes}


def training_size(corpus: Corpus, spoilt: Spoilt) -> Found:
    """AUROC of omission scores by the number of training pairs, all of them at last."""
    return {
        f"{size:,}": spoilt.areas(omission_scores(train(pairs)))
        for size, pairs in _samples(corpus).items()
    }


def link_agreement(corpus: Corpus) -> pd.DataFrame:
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

    return pd.DataFrame([
        {"case": f"{size:,}"} | {method: agreement(model, method) for method in SYMMETRIZATIONS}
        for size, model in models.items()
    ])  # fmt: skip


def without_training_text(corpus: Corpus, spoilt: Spoilt, others: Sequence[Sequence[str]]) -> Found:
    """AUROC with models that were trained on the test set itself; at first, with the usual one.

    Args:
        corpus: The corpus.
        spoilt: The judged output.
        others: Further outputs of the test set.
    """
    test = corpus.test[: len(spoilt.rows)]
    outputs = [str(row.hypotheses[0]) for row in spoilt.rows]
    outputs = [
        (source, line)
        for lines in (outputs, *others)
        for (source, _), line in zip(test, lines, strict=False)  # some outputs have more lines
    ]
    texts: Mapping[str, Pairs] = {
        "training text": corpus.training,
        "the same, and references": corpus.training + test,
        "the same, references and outputs": corpus.training + test + outputs,
        "references and four outputs alone": test + outputs,
        "references and the output alone": test + outputs[: len(test)],
    }
    return {
        f"{name} ({len(pairs):,} pairs)": spoilt.areas(omission_scores(train(pairs)))
        for name, pairs in texts.items()
    }
