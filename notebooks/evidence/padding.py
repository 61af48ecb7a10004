"""Padding and chance: systems that are only longer, and pairs that nobody made different.

240 comparisons of an output of the training runs (``notebooks/reproduction``) with the same one
damaged; a statement that the damaged one is better is false. 500 comparisons of two outputs between
which segments were exchanged at random; any statement is false.
"""

from __future__ import annotations

import gzip
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

import pandas as pd
from corpora import Corpus

from coverage_eval.comparison.compare import compare
from coverage_eval.comparison.table import Comparison
from coverage_eval.core.errors import CorpusWarning

RUN = Path(__file__).parents[1] / "reproduction" / "multi30k-de-en-seed1"
SYSTEMS = (
    "softmax", "softmax-coverage", "sparsemax", "sparsemax-coverage",
    "constrained_softmax-predicted-c0.2", "constrained_sparsemax-predicted-c0.2",
)  # fmt: skip
SEGMENTS = 300
RESAMPLES = 500
NULLS = 500

DAMAGES: Mapping[str, Callable[[list[str]], list[str]]] = {
    "a word at the end": lambda words: [*words, "xyzzy"],
    "three words at the end": lambda words: [*words, "of", "the", "day"],
    "a word at the beginning": lambda words: ["well", *words],
    "the last word again": lambda words: [*words, *words[-1:]],
    "words in pairs exchanged": lambda words: [
        w for n in range(0, len(words), 2) for w in words[n : n + 2][::-1]
    ],
    "the last third left out": lambda words: words[: len(words) - len(words) // 3],
}
"""Ways to damage the words of an output."""

COLUMNS = (["bleu"], ["chrf"], ["bleu", "rep"], ["bleu", "chrf"], ["bleu", "chrf", "rep"])


def padding_tables(corpus: Corpus) -> dict[str, pd.DataFrame]:
    """False statements by damage, and among pairs that chance alone made; the captions' corpus."""
    references = [target for _, target in corpus.test[:SEGMENTS]]
    whole = {name: _read(name)[: len(references)] for name in SYSTEMS}
    # Two are short, so that any word at an end makes them better by BLEU.
    systems = {
        **whole,
        **{
            f"{name}, without a sixth": [
                " ".join(w for n, w in enumerate(text.split()) if n % 6 != 3)
                for text in whole[name]
            ]
            for name in SYSTEMS[:2]
        },
    }
    if corpus.is_trial:
        systems = {name: whole[name] for name in SYSTEMS[:1]}
    damaged = pd.DataFrame(_damaged(systems, references))
    chance = pd.DataFrame(_by_chance(whole, references, 20 if corpus.is_trial else NULLS))
    summary = pd.concat([
        damaged.groupby("damage", sort=False)[["takes the damaged one", "prefers it"]]
        .agg(["size", "sum"]).pipe(_flat),
        pd.DataFrame([{
            "damage": "none: segments exchanged at random", "comparisons": len(chance),
            "any claim": chance["any claim"].sum(),
        }]),
    ])  # fmt: skip
    return {"padding": summary}


def _flat(table: pd.DataFrame) -> pd.DataFrame:
    found = pd.DataFrame({
        "comparisons": table["prefers it", "size"],
        "takes the damaged one": table["takes the damaged one", "sum"],
        "prefers it": table["prefers it", "sum"],
    })  # fmt: skip
    return found.reset_index()


def _read(name: str) -> list[str]:
    with gzip.open(RUN / f"{name}.test.hyp.gz", "rt", encoding="utf-8") as file:
        return file.read().splitlines()[:SEGMENTS]


def _damaged(
    systems: Mapping[str, Sequence[str]], references: Sequence[str]
) -> Iterator[dict[str, object]]:
    for name, outputs in systems.items():
        for damage, change in DAMAGES.items():
            changed = [" ".join(change(text.split())) for text in outputs]
            for metrics in COLUMNS:
                found = _compare({"own": outputs, "damaged": changed}, references, metrics)
                won = [item for item in found.statements.statements if "damaged" in item.better]
                is_quality = any(
                    not found.metrics[item.metric].presentation.more_errors for item in won
                )
                yield {
                    "system": name,
                    "damage": damage,
                    "takes the damaged one": int(is_quality),
                    "prefers it": int(bool(won)),
                }


def _by_chance(
    systems: Mapping[str, Sequence[str]], references: Sequence[str], pairs_of_systems: int
) -> Iterator[dict[str, object]]:
    for seed in range(pairs_of_systems):
        generator = Random(seed)  # noqa: S311 (not for secrets)
        first, second = generator.sample(sorted(systems), 2)
        pairs = [
            generator.sample(pair, 2) for pair in zip(systems[first], systems[second], strict=True)
        ]
        a, b = (list(side) for side in zip(*pairs, strict=True))
        found = _compare({"a": a, "b": b}, references, generator.choice(COLUMNS))
        yield {"any claim": int(bool(found.statements.statements))}


def _compare(
    systems: Mapping[str, Sequence[str]], references: Sequence[str], metrics: list[str]
) -> Comparison:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)
        return compare(systems, references, metrics=metrics, resamples=RESAMPLES)
