"""Checks of texts beside a model: whether it knows their words, and whether lines fit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from coverage_eval.checks.line_order import LAGS, find_runs, judge_order, neighbours
from coverage_eval.core.batches import BLOCK_ROWS, RowSample
from coverage_eval.core.errors import Finding, Severity
from coverage_eval.core.metric import Floats
from coverage_eval.core.result import Result
from coverage_eval.core.sampled_texts import (
    MISALIGNED_LINES,
    SIGNS_OF_WRONG_FILE,
    SampledText,
    SampledTexts,
    TokenizedText,
    percent,
    quote_token,
)

if TYPE_CHECKING:
    from coverage_eval.align.aligner import Aligner
    from fast_align_wrapper import FastAlign

# Scores of text alone are checked by the same table, so the aligner is imported where it is used.

SIDES = ("source", "target")


def unknown_words_of(sample: RowSample, aligner: Aligner | None) -> dict[str, float]:
    """How well a model knows the texts of a sample, as :func:`unknown_words` says; empty without.

    Args:
        sample: A sample of the texts.
        aligner: What aligns them.
    """
    from coverage_eval.align.aligner import ModelAligner

    if not isinstance(aligner, ModelAligner) or sample.source is None:
        return {}
    texts = SampledTexts.tokenize(sample, aligner.tokenizer, aligner.source_tokenizer)
    return unknown_words(aligner.model, texts)


def unknown_words_of_result(result: Result) -> dict[str, float]:
    """As :func:`unknown_words_of`, for the model of a result's metrics."""
    from coverage_eval.align.aligner import aligner_of

    aligner = aligner_of(result.metrics.values())
    return {} if result.texts is None else unknown_words_of(result.texts.sample, aligner)


def look_for_links(aligner: Aligner) -> Iterator[Finding]:
    """Texts of links that count from 1, or without a single link: no word would be covered."""
    from coverage_eval.align.links import look_for_other_positions

    for text in getattr(aligner, "link_texts", ()):  # a model has no files of links
        # The papers' script skips lines of markup; for others, they are errors when links are read.
        rows = (links for _, links in text.parsed(skipped="<"))
        yield from look_for_other_positions(rows, text.name)
        if not any(map(str.strip, text.lines())):
            yield Finding.of_text(
                text.name, "no line has a link", "is it the right file?", "no-links"
            )


def look_for_swapped_links(sample: RowSample, aligner: Aligner, _: object) -> Iterator[Finding]:
    """Texts of links that are target-source."""
    from coverage_eval.align.links import look_for_swapped_sides

    wanted = dict(zip(sample.lines, sample.rows, strict=True))
    split = replace(aligner.tokenizer, lowercase=True)
    for number, text in enumerate(getattr(aligner, "link_texts", ())):  # a model has none
        rows = [
            (
                split(row.source or ""),
                split((*row.references, *row.hypotheses)[number]),
                gold.possible,
            )
            for line, (_, gold) in enumerate(text.golds(skipped="<"), start=1)
            if (row := wanted.get(line))
        ]
        yield from look_for_swapped_sides(rows, text.name)


# What the model knows

_OF_WRONG_SIDE = SIGNS_OF_WRONG_FILE | {"wrong-model", "foreign-output"}
"""What is also found in a text that is not split as the model's, or is on the wrong side."""

MIN_PAIRS = 50
"""Fewest training pairs of a usable model; with 300 pairs, links are poor but usable."""


def look_for_training(_: SampledTexts, model: FastAlign) -> Iterator[Finding]:
    """A model that was trained on almost nothing."""
    if label := why_too_few_pairs(model):
        advice = "a few thousand pairs of the same kind of text are enough"
        yield Finding.of_text("", label, advice, "small-model", suppresses=MISALIGNED_LINES)


def why_too_few_pairs(model: FastAlign) -> str | None:
    """That a model was trained on almost nothing; None if it was not."""
    pairs = model.manifest.pairs
    if pairs >= MIN_PAIRS:
        return None
    return f"the model was trained on {pairs} pairs, too few for links that mean anything"


def look_for_other_tokens(texts: SampledTexts, model: FastAlign) -> Iterator[Finding]:
    """Text that is not tokenised, for a model of text that the user tokenised."""
    from coverage_eval.align.model_text import OTHER_TOKENS, tokenized_by_user, why_not_tokenised

    by_user = dict(zip(SIDES, tokenized_by_user(model), strict=True))
    for text, side in _sides(texts):
        if by_user[side] and (label := why_not_tokenised(text)):
            yield Finding.of_text(
                text.name,
                label,
                OTHER_TOKENS,
                "other-tokens",
                Severity.FATAL,
                suppresses=_OF_WRONG_SIDE | {"untokenised"},
            )


def _sides(texts: SampledTexts) -> Iterator[tuple[SampledText, str]]:
    """Each text with its side, one of :data:`SIDES`."""
    return ((text, "source" if text is texts.source else "target") for text in texts.all)


def _known_words(model: FastAlign) -> dict[str, frozenset[str]]:
    """The words of each side that a model knows."""
    return dict(zip(SIDES, model.vocabulary(), strict=True))


def unknown_words(model: FastAlign, texts: SampledTexts) -> dict[str, float]:
    """The shares of tokens, 0 to 1, that a model does not know; 0 where there are no tokens.

    Args:
        model: The model.
        texts: Texts with sources, in the model's tokens and without the sink.

    Returns:
        ``unknown_source_tokens`` and ``unknown_target_tokens`` (of the first reference, or else the
        mean over the hypotheses).
    """
    known, source = _known_words(model), texts.source
    assert source is not None
    return {
        "unknown_source_tokens": _unknown(source, known["source"]),
        "unknown_target_tokens": fmean(_unknown(text, known["target"]) for text in texts.targets),
    }


def _unknown(text: SampledText, words: frozenset[str]) -> float:
    """Share of a text's tokens that are not among these words."""
    return sum(n for token, n in text.counts.items() if token not in words) / max(
        text.token_count, 1
    )


SWAPPED = 0.2
"""The sides are swapped if the model's other side knows this share more of each text's tokens. The
gain is -1 to -0.4 on sides that are not swapped."""

MIN_TOKENS = 4
"""Tokens of each side that are needed to tell swapped sides."""


def look_for_swapped_sides(texts: SampledTexts, model: FastAlign) -> Iterator[Finding]:
    """Source and target swapped."""
    source, target = texts.source, texts.targets[0]
    assert source is not None
    known = _known_words(model)
    gains = (
        _unknown(source, known["source"]) - _unknown(source, known["target"]),
        _unknown(target, known["target"]) - _unknown(target, known["source"]),
    )
    if min(gains) > SWAPPED and min(source.token_count, target.token_count) >= MIN_TOKENS:
        yield Finding.of_text(
            source.name,
            f"the model knows its words, and those of {target.name}, as the other language's",
            "swap source and target, or give the model of the other direction",
            "swapped-sides",
            Severity.FATAL,
            suppresses=_OF_WRONG_SIDE,
        )


UNKNOWN = 0.1
"""Share of unknown tokens that is suspicious. New text like the training text has 0.5 to 4%, text
of another language 45 to 100%, untokenised text 11%, text of another tokeniser 8 to 90%."""

UNKNOWN_RATIO = 3.0
"""A suspicious share is also this many times the expected one (Good and Turing: half of the
vocabulary, the words seen once, divided by the number of training tokens). New text has up to twice
the expected share, so that small models are not blamed."""

UNKNOWN_OF_HYPOTHESES = 0.25
"""The suspicious share in a hypothesis; words that a weak system invents say nothing about the
model."""

WRONG_MODEL = 0.5
"""Share of unknown tokens on a side above which the model is for another language or tokeniser. If
it knows another target, an output is foreign: of outputs in another language 53 to 100% are
unknown, of those of real systems at most 7% of captions, and 44 to 46% of news that the model of
captions does not know well."""

_WHICH_MODEL = "check that it is the model for these languages and this tokeniser"


def look_for_unknown_words(texts: SampledTexts, model: FastAlign) -> Iterator[Finding]:
    """Texts with words that the model does not know.

    If these are most words of the source or of all targets, the model is the wrong one. If the
    model knows less than half of the share of an output that it knows of another target, the output
    is foreign.
    """
    known = _known_words(model)
    unknown = {text: _unknown(text, known[side]) for text, side in _sides(texts)}
    labels: dict[SampledText, str] = {}
    for text, side in _sides(texts):
        if text.has_enough and unknown[text] > _max_unknown(model, side, text in texts.hypotheses):
            tokens = (token for token, _ in text.counts.most_common())
            new = next(token for token in tokens if token not in known[side])
            labels[text] = (
                f"{percent(unknown[text])} of its words are unknown to the model, such as "
                f"{quote_token(new)}"
            )
    wrong = {text for text in labels if unknown[text] > WRONG_MODEL}
    is_wrong_model = wrong >= set(texts.targets) or texts.source in wrong
    max_known = max((1 - unknown[text] for text in texts.targets if text.has_enough), default=0)
    for text, label in labels.items():
        is_foreign = text in texts.hypotheses and 1 - unknown[text] < WRONG_MODEL * max_known
        if is_wrong_model:
            yield Finding.of_text(
                text.name, label, _WHICH_MODEL, "wrong-model", Severity.FATAL, SIGNS_OF_WRONG_FILE
            )
        elif is_foreign:
            yield Finding.of_text(
                text.name,
                label,
                "check its language and its tokeniser, for its low scores mean nothing",
                "foreign-output",
                Severity.WARNING,
                SIGNS_OF_WRONG_FILE,
            )
        else:
            yield Finding.of_text(
                text.name,
                label,
                f"{_WHICH_MODEL}; if it is, training on text of this domain is what helps",
                "unknown-words",
                suppresses={"reordered", "out-of-step"},
            )


def _max_unknown(model: FastAlign, side: str, is_hypothesis: bool) -> float:
    """The share of unknown tokens above which a text is suspicious."""
    manifest = model.manifest
    tokens = manifest.source_tokens if side == "source" else manifest.target_tokens
    expected = len(_known_words(model)[side]) / 2 / max(tokens, 1)
    return max(UNKNOWN_OF_HYPOTHESES if is_hypothesis else UNKNOWN, UNKNOWN_RATIO * expected)


# Whether line N of one text belongs to line N of another

FIT = 0.08
"""How much better a source fits its own target than those around it, at least, if 1 is as well as
in training. In captions it is 0.65 with a model of 5,000 pairs, 0.4 with one of 300, half of that
if half of the words are wrong; 0 if lines are in another order, and 0.06 at most with another
language. A run of a slip gains 0.8 at most in sound captions; of 60 lines that are moved, 22 to
37."""

MODEL_ROWS = 1000
"""Rows that are aligned for :data:`FIT`, each with its own source and those around it."""


def look_for_other_order(texts: SampledTexts, model: FastAlign) -> Iterator[Finding]:
    """Targets that fit their own sources no better than their neighbours', by likelihood."""
    source = texts.source
    assert source is not None
    if not model.manifest.forward.log_likelihood:  # as in models of another fast_align
        return
    blocks = [(line - 1) // BLOCK_ROWS for line in texts.lines]
    chosen = set(list(dict.fromkeys(blocks))[:: math.ceil(len(blocks) / MODEL_ROWS)])
    rows = [row for row, block in enumerate(blocks) if block in chosen]
    for target in texts.targets:
        near = neighbours(texts, target)[:, rows]
        fits = model_fits(model, source.rows, target.rows, rows, near)
        is_odd = np.array([not (target.rows[row] and source.rows[row]) for row in rows])
        least = FIT * near[1:].mean(axis=0) * ~is_odd
        runs = find_runs([texts.lines[row] for row in rows], fits, least, is_odd)
        yield from judge_order(texts, target, source, runs)


def model_fits(
    model: FastAlign,
    sources: TokenizedText,
    targets: TokenizedText,
    rows: Sequence[int],
    near: NDArray[np.bool_],
) -> Floats:
    """How well some targets fit their own sources, and the sources at each lag.

    0 is as well as the targets fit the sources around their own on average, 1 as well as in
    training, each by token.

    Returns:
        ``[1 + len(LAGS), rows]``, -1 to 1.
    """
    aligned = []
    for lag, tells in zip((0, *LAGS), near, strict=True):
        pairs = [(row + lag * bool(tell), row) for row, tell in zip(rows, tells, strict=True)]
        aligned.append(list(_log_probabilities(model, sources, targets, pairs)))
    sizes = np.array([max(1, len(targets[row])) for row in rows])
    scores = np.array(aligned) / sizes
    manifest = model.manifest
    training = manifest.forward.log_likelihood[-1] / max(manifest.target_tokens, 1)
    around = scores[1:].mean()
    if around >= training:
        return np.zeros_like(scores)
    fits: Floats = ((scores - around) / (training - around)).clip(-1, 1)
    return fits


def _log_probabilities(
    model: FastAlign,
    sources: TokenizedText,
    targets: TokenizedText,
    pairs: Sequence[tuple[int, int]],
) -> Iterator[float]:
    """The natural logarithm of the probability of each pair's target given its source."""
    from coverage_eval.align.model_text import ALIGNED_SINK

    sink = [ALIGNED_SINK] if model.manifest.notes.get("sink") else []
    tokens = (([*sources[i], *sink], targets[j]) for i, j in pairs)
    return (score or 0.0 for score in model.scores(tokens))
