"""What Malaviya et al. (2018) say about Figures 1 and 2 and about Appendix B.

Figure 1 is computed again; the outputs of Figure 2 and Appendix B are scored by REP.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention import attend_with_credit, find_transformation
from coverage_eval.core.batches import Texts
from coverage_eval.core.counting import count_fitted
from coverage_eval.papers.audit_tables import CSPARSEMAX
from coverage_eval.papers.claims import Claim, Fact, binary_fact, sign
from coverage_eval.papers.printed import (
    SYSTEMS,
    ExampleSet,
    load_appendix_b,
    load_figure2,
    read_data,
)
from coverage_eval.repetition.rep import REP

_REP = REP()


def _repetition_fact(examples: ExampleSet, system: str, number: int, *, decisive: bool) -> Fact:
    """Whether one output repeats anything; the papers say that only csparsemax's does not.

    Examples are numbered from 1.
    """
    example = examples.examples[number - 1]
    marks = {
        (mark.kind, str(mark)): f"{mark.detail['ngram']} ({mark.detail['hypothesis']}x)"
        for mark in _REP.evidence(example.outputs[system], example.reference)
    }
    repetitions = "; ".join(marks.values())
    outcomes = ("does not repeat", "repeats")
    expected, repeats = system != CSPARSEMAX, bool(repetitions)
    what, shown = f"example {number}, {system}", repetitions or "nothing"
    return Fact(what, outcomes[expected], shown, outcomes[repeats], repeats == expected, decisive)


def audit_appendix_b() -> tuple[Claim, ...]:
    """Which outputs of Appendix B repeat, by REP."""
    examples = load_appendix_b()
    numbers = range(1, len(examples.examples) + 1)
    texts = {system: examples.outputs(system) for system in SYSTEMS}
    result = count_fitted(Texts.from_lists(texts, examples.references), {"rep": _REP})
    rep = {system: float(result.score("rep", system)) for system in SYSTEMS}
    ours = rep[CSPARSEMAX]
    avoids: list[Fact] = []
    for system in SYSTEMS[:-1]:
        theirs = rep[system]
        what = f"REP of all eight: {CSPARSEMAX}, {system}"
        lower = sign(theirs - ours)
        sides = f"{ours:.2f} against {theirs:.2f}"
        avoids.append(binary_fact(what, "", sides, lower, "lower", "not lower"))
    avoids += [_repetition_fact(examples, CSPARSEMAX, n, decisive=False) for n in numbers]
    return (
        Claim(
            "constrained sparsemax avoids repeated words in the translation",
            "section 6, page 374, and Appendix B",
            tuple(avoids),
            "REP counts whatever the output has twice and the reference once: in example 8, where "
            'nothing is wrong, it counts "in the".',
            in_our_words=True,
        ),
        Claim(
            "red highlights the corresponding problematic parts of translations, including "
            "repetitions, dropped words or mistranslations",
            "Appendix B",
            (),
            unchecked="the text has lost the colours, so what is red is not known",
        ),
    )


def audit_figure2() -> tuple[Claim, ...]:
    """Whether csparsemax fixed the repetitions of Figure 2, by REP."""
    examples = load_figure2()
    facts = [
        _repetition_fact(examples, system, number, decisive=True)
        for number in (1, 2)
        for system in ("softmax", CSPARSEMAX)
    ]
    return (
        Claim(
            "Figure 2 shows examples of sentences for which the csparsemax fixed repetitions",
            "section 5, page 374",
            tuple(facts),
        ),
        Claim(
            'in the case of softmax repetitions, the decoder attends repeatedly to "letzten '
            'hundert" in the first sentence and "regierung" in the second; csparsemax yielded a '
            "sparse set of alignments",
            "section 5, page 374, and Figure 2",
            (),
            unchecked="the weights are drawn, not printed; softmax does repeat what these words "
            'mean, "the last hundred" and "government"',
            in_our_words=True,
        ),
    )


def audit_figure1() -> tuple[Claim, ...]:
    """Recompute all twelve triples of Figure 1 and the credit, to the printed digits."""
    figure = read_data("figure1")
    scores = np.array([[float(number) for number in triple] for triple in figure["scores"]])
    facts, totals = [], []
    for name, triples in figure["attention"].items():
        bounded = find_transformation(name).bounded
        attention, credit = attend_with_credit(scores, 1.0, name)
        for step, printed in enumerate(triples):
            # The figure omits trailing zeros, so both sides are written with two digits.
            ours = [f"{value:.2f}" for value in attention[step]]
            equal = [f"{float(number):.2f}" for number in printed] == ours
            what = f"{name}, round {step + 1}"
            what += f", u = {_triple(credit[step], 2)}" if bounded else ""
            shown = f"({', '.join(printed)})"
            computed = _triple(attention[step], 4)
            facts.append(binary_fact(what, shown, computed, equal, "equal", "differs"))
        if bounded:
            cumulative = attention.sum(axis=0)
            what = f"{name}: largest cumulative attention of {_triple(cumulative, 2)}"
            largest = float(cumulative.max())
            within = largest <= 1 + 1e-12
            totals.append(
                binary_fact(what, "at most 1", f"{largest:.4f}", within, "at most 1", "above 1")
            )
    return (
        Claim(
            "the attention values that Figure 1 shows",
            "Figure 1, page 372",
            tuple(facts),
            in_our_words=True,
        ),
        Claim(
            "each source word gets a credit of f units of attention, which are consumed along the "
            "decoding process",
            "section 3, page 371; f = 1 in Figure 1",
            tuple(totals),
            in_our_words=True,
        ),
    )


def _triple(values: NDArray[np.float64], digits: int) -> str:
    """Three numbers, as the paper writes them."""
    return f"({', '.join(f'{value:.{digits}f}' for value in values)})"
