"""Which formula the omission finder should use: each part of its score, and tuning.

The variants include the formulas that did best on labels by people in a sketch. Errors here are
injected, so a variant that wins by little here need not win on labels by people. Among close
variants, we keep the simplest one that did well on labels by people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd
from areas import Areas, area, with_interval
from corpora import Corpus, FreeTranslator, Translator
from coverages import KINDS, UNITS, Bed, make_bed
from numpy.typing import NDArray

from coverage_eval.align.aligner import ModelAligner

Floats = NDArray[np.float64]

BOTH = tuple(UNITS)


@dataclass(frozen=True)
class Variant:
    """A segment's score: the best run of losses minus a penalty, plus a share of their sum.

    Attributes:
        units: Units; losses are averaged over them.
        way: How coverage is measured.
        expected: ``reference``, ``normal``, ``blend`` (two thirds and one third), or a number.
        spread: Losses are divided by the words' spread plus this; None for no division.
        link: Losses are divided by the words' best link with the reference plus this; likewise.
        rarity: Share of the words' rarity in their weights.
        smoothing: Strength of the smoothing of normal coverages.
        penalty: Subtracted from each loss in the run.
        run: Weight of the best run.
        share: Weight of the sum.
        divided: Divisor of the score: ``1``, ``words``, ``√words`` or ``expected``.
    """

    units: tuple[str, ...] = BOTH
    way: str = "sum"
    expected: str = "reference"
    spread: float | None = None
    link: float | None = None
    rarity: float = 0.0
    smoothing: float = 1.0
    penalty: float = 0.1
    run: float = 1.0
    share: float = 0.25
    divided: str = "1"

    def losses(self, bed: Bed, kind: int) -> Floats:
        """``[segments, words]``; 0 at padding."""
        together = [self._unit_losses(bed, unit, kind) for unit in self.units]
        return np.mean(together, axis=0)

    def _unit_losses(self, bed: Bed, name: str, kind: int) -> Floats:
        unit = bed.units[name]
        covered = unit.covered[self.way]
        mean, spread = unit.normal[self.way, self.smoothing]
        if self.expected in {"reference", "blend"}:
            share = 1 / 3 if self.expected == "blend" else 0.0
            expected: Floats | float = (1 - share) * covered[0] + share * mean
        else:
            expected = mean if self.expected == "normal" else float(self.expected)
        losses = expected - covered[1 + kind]
        if self.spread is not None:
            losses = losses / (spread + self.spread)
        if self.link is not None:
            losses = losses / (unit.covered["best link"][0] + self.link)
        losses = losses * (1 - self.rarity + self.rarity * unit.rarity)
        return np.where(unit.inside, losses, 0.0)

    def scores(self, bed: Bed, kind: int) -> Floats:
        """``[segments]``."""
        losses = self.losses(bed, kind)
        inside = bed.units[self.units[0]].inside
        sums = np.cumsum(np.where(inside, losses - self.penalty, 0.0), axis=1)
        sums = np.concatenate([np.zeros((len(sums), 1)), sums], axis=1)
        best = (sums - np.minimum.accumulate(sums, axis=1)).max(axis=1)
        score = self.run * best + self.share * np.maximum(0.0, losses).sum(axis=1)
        words = np.maximum(1, inside.sum(axis=1))
        if self.divided == "expected":
            found = np.where(inside, bed.units[self.units[0]].covered[self.way][0], 0.0)
            return score / np.maximum(0.1, found.sum(axis=1))
        return score / {"1": 1.0, "words": words, "√words": np.sqrt(words)}[self.divided]

    def mean_area(self, bed: Bed) -> Areas:
        """Mean AUROC over the kinds of errors."""
        areas = [area(bed.labels[kind], self.scores(bed, kind)) for kind in range(len(KINDS))]
        return np.array(np.nanmean(areas, axis=0))


KEPT = Variant()
"""The finder's score with a reference."""

KEPT_WITHOUT = Variant(expected="normal", spread=0.3, penalty=0.3)
"""The finder's score without a reference."""

_STEMS = ("stems of 5",)

WITH_REFERENCE: Mapping[str, Variant] = {
    "kept: best run (0.1) + ¼ sum, words and stems": KEPT,
    "sketch: soft DROP": Variant(("words",), run=0, share=1, divided="expected"),
    "sketch: sum": Variant(("words",), run=0, share=1),
    "sketch: best run (0.1)": Variant(("words",), share=0),
    "sketch: best run (0.15) + ½ sum": Variant(("words",), penalty=0.15, share=0.5),
    "sketch: best run (0.1), stems": Variant(_STEMS, share=0),
    "expected: ⅓ normal, ⅔ reference": replace(KEPT, expected="blend"),
    "any link, by the best link + ½": replace(KEPT, way="any link", link=0.5),
}
WITHOUT_REFERENCE: Mapping[str, Variant] = {
    "kept: best run (0.3) + ¼ sum, in spreads": KEPT_WITHOUT,
    "sketch: mean of 1 − c": Variant(("words",), expected="1", run=0, share=1, divided="words"),
    "sketch: best run (1 − c − 0.6)": Variant(("words",), expected="1", penalty=0.6, share=0),
    "sketch: best run (μ − c − 0.1)": Variant(("words",), expected="normal", share=0),
    "sketch: the same on stems": Variant(_STEMS, expected="normal", share=0),
    "not in spreads, ¼ sum, penalty 0.1": replace(KEPT_WITHOUT, spread=None, penalty=0.1),
    "not in spreads, ¼ sum, penalty 0.3": replace(KEPT_WITHOUT, spread=None, penalty=0.3),
    "in spreads + 0.1": replace(KEPT_WITHOUT, spread=0.1),
    "in spreads + 1, penalty 0.2": replace(KEPT_WITHOUT, spread=1.0, penalty=0.2),
    "normal coverage smoothed by 5": replace(KEPT_WITHOUT, smoothing=5.0),
}


def _changes(kept: Variant, penalties: Sequence[float]) -> Mapping[str, Variant]:
    """The kept variant with one setting changed at a time."""
    return {
        **{f"penalty {p:g}": replace(kept, penalty=p) for p in penalties},
        **{f"sum times {s:g}": replace(kept, share=s) for s in (0.0, 0.5, 1.0)},
        **{f"divided by {d}": replace(kept, divided=d) for d in ("words", "√words")},
        "weights by rarity, half": replace(kept, rarity=0.5),
        **{f"coverage: {way}": replace(kept, way=way) for way in (
            "any link", "best link", "mean of sum and best", "sum of links from 0.1",
            "reverse", "mean of forward and reverse", "forward and reverse agree")},
        **{f"unit: {unit}": replace(kept, units=(unit,)) for unit in BOTH},
    }  # fmt: skip


GROUPS = {
    "with reference": (KEPT, {**WITH_REFERENCE, **_changes(KEPT, (0.0, 0.2, 0.3))}),
    "without reference": (
        KEPT_WITHOUT,
        {**WITHOUT_REFERENCE, **_changes(KEPT_WITHOUT, (0.1, 0.2, 0.4, 0.6))},
    ),
}

GRIDS: Mapping[str, Sequence[Variant]] = {
    "with reference": [
        Variant(units, way, expected, penalty=penalty, share=share)
        for units, way, expected, penalty, share in product(
            (BOTH, ("words",), _STEMS), ("sum", "mean of sum and best"), ("reference", "blend"),
            (0.0, 0.1, 0.2), (0.0, 0.25, 1.0),
        )
    ],
    "without reference": [
        Variant(units, way, "normal", spread, penalty=penalty, share=share)
        for units, way, spread, penalty, share in product(
            (BOTH, ("words",), _STEMS), ("sum", "best link", "forward and reverse agree"),
            (None, 0.1, 0.3, 1.0), (0.1, 0.2, 0.3, 0.4, 0.6), (0.0, 0.25),
        )
    ],
}  # fmt: skip

SKETCHES = {
    "with reference": Variant(),
    "without reference": WITHOUT_REFERENCE["sketch: the same on stems"],
}
"""The best formulas on labels by people."""


@dataclass(frozen=True)
class Explored:
    """The results for one direction of one corpus.

    Attributes:
        corpus: Its name.
        areas: Test bed → mean AUROC over the kinds of errors of each group's variants.
        grids: Group → mean AUROC of the variants of its grid, in the near test bed,
            ``[variants, 1 + RESAMPLES]``.
    """

    corpus: str
    areas: Mapping[str, Mapping[tuple[str, str], Areas]]
    grids: Mapping[str, Floats]


def explore(corpus: Corpus, aligner: ModelAligner) -> Explored:
    """Try all variants in one direction of a corpus, with a model of it."""
    near = make_bed(corpus, Translator(corpus, aligner), aligner)
    far = make_bed(corpus, FreeTranslator(corpus, aligner), aligner, far=True)
    areas = {
        bed_name: {
            (group, name): variant.mean_area(bed)
            for group, (_, variants) in GROUPS.items()
            for name, variant in variants.items()
        }
        for bed_name, bed in ((corpus.name, near), (f"{corpus.name}, far", far))
    }
    grids = {group: np.array([v.mean_area(near) for v in grid]) for group, grid in GRIDS.items()}
    return Explored(corpus.name, areas, grids)


def parts_table(explored: Sequence[Explored]) -> pd.DataFrame:
    """The effect of each part of the score, in every direction and both test beds."""
    return pd.DataFrame([
        {"group": group, "variant": variant, "bed": bed}
        | with_interval("AUROC", found)
        | with_interval("less kept", found - areas[group, next(iter(GROUPS[group][1]))])
        for item in explored
        for bed, areas in item.areas.items()
        for (group, variant), found in areas.items()
    ])  # fmt: skip


def tuning_table(explored: Sequence[Explored]) -> pd.DataFrame:
    """The best variant for one language pair, evaluated on the other pair."""
    rows = []
    for group, grid in GRIDS.items():
        means = {
            name: np.mean([item.grids[group] for item in explored if item.corpus in both], axis=0)
            for name, both in (("de-en", ("de-en", "en-de")), ("ja-en", ("ja-en", "en-ja")))
        }
        for here, there in (("de-en", "ja-en"), ("ja-en", "de-en")):
            best = int(np.argmax(means[here][:, 0]))
            kept = means[there][list(grid).index(GROUPS[group][0])]
            sketch = means[there][list(grid).index(SKETCHES[group])]
            rows.append(
                {"group": group, "tuned on": here, "best there": _said(grid[best])}
                | with_interval("AUROC there", means[here][best])
                | {"reported on": there}
                | with_interval("tuned", means[there][best])
                | with_interval("kept", kept)
                | with_interval("sketch", sketch)
                | with_interval("tuned less kept", means[there][best] - kept)
            )
    return pd.DataFrame(rows)


def _said(variant: Variant) -> str:
    """A short description of the variant."""
    units = " and ".join(variant.units)
    expected = variant.expected
    spread = "" if variant.spread is None else f" in spreads + {variant.spread:g}"
    return f"{units}; {variant.way}; {expected}{spread}; {variant.penalty:g}; {variant.share:g} sum"
