"""The table "text against scripts": each difference shown by computing both sides.

The scripts are those of Malaviya et al. (2018): Unbabel/sparse_constrained_attention at commit
55111dc, and their fork of OpenNMT-py. None of their code is here; what they compute is
reimplemented in as few lines as possible.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.attention import (
    AttentionStep,
    BilinearScore,
    DecoderState,
    DecoderWeights,
    LSTMWeights,
    attend_with_credit,
    constrained_sparsemax,
    constrained_sparsemax_vjp,
    coverage_penalty,
    decoder_step,
    sink_at_end,
    sparsemax,
)
from coverage_eval.attention.fertility import actual, expected, guided, training_targets
from coverage_eval.errors import MissingDependencyError
from coverage_eval.metrics.drop import DROP
from coverage_eval.metrics.evaluation import TextMetric
from coverage_eval.metrics.meteor import METEOR
from coverage_eval.metrics.rep import REP
from coverage_eval.metrics.sacrebleu_adapters import BLEU
from coverage_eval.papers.audit_equations import (
    Vector,
    bounded_problems,
    by_medians,
    finite_differences,
    interior,
    products,
    solved_problems,
)
from coverage_eval.papers.claims import Claim, Fact, agree, as_said, differ, disagree, equal
from coverage_eval.papers.rescoring import Candidates, NBest
from fast_align_wrapper.errors import AlignerDataError
from fast_align_wrapper.links import parse_links


def audit_scripts() -> tuple[Claim, ...]:
    """All rows, in the order of their numbers."""
    return (
        rep_second_sum(),
        drop_denominator(),
        drop_empty_line(),
        bleu(),
        meteor(),
        coverage_vector(),
        solvers(),
        no_interior(),
        exhaustion(),
        fertilities(),
        drop_sink(),
        lagrangian(),
        penalty_of_zeros(),
        jacobian_norm(),
        length(),
        encoder(),
        gold_dump(),
        padded_sink(),
        query_state(),
    )


def rep_second_sum() -> Claim:
    """Row 1: what the second sum of REP counts."""
    apart, doubled, reference = "the cat the", "the the cat", "the cat"
    ours = {hypothesis: _score(REP(), hypothesis, reference) for hypothesis in (apart, doubled)}
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
    )


def _score(metric: TextMetric, hypothesis: str, reference: str) -> float:
    return float(metric.corpus_score([hypothesis], [reference]))


def rep_of_script(hypothesis: str, reference: str, times: int) -> float:
    """REP by its formula; the second sum is over words that occur ``times`` times in a row."""
    hyp, ref = hypothesis.split(), reference.split()
    t, r = Counter(pairwise(hyp)), Counter(pairwise(ref))
    sigma = sum(max(0, count - r[gram]) for gram, count in t.items() if count >= 2)
    sigma += 2 * sum((_rows(hyp, times) - _rows(ref, times)).values())
    return 100 * sigma / len(ref)


def _rows(words: Sequence[str], times: int) -> Counter[str]:
    places = range(len(words) - times + 1)
    return Counter(words[i] for i in places if len(set(words[i : i + times])) == 1)


def drop_denominator() -> Claim:
    """Row 2: the denominator of DROP."""
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
    )


def drop_empty_line() -> Claim:
    """Row 3: alignment lines that are empty, start with < or have no partner."""
    references, hypotheses = ["0-0 1-1", ""], ["0-0", ""]
    scripts, lines = _drop_of_scripts(references, hypotheses[:1])
    scripts, _ = _drop_of_scripts(references, hypotheses)
    ours = _drop(references, hypotheses)
    compatible = _drop(references, hypotheses, "acl2018")
    after = ["0-0", "1-1"], ["1-1", "2-2"]
    unreadable = unequal = "no error"
    try:
        parse_links("<s> 0-0")
    except AlignerDataError:
        unreadable = "error"
    try:
        _drop(references, references[:1])
    except ValueError:
        unequal = "error"
    shifted, _ = _drop_of_scripts(["<s> 0-0", *after[0]], ["0-0", *after[1]])
    return Claim(
        "3. DROP, empty alignment line: the scripts count it as one aligned word, skip a line that "
        "starts with <, which shifts the pairing, and cut unequal files",
        "not in the text",
        (
            equal("0-0 1-1 and an empty line: scripts, --paper acl2018", scripts, compatible),
            differ("the same: scripts, DROP", scripts, ours),
            differ("two pairs after a < line: scripts, DROP", shifted, _drop(*after)),
            as_said("a line that starts with <: ours", "error", unreadable),
            equal("2 lines against 1: scored by the scripts", lines, 1, digits=0),
            as_said("2 lines against 1: ours", "error", unequal),
        ),
        "Ours: an empty line has no aligned words; --paper acl2018 gives the scripts' figure.",
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
    return float(metric.corpus_score(texts, texts))


def bleu() -> Claim:
    """Row 4: which BLEU."""
    hypothesis = "The cat sat on the mat and slept in Rome ."
    reference = "the cat sat on the mat and it slept in rome ."
    lowercased = _score(BLEU.acl2018(), hypothesis, reference)
    cased = _score(BLEU(tokenize="none", smooth="none"), hypothesis, reference)
    scripts = _multi_bleu(hypothesis.lower().split(), reference.lower().split())
    return Claim(
        '4. BLEU: "tokenized BLEU" is multi-bleu.perl with -lc in the scripts, which lowercases',
        "section 5, page 373",
        (
            equal("lowercased, unsmoothed: multi-bleu's formula, ce.BLEU.acl2018",
                round(scripts, 2), round(lowercased, 2)),
            differ("lowercased, cased", lowercased, cased),
        ),
        "Ours: sacreBLEU; ce.BLEU.acl2018 gives the scripts' figure.",
    )  # fmt: skip


def _multi_bleu(hypothesis: Sequence[str], reference: Sequence[str]) -> float:
    """BLEU of one segment without smoothing (Papineni et al. 2002)."""
    logs = []
    for n in range(1, 5):
        hyp, ref = (
            Counter(zip(*(side[i:] for i in range(n)), strict=False))
            for side in (hypothesis, reference)
        )
        matches = sum((hyp & ref).values())
        if not matches:
            return 0.0
        logs.append(math.log(matches / sum(hyp.values())))
    brevity = min(0.0, 1 - len(reference) / len(hypothesis))
    return 100 * math.exp(sum(logs) / 4 + brevity)


def meteor() -> Claim:
    """Row 5: which METEOR."""
    facts: tuple[Fact, ...] = ()
    missing = ""
    try:
        facts = _meteor_facts()
    except MissingDependencyError as error:
        missing = str(error)
    return Claim(
        "5. METEOR: Denkowski and Lavie (2014) in the text; Meteor 1.5 with -l en in the scripts: "
        "cased, not normalised, in file mode",
        "section 5, page 373",
        facts,
        "Ours: the same; --lower and --norm are options.",
        missing,
    )


def _meteor_facts() -> tuple[Fact, ...]:
    # Case and full stops can be shown without synonyms and paraphrases.
    kind = "exact-stem"
    cased, lower, norm = METEOR(kind), METEOR(kind, lower=True), METEOR(kind, norm=True)
    case, stop = ("The House is big", "the house is big"), ("it is big.", "it is big .")
    return (
        differ("cased; with --lower", _score(cased, *case), _score(lower, *case)),
        differ("not normalised; with --norm", _score(cased, *stop), _score(norm, *stop)),
    )


def coverage_vector() -> Claim:
    """Row 6: where the coverage vector enters the score."""
    weight = np.array([[1.0, 2.0], [3.0, -1.0]])
    memory = np.array([[1.0, 0.0], [0.5, -1.0], [-1.0, 2.0]])
    query, vector = np.array([0.3, -0.7]), np.array([0.5, -1.0])
    beta = np.array([0.0, 0.4, 1.2])
    forms = [BilinearScore(weight, vector, "text"), BilinearScore(weight, vector, "scripts")]

    def scores(received: Vector) -> list[Vector]:
        """The scores of both forms, given the attention that each word has received."""
        states = memory[None]
        return [f.scores(query[None], f.keys(states), states, received[None])[0] for f in forms]

    text, scripts = scores(beta)
    by_text = np.array(
        [query @ (weight @ h + vector * b) for h, b in zip(memory, beta, strict=True)]
    )
    by_scripts = np.array(
        [(weight.T @ query + vector * b) @ h for h, b in zip(memory, beta, strict=True)]
    )
    start = scores(0 * beta)
    return Claim(
        "6. coverage vector: z = sᵀ(W h + v β) in the text, (W s + w β)ᵀ h in the scripts",
        "section 5, page 373",
        (
            agree("the text's formula, our form 'text'", [(by_text, text)]),
            agree("the scripts' formula, our form 'scripts'", [(by_scripts, scripts)]),
            disagree("both forms after some attention", [(text, scripts)]),
            agree("both forms before any attention, β = 0", [(start[0], start[1])]),
        ),
        "Ours: the text's form by default, the scripts' as an option.",
    )


def solvers() -> Claim:
    """Row 7: both solvers of constrained sparsemax give one solution."""
    problems = [(z, u, constrained_sparsemax(z, u)) for z, u in bounded_problems()]
    return Claim(
        "7. cost of constrained sparsemax: O(J) by medians in the text; O(J log J) in the scripts, "
        "by two sorts for each row; the solution is the same",
        "Proposition 1, page 372",
        (
            agree(
                "200 problems: two sorts, our batched sort",
                ((_by_two_sorts(z, u), ours) for z, u, ours in problems),
            ),
            agree(
                "200 problems: medians, our batched sort",
                ((by_medians(z, u), ours) for z, u, ours in problems),
            ),
        ),
        "Ours: one sort for all rows together; pardalos_kovoor works by medians.",
    )


def _by_two_sorts(z: Vector, u: Vector) -> Vector:
    """One row: sort the split points of lower and upper ends, and find τ between them."""
    lower, upper = np.sort(z - u), np.sort(z)
    points = np.sort(np.concatenate([lower, upper]))
    mass = np.array([np.clip(z - point, 0, u).sum() for point in points])
    last = int(np.flatnonzero(mass >= 1)[-1])
    slope = np.count_nonzero((z - u < points[last + 1]) & (z > points[last]))
    tau = points[last] + (mass[last] - 1) / slope
    result: Vector = np.clip(z - tau, 0, u)
    return result


def no_interior() -> Claim:
    """Row 8: gradients if no word is between its bounds."""
    z, u = np.array([2.0, 1.0, -3.0]), np.array([0.4, 0.6, 0.5])
    d_alpha = np.array([1.0, -1.0, 0.5])
    alpha = constrained_sparsemax(z, u)
    words = float(interior(alpha, u).sum())
    dz, du = constrained_sparsemax_vjp(d_alpha, alpha, u)
    numeric = finite_differences(lambda scores: constrained_sparsemax(scores, u), z)
    # The bounds sum to 1, so a bound can only grow: the derivative has one side.
    step = 1e-6
    grown = constrained_sparsemax(z, u + np.array([step, 0, 0]))
    return Claim(
        "8. no interior word (A empty): the text's gradient is undefined, the scripts' is zero by "
        "convention",
        "eqs. 7 and 8, page 372",
        (
            equal("α = (.4, .6, 0), u = (.4, .6, .5): words in A", words, 0, digits=0),
            agree("gradient for z: finite differences, ours", [(d_alpha @ numeric, dz)]),
            disagree(
                "gradient for u₁: finite difference to the right, ours",
                [(d_alpha @ (grown - alpha) / step, du[0])],
            ),
        ),
        "m is the mean of dα over no word. Ours: zero, documented; for z it is the derivative, for "
        "u it is a convention, as the derivative has one side only.",
    )


def exhaustion() -> Claim:
    """Row 9: whether the exhaustion bonus is given to the sink, and what its bound is."""
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
        "9. exhaustion z + c·u: for all words in the text; in the scripts for all positions of a "
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
        "Ours: not for the sink; an infinite score would take all attention. See row 18.",
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
        "scripts' files hold the bare numbers, and loading them, in training and decoding, adds 1 "
        "to ACTUAL and PREDICTED and nothing to GUIDED",
        "section 4, pages 372 and 373",
        (
            equal("GUIDED, a with 2 and 3 links: maximum; ours", 3, a, digits=0),
            equal("GUIDED, b with 1 and none: maximum; ours", 1, b, digits=0),
            equal("GUIDED, c in the data without links: at least 1; ours", 1, c, digits=0),
            equal("GUIDED, d not in the data: 1; ours", 1, d, digits=0),
            differ("ACTUAL, 2 links: scripts' bound 2 + 1; ours", 3, ours, digits=0),
            equal("ACTUAL, 2 links: scripts' bound 2 + 1; ours, --add 1", 3, with_1, digits=0),
            differ("PREDICTED, expected 1.75: scripts' bound 1.75 + 1; ours", 2.75, bare),
            equal("PREDICTED, expected 1.75: scripts' bound 1.75 + 1; text's", 2.75, text),
        ),
        "Ours: GUIDED as in text and scripts; ACTUAL and PREDICTED bare, as in the scripts' files; "
        "coverage-eval fertility --add 1 gives the bounds.",
    )


def drop_sink() -> Claim:
    """Row 11: whether <SINK> is a word of the source."""
    reference, hypothesis = parse_links("0-0 2-1"), parse_links("0-0")
    as_word, left_out = (
        float(DROP(aligner).sentence_score("a b", "a b", source))
        for aligner, source in (
            (Aligner.from_links([reference], [hypothesis]), "a b <SINK>"),
            (Aligner.from_links([reference], [hypothesis], sink=True), "a b"),
        )
    )
    return Claim(
        "11. source for DROP: in the scripts the source side has <SINK>, which may be aligned like "
        "a word, and its subwords are merged",
        "not in the text",
        (
            equal("<SINK> counted as a word: 1 of 2", as_word, 50.0),
            equal("<SINK> left out, --sink: 0 of 1", left_out, 0.0),
        ),
        "Ours: --sink, named in the signature.",
    )


def lagrangian() -> Claim:
    """Row 12: the sign of ½‖α‖² in eq. 9."""
    problems = solved_problems()
    printed, corrected = ([(p.gradient(sign), 0) for p in problems] for sign in (-1, +1))
    return Claim(
        "12. Lagrangian, eq. 9: −½‖α‖² must be +½‖α‖², eq. 10 follows only then",
        "Appendix A.1",
        (
            disagree("−½‖α‖²: gradient at the solution and 0", printed),
            agree("+½‖α‖²: gradient at the solution and 0", corrected),
        ),
        "See the audit appendix-a.",
    )


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
            differ("ours; without ε, as in Wu et al. (2016)", ours, wu, digits=4),
        ),
        "Ours: the same.",
    )


def jacobian_norm() -> Claim:
    """Row 14: which norm eq. 5 of the report needs."""
    z, v = np.array([1.2, 0.8, -0.2]), np.array([1.0, -2.0, 0.5])
    euclidean, one_norm, _ = products(z, v)
    return Claim(
        "14. the report's eq. 5: v̂ = sᵀv/‖s‖ in the text, the sum over the support by its size in "
        "the scripts; ‖s‖ must be the 1-norm",
        "Madsen et al. (2017), eq. 5, page 2",
        (
            disagree("Euclidean norm, finite differences", [euclidean]),
            agree("1-norm, finite differences", [one_norm], limit=1e-7),
        ),
        "See the audit report-equations.",
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
        "Ours: the words; rescore --count-bos --count-eos counts as the scripts do, and the "
        "signature names it.",
    )  # fmt: skip


def encoder() -> Claim:
    """Row 16: the directions in which the encoder reads."""
    return Claim(
        "16. encoder: bidirectional in the text; the commands of run_experiment.sh have no "
        "-encoder_type, and the default of OpenNMT-py reads forwards only; brnn is only in the "
        "commands of the branch extra_exps",
        "section 2, page 371",
        (),
        "Ours: bidirectional; opennmt_weights reads checkpoints of both.",
        "which encoder the printed figures come from cannot be computed from what is published",
    )


def gold_dump() -> Claim:
    """Row 17: the bounds of attention that is dumped for a gold target."""
    scores, fertilities = np.array([[2.0, 0.0, 0.0]] * 3), np.array([1.0, 1.0, 1.0])
    bounded, _ = attend_with_credit(scores, fertilities)
    unbounded, _ = attend_with_credit(scores, np.full(3, math.inf))
    return Claim(
        "17. attention dumped for a gold target (-tgt): the scripts compute it without the "
        "fertilities of GUIDED, ACTUAL and PREDICTED, so nothing bounds it",
        "not in the text",
        (
            equal("first of 3 words, f = 1, 3 steps: its attention with fertilities",
                  1, float(bounded[:, 0].sum())),
            differ("the same: f, its attention without fertilities",
                   1, float(unbounded[:, 0].sum())),
            agree("without fertilities: constrained sparsemax, sparsemax",
                  [(unbounded, sparsemax(scores))]),
        ),
        "Computed with our attention. Ours: with fertilities; for such systems, the 'gold' "
        "attention of a dump is not the attention that they translate with.",
    )  # fmt: skip


def padded_sink() -> Claim:
    """Row 18: whether padding affects the sink."""
    rng = np.random.default_rng(18)
    memory, query = rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 3))
    lengths, c = np.array([3, 5]), 0.2
    fertilities = sink_at_end(np.full((2, 5), 1.5), lengths)
    step = AttentionStep(BilinearScore(), "constrained_sparsemax", exhaustion=c)
    batch = step.source(memory, lengths=lengths, fertilities=fertilities)
    alone = step.source(memory[:1, :3], fertilities=fertilities[:1, :3])
    padded, _ = step(query, batch, step.start(batch))
    single, _ = step(query[:1], alone, step.start(alone))
    bounds = np.where(np.isinf(fertilities), 1.0, fertilities)  # the sink's bound in Models.py
    scores = np.einsum("bd,bsd->bs", query, memory)
    # The scripts add the bonus at all positions of a batch except the last, padded or not.
    by_itself, in_batch = c * bounds[0, :3] * [1, 1, 0], c * bounds[0, :3]
    by_scripts = tuple(
        constrained_sparsemax(scores[0, :3] + bonus, bounds[0, :3])
        for bonus in (by_itself, in_batch)
    )
    return Claim(
        "18. the sink of a row that is shorter than its batch: the scripts add the exhaustion "
        "bonus everywhere except at the batch's last position, so such a sink gets one, and the "
        "same row alone does not",
        "not in the text",
        (
            differ("scripts, c = .2, a bound of 1: the sink's bonus alone, in a row of 3 among 5",
                   float(by_itself[2]), float(in_batch[2])),
            disagree("scripts: attention alone, in the batch", [(by_scripts[0], by_scripts[1])]),
            agree("ours, a row of 3 among 5: scores alone, in the batch",
                  [(single.scores[0], padded.scores[0, :3])]),
            agree("ours: attention", [(single.attention[0], padded.attention[0, :3])]),
        ),
        "Ours: a row's attention does not depend on its batch.",
    )  # fmt: skip


def query_state() -> Claim:
    """Row 19: the decoder's state that scores are computed with."""
    rng = np.random.default_rng(19)
    units = 3
    layer = LSTMWeights(*(rng.normal(size=size) for size in ((12, 5), (12, 3), 12, 12)))
    weights = DecoderWeights(
        rng.normal(size=(4, 2)), (layer,), rng.normal(size=(units, 2 * units)),
        rng.normal(size=(4, units)), np.zeros(4),
    )  # fmt: skip
    memory, before = rng.normal(size=(1, 5, units)), rng.normal(size=(2, 1, units))
    step = AttentionStep(BilinearScore(), "softmax")
    source = step.source(memory)
    state = DecoderState(((before[0], before[1]),), np.zeros((1, units)), step.start(source))
    output, after = decoder_step([1], state, source, weights, step)
    text, scripts = (memory[0] @ hidden[0] for hidden in (before[0], after.layers[-1][0]))
    return Claim(
        "19. the query: z = sᵀ W h with the state before step t, s_{t−1}, in the text; with the "
        "state that has read the last word, s_t (Luong et al. 2015), in the scripts",
        "section 2, page 371",
        (
            agree("a decoder's step: scores with s_t, ours", [(scripts, output.step.scores[0])]),
            disagree("the same: scores with s_{t−1}, ours", [(text, output.step.scores[0])]),
        ),
        "Ours: the same as the scripts. In the text s_t also depends on c_t, so its attention "
        "cannot use s_t.",
    )
