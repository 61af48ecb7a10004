"""Checks of an aligner model against the texts that it is to align."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from statistics import fmean
from typing import TYPE_CHECKING, TypeAlias

from coverage_eval.data.findings import Finding, named, percent, shown
from coverage_eval.data.order import BAD_PIECES, where
from coverage_eval.data.sample import FEWEST_SEGMENTS, Rows, Sample, Text
from coverage_eval.data.sides import CASED, FEWEST_CASED, LOWER_CASED
from coverage_eval.special_tokens import SINK

if TYPE_CHECKING:
    from fast_align_wrapper import FastAlign

UNKNOWN = 0.1
"""Of the tokens: new text of the training's kind has 0.5 to 4 %; text of another language 45 to
100 %, untokenised text 11 %, another tokeniser's 8 to 90 %."""

UNKNOWN_RATIO = 3.0
"""Times the share that the training text itself leads to expect (half of the vocabulary, the words
seen once, by the number of tokens); new text has up to 2 times, so small models are not blamed."""

UNKNOWN_OF_HYPOTHESES = 0.25
"""Of a hypothesis; a weak system's own words are no fault of the model."""

SWAPPED = 0.2
"""Each side is better known to the model's other side by this share; -1 to -0.4 where it is not."""

MODEL_CASED = 0.05
"""Share of the vocabulary with a capital letter from which on a model counts as cased."""

TOKENS_RATIO = 1.25
"""Target tokens by source tokens, in the text and in training: 1.04 times apart on new text, 1.3 on
Japanese cut into letters instead of words, 2 to 5 with one side cut into letters."""

FIT = 0.08
"""0 where the sources fit their own targets no better than their neighbours', 1 where as well as in
training. In 50 lines of new text 0.66 and more, 0.3 where half of the words are wrong, 0.1 with a
model of 300 pairs; lines out of step -0.08 to 0.06; another language 0.06 at most."""

MODEL_ROWS = 1000
"""Pairs to align for :data:`FIT`, twice."""


def check_model(sample: Sample, model: FastAlign) -> tuple[list[Finding], dict[str, float]]:
    """Look at how well an aligner model knows the texts.

    Args:
        sample: Rows with sources, in the model's tokenisation and without the sink.
        model: The model that is to align them.

    Returns:
        The findings, and two figures for reports: ``unknown_source_tokens`` and
        ``unknown_target_tokens`` (of the first reference, or else the mean of the hypotheses), the
        shares, 0 to 1, of tokens that the model does not know; 0 where there are no tokens.

    Raises:
        ValueError: The sample has no sources, or neither references nor hypotheses.
        AlignerError: The aligner failed.
    """
    source, targets = sample.source_text, sample.targets
    if source is None or not targets:
        raise ValueError("a model is checked with sources and references or hypotheses")
    known = _Known(sample, source, model.vocabulary())
    shares = {
        "unknown_source_tokens": known.unknown(source, 0),
        "unknown_target_tokens": fmean(known.unknown(target, 1) for target in targets),
    }
    for check in MODEL_CHECKS:
        findings = list(check(known, model))
        if findings:
            return findings, shares
    return [], shares


@dataclass(frozen=True)
class _Known:
    """A sample beside the words that a model knows; side 0 is the source, 1 the target."""

    sample: Sample
    source: Text
    words: tuple[frozenset[str], frozenset[str]]

    @property
    def texts(self) -> list[tuple[Text, int]]:
        """Each text with its side."""
        return [(self.source, 0), *((t, 1) for t in (*self.sample.wanted, *self.sample.outputs))]

    def unknown(self, text: Text, side: int) -> float:
        """Share of a text's tokens that the model does not know on a side."""
        missing = sum(n for token, n in text.counts.items() if token not in self.words[side])
        return missing / max(text.tokens, 1)

    @cached_property
    def capitals(self) -> list[float]:
        """Share of each side's words with a capital letter; NaN where few words have case."""
        shares = []
        for words in self.words:
            cased = [word for word in words if word.lower() != word.upper()]
            capital = sum(word != word.lower() for word in cased)
            shares.append(capital / len(cased) if len(cased) >= FEWEST_CASED else math.nan)
        return shares


def _swapped(known: _Known, _: FastAlign) -> Iterator[Finding]:
    target = known.sample.targets[0]
    gains = [
        known.unknown(text, side) - known.unknown(text, 1 - side)
        for text, side in ((known.source, 0), (target, 1))
    ]
    if min(gains) > SWAPPED and known.source.has_enough:
        yield Finding(
            "swapped-sides",
            f"{known.source.name} and {target.name}: the model knows the words of each as "
            "those of its other side; swap source and target, or give the model of the other "
            "direction",
        )


def _model_case(known: _Known, _: FastAlign) -> Iterator[Finding]:
    """A lower-cased model for cased text, or the converse."""
    seen = {}
    for text, side in known.texts:
        tokens, here = text.case
        there = known.capitals[side]
        if tokens >= FEWEST_CASED and (
            (here >= CASED and there < LOWER_CASED) or (here < LOWER_CASED and there >= MODEL_CASED)
        ):
            seen[text.name] = f"{percent(here)}, the model {percent(there)}"
    if seen:
        yield Finding(
            "model-case",
            f"{named(seen)}: share of words with a capital letter; treat case as in the training "
            "text of the model",
        )


def _unknown_tokens(known: _Known, model: FastAlign) -> Iterator[Finding]:
    tokens = (model.manifest.source_tokens, model.manifest.target_tokens)
    seen = {}
    for text, side in known.texts:
        # Good and Turing: words seen once, about half of all, by the number of tokens.
        expected = len(known.words[side]) / 2 / max(tokens[side], 1)
        least = UNKNOWN_OF_HYPOTHESES if text in known.sample.outputs else UNKNOWN
        share = known.unknown(text, side)
        if share > max(least, UNKNOWN_RATIO * expected) and text.has_enough:
            missing = [t for t, _ in text.counts.most_common() if t not in known.words[side]]
            examples = ", ".join(map(shown, missing[:2]))
            seen[text.name] = f"{percent(share)}, such as {examples}"
    if seen:
        yield Finding(
            "unknown-tokens",
            f"{named(seen)}: tokens that the model does not know; check that it is the "
            "model for these languages, tokeniser and case",
        )


def _token_ratio(known: _Known, model: FastAlign) -> Iterator[Finding]:
    source, manifest = known.source, model.manifest
    if not known.sample.wanted or min(manifest.source_tokens, manifest.target_tokens) < 1:
        return
    wanted = known.sample.wanted[0]
    if not (source.has_enough and wanted.has_enough):
        return
    sinks = len(source.rows) if manifest.notes.get("sink") else 0  # they were counted in training
    here = wanted.tokens / (source.tokens + sinks)
    training = manifest.target_tokens / manifest.source_tokens
    if not 1 / TOKENS_RATIO < here / training < TOKENS_RATIO:
        yield Finding(
            "token-ratio",
            f"{source.name} and {wanted.name}: {here:.2f} target tokens a source token, and "
            f"{training:.2f} in the training of the model; check that each side is "
            "tokenised as there",
        )


def _model_fit(known: _Known, model: FastAlign) -> Iterator[Finding]:
    """Sources fit their own targets no better than their neighbours', by the model's likelihood."""
    if not model.manifest.forward.log_likelihood:
        return  # another fast_align may not tell
    source, sample = known.source, known.sample
    every = math.ceil(len(source.rows) / MODEL_ROWS)
    for target in sample.targets:
        pieces = [_telling(source.rows, target.rows, piece) for piece in sample.pieces[::every]]
        pieces = [piece for piece in pieces if len(piece) >= FEWEST_SEGMENTS]
        fits = _fits(model, source.rows, target.rows, pieces)
        bad = [piece[0][0] for piece, fit in zip(pieces, fits, strict=True) if fit < FIT]
        if bad and len(bad) >= BAD_PIECES * len(pieces):
            place = where(sample, bad, [piece[0][0] for piece in pieces])
            yield Finding(
                "model-fit",
                f"{source.name} and {target.name}: to the model, sources fit their own "
                f"targets no better than the next line's, {place}; lines are in another order, or "
                "it is not the model for this text",
            )


def _telling(sources: Rows, targets: Rows, piece: Sequence[int]) -> list[tuple[int, int]]:
    """Rows and the next ones, without those that are empty or alike on a side."""
    rows = [i for i in piece if sources[i] and targets[i]]
    return [
        (i, j)
        for i, j in zip(rows, [*rows[1:], *rows[:1]], strict=True)
        if sources[i] != sources[j] and targets[i] != targets[j]
    ]


def _fits(
    model: FastAlign, sources: Rows, targets: Rows, pieces: Sequence[Sequence[tuple[int, int]]]
) -> Iterator[float]:
    """How well the sources of each piece fit their targets.

    0 if the likelihood of a target token is as where sources stand beside the next row's targets,
    1 if it is as in the last round of training.
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
    """Natural log-probability of each target given its source, of pairs without an empty side."""
    sink = [SINK] if model.manifest.notes.get("sink") else []
    rows = model.align_with_scores(
        (([*source, *sink], target) for source, target in pairs), "forward"
    )
    return (row.scores[0] or 0.0 for row in rows)


ModelCheck: TypeAlias = Callable[[_Known, "FastAlign"], Iterator[Finding]]

MODEL_CHECKS: tuple[ModelCheck, ...] = (
    _swapped,
    _model_case,
    _unknown_tokens,
    _token_ratio,
    _model_fit,
)
"""The checks of :func:`check_model`; one that speaks explains what those after it would say."""
