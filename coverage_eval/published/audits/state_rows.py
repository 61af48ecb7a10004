"""Text against published scripts, rows 6, 9, 10, 17 and 18: the attention step and its state.

The scripts are those of the OpenNMT fork of Malaviya et al. (2018). What they compute is written
anew, in as few lines as show it.
"""

from __future__ import annotations

import math

import numpy as np

from coverage_eval.attention import (
    attend_with_credit,
    constrained_sparsemax,
    sink_at_end,
    sparsemax,
)
from coverage_eval.attention.fertility import actual, expected, guided, training_targets
from coverage_eval.attention.scoring import BilinearScore
from coverage_eval.attention.step import AttentionStep
from coverage_eval.published.audits.facts import agree, differ, disagree, equal
from coverage_eval.published.audits.random_problems import Vector
from coverage_eval.published.claims import Claim


def coverage_vector() -> Claim:
    """Row 6: where the coverage vector enters the score."""
    weight = np.array([[1.0, 2.0], [3.0, -1.0]])
    memory = np.array([[1.0, 0.0], [0.5, -1.0], [-1.0, 2.0]])
    query, vector = np.array([0.3, -0.7]), np.array([0.5, -1.0])
    beta = np.array([0.0, 0.4, 1.2])
    text, scripts = (_score(form, weight, vector, query, memory, beta) for form in _FORMS)
    by_text = np.array(
        [query @ (weight @ h + vector * b) for h, b in zip(memory, beta, strict=True)]
    )
    by_scripts = np.array(
        [(weight.T @ query + vector * b) @ h for h, b in zip(memory, beta, strict=True)]
    )
    start = [_score(form, weight, vector, query, memory, 0 * beta) for form in _FORMS]
    return Claim(
        "6. coverage vector: z = sᵀ(W h + v β) in the text, (W s + w β)ᵀ h in the scripts",
        "section 5, page 373",
        (
            agree("the text's formula, our form 'text'", [(by_text, text)]),
            agree("the scripts' formula, our form 'scripts'", [(by_scripts, scripts)]),
            disagree("both forms after some attention", [(text, scripts)]),
            agree("both forms before any, β = 0", [(start[0], start[1])]),
        ),
        "Ours: the text's by default, the scripts' as an option.",
    )


_FORMS = ("text", "scripts")


def _score(
    form: str, weight: Vector, vector: Vector, query: Vector, memory: Vector, beta: Vector
) -> Vector:
    score = BilinearScore(weight, vector, "text" if form == "text" else "scripts")
    states = memory[None]
    row: Vector = score.scores(query[None], score.keys(states), states, beta[None])[0]
    return row


def exhaustion() -> Claim:
    """Row 9: whether the exhaustion bonus is given to the sink."""
    c = 0.2
    query, memory = np.array([[1.0]]), np.array([[[0.5], [-0.3], [0.0]]])
    fertilities = np.array([[2.0, 1.0, math.inf]])
    plain, ours = (
        AttentionStep(BilinearScore(), "constrained_sparsemax", exhaustion=constant)
        for constant in (0.0, c)
    )
    scores = []
    for step in (plain, ours):
        source = step.source(memory, fertilities=fertilities)
        result, _ = step(query, source, step.start(source))
        scores.append(result.scores[0])
    gain = scores[1] - scores[0]
    return Claim(
        "9. exhaustion z + c·u: of all words in the text; not of the sink in the scripts, whose "
        "bound is infinite",
        "section 4, page 373",
        (
            equal("first word, u = 2: c·u, what our step adds", c * 2, float(gain[0])),
            equal("second word, u = 1: c·u, what our step adds", c * 1, float(gain[1])),
            differ("<SINK>, u = ∞: c·u, what our step adds", c * math.inf, float(gain[2])),
        ),
        "Ours: not the sink; an infinite score would take all attention.",
    )


def fertilities() -> Claim:
    """Row 10: what is added to fertilities, and where."""
    first, second = [(0, 0), (0, 1), (1, 2)], [(0, 0), (0, 1), (0, 2)]
    table = guided([(["a", "b", "c"], first), (["a", "b"], second)])
    a, b, c, d = table.fertilities(["a", "b", "c", "d"]).tolist()
    links = [(0, 0), (0, 1)]
    ours, with_1 = float(actual(links, 1)[0]), float(training_targets(links, 1)[0])
    # Classes of 1 and 2 links; in the text the predictor learns 1 more, so its classes are 2 and 3.
    bare, text = (float(expected([0.25, 0.75], first=lowest)) for lowest in (1, 2))
    return Claim(
        "10. fertilities: the text adds a constant (1) to the training targets of PREDICTED; the "
        "scripts' files hold the bare numbers, and 1 is added to ACTUAL and PREDICTED, to GUIDED "
        "nothing, when they are loaded, in training and in decoding",
        "section 4, pages 372 and 373",
        (
            equal("GUIDED, a with 2 and 3 links: maximum; ours", 3, a, digits=0),
            equal("GUIDED, b with 1 and none: maximum; ours", 1, b, digits=0),
            equal("GUIDED, c in the data without link: at least 1; ours", 1, c, digits=0),
            equal("GUIDED, d not in the data: 1; ours", 1, d, digits=0),
            differ("ACTUAL, 2 links: scripts' bound 2 + 1; ours", 3, ours, digits=0),
            equal("ACTUAL, 2 links: scripts' bound 2 + 1; ours, --add 1", 3, with_1, digits=0),
            differ("PREDICTED, expected 1.75: scripts' bound 1.75 + 1; ours", 2.75, bare),
            equal("PREDICTED, expected 1.75: scripts' bound 1.75 + 1; text's", 2.75, text),
        ),
        "Ours: GUIDED as text and scripts; ACTUAL and PREDICTED bare, as in the scripts' files; "
        "coverage-eval fertility --add 1 gives the bounds.",
    )


def gold_dump() -> Claim:
    """Row 17: what attention dumped against the gold target is bounded by."""
    scores, fertilities = np.array([[2.0, 0.0, 0.0]] * 3), np.array([1.0, 1.0, 1.0])
    bounded, _ = attend_with_credit(scores, fertilities)
    unbounded, _ = attend_with_credit(scores, np.full(3, math.inf))
    return Claim(
        "17. attention dumped against a gold target (-tgt): in the scripts it is computed without "
        "the fertilities of GUIDED, ACTUAL and PREDICTED, so that nothing bounds it",
        "not in the text",
        (
            equal("first of 3 words, f = 1, 3 steps: its attention with fertilities",
                  1, float(bounded[:, 0].sum())),
            differ("the same: f, its attention without fertilities",
                   1, float(unbounded[:, 0].sum())),
            agree("without fertilities: constrained sparsemax, sparsemax",
                  [(unbounded, sparsemax(scores))]),
        ),
        "Ours: with fertilities; a dump's 'gold' of such systems is that of other attention than "
        "they translate with.",
    )  # fmt: skip


def padded_sink() -> Claim:
    """Row 18: whether padding moves the sink."""
    rng = np.random.default_rng(18)
    memory, query = rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 3))
    lengths, c = np.array([3, 5]), 0.2
    fertilities = sink_at_end(np.full((2, 5), 1.5), lengths)
    step = AttentionStep(BilinearScore(), "constrained_sparsemax", exhaustion=c)
    batch = step.source(memory, lengths=lengths, fertilities=fertilities)
    alone = step.source(memory[:1, :3], fertilities=fertilities[:1, :3])
    padded, _ = step(query, batch, step.start(batch))
    single, _ = step(query[:1], alone, step.start(alone))
    # Infinity times c would leave no attention to compare: the scripts' sink has some large bound.
    bounds = np.where(np.isinf(fertilities), 10.0, fertilities)
    scores = np.einsum("bd,bsd->bs", query, memory)
    by_itself, in_batch = _bonus(bounds[:1, :3], c)[0], _bonus(bounds, c)[0, :3]
    by_scripts = tuple(
        constrained_sparsemax(scores[0, :3] + bonus, bounds[0, :3])
        for bonus in (by_itself, in_batch)
    )
    return Claim(
        "18. the sink of a row that is shorter than its batch: the scripts leave out the batch's "
        "last position when they add the exhaustion bonus, so that such a sink is given one, and "
        "the same row alone is not",
        "not in the text",
        (
            differ("scripts, c = .2, a bound of 10: the sink's bonus alone, in a row of 3 among 5",
                   float(by_itself[2]), float(in_batch[2])),
            disagree("scripts: attention alone, in the batch", [(by_scripts[0], by_scripts[1])]),
            agree("ours, a row of 3 among 5: scores alone, in the batch",
                  [(single.scores[0], padded.scores[0, :3])]),
            agree("ours: attention", [(single.attention[0], padded.attention[0, :3])]),
        ),
        "Ours: what a row is given does not depend on its batch.",
    )  # fmt: skip


def _bonus(bounds: Vector, c: float) -> Vector:
    """The scripts' exhaustion bonus: of all positions of a batch but the last, padded or not."""
    bonus = c * bounds
    bonus[:, -1] = 0.0
    return bonus
