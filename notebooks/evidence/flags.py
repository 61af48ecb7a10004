"""False alarms of flags in complete text, and lines of another length than in training."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pandas as pd
from corpora import Corpus, Pairs, train

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.core.batches import Row
from coverage_eval.coverage.null_scores import estimate_share
from coverage_eval.coverage.omission_finder import OmissionFinder, sample_of

ASKED = (0.01, 0.03, 0.1)
"""P-values below which so many complete texts are asked for."""

JOINED = ((1, 1), (2, 3), (4, 8), (9, 20))
"""The smallest and the largest number of segments that are joined to a text."""

TEXTS = 600
"""Texts of each length; fewer if the test set has fewer segments."""

LEFT_OUT = 4
"""Words that are left out in a row."""

LINES_SCORED, TRAINED = 500, 9000
"""Lines of each length that are scored, and pairs at the beginning of a training text."""


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
                "words": round(np.mean([len(segment.words) for segment in found])),
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


LINES = (1, 2, 3)
"""Sentences of a line."""


def line_lengths(name: str, training: Pairs, test: Pairs) -> pd.DataFrame:
    """Models of lines of one to three sentences, and complete lines of one to three."""
    rows: list[dict[str, Any]] = []
    for trained in LINES:
        with train(_lines(training[:TRAINED], trained)) as aligner:
            for scored in LINES:
                pairs = _lines(test, scored)[:LINES_SCORED]
                finder = OmissionFinder(aligner).adapt_to(pairs)
                found = list(finder.check(pairs))
                probabilities = np.array([one.probability for one in found])
                certain = np.array([one.is_certain for one in found])
                share = estimate_share(probabilities, certain, finder.nulls[0], 0.02)
                rows.append({
                    "text": name,
                    "trained on lines of": trained,
                    "scored lines of": scored,
                    "mean probability %": 100 * probabilities.mean(),
                    "flagged %": 100 * np.mean([one.is_flagged for one in found]),
                    "estimate %": 100 * share.estimate,
                })  # fmt: skip
    return pd.DataFrame(rows)


def _lines(pairs: Pairs, size: int) -> Pairs:
    starts = range(0, len(pairs) - size + 1, size)
    joined = (zip(*pairs[start : start + size], strict=True) for start in starts)
    return [(" ".join(source), " ".join(target)) for source, target in joined]
