"""What Madsen et al. (2017) say of their Tables 2, 3 and 4."""

from __future__ import annotations

from coverage_eval.published.audits.facts import same_text
from coverage_eval.published.claims import Claim, Fact
from coverage_eval.published.tables import PrintedCell, PrintedTable, load_table

GPU, CPU = "sparsemax TF GPU", "sparsemax TF CPU"
NUMPY, TF_NUMPY = "sparsemax Numpy", "sparsemax TF Numpy"
SOFTMAX = "softmax TF"


def audit() -> tuple[Claim, ...]:
    """Recompute what the report says of its tables."""
    times = load_table("report_table4")
    return (
        _alike(),
        _iris(),
        _iris_errors(),
        _faster(times, "MNIST", [GPU], [TF_NUMPY, CPU, NUMPY], "section 3.2, page 3",
            "for MNIST, the GPU implementation significantly outperforms all other sparsemax "
            "implementations"),
        _faster(times, "MNIST", [TF_NUMPY, CPU, GPU], [NUMPY], "section 3.2, page 3",
            "the Numpy implementation runs significantly slower than the three TensorFlow "
            "implementations"),
        _faster(times, "Iris", [NUMPY, CPU], [GPU, TF_NUMPY], "section 3.2, page 3",
            "for Iris, the Numpy and TensorFlow CPU versions outperform both the GPU and the "
            "TensorFlow Numpy version"),
        _slightly_slower(times),
        _cpu_is_fastest(times),
    )  # fmt: skip


def _alike() -> Claim:
    table = load_table("report_table2")
    facts = []
    for dataset in table.datasets:
        soft, sparse = (table.cells[s, dataset, "cross-validation JS"] for s in table.systems)
        overlap = not _apart(soft, sparse)
        what = f"cross-validation JS, {dataset}: softmax, sparsemax"
        outcome = "intervals overlap" if overlap else "intervals apart"
        # Iris is the text's own exception, and a claim of its own.
        facts.append(Fact(what, soft.text, sparse.text, outcome, overlap, dataset != "Iris"))
    return Claim(
        "the softmax and sparsemax classifiers are very much alike in terms of performance",
        "section 3.1, page 3",
        tuple(facts),
        "Read as: the 95 % intervals of Table 2 overlap.",
    )


def _iris() -> Claim:
    facts = []
    for name, metric in (("report_table2", "cross-validation JS"), ("report_table3", "test JS")):
        table = load_table(name)
        soft, sparse = (table.cells[system, "Iris", metric] for system in table.systems)
        if soft.half_width is None:
            better, outcome = sparse.value < soft.value, "lower"
        else:
            better = _apart(soft, sparse) and sparse.value < soft.value
            outcome = "lower, intervals apart"
        what = f"{metric}, Iris: softmax, sparsemax"
        facts.append(Fact(what, soft.text, sparse.text, outcome if better else "not so", better))
    return Claim(
        "the Iris dataset shows an improved performance, a statistically significant difference",
        "section 3.1, page 3",
        tuple(facts),
    )


def _iris_errors() -> Claim:
    table = load_table("report_table3")
    facts = []
    for system, errors in (("softmax", 3), ("sparsemax", 2)):
        cell = table.cells[system, "Iris", "error rate"]
        against = f"{100 * errors / 15:.1f}"
        what = f"error rate, Iris: {system}; {errors} of 15 test flowers"
        facts.append(same_text(what, cell.text, against))
    return Claim(
        "the error rates on Iris (20.0 % and 13.3 % of 15 flowers) differ by a single flower",
        "Tables 1 and 3, page 3; in our words",
        tuple(facts),
    )


def _faster(
    table: PrintedTable,
    dataset: str,
    fast: list[str],
    slow: list[str],
    place: str,
    text: str,
) -> Claim:
    facts = [_time(table, dataset, one, other) for one in fast for other in slow]
    return Claim(text, place, tuple(facts), "Faster: the confidence intervals do not touch.")


def _time(
    table: PrintedTable, dataset: str, fast: str, slow: str, *, decisive: bool = True
) -> Fact:
    one, other = table.cells[fast, dataset, "seconds"], table.cells[slow, dataset, "seconds"]
    return Fact(
        f"seconds, {dataset}: {fast}, {slow}",
        one.text,
        other.text,
        f"{other.value / one.value:.2f} times",
        _apart(one, other) and one.value < other.value,
        decisive,
    )


def _slightly_slower(table: PrintedTable) -> Claim:
    fact = _time(table, "MNIST", SOFTMAX, GPU)
    return Claim(
        "compared to softmax, the GPU version is significantly slower, but not by much",
        "sections 3.2 and 4.1, pages 3 and 5",
        (fact, *(_time(table, d, SOFTMAX, GPU, decisive=False) for d in table.datasets[1:])),
        'For MNIST; section 4.1 says that the other data sets are too small to tell. "Not by much" '
        "is the ratio shown.",
    )


def _cpu_is_fastest(table: PrintedTable) -> Claim:
    smaller = ("Iris", "Emotions")
    among_all = [_time(table, dataset, CPU, NUMPY) for dataset in smaller]
    others = [_time(table, d, CPU, s, decisive=False) for d in smaller for s in (TF_NUMPY, GPU)]
    return Claim(
        "for the smaller dataset the TensorFlow CPU implementation is the fastest",
        "section 4.1, page 5",
        (*among_all, *others),
        "Pure Numpy is faster on both small data sets, Iris and Emotions; among the TensorFlow "
        "implementations the claim is right for Iris.",
    )


def _apart(one: PrintedCell, other: PrintedCell) -> bool:
    """Whether the intervals of two figures do not touch."""
    return one.high < other.low or other.high < one.low
