"""Checks of the aligner's model, of links made elsewhere, and of gold links."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from statistics import fmean
from typing import TYPE_CHECKING

from coverage_eval.align.model_text import cut_by_user, why_other_words
from coverage_eval.core.checks import Finding, Inputs, percent, shown
from coverage_eval.core.line_checks import LAGS, Order, judge_order
from coverage_eval.core.sample import MIN_SEGMENTS, Rows, Sample, SampledText
from coverage_eval.core.special_tokens import SINK

if TYPE_CHECKING:  # importing the aligner takes longer than the checks
    from coverage_eval.align.gold_links import Gold
    from fast_align_wrapper import FastAlign
    from fast_align_wrapper.links import Links

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
"""Share of unknown tokens on a side above which the model is for another language or tokeniser."""

SWAPPED = 0.2
"""The sides are swapped if the model's other side knows this share more of each text's tokens. The
gain is -1 to -0.4 on sides that are not swapped."""

MIN_TOKENS = 4
"""Tokens per side that are needed to tell swapped sides."""

FEW_PAIRS = 50
"""Fewest training pairs of a usable model; with 300 pairs, links are poor but usable."""

FIT = 0.08
"""Smallest fit: 0 if the sources fit their own targets no better than their neighbours', 1 if they
fit as well as in training. In 50 lines of new text it is 0.66 or more, 0.3 if half of the words are
wrong, 0.1 with a model of 300 pairs, -0.08 to 0.06 if lines are out of step, and 0.06 at most with
another language."""

SHIFTED_FIT = 0.25
"""Smallest fit of sources and targets some lines further on, for lines to count as shifted."""

MODEL_ROWS = 1000
"""Pairs to align for :data:`FIT`; each is aligned twice."""


def why_too_few_pairs(model: FastAlign) -> str | None:
    """That a model was trained on almost nothing; None if it was not."""
    pairs = model.manifest.pairs
    if pairs >= FEW_PAIRS:
        return None
    return f"the model was trained on {pairs} pairs, too few for links that mean anything"


def look_for_training(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """A model trained on almost nothing."""
    if inputs.by_model and (said := why_too_few_pairs(inputs.aligner.model)):
        yield "", said


def unknown_words(model: FastAlign, sample: Sample) -> dict[str, float]:
    """The shares of tokens, 0 to 1, that a model does not know; 0 where there are no tokens.

    Args:
        model: The model.
        sample: Texts with sources, in the model's tokenisation and without the sink.

    Returns:
        ``unknown_source_tokens`` and ``unknown_target_tokens`` (of the first reference, or else the
        mean over the hypotheses).
    """
    known, source = model.vocabulary(), sample.source
    if source is None or not sample.targets:
        raise ValueError("a model is checked with sources and references or hypotheses")
    return {
        "unknown_source_tokens": _unknown(source, known[0]),
        "unknown_target_tokens": fmean(_unknown(text, known[1]) for text in sample.targets),
    }


def _unknown(text: SampledText, words: frozenset[str]) -> float:
    """Share of a text's tokens that are not among these words."""
    return sum(n for token, n in text.counts.items() if token not in words) / max(text.tokens, 1)


def _texts(inputs: Inputs) -> Iterator[tuple[SampledText, int]]:
    """Each text as the model splits it, with its side: 0 for the source, 1 for a target."""
    if sample := inputs.by_model:
        yield from ((text, int(text is not sample.source)) for text in sample.texts)


def look_for_links(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Given links without a single link, so that all words would count as not covered."""
    for column in getattr(inputs.aligner, "columns", ()):
        if not any(map(str.strip, column.lines())):
            yield column.name, "no line has a link"


def look_for_swapped_sides(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Source and target swapped."""
    sample = inputs.by_model
    if sample is None or sample.source is None:
        return
    known, target = inputs.aligner.model.vocabulary(), sample.targets[0]
    sides = ((sample.source, 0), (target, 1))
    gains = [_unknown(text, known[side]) - _unknown(text, known[1 - side]) for text, side in sides]
    if min(gains) > SWAPPED and min(sample.source.tokens, target.tokens) >= MIN_TOKENS:
        said = f"the model knows its words, and those of {target.name}, as the other language's"
        yield sample.source.name, said


def look_for_unknown_words(inputs: Inputs, *, most: bool) -> Iterator[tuple[str, str]]:
    """Texts with words that the model does not know: most of them on a side, or some."""
    seen, unknown = {}, set()
    for text, side in _texts(inputs):
        manifest, words = inputs.aligner.model.manifest, inputs.aligner.model.vocabulary()[side]
        tokens = (manifest.source_tokens, manifest.target_tokens)[side]
        is_output = text.name in {output.name for output in inputs.words.hypotheses}
        least = UNKNOWN_OF_HYPOTHESES if is_output else UNKNOWN
        share = _unknown(text, words)
        if text.has_enough and share > max(least, UNKNOWN_RATIO * len(words) / 2 / max(tokens, 1)):
            new = [shown(token) for token, _ in text.counts.most_common() if token not in words]
            seen[text.name] = f"{percent(share)} of its words are unknown, such as {new[0]}"
            unknown |= {text.name} if share > WRONG_MODEL else set()
    if sample := inputs.by_model:
        is_wrong = unknown and (
            unknown >= {text.name for text in sample.targets}
            or any(text.name in unknown for text, side in _texts(inputs) if not side)
        )
        yield from seen.items() if bool(is_wrong) == most else ()


def look_for_other_tokens(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Text that is not tokenised, for a model of text that the user tokenised."""
    for text, side in _texts(inputs):
        if cut_by_user(inputs.aligner.model)[side] and (said := why_other_words(text)):
            yield text.name, said


def find_orders_by_model(model: FastAlign, sample: Sample) -> Iterator[Order]:
    """Targets that fit their own sources no better than their neighbours', by likelihood."""
    source = sample.source
    if source is None or not model.manifest.forward.log_likelihood:
        return  # models of another fast_align may lack it
    for target in sample.targets:
        lags = _lags(model, sample, source.rows, target.rows)
        yield from judge_order(sample, target, source, lags)


def _lags(model: FastAlign, sample: Sample, sources: Rows, targets: Rows) -> dict[int, int | None]:
    """By the first row of each piece: how many lines further on its source is; None if nowhere."""
    pieces = {}
    for piece in sample.pieces[:: math.ceil(len(sources) / MODEL_ROWS)]:
        # Each row with the next one, unless they are empty or equal on a side.
        rows = [i for i in piece if sources[i] and targets[i]]
        pairs = zip(rows, [*rows[1:], *rows[:1]], strict=True)
        telling = [
            (i, j) for i, j in pairs if sources[i] != sources[j] and targets[i] != targets[j]
        ]
        if len(telling) >= MIN_SEGMENTS:
            pieces[piece[0]] = telling
    fits = piece_fits(model, sources, targets, list(pieces.values()))
    lags: dict[int, int | None] = {
        row: 0 if fit >= FIT else None for row, fit in zip(pieces, fits, strict=True)
    }
    for lag in LAGS:
        # The targets moved, so that each row's is the one that should belong to it.
        moved = [targets[(i - lag) % len(targets)] for i in range(len(targets))]
        left = {
            row: [(i, i + lag) for i, _ in pieces[row][2:-2] if moved[i]]
            for row, found in lags.items()
            if found is None
        }
        left = {row: pairs for row, pairs in left.items() if pairs}
        fits = piece_fits(model, sources, moved, list(left.values()))
        lags |= {row: lag for row, fit in zip(left, fits, strict=True) if fit > SHIFTED_FIT}
    return lags


def piece_fits(
    model: FastAlign, sources: Rows, targets: Rows, pieces: Sequence[Sequence[tuple[int, int]]]
) -> Iterator[float]:
    """How well the sources of each piece fit their targets.

    0 if a target token is as likely as with the next row's source, 1 if it is as likely as in the
    last iteration of training.
    """
    pairs = list(chain.from_iterable(pieces))
    own = _scores(model, [(sources[i], targets[i]) for i, _ in pairs])
    moved = _scores(model, [(sources[i], targets[j]) for i, j in pairs])
    manifest = model.manifest
    training = manifest.forward.log_likelihood[-1] / max(manifest.target_tokens, 1)
    for piece in pieces:
        here = math.fsum(islice(own, len(piece))) / sum(len(targets[i]) for i, _ in piece)
        near = math.fsum(islice(moved, len(piece))) / sum(len(targets[j]) for _, j in piece)
        yield (here - near) / (training - near) if near < training else 1.0


def _scores(
    model: FastAlign, pairs: Sequence[tuple[Sequence[str], Sequence[str]]]
) -> Iterator[float]:
    """Natural log-probability of each target given its source, for pairs without an empty side."""
    sink = [SINK] if model.manifest.notes.get("sink") else []
    rows = model.align_with_scores(
        (([*source, *sink], target) for source, target in pairs), "forward"
    )
    return (row.scores[0] or 0.0 for row in rows)


BETTER_LINKS = 5.0
"""By how many standard errors changed gold links must fit better than the given ones. On 20 pairs,
changing right ones makes the fit worse by 6 or more, even with links of Model 1, and changing wrong
ones improves it as much."""

_FROM_ZERO = r"perl -pe 's/(\d+)(\D)(\d+)/($1-1).$2.($3-1)/ge' GOLD > NEW"
"""The line that makes gold links count from 0."""

_SWAPPED_LINKS = r"perl -pe 's/(\d+)(\D)(\d+)/$3$2$1/g' GOLD > NEW"
"""The line that swaps the sides of gold links."""

_GOLD_CHANGES: tuple[tuple[Callable[[tuple[int, int]], tuple[int, int]], str], ...] = (
    (
        lambda link: (link[1], link[0]),
        f"with source and target swapped; swap them: {_SWAPPED_LINKS}",
    ),
    (lambda link: (link[0] - 1, link[1] - 1), f"counted from 0: {_FROM_ZERO}"),
    (lambda link: (link[0] + 1, link[1] + 1), "if the links count from 1; count both from 0"),
)


def check_gold(
    links: Sequence[Links], golds: Sequence[Gold], *, name: str = "the gold links"
) -> list[Finding]:
    """Check that gold links count from the same number as the links and have the same direction.

    Args:
        links: The links of each pair, or of some of the pairs.
        golds: The gold links of the same pairs.
        name: Name of the gold links in messages.

    Raises:
        ValueError: Unequal numbers of pairs.
    """
    pairs = [(set(ours), set(gold.possible)) for ours, gold in zip(links, golds, strict=True)]
    pairs = [pair for pair in pairs if all(pair)]
    if len(pairs) < MIN_SEGMENTS:
        return []
    for side, word in ((0, "source"), (1, "target")):
        if not any(link[side] == 0 for _, gold in pairs for link in gold):
            said = (
                f"{name}: no link of {len(pairs):,} pairs has {word} position 0; if positions "
                f"count from 1: {_FROM_ZERO}"
            )
            return [Finding("gold-from-one", said)]
    for change, said in _GOLD_CHANGES:
        # Only links that the change adds or removes tell which version is right.
        changed = [(ours, gold, {change(link) for link in gold}) for ours, gold in pairs]
        better = sum(len(ours & (new - gold)) for ours, gold, new in changed)
        worse = sum(len(ours & (gold - new)) for ours, gold, new in changed)
        if better - worse > BETTER_LINKS * math.sqrt(better + worse):
            counts = f"{better:,} links against {worse:,}"
            return [Finding("gold-changed", f"{name}: fit the links better ({counts}) {said}")]
    return []
