"""Checks of texts before scoring: a wrong file must not give a plausible number.

A file in the wrong place (another tokeniser, lines out of step, the source instead of the output,
a model of another language) seldom stops a score; it moves it, often for the better. Each check
looks at a sample of the texts and says in one line what it saw and what to do. A check that
compares shares is silent on texts of less than twenty segments. All checks run, and
:data:`GRAVITY` orders what they find: with the gravest findings a score means nothing, and a
command ends with an error unless it is forced.

The thresholds were set on two corpora, one of image descriptions and one of short sentences, on
outputs of real systems, and on the same texts spoiled in each of these ways; beside each threshold
stand the figures of sound and of spoiled text. Checks of what aligns the texts are in
:mod:`coverage_eval.alignment.alignment_checks`.
"""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import chain
from statistics import StatisticsError, correlation, fmean, pstdev
from typing import NamedTuple, TypeVar

from coverage_eval.data.files import CorpusWarning
from coverage_eval.data.sample import FEWEST_SEGMENTS, Sample, SampledText

T = TypeVar("T")


class Gravity(IntEnum):
    """How much a finding matters, the gravest first."""

    MEANINGLESS = 0
    """A score means nothing: a command ends with an error, unless it is forced."""
    DOUBT = 1
    """A score may mislead: a warning."""
    NOTE = 2
    """Something to know when reading a score."""


_MEANINGLESS = ("swapped-sides", "wrong-model", "shifted")
_DOUBTS = (
    "says-little", "blank", "sides", "second-output", "no-links", "model-fit", "out-of-step",
    "nearer-source", "source-out-of-step", "equal", "plain-model",
)  # fmt: skip
_NOTES = ("words-cut", "tokenised-beside", "equal-outputs")

GRAVITY: Mapping[str, Gravity] = {
    **dict.fromkeys(_MEANINGLESS, Gravity.MEANINGLESS),
    **dict.fromkeys(_DOUBTS, Gravity.DOUBT),
    **dict.fromkeys(_NOTES, Gravity.NOTE),
}
"""Checks in the order in which their findings come; all others are doubts, behind those here."""


class Finding(NamedTuple):
    """Something in the input that is probably not meant.

    Attributes:
        check: Name of the check, such as ``subword-marks``.
        message: One line: the text's name, what was seen, with figures, and what to do.
        text: The name of the text, where a table has to know it.
    """

    check: str
    message: str
    text: str = ""

    @property
    def gravity(self) -> Gravity:
        """How much it matters."""
        return GRAVITY.get(self.check, Gravity.DOUBT)


def gravest_first(findings: Iterable[Finding]) -> list[Finding]:
    """The findings in the order of their gravity, then of :data:`GRAVITY`, then as they came."""
    order = {check: place for place, check in enumerate(GRAVITY)}
    return sorted(findings, key=lambda f: (f.gravity, order.get(f.check, len(order))))


def warn_of(findings: Iterable[Finding], stacklevel: int = 2) -> None:
    """Issue a Python warning for each finding but notes: what the command line prints.

    Args:
        findings: The findings.
        stacklevel: As in :func:`warnings.warn`, counted from the caller.
    """
    for finding in findings:
        if finding.gravity < Gravity.NOTE:
            warnings.warn(finding.message, CorpusWarning, stacklevel=stacklevel + 1)


def check_texts(sample: Sample) -> list[Finding]:
    """Look at the texts alone.

    Args:
        sample: Rows of all texts of a command.

    Returns:
        The findings of every check; none if all looks as it should.
    """
    checks = (
        check_length,
        check_forms,
        check_entities,
        check_case,
        check_equal,
        check_relations,
        check_source_order,
    )
    return [finding for check in checks for finding in check(sample)]


def percent(share: float) -> str:
    """A share, 0 to 1, in per cent; small ones with a decimal."""
    return f"{100 * share:.{0 if share >= 0.0995 else 1}f}%"


def shown(token: str) -> str:
    """A token for a message; it stays on one short line whatever the token is."""
    text = "".join(c if c.isprintable() else "?" for c in token)
    return f"'{text[:24]}…'" if len(text) > 24 else f"'{text}'"


def named(details: Mapping[str, str]) -> str:
    """Names, each with a detail in brackets."""
    return ", ".join(f"{name} ({detail})" for name, detail in details.items())


# Each text by itself: subwords, untokenised text, scripts without spaces

# A vocabulary of 30,000 subwords marks 2 to 30% of the tokens, SentencePiece and byte-level BPE
# most of them. Plain text has none of the first three; "##" begins headings and rare hashtags,
# and "Ġ" is a letter of Maltese.
SUBWORD_MARKS = (
    (re.compile(r".+@@"), 0.002),
    (re.compile(r"▁.*"), 0.002),
    (re.compile(r"￭.+|.+￭"), 0.002),
    (re.compile(r"##\w+"), 0.01),
    (re.compile(r"Ġ.*"), 0.2),
)
"""Tokens that a subword tokeniser has marked, and the least share of them in a text of subwords."""


def _subword_marks(text: SampledText) -> str | None:
    for shape, share in SUBWORD_MARKS:
        marked = [token for token in text.counts if shape.fullmatch(token)]
        number = sum(text.counts[token] for token in marked)
        if number >= 2 and number >= share * text.tokens:
            return f"{percent(number / text.tokens)} of the tokens, such as {shown(marked[0])}"
    return None


_PUNCTUATION = re.compile(r"[.,!?;:]")
_GLUED_MARK = re.compile(r"\w\w[,;:!?]$")
_GLUED_STOP = re.compile(r"\w\w\.$")
GLUED_SEGMENTS = 0.3
"""Segments where punctuation hangs on a word, by segments with punctuation; tokenised text has
below 1% (abbreviations), untokenised text 98%."""


def _untokenised(text: SampledText) -> str | None:
    glued = punctuated = 0
    for row in text.rows:
        ending = [token for token in row if _PUNCTUATION.search(token)]
        punctuated += bool(ending)
        glued += any(map(_GLUED_MARK.search, ending)) or (
            len(row) > 1 and _GLUED_STOP.search(row[-1]) is not None
        )
    if glued < FEWEST_SEGMENTS or glued <= GLUED_SEGMENTS * punctuated:
        return None
    return f"{percent(glued / punctuated)} of the segments"


TOKENISED = 0.5
"""Segments whose full stop stands alone, by segments that end in one; sacreBLEU's own check."""


def check_tokenised(sample: Sample, metrics: Sequence[str], *, alone: bool) -> Iterator[Finding]:
    """Tokenised text for metrics that cut untouched text themselves.

    Args:
        sample: Texts split at spaces.
        metrics: The names of these metrics.
        alone: Whether there is no metric that looks at words as they are.
    """
    seen = []
    for text in (*sample.hypotheses, *sample.references):
        ends = [row for row in text.rows if len(row) > 1 and row[-1].endswith((".", "。"))]
        cut = sum(row[-1] in {".", "。"} for row in ends)
        if cut >= FEWEST_SEGMENTS and cut > TOKENISED * len(ends):
            seen.append(text.name)
    if seen:
        yield Finding(
            "tokenised" if alone else "tokenised-beside",
            f"{', '.join(seen)}: tokenised text, as its full stops stand alone; do not compare "
            f"{' and '.join(metrics)} of it with published scores, which are of untouched text",
        )


def is_untokenised(text: SampledText) -> bool:
    """Whether punctuation hangs on the words of a text that was split at spaces."""
    return _untokenised(text) is not None


# Thai to Lao, Burmese, Khmer, kana, Han.
_WITHOUT_SPACES = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
)
UNSEGMENTED_CHARACTERS = 7.0
"""Letters a token: Japanese cut into words has 1.6, Chinese 1.7, Thai about 4; uncut 10 to 40."""


def _unsegmented(text: SampledText) -> str | None:
    letters = tokens = 0
    for token, number in text.counts.items():
        here = len(_WITHOUT_SPACES.findall(token))
        letters += number * here
        tokens += number * bool(here)
    # In a text of another script, the few names in this one say nothing.
    if not text.has_enough or tokens < text.tokens / 3:
        return None
    if letters <= UNSEGMENTED_CHARACTERS * tokens:
        return None
    return f"{letters / tokens:.0f} letters a token"


_FORMS: Mapping[str, tuple[Callable[[SampledText], str | None], str]] = {
    "subword-marks": (
        _subword_marks,
        "marks of subwords are left in; join the subwords to words first",
    ),
    "untokenised": (
        _untokenised,
        "punctuation hangs on words; tokenise all texts alike, or give a tokeniser",
    ),
    "unsegmented": (
        _unsegmented,
        "the script has no spaces, and the text is not cut into words; cut all texts by the same "
        "segmenter",
    ),
}
"""The checks of single texts: the evidence in a text, None if there is none; and the advice."""


def _forms_of(text: SampledText) -> dict[str, str]:
    """The checks of single texts that found something, and the evidence."""
    details = {name: look(text) for name, (look, _) in _FORMS.items()}
    return {name: detail for name, detail in details.items() if detail is not None}


def check_forms(sample: Sample) -> Iterator[Finding]:
    """Subwords, untokenised text, scripts without spaces: one finding each for all texts."""
    forms = {text.name: _forms_of(text) for text in sample.texts}
    for form, (_, advice) in _FORMS.items():
        seen = {name: details[form] for name, details in forms.items() if form in details}
        if seen:
            yield Finding(form, f"{named(seen)}: {advice}")


# Texts beside each other: HTML entities, case, equal texts

# The entities that Moses' tokeniser writes, and what it escapes. Other entities are left over from
# HTML.
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#x[0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_MOSES_ENTITIES = {"&amp;", "&apos;", "&quot;", "&lt;", "&gt;", "&#91;", "&#93;", "&#124;"}
_ESCAPED_BY_MOSES = re.compile(r"['\"<>\[\]|]")
_FEWEST_ENTITIES = 3  # one or two may be what the text is about


def check_entities(sample: Sample) -> Iterator[Finding]:
    """Entities that no tokeniser makes; or Moses' in one text and the plain characters in another.

    Both sides of a corpus that Moses escaped have 0.2 to 3% segments with entities and not a
    single plain apostrophe or quotation mark.
    """
    escaped, plain = {}, []
    for text in sample.texts:
        found: Counter[str] = Counter()
        bare = 0
        for token, number in text.counts.items():
            if "&" in token:
                for entity in _ENTITY.findall(token):
                    found[entity] += number
            bare += number * bool(_ESCAPED_BY_MOSES.search(token))
        if found.total() >= _FEWEST_ENTITIES:
            escaped[text.name] = found
        elif not found and bare >= _FEWEST_ENTITIES:
            plain.append(text.name)
    details = {
        name: f"{found.total()} times, such as {shown(found.most_common(1)[0][0])}"
        for name, found in escaped.items()
        if plain or sum(n for e, n in found.items() if e not in _MOSES_ENTITIES) >= _FEWEST_ENTITIES
    }
    if details:
        other = f", but not in {', '.join(plain)}" if plain else ""
        yield Finding(
            "html-entities",
            f"{named(details)}: there are HTML entities{other}; replace them by their characters "
            "in all texts, and in a model's training text",
        )


FEWEST_CASED = 200
"""Tokens with case; a text of fewer may be without capitals by chance."""

LOWER_CASED, CASED = 0.002, 0.02
"""Shares of tokens with a capital letter: English text has 5 to 20%, German 30%, others between;
lower-cased text has 0, or next to it where a program left a rare letter."""

CASE_RATIO = 4.0
"""Hypothesis and reference differ by this factor in capitals; outputs of real systems by 1.1."""

CAPITAL_STARTS = 0.5
"""Difference in segments that begin with a capital letter; outputs of real systems 0.02."""


def check_case(sample: Sample) -> Iterator[Finding]:
    """A text in lower case beside one that is not; a hypothesis with other capitals."""
    texts = [text for text in sample.texts if text.case[0] >= FEWEST_CASED]
    lower = {t.name: percent(t.case[1]) for t in texts if t.case[1] < LOWER_CASED}
    cased = {t.name: percent(t.case[1]) for t in texts if t.case[1] >= CASED}
    if lower and cased:
        yield Finding(
            "case",
            f"{named(cased)}: share of words with a capital letter, but {named(lower)}; "
            "lower-case all texts or none",
        )
        return
    reference = next(iter(sample.references), None)
    for hypothesis in sample.hypotheses:
        if reference not in texts or hypothesis not in texts:
            continue
        words = [text.case[1] for text in (hypothesis, reference)]
        starts = [text.capital_starts for text in (hypothesis, reference)]
        if max(words) >= CASED and max(words) > CASE_RATIO * min(words):
            shares, kind = words, "words with"
        elif abs(starts[0] - starts[1]) > CAPITAL_STARTS:
            shares, kind = starts, "segments that begin with"
        else:
            continue
        yield Finding(
            "case",
            f"{hypothesis.name}: has {percent(shares[0])} {kind} a capital letter, and "
            f"{reference.name} {percent(shares[1])}; treat case alike in both",
        )


FEWEST_EQUAL_TOKENS = 30
"""Short texts, such as a few one-word segments, are equal by chance; a file named twice is not."""


def check_equal(sample: Sample) -> Iterator[Finding]:
    """Texts that are the same: two outputs, an output and the reference or the source."""
    same: dict[tuple[tuple[str, ...], ...], list[SampledText]] = defaultdict(list)
    for text in sample.texts:
        same[text.key].append(text)
    for rows, texts in same.items():
        names = [text.name for text in texts]
        by_chance = texts[0].tokens < FEWEST_EQUAL_TOKENS and len(set(names)) == len(names)
        if len(names) > 1 and not by_chance:
            yield Finding(
                "equal-outputs" if set(texts) <= set(sample.hypotheses) else "equal",
                f"{' and '.join(names)}: the same text in all {len(rows):,} segments looked at; "
                "check that each is the file that is meant",
            )


# Outputs that say nothing, or little

FEWEST_BLANK = 3
BLANK = 0.02
"""Number and share of the segments without a word, where another text has words; outputs of real
systems have none."""

SHORT = 0.5
"""Bytes of an output, by those of the reference or of the other outputs: real systems have 0.8 to
1.1, and 0.7 where 30% of the words were left out."""

SHORT_OF_SOURCE = 0.25
"""Bytes of an output, by those of the source: letters of any script count by what they say, about.
English has 0.6 of Japanese, German 1.2 of English, Hindi 2.5."""


def check_length(sample: Sample) -> Iterator[Finding]:
    """Outputs of blank segments, or much shorter than they must be.

    Whatever counts errors of the output finds few where it says nothing.
    """
    for text in sample.hypotheses:
        others = [other for other in sample.texts if other is not text]
        spoken = [i for i in range(len(text.rows)) if not others or any(t.words[i] for t in others)]
        silent = sum(not text.words[i] for i in spoken)
        blank = sum(not text.rows[i] for i in spoken)
        name, length, share = _expected_length(sample, text)
        said = None
        if spoken and silent == len(spoken):
            said = "no segment has a word"
        elif silent > len(spoken) / 2:
            said = f"{percent(silent / len(spoken))} of the segments have no word"
        elif text.has_enough and text.bytes < share * length:
            said = f"has only {percent(text.bytes / length)} of the length of {name}"
        if said:
            yield Finding(
                "says-little",
                f"{text.name}: {said}; where little is said, few errors are counted: no low score "
                "of it is a merit",
                text.name,
            )
        elif others and blank >= max(FEWEST_BLANK, BLANK * len(spoken)):
            yield Finding(
                "blank",
                f"{text.name}: {percent(blank / len(spoken))} of the segments are blank, where "
                "there is something to say; find out why the system gave nothing",
                text.name,
            )


def _expected_length(sample: Sample, text: SampledText) -> tuple[str, float, float]:
    """What an output is as long as, about; its bytes; and the least share of them."""
    others = [other for other in sample.hypotheses if other is not text]
    if sample.references:
        shortest = min(sample.references, key=lambda reference: reference.bytes)
        return shortest.name, shortest.bytes, SHORT
    if len(others) > 1:
        return "the other outputs", min(other.bytes for other in others), SHORT
    if sample.source is not None:
        return sample.source.name, sample.source.bytes, SHORT_OF_SOURCE
    return "", 0, 0


# A hypothesis that was meant, taken for a reference

NEAR = 0.08
"""How many more words two outputs share than each shares with a reference, as a share of both:
0.11 to 0.15 for systems of one kind."""

RELATED = 0.5
"""Words that a hypothesis must share with the last reference, by those it shares with an output:
0.8; lines out of step have 0.3."""


def check_second_output(sample: Sample) -> Iterator[Finding]:
    """Outputs taken for references: near to the hypothesis, as the last reference is not.

    A command line that lists files can have meant ``HYP HYP REF``; it calls this by itself.
    """
    if not sample.pieces:
        return
    (output,), (*first, last) = sample.hypotheses, sample.references
    usual = shared_words(output, last)
    near = [
        text
        for text in first
        if usual / RELATED
        > shared_words(output, text)
        > max(usual, shared_words(text, last)) + NEAR
    ]
    if near:
        outputs = " ".join(text.name for text in [output, *near])
        yield Finding(
            "second-output",
            f"{near[0].name}: shares {percent(shared_words(output, near[0]))} of its words with "
            f"{output.name}, which shares {percent(usual)} with {last.name}: it looks like the "
            f"output of another system, not like a reference; to compare systems, type "
            f"coverage-eval compare --ref {last.name} {outputs}",
        )


def shared_words(one: SampledText, two: SampledText) -> float:
    """Words that two texts share segment by segment, as a share of both (Dice's coefficient)."""
    pairs = zip(one.words, two.words, strict=True)
    return fmean(2 * len(a & b) / max(len(a) + len(b), 1) for a, b in pairs)


# A hypothesis, or a further reference, against the first reference, line by line


def check_relations(sample: Sample) -> Iterator[Finding]:
    """How each hypothesis, or further reference, stands to the first reference.

    The first check that finds something in a text explains what the others would say of it.
    """
    if not sample.references:
        return
    reference, *others = sample.references
    for text in (*sample.hypotheses, *others):
        if sample.source is not None and text.key == sample.source.key:
            continue  # said of equal texts
        message = _nearer_source(sample, text, reference)
        if message is not None:
            yield Finding("nearer-source", f"{text.name}: {message}")
            continue
        message = _cut_otherwise(text, reference)
        found = Finding("cut-otherwise", message) if message else None
        found = found or _out_of_step(sample, text, reference)
        # Subwords and words, say, do not compare; the form was named already.
        if found and _forms_of(text).keys() == _forms_of(reference).keys():
            yield found._replace(message=f"{text.name}: {found.message}")


NEARER_SOURCE = 0.25
"""How many more of its words a hypothesis shares with the source than the reference does, as a
share of its words; copies have 0.9, and true translations, names and numbers included, 0.06 at
most."""


def _nearer_source(sample: Sample, text: SampledText, reference: SampledText) -> str | None:
    if sample.source is None:
        return None
    words = zip(text.words, sample.source.words, reference.words, strict=True)
    rows = [row for row in words if row[0] and row[1]]
    if len(rows) < FEWEST_SEGMENTS:
        return None
    to_source = fmean(len(h & s) / len(h) for h, s, _ in rows)
    to_reference = fmean(len(h & r) / len(h) for h, _, r in rows)
    usual = fmean(len(r & s) / max(len(r), 1) for _, s, r in rows)
    if to_source <= max(to_reference, usual + NEARER_SOURCE):
        return None
    return (
        f"{percent(to_source)} of its words are in the source {sample.source.name}, "
        f"{percent(to_reference)} in {reference.name}; check that it is a translation"
    )


CUT_OTHERWISE = 0.04
"""Words of one text that the other has only across its spaces ("don't" for "do n't"). Outputs of
real systems have 0.4%, Japanese sentences by the same segmenter 0.2%; texts whose longer words
were cut in two 9%, untokenised ones 10 to 20%, ones in letters 70%."""


def _cut_otherwise(text: SampledText, reference: SampledText) -> str | None:
    if not text.has_enough:
        return None
    for one, other in ((text, reference), (reference, text)):
        words = crossing = 0
        example = ""
        for row, against in zip(one.rows, other.rows, strict=True):
            known = set(against)
            joined, spaced = "".join(against), " ".join(against)
            for token in row:
                if len(token) > 1:
                    words += 1
                    if token not in known and token in joined and token not in spaced:
                        crossing += 1
                        example = example or token
        share = crossing / max(words, FEWEST_CASED)
        if share > CUT_OTHERWISE:
            return (
                f"{percent(share)} of the words of {one.name}, such as {shown(example)}, are in "
                f"more than one piece in {other.name}; tokenise both alike"
            )
    return None


# Whether line N of one text belongs to line N of the other, as far as the texts show it

NO_RELATION = 0.03
"""How much more the words of a line fit its own reference than those around it, 1 for a perfect
hypothesis: 0 ± 0.03 in 50 shuffled lines, 0.1 where 90% of the words are wrong, 0.5 for real
systems."""

BETTER_ELSEWHERE = 0.1
"""How much better a neighbouring line fits: 0.5 to 0.75 where lines are shifted, 0.05 at most where
they are shuffled, and below 0 where they are right."""

BAD_PIECES = 0.2
"""Share of bad pieces from which on a text counts as bad: a part of it may be out of step."""

LAGS = (-2, -1, 1, 2)
"""The neighbours that a line is compared with."""


def _out_of_step(sample: Sample, text: SampledText, reference: SampledText) -> Finding | None:
    """Whether lines share no more words with their own reference than with others."""
    seen, bad, lags = [], [], []
    frequency = Counter(chain.from_iterable(reference.words))
    # Words that are in every other segment say little of where one belongs.
    weights = {w: math.log((1 + len(reference.rows)) / n) for w, n in frequency.items()}
    for piece in sample.pieces:
        rows = [i for i in piece if text.words[i] and reference.words[i]]
        if len(rows) < FEWEST_SEGMENTS:
            continue
        one, two = [text.words[i] for i in rows], [reference.words[i] for i in rows]
        own, others = _shared(one, two, weights)
        most, least = _shared(two, two, weights)
        scale = most - fmean(least)
        # Segments that are all alike do not tell where they belong.
        if scale < most / 5 or scale <= 0:
            continue
        seen.append(piece[0])
        best = max(range(len(LAGS)), key=others.__getitem__)
        if others[best] > own + BETTER_ELSEWHERE * scale:
            lags.append(LAGS[best])
        elif own - fmean(others) >= NO_RELATION * scale:
            continue
        bad.append(piece[0])
    if not bad or len(bad) < BAD_PIECES * len(seen):
        return None
    place = where(sample, bad, seen)
    lag, times = Counter(lags).most_common(1)[0] if lags else (0, 0)
    if 2 * times > len(bad):
        return Finding("shifted", shifted(lag, reference.name, place))
    return Finding(
        "out-of-step",
        f"shares no more words with its own line of {reference.name} than with the lines around "
        f"it, {place}; lines are in another order, or the texts do not belong together",
    )


def shifted(lag: int, name: str, place: str) -> str:
    """Say that lines fit those of another text that are ``lag`` lines on."""
    return (
        f"line N fits line N{lag:+d} of {name} better than line N, {place}; lines are shifted: "
        "find the line that is missing or too many"
    )


def _shared(
    one: Sequence[frozenset[str]], two: Sequence[frozenset[str]], weights: Mapping[str, float]
) -> tuple[float, list[float]]:
    """Mean weight of the words that segments share with their own line, and with each neighbour."""

    def mean(pairs: Iterable[tuple[frozenset[str], frozenset[str]]]) -> float:
        return fmean(math.fsum(map(weights.__getitem__, a & b)) for a, b in pairs)

    others = [mean(zip(*_moved(one, two, lag), strict=True)) for lag in LAGS]
    return mean(zip(one, two, strict=True)), others


def _moved(one: Sequence[T], two: Sequence[T], lag: int) -> tuple[Sequence[T], Sequence[T]]:
    """Two columns beside each other, the second one moved up by some rows."""
    return one[max(0, -lag) : len(one) - max(0, lag)], two[max(0, lag) : len(two) - max(0, -lag)]


def where(sample: Sample, bad: Sequence[int], seen: Sequence[int]) -> str:
    """The place of the bad pieces among those looked at, given the first row of each."""
    if len(bad) == len(seen):
        return "all over"
    line = sample.line(bad[0])
    if line is not None and list(bad) == list(seen[-len(bad) :]):
        return f"from about line {line:,} on"
    return f"in {len(bad)} of {len(seen)} places"


SOURCE_ROWS = 200
"""Rows for a correlation of lengths: by chance 0 ± 0.07."""

LENGTH_CORRELATION = 0.1
"""Of the logarithms of source and target lengths: 0.47 to 0.89, and 0.28 to 0.78 where 30% of the
target's words were dropped; lines out of step -0.36 to 0.16."""

LENGTHS_ELSEWHERE = 0.2
"""How much better the lengths of a neighbouring line correlate: 0.2 to 1.1 where lines are shifted,
below -0.2 else; files that are sorted in some way correlate with their neighbours too."""

FEWEST_LENGTHS = 0.1
"""Standard deviation of the logarithms of lengths; 0.17 to 0.35 in usual text."""


def check_source_order(sample: Sample) -> Iterator[Finding]:
    """Source and target in another order, as far as lengths and common words show it."""
    source = sample.source
    if source is None:
        return
    for target in sample.targets:
        seen, bad = [], []
        parts = len(source.rows) // SOURCE_ROWS
        for part in range(parts):
            start, end = (len(source.rows) * (part + i) // parts for i in (0, 1))
            rows = [i for i in range(start, end) if source.rows[i] and target.rows[i]]
            one, two = ([math.log1p(len(text.rows[i])) for i in rows] for text in (source, target))
            if len(rows) < SOURCE_ROWS / 2 or min(pstdev(one), pstdev(two)) < FEWEST_LENGTHS:
                continue
            seen.append(start)
            own = _correlation(one, two)
            elsewhere = max(_correlation(*_moved(one, two, lag)) for lag in LAGS)
            strange = own < LENGTH_CORRELATION or elsewhere > own + LENGTHS_ELSEWHERE
            if strange and not _share_words(source, target, rows):
                bad.append(start)
        if bad and len(bad) >= BAD_PIECES * len(seen):
            yield Finding(
                "source-out-of-step",
                f"{source.name} and {target.name}: long sources do not have long translations, "
                f"{where(sample, bad, seen)}; lines are in another order, or the texts do not "
                "belong together",
            )


def _correlation(one: Sequence[float], two: Sequence[float]) -> float:
    """Pearson's; 0 where all values of a side are equal."""
    try:
        return correlation(one, two)
    except StatisticsError:
        return 0.0


def _share_words(source: SampledText, target: SampledText, rows: Sequence[int]) -> bool:
    """Whether sources share more words (names, numbers) with their own line than with the next."""
    one, two = [source.words[i] for i in rows], [target.words[i] for i in rows]
    own = sum(len(a & b) for a, b in zip(one, two, strict=True))
    next_ = sum(len(a & b) for a, b in zip(one, two[1:], strict=False))
    return own > 2 * next_ + 5
