"""What both papers say about their tables and translations, checked on what they print.

Malaviya et al. (2018): section 5 about Tables 1 and 2, Figure 2 and Appendix B. Madsen et al.
(2017): section 3 about Tables 2, 3 and 4. Figure 1 is computed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from statistics import fmean

from coverage_eval.papers.claims import Claim, Fact, better, binary_fact, same_text, sign
from coverage_eval.papers.printed import (
    SYSTEMS,
    PrintedCell,
    PrintedTable,
    load_table,
)

SPARSE = ("sparsemax + COVPENALTY", "sparsemax + COVVECTOR", "csparsemax")
"""The text's "sparse models": csparsemax, and sparsemax combined with coverage models."""

CSPARSEMAX = "csparsemax"
DENSE = ("softmax", "csoftmax")

DATASET = "De-En"
PREDICTED = ("PREDICTED c = 0", "PREDICTED c = 0.2")
OTHERS = ("CONSTANT f = 2", "CONSTANT f = 3", "GUIDED")

GPU, CPU = "sparsemax TF GPU", "sparsemax TF CPU"
NUMPY, TF_NUMPY = "sparsemax Numpy", "sparsemax TF Numpy"
SOFTMAX = "softmax TF"


def audit_table1() -> tuple[Claim, ...]:
    """Check what section 5 says about Table 1."""
    return claims_of_table1(load_table("table1"))


def claims_of_table1(table: PrintedTable, sparse: Sequence[str] = SPARSE) -> tuple[Claim, ...]:
    """What section 5 says about Table 1, checked on its figures or on a user's.

    Args:
        table: The figures. A claim about systems that are missing cannot be decided; what it says
            of those that are there follows as a claim "of these".
        sparse: The systems that count as sparse models.
    """
    ours = tuple(name for name in table.systems if name in sparse)
    others = tuple(name for name in table.systems if name not in sparse)
    dense = tuple(name for name in DENSE if name in table.systems)
    named = [name for name in ours if name == CSPARSEMAX or name not in SPARSE]
    return (
        *_of_these(
            _better_on_average(table, ours, others),
            [name for name in load_table("table1").systems if name not in table.systems],
            f"{_joined(ours)} against {_joined(others)}: higher scores on both BLEU and METEOR, on "
            "average",
        ),
        *_of_these(
            _better_in_general(table, ours, dense),
            [name for name in (*DENSE, *SPARSE) if name not in table.systems],
            f"{_joined(ours)} against {_joined(dense)}: generally better REP and DROP",
        ),
        *(_better_everywhere(table, name, dense) for name in named or [CSPARSEMAX]),
    )


def _joined(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _of_these(claim: Claim, absent: Sequence[str], text: str) -> tuple[Claim, ...]:
    """The claim; without some of its systems, that it cannot be decided, and what is left of it."""
    if claim.unchecked or not absent:
        return (claim,)
    lacking = Fact(f"no {', no '.join(absent)}", "", "", "cannot tell", None)
    return (
        replace(claim, facts=(lacking,), note=""),
        replace(claim, text=f"of these, {text}", in_our_words=True),
    )


def _missing(table: PrintedTable, metrics: Sequence[str], **groups: Sequence[str]) -> str:
    """Why a claim cannot be checked on a table: the metrics and systems that it lacks, if any."""
    lacks = [metric for metric in metrics if metric not in table.metrics]
    lacks += [name.replace("_", " ") for name, systems in groups.items() if not systems]
    return f"the table has no {', no '.join(lacks)}" if lacks else ""


def _better_on_average(table: PrintedTable, ours: Sequence[str], others: Sequence[str]) -> Claim:
    text = (
        "on average, the sparse models (csparsemax as well as sparsemax combined with coverage "
        "models) have higher scores on both BLEU and METEOR"
    )
    metrics, facts = ("BLEU", "METEOR"), []
    missing = _missing(table, metrics, sparse_model=ours, other_system=others)
    for metric in () if missing else metrics:
        groups = {"sparse models": ours, "others": others}
        facts.append(_better_mean(table, metric, groups, decisive=True))
        if len(table.datasets) > 1:
            facts += [_better_mean(table, metric, groups, (d,)) for d in table.datasets]
        facts += [
            _better_mean(table, metric, {first: (first,), second: (second,)})
            for first, second in product(ours, others)
        ]
    note = (
        f"Read as the mean of {', '.join(ours)} against the mean of the other {len(others)}, over "
        "all language pairs; single pairs and single systems are the exceptions."
    )
    return Claim(text, "section 5, page 374", tuple(facts), note, missing)


def _better_in_general(table: PrintedTable, ours: Sequence[str], dense: Sequence[str]) -> Claim:
    text = "generally, they also obtain better REP and DROP scores than csoftmax and softmax"
    metrics, counted, singles = ("REP", "DROP"), [], []
    missing = _missing(table, metrics, sparse_model=ours, softmax_or_csoftmax=dense)
    for metric in () if missing else metrics:
        facts = [fact for system in ours for fact in _better_than(table, metric, system, dense)]
        wins, losses = (sum(fact.holds is x for fact in facts) for x in (True, False))
        ties = len(facts) - wins - losses
        what = f"{metric}: comparisons that a sparse model wins"
        shown = f"{wins} of {len(facts)}" + f", {ties} tied" * bool(ties)
        most = binary_fact(what, "generally", shown, sign(wins - losses), "most", "not most")
        mean = fmean(fact.gain for fact in facts if fact.gain is not None)
        counted.append(replace(most, gain=mean))
        singles += facts
    note = "Read as: more comparisons of a sparse model with csoftmax or softmax are won than lost."
    return Claim(text, "section 5, page 374", (*counted, *singles), note, missing)


def _better_everywhere(table: PrintedTable, system: str, dense: Sequence[str]) -> Claim:
    metrics, present = ("REP", "DROP"), [name for name in table.systems if name == system]
    missing = _missing(table, metrics, **{system: present, "softmax_or_csoftmax": dense})
    facts = [
        fact
        for metric in (() if missing else metrics)
        for fact in _better_than(table, metric, system, dense, decisive=True)
    ]
    everywhere = " on every language pair" if len(table.datasets) > 1 else ""
    return Claim(
        f"{system} has better REP and DROP than {_joined(dense[::-1] or DENSE[::-1])}{everywhere}",
        "Table 1, page 374",
        tuple(facts),
        unchecked=missing,
        in_our_words=True,
    )


def _better_mean(
    table: PrintedTable,
    metric: str,
    groups: Mapping[str, Sequence[str]],
    datasets: Sequence[str] = (),
    *,
    decisive: bool = False,
) -> Fact:
    """Whether the first of two groups of systems has the better mean.

    Args:
        table: The figures.
        metric: The metric.
        groups: The systems of each group, by its name.
        datasets: The data sets over which the mean is taken; empty for all.
        decisive: Whether the fact decides the claim.
    """
    datasets = datasets or table.datasets
    ours, theirs = (table.mean(metric, systems, datasets) for systems in groups.values())
    where = datasets[0] if len(datasets) == 1 else "all pairs"
    what = f"{metric}, {where}: {', '.join(groups)}"
    single = len(datasets) == 1 and all(len(systems) == 1 for systems in groups.values())
    return better(table, metric, what, ours, theirs, decisive=decisive, means=not single)


def _better_than(
    table: PrintedTable, metric: str, system: str, others: Sequence[str], *, decisive: bool = False
) -> list[Fact]:
    """Whether a system is better than others, on each data set."""
    return [
        _better_mean(
            table, metric, {system: (system,), other: (other,)}, (dataset,), decisive=decisive
        )
        for dataset, other in product(table.datasets, others)
    ]


def audit_table2() -> tuple[Claim, ...]:
    """Check what section 5 says about Table 2, and that its figures agree with Table 1."""
    first, second = load_table("table1"), load_table("table2")
    same = []
    for metric in second.metrics:
        one = first.cells["csparsemax", DATASET, metric].text
        other = second.cells["PREDICTED c = 0.2", DATASET, metric].text
        what = f"{metric}, De-En: csparsemax of Table 1, PREDICTED c = 0.2 of Table 2"
        same.append(_both_printed(what, one, other, one == other, "equal", "differs"))
    return (
        *claims_of_table2(second),
        Claim(
            "csparsemax (c = 0.2) of Table 1 is PREDICTED, c = 0.2 of Table 2",
            "Tables 1 and 2, page 374",
            tuple(same),
            in_our_words=True,
        ),
    )


def claims_of_table2(table: PrintedTable) -> tuple[Claim, ...]:
    """What section 5 says about Table 2, checked on its figures or on a user's."""
    best = PREDICTED[-1]
    others = [name for name in OTHERS if name in table.systems]
    present = [name for name in reversed(PREDICTED) if name in table.systems]
    metrics, facts = ("BLEU", "METEOR"), []
    missing = _missing(table, metrics, **{best: present[:1] * (best in present), "other": others})
    for metric in () if missing else metrics:
        for first, second in product(present, others):
            figures = (table.value(name, table.datasets[0], metric) for name in (first, second))
            what = f"{metric}: {first}, {second}"
            # Both are PREDICTED, but the paper uses c = 0.2: in print, that decides.
            decisive = first == best or not table.is_printed
            facts.append(better(table, metric, what, *figures, decisive=decisive))
    claim = Claim(
        "the PREDICTED strategy outperforms the others both in terms of BLEU and METEOR, albeit "
        "slightly",
        "section 5, page 374",
        tuple(facts),
        unchecked=missing,
    )
    absent = [name for name in (*OTHERS, *PREDICTED) if name not in table.systems]
    text = f"{_joined(present[::-1])} against {_joined(others)}: higher BLEU and METEOR"
    return _of_these(claim, absent, text)


def audit_report_tables() -> tuple[Claim, ...]:
    """Check what the sparsemax report says about its tables."""
    times = load_table("report_table4")
    return (
        *_claims_of_accuracy(),
        _faster(times, "MNIST", [GPU], [TF_NUMPY, CPU, NUMPY],
            "for the large dataset, MNIST, the GPU implementation significantly outperforms all "
            "other sparsemax implementations"),
        _faster(times, "MNIST", [TF_NUMPY, CPU, GPU], [NUMPY],
            "the Numpy implementation runs significantly slower than the three TensorFlow "
            "implementations"),
        _faster(times, "Iris", [NUMPY, CPU], [GPU, TF_NUMPY],
            "for the Iris dataset, which is considerably smaller in size, the Numpy and TensorFlow "
            "CPU version outperforms both the GPU and Tensorflow Numpy version"),
        Claim(
            "compared to softmax, the GPU version of TensorFlow is significantly slower, but not "
            "by much",
            "sections 3.2 and 4.1, pages 3 and 5",
            (
                _time(times, "MNIST", SOFTMAX, GPU),
                *(_time(times, d, SOFTMAX, GPU, decisive=False) for d in times.datasets[1:]),
            ),
            "For MNIST; section 4.1 says that the other data sets are too small to tell. The text "
            'does not say what "not by much" is, so only "slower" is decided.',
        ),
        Claim(
            "it is on par with the softmax transformation in terms of computing performance",
            "section 4, page 4",
            tuple(_on_par(times, dataset) for dataset in times.datasets),
            "For MNIST: section 4.1 says that the other data sets are too small to tell, and that "
            "sparsemax on the GPU is slower statistically significantly, but not notably. The text "
            "does not say how much is on par: overlapping intervals would confirm it, twice the "
            "time would contradict it.",
        ),
        Claim(
            "for the smaller dataset the TensorFlow CPU implementation is the fastest",
            "section 4.1, page 5",
            (
                *(_time(times, "Iris", CPU, system) for system in (TF_NUMPY, GPU)),
                _time(times, "Iris", CPU, NUMPY, decisive=False),
                *(_time(times, "Emotions", CPU, system, decisive=False)
                  for system in (TF_NUMPY, GPU, NUMPY)),
            ),
            "Read as: among the TensorFlow implementations, which the next sentences compare, on "
            "Iris, the small data set that they name. Pure Numpy is faster.",
        ),
    )  # fmt: skip


def _faster(
    times: PrintedTable, dataset: str, fast: Sequence[str], slow: Sequence[str], text: str
) -> Claim:
    """The claim that some systems are faster than others."""
    facts = tuple(_time(times, dataset, *systems) for systems in product(fast, slow))
    note = "Faster: the confidence intervals do not touch."
    return Claim(text, "section 3.2, page 3", facts, note)


def _on_par(times: PrintedTable, dataset: str) -> Fact:
    """Whether sparsemax on the GPU is about as fast as softmax."""
    softmax, gpu = (times.cells[system, dataset, "seconds"] for system in (SOFTMAX, GPU))
    slower = None if gpu.value < 2 * softmax.value else False
    return Fact(
        f"seconds, {dataset}: {SOFTMAX}, {GPU}",
        f"{softmax.text} against {gpu.text}",
        "",
        f"{gpu.value / softmax.value:.2f} times",
        slower if _apart(softmax, gpu) else True,
        dataset == "MNIST",
    )


def _claims_of_accuracy() -> Iterable[Claim]:
    """What sections 3.1 and 5 say about softmax and sparsemax, on Tables 2 and 3."""
    validated, tested = load_table("report_table2"), load_table("report_table3")
    alike, improved = [], []
    for dataset in validated.datasets:
        for metric in ("cross-validation JS", "test JS"):
            soft, sparse = (validated.cells[s, dataset, "cross-validation JS"] for s in SYSTEMS[:2])
            widths = (soft.half_width or 0.0) + (sparse.half_width or 0.0)
            if metric == "test JS":
                soft, sparse = (tested.cells[system, dataset, metric] for system in SYSTEMS[:2])
            gain = round(soft.value - sparse.value, 6)
            near = abs(gain) <= widths
            shown = f"{metric}, {dataset}: softmax, sparsemax", soft.text, sparse.text
            # The text excepts Iris from the first claim, and makes a second of it.
            alike.append(_both_printed(*shown, near, "alike", "apart", decisive=dataset != "Iris"))
            if dataset == "Iris":
                lower = None if near else gain > 0
                improved.append(_both_printed(*shown, lower, "lower, apart", "higher, apart"))
            else:
                improved.append(
                    _both_printed(*shown, near or gain < 0, "no improvement", "lower, apart")
                )
                if near and gain > 0:
                    below = f"{shown[0]}: the lower figure", *shown[1:]
                    outcome = f"lower by {gain:.3f}"
                    improved.append(_both_printed(*below, False, "", outcome, decisive=False))
    errors = [
        same_text(
            f"error rate, Iris: {system}; {wrong} of 15 test flowers",
            tested.cells[system, "Iris", "error rate"].text,
            f"{100 * wrong / 15:.1f}",
        )
        for system, wrong in (("softmax", 3), ("sparsemax", 2))
    ]
    note = (
        "Apart: by more than both 95% intervals of Table 2 together, within which figures of Table "
        "3, which have no interval, are called alike, too."
    )
    return (
        Claim(
            "the softmax and sparsemax classifiers are very much alike in terms of performance",
            "section 3.1, page 3",
            tuple(alike),
            note,
        ),
        Claim(
            "only for one dataset, Iris, did we get improved results by using sparsemax",
            "sections 3.1 and 5, pages 3 and 5",
            tuple(improved),
            note,
        ),
        Claim(
            "the error rates on Iris (20.0% and 13.3% of 15 flowers) differ by a single flower",
            "Tables 1 and 3, page 3",
            tuple(errors),
            in_our_words=True,
        ),
    )


def _both_printed(
    what: str, one: str, other: str, holds: bool | None, yes: str, no: str, *,
    decisive: bool = True,
) -> Fact:  # fmt: skip
    """A fact about two printed figures."""
    return binary_fact(what, f"{one} against {other}", "", holds, yes, no, decisive=decisive)


def _time(
    table: PrintedTable, dataset: str, fast: str, slow: str, *, decisive: bool = True
) -> Fact:
    quick, late = table.cells[fast, dataset, "seconds"], table.cells[slow, dataset, "seconds"]
    return Fact(
        f"seconds, {dataset}: {fast}, {slow}",
        f"{quick.text} against {late.text}",
        "",
        f"{late.value / quick.value:.2f} times",
        quick.value < late.value if _apart(quick, late) else None,
        decisive,
    )


def _apart(first: PrintedCell, second: PrintedCell) -> bool:
    """Whether the intervals of two figures do not touch."""
    return first.high < second.low or second.high < first.low
