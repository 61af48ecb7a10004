"""Text against published scripts, rows 1 to 5 and 11: REP, DROP, BLEU, METEOR.

The scripts are those of Unbabel/sparse_constrained_attention at commit 55111dc. Nothing of them is
here: what they compute is written anew, in as few lines as show it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.errors import MissingDependencyError
from coverage_eval.metrics.drop import DROP
from coverage_eval.metrics.meteor import METEOR
from coverage_eval.metrics.rep import REP
from coverage_eval.metrics.sacrebleu_adapters import BLEU
from coverage_eval.published.audits.facts import as_said, differ, equal
from coverage_eval.published.claims import Claim, Fact
from fast_align_wrapper.errors import AlignerDataError
from fast_align_wrapper.links import parse_links


def rep_second_sum() -> Claim:
    """Row 1: what the second sum of REP counts."""
    apart, doubled, reference = "the cat the", "the the cat", "the cat"
    metric = REP()

    def ours(hypothesis: str) -> float:
        return float(metric.corpus_score([hypothesis], [reference]))

    return Claim(
        "1. REP, second sum: t(ww), a word twice in a row, in the text, bigrams of two equal words "
        "in the scripts; t(w) is what one transcription made of it",
        "section 5, page 374",
        (
            equal(f'"{doubled}": t(ww), REP', _rep(doubled, reference, 2), ours(doubled)),
            equal(f'"{apart}": t(ww), REP', _rep(apart, reference, 2), ours(apart)),
            differ(f'"{apart}": t(w), REP', _rep(apart, reference, 1), ours(apart)),
        ),
        f'Ours: as the text. The reference is "{reference}".',
    )


def _rep(hypothesis: str, reference: str, times: int) -> float:
    """REP by its formula; the second sum is over words that stand ``times`` times in a row."""
    hyp, ref = hypothesis.split(), reference.split()
    t, r = Counter(pairwise(hyp)), Counter(pairwise(ref))
    sigma = sum(max(0, count - r[gram]) for gram, count in t.items() if count >= 2)
    sigma += 2 * sum((_rows(hyp, times) - _rows(ref, times)).values())
    return 100 * sigma / len(ref)


def _rows(words: Sequence[str], times: int) -> Counter[str]:
    places = range(len(words) - times + 1)
    return Counter(words[i] for i in places if len(set(words[i : i + times])) == 1)


def drop_denominator() -> Claim:
    """Row 2: of what DROP is a percentage."""
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
    unreadable = _outcome(lambda: parse_links("<s> 0-0"), AlignerDataError)
    unequal = _outcome(lambda: _drop(references, references[:1]), ValueError)
    shifted, _ = _drop_of_scripts(["<s> 0-0", *after[0]], ["0-0", *after[1]])
    return Claim(
        "3. DROP, empty alignment line: the scripts count it as one aligned word, skip a line that "
        "starts with <, which shifts the pairing, and cut unequal files",
        "not in the text",
        (
            equal("0-0 1-1 and an empty line: scripts, --compat acl2018", scripts, compatible),
            differ("the same: scripts, DROP", scripts, ours),
            differ("two pairs after a < line: scripts, DROP", shifted, _drop(*after)),
            as_said("a line that starts with <: ours", "error", unreadable),
            equal("2 lines against 1: scored by the scripts", lines, 1, digits=0),
            as_said("2 lines against 1: ours", "error", unequal),
        ),
        "Ours: an empty line has no aligned word; --compat acl2018 gives the scripts' figure.",
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


def _outcome(action: Callable[[], object], refusal: type[Exception]) -> str:
    try:
        action()
    except refusal:
        return "error"
    return "no error"


def bleu() -> Claim:
    """Row 4: which BLEU."""
    hypothesis = "The cat sat on the mat and slept in Rome ."
    reference = "the cat sat on the mat and it slept in rome ."
    metrics = BLEU.acl2018(), BLEU(tokenize="none", smooth="none")
    lowercased, cased = (
        float(metric.corpus_score([hypothesis], [reference])) for metric in metrics
    )
    scripts = _multi_bleu(hypothesis.lower().split(), reference.lower().split())
    return Claim(
        '4. BLEU: "tokenized BLEU" is multi-bleu.perl with -lc in the scripts, which lowercases',
        "section 5, page 373",
        (
            equal("lowercased, unsmoothed: multi-bleu's formula, --compat acl2018",
                round(scripts, 2), round(lowercased, 2)),
            differ("lowercased, cased", lowercased, cased),
        ),
        "Ours: sacreBLEU; --compat acl2018 gives the scripts' figure.",
    )  # fmt: skip


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
    # Without synonyms and paraphrases, which neither case nor a full stop needs.
    kind = "exact-stem"
    cased, lower, norm = METEOR(kind), METEOR(kind, lower=True), METEOR(kind, norm=True)

    def score(metric: METEOR, hypothesis: str, reference: str) -> float:
        return float(metric.corpus_score([hypothesis], [reference]))

    case, stop = ("The House is big", "the house is big"), ("it is big.", "it is big .")
    scripts = "meteor-1.5-wo-en-no_norm-0.85_0.2_0.6_0.75-ex_st_sy_pa-1.0_0.6_0.8_0.6"
    return (
        as_said("Eval ID of Meteor 1.5 with -l en; ours", scripts, METEOR().eval_id),
        differ("cased; with --lower", score(cased, *case), score(lower, *case)),
        differ("not normalised; with --norm", score(cased, *stop), score(norm, *stop)),
    )


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
        "11. source for DROP: in the scripts the source side carries <SINK>, which may be aligned "
        "as a word is, and its subwords are merged",
        "not in the text",
        (
            equal("<SINK> counted as a word: 1 of 2", as_word, 50.0),
            equal("<SINK> left out, --sink: 0 of 1", left_out, 0.0),
        ),
        "Ours: --sink, named in the signature.",
    )
