"""Direct transcriptions of definitions, slow and obvious; also the baseline of ``make bench``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise


def rep(
    hypotheses: Sequence[str],
    references: Sequence[str],
    n: int = 2,
    w1: float = 1.0,
    w2: float = 2.0,
) -> float:
    """REP as the paper defines it: lists of n-grams, counts of both sides, a nested search."""
    total = 0.0
    reference_words = 0
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        hyp, ref = hypothesis.split(), reference.split()
        reference_words += len(ref)
        total += w1 * excess(hyp, ref, n, min_count=2, doubled=False)
        total += w2 * excess(hyp, ref, 2, min_count=1, doubled=True)
    return 100 * total / reference_words


def excess(hyp: Sequence[str], ref: Sequence[str], n: int, *, min_count: int, doubled: bool) -> int:
    hyp_ngrams = [tuple(hyp[i : i + n]) for i in range(len(hyp) - n + 1)]
    ref_ngrams = [tuple(ref[i : i + n]) for i in range(len(ref) - n + 1)]
    t, r = Counter(hyp_ngrams), Counter(ref_ngrams)
    total = 0
    for ngram in t:
        in_reference = 0
        for other in ref_ngrams:
            if other == ngram:
                in_reference = r[other]
        if t[ngram] >= min_count and (not doubled or ngram[0] == ngram[1]):
            total += max(0, t[ngram] - in_reference)
    return total


def letter_rep(
    hypotheses: Sequence[str],
    references: Sequence[str],
    n: int = 2,
    w1: float = 1.0,
    w2: float = 2.0,
) -> float:
    """REP in letters: each repetition counts unless it uses up one of the reference."""
    total = 0.0
    reference_words = 0
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        hyp, ref = hypothesis.split(), reference.split()
        reference_words += len(ref)
        for size in range(1, n + 1):
            grams = [hyp[i : i + size] for i in range(len(hyp) - size + 1)]
            left = [ref[i : i + size] for i in range(len(ref) - size + 1)]
            for gram in [gram for gram in grams if grams.count(gram) > 1]:
                if gram in left:
                    left.remove(gram)
                else:
                    total += w1 * len("".join(gram))
        doubled = [[a, b] for a, b in pairwise(ref) if a == b]
        for pair in [[a, b] for a, b in pairwise(hyp) if a == b]:
            if pair in doubled:
                doubled.remove(pair)
            else:
                total += w2 * len("".join(pair))
    return 100 * total / reference_words


def drop(
    reference_links: Sequence[Collection[tuple[int, int]]],
    hypothesis_links: Sequence[Collection[tuple[int, int]]],
) -> float:
    """DROP as the paper defines it, per source words aligned with the reference."""
    dropped = aligned = 0
    for ref, hyp in zip(reference_links, hypothesis_links, strict=True):
        for i in {i for i, _ in ref}:
            aligned += 1
            if all(i != other for other, _ in hyp):
                dropped += 1
    return 100 * dropped / aligned


def drop_script(reference_lines: Sequence[str], hypothesis_lines: Sequence[str]) -> float:
    """DROP as the authors' script computes it from lines of links (../shared/audits.md, row 3)."""

    def positions(lines: Sequence[str]) -> list[set[str]]:
        kept = [line for line in lines if not line.startswith("<")]
        return [{link.split("-")[0] for link in line.split(" ")} for line in kept]

    pairs = list(zip(positions(reference_lines), positions(hypothesis_lines), strict=False))
    return 100 * sum(len(r - h) for r, h in pairs) / sum(len(r) for r, _ in pairs)
