"""Where the text of Malaviya et al. (2018) and their published scripts differ, both computed.

The scripts are Unbabel/sparse_constrained_attention at commit 55111dc, and the authors' fork of
OpenNMT-py. None of their code is here; what they compute is written again in as few lines as
possible.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise, product

import numpy as np

from coverage_eval.align.aligner import Aligner
from coverage_eval.attention import (
    AttendResult,
    AttentionStep,
    BilinearScore,
    attend,
    attend_with_credit,
    constrained_sparsemax_vjp,
)
from coverage_eval.attention.penalties import penalized_score
from coverage_eval.core.batches import Texts
from coverage_eval.core.counting import count_fitted
from coverage_eval.coverage.drop import DROP
from coverage_eval.papers.claims import Claim
from coverage_eval.papers.problems import (
    MARGIN,
    PROPOSITION,
    SEED,
    WORDS,
    Vector,
    agree,
    as_claimed,
    differ,
    equal,
    finite_differences,
    interior,
    message_of,
)
from coverage_eval.repetition.rep import REP
from fast_align_wrapper import AlignerDataError
from fast_align_wrapper.links import parse_links

SEQUENCES = 1_000


def audit_scripts() -> tuple[Claim, ...]:
    """Where the text and the published scripts differ, with both computed."""
    scripts = (rep_second_sum, drop_denominator, drop_empty_line, exhaustion, length, no_interior)
    return tuple(audit() for audit in scripts)


def rep_second_sum() -> Claim:
    """What the second sum of REP counts."""
    apart, doubled, reference = "the cat the", "the the cat", "the cat"
    ours = {text: float(REP().sentence_score(text, reference)) for text in (apart, doubled)}
    return Claim(
        "1. REP, second sum: the text has t(ww), a word twice in a row, and the scripts count "
        "bigrams of two equal words; one transcription misreads it as t(w)",
        "section 5, page 374",
        (
            equal(f'"{doubled}": t(ww), REP', rep_of_script(doubled, reference, 2), ours[doubled]),
            equal(f'"{apart}": t(ww), REP', rep_of_script(apart, reference, 2), ours[apart]),
            differ(f'"{apart}": t(w), REP', rep_of_script(apart, reference, 1), ours[apart]),
        ),
        f'Ours: the same as the text. The reference is "{reference}".',
        in_our_words=True,
    )


def rep_of_script(hypothesis: str, reference: str, times: int) -> float:
    """REP by its formula; the second sum is over words that occur ``times`` times in a row."""
    hyp, ref = hypothesis.split(), reference.split()
    t, r = Counter(pairwise(hyp)), Counter(pairwise(ref))
    sigma = sum(max(0, count - r[gram]) for gram, count in t.items() if count >= 2)
    sigma += 2 * sum((_rows(hyp, times) - _rows(ref, times)).values())
    return 100 * sigma / len(ref)


def _rows(words: Sequence[str], times: int) -> Counter[str]:
    starts = range(len(words) - times + 1)
    return Counter(words[i] for i in starts if len(set(words[i : i + times])) == 1)


def drop_denominator() -> Claim:
    """The denominator of DROP."""
    source = "a b c d e"
    reference, hypothesis = parse_links("0-0 1-1 2-2"), parse_links("0-0")
    figures = {}
    for denominator in ("aligned", "source"):
        metric = DROP(Aligner.from_links([reference], [hypothesis]), denominator=denominator)
        figures[denominator] = float(metric.sentence_score("a b c", "a b c", source))
    return Claim(
        '2. DROP, denominator: "percentage of source words that aligned with some word from the '
        'reference, but not with any word from the predicted translation" may be of all source '
        "words; in the scripts it is of those aligned with the reference",
        "section 5, page 374",
        (
            equal("2 of 3 aligned words; DROP, denominator aligned", 200 / 3, figures["aligned"]),
            equal("2 of 5 source words; DROP, denominator source", 40.0, figures["source"]),
            differ("both readings", figures["aligned"], figures["source"]),
        ),
        "Ours: the scripts' by default, the other as an option; the signature names it.",
        in_our_words=True,
    )


def drop_empty_line() -> Claim:
    """Alignment lines that are empty, start with < or have no partner."""
    references, hypotheses = ["0-0 1-1", ""], ["0-0", ""]
    scripts, lines = _drop_of_scripts(references, hypotheses[:1])
    scripts, _ = _drop_of_scripts(references, hypotheses)
    ours = _drop(references, hypotheses)
    compatible = _drop(references, hypotheses, "acl2018")
    after = ["0-0", "1-1"], ["1-1", "2-2"]
    unreadable, unequal = (
        "error" if message_of(*call) else "no error"
        for call in (
            (AlignerDataError, parse_links, "<s> 0-0"),
            (ValueError, _drop, references, references[:1]),
        )
    )
    shifted, _ = _drop_of_scripts(["<s> 0-0", *after[0]], ["0-0", *after[1]])
    return Claim(
        "3. DROP, empty alignment line: the scripts count it as one aligned word, skip a line that "
        "starts with <, which shifts the pairing, and cut unequal files",
        "not in the text",
        (
            equal("0-0 1-1 and an empty line: scripts, --paper acl2018", scripts, compatible),
            differ("the same: scripts, DROP", scripts, ours),
            differ("two pairs after a < line: scripts, DROP", shifted, _drop(*after)),
            as_claimed("a line that starts with <: ours", "error", unreadable),
            equal("2 lines against 1: scored by the scripts", lines, 1, digits=0),
            as_claimed("2 lines against 1: ours", "error", unequal),
        ),
        "Ours: an empty line has no aligned words; --paper acl2018 gives the scripts' figure.",
        in_our_words=True,
    )


def _drop_of_scripts(references: Iterable[str], hypotheses: Iterable[str]) -> tuple[float, int]:
    """DROP as the scripts read their files, and the number of lines that were paired."""
    dropped = aligned = lines = 0
    kept = (
        [line for line in side if not line.startswith("<")] for side in (references, hypotheses)
    )
    for reference, hypothesis in zip(*kept, strict=False):
        # Splitting an empty line gives one empty word: the source position it "aligns".
        expected, covered = (
            {link.split("-")[0] for link in line.split(" ")} for line in (reference, hypothesis)
        )
        dropped += len(expected - covered)
        aligned += len(expected)
        lines += 1
    return 100 * dropped / aligned, lines


def _drop(references: Iterable[str], hypotheses: Iterable[str], compat: str | None = None) -> float:
    expected, covered = ([parse_links(line) for line in side] for side in (references, hypotheses))
    texts = ["a b c d e"] * len(expected)
    metric = DROP(Aligner.from_links(expected, covered), compat=compat)
    result = count_fitted(Texts.from_lists({"hypothesis": texts}, texts), {"drop": metric})
    return float(result.score("drop"))


def exhaustion() -> Claim:
    """Whether the exhaustion bonus is given to the sink, and what its bound is."""
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
        "4. exhaustion z + c·u: for all words in the text; in the scripts for all positions of a "
        "batch but the last, and the sink's bound, infinite in the text, is 1 (Models.py)",
        "section 4, page 373",
        (
            equal("first word, u = 2: c·u, what our step adds", c * 2, float(gain[0])),
            equal("second word, u = 1: c·u, what our step adds", c * 1, float(gain[1])),
            differ(
                "<SINK>, u = ∞ as in the text: c·u, what our step adds", math.inf, float(gain[2])
            ),
            differ("<SINK>, u = 1 (scripts): c·u, what our step adds", c, float(gain[2])),
        ),
        "Ours: not for the sink; an infinite score would take all attention.",
        in_our_words=True,
    )


def length() -> Claim:
    """What the length penalty counts."""
    words, both = (float(penalized_score(-10.0, count, 0.0, alpha=0.6)) for count in (5, 7))
    return Claim(
        "5. length penalty ((5 + |y|) / 6)^α: |y| is the length in the text, after Wu et al. "
        "(2016); the scripts count BOS and EOS, |y| = n + 2",
        "section 5, page 373",
        (
            equal("log P = −10, α = 0.6, n = 5: scripts, ours with both counted",
                  -10 / ((5 + 7) / 6) ** 0.6, both, digits=3),
            equal("the same: text, ours", -10 / ((5 + 5) / 6) ** 0.6, words, digits=3),
            differ("scripts, ours", both, words, digits=3),
        ),
        "Ours: the words.", in_our_words=True,)  # fmt: skip


def no_interior() -> Claim:
    """What the gradient is where all attention is at its bounds."""
    example = np.array([[1, 0.8, -5], [2, 2, -5]])
    weights = np.array([[[0.0, 0, 0], [1, 0, 0]]])
    numeric = finite_differences(
        lambda z: np.append(attend_with_credit([z, example[1]], 1.0)[0][1, :1], 0), example[0]
    )[0]
    ours, scripts = (
        through_time(_attended(example[None], 1, 0), weights, zero=zero)[0, 0]
        for zero in (False, True)
    )
    shares = []
    for fertility, sink in product((1, 2, 3), (0, 1)):
        generator = np.random.default_rng(SEED)
        scores, weights = generator.normal(size=(2, SEQUENCES, fertility * WORDS, WORDS + sink))
        run = _attended(scores, fertility, sink)
        right, zeros = (through_time(run, weights, zero=zero) for zero in (False, True))
        share = 100 * float((abs(right - zeros).max(axis=(1, 2)) > MARGIN).mean())
        name = f"f = {fertility}, {'with a' if sink else 'no'} sink"
        shares.append(differ(f"{name}: % of sequences that the zero changes, none", share, 0))
    return Claim(
        "6. no word strictly between 0 and its bound (A is empty): eqs. 7 and 8 divide by |A| = 0, "
        "and the scripts' gradients are 0",
        PROPOSITION,
        (
            agree("f = 1, z₁ = (1, .8, −5), z₂ = (2, 2, −5): our dα₂[0]/dz₁ and finite differences",
                  [(ours, numeric)], limit=1e-7),
            differ("the same, dα₂[0]/dz₁[1]: finite differences, scripts", numeric[1], scripts[1]),
            *shares,
        ),
        "Ours: du = dα less its mean over the bounds that are reached. Scores of earlier steps do "
        f"not change their sum. The shares are of {SEQUENCES} sequences with random scores, "
        f"{WORDS} words and {WORDS} f steps.", in_our_words=True,)  # fmt: skip


def _attended(scores: Vector, fertility: float, sinks: int) -> AttendResult:
    """Constrained sparsemax with credit of a batch of scores, the last of each being sinks."""
    rows, _, positions = scores.shape
    bounds = np.full(positions, float(fertility))
    bounds[positions - sinks :] = np.inf
    memory = np.broadcast_to(np.eye(positions), (rows, positions, positions))
    step = AttentionStep(BilinearScore(), "constrained_sparsemax")
    return attend(scores, memory, step, fertilities=bounds)


def through_time(run: AttendResult, weights: Vector, *, zero: bool) -> Vector:
    """The gradient of the weighted attention for all scores, with the scripts' zero or without."""
    steps, later = [], np.zeros_like(run.cumulative)
    for t, result in reversed(list(enumerate(run.trace.results))):
        alpha, u = result.attention, np.asarray(result.credit)
        dz, du = constrained_sparsemax_vjp(weights[:, t] + later, alpha, u)
        later = later - du * (interior(alpha, u).any(axis=1, keepdims=True) | (not zero))
        steps.append(dz)
    return np.stack(steps[::-1], axis=1)
