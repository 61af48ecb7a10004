"""Text against published scripts, rows 13, 15 and 16: penalties and the encoder.

The scripts are those of the OpenNMT fork of Malaviya et al. (2018). What they compute is written
anew, in as few lines as show it.
"""

from __future__ import annotations

import math

import numpy as np

from coverage_eval.attention.penalties import coverage_penalty
from coverage_eval.attention.replay import EncoderWeights, LSTMWeights, encode
from coverage_eval.attention_maps.rescoring import Candidates, NBest
from coverage_eval.published.audits.facts import agree, differ, disagree, equal
from coverage_eval.published.audits.random_problems import Vector
from coverage_eval.published.claims import Claim


def penalty_of_zeros() -> Claim:
    """Row 13: the coverage penalty of words without attention."""
    coverage = np.array([0.0, 0.5, 1.4])
    by_text = sum(math.log(max(0.1, min(1.0, total))) for total in coverage.tolist())
    ours = float(coverage_penalty(coverage, epsilon=0.1))
    wu = float(coverage_penalty(coverage, form="wu"))
    return Claim(
        "13. coverage penalty with zeros: max{ε, min{1, Σα}} with ε = 0.1 in the text, "
        "-min_attention 0.1 in the scripts",
        "footnote 5, page 373",
        (
            equal("Σα = 0, 0.5, 1.4: the text's formula, ours", by_text, ours, digits=4),
            differ("ours; without ε, as Wu et al. (2016) have it", ours, wu, digits=4),
        ),
        "Ours: the same.",
    )


def length() -> Claim:
    """Row 15: what the length penalty counts."""
    nbest = NBest("a list", ("a b c d e",), np.array([0]), np.array([-10.0]))
    words, both = (
        float(Candidates(nbest, count_bos=counted, count_eos=counted).scores(0.6, 0)[0])
        for counted in (False, True)
    )
    return Claim(
        "15. length penalty ((5 + |y|) / 6)^α: |y| is the length in the text, after Wu et al. "
        "(2016); the scripts count BOS and EOS, |y| = n + 2",
        "section 5, page 373",
        (
            equal("log P = −10, α = 0.6, n = 5: scripts, ours with --count-bos --count-eos",
                  -10 / ((5 + 7) / 6) ** 0.6, both, digits=3),
            equal("the same: text, ours", -10 / ((5 + 5) / 6) ** 0.6, words, digits=3),
            differ("scripts, ours", both, words, digits=3),
        ),
        "Ours: the words; rescore --count-bos --count-eos counts as the scripts, and is named in "
        "the signature.",
    )  # fmt: skip


def encoder() -> Claim:
    """Row 16: in which directions the encoder reads."""
    both, ahead = (_first_states(directions) for directions in (2, 1))
    return Claim(
        "16. encoder: bidirectional in the text; the first commands of the scripts' README have no "
        "-encoder_type, and the default of OpenNMT-py reads forwards only; later ones have brnn",
        "section 2, page 371",
        (
            disagree("bidirectional: states of the first word before two other words", [both]),
            agree("forwards only: the same", [ahead]),
        ),
        "Ours: bidirectional; opennmt_weights reads checkpoints of both.",
    )


def _first_states(directions: int) -> tuple[Vector, Vector]:
    """Encoder states of one word, with one word after it and with another."""
    rng = np.random.default_rng(16)
    layer = tuple(
        LSTMWeights(
            rng.normal(size=(8, 3)), rng.normal(size=(8, 2)), rng.normal(size=8), rng.normal(size=8)
        )
        for _ in range(directions)
    )
    memory = encode([[0, 1], [0, 2]], EncoderWeights(rng.normal(size=(3, 3)), (layer,))).memory
    return memory[0, 0], memory[1, 0]
