"""Figure 1 of Malaviya et al. (2018), recomputed to the digits that are printed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention import attend_with_credit, find_transformation
from coverage_eval.published.claims import Claim, Fact
from coverage_eval.published.worked_example import Triple, load_figure1


def audit() -> tuple[Claim, ...]:
    """Recompute all twelve triples and the cumulative attention."""
    figure = load_figure1()
    scores = np.array([[float(text) for text in triple] for triple in figure.scores])
    facts, totals = [], []
    for name, triples in figure.attention.items():
        bounded = find_transformation(name).bounded
        attention, credit = attend_with_credit(scores, 1.0, name)
        for number, triple in enumerate(triples, start=1):
            bounds = credit[number - 1] if bounded else None
            facts.append(_triple_fact(name, number, triple, bounds, attention[number - 1]))
        if bounded:
            totals.append(_total_fact(name, attention.sum(axis=0)))
    return (
        Claim("the attention values that Figure 1 shows", "Figure 1, page 372", tuple(facts)),
        Claim(
            "each source word gets a credit of f units of attention, which are consumed along the "
            "decoding process",
            "section 3, page 371; f = 1 in Figure 1",
            tuple(totals),
        ),
    )


def _triple_fact(
    name: str,
    number: int,
    printed: Triple,
    bounds: NDArray[np.float64] | None,
    attention: NDArray[np.float64],
) -> Fact:
    # The figure leaves trailing zeros out, so both sides are written with two digits.
    equal = [f"{float(text):.2f}" for text in printed] == [f"{value:.2f}" for value in attention]
    what = f"{name}, round {number}"
    if bounds is not None:
        what += f", u = {_text(bounds, 2)}"
    outcome = "equal" if equal else "differs"
    return Fact(what, f"({', '.join(printed)})", _text(attention, 4), outcome, equal)


def _total_fact(name: str, cumulative: NDArray[np.float64]) -> Fact:
    most = float(cumulative.max())
    within = most <= 1 + 1e-12
    what = f"{name}: largest cumulative attention of {_text(cumulative, 2)}"
    outcome = "at most 1" if within else "above 1"
    return Fact(what, "at most 1", f"{most:.4f}", outcome, within)


def _text(values: NDArray[np.float64], digits: int) -> str:
    return f"({', '.join(f'{value:.{digits}f}' for value in values)})"
