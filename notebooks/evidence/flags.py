"""Flags and probabilities of omissions: p-values of complete text, and people's labels."""

from __future__ import annotations

import csv
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from corpora import Corpus, Pairs, train
from numpy.typing import NDArray
from scipy.stats import kendalltau

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.checks.model import unknown_words_of
from coverage_eval.core.batches import Row, Texts
from coverage_eval.core.counting import count
from coverage_eval.core.report import SIGNIFICANT
from coverage_eval.core.result import Result
from coverage_eval.coverage.found_segments import FoundSegment
from coverage_eval.coverage.omission_finder import (
    FLAG_MARGIN,
    FLAG_PROBABILITY,
    OmissionFinder,
    sample_of,
)
from coverage_eval.coverage.omissions import FittedFlags, Omissions

ASKED = (0.01, 0.03, 0.1)
"""P-values below which so many complete texts are asked for."""

JOINED = ((1, 1), (2, 3), (4, 8), (9, 20))
"""The smallest and the largest number of segments that are joined to a text."""

TEXTS = 600
"""Texts of each length; fewer if the test set has fewer segments."""

LEFT_OUT = 4
"""Words that are left out in a row."""

LABELLED = "wmt23-en-de"

MODELS = (("tokenised (13a)", "13a"), ("as they are", "none"))
"""Models of the same captions, which are in lower case: name and tokeniser. The first one is that
of the other tables."""

RESAMPLES = 1000

Flags = NDArray[np.bool_]


def false_alarms(corpus: Corpus, aligner: ModelAligner) -> pd.DataFrame:
    """Rare runs in test segments, singly and joined, and planted omissions that are flagged."""
    rows: list[dict[str, Any]] = []
    for side, what in (("source", "omissions"), ("target", "additions")):
        for smallest, largest in JOINED:
            texts = _joined(corpus.test, smallest, largest)
            finder = OmissionFinder(aligner, side).adapt_to_sample(sample_of(texts))
            found = list(finder.find(texts))
            row = {
                "flags": what,
                "segments joined": str(smallest)
                if smallest == largest
                else f"{smallest} to {largest}",
                "words": round(np.mean([len(segment.losses) for segment in found])),
            }
            for rate in ASKED:
                share = np.mean([segment.p_value <= rate for segment in found])
                row[f"{100 * rate:g}% asked, flagged %"] = 100 * share
            row["flagged %"] = 100 * np.mean([segment.is_flagged for segment in found])
            if side == "source":
                spoilt = finder.find(map(_spoil, texts))
                share = np.mean([segment.is_flagged for segment in spoilt])
                row[f"{LEFT_OUT} words left out, flagged %"] = 100 * share
            rows.append(row)
    return pd.DataFrame(rows)


def _joined(pairs: Pairs, smallest: int, largest: int) -> list[Row]:
    generator = Random(f"{smallest} {largest}")  # noqa: S311 (not for secrets)
    found = []
    for _ in range(min(TEXTS, len(pairs))):
        several = generator.sample(pairs, generator.randint(smallest, largest))
        source, target = (" ".join(side) for side in zip(*several, strict=True))
        found.append(Row((target,), (), source))
    return found


def _spoil(row: Row) -> Row:
    words = str(row.hypotheses[0]).split()
    generator = Random(" ".join(words))  # noqa: S311 (not for secrets)
    start = generator.randrange(max(1, len(words) - LEFT_OUT))
    return row._replace(hypotheses=(" ".join(words[:start] + words[start + LEFT_OUT :]),))


class Labelled(NamedTuple):
    """Outputs by system, sources, and which have a marked omission, ``[systems, segments]``."""

    texts: dict[str, list[str]]
    sources: list[str]
    labels: Flags


def labelled_texts(data: Path) -> Labelled | None:
    """The half of WMT23 en-de with people's labels; None without these texts."""
    file = data / LABELLED / "outputs.tsv"
    if not file.is_file():
        return None
    read = pd.read_csv(file, sep="\t", quoting=csv.QUOTE_NONE, keep_default_na=False)
    systems = read.set_index(["system", "segment"]).sort_index().unstack()
    return Labelled(
        {name: list(row) for name, row in systems["output"].iterrows()},
        list(systems["source"].iloc[0]),
        systems["omissions"].to_numpy() > 0,
    )


def labelled_tables(data: Path, captions: Corpus) -> dict[str, pd.DataFrame]:
    """Flags and probabilities against people's labels; no tables without these texts."""
    found = labelled_texts(data)
    if found is None:
        return {}
    by_system: list[dict[str, Any]] = []
    by_model: list[dict[str, Any]] = []
    tables: dict[str, pd.DataFrame] = {}
    for name, tokenize in MODELS:
        training = captions.flipped().training
        with train(training, tokenize=tokenize) as aligner:
            for peers, label in ((0, "no peers"), (None, "the other systems compared")):
                dataset = Texts.from_lists(found.texts, None, found.sources)
                metrics = {"o": Omissions(aligner, peers=peers)}
                measured = count(dataset, metrics, keep_texts=True)
                flags = np.array([[output.is_flagged for output in row]
                                  for row in _outputs(measured)]).T  # fmt: skip
                figures = measured.statistics["o"][:, :, 0]
                unknown = unknown_words_of(dataset.sample, aligner)
                by_model.append({
                    "the model's words": name,
                    "peers": label,
                    "unknown words %": 100 * unknown["unknown_target_tokens"],
                    **_shares(flags, found.labels),
                    **_kendall(figures, found.labels),
                    "pairs of systems ranked rightly %": _ranked_rightly(figures, found.labels),
                })  # fmt: skip
                if name != MODELS[0][0]:
                    continue
                others = np.arange(len(flags)) != found.labels.mean(axis=1).argmax()
                by_system += [
                    {
                        "peers": label,
                        "output": system,
                        **_shares(*own),
                        "figure": 100 * shares.mean(),
                    }
                    for system, shares, *own in [
                        *zip(found.texts, figures, flags, found.labels, strict=True),
                        (
                            "all but the one with most labels",
                            figures[others],
                            flags[others],
                            found.labels[others],
                        ),
                        ("all", figures, flags, found.labels),
                    ]
                ]
                if peers is None:
                    tables["people_by_factor"] = _by_factor(measured, found)
                else:
                    tables["people_by_probability"] = _by_probability(measured, found.labels)
    return {
        "people_by_system": pd.DataFrame(by_system),
        "people_by_model": pd.DataFrame(by_model).drop(columns="labelled %"),
        **tables,
    }


FACTORS = (1.1, 1.3, 1.4, 1.5, 1.6, 1.8)
"""Factors of the median that are compared."""


def _by_factor(measured: Result, found: Labelled) -> pd.DataFrame:
    """What the factor of the others' median does, alone and with that of a single output."""
    outputs = _outputs(measured)
    level = np.array([[output.score_alone for output in row] for row in outputs]).T
    expected = np.array([[output.peer_median or np.nan for output in row] for row in outputs]).T
    probable = np.array([[output.probability for output in row] for row in outputs]).T
    human = list(found.texts).index("refA")
    rows = []
    for factor in FACTORS:
        above = level > factor * expected + FLAG_MARGIN
        is_probable = probable >= FLAG_PROBABILITY
        for condition, flags in (("and probable alone", above & is_probable), ("none", above)):
            rows.append({
                "factor of the median": factor,
                "condition": condition,
                **_shares(flags, found.labels),
                "of the human translation, flagged %": 100 * flags[human].mean(),
                **_kendall(flags, found.labels),
            })  # fmt: skip
    return pd.DataFrame(rows).drop(columns="labelled %")


def _by_probability(measured: Result, labels: Flags) -> pd.DataFrame:
    """How often outputs with such a probability have a marked omission."""
    explained = measured.explanations("o")
    probable = pd.Series([
        row[system].probability or 0.0 for system in range(len(labels)) for row in explained
    ])  # fmt: skip
    tenths = (probable * 10).astype(int).clip(upper=9)
    own = pd.DataFrame({"probable": 100 * probable, "labelled": 100 * labels.ravel()})
    found = own.groupby(tenths).mean().reindex(range(10))
    return pd.DataFrame({
        "probability": [f"{n / 10:.1f} to {(n + 1) / 10:.1f}" for n in found.index],
        "outputs": tenths.value_counts().reindex(found.index, fill_value=0),
        "mean probability %": found["probable"],
        "labelled %": found["labelled"],
    })  # fmt: skip


def _outputs(measured: Result) -> list[tuple[FoundSegment, ...]]:
    """What was found in each segment, by system."""
    fitted = measured.fitted["o"]
    assert isinstance(fitted, FittedFlags)
    return [row for batch in measured.kept for row in fitted.finder.found_segments(batch)]


def _ranked_rightly(figures: NDArray[Any], labels: Flags) -> float:
    """The percentage of pairs with significantly different labels that figures rank alike."""
    generator, rightly = np.random.default_rng(0), []
    for one, other in combinations(range(len(labels)), 2):
        differences = labels[one].astype(float) - labels[other]
        signs = generator.choice([-1, 1], (RESAMPLES, len(differences)))
        swapped = np.abs((signs * differences).mean(axis=1))
        if (swapped >= abs(differences.mean()) - 1e-12).mean() < SIGNIFICANT:
            gain = figures[one].mean() - figures[other].mean()
            rightly.append(gain * differences.mean() > 0)
    return float(100 * np.mean(rightly))


def _kendall(flags: NDArray[Any], labels: Flags) -> dict[str, float]:
    """Kendall's tau of both shares over the systems, and its interval by resampled segments."""

    def tau(chosen: NDArray[np.int_]) -> float:
        shares = (each[:, chosen].mean(axis=1) for each in (flags, labels))
        return float(kendalltau(*shares).statistic)

    size = flags.shape[1]
    resamples = np.random.default_rng(0).integers(0, size, (RESAMPLES, size))
    low, high = np.nanpercentile([tau(chosen) for chosen in resamples], [2.5, 97.5])
    name = "Kendall's tau"
    return {name: tau(np.arange(size)), f"{name}, low": low, f"{name}, high": high}


def _shares(flags: Flags, labels: Flags) -> dict[str, float]:
    """Shares in percent; NaN of nothing."""
    flagged, labelled = (pd.Series(each.ravel()) for each in (flags, labels))
    return {
        "labelled %": 100 * labelled.mean(),
        "flagged %": 100 * flagged.mean(),
        "of the flagged, labelled %": 100 * labelled[flagged].mean(),
        "of the labelled, flagged %": 100 * flagged[labelled].mean(),
    }
