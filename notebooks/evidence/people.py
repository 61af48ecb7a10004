"""People's labels of omissions: what scores, flags and figures say of the same outputs.

The table of each set says whether it is development data (constants were compared on it) or held
out. Models are of bitext of other domains (``bio-mqm/*.train.*``: captions and subtitles for
German, 5,058 pairs of news for Chinese), texts are tokenised and cased, without references.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import kendalltau

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.core.batches import Texts
from coverage_eval.core.report import SIGNIFICANT
from coverage_eval.core.texts import read_segments
from coverage_eval.core.tokenizers import Tokenizer
from coverage_eval.coverage import null_scores
from coverage_eval.coverage.omissions import FittedFinder, Omissions
from coverage_eval.coverage.training import train_for_omissions

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

RESAMPLES = 1000
"""Draws of documents, or of sources with all their outputs, for intervals."""

SWAPS = 10_000
"""Random signs of a paired test: enough for 105 pairs of systems after Holm's correction."""

QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.95)
"""Quantiles of complete translations' scores that are compared, on development data only."""

CHOSEN_ON = ("WMT23 en–de", "WMT23 zh–en", "TED zh–en")
"""The sets on which the quantile was chosen."""

BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
"""Bins of probabilities."""

LABELLED = "wmt23-en-de"

HUMAN = {"refA", "ref", "refB", "reference_r1"}


class LabelledTexts(NamedTuple):
    """Outputs by system, sources, and which have a marked omission, ``[systems, segments]``."""

    texts: dict[str, list[str]]
    sources: list[str]
    labels: Flags


def labelled_texts(data: Path) -> LabelledTexts | None:
    """The half of WMT23 en-de with people's labels; None without these texts."""
    file = data / LABELLED / "outputs.tsv"
    if not file.is_file():
        return None
    read = pd.read_csv(file, sep="\t", quoting=csv.QUOTE_NONE, keep_default_na=False)
    systems = read.set_index(["system", "segment"]).sort_index().unstack()
    return LabelledTexts(
        {name: list(row) for name, row in systems["output"].iterrows()},
        list(systems["source"].iloc[0]),
        systems["omissions"].to_numpy() > 0,
    )


@dataclass(frozen=True)
class LabelledSet:
    """Outputs with people's labels.

    Attributes:
        name: What tables call them.
        model: The bitext of their model, such as ``en-de``; sides are exchanged for ``de-en``.
        held_out: Whether nothing was tuned on them.
        rows: A row for each output, with ``system``, ``document`` (drawn together for intervals),
            ``segment``, ``source``, ``output``, ``label`` and ``addition``.
    """

    name: str
    model: str
    held_out: bool
    rows: pd.DataFrame


def _wmt(data: Path, name: str) -> pd.DataFrame:
    read = pd.read_csv(
        data / "labels" / f"{name}.tsv.gz", sep="\t", quoting=csv.QUOTE_NONE, keep_default_na=False
    )
    return read.assign(
        document=read.seg_id, segment=read.seg_id, output=read.target, label=read.n_omission > 0
    )


def _bio(data: Path, pair: str) -> pd.DataFrame:
    with gzip.open(data / "bio-mqm" / f"{pair}.jsonl.gz", "rt", encoding="utf-8") as lines:
        read = pd.DataFrame(map(json.loads, lines))
    segment = read.doc.astype(str) + " " + read.seg.astype(str)
    return read.assign(
        document=read.doc, segment=segment, source=read.src, output=read.hyp,
        label=read.label.astype(bool),
    )  # fmt: skip


def development(data: Path) -> Iterator[LabelledSet]:
    """The sets on which constants were compared."""
    news = _wmt(data, "wmt23.en-de")
    even = news.seg_id % 2 == 0
    yield LabelledSet("WMT23 en–de, even half", "en-de", False, news[even])
    yield LabelledSet("WMT23 en–de, odd half", "en-de", False, news[~even])
    yield LabelledSet("WMT23 en–de", "en-de", False, news)
    without = news[news.system != "NLLB_MBR_BLEU"]
    yield LabelledSet("WMT23 en–de without NLLB", "en-de", False, without)
    yield LabelledSet("WMT23 zh–en", "zh-en", False, _wmt(data, "wmt23.zh-en"))
    yield LabelledSet("TED zh–en", "zh-en", False, _wmt(data, "ted.zh-en"))
    # One source has a comma without quotation marks, and cannot be told from two fields.
    old = pd.read_csv(data / "labels" / "wmt18.csv.gz", on_bad_lines="skip")
    yield LabelledSet("WMT18 de–en", "de-en", False, old.assign(
        system="x", document=old.index, segment=old.index, source=old.src, output=old.mt,
        label=old.omission > 0,
    ))  # fmt: skip
    hal = pd.read_csv(
        data / "labels" / "halomi.tsv.gz", sep="\t", quoting=csv.QUOTE_NONE, keep_default_na=False
    )
    hal = hal[~hal.class_hall.str.startswith("4")].reset_index(drop=True)
    codes = {"deu_Latn": "de", "eng_Latn": "en", "zho_Hans": "zh"}
    for pair in ("de-en", "en-de", "zh-en"):
        source, target = pair.split("-")
        own = hal[(hal.src_lang.map(codes) == source) & (hal.tgt_lang.map(codes) == target)]
        yield LabelledSet(f"HalOmi {source}–{target}", pair, False, own.assign(
            system="x", document=own.index, segment=own.index, source=own.src_text,
            output=own.mt_text, label=~own.class_omit.str.startswith("1"),
        ))  # fmt: skip


def held_out(data: Path) -> Iterator[LabelledSet]:
    """Bio-MQM, half of the documents: looked at once, when all constants stood."""
    yield LabelledSet("Bio-MQM de–en", "de-en", True, _bio(data, "de-en"))
    yield LabelledSet("Bio-MQM zh–en", "zh-en", True, _bio(data, "zh-en"))


def split(text: str, language: str) -> str:
    """A text's words by sacreBLEU's tokenisers, between spaces."""
    return " ".join(Tokenizer("zh" if language == "zh" else "13a")(text))


class Models:
    """Models of the bitext, trained when they are first asked for.

    Attributes:
        complete: By model, the lengths and scores of complete text without references, from which
            the usual scores were learnt.
    """

    def __init__(self, data: Path) -> None:
        self.data = data
        self.trained: dict[str, ModelAligner] = {}
        self.complete: dict[str, tuple[NDArray[Any], Floats]] = {}

    def __getitem__(self, pair: str) -> ModelAligner:
        if pair not in self.trained:
            name = pair if pair != "de-en" else "en-de"
            sides = ("src", "tgt") if pair == name else ("tgt", "src")
            files = [self.data / "bio-mqm" / f"{name}.train.{side}.gz" for side in sides]
            source, target = (list(read_segments(file)) for file in files)
            learnt: list[tuple[NDArray[Any], Floats]] = []
            with _recorded(learnt):
                self.trained[pair] = train_for_omissions(source, target)
            self.complete[pair] = learnt[0]  # of omissions, without references
        return self.trained[pair]


@contextmanager
def _recorded(learnt: list[tuple[NDArray[Any], Floats]]) -> Iterator[None]:
    fit = null_scores.fit_quantile

    def record(lengths: NDArray[Any], scores: Floats, quantile: float) -> tuple[float, float]:
        learnt.append((lengths, scores))
        return fit(lengths, scores, quantile)

    with patch.object(null_scores, "fit_quantile", record):
        yield


def scored(labelled: LabelledSet, aligner: ModelAligner) -> pd.DataFrame:
    """The rows with what the finder says of each output, one system at a time."""
    source, target = labelled.model.split("-")
    tables = []
    for _, own in labelled.rows.groupby("system", sort=True):
        sources = [split(text, source) for text in own.source]
        outputs = [split(text, target) for text in own.output]
        texts = Texts.from_lists({"x": outputs}, None, sources)
        fitted = Omissions(aligner).fit(texts.sample)
        assert isinstance(fitted, FittedFinder)
        finder = fitted.finder
        found = [one for batch in texts.batches() for (one,) in finder.found_segments(batch)]
        tables.append(own[["system", "document", "segment", "label"]].assign(
            score=[one.score for one in found],
            uncovered=[one.uncovered for one in found],
            probability=[one.probability for one in found],
            flagged=[one.is_flagged for one in found],
            named=[one.is_certain for one in found],
            words=[len(one.words) for one in found],
            length=[len(text.split()) / max(1, len(s.split()))
                    for text, s in zip(outputs, sources, strict=True)],
        ))  # fmt: skip
    return pd.concat(tables).reset_index(drop=True)


def _draws(documents: pd.Series) -> NDArray[np.float64]:
    """How often each output counts: once, then as its document is drawn, ``[draws, outputs]``."""
    codes, names = pd.factorize(documents)
    shares = np.full(len(names), 1 / len(names))
    drawn = np.random.default_rng(0).multinomial(len(names), shares, RESAMPLES)
    return np.concatenate([np.ones((1, len(names))), drawn])[:, codes]


def _area(labels: NDArray[np.bool_], scores: Floats, draws: Floats) -> Floats:
    """AUROC by each draw."""
    order = np.argsort(scores)
    _, starts = np.unique(scores[order], return_index=True)
    with_error, without = (
        np.add.reduceat(draws[:, order] * chosen[order], starts, axis=1)
        for chosen in (labels, ~labels)
    )
    lower = np.cumsum(without, axis=1) - without / 2
    pairs = with_error.sum(axis=1) * without.sum(axis=1)
    found = (with_error * lower).sum(axis=1)
    return np.divide(found, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)


def _columns(name: str, values: Floats) -> dict[str, float]:
    low, high = np.nanpercentile(values[1:], [2.5, 97.5])
    return {name: values[0], f"{name}, low": low, f"{name}, high": high}


def people_row(labelled: LabelledSet, found: pd.DataFrame) -> dict[str, Any]:
    """How scores and flags agree with people's labels; the human translation is left out."""
    human = found[found.system.isin(HUMAN)]
    own = found[~found.system.isin(HUMAN)]
    labels, flags = own.label.to_numpy(), own.flagged.to_numpy()
    draws = _draws(own.document)
    ours = _area(labels, own.score.to_numpy(), draws)
    length = _area(labels, -own.length.to_numpy(), draws)
    with np.errstate(divide="ignore", invalid="ignore"):
        right = (draws * (labels & flags)).sum(axis=1)
        precision = right / (draws * flags).sum(axis=1)
        recall = right / (draws * labels).sum(axis=1)
    return {
        "set": labelled.name,
        "use": "held out" if labelled.held_out else "development",
        "outputs": len(own),
        "labelled": int(labels.sum()),
        **_columns("AUROC", ours),
        **_columns("length ratio", length),
        **_columns("less length ratio", ours - length),
        "flagged": int(flags.sum()),
        **_columns("of the flagged, labelled %", 100 * precision),
        **_columns("of the labelled, flagged %", 100 * recall),
        "of the human translation, flagged %": 100 * human.flagged.mean() if len(human) else np.nan,
        "named": int(own.named.sum()),
        "of the named, labelled %": 100 * own.label[own.named].mean()
        if own.named.any()
        else np.nan,
    }


def by_probability(labelled: LabelledSet, found: pd.DataFrame) -> pd.DataFrame:
    """How often outputs with such a probability have a marked omission."""
    own = found[~found.system.isin(HUMAN)]
    bins = pd.cut(own.probability, BINS, include_lowest=True, right=False)
    rows = []
    for interval, part in own.groupby(bins, observed=False):
        rows.append({
            "set": labelled.name,
            "use": "held out" if labelled.held_out else "development",
            "probability": f"{interval.left:.1f} to {interval.right:.1f}",
            "outputs": len(part),
            "mean probability %": 100 * part.probability.mean(),
            "labelled %": 100 * part.label.mean(),
        })  # fmt: skip
    return pd.DataFrame(rows)


# Systems


def _of_systems(found: pd.DataFrame, column: str) -> pd.DataFrame:
    """A column by system and segment; only segments that all systems have."""
    wide = found.pivot_table(index="system", columns="segment", values=column, aggfunc="first")
    return wide.dropna(axis=1).astype(float)


def _tests(values: Floats) -> dict[tuple[int, int], tuple[float, float]]:
    """Of each pair of systems the difference of sums, and its p-value by random signs."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (SWAPS, values.shape[1]))
    found = {}
    for one, other in combinations(range(len(values)), 2):
        gaps = values[one] - values[other]
        extreme = np.abs(signs @ gaps) >= abs(gaps.sum()) - 1e-9
        found[one, other] = (gaps.sum(), (1 + extreme.sum()) / (1 + SWAPS))
    return found


def _holm(tests: Mapping[tuple[int, int], tuple[float, float]]) -> list[tuple[int, int]]:
    """The pairs that tests tell apart after Holm's correction."""
    ordered = sorted(tests, key=lambda pair: tests[pair][1])
    told = []
    for rank, pair in enumerate(ordered):
        if tests[pair][1] * (len(ordered) - rank) >= SIGNIFICANT:
            break
        told.append(pair)
    return told


def system_row(found: pd.DataFrame, figure: str = "uncovered") -> dict[str, Any]:
    """How a figure ranks systems that people's labels tell apart, and what tests by it claim."""
    labels, figures = (_of_systems(found, column) for column in ("label", figure))
    of_labels, of_figures = _tests(labels.to_numpy()), _tests(figures.to_numpy())
    differ = [pair for pair, (_, p) in of_labels.items() if p < SIGNIFICANT]
    claimed = _holm(of_figures)

    def agree(pair: tuple[int, int]) -> bool:
        return of_labels[pair][0] * of_figures[pair][0] > 0

    def contradicts(pair: tuple[int, int]) -> bool:
        return pair in differ and not agree(pair)

    return {
        "pairs that labels tell apart": len(differ),
        "of these, ranked rightly %": 100 * np.mean(list(map(agree, differ))) if differ else np.nan,
        "statements": len(claimed),
        "right": sum(map(agree, claimed)),
        "significantly opposite": sum(map(contradicts, claimed)),
        "Kendall's tau": kendalltau(labels.mean(axis=1), figures.mean(axis=1)).statistic,
    }


def quantiles_table(
    sets: Mapping[str, tuple[pd.DataFrame, tuple[NDArray[Any], Floats]]],
) -> pd.DataFrame:
    """What the quantile of complete translations' scores changes, on development data.

    Args:
        sets: By the name of a set, what was found in it, and the lengths and scores of complete
            text by its model.
    """
    rows = []
    for name, (found, complete) in sets.items():
        words = found.words.to_numpy()
        for quantile in QUANTILES:
            start, slope = null_scores.fit_quantile(*complete, quantile)
            usual = np.maximum(0, start + slope * words)
            uncovered = np.clip(found.score.to_numpy() - usual, 0, words)
            # What is certainly wrong loses the same words, whatever the quantile.
            figure = np.where(found.named, found.uncovered, uncovered)
            rows.append({
                "set": name,
                "quantile": quantile,
                "usual score": f"{start:.2f} + {slope:.3f} n",
                "Omissions of all systems": 100 * figure.sum() / words.sum(),
                **system_row(found.assign(figure=figure), "figure"),
            })  # fmt: skip
    return pd.DataFrame(rows)


def people_tables(data: Path) -> dict[str, pd.DataFrame]:
    """The tables of all sets with people's labels; none without these texts."""
    if not (data / "labels").is_dir():
        return {}
    models = Models(data)
    people, systems, bins = [], [], []
    chosen = {}
    for labelled in chain(development(data), held_out(data)):
        found = scored(labelled, models[labelled.model])
        people.append(people_row(labelled, found))
        bins.append(by_probability(labelled, found))
        if found.system.nunique() > 1:
            use = "held out" if labelled.held_out else "development"
            systems.append({"set": labelled.name, "use": use, **system_row(found)})
        if labelled.name in CHOSEN_ON:
            chosen[labelled.name] = (found, models.complete[labelled.model])
    return {
        "people_labels": pd.DataFrame(people),
        "people_systems": pd.DataFrame(systems),
        "people_by_probability": pd.concat(bins),
        "people_quantiles": quantiles_table(chosen),
    }


def labels_table(people: pd.DataFrame) -> str:
    """The page's table of people's labels, in Markdown."""
    lines = [
        "| labels | use | outputs, marked | AUROC | length ratio | difference | flags | of these, "
        "marked | of the marked, flagged |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in people.to_dict("records"):
        figures = [_interval(row, name) for name in ("AUROC", "length ratio", "less length ratio")]
        shares = [
            "–" if np.isnan(row[name]) else _interval(row, name, ".0f", "%")
            for name in ("of the flagged, labelled %", "of the labelled, flagged %")
        ]
        counts = f"{row['outputs']:,}, {row['labelled']:,}"
        cells = [row["set"], f"*{row['use']}*", counts, *figures, f"{row['flagged']:,}", *shares]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _interval(row: Mapping[str, Any], name: str, digits: str = ".2f", unit: str = "") -> str:
    value, low, high = (format(row[f"{name}{end}"], digits) for end in ("", ", low", ", high"))
    return f"{value}{unit} ({low} to {high})".replace("-", "−")
