"""Tables of the smaller experiments: additive scores, digits, regression and times."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from coverage_eval.papers.printed import mean_and_half_width
from coverage_eval.papers.reproduction.number_words import ATTENTIONS, printed_accuracy
from coverage_eval.papers.reproduction.timing import ratio_of_turns
from coverage_eval.tables.formats import render
from coverage_eval.tables.table import Printable, Table

HERE = Path(__file__).parent
DIGITS = {
    "digits": ("5 to 20 digits", "100,000", "softmax"),
    "output_layer/softmax": ("2 to 6 digits", "30,000", "softmax"),
    "output_layer/sparsemax": ("2 to 6 digits", "30,000", "sparsemax"),
}
"""Folder → length of the numbers, training examples, transformation of the output layer."""


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    return render(Printable((Table(tuple(header), tuple(map(tuple, rows))),)), "markdown") + "\n"


def spread(values: Sequence[float], sign: str = "", digits: int = 2) -> str:
    """The mean, and half its 95% interval if there are several values."""
    mean, half = mean_and_half_width(values)
    return f"{mean:{sign}.{digits}f}" + ("" if half is None else f" ± {half:.{digits}f}")


def tables() -> str:
    """All of them, each with its title."""
    parts = {
        "Additive against bilinear scores (Malaviya et al., footnote 2), softmax": _additive(),
        "Digits (Madsen et al., section 3.3; the output layer: section 4)": _digits(),
        "Regression on Iris by λ (Madsen et al., Figure 1)": _by_penalty(),
        "Regression by the number of examples (Madsen et al., section 4)": _by_size(),
        "Seconds of a training step (Malaviya et al., section 5)": _steps(),
        "Seconds of both losses (Madsen et al., Table 4)": _losses(),
    }
    return "\n".join(f"### {title}\n\n{table}" for title, table in parts.items())


def _rows(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _additive() -> str:
    """Every measure by scoring, and the gain of additive scores, seed by seed."""
    found: dict[str, dict[str, list[float]]] = {}
    for scoring in ("bilinear", "additive"):
        measures = found.setdefault(scoring, {})
        for folder in sorted((HERE / "footnote2").glob(f"{scoring}-seed*")):
            made = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["made"]
            perplexity = made["softmax"]["valid perplexity"]
            measures.setdefault("validation perplexity ↓", []).append(perplexity)
            for row in _rows(f"footnote2/{folder.name}/table1.csv"):
                if row["metric"] in {"BLEU", "METEOR", "REP", "DROP"}:
                    arrow = "↑" if row["metric"] in {"BLEU", "METEOR"} else "↓"
                    measures.setdefault(f"{row['metric']} {arrow}", []).append(float(row["score"]))
    one, other = found["bilinear"], found["additive"]
    rows = [
        (
            measure, spread(one[measure]), spread(other[measure]),
            spread([b - a for a, b in zip(one[measure], other[measure], strict=True)], "+"),
            str(len(one[measure])),
        )
        for measure in one
    ]  # fmt: skip
    return markdown(("measure", "bilinear", "additive", "additive less bilinear", "seeds"), rows)


def _digits() -> str:
    printed, _ = printed_accuracy()
    rows = []
    for folder, (lengths, examples, layer) in DIGITS.items():
        kept = _rows(f"{folder}/digits.csv")
        for attention in ATTENTIONS:
            own = [row for row in kept if row["attention"] == attention]
            figures = [[float(row[n]) for row in own] for n in ("symbols", "numbers", "attended")]
            rows.append((
                lengths, examples, layer, attention,
                f"{printed[attention]:.0f}" if folder == "digits" else "",
                *(spread(values, digits=1) for values in figures[:2]),
                f"{np.mean(figures[2]):.1f}", f"{_largest_fall(HERE / folder / attention):.0f}",
                str(len(own)),
            ))  # fmt: skip
    header = (
        "numbers of", "examples", "output layer", "attention", "report, validation accuracy, %",
        "ours, symbols right, %", "numbers right, %", "letters attended", "largest fall", "seeds",
    )  # fmt: skip
    return markdown(header, rows)


def _largest_fall(folder: Path) -> float:
    """How many points of right symbols any training lost within 20 steps."""
    falls = [0.0]
    for path in folder.glob("seed-*/epochs.jsonl"):
        right = [json.loads(line)["symbols"] for line in path.read_text("utf-8").splitlines()]
        falls += [-float(change) for change in np.diff(right)]
    return max(falls)


def _by_penalty() -> str:
    kept = _rows("regression/penalties.csv")
    cells = {
        (row["fitting"], row["activation"], row["lambda"]): f"{row['JS']} ± {row['±']}"
        for row in kept
    }
    columns = list(dict.fromkeys((row["fitting"], row["activation"]) for row in kept))
    shown = {"adam": "100 epochs of Adam", "minimum": "at the minimum"}
    header = ["λ", *(f"{activation}, {shown[fitting]}" for fitting, activation in columns)]
    penalties = dict.fromkeys(row["lambda"] for row in kept)
    return markdown(header, [[p, *(cells[(*column, p)] for column in columns)] for p in penalties])


def _by_size() -> str:
    rows = [
        (
            row["data"], row["examples"],
            f"{row['epochs']} epochs of Adam" if row["epochs"] else "to the minimum",
            row["softmax JS"], row["sparsemax JS"], f"{float(row['gain']):+.4f} ± {row['±']}",
            f"{row['splits below']} of {row['splits']}",
        )
        for row in _rows("regression/sizes.csv")
    ]  # fmt: skip
    header = (
        "data", "examples", "fitted", "softmax, test JS", "sparsemax, test JS",
        "softmax less sparsemax", "sparsemax lower",
    )  # fmt: skip
    return markdown(header, rows)


def _steps() -> str:
    seconds: dict[tuple[str, str, str], list[float]] = {}
    for row in _rows("timing/training_step.csv"):
        key = row["hidden"], row["vocabulary"], row["system"]
        seconds.setdefault(key, []).append(float(row["seconds"]))
    rows = []
    for (hidden, vocabulary, system), own in seconds.items():
        ratio, low, high = ratio_of_turns(own, seconds[hidden, vocabulary, "softmax"])
        shown = "" if system == "softmax" else f"{ratio:.2f} ({low:.2f} to {high:.2f})"
        rows.append((
            hidden, f"{int(vocabulary):,}", system, f"{np.median(own):.3f}", shown, str(len(own)),
        ))  # fmt: skip
    header = (
        "hidden size", "vocabulary", "system", "seconds, median", "× softmax (95% interval)",
        "turns",
    )  # fmt: skip
    return markdown(header, rows)


def _losses() -> str:
    rows = [
        (
            row["data"], row["classes"], row["implementation"],
            *(f"{float(row[f'{loss}, ms']):.2f}" for loss in ("softmax", "sparsemax")),
            f"{float(row['ratio']):.2f} ({float(row['low']):.2f} to {float(row['high']):.2f})",
            f"{float(printed):.2f}" if (printed := row["printed ratio, CPU"]) else "",
        )
        for row in _rows("timing/timing.csv")
    ]  # fmt: skip
    header = (
        "data", "classes", "implementation", "softmax, ms", "sparsemax, ms",
        "sparsemax × softmax (95% interval)", "printed ratio, CPU",
    )  # fmt: skip
    return markdown(header, rows)
