"""Which outputs of Appendix B repeat, by REP, against what Malaviya et al. (2018) say."""

from __future__ import annotations

from coverage_eval.published.audits.repetitions import (
    CSPARSEMAX,
    corpus_rep,
    repetition_fact,
    repetitions,
)
from coverage_eval.published.claims import Claim, Fact
from coverage_eval.published.translations import SYSTEMS, ExampleSet, load_appendix_b


def audit() -> tuple[Claim, ...]:
    """Score Appendix B with REP."""
    examples = load_appendix_b()
    return (_avoids(examples), _others_repeat(examples))


def _avoids(examples: ExampleSet) -> Claim:
    ours = corpus_rep(examples, CSPARSEMAX)
    facts = []
    for system in SYSTEMS[:-1]:
        theirs = corpus_rep(examples, system)
        what = f"REP of all eight: {CSPARSEMAX}, {system}"
        outcome = "lower" if ours < theirs else "not lower"
        facts.append(Fact(what, f"{ours:.2f}", f"{theirs:.2f}", outcome, ours < theirs))
    facts += [
        repetition_fact(examples, CSPARSEMAX, number, wanted=False, decisive=False)
        for number in range(1, len(examples.examples) + 1)
    ]
    return Claim(
        "constrained sparsemax avoids repeated words in the translation",
        "section 6, page 374, and Appendix B; in our words",
        tuple(facts),
        "REP counts whatever comes twice and once in the reference: of example 8, where nothing is "
        'wrong, it counts "in the".',
    )


def _others_repeat(examples: ExampleSet) -> Claim:
    facts = []
    for system in SYSTEMS[:-1]:
        numbers = range(1, len(examples.examples) + 1)
        found = {number: repetitions(examples, system, number) for number in numbers}
        flagged = [f"{number}: {text}" for number, text in found.items() if text]
        outcome = f"{len(flagged)} of {len(numbers)}, REP {corpus_rep(examples, system):.2f}"
        listed = "; ".join(flagged) or "none"
        facts.append(Fact(f"outputs of {system}", "some repeat", listed, outcome, bool(flagged)))
    return Claim(
        "red highlights the corresponding problematic parts of translations, including repetitions",
        "Appendix B",
        tuple(facts),
        "The colours are lost in the text; shown is what REP finds in the outputs of the three "
        "other systems.",
    )
