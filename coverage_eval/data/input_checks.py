"""Checks of texts before scoring: a wrong file must not give a plausible number.

A wrong file (another tokeniser, lines out of step, the source instead of the output, a model of
another language) seldom stops a score: it changes the score, often for the better. Each check looks
at a sample of the texts and says in one line what it saw and what to do. Checks that compare shares
need at least twenty segments. All checks run, and :data:`GRAVITY` orders their findings: with the
most serious ones a score means nothing, and a command ends with an error unless it is forced.

The thresholds were set on a corpus of image descriptions, a corpus of short sentences, outputs of
real systems, and the same texts damaged in each of these ways; the comment at each threshold gives
the figures for sound and for damaged text. :mod:`coverage_eval.data.line_checks` compares texts
line by line, and :mod:`coverage_eval.alignment.alignment_checks` checks models and links.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from coverage_eval.data.files import CorpusWarning
from coverage_eval.data.sample import MIN_SEGMENTS, Sample, SampledText


class Gravity(IntEnum):
    """How much a finding matters, the most serious first."""

    MEANINGLESS = 0
    """The score means nothing: the command ends with an error unless it is forced."""
    DOUBT = 1
    """The score may mislead: a warning."""
    NOTE = 2
    """Something to know when reading the score."""


GRAVITY: Mapping[str, Gravity] = {
    **dict.fromkeys(("swapped-sides", "wrong-model", "shifted"), Gravity.MEANINGLESS),
    **dict.fromkeys(
        ("says-little", "blank", "sides", "second-output", "no-links", "model-fit", "out-of-step",
         "nearer-source", "source-out-of-step", "equal", "plain-model"),
        Gravity.DOUBT,
    ),
    **dict.fromkeys(
        ("segmented", "words-cut", "tokenised-beside", "equal-outputs", "left-out", "punctuation"),
        Gravity.NOTE,
    ),
}  # fmt: skip
"""Checks in the order of their findings; all other checks are doubts and come last."""


class Finding(NamedTuple):
    """Something in the input that is probably a mistake.

    Attributes:
        check: Name of the check, such as ``subword-marks``.
        message: One line: the text's name, what was seen, with figures, and what to do.
        text: The name of the text, where tables mark it.
    """

    check: str
    message: str
    text: str = ""

    @property
    def gravity(self) -> Gravity:
        """How much it matters."""
        return GRAVITY.get(self.check, Gravity.DOUBT)


def most_serious_first(findings: Iterable[Finding]) -> list[Finding]:
    """The findings by gravity, then in the order of :data:`GRAVITY`."""
    order = {check: place for place, check in enumerate(GRAVITY)}
    return sorted(findings, key=lambda f: (f.gravity, order.get(f.check, len(order))))


def warn_of(findings: Iterable[Finding], stacklevel: int = 2) -> None:
    """Issue a Python warning for each finding that is not a note.

    Args:
        findings: The findings.
        stacklevel: As in :func:`warnings.warn`, counted from the caller.
    """
    for finding in findings:
        if finding.gravity < Gravity.NOTE:
            warnings.warn(finding.message, CorpusWarning, stacklevel=stacklevel + 1)


_REFERENCE = re.compile(r"(^|[^a-z])(refs?|references?|gold)([^a-z]|$)")


def is_reference_name(name: str) -> bool:
    """Whether a file is called like a reference, such as ``test.ref`` or ``refs``."""
    return bool(_REFERENCE.search(name.lower()))


def check_texts(sample: Sample) -> list[Finding]:
    """Check the form of the texts of a command, by themselves and against each other."""
    checks = (
        check_length, check_forms, check_entities, check_characters, check_case, check_equal,
    )  # fmt: skip
    return [finding for check in checks for finding in check(sample)]


def percent(share: float) -> str:
    """A share, 0 to 1, in percent; small ones with a decimal."""
    return f"{100 * share:.{0 if share >= 0.0995 else 1}f}%"


def shown(token: str) -> str:
    """A token for a message, printable and short."""
    text = "".join(c if c.isprintable() else "?" for c in token)
    return f"'{text[:24]}…'" if len(text) > 24 else f"'{text}'"


def named(details: Mapping[str, str]) -> str:
    """A list of names, each with its detail in brackets."""
    return ", ".join(f"{name} ({detail})" for name, detail in details.items())


# Each text by itself: subwords, untokenised text, scripts without spaces

# A vocabulary of 30,000 subwords marks 2 to 30% of the tokens, SentencePiece and byte-level BPE
# most of them. Plain text has none of the first three; "##" begins headings and rare hashtags, and
# "Ġ" is a letter of Maltese.
SUBWORD_MARKS = (
    (re.compile(r".+@@"), 0.002),
    (re.compile(r"▁.*"), 0.002),
    (re.compile(r"￭.+|.+￭"), 0.002),
    (re.compile(r"##\w+"), 0.01),
    (re.compile(r"Ġ.*"), 0.2),
)
"""Tokens that a subword tokeniser has marked, and their least share in a text of subwords."""


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
"""Segments with punctuation attached to a word, as a share of the segments with punctuation:
tokenised text has below 1% (abbreviations), untokenised text 98%."""


def why_untokenised(text: SampledText) -> str | None:
    """The share of segments with punctuation attached to a word, if it is that of raw text."""
    glued = punctuated = 0
    for row in text.rows:
        ending = [token for token in row if _PUNCTUATION.search(token)]
        punctuated += bool(ending)
        glued += any(map(_GLUED_MARK.search, ending)) or (
            len(row) > 1 and _GLUED_STOP.search(row[-1]) is not None
        )
    if glued < MIN_SEGMENTS or glued <= GLUED_SEGMENTS * punctuated:
        return None
    return f"{percent(glued / punctuated)} of the segments"


TOKENISED = 0.5
"""Segments whose last full stop is a token, as a share of the segments that end in a full stop:
sacreBLEU's own check."""


def check_tokenised(sample: Sample, metrics: Sequence[str], *, alone: bool) -> Iterator[Finding]:
    """Find tokenised text that is scored by metrics with a tokeniser of their own.

    Args:
        sample: Texts split at spaces.
        metrics: The names of these metrics.
        alone: Whether there are no other metrics.
    """
    seen = []
    for text in (*sample.hypotheses, *sample.references):
        ends = [row for row in text.rows if len(row) > 1 and row[-1].endswith((".", "。"))]
        cut = sum(row[-1] in {".", "。"} for row in ends)
        if cut >= MIN_SEGMENTS and cut > TOKENISED * len(ends):
            seen.append(text.name)
    if seen:
        yield Finding(
            "tokenised" if alone else "tokenised-beside",
            f"{', '.join(seen)}: tokenised text (its full stops are separate tokens); do not "
            f"compare its {' and '.join(metrics)} with published scores of untokenised text",
        )


# Thai to Lao, Burmese, Khmer, kana, Han.
_WITHOUT_SPACES = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
)
UNSEGMENTED_CHARACTERS = 7.0
"""Letters per token: segmented Japanese has 1.6, Chinese 1.7, Thai about 4; unsegmented text has 10
to 40."""


def why_unsegmented(text: SampledText) -> str | None:
    """Letters per token if a text seems not to be split into words; None if it is."""
    letters = tokens = 0
    for token, number in text.counts.items():
        here = len(_WITHOUT_SPACES.findall(token))
        letters += number * here
        tokens += number * bool(here)
    # A few names in such a script say nothing about a text in another script.
    if not text.has_enough or tokens < text.tokens / 3:
        return None
    if letters <= UNSEGMENTED_CHARACTERS * tokens:
        return None
    return f"{letters / tokens:.0f} letters per token"


_FORMS: Mapping[str, tuple[Callable[[SampledText], str | None], str]] = {
    "subword-marks": (
        _subword_marks,
        "contains subword marks; join the subwords into words first",
    ),
    "untokenised": (
        why_untokenised,
        "punctuation is attached to words; tokenise all texts alike, or add --tokenize 13a",
    ),
    "unsegmented": (
        why_unsegmented,
        "the script has no spaces, and the text is not split into words; split all texts alike, or "
        "add --tokenize char (for the source, --src-tokenize)",
    ),
}
"""The checks of single texts: a function that gives the evidence, or None; and the advice."""


def forms_of(text: SampledText) -> dict[str, str]:
    """The evidence of each check of single texts that found something."""
    details = {name: look(text) for name, (look, _) in _FORMS.items()}
    return {name: detail for name, detail in details.items() if detail is not None}


def check_forms(sample: Sample) -> Iterator[Finding]:
    """Subwords, untokenised text, scripts without spaces: one finding of each for all texts."""
    forms = {text.name: forms_of(text) for text in sample.texts}
    for form, (_, advice) in _FORMS.items():
        seen = {name: details[form] for name, details in forms.items() if form in details}
        if seen:
            yield Finding(form, f"{named(seen)}: {advice}")


# Texts beside each other: HTML entities, case, equal texts

# The entities that Moses' tokeniser writes, and the characters that it escapes. Other entities are
# left over from HTML.
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#x[0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_MOSES_ENTITIES = {"&amp;", "&apos;", "&quot;", "&lt;", "&gt;", "&#91;", "&#93;", "&#124;"}
_ESCAPED_BY_MOSES = re.compile(r"['\"<>\[\]|]")
_MIN_ENTITIES = 3  # one or two may be what the text is about


def check_entities(sample: Sample) -> Iterator[Finding]:
    """Entities that no tokeniser writes, or Moses' entities in one text and not in another.

    In a corpus escaped by Moses, 0.2 to 3% of the segments of both sides have entities, and none
    has a plain apostrophe or quotation mark.
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
        if found.total() >= _MIN_ENTITIES:
            escaped[text.name] = found
        elif not found and bare >= _MIN_ENTITIES:
            plain.append(text.name)
    details = {
        name: f"{found.total()} times, such as {shown(found.most_common(1)[0][0])}"
        for name, found in escaped.items()
        if plain or sum(n for e, n in found.items() if e not in _MOSES_ENTITIES) >= _MIN_ENTITIES
    }
    if details:
        other = f", but not in {', '.join(plain)}" if plain else ""
        yield Finding(
            "html-entities",
            f"{named(details)}: contains HTML entities{other}; replace them with their characters "
            "in all texts, and in a model's training text",
        )


MIN_STRANGE = 0.002
"""Share of tokens with strange characters, at least."""

# UTF-8 that was read as Latin-1 or cp1252, in any case, and bytes that nothing could be made of.
_WRONG_ENCODING = re.compile("[ÃãÂâÐðÑñ][¡-ª¬-º¼-¿]|â€|\ufffd")
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")


def _is_decomposed(token: str) -> bool:
    return len(unicodedata.normalize("NFC", token)) < len(token)


_CHARACTERS: Mapping[str, tuple[Callable[[str], object], str]] = {
    "wrong-encoding": (
        _WRONG_ENCODING.search,
        "characters of a wrong encoding; convert the file to UTF-8 from the encoding it has",
    ),
    "decomposed": (
        _is_decomposed,
        "letters whose accents are characters of their own; normalise all texts alike (NFC)",
    ),
    "invisible": (
        _INVISIBLE.search,
        "words with invisible characters, which make other words of them; remove these",
    ),
}
"""Characters that the eye does not see or forgives: how tokens with them are found, and advice."""


def check_characters(sample: Sample) -> Iterator[Finding]:
    """Strange characters in one text that another has not, so that equal words are unequal."""
    for check, (is_strange, advice) in _CHARACTERS.items():
        strange = {}
        for text in sample.texts:
            found = Counter(
                {t: n for t, n in text.counts.items() if not t.isascii() and is_strange(t)}
            )
            if found.total() >= max(3, MIN_STRANGE * text.tokens):
                token = found.most_common(1)[0][0]
                unseen = _INVISIBLE.search(token)
                example = f"U+{ord(unseen[0]):04X}" if unseen else shown(token)
                share = percent(found.total() / text.tokens)
                strange[text.name] = f"{share} of the tokens, such as {example}"
        if 0 < len(strange) < len(sample.texts):
            yield Finding(check, f"{named(strange)}: {advice}")


MIN_CASED = 200
"""Tokens with case; a text with fewer may have no capitals by chance."""

LOWER_CASED, CASED = 0.002, 0.02
"""Shares of tokens with a capital letter: English text has 5 to 20%, German 30%, other languages
between; lower-cased text has 0, or almost 0 if the program missed a rare letter."""

CASE_RATIO = 4.0
"""Factor between the capitals of hypothesis and reference; 1.1 for outputs of real systems."""

CASE_DIFFERENCE = 0.4
"""Difference of these shares, where all is in capitals; 0.03 for outputs of real systems."""

CAPITAL_STARTS = 0.5
"""Difference in the share of segments that begin with a capital letter; 0.02 for outputs of real
systems."""


def check_case(sample: Sample) -> Iterator[Finding]:
    """A lower-cased text beside a cased one, or a hypothesis with other capitals."""
    texts = [text for text in sample.texts if text.case[0] >= MIN_CASED]
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
        most, least = max(words), min(words)
        if most >= CASED and most > min(CASE_RATIO * least, least + CASE_DIFFERENCE):
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


MIN_EQUAL_TOKENS = 30
"""Shorter texts, such as a few one-word segments, may be equal by chance."""


def check_equal(sample: Sample) -> Iterator[Finding]:
    """Equal texts: two outputs, or an output and the reference or the source."""
    same: dict[tuple[tuple[str, ...], ...], list[SampledText]] = defaultdict(list)
    for text in sample.texts:
        same[text.key].append(text)
    for rows, texts in same.items():
        names = [text.name for text in texts]
        by_chance = texts[0].tokens < MIN_EQUAL_TOKENS and len(set(names)) == len(names)
        if len(names) > 1 and not by_chance:
            outputs = [text.name for text in texts if text in sample.hypotheses]
            yield Finding(
                "equal-outputs" if len(outputs) == len(texts) else "equal",
                f"{' and '.join(names)}: the same text in all {len(rows):,} segments looked at; "
                "check that each is the file you meant",
                outputs[0] if outputs else "",
            )


# Outputs that say nothing, or little

MIN_WORDS = 4
"""Words that another text has where a segment is blank; shorter ones may be left out rightly."""

SHORT = 0.5
"""Bytes of an output divided by those of the reference or of the other outputs: 0.8 to 1.1 for real
systems, and 0.7 where 30% of the words were left out."""

SHORT_OF_SOURCE = 0.25
"""Bytes of an output divided by those of the source: bytes roughly even out the scripts. English
has 0.6 of Japanese, German 1.2 of English, Hindi 2.5."""


def check_length(sample: Sample) -> Iterator[Finding]:
    """Outputs with blank segments, or far too short: metrics that count errors favour them."""
    for text in sample.hypotheses:
        others = [other for other in sample.texts if other is not text]
        spoken = [i for i in range(len(text.rows)) if not others or any(t.words[i] for t in others)]
        silent = sum(not text.words[i] for i in spoken)
        blank = [
            i
            for i in spoken
            if not text.rows[i] and any(len(t.words[i]) >= MIN_WORDS for t in others)
        ]
        name, length, share = _expected_length(sample, text)
        said = None
        if spoken and silent == len(spoken):
            said = "no segment has a word"
        elif silent > len(spoken) / 2:
            said = f"{percent(silent / len(spoken))} of the segments have no word"
        elif text.has_enough and text.bytes < share * length:
            said = f"has only {percent(text.bytes / length)} of the length of {name}, in bytes"
        if said:
            yield Finding(
                "says-little",
                f"{text.name}: {said}; an output that says little has few errors to count, so low "
                "scores mean nothing",
                text.name,
            )
        elif blank:
            line = sample.line(blank[0])
            place = "" if line is None else f", first segment {line:,}"
            yield Finding(
                "blank",
                f"{text.name}: {len(blank)} of {len(spoken)} segments looked at are blank "
                f"although the other texts have words{place}; blank segments have no errors to "
                "count, so find out why the system gave no output",
                text.name,
            )


def _expected_length(sample: Sample, text: SampledText) -> tuple[str, float, float]:
    """The text to compare an output's length with, its bytes, and the least share of them."""
    others = [other for other in sample.hypotheses if other is not text]
    if sample.references:
        shortest = min(sample.references, key=lambda reference: reference.bytes)
        return shortest.name, shortest.bytes, SHORT
    if len(others) > 1:
        return "the other outputs", min(other.bytes for other in others), SHORT
    if sample.source is not None:
        return sample.source.name, sample.source.bytes, SHORT_OF_SOURCE
    return "", 0, 0
