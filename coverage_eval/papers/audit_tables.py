"""What both papers say about their tables and translations, checked on what they print.

Malaviya et al. (2018): section 5 about Tables 1 and 2, Figure 2 and Appendix B. Madsen et al.
(2017): section 3 about Tables 2, 3 and 4. Figure 1 is computed again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention import attend_with_credit, find_transformation
from coverage_eval.metrics.mark import Mark
from coverage_eval.metrics.rep import REP
from coverage_eval.metrics.sacrebleu_adapters import BLEU
from coverage_eval.papers.claims import Claim, Fact, better, judged, same_text
from coverage_eval.papers.printed import (
    SYSTEMS,
    ExampleSet,
    PrintedCell,
    PrintedTable,
    load_appendix_b,
    load_figure1,
    load_figure2,
    load_table,
)
from coverage_eval.tables.table import Cell, Table

SPARSE = ("sparsemax + COVPENALTY", "sparsemax + COVVECTOR", "csparsemax")
"""The text's "sparse models": csparsemax, and sparsemax combined with coverage models."""

DATASET = "De-En"
PREDICTED = ("PREDICTED c = 0", "PREDICTED c = 0.2")
OTHERS = ("CONSTANT f = 2", "CONSTANT f = 3", "GUIDED")

GPU, CPU = "sparsemax TF GPU", "sparsemax TF CPU"
NUMPY, TF_NUMPY = "sparsemax Numpy", "sparsemax TF Numpy"
SOFTMAX = "softmax TF"

CSPARSEMAX = "csparsemax"
_REP = REP()


def audit_table1() -> tuple[Claim, ...]:
    """Check what section 5 says about Table 1."""
    return claims_of_table1(load_table("table1"))


def claims_of_table1(table: PrintedTable) -> tuple[Claim, ...]:
    """What section 5 says about Table 1, checked on figures of the same systems."""

    def compare(
        metric: str, where: str, datasets: Sequence[str], ours: str, theirs: str, *,
        decisive: bool = False,
    ) -> Fact:  # fmt: skip
        """Whether one system or group has a better mean over data sets than another."""
        one, other = (
            table.mean(metric, groups.get(name, (name,)), datasets) for name in (ours, theirs)
        )
        what = f"{metric}, {where}: {ours}, {theirs}"
        return better(table, metric, what, one, other, decisive=decisive)

    pairs = table.datasets
    others = tuple(name for name in table.systems if name not in SPARSE)
    groups = {"sparse models": SPARSE, "others": others}
    quality, overall = ("BLEU", "METEOR"), pairs[0] if len(pairs) == 1 else "all pairs"
    on_average = [
        *(compare(m, overall, pairs, "sparse models", "others", decisive=True) for m in quality),
        *(compare(m, pair, (pair,), "sparse models", "others") for m in quality for pair in pairs),
        *(
            compare(m, "all pairs", pairs, system, other)
            for m in quality
            for system in SPARSE
            for other in others
        ),
    ]
    counted, singles = [], []
    for metric in ("REP", "DROP"):
        facts = [
            compare(metric, dataset, (dataset,), system, other)
            for system in SPARSE
            for other in ("softmax", "csoftmax")
            for dataset in pairs
        ]
        won = sum(fact.holds for fact in facts)
        what, shown = f"{metric}: comparisons that a sparse model wins", f"{won} of {len(facts)}"
        counted.append(judged(what, "generally", shown, 2 * won > len(facts), "most", "not most"))
        singles += facts
    best = [
        compare(metric, dataset, (dataset,), "csparsemax", other, decisive=True)
        for metric in ("REP", "DROP")
        for dataset in pairs
        for other in ("softmax", "csoftmax")
    ]
    return (
        Claim(
            "on average, the sparse models (csparsemax as well as sparsemax combined with coverage "
            "models) have higher scores on both BLEU and METEOR",
            "section 5, page 374",
            tuple(on_average),
            "Read as the mean of the three sparse models against the mean of the other five, over "
            "all language pairs; single pairs and single systems are the exceptions.",
        ),
        Claim(
            "generally, they also obtain better REP and DROP scores than csoftmax and softmax",
            "section 5, page 374",
            (*counted, *singles),
            "Read as: in most comparisons of a sparse model with csoftmax or softmax on one pair.",
        ),
        Claim(
            "csparsemax has better REP and DROP than csoftmax and softmax on every language pair",
            "Table 1, page 374; in our words",
            tuple(best),
        ),
    )


def audit_table2() -> tuple[Claim, ...]:
    """Check what section 5 says about Table 2, and that its figures agree with Table 1."""
    first, second = load_table("table1"), load_table("table2")
    same = [
        same_text(
            f"{metric}, De-En: csparsemax of Table 1, PREDICTED c = 0.2 of Table 2",
            first.cells["csparsemax", DATASET, metric].text,
            second.cells["PREDICTED c = 0.2", DATASET, metric].text,
        )
        for metric in second.metrics
    ]
    return (
        *claims_of_table2(second),
        Claim(
            "csparsemax (c = 0.2) of Table 1 is PREDICTED, c = 0.2 of Table 2",
            "Tables 1 and 2, page 374; in our words",
            tuple(same),
        ),
    )


def claims_of_table2(table: PrintedTable) -> tuple[Claim, ...]:
    """What section 5 says about Table 2, checked on figures of the same systems."""
    facts = []
    for metric in table.metrics:
        for ours in reversed(PREDICTED):
            for theirs in OTHERS:
                figures = (table.value(name, table.datasets[0], metric) for name in (ours, theirs))
                # The strategy as the paper uses it, c = 0.2, decides.
                decisive = ours == "PREDICTED c = 0.2"
                what = f"{metric}: {ours}, {theirs}"
                facts.append(better(table, metric, what, *figures, decisive=decisive))
    return (
        Claim(
            "the PREDICTED strategy outperforms the others both in terms of BLEU and METEOR, "
            "albeit slightly",
            "section 5, page 374",
            tuple(facts),
        ),
    )


def audit_report_tables() -> tuple[Claim, ...]:
    """Check what the sparsemax report says about its tables."""
    times = load_table("report_table4")

    def faster(dataset: str, fast: list[str], slow: list[str], text: str) -> Claim:
        facts = tuple(_time(times, dataset, one, other) for one in fast for other in slow)
        note = "Faster: the confidence intervals do not touch."
        return Claim(text, "section 3.2, page 3", facts, note)

    return (
        *_claims_of_accuracy(),
        faster("MNIST", [GPU], [TF_NUMPY, CPU, NUMPY],
            "for MNIST, the GPU implementation significantly outperforms all other sparsemax "
            "implementations"),
        faster("MNIST", [TF_NUMPY, CPU, GPU], [NUMPY],
            "the Numpy implementation runs significantly slower than the three TensorFlow "
            "implementations"),
        faster("Iris", [NUMPY, CPU], [GPU, TF_NUMPY],
            "for Iris, the Numpy and TensorFlow CPU versions outperform both the GPU and the "
            "TensorFlow Numpy version"),
        Claim(
            "compared to softmax, the GPU version is significantly slower, but not by much",
            "sections 3.2 and 4.1, pages 3 and 5",
            (
                _time(times, "MNIST", SOFTMAX, GPU),
                *(_time(times, d, SOFTMAX, GPU, decisive=False) for d in times.datasets[1:]),
            ),
            "For MNIST; section 4.1 says that the other data sets are too small to tell. The ratio "
            'shows what "not by much" means.',
        ),
        Claim(
            "for the smaller dataset the TensorFlow CPU implementation is the fastest",
            "section 4.1, page 5",
            (
                *(_time(times, d, CPU, NUMPY) for d in ("Iris", "Emotions")),
                *(_time(times, d, CPU, system, decisive=False)
                  for d in ("Iris", "Emotions") for system in (TF_NUMPY, GPU)),
            ),
            "Pure Numpy is faster on both small data sets, Iris and Emotions. Among the TensorFlow "
            "implementations, the claim is right for Iris.",
        ),
    )  # fmt: skip


def _claims_of_accuracy() -> tuple[Claim, Claim, Claim]:
    """What section 3.1 says about softmax and sparsemax, the two systems of Tables 2 and 3."""
    table = load_table("report_table2")
    alike = []
    for dataset in table.datasets:
        soft, sparse = (table.cells[s, dataset, "cross-validation JS"] for s in table.systems)
        alike.append(
            judged(
                f"cross-validation JS, {dataset}: softmax, sparsemax", soft.text, sparse.text,
                not _apart(soft, sparse), "intervals overlap", "intervals apart",
                decisive=dataset != "Iris",  # the text itself excepts it, in a separate claim
            )
        )  # fmt: skip
    iris = []
    for name, metric in (("report_table2", "cross-validation JS"), ("report_table3", "test JS")):
        table = load_table(name)
        soft, sparse = (table.cells[system, "Iris", metric] for system in table.systems)
        lower, outcome = sparse.value < soft.value, "lower"
        if soft.half_width is not None:
            lower, outcome = lower and _apart(soft, sparse), "lower, intervals apart"
        what = f"{metric}, Iris: softmax, sparsemax"
        iris.append(judged(what, soft.text, sparse.text, lower, outcome, "not so"))
    errors = [
        same_text(
            f"error rate, Iris: {system}; {wrong} of 15 test flowers",
            table.cells[system, "Iris", "error rate"].text,
            f"{100 * wrong / 15:.1f}",
        )
        for system, wrong in (("softmax", 3), ("sparsemax", 2))
    ]
    return (
        Claim(
            "the softmax and sparsemax classifiers are very much alike in terms of performance",
            "section 3.1, page 3",
            tuple(alike),
            "Read as: the 95% intervals of Table 2 overlap.",
        ),
        Claim(
            "the Iris dataset shows an improved performance, a statistically significant "
            "difference",
            "section 3.1, page 3",
            tuple(iris),
        ),
        Claim(
            "the error rates on Iris (20.0% and 13.3% of 15 flowers) differ by a single flower",
            "Tables 1 and 3, page 3; in our words",
            tuple(errors),
        ),
    )


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


def _apart(one: PrintedCell, other: PrintedCell) -> bool:
    """Whether the intervals of two figures do not touch."""
    return one.high < other.low or other.high < one.low


def _repeated(output: str, reference: str) -> Iterable[Mark]:
    """A mark of each word or phrase that an output repeats."""
    return {(m.kind, str(m)): m for m in _REP.evidence(output, reference)}.values()


def _repetitions(examples: ExampleSet, system: str, number: int) -> str:
    """What one output repeats; empty if nothing. Examples are numbered from 1."""
    example = examples.examples[number - 1]
    found = _repeated(example.outputs[system], example.reference)
    return "; ".join(f"{mark.text} ({mark.detail['hypothesis']}x)" for mark in found)


def _repetition_fact(
    examples: ExampleSet, system: str, number: int, *, wanted: bool, decisive: bool
) -> Fact:
    """Whether one output repeats anything; ``wanted`` is what the claim says."""
    text = _repetitions(examples, system, number)
    return Fact(
        f"example {number}, {system}",
        "repeats" if wanted else "does not repeat",
        text or "nothing",
        "repeats" if text else "does not repeat",
        bool(text) == wanted,
        decisive,
    )


def score_appendix_b() -> Table:
    """REP and BLEU of the four systems of Appendix B, and what they repeat."""
    examples = load_appendix_b()
    bleu = BLEU.acl2018()
    rows: list[tuple[Cell, ...]] = []
    for system in SYSTEMS:
        columns = (examples.outputs(system), examples.references)
        repeated = [m.text for pair in zip(*columns, strict=True) for m in _repeated(*pair)]
        scores = [metric.corpus_score(*columns) for metric in (_REP, bleu)]
        rows.append((system, *map(float, scores), ", ".join(f"'{ngram}'" for ngram in repeated)))
    return Table(
        ("system", "REP", "BLEU", "repeated"),
        tuple(rows),
        "Four systems of Malaviya et al. (2018), Appendix B: what they repeat",
        signatures=tuple(str(score.signature) for score in scores),
    )


def audit_appendix_b() -> tuple[Claim, ...]:
    """Which outputs of Appendix B repeat, by REP."""
    examples = load_appendix_b()
    numbers = range(1, len(examples.examples) + 1)
    rep = {
        system: float(_REP.corpus_score(examples.outputs(system), examples.references))
        for system in SYSTEMS
    }
    ours = rep[CSPARSEMAX]
    avoids: list[Fact] = []
    others: list[Fact] = []
    for system in SYSTEMS[:-1]:
        theirs = rep[system]
        what = f"REP of all eight: {CSPARSEMAX}, {system}"
        lower = ours < theirs
        avoids.append(judged(what, f"{ours:.2f}", f"{theirs:.2f}", lower, "lower", "not lower"))
        found = [(number, _repetitions(examples, system, number)) for number in numbers]
        flagged = [f"{number}: {text}" for number, text in found if text]
        outcome = f"{len(flagged)} of {len(numbers)}, REP {theirs:.2f}"
        listed = "; ".join(flagged) or "none"
        others.append(Fact(f"outputs of {system}", "some repeat", listed, outcome, bool(flagged)))
    avoids += [
        _repetition_fact(examples, CSPARSEMAX, number, wanted=False, decisive=False)
        for number in numbers
    ]
    blue = [Counter(" ".join(example.highlighted).split()) for example in examples.examples]

    def lacking_of(system: str) -> int:
        pairs = zip(blue, examples.outputs(system), strict=True)
        return sum((words - Counter(output.split())).total() for words, output in pairs)

    for system in SYSTEMS[:-1]:
        lacking = lacking_of(system)
        what = f"outputs of {system}: words of the reference's blue parts that they lack"
        shown = f"{lacking} of {sum(words.total() for words in blue)}"
        others.append(judged(what, "some", shown, lacking > 0, "some", "none"))
    return (
        Claim(
            "constrained sparsemax avoids repeated words in the translation",
            "section 6, page 374, and Appendix B; in our words",
            tuple(avoids),
            "REP counts whatever the output has twice and the reference once: in example 8, where "
            'nothing is wrong, it counts "in the".',
        ),
        Claim(
            "red highlights the corresponding problematic parts of translations, including "
            "repetitions, dropped words or mistranslations",
            "Appendix B",
            tuple(others),
            "The red of the outputs is lost in the text. The facts show what REP finds in the "
            "outputs of the three other systems, and how many words of the blue parts of the "
            f"reference they lack; csparsemax lacks {lacking_of(CSPARSEMAX)}.",
        ),
    )


def audit_figure2() -> tuple[Claim, ...]:
    """Whether csparsemax fixed the repetitions of Figure 2, by REP."""
    examples = load_figure2()
    facts = [
        _repetition_fact(examples, system, number, wanted=system != CSPARSEMAX, decisive=True)
        for number in (1, 2)
        for system in ("softmax", CSPARSEMAX)
    ]
    return (
        Claim(
            "Figure 2 shows examples of sentences for which the csparsemax fixed repetitions",
            "section 5, page 374",
            tuple(facts),
        ),
    )


def audit_figure1() -> tuple[Claim, ...]:
    """Recompute all twelve triples of Figure 1 and the credit, to the printed digits."""

    def text(values: NDArray[np.float64], digits: int) -> str:
        return f"({', '.join(f'{value:.{digits}f}' for value in values)})"

    figure = load_figure1()
    scores = np.array([[float(number) for number in triple] for triple in figure.scores])
    facts, totals = [], []
    for name, triples in figure.attention.items():
        bounded = find_transformation(name).bounded
        attention, credit = attend_with_credit(scores, 1.0, name)
        for place, printed in enumerate(triples):
            # The figure omits trailing zeros, so both sides are written with two digits.
            ours = [f"{value:.2f}" for value in attention[place]]
            equal = [f"{float(number):.2f}" for number in printed] == ours
            what = f"{name}, round {place + 1}"
            what += f", u = {text(credit[place], 2)}" if bounded else ""
            shown = f"({', '.join(printed)})"
            found = text(attention[place], 4)
            facts.append(judged(what, shown, found, equal, "equal", "differs"))
        if bounded:
            cumulative = attention.sum(axis=0)
            what = f"{name}: largest cumulative attention of {text(cumulative, 2)}"
            most = float(cumulative.max())
            totals.append(at_most_1(what, most, f"{most:.4f}"))
    return (
        Claim("the attention values that Figure 1 shows", "Figure 1, page 372", tuple(facts)),
        Claim(
            "each source word gets a credit of f units of attention, which are consumed along the "
            "decoding process",
            "section 3, page 371; f = 1 in Figure 1",
            tuple(totals),
        ),
    )


def at_most_1(what: str, most: float, shown: str) -> Fact:
    """The fact that a word's attention is within a fertility of 1, up to rounding."""
    return judged(what, "at most 1", shown, most <= 1 + 1e-12, "at most 1", "above 1")
