"""REP over the translations that Malaviya et al. (2018) print."""

from __future__ import annotations

from coverage_eval.metrics.rep import REP
from coverage_eval.published.claims import Fact
from coverage_eval.published.translations import ExampleSet

CSPARSEMAX = "csparsemax"

_METRIC = REP()


def corpus_rep(examples: ExampleSet, system: str) -> float:
    """REP of all outputs of a system."""
    return float(_METRIC.corpus_score(examples.outputs(system), examples.references))


def repetitions(examples: ExampleSet, system: str, number: int) -> str:
    """What one output repeats, empty if nothing; examples are numbered from 1."""
    example = examples.examples[number - 1]
    found = _METRIC.evidence(example.outputs[system], example.reference)
    return "; ".join(f"{' '.join(item.ngram)} ({item.hypothesis_count}x)" for item in found)


def repetition_fact(
    examples: ExampleSet, system: str, number: int, *, wanted: bool, decisive: bool
) -> Fact:
    """Whether one output repeats anything, against what the paper says.

    Args:
        examples: The printed examples.
        system: One of their systems.
        number: The example's number, from 1.
        wanted: Whether the claim needs a repetition.
        decisive: Whether the claim falls with it.
    """
    text = repetitions(examples, system, number)
    return Fact(
        f"example {number}, {system}",
        "repeats" if wanted else "does not repeat",
        text or "nothing",
        "repeats" if text else "does not repeat",
        bool(text) == wanted,
        decisive,
    )
