"""REP of the translations that Malaviya et al. (2018) print, against what they say about them."""

from __future__ import annotations

from coverage_eval.metrics.rep import REP
from coverage_eval.papers.claims import Claim, Fact
from coverage_eval.papers.printed import SYSTEMS, ExampleSet, load_appendix_b, load_figure2

CSPARSEMAX = "csparsemax"

_METRIC = REP()


def _corpus_rep(examples: ExampleSet, system: str) -> float:
    return float(_METRIC.corpus_score(examples.outputs(system), examples.references))


def _repetitions(examples: ExampleSet, system: str, number: int) -> str:
    """What one output repeats, or nothing; examples are numbered from 1."""
    example = examples.examples[number - 1]
    found = _METRIC.evidence(example.outputs[system], example.reference)
    return "; ".join(f"{' '.join(item.ngram)} ({item.hypothesis_count}x)" for item in found)


def _repetition_fact(
    examples: ExampleSet, system: str, number: int, *, wanted: bool, decisive: bool
) -> Fact:
    """Whether one output repeats anything, against whether the claim needs a repetition."""
    text = _repetitions(examples, system, number)
    return Fact(
        f"example {number}, {system}",
        "repeats" if wanted else "does not repeat",
        text or "nothing",
        "repeats" if text else "does not repeat",
        bool(text) == wanted,
        decisive,
    )


def audit_appendix_b() -> tuple[Claim, ...]:
    """Which outputs of Appendix B repeat, by REP."""
    examples = load_appendix_b()
    numbers = range(1, len(examples.examples) + 1)
    ours = _corpus_rep(examples, CSPARSEMAX)
    avoids, others = [], []
    for system in SYSTEMS[:-1]:
        theirs = _corpus_rep(examples, system)
        what = f"REP of all eight: {CSPARSEMAX}, {system}"
        outcome = "lower" if ours < theirs else "not lower"
        avoids.append(Fact(what, f"{ours:.2f}", f"{theirs:.2f}", outcome, ours < theirs))
        found = [(number, _repetitions(examples, system, number)) for number in numbers]
        flagged = [f"{number}: {text}" for number, text in found if text]
        outcome = f"{len(flagged)} of {len(numbers)}, REP {theirs:.2f}"
        listed = "; ".join(flagged) or "none"
        others.append(Fact(f"outputs of {system}", "some repeat", listed, outcome, bool(flagged)))
    avoids += [
        _repetition_fact(examples, CSPARSEMAX, number, wanted=False, decisive=False)
        for number in numbers
    ]
    return (
        Claim(
            "constrained sparsemax avoids repeated words in the translation",
            "section 6, page 374, and Appendix B; in our words",
            tuple(avoids),
            "REP counts whatever comes twice and once in the reference: of example 8, where "
            'nothing is wrong, it counts "in the".',
        ),
        Claim(
            "red highlights the corresponding problematic parts of translations, including "
            "repetitions",
            "Appendix B",
            tuple(others),
            "The colours are lost in the text; shown is what REP finds in the outputs of the three "
            "other systems.",
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
