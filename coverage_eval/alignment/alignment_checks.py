"""Checks of the aligner model, of links made elsewhere, and of gold links."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from statistics import fmean
from typing import TYPE_CHECKING

from coverage_eval.data.input_checks import (
    CASED,
    LOWER_CASED,
    MIN_CASED,
    Finding,
    named,
    percent,
    shown,
)
from coverage_eval.data.line_checks import BAD_PIECES, LAGS, shifted, where
from coverage_eval.data.sample import MIN_SEGMENTS, Rows, Sample, SampledText
from coverage_eval.special_tokens import SINK

if TYPE_CHECKING:  # importing the aligner takes longer than the checks
    from coverage_eval.alignment.gold_links import Gold
    from coverage_eval.alignment.link_files import LinkColumn
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
"""Tokens per side that are needed to tell swapped sides. Below twenty segments they are only a
suspicion."""

MODEL_CASED = 0.05
"""Smallest share of capitalised words in the vocabulary of a cased model."""

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


def check_model(sample: Sample, model: FastAlign) -> tuple[list[Finding], dict[str, float]]:
    """Check how well an aligner model knows the texts.

    One fault can cause several symptoms (a text in another case also has unknown words), so only
    the finding that explains the others is reported.

    Args:
        sample: Rows with sources, in the model's tokenisation and without the sink.
        model: The model to align them with.

    Returns:
        The findings, and the shares of tokens, 0 to 1, that the model does not know:
        ``unknown_source_tokens`` and ``unknown_target_tokens`` (of the first reference, or else the
        mean over the hypotheses); 0 where there are no tokens.

    Raises:
        ValueError: The sample has no sources, or neither references nor hypotheses.
        AlignerError: The aligner failed.
    """
    if sample.source is None or not sample.targets:
        raise ValueError("a model is checked with sources and references or hypotheses")
    seen = ModelAndTexts(model, sample, sample.source)
    shares = {
        "unknown_source_tokens": seen.unknown(sample.source, 0),
        "unknown_target_tokens": fmean(seen.unknown(target, 1) for target in sample.targets),
    }
    found = list(seen.check_sides()) or list(seen.check_unknown_tokens())
    case = list(seen.check_case())
    if case:
        found = [finding for finding in found if finding.check != "unknown-tokens"]
    found += [*case, *seen.check_training()]
    return found or list(seen.check_fit()), shares


@dataclass(frozen=True)
class ModelAndTexts:
    """A model and the sample that it will align; side 0 is the source, 1 the target."""

    model: FastAlign
    sample: Sample
    source: SampledText

    @cached_property
    def words(self) -> tuple[frozenset[str], frozenset[str]]:
        """The words of each side that the model knows."""
        return self.model.vocabulary()

    @property
    def texts(self) -> list[tuple[SampledText, int]]:
        """Each text with its side."""
        targets = [*self.sample.references, *self.sample.hypotheses]
        return [(self.source, 0), *((target, 1) for target in targets)]

    def unknown(self, text: SampledText, side: int) -> float:
        """Share of a text's tokens that the model does not know on a side."""
        missing = sum(n for token, n in text.counts.items() if token not in self.words[side])
        return missing / max(text.tokens, 1)

    def check_sides(self) -> Iterator[Finding]:
        """Source and target swapped."""
        target = self.sample.targets[0]
        gains = [
            self.unknown(text, side) - self.unknown(text, 1 - side)
            for text, side in ((self.source, 0), (target, 1))
        ]
        if min(gains) > SWAPPED and min(self.source.tokens, target.tokens) >= MIN_TOKENS:
            yield Finding(
                "swapped-sides" if self.source.has_enough else "sides",
                f"{self.source.name} and {target.name}: the model knows the words of each text "
                "as words of the other language; swap source and target, or give the model of the "
                "other direction",
            )

    def check_case(self) -> Iterator[Finding]:
        """A lowercased model for cased text, or the reverse."""
        model_shares = []
        for words in self.words:
            cased = [word for word in words if word.lower() != word.upper()]
            capital = sum(word != word.lower() for word in cased)
            # NaN if few words have case, so that no comparison below is true
            model_shares.append(capital / len(cased) if len(cased) >= MIN_CASED else math.nan)
        seen = {}
        for text, side in self.texts:
            (tokens, here), there = text.case, model_shares[side]
            text_is_cased = here >= CASED and there < LOWER_CASED
            model_is_cased = here < LOWER_CASED and there >= MODEL_CASED
            if tokens >= MIN_CASED and (text_is_cased or model_is_cased):
                seen[text.name] = f"{percent(here)}, the model {percent(there)}"
        if seen:
            yield Finding(
                "model-case",
                f"{named(seen)}: share of words with a capital letter; lowercase the text if the "
                "model's training text was lowercased, otherwise do not",
            )

    def check_training(self) -> Iterator[Finding]:
        """A model trained on almost nothing."""
        if self.model.manifest.pairs < FEW_PAIRS:
            yield Finding(
                "small-model",
                f"the model was trained on {self.model.manifest.pairs} pairs, too few for links "
                "that mean anything; a few thousand pairs of the same kind of text are enough",
            )

    def check_unknown_tokens(self) -> Iterator[Finding]:
        """A model of other languages, another tokeniser or other text."""
        tokens = (self.model.manifest.source_tokens, self.model.manifest.target_tokens)
        seen: dict[str, str] = {}
        unknown = []
        for text, side in self.texts:
            expected = len(self.words[side]) / 2 / max(tokens[side], 1)
            least = UNKNOWN_OF_HYPOTHESES if text in self.sample.hypotheses else UNKNOWN
            share = self.unknown(text, side)
            if share > max(least, UNKNOWN_RATIO * expected) and text.has_enough:
                missing = [t for t, _ in text.counts.most_common() if t not in self.words[side]]
                examples = ", ".join(map(shown, missing[:2]))
                seen[text.name] = f"{percent(share)}, such as {examples}"
                unknown += [text] if share > WRONG_MODEL else []
        if seen:
            is_wrong = self.source in unknown or all(t in unknown for t in self.sample.targets)
            yield Finding(
                "wrong-model" if is_wrong else "unknown-tokens",
                f"{named(seen)}: tokens that the model does not know; check that it is the "
                "model for these languages, tokeniser and case",
            )

    def check_fit(self) -> Iterator[Finding]:
        """Sources that fit their own targets no better than their neighbours', by likelihood."""
        if not self.model.manifest.forward.log_likelihood:
            return  # models of another fast_align may lack it
        sources = self.source.rows
        every = math.ceil(len(sources) / MODEL_ROWS)
        for target in self.sample.targets:
            targets = target.rows
            pieces = []
            for piece in self.sample.pieces[::every]:
                # Each row with the next one, unless they are empty or equal on a side.
                rows = [i for i in piece if sources[i] and targets[i]]
                pairs = zip(rows, [*rows[1:], *rows[:1]], strict=True)
                telling = [
                    (i, j)
                    for i, j in pairs
                    if sources[i] != sources[j] and targets[i] != targets[j]
                ]
                if len(telling) >= MIN_SEGMENTS:
                    pieces.append(telling)
            fits = piece_fits(self.model, sources, targets, pieces)
            bad = [piece[0][0] for piece, fit in zip(pieces, fits, strict=True) if fit < FIT]
            first_rows = [piece[0][0] for piece in pieces]
            are_many = len(bad) >= BAD_PIECES * len(pieces)
            if bad and (are_many or bad == first_rows[-len(bad) :]):
                place = where(self.sample, bad, first_rows)
                worst = [piece for piece in pieces if piece[0][0] in bad]
                lag = next((lag for lag in LAGS if self.fits_at(lag, target.rows, worst)), None)
                if lag is None and not are_many:
                    continue  # a few strange lines at the end
                if lag is not None:
                    said = shifted(lag, target.name, place)
                    yield Finding("shifted", f"{self.source.name}: {said}")
                    continue
                yield Finding(
                    "model-fit",
                    f"{self.source.name} and {target.name}: to the model, sources fit their own "
                    f"targets no better than the next line's, {place}; the lines are in another "
                    "order, or the model is not for this text",
                )

    def fits_at(self, lag: int, targets: Rows, pieces: Sequence[Sequence[tuple[int, int]]]) -> bool:
        """Whether most pieces' sources fit the targets some rows further on."""
        moved = [targets[(i + lag) % len(targets)] for i in range(len(targets))]
        own = [[(i, i - lag) for i, _ in piece[2:-2] if moved[i]] for piece in pieces]
        fits = piece_fits(self.model, self.source.rows, moved, [rows for rows in own if rows])
        return 2 * sum(fit > SHIFTED_FIT for fit in fits) > len(pieces)


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


def check_given_links(columns: Iterable[LinkColumn]) -> Iterator[Finding]:
    """Find texts without a single link, all of whose words would count as not covered."""
    for column in columns:
        if not any(map(str.strip, column.lines())):
            yield Finding("no-links", f"{column.name}: no line has a link; is it the right file?")


BETTER_LINKS = 5.0
"""By how many standard errors changed gold links must fit better than the given ones. On 20 pairs,
changing right ones makes the fit worse by 6 or more, even with links of Model 1, and changing wrong
ones improves it as much."""

_GOLD_CHANGES: tuple[tuple[Callable[[tuple[int, int]], tuple[int, int]], str], ...] = (
    (lambda link: (link[1], link[0]), "with source and target swapped; say so, or swap them"),
    (lambda link: (link[0] - 1, link[1] - 1), "counted from 1; say so"),
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
            said = f"no link of {len(pairs):,} pairs has {word} position 0"
            return [Finding("gold-from-one", f"{name}: {said}; if positions count from 1, say so")]
    for change, said in _GOLD_CHANGES:
        # Only links that the change adds or removes tell which version is right.
        changed = [(ours, gold, {change(link) for link in gold}) for ours, gold in pairs]
        better = sum(len(ours & (new - gold)) for ours, gold, new in changed)
        worse = sum(len(ours & (gold - new)) for ours, gold, new in changed)
        if better - worse > BETTER_LINKS * math.sqrt(better + worse):
            counts = f"{better:,} links against {worse:,}"
            return [Finding("gold-changed", f"{name}: fit the links better {said} ({counts})")]
    return []
