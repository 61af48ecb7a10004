"""Errors of a whole output that have a name: empty, a copy of the source, a refusal, a loop.

No threshold decides them, so they are decided before any score. Language models make most of them.
What is usual is learnt from the text at hand: which words of the source the outputs keep, how long
outputs are, which words they share, with what words many outputs begin or end though their sources
have nothing in common. :class:`NamedErrors` learns this from a sample and then judges each output
by itself, so an output is judged alike in one process and in many.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from statistics import median
from typing import NamedTuple, TypeAlias

from coverage_eval.align.aligner import Aligner, ModelAligner
from coverage_eval.core.dataset import Dataset, Request, Row, RowSample
from coverage_eval.core.errors import Finding
from coverage_eval.repetition.loops import find_loop
from fast_align_wrapper.text import Segment

KINDS: Mapping[str, str] = {
    "empty": "have no words although the source has some",
    "copy": "are the source itself, or nearly, or have it beside a translation",
    "refusal": "are refusals, or say the same whatever the source says",
    "wrong-language": "are in another script or language than the others",
    "loop": "say the same words again and again",
    "truncated": "stop long before the end",
    "overlong": "say far more than outputs of such sources usually do",
    "preamble": "begin with words that no source explains",
    "note": "end with words that no source explains",
    "markup": "have code fences, bold text or headings that the source lacks",
}
"""The kinds of errors, and what outputs with it do; the first is an output's main error."""

GUESSES: Mapping[str, float] = {"truncated": 0.02, "overlong": 0.005, "markup": 0.005}
"""Kinds that are guesses, and the share of complete outputs that may look so. The others are
certain."""


class NamedError(NamedTuple):
    """An error of a whole output.

    Attributes:
        kind: Its name, such as ``copy``.
        detail: What was seen, such as ``"'the dog ,' 30 times"``; may be empty.
    """

    kind: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}" if self.detail else self.kind


# Scripts without spaces between words: each letter stands for itself.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
)
# Accents, vowel points and vowel signs that belong to the letter before; ``\\w`` has none of them.
_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963"
    "\u0971-\u0df3\u200c\u200d"
)
_PIECES = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}](?:[^\W{_UNSPACED}]|[{_MARKS}])*|[^\w\s]")
_BETWEEN_UNSPACED = re.compile(rf"(?<=[{_UNSPACED}]) (?=[{_UNSPACED}])")
_LINK = re.compile(r"\S+://\S+|www\.\S+|\S+@\S+\.\S+")


def split_pieces(text: Segment) -> list[str]:
    """Words, numbers, marks of punctuation, and letters of scripts without spaces.

    >>> split_pieces("It's 3 o'clock, 猫。 की है")
    ['It', "'", 's', '3', 'o', "'", 'clock', ',', '猫', '。', 'की', 'है']
    """
    return _PIECES.findall(text if isinstance(text, str) else " ".join(text))


def _words(pieces: Iterable[str]) -> list[str]:
    """The words and numbers in lower case."""
    return [piece.lower() for piece in pieces if piece[0].isalnum()]


@dataclass(frozen=True)
class _Text:
    """A segment in the forms that the checks look at; its length counts letters, digits, marks."""

    text: str
    pieces: list[str]
    words: list[str]
    length: int

    @classmethod
    def of(cls, segment: Segment) -> _Text:
        text = segment if isinstance(segment, str) else " ".join(segment)
        pieces = split_pieces(text)
        return cls(text, pieces, _words(pieces), sum(map(len, pieces)))

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Its different words."""
        return frozenset(self.words)


_Pair: TypeAlias = tuple[_Text, _Text]
"""A source and its output."""

_END = re.compile(r"[.!?…。！？।؟:;)\]\"“”»'’*`]\s*$")
_STOPS = frozenset(".!?:…。！？：—–।؟")
_SENTENCE_END = re.compile(r"[.!?…।؟]+(?=\s|$)|[。！？]")

MIN_ROWS = 20
"""With fewer segments, nothing is learnt from the text."""

MIN_SHARED = 3
MIN_SHARED_SHARE = 0.003
"""Segments that begin or end alike for their words to count as a habit of the system."""

MAX_AFFIX = 25
"""The longest beginning or end that is looked at, in pieces."""

ASSOCIATED = 9.0
"""Log-likelihood ratio (Dunning 1993) between outputs that begin alike and a word of their sources,
from which on the word explains the beginning; plus :data:`ASSOCIATED_EACH` for each segment."""

ASSOCIATED_EACH = 0.25

ODD_SHARE = 1 / 3
"""Share of outputs of unusual length among those that say the same, from which on they are no
translations; refusals answer sources of every length."""

FREQUENT = 0.2
"""Share of outputs from which on what they begin or end with is a habit, whatever their lengths:
usual lengths have it, too."""

COMMON = 0.01
"""Share of outputs that have a common word."""


@dataclass(frozen=True)
class _Habits:
    """What is usual in one system's outputs.

    Attributes:
        kept: For each source word, in how many segments it occurs, and in how many the output has
            it, too.
        copies: Share of the outputs that are their sources, or have them whole.
        ratio: Median of the logarithm of output length by source length, in letters.
        spread: Its standard deviation, from the median of deviations.
        length: Median source length.
        ends: Share of outputs with a mark at the end where the source has one.
        scripts: Scripts of at least a twentieth of the letters.
        common: Words that many outputs have.
        known: Median shares of known words in an output: of the common ones, and of those that a
            model knows, too, if there is one.
        starts: Beginnings that no source explains.
        closings: Ends that no source explains, from left to right.
    """

    kept: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    copies: float = 0.0
    ratio: float = 0.0
    spread: float = 0.0
    length: float = 0.0
    ends: float = 0.0
    scripts: Set[str] = frozenset()
    common: Set[str] = frozenset()
    known: Sequence[float] = ()
    starts: Set[tuple[str, ...]] = frozenset()
    closings: Set[tuple[str, ...]] = frozenset()


Vocabulary = tuple[frozenset[str], frozenset[str]]
"""The words of the source and of the target language that a model knows."""


@dataclass(frozen=True)
class NamedErrors:
    """Finds errors of whole outputs that have a name.

    >>> texts = [("ein haus", "a house"), ("ein hund", "a dog"), ("das haus am see", "")]
    >>> rows = [Row((output,), (), source) for source, output in texts]
    >>> finder = NamedErrors.learn(rows)
    >>> [[error.kind for error in finder.find_row(row)[0]] for row in rows]
    [[], [], ['empty']]

    Make it with :meth:`learn`.
    """

    habits: tuple[_Habits, ...]
    vocabulary: Vocabulary | None = None

    @classmethod
    def learn(cls, rows: Sequence[Row], vocabulary: Vocabulary | None = None) -> NamedErrors:
        """Learn what is usual, from a sample of the rows that will be judged.

        Args:
            rows: Some or all segments, each with the outputs of the same systems.
            vocabulary: The words that a model knows, for outputs in another language.
        """
        if vocabulary is not None:
            lowered = [frozenset(word.lower() for word in words) for words in vocabulary]
            vocabulary = lowered[0], lowered[1]
        sources = [_Text.of(row.source or "") for row in rows]
        systems = zip(*(row.hypotheses for row in rows), strict=True)
        habits = tuple(
            _learn(list(zip(sources, map(_Text.of, texts), strict=True)), vocabulary)
            for texts in systems
        )
        return cls(habits, vocabulary)

    @property
    def request(self) -> Request:
        """Asks a batch for the errors of each row."""
        return Request(("named", id(self)), partial(map, self.find_row))

    def find_row(self, row: Row) -> tuple[tuple[NamedError, ...], ...]:
        """The errors of each system's output, in the order of :data:`KINDS`."""
        source = None if row.source is None else _Text.of(row.source)
        texts = [source] if source else list(map(_Text.of, row.references))
        is_blank = bool(texts) and not any(text.words for text in texts)
        return tuple(
            tuple(self._find(output, source, row.references, habits))
            if _has_words(output)
            else (() if is_blank else (NamedError("empty"),))
            for output, habits in zip(map(_Text.of, row.hypotheses), self.habits, strict=True)
        )

    def _find(
        self,
        output: _Text,
        source: _Text | None,
        references: Sequence[Segment],
        habits: _Habits,
    ) -> Iterator[NamedError]:
        """The errors of an output that has words."""
        if source is not None:
            copied = _copied(output, source, habits, self.vocabulary)
            if copied is not None:
                yield NamedError("copy", copied)
                return
        start, closing = _affixes(output, source, habits) if source else ((), ())
        refused = source is not None and _refuses(output, source, habits, start)
        if refused:
            is_one_word = len(set(output.words)) == 1 < len(output.words)
            yield NamedError("loop" if is_one_word else "refusal", _quoted(output.pieces))
        if detail := _strange(output, source, habits, self.vocabulary):
            yield NamedError("wrong-language", detail)
        if refused or detail:
            return
        if detail := _looped(output, source, references):
            yield NamedError("loop", detail)
        elif source and (share := _unusual_length(output, source, habits)):
            kind = "truncated" if share < 1 else "overlong"
            # A preamble and a note make an output long.
            if not _fits(output, references) and (share < 1 or not (start or closing)):
                yield NamedError(kind, f"{share:.0%} of the usual length")
        if start:
            yield NamedError("preamble", _quoted(start))
        if closing:
            yield NamedError("note", _quoted(closing))
        if marks := _markup(output.text, source.text if source else ""):
            yield NamedError("markup", marks)


def _has_words(output: _Text) -> bool:
    """Whether an output has words besides the tokens that language models are trained with."""
    if not _SPECIAL.search(output.text):
        return bool(output.words)
    return bool(_words(split_pieces(_SPECIAL.sub(" ", output.text))))


def _looped(output: _Text, source: _Text | None, references: Sequence[Segment]) -> str:
    """What an output says again and again, and neither its source nor a reference; often empty."""
    loop = find_loop(output.pieces, source.pieces if source else ())
    # Loops are rare, so only now the references are cut.
    if loop is None or find_loop(output.pieces, *map(split_pieces, references)) is None:
        return ""
    pattern = _quoted(output.pieces[loop.start : loop.start + loop.period])
    return f"{pattern} {'' if loop.exact else 'about '}{max(loop.count, 2)} times"


def _quoted(pieces: Sequence[str]) -> str:
    text = _BETWEEN_UNSPACED.sub("", " ".join(pieces))
    return f"'{text[:40]}…'" if len(text) > 40 else f"'{text}'"


def _learn(pairs: Sequence[_Pair], vocabulary: Vocabulary | None) -> _Habits:
    """What is usual in the outputs of a system, from sources and outputs."""
    # A pair that comes again tells no more than once.
    distinct = {(source.text, output.text): (source, output) for source, output in pairs}
    pairs = [pair for pair in distinct.values() if pair[1].words]
    if len(pairs) < MIN_ROWS:
        return _Habits()
    seen, both, having, letters = (Counter[str]() for _ in range(4))
    for source, output in pairs:
        seen.update(source.vocabulary)
        both.update(source.vocabulary & output.vocabulary)
        having.update(output.vocabulary)
        letters.update(_scripts(output.text))
    least = max(3, COMMON * len(pairs))
    common = frozenset(word for word, n in having.items() if n >= least and word[0].isalpha())
    spoken = [pair for pair in pairs if pair[0].words]
    ratios = [math.log((output.length + 1) / (source.length + 1)) for source, output in spoken]
    middle = median(ratios) if ratios else 0.0
    lengths = _Habits(
        ratio=middle,
        spread=1.4826 * median(abs(ratio - middle) for ratio in ratios) if ratios else 0.0,
        length=median(source.length for source, _ in spoken) if spoken else 0.0,
    )
    ends = [_END.search(output.text) for source, output in spoken if _END.search(source.text)]
    shares = [
        [_known(output.words, source.words, common, words) for source, output in pairs]
        for words in _known_words(vocabulary)
    ]
    known = [[share for share in column if share is not None] for column in shares]
    return replace(
        lengths,
        kept={word: (n, both[word]) for word, n in seen.items()},
        copies=sum(_has_whole(output, source) for source, output in pairs) / len(pairs),
        ends=sum(map(bool, ends)) / len(ends) if len(ends) >= MIN_ROWS else 0.0,
        scripts=frozenset(s for s, n in letters.items() if n >= letters.total() / 20),
        common=common,
        known=[median(column) if len(column) >= MIN_ROWS else 0.0 for column in known],
        starts=_unexplained(pairs, lengths, from_end=False),
        closings=_unexplained(pairs, lengths, from_end=True),
    )


# Copies of the source

MIN_TRANSLATABLE = 2
"""Words of a copy that should have been translated."""

NEARLY = 0.8
"""Words of the output that are the source's, for it to be nearly a copy."""


def _has_whole(output: _Text, source: _Text) -> bool:
    """Whether the words of the source stand in the output in one piece."""
    if not source.words or not source.vocabulary <= output.vocabulary:
        return False
    return f" {' '.join(source.words)} " in f" {' '.join(output.words)} "


def _copied(
    output: _Text, source: _Text, habits: _Habits, vocabulary: Vocabulary | None
) -> str | None:
    """How much of the output is copied from the source, "" for all; None if it is no copy."""
    if source.vocabulary.isdisjoint(output.vocabulary):
        return None
    ours, theirs = Counter(output.words), Counter(source.words)
    shared = ours & theirs
    share = shared.total() / max(ours.total(), 0.8 * theirs.total())
    is_exact = ours == theirs
    is_nearly = share >= NEARLY and ours.total() >= 4
    is_beside = not is_nearly and theirs.total() >= 4 and _has_whole(output, source)
    if not (is_exact or is_nearly or is_beside) or (is_exact and _is_code(source)):
        return None
    links = {word for link in _LINK.findall(source.text) for word in _words(split_pieces(link))}
    lower = {piece for piece in source.pieces if piece.islower() or not piece.isascii()}
    known, guessed = 0, 0
    for word in shared:
        verdict = _translatable(word, habits, vocabulary)
        if word in links or word.isdigit():
            continue
        if verdict is None:
            is_long = len(word) > 2 or not word.isascii()
            guessed += word in lower and is_long and word[0].isalpha()
        else:
            known += verdict
    enough = MIN_TRANSLATABLE if is_exact else MIN_TRANSLATABLE + 1
    if known + guessed < enough and not (is_exact and known == len(shared)):
        return None
    if is_beside:
        return "the source, and more"
    return "" if is_exact else f"{min(share, 0.99):.0%} of its words"


def _translatable(word: str, habits: _Habits, vocabulary: Vocabulary | None) -> bool | None:
    """Whether outputs usually have another word for a word of the source; None if unknown."""
    if habits.copies < 0.5:
        seen, kept = habits.kept.get(word, (0, 0))
        if seen >= 3:
            return kept <= seen / 2
    if vocabulary is not None and word in vocabulary[0]:
        return word not in vocabulary[1]
    return None


# Code and commands of a shell, which nobody translates.
_CODE = re.compile(
    r"^\s*(?:[$#>]\s+)?(?:sudo|git|pip3?|npm|npx|apt(?:-get)?|cd|ls|docker|kubectl|cargo|brew|curl|"
    r"wget|python3?|ssh|scp|cp|mv|rm|mkdir|chmod|chown|grep|sed|awk|tar|echo|export \w+=|"
    r"import \w|from \S+ import|def \w+\s*\(|class \w+\s*[:({]|#include|select .+ from|insert into|"
    r"const \w|let \w+ =|var \w+ =|function \w*\s*\()\b.*[^.!?…。]\s*$|[;{}]\s*$",
    re.IGNORECASE,
)
_CODE_MARK = re.compile(r"[{}()\[\];=<>|\\$_/#&*+~^@`]+|(?<!\S)--?[A-Za-z]")
CODE_SHARE = 1 / 3
"""Marks of code for each word, from which on a text is code."""


def _is_code(source: _Text) -> bool:
    marks = len(_CODE_MARK.findall(source.text))
    is_marked = marks >= max(2, CODE_SHARE * len(source.text.split()))
    return is_marked or _CODE.search(source.text) is not None


# Another script or language


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    name = unicodedata.name(letter, "").partition(" ")[0]
    # Japanese mixes three scripts; Korean may have some Chinese characters.
    return "KANA" if name in {"HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"} else name


def _scripts(text: str) -> Counter[str]:
    """How many letters of each script a text has."""
    if text.isascii():
        return Counter(LATIN=sum(map(str.isalpha, text)))
    return Counter(_script(letter) for letter in text if letter.isalpha())


MIN_LETTERS = 4
"""Letters from which a script can be told."""

STRANGE: Mapping[bool, tuple[int, float]] = {True: (5, 0.4), False: (8, 0.2)}
"""With the vocabulary of a model, and without: the number of words from which a language can be
told, and the share of known words, of the usual share, below which it is another one. A model of
much text knows some words of every language, so outputs without common words are strange, too."""


def _known_words(vocabulary: Vocabulary | None) -> list[Set[str]]:
    """None, for common words alone, and the target words of a model."""
    return [frozenset()] if vocabulary is None else [frozenset(), vocabulary[1]]


def _known(
    words: Sequence[str], source: Sequence[str], common: Set[str], known: Set[str]
) -> float | None:
    """The share of words that are common in the outputs, or that the model knows as target words.

    Words that are the source's, such as names, do not count; None for too few words.
    """
    kept = frozenset(source)
    own = {word for word in words if word[0].isalpha() and (word not in kept or word in common)}
    if len(own) < STRANGE[bool(known)][0]:
        return None
    return sum(word in common or word in known for word in own) / len(own)


def _strange(
    output: _Text, source: _Text | None, habits: _Habits, vocabulary: Vocabulary | None
) -> str:
    """Why an output seems to be in another language; empty if it does not."""
    # Letters of ASCII are Latin, so they need not be counted.
    if habits.scripts and not ("LATIN" in habits.scripts and output.text.isascii()):
        letters = _scripts(output.text)
        other = letters.total() - sum(letters[script] for script in habits.scripts)
        if other >= MIN_LETTERS and 2 * other > letters.total():
            script = max((s for s in letters if s not in habits.scripts), key=letters.__getitem__)
            return f"{other / letters.total():.0%} of its letters are {script.capitalize()}"
    own = source.words if source else ()
    for known, usual in zip(_known_words(vocabulary), habits.known, strict=False):
        share = _known(output.words, own, habits.common, known)
        if usual >= 0.3 and share is not None and share < STRANGE[bool(known)][1] * usual:
            what = "known" if known else "common"
            return f"{share:.0%} of its words are {what}, usually {usual:.0%}"
    return ""


# Outputs that stop too early or too late

SHORT = 0.72
"""Length of a truncated output, as a share of the usual one, at most."""

DEVIATIONS = {True: 0.9, False: 3.2}
"""By how many standard deviations a truncated output is shorter, if the mark at the end is missing,
and if it is there."""

MIN_SPREAD, MAX_SPREAD = 0.12, 0.4

EXCUSED = 2.0
"""Standard deviations by which the length of an apology that speaks of anything is unusual."""


LONG = 1.5
"""Length of an overlong output, as a share of the usual one, at least."""

BEYOND = {True: 1.0, False: 3.2}
"""By how many standard deviations an overlong output is longer, if it has more sentences than the
source, and if it has not. Of 138,000 sentences of training text 59 are that long; of outputs
that were written twice, four in five."""


def _fits(output: _Text, references: Sequence[Segment]) -> bool:
    """Whether an output is about as long as a reference."""
    lengths = (len("".join(one).replace(" ", "")) for one in references)
    return any(SHORT < output.length / max(1, length) < LONG for length in lengths)


def _unusual_length(output: _Text, source: _Text, habits: _Habits) -> float:
    """Length of a truncated or overlong output, as a share of the usual one; else 0."""
    if not habits.spread or len(source.words) < 4:
        return 0.0
    away = _away(output, source, habits)
    if math.log(SHORT) <= away <= math.log(LONG):  # nearly all outputs
        return 0.0
    spread = _spread(source, habits)
    sentences = [len(_SENTENCE_END.findall(text.text)) for text in (source, output)]
    if away > max(math.log(LONG), BEYOND[sentences[1] > sentences[0]] * spread):
        return math.exp(away)
    missing = _END.search(source.text) is not None and _END.search(output.text) is None
    needed = DEVIATIONS[False]
    if missing:  # the more telling, the seldomer it is
        needed -= (DEVIATIONS[False] - DEVIATIONS[True]) * max(0.0, 2 * habits.ends - 1)
    return math.exp(away) if away < min(math.log(SHORT), -needed * spread) else 0.0


def _away(output: _Text, source: _Text, habits: _Habits, less: int = 0) -> float:
    """How far the logarithm of the ratio of lengths is from the usual one."""
    return math.log((output.length - less + 1) / (source.length + 1)) - habits.ratio


def _spread(source: _Text, habits: _Habits) -> float:
    """The standard deviation of this logarithm; short segments vary more."""
    spread = habits.spread * max(1.0, math.sqrt(habits.length / max(source.length, 1)))
    return min(max(spread, MIN_SPREAD), MAX_SPREAD)


def _is_odd(output: _Text, source: _Text, habits: _Habits) -> bool:
    """Whether the length is not that of a translation."""
    return abs(_away(output, source, habits)) > EXCUSED * _spread(source, habits)


# Words around the translation, and refusals


def _unexplained(
    pairs: Sequence[_Pair], habits: _Habits, *, from_end: bool
) -> frozenset[tuple[str, ...]]:
    """Beginnings or ends of several outputs that go with no word of their sources.

    Synonyms share no word either, but then the lengths fit: of the whole, or with the affix.
    """
    having: dict[tuple[str, ...], list[_Pair]] = defaultdict(list)
    for pair in pairs:
        pieces = [piece.lower() for piece in pair[1].pieces]
        for size in range(1, min(MAX_AFFIX, len(pieces)) + 1):
            affix = pieces[-size:] if from_end else pieces[:size]
            if _is_closed(affix, pieces, from_end=from_end):
                having[tuple(affix)].append(pair)
    least = max(MIN_SHARED, MIN_SHARED_SHARE * len(pairs))
    totals = Counter(word for source, _ in pairs for word in source.vocabulary)
    return frozenset(
        affix
        for affix, some in having.items()
        if len(some) >= least
        and _explanation([source.vocabulary for source, _ in some], totals, len(pairs))
        < ASSOCIATED + ASSOCIATED_EACH * len(some)
        and (len(some) >= FREQUENT * len(pairs) or _is_superfluous(affix, some, habits))
    )


def _is_superfluous(affix: Sequence[str], pairs: Sequence[_Pair], habits: _Habits) -> bool:
    """Whether the lengths of outputs with this beginning or end tell that it translates nothing."""
    size = sum(map(len, affix))
    whole = [pair for pair in pairs if len(pair[1].pieces) == len(affix)]
    odd = sum(_is_odd(output, source, habits) for source, output in whole)
    if whole and odd >= ODD_SHARE * len(whole):
        return True
    parts = [pair for pair in pairs if len(pair[1].pieces) > len(affix)]
    with_it = sum(abs(_away(output, source, habits)) for source, output in parts)
    without = sum(abs(_away(output, source, habits, less=size)) for source, output in parts)
    return without < with_it


def _is_closed(affix: Sequence[str], pieces: Sequence[str], *, from_end: bool) -> bool:
    """Whether a beginning or end stands by itself: a mark sets it apart, and it has words."""
    if len(affix) < len(pieces):
        if from_end:
            is_apart = pieces[-len(affix) - 1] in _STOPS or affix[0] in {"(", "[", "*"}
        else:
            is_apart = affix[-1] in _STOPS and pieces[len(affix)] not in _STOPS
        if not is_apart:
            return False
    return sum(piece[0].isalnum() for piece in affix) >= 2


def _explanation(rows: Sequence[frozenset[str]], totals: Mapping[str, int], size: int) -> float:
    """The greatest log-likelihood ratio of some segments and a word that half of them have."""
    best = 0.0
    count = len(rows)
    for word, inside in Counter(word for row in rows for word in row).items():
        total = totals[word]
        if 2 * inside >= count and inside * size > total * count:
            cells = (
                (inside, total * count),
                (count - inside, (size - total) * count),
                (total - inside, total * (size - count)),
                (size - count - total + inside, (size - total) * (size - count)),
            )
            ratio = 2 * sum(n * math.log(n * size / of) for n, of in cells if n)
            best = max(best, ratio)
    return best


# Beginnings and ends that language models write; they only count where the source has nothing
# like them. What a model writes in other words or languages is learnt from the text.
_ABOUT = (
    r"translat|version|übersetz|uebersetz|tradu[czçi]|перев|翻訳|翻译|译文|訳文|번역|ترجم|अनुवाद"
)
_LANGUAGE = (
    r"english|german|french|spanish|italian|portuguese|russian|chinese|japanese|korean|arabic|"
    r"englisch|deutsch|französisch|spanisch|anglais|allemand|français|espagnol|inglés|español|"
    r"italiano|português|русский|английский|中文|英文|日本語|英語|한국어|영어"
)
_PREAMBLE = re.compile(
    rf"^\W*(?:(?:sure|certainly|of course|absolutely|okay|klar|gerne|natürlich|bien sûr|claro)\b"
    rf"[^:\n]{{0,80}}:|[^:.\n]{{0,80}}(?:{_ABOUT})[^:.\n]{{0,60}}[:：]|(?:{_LANGUAGE})\s*[:：])",
    re.IGNORECASE,
)
_NOTE = re.compile(
    rf"(?:[.!?…。！？\"”»*\n]|\s[(\[])\W*(?:(?:translator['’]s |translation )?notes?|anmerkung|"
    rf"hinweis|remarque|nota|примечание|注|注意)\s*[:：][^\n]*(?:{_ABOUT}|original|\btone|literal|context|"
    rf"wörtlich|kontext)[^\n]*$|[.!?…\n]\W*(?:let me know if|i hope this helps|"
    rf"lass(?:en sie)? (?:es )?mich wissen)[^\n]{{0,120}}$",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"^\W*(?:(?:i['’]?m|i am) (?:really |very )?sorry,? (?:but )?(?:i|as)\b|"
    r"(?:sorry,? (?:but )?)i (?:can['’]t|cannot|won['’]t) do (?:that|this)\b|"
    r"(?:sorry,? (?:but )?)?i (?:can['’]t|cannot|am (?:not able|unable) to|won['’]t) "
    r"(?:assist (?:you|with)|help (?:you\b|with)|translate (?:this|that|the|your)|"
    r"provide (?:a|the) translation|fulfil|comply with|process (?:this|your))|"
    r"as an? (?:ai|artificial|(?:large )?language model)|"
    r"(?:es )?tut mir leid,? (?:aber )?(?:(?:da|dabei|ich)\b)|ich kann (?:diese[nrsm]?|dabei|"
    r"ihnen|dir|den text)\b[^.]{0,60}nicht|als (?:ki|sprachmodell)\b|"
    r"je (?:suis désolée?|regrette),? (?:mais )?je ne|je ne peux pas (?:traduire|vous|t)|"
    r"lo siento,? (?:pero )?no puedo|no puedo (?:ayudar|traducir|asistir)|"
    r"mi dispiace,? (?:ma )?non posso|извините,? (?:но )?я не могу|"
    r"申し訳(?:ありません|ございません)[がけ、,]|(?:很)?抱歉[,，]?我(?:无法|不能))",
    re.IGNORECASE,
)
_SORRY = re.compile(
    r"\b(?:sorry|przepraszam|przykro|spijt|desculp\w+|scus\w+|förlåt|undskyld|beklager|omlouvám|"
    r"вибач\w+|üzgünüm|cannot|can['’]t|unable|leid|leider|kann|könn\w+|désolée?s?|peu[xt]|regrett\w+|"
    r"siento|puedo|dispiace|posso|извин\w+|ai|ki|ia|language model|sprachmodell)\b|"
    r"申し訳|すみません|ごめん|抱歉|对不起|言語モデル|语言模型|죄송|미안|آسف|माफ़|क्षमा",
    re.IGNORECASE,
)
"""What the source of a rightful excuse has."""


def _affixes(
    output: _Text, source: _Text, habits: _Habits
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words before and after the translation; empty if there are none."""
    start: tuple[str, ...] = ()
    closing: tuple[str, ...] = ()
    if habits.starts or habits.closings:
        pieces = tuple(piece.lower() for piece in output.pieces)
        sizes = range(min(MAX_AFFIX, len(pieces)), 0, -1)
        start = next((pieces[:n] for n in sizes if pieces[:n] in habits.starts), ())
        closing = next((pieces[-n:] for n in sizes if pieces[-n:] in habits.closings), ())
    own = source.text
    colons = [text.count(":") + text.count("：") for text in (output.text, own)]
    is_announced = not start and colons[0] > colons[1]
    if is_announced and (seen := _PREAMBLE.search(output.text)):
        is_about = re.search(_ABOUT, own, re.IGNORECASE)
        start = () if is_about else tuple(split_pieces(seen[0]))
    if not closing and (seen := _NOTE.search(output.text)) and seen.start() > 0:
        is_noted = re.search(rf"{_ABOUT}|note|notiz|hinweis|anmerk", own, re.IGNORECASE)
        if not is_noted:
            closing = tuple(split_pieces(seen[0]))
    return start, closing


_TASK = re.compile(
    rf"{_ABOUT}|assist|help (?:you )?with|^sorry,? i \S+ do that\W*$|"
    r"\b(?:ai|ki|ia)\b|language model|sprachmodell|request|"
    r"anfrage|harmful|policy|guideline|richtlinie|\bdabei\b|demande|solicitud|手伝|言語モデル|语言模型|请求",
    re.IGNORECASE,
)
"""What an excuse of a language model speaks of; that of a person may speak of anything."""


def _refuses(output: _Text, source: _Text, habits: _Habits, start: tuple[str, ...]) -> bool:
    """Whether an output is nothing but words that no source explains, or a known excuse."""
    if start and len(start) >= 0.8 * len(output.pieces):
        return True
    if _REFUSAL.search(output.text) is None or _SORRY.search(source.text):
        return False
    # The source may have the excuse in a language that is not listed; then its length fits.
    return _is_odd(output, source, habits) or _TASK.search(output.text) is not None


# Markup

_SPECIAL = re.compile(r"</?s>|<\|[a-z_]+\|>|<(?:eos|bos|pad|unk)>|\[/?INST\]", re.IGNORECASE)
"""Tokens that language models are trained with."""

_MARKUP: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a code fence", re.compile(r"```|~~~")),
    ("bold text", re.compile(r"\*\*(?=\S).+?(?<=\S)\*\*|__(?=\w).+?(?<=\w)__", re.DOTALL)),
    ("a heading", re.compile(r"^\s*#{1,6}\s+\w", re.MULTILINE)),
    ("a special token", _SPECIAL),
    ("a tag", re.compile(r"</?(?:translation|output|answer|text|result|target)>", re.IGNORECASE)),
)


def _markup(output: str, source: str) -> str:
    """The markup that an output has and its source lacks, in words."""
    found = [
        name
        for name, shape in _MARKUP
        if shape.search(output) is not None and shape.search(source) is None
    ]
    return " and ".join(found)


# Errors of whole texts, as findings and as reasons to reject a segment

NAMED_ERRORS = "named errors"
"""The key of :class:`~coverage_eval.core.measure.Result` that has them, by system."""

NamedSegments = Mapping[str, Mapping[int, Sequence[NamedError]]]
"""For each system, the named errors of the segments that have some, by their index."""


def learn_named(sample: RowSample, aligner: Aligner | None = None) -> NamedErrors:
    """Learn from a sample what is usual in its texts.

    Args:
        sample: The sample; it is learnt from once.
        aligner: A model's vocabulary tells languages apart; None to do without.
    """
    model = aligner.model if isinstance(aligner, ModelAligner) else None
    return sample.once(
        ("named", id(model)),
        lambda: NamedErrors.learn(sample.rows, model.vocabulary() if model else None),
    )


def by_system(
    systems: Sequence[str], by_segment: Mapping[int, Sequence[Sequence[NamedError]]]
) -> NamedSegments:
    """For each system its errors by segment, from those of the segments that have some."""
    return {
        system: {number: errors[place] for number, errors in by_segment.items() if errors[place]}
        for place, system in enumerate(systems)
    }


def find_named(dataset: Dataset, aligner: Aligner | None = None) -> NamedSegments:
    """The named errors of all outputs; arguments as for :func:`learn_named`.

    Raises:
        DataError: A text cannot be read.
    """
    finder = learn_named(dataset.sample, aligner)
    return by_system(dataset.systems, dict(enumerate(map(finder.find_row, dataset.rows()))))


_SHOWN = 5

_MIN_GUESSES = 3


def named_findings(
    named: NamedSegments, segments: int, kinds: Iterable[str] = tuple(KINDS)
) -> list[Finding]:
    """One finding for each system and kind of error: how many outputs, and which come first.

    Args:
        named: The errors, as :func:`find_named` gives them.
        segments: Number of segments.
        kinds: Kinds to tell of.
    """
    findings = []
    for system, of_segments in named.items():
        errors = [(n, error) for n, found in of_segments.items() for error in found]
        for kind in kinds:
            details = {n + 1: error.detail for n, error in errors if error.kind == kind}
            least = max(_MIN_GUESSES, GUESSES[kind] * segments) if kind in GUESSES else 1
            if len(details) < least:  # as many as among correct outputs
                continue
            numbers, example = list(details), next(iter(details.values()))
            such_as = f", such as {example}" if example and kind in {"preamble", "note"} else ""
            plural = "s" if len(numbers) > 1 else ""
            listed = ", ".join(map(str, numbers[:_SHOWN]))
            more = f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else ""
            message = (
                f"{system}: {len(numbers)} of {segments} outputs {KINDS[kind]}{such_as} ({kind}): "
                f"segment{plural} {listed}{more}"
            )
            findings.append(Finding(kind, message, (system,)))
    return findings


def reasons_of(
    errors: Mapping[int, Sequence[NamedError]], flagged: Iterable[bool], error: str
) -> list[str]:
    """Why each segment of a system is rejected, ``""`` for those that are not.

    Args:
        errors: The named errors by segment, which reject it whatever its score.
        flagged: Whether the score of each segment is a reason.
        error: What this reason is called, such as ``omission``.
    """
    return [
        "; ".join([*map(str, errors.get(index, ())), *([error] if is_flagged else [])])
        for index, is_flagged in enumerate(flagged)
    ]
