"""Which score answers which question, and when omission scores mislead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from areas import Found
from corpora import Corpus, Pairs, sampled, train
from scores import Spoilt, all_scores, omission_scores

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.core.batches import Row

QUESTIONS = (
    ("words left out", "omission-word", "none"),
    ("rare words left out", "omission-rare", "none"),
    ("phrases left out", "omission-phrase", "none"),
    ("the end is missing", "early-stop", "none"),
    ("phrases replaced by fillers", "omission-phrase", "filler"),
    ("phrases replaced by others", "omission-phrase", "detached"),
    ("words twice", "repetition-word", "none"),
    ("phrases twice", "repetition-phrase", "none"),
    ("phrases again elsewhere", "repetition-distant", "none"),
    ("phrases again and again", "repetition-oscillating", "none"),
    ("a growing tail", "repetition-tail", "none"),
    ("words of another segment added", "addition", "none"),
    ("words left untranslated", "untranslated", "none"),
    ("another segment's translation", "hallucination", "none"),
)
"""The question, the kind of error, and what replaces omitted words."""

RIGHT = "the right model"


def which_score(aligner: ModelAligner, rows: Sequence[Row]) -> Found:
    """AUROC of every score for every kind of error in correct translations."""
    found = {}
    for question, kind, repair in QUESTIONS:
        linked = aligner if kind == "untranslated" else None
        spoilt = Spoilt.of(rows, kind, repair, linked)
        found[question] = spoilt.areas(all_scores(aligner), baselines=True)
    return found


def when_it_misleads(corpus: Corpus, aligner: ModelAligner, rows: Sequence[Row]) -> Found:
    """AUROC of omission scores with unsuitable models and texts."""
    size = len(corpus.training) // 4
    far, some = farthest(corpus, size), sampled(corpus.training, size)
    spoilt = Spoilt.of(rows)
    cases = {
        RIGHT: (spoilt, aligner),
        "the model of the other direction": (spoilt, train(corpus.flipped().training)),
        f"{size:,} pairs at random": (spoilt, train(some)),
        f"{size:,} pairs least like the test set": (spoilt, train(far)),
        "punctuation glued on in the text": (spoilt.seen_as(_glued), aligner),
        "phrases replaced by fillers": (Spoilt.of(rows, repair="filler"), aligner),
        "phrases replaced by others": (Spoilt.of(rows, repair="detached"), aligner),
    }
    return {case: text.areas(omission_scores(model)) for case, (text, model) in cases.items()}


def farthest(corpus: Corpus, size: int) -> Pairs:
    """The training pairs that share the fewest content words with the test set: another domain."""
    test = Counter(word for source, _ in corpus.test for word in source.split())
    common = {word for word, _ in test.most_common(100)}

    def known(pair: tuple[str, str]) -> float:
        words = [word for word in pair[0].split() if word not in common]
        return sum(word in test for word in words) / max(1, len(words))

    return sorted(corpus.training, key=known)[:size]


def _glued(text: str) -> str:
    for mark in (".", ",", "。", "、", "?", "!"):
        text = text.replace(f" {mark}", mark)
    return text
