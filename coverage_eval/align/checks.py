"""Checks of how texts belong together: by a model, by links, and line by line.

All checks stand in one list, :data:`CHECKS`, with those of :mod:`coverage_eval.core.checks`. They
read a sample of the rows that are scored, and know the metrics only by what these say of
themselves: the tokeniser, the aligner and remarks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice, pairwise, takewhile
from statistics import StatisticsError, correlation, fmean
from typing import TYPE_CHECKING

from coverage_eval.align.aligner import Aligner, GivenLinks, ModelAligner
from coverage_eval.align.model_text import (
    OTHER_TOKENS,
    tokenized_by_user,
    why_other_words,
    with_sink,
)
from coverage_eval.core import checks as texts
from coverage_eval.core.batches import RowSample
from coverage_eval.core.checks import (
    MIN_SEGMENTS,
    Check,
    Inputs,
    Rows,
    Sample,
    SampledText,
    percent,
    shown,
)
from coverage_eval.core.errors import Finding, Severity
from coverage_eval.core.measure import aligner_of
from coverage_eval.core.metric import Metric
from coverage_eval.core.tokenizers import Tokenizer

if TYPE_CHECKING:  # importing the aligner takes longer than the checks
    from fast_align_wrapper import FastAlign

# What the aligner's model knows

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

SWAPPED = 0.2
"""The sides are swapped if the model's other side knows this share more of each text's tokens. The
gain is -1 to -0.4 on sides that are not swapped."""

MIN_TOKENS = 4
"""Tokens per side that are needed to tell swapped sides."""

FEW_PAIRS = 50
"""Fewest training pairs of a usable model; with 300 pairs, links are poor but usable."""


def why_too_few_pairs(model: FastAlign) -> str | None:
    """That a model was trained on almost nothing; None if it was not."""
    pairs = model.manifest.pairs
    if pairs >= FEW_PAIRS:
        return None
    return f"the model was trained on {pairs} pairs, too few for links that mean anything"


def look_for_training(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """A model trained on almost nothing."""
    if reason := why_too_few_pairs(inputs.model):
        yield "", reason


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
    assert source is not None
    return {
        "unknown_source_tokens": _unknown(source, known[0]),
        "unknown_target_tokens": fmean(_unknown(text, known[1]) for text in sample.targets),
    }


def _unknown(text: SampledText, words: frozenset[str]) -> float:
    """Share of a text's tokens that are not among these words."""
    return sum(n for token, n in text.counts.items() if token not in words) / max(text.tokens, 1)


def _sides(sample: Sample) -> Iterator[tuple[SampledText, int]]:
    """Each text with its side: 0 for the source, 1 for a target."""
    return ((text, int(text is not sample.source)) for text in sample.texts)


def look_for_links(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Given links without a single link, so that all words would count as not covered."""
    for column in inputs.links:
        if not any(map(str.strip, column.lines())):
            yield column.name, "no line has a link"


def look_for_swapped_sides(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Source and target swapped."""
    source, target = inputs.by_model.source, inputs.by_model.targets[0]
    assert source is not None
    known = inputs.model.vocabulary()
    sides = ((source, 0), (target, 1))
    gains = [_unknown(text, known[side]) - _unknown(text, known[1 - side]) for text, side in sides]
    if min(gains) > SWAPPED and min(source.tokens, target.tokens) >= MIN_TOKENS:
        reason = f"the model knows its words, and those of {target.name}, as the other language's"
        yield source.name, reason


def look_for_unknown_words(inputs: Inputs, *, severity: Severity) -> Iterator[tuple[str, str]]:
    """Texts with words that the model does not know: most on a side, most of an output, or some.

    Args:
        inputs: Texts with a source, and the model.
        severity: Which: FATAL for those on a side that the model is not for; UNUSABLE for outputs
            of which it knows a smaller share than half of that of another target; or WARNING.
    """
    sample, manifest = inputs.by_model, inputs.model.manifest
    unknown: dict[SampledText, float] = {}
    seen: dict[SampledText, str] = {}
    for text, side in _sides(sample):
        words = inputs.model.vocabulary()[side]
        tokens = (manifest.source_tokens, manifest.target_tokens)[side]
        least = UNKNOWN_OF_HYPOTHESES if text in sample.hypotheses else UNKNOWN
        if not text.has_enough:
            continue
        share = unknown[text] = _unknown(text, words)
        if share > max(least, UNKNOWN_RATIO * len(words) / 2 / max(tokens, 1)):
            new = [shown(token) for token, _ in text.counts.most_common() if token not in words]
            seen[text] = f"{percent(share)} of its words are unknown to the model, such as {new[0]}"
    wrong = {text for text in seen if unknown[text] > WRONG_MODEL}
    is_wrong = wrong >= set(sample.targets) or sample.source in wrong
    known = max((1 - unknown[text] for text in sample.targets if text in unknown), default=0)
    for text, said in seen.items():
        is_foreign = text in sample.hypotheses and 1 - unknown[text] < WRONG_MODEL * known
        found = Severity.UNUSABLE if is_foreign else Severity.WARNING
        if severity == (Severity.FATAL if is_wrong else found):
            yield text.name, said


def look_for_other_tokens(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Text that is not tokenised, for a model of text that the user tokenised."""
    for text, side in _sides(inputs.by_model):
        if tokenized_by_user(inputs.model)[side] and (reason := why_other_words(text)):
            yield text.name, reason


# Whether line N of one text belongs to line N of another: as their words show

SHIFTED, REORDERED, OUT_OF_STEP = "shifted", "reordered", "out-of-step"
"""Wrong orders: by some lines; in most places no line fits its own; in some places."""

Order = tuple[str, str, str]
"""A wrong order, the name of the text, and what was seen."""

NO_RELATION = 0.03
"""How much better a line fits its own reference than those around it: 1 for a perfect hypothesis,
0.5 for real systems, 0.1 where 90% of the words are wrong, 0 ± 0.03 in 50 shuffled lines."""

BETTER_ELSEWHERE = 0.1
"""How much better a neighbouring line fits: 0.5 to 0.75 where lines are shifted, at most 0.05 where
they are shuffled, and below 0 where they are in order."""

BAD_PIECES = 0.2
"""Smallest share of bad pieces in a bad text, because a part of a text may be out of step."""

LAGS = (-2, -1, 1, 2)
"""The neighbours that a line is compared with."""


def find_orders(sample: Sample) -> Iterator[Order]:
    """Texts whose lines are not those of the first reference, or else of the first output.

    A bad system may share no words with the reference, so nothing is called reordered.
    """
    texts = [*sample.references, *sample.hypotheses]
    for text in texts[1:]:
        lags = _lags_of_words(sample, text, texts[0])
        for kind, name, said in judge_order(sample, text, texts[0], lags):
            yield OUT_OF_STEP if kind == REORDERED else kind, name, said


def _lags_of_words(sample: Sample, text: SampledText, other: SampledText) -> dict[int, int | None]:
    """By the first row of each piece: how many lines further on it fits; None if nowhere."""
    found: dict[int, int | None] = {}
    frequency = Counter(chain.from_iterable(other.words))
    # Frequent words say little about where a segment belongs.
    weights = {w: math.log((1 + len(other.rows)) / n) for w, n in frequency.items()}
    for piece in sample.pieces:
        rows = [i for i in piece if text.words[i] and other.words[i]]
        if len(rows) < MIN_SEGMENTS:
            continue
        one, two = [text.words[i] for i in rows], [other.words[i] for i in rows]
        own, elsewhere = count_shared(one, two, weights)
        most, least = count_shared(two, two, weights)
        scale = most - fmean(least)
        # If all segments are alike, nobody can tell where one belongs.
        if scale < most / 5 or scale <= 0:
            continue
        best = max(range(len(LAGS)), key=elsewhere.__getitem__)
        if elsewhere[best] > own + BETTER_ELSEWHERE * scale:
            found[piece[0]] = LAGS[best]
        else:
            found[piece[0]] = 0 if own - fmean(elsewhere) >= NO_RELATION * scale else None
    return found


def judge_order(
    sample: Sample, text: SampledText, other: SampledText, lags: Mapping[int, int | None]
) -> Iterator[Order]:
    """What is wrong with the order of a text's lines, if anything is.

    Args:
        sample: The sample.
        text: The text.
        other: The text that has the same lines.
        lags: By the first row of each piece, how many lines further on in the other text it fits:
            0 if lines are in order, None if they fit nowhere.
    """
    seen = list(lags)
    bad = [row for row in seen if lags[row] != 0]
    if len(bad) < max(1, BAD_PIECES * len(seen)):  # few, but lines may be missing before the end
        bad = list(takewhile(lambda row: lags[row] and lags[row] == lags[seen[-1]], seen[::-1]))
        bad.reverse()
    if not bad:
        return
    place = f"in {len(bad)} of {len(seen)} places"
    if len(bad) == len(seen):
        place = "throughout"
    elif bad == seen[-len(bad) :]:
        place = f"from about line {sample.lines[bad[0]]:,} on"
    ((lag, times),) = Counter(lags[row] for row in bad).most_common(1)
    if lag and 2 * times > len(bad):
        said = f"line N fits line N{lag:+d} of {other.name} better than line N, {place}"
        yield SHIFTED, text.name, said
    else:
        kind = REORDERED if 2 * len(bad) >= len(seen) else OUT_OF_STEP
        said = f"fits its own line of {other.name} no better than the lines around it, {place}"
        yield kind, text.name, said


def count_shared(
    one: Sequence[frozenset[str]], two: Sequence[frozenset[str]], weights: Mapping[str, float]
) -> tuple[float, list[float]]:
    """Mean weight of the words shared with the own line, and with each of :data:`LAGS`."""

    def mean(lag: int) -> float:
        pairs = zip(one[max(0, -lag) :], two[max(0, lag) :], strict=False)
        return fmean(math.fsum(map(weights.__getitem__, a & b)) for a, b in pairs)

    return mean(0), list(map(mean, LAGS))


SOURCE_ROWS = 200
"""Rows for a correlation of lengths, which is 0 ± 0.07 by chance."""

LENGTH_CORRELATION = 0.1
"""Correlation of the logarithms of source and target lengths: 0.47 to 0.89, and 0.28 to 0.78 where
30% of the target's words were dropped; -0.36 to 0.16 where lines are out of step."""


def find_orders_of_lengths(sample: Sample) -> Iterator[Order]:
    """Texts whose lengths are not those of their sources, with which they share no names."""
    source = sample.source
    for target in sample.targets if source else ():
        assert source is not None
        rows = [i for i, row in enumerate(target.rows) if row and source.rows[i]]
        if len(rows) < SOURCE_ROWS:
            continue
        one, two = ([math.log1p(len(text.rows[i])) for i in rows] for text in (source, target))
        words = [(source.words[i], target.words[i]) for i in rows]
        own = sum(len(a & b) for a, b in words)
        next_ = sum(len(a & b) for (a, _), (_, b) in pairwise(words))
        try:
            is_related = correlation(one, two) >= LENGTH_CORRELATION or own > 2 * next_ + 5
        except StatisticsError:  # all lengths of a side are equal
            continue
        if not is_related:
            said = f"long lines of {source.name} do not have long translations"
            yield OUT_OF_STEP, target.name, said


# As a model shows

FIT = 0.08
"""Smallest fit: 0 if the sources fit their own targets no better than their neighbours', 1 if they
fit as well as in training. In 50 lines of new text it is 0.66 or more, 0.3 if half of the words are
wrong, 0.1 with a model of 300 pairs, -0.08 to 0.06 if lines are out of step, and 0.06 at most with
another language."""

SHIFTED_FIT = 0.25
"""Smallest fit of sources and targets some lines further on, for lines to count as shifted."""

MODEL_ROWS = 1000
"""Pairs to align for :data:`FIT`; each is aligned twice."""


def find_orders_by_model(model: FastAlign, sample: Sample) -> Iterator[Order]:
    """Targets that fit their own sources no better than their neighbours', by likelihood."""
    source = sample.source
    assert source is not None
    # Models of another fast_align may lack it.
    for target in sample.targets if model.manifest.forward.log_likelihood else ():
        lags = _lags_by_model(model, sample, source.rows, target.rows)
        yield from judge_order(sample, target, source, lags)


def _lags_by_model(
    model: FastAlign, sample: Sample, sources: Rows, targets: Rows
) -> dict[int, int | None]:
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
            for row, known in lags.items()
            if known is None
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
    manifest = model.manifest
    sink = bool(manifest.notes.get("sink"))

    def scores(pairs: list[tuple[int, int]]) -> Iterator[float]:
        """The natural log-probability of each target given its source."""
        tokens = ((with_sink(sources[i], sink=sink), targets[j]) for i, j in pairs)
        return (score or 0.0 for score in model.scores(tokens))

    pairs = list(chain.from_iterable(pieces))
    aligned, moved = scores([(i, i) for i, _ in pairs]), scores(pairs)
    training = manifest.forward.log_likelihood[-1] / max(manifest.target_tokens, 1)
    for piece in pieces:
        here = math.fsum(islice(aligned, len(piece))) / sum(len(targets[i]) for i, _ in piece)
        near = math.fsum(islice(moved, len(piece))) / sum(len(targets[j]) for _, j in piece)
        yield (here - near) / (training - near) if near < training else 1.0


# All checks


def _orders(inputs: Inputs, kind: str) -> Iterator[tuple[str, str]]:
    """Texts whose lines are in a wrong order of this kind."""
    yield from ((text, reason) for order, text, reason in inputs.orders if order == kind)


_FATAL, _WARNING = Severity.FATAL, Severity.WARNING
_WHICH_FILE = "check that each is the file you meant"
_WHICH_MODEL = "check that it is the model for these languages and this tokeniser"
_TOKENISE = "tokenise all texts alike, or add --tokenize 13a"
_OTHER_ORDER = "the lines are in another order, or the texts do not belong together"
_WRONG_WORDS = (
    "equal", "copy", "swapped-sides", "wrong-model", "foreign-output", "subwords", "unsegmented",
    "other-tokens",
)  # fmt: skip

CHECKS = (
    Check("subwords", _WARNING, texts.look_for_subwords, "join the subwords into words first"),
    Check("unsegmented", _WARNING, partial(texts.look_at_words, why=texts.why_unsegmented),
          "split all texts alike, or add --tokenize char; for links, train the model with it",
          needs={"counts_words"}),
    Check("other-tokens", _FATAL, look_for_other_tokens, OTHER_TOKENS, needs={"model"}),
    Check("untokenised", _WARNING, partial(texts.look_at_words, why=texts.why_untokenised),
          _TOKENISE, {"other-tokens"}, {"counts_words"}),
    Check("characters", _WARNING, texts.look_for_characters,
          "convert all texts alike, to UTF-8 NFC"),
    Check("equal", _WARNING, partial(texts.look_for_equal_texts, outputs=False), _WHICH_FILE),
    Check("equal-outputs", Severity.NOTE, partial(texts.look_for_equal_texts, outputs=True),
          _WHICH_FILE),
    Check("copy", _WARNING, texts.look_for_copies, "check that it is a translation", {"equal"},
          {"words.source", "words.references"}),
    Check("swapped-sides", _FATAL, look_for_swapped_sides,
          "swap source and target, or give the model of the other direction", needs={"model"}),
    Check("case", _WARNING, texts.look_for_case, "lower-case all texts or none", {"subwords"}),
    Check("wrong-model", _FATAL, partial(look_for_unknown_words, severity=_FATAL),
          _WHICH_MODEL, {"swapped-sides", "other-tokens"}, {"model"}),
    Check("foreign-output", Severity.UNUSABLE,
          partial(look_for_unknown_words, severity=Severity.UNUSABLE),
          "check its language and its tokeniser, for its low scores mean nothing",
          {"equal", "copy", "swapped-sides", "other-tokens"}, {"model"}),
    Check("unknown-words", _WARNING, partial(look_for_unknown_words, severity=_WARNING),
          _WHICH_MODEL, {*_WRONG_WORDS, "untokenised"}, {"model"}),
    Check("small-model", _WARNING, look_for_training,
          "a few thousand pairs of the same kind of text are enough", needs={"model"}),
    Check("no-links", _WARNING, look_for_links, "is it the right file?", needs={"links"}),
    Check("says-little", Severity.UNUSABLE, texts.look_for_little,
          "an output that says little has few errors to count, so low scores mean nothing",
          {"says-little"}),
    Check("blank", _WARNING, texts.look_for_blanks,
          "they have no errors to count, so find out why the system gave no output",
          {"says-little", "empty", "segmented", "much-extra"}),
    Check("other-words", _WARNING, texts.look_for_other_words, _TOKENISE,
          {*_WRONG_WORDS, "untokenised"}, {"words.references"}),
    Check("shifted", _FATAL, partial(_orders, kind=SHIFTED),
          "lines are shifted: find the missing or extra line", {*_WRONG_WORDS, "small-model"}),
    Check("reordered", _FATAL, partial(_orders, kind=REORDERED), _OTHER_ORDER,
          {*_WRONG_WORDS, "small-model", "unknown-words"}),
    Check("out-of-step", _WARNING, partial(_orders, kind=OUT_OF_STEP), _OTHER_ORDER,
          {*_WRONG_WORDS, "small-model", "unknown-words", "other-words", "shifted", "reordered"}),
)  # fmt: skip
"""All checks, in the order in which one finding may explain another."""


def check_inputs(
    taken: RowSample,
    metrics: Iterable[Metric] = (),
    *,
    tokens: Tokenizer | None = None,
    aligner: Aligner | None = None,
    known: Iterable[Finding] = (),
) -> tuple[list[Finding], dict[str, float]]:
    """Find probable mistakes in texts that were read, and how well a model knows them.

    Args:
        taken: A sample of the texts.
        metrics: The metrics that score them.
        tokens: The tokeniser; by default that of the metrics, if they have one.
        aligner: The aligner; by default that of the metrics.
        known: What was found before.

    Returns:
        The findings, also those known before, most serious first; and figures of
        :func:`~coverage_eval.align.checks.unknown_words` if there is a model.

    Raises:
        AlignerError: The aligner failed.
    """
    metrics = list(metrics)
    aligner = aligner or aligner_of(metrics)
    if tokens is None:
        tokenizers = [metric.tokens for metric in metrics if hasattr(metric, "tokens")]
        tokens = tokenizers[0] if tokenizers else aligner.tokens if aligner else None
    words = tokens or Tokenizer("13a")
    source_tokens = words
    if aligner:
        # Both sides are compared in the same case, whatever the model's case.
        source_tokens = replace(aligner.source_tokens, lowercase=words.lowercase)
    sample, model, by_model, unknown = Sample.of(taken, words, source_tokens), None, Sample(), {}
    orders = list(find_orders(sample))
    if isinstance(aligner, ModelAligner) and taken.source is not None:
        model, by_model = aligner.model, Sample.of(taken, aligner.tokens, aligner.source_tokens)
        orders += find_orders_by_model(model, by_model)
        unknown = unknown_words(model, by_model)
    else:
        orders += find_orders_of_lengths(sample)
    links = aligner.columns if isinstance(aligner, GivenLinks) else ()
    counts_words = tokens is not None
    inputs = Inputs(sample, counts_words, model, by_model, links, orders)
    return texts.run_checks(CHECKS, inputs, dict.fromkeys(known)), unknown
