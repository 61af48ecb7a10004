"""Loops: an output that says the same words again and again, found while it is written or after.

A loop of period p is a run of tokens each of which equals the token p before it. Numbers are
equal to each other, and some tokens may differ, so "item 1, item 2, item 3 …" is a loop, too, if
there is more of it. Numbers that are spelled are words that differ: with fewer than eight words
between them, "a sheep, two sheep, three sheep …" looks like any litany, and is none.
:class:`LoopDetector` reads tokens as they come; :func:`find_loop` looks at a finished output and
knows its source, which may have the repetition itself.

The rule of servers, "the last n · k tokens are k copies of n tokens", has no middle way: with a
small k it stops at "no, no, no, no", and with a large one it writes a paragraph k times. Here a
loop needs a number of copies and a number of repeated tokens.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Hashable, Iterable, Sequence, Set
from dataclasses import KW_ONLY, dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from coverage_eval.core.errors import require_integer
from coverage_eval.core.tokenizers import UNSPACED

MAX_PATTERN_SIZE = 100
"""The longest pattern that is looked for by default, in tokens: two long sentences."""

MIN_COUNT = 3
"""Copies that a loop has at least by default, together with :data:`MIN_REPEATED`."""

MIN_REPEATED = 24
"""Tokens that a loop repeats at least by default. In two million words of ordinary text no run of
tokens that equal those before is longer than 15."""

NUMBER_FACTOR, TOKEN_FACTOR = 2, 6
"""How many times more copies and tokens a loop needs if its copies differ in one number alone, and
if they differ in other tokens, as litanies do. A loop of numbers and punctuation must be exact."""

MIN_EQUAL = 8
"""Equal tokens for each token that is not, but for one."""

MIN_AT_END = 5
"""Tokens that a loop repeats at least if a finished output ends in it."""

MAX_AFTER = 2
"""Tokens that may follow such a loop, such as a full stop."""

WRITTEN_TWICE = 0.45
"""Share of a finished output that its beginning and its end have in common if it was written twice,
with a number before or a word between; there is none in 138,000 ordinary sentences."""

SOURCE_TWICE = 0.35
"""Such a share of a source's words from which on the source itself says all twice: "X, and X"."""

_ENDLESS = 1000
"""Tokens of an exact loop in a finished output from which on only its end is looked for."""

_DIGITS = re.compile(r"\d+")

# Accents, vowel points and vowel signs that belong to the letter before; ``\\w`` has none of them.
_COMBINING = (
    "\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963"
    "\u0971-\u0df3\u200c\u200d"
)
TOKEN_PATTERN = re.compile(
    rf"[^\W{UNSPACED}]+(?:[{_COMBINING}][^\W{UNSPACED}]*)*|[{UNSPACED}]|[^\w\s]"
)
"""Words, numbers, marks of punctuation, and letters of scripts without spaces, in which loops are
found."""


@dataclass(frozen=True)
class Loop:
    """A loop in a sequence of tokens.

    Attributes:
        period: Tokens of the pattern that is repeated.
        start: Where the pattern is for the first time, a position from 0.
        end: The position after the last token of the loop.
        exact: Whether all copies are equal; otherwise they differ in numbers or other tokens.
    """

    period: int
    start: int
    end: int
    exact: bool = True

    @property
    def count(self) -> int:
        """How many complete copies there are, the first one included."""
        return (self.end - self.start) // self.period

    def __str__(self) -> str:
        near = "" if self.exact else "nearly "
        return f"loop of period {self.period} since position {self.start}, {near}{self.count} times"


@dataclass
class _Run:
    """Tokens that equal the token one period before, and how well they do.

    Attributes:
        start: Position of the first copy's first token.
        first: The first token that equals one, as the detector counts tokens.
        equal: Tokens that are equal.
        words: Those among them that are words, not numbers or punctuation.
        slot: The position in the pattern where numbers differ; None if none differ.
        misses: All other tokens that are not equal.
        exact: Tokens since the last one that was not equal.
        exact_start: Where the first copy of these is.
    """

    start: int
    first: int
    equal: int = 0
    words: int = 0
    slot: int | None = None
    misses: int = 0
    exact: int = 0
    exact_start: int = 0

    def add(self, token: Hashable, before: Hashable, position: int, slot: int | None) -> None:
        """Compare one more token with the one a period before.

        Args:
            token: The token.
            before: The one before.
            position: The position of that one.
            slot: The token's position in the pattern; None if it is neither equal nor a number.
        """
        if slot is not None and before == token:
            if not self.exact:
                self.exact_start = position
            self.exact += 1
            self.equal += 1
            self.words += token.isalpha() if isinstance(token, str) else True
            return
        self.exact = 0
        if self.slot is None:
            self.slot = slot
        self.misses += slot is None or slot != self.slot


def _key(token: Hashable) -> Hashable:
    """What a token is compared by: numbers are equal to each other."""
    if not isinstance(token, str) or token.isalpha():
        return token
    return _DIGITS.sub("0", token)


@dataclass(eq=False)
class LoopDetector:
    """Finds loops in tokens as they come, in bounded memory.

    It remembers the last ``max_pattern_size`` tokens. A token costs as many steps as it occurs
    among these: usually two or three, never more than their number, however long the text is.

    >>> detector = LoopDetector(max_pattern_size=8, min_count=3, min_repeated=4)
    >>> for token in "so it goes on and on and on and on".split():
    ...     loop = detector.push(token)
    >>> print(loop)
    loop of period 2 since position 3, 3 times

    Args:
        max_pattern_size: The longest pattern that is looked for, in tokens.
        min_pattern_size: The shortest one.
        min_count: Complete copies of the pattern, the first one included, at which there is a loop.
            These three have the names and the meaning of vLLM's ``RepetitionDetectionParams``.
        min_repeated: How many tokens must have been repeated, too, so that a short pattern needs
            more copies; 0 for vLLM's own rule. If the copies differ in a number, twice as many
            copies and tokens are needed, and six times as many if they differ in other tokens.
        near: Whether to find loops whose copies differ.

    Raises:
        TypeError, ValueError: A parameter is no whole number, or too small.
    """

    max_pattern_size: int = MAX_PATTERN_SIZE
    min_pattern_size: int = 1
    min_count: int = MIN_COUNT
    _: KW_ONLY
    min_repeated: int = MIN_REPEATED
    near: bool = True

    def __post_init__(self) -> None:
        require_integer("max_pattern_size", self.max_pattern_size, 1)
        require_integer("min_pattern_size", self.min_pattern_size, 1, self.max_pattern_size)
        require_integer("min_count", self.min_count, 2)
        require_integer("min_repeated", self.min_repeated, 0)
        self.periods: Set[int] = {*range(self.min_pattern_size, self.max_pattern_size + 1)}
        """Those that are looked for."""
        self.reset()

    def reset(self) -> None:
        """Forget everything: the next token is the first of another text."""
        self.position = 0
        """Number of tokens pushed so far."""
        self._index = 0  # as the position, but a number of several tokens counts once
        self._held: deque[tuple[Hashable, Hashable, int]] = deque()  # key, token, position
        self._positions: dict[Hashable, deque[int]] = {}
        self._runs: dict[int, _Run] = {}
        self._in_number = False

    def push(self, token: Hashable) -> Loop | None:
        """Read the next token, a string or a number of a vocabulary.

        Returns:
            The loop that the text ends in, with the shortest period; None if there is none.
        """
        position, self.position = self.position, self.position + 1
        if self.near and self._in_number and isinstance(token, str) and token.isdigit():
            return None  # one more piece of a number that a subword tokeniser cut
        self._in_number = isinstance(token, str) and token[-1:].isdigit()
        key = _key(token) if self.near else token
        index, self._index = self._index, self._index + 1
        positions = self._positions.setdefault(key, deque())
        periods = {index - position for position in positions} & self.periods
        if self._held and token != self._held[-1][1]:
            periods.discard(1)  # a number that counts up alone is no loop
        loop = self._follow(token, periods)
        positions.append(index)
        self._held.append((key, token, position))
        if len(self._held) > self.max_pattern_size:
            old, _, _ = self._held.popleft()
            self._positions[old].popleft()
            if not self._positions[old]:
                del self._positions[old]
        return loop

    def _follow(self, token: Hashable, equal: set[int]) -> Loop | None:
        """Continue or end every run; the loop of the shortest period, if there is one.

        Args:
            token: The next token.
            equal: The periods with which it repeats a token that is held.
        """
        shortest = None
        for period in equal - self._runs.keys():
            self._runs[period] = _Run(self._held[-period][2], self._index - 1)
        for period in sorted(self._runs):
            run, (_, before, position) = self._runs[period], self._held[-period]
            run.add(token, before, position, self._index % period if period in equal else None)
            if run.misses > (1 + run.equal // MIN_EQUAL if self.near else 0):
                del self._runs[period]
            elif shortest is None and run.equal >= self.min_repeated:
                shortest = self._loop(period, run, ends=period in equal)
        return shortest

    def _loop(self, period: int, run: _Run, *, ends: bool) -> Loop | None:
        if run.exact >= max((self.min_count - 1) * period, self.min_repeated):
            return Loop(period, run.exact_start, self.position)
        factor = TOKEN_FACTOR if run.misses else NUMBER_FACTOR
        if not (ends and run.words) or run.equal < factor * self.min_repeated:
            return None
        if self._index - run.first < (factor * self.min_count - 1) * period:
            return None
        return Loop(period, run.start, self.position, exact=False)


def find_loop(tokens: Sequence[str], others: Iterable[Sequence[str]] = ()) -> Loop | None:
    """The loop of a finished output: one that it ends in, a long one anywhere, or all of it twice.

    A loop of the source or a reference explains one of at most twice its length.

    >>> print(find_loop("a man is a man is a man is a man .".split()))
    loop of period 3 since position 0, 3 times

    Args:
        tokens: The words and punctuation of the output.
        others: Those of its source and its references, which are read only if there is a loop.
    """
    loop = _longest_loop(tokens)
    return None if loop is None or any(_explains(other, loop) for other in others) else loop


def find_copies(tokens: Sequence[str], others: Iterable[Sequence[str]]) -> Loop | None:
    """The loop of a finished output whose words are several copies of its beginning, however short.

    A source or a reference that says something twice in a row explains it. A letter of a script
    without spaces is no word, and two of them often are one that has a double ("谢谢").

    >>> print(find_copies("good morning , good morning".split(), ["guten morgen".split()]))
    loop of period 3 since position 0, 1 times
    >>> find_copies("bye bye".split(), ["tschüss , tschüss".split()])

    Args:
        tokens: The words and punctuation of the output.
        others: Those of its source and its references, which are read only if there are copies;
            without any, nothing is found.
    """
    words = _words(tokens)
    if not words or words[0] not in words[1 : len(words) // 2 + 1]:  # nearly all texts
        return None
    copies = _whole_copies(words, 1, 0.5)
    if copies is None or len(words) % copies.period or _is_row(words):
        return None
    known = list(others)
    if not known or any(map(_says_twice, known)):
        return None
    if copies.period < MIN_UNSPACED_PATTERN and re.search(f"[{UNSPACED}]", "".join(words)):
        return None
    start = [place for place, token in enumerate(tokens) if token[0].isalnum()][copies.period]
    return Loop(start, 0, len(tokens))


MIN_UNSPACED_PATTERN = 3
"""Letters of a script without spaces of which a copy says something twice."""


def _says_twice(tokens: Sequence[str]) -> bool:
    words = _words(tokens)
    again = max(_common_ends(words), default=0)
    return again >= max(2, SOURCE_TWICE * len(words)) or any(a == b for a, b in pairwise(words))


def _words(tokens: Sequence[str]) -> list[str]:
    return [token.lower() for token in tokens if token[:1].isalnum()]


def _explains(other: Sequence[str], loop: Loop) -> bool:
    """Whether a source or a reference has the repetition of a loop itself."""
    words = list(map(_key, _words(other)))
    twice = _whole_copies(words, 2, SOURCE_TWICE)
    if twice is not None and loop.count <= twice.count + 1:
        return True
    longest = _longest_loop(other)
    return longest is not None and loop.end - loop.start <= 2 * (longest.end - longest.start)


def _longest_loop(tokens: Sequence[str]) -> Loop | None:
    """The longest loop of a finished output that counts; the last of several."""
    keys = list(map(_key, tokens)) if _DIGITS.search("".join(tokens)) else tokens
    # In every loop some words come three times; most outputs have none, and need no detector.
    if len(keys) - len(set(keys)) < MIN_COUNT:
        return None
    if (whole := _whole_copies(keys)) and not _is_row(tokens[: whole.period]):
        return replace(whole, exact=tokens[whole.period :] == tokens[: -whole.period])
    if max(Counter(pairwise(keys)).values(), default=0) < MIN_COUNT:
        return None
    if not (periods := _possible_periods(tokens, keys)):
        return None
    detector = LoopDetector(max(periods), min_repeated=MIN_AT_END)
    detector.periods = periods
    longest: Loop | None = None
    position = first = 0
    while position < len(tokens):
        loop = detector.push(tokens[position])
        position += 1
        if loop is None:
            continue
        if loop.exact and loop.end - loop.start >= _ENDLESS:
            while position < len(tokens) and tokens[position] == tokens[position - loop.period]:
                position += 1
            detector.reset()
        loop = replace(loop, start=first + loop.start, end=position)
        first = position - detector.position
        if _is_row(tokens[loop.start : loop.start + loop.period]):
            continue
        if longest is None or loop.end - loop.start >= longest.end - longest.start:
            longest = loop
    if longest is None or longest.end - longest.start - longest.period >= MIN_REPEATED:
        return longest
    return longest if longest.end >= len(tokens) - MAX_AFTER else None


def _possible_periods(tokens: Sequence[str], keys: Sequence[Hashable]) -> Set[int]:
    """The periods with which a finished output may have a loop.

    If the detector follows no others, it takes few steps for a token, even if a text has few words
    or all are equal but for their numbers.
    """
    is_read = [not (a[-1:].isdigit() and b.isdigit()) for a, b in pairwise(["", *tokens])]
    hashed_tokens, hashed_keys = (
        np.fromiter(map(hash, values), np.int64)[is_read] for values in (tokens, keys)
    )
    return {
        period
        for period in range(1, min(MAX_PATTERN_SIZE, len(hashed_keys) // MIN_COUNT) + 1)
        if _may_loop(hashed_keys, period)
        and _may_loop(hashed_tokens, period, numbers=2 if period > 1 else 0)
    }


def _may_loop(tokens: NDArray[np.int64], period: int, numbers: int = 0) -> bool:
    """Whether enough tokens in a row equal those a period before, as in every loop.

    These are two periods of tokens, or :data:`MIN_AT_END`, as an exact loop has them. A loop whose
    copies differ is so long that somewhere at most one in :data:`MIN_EQUAL` of so many tokens
    differs, apart from ``numbers`` that count up.
    """
    size = 2 * period if period > 1 else MIN_AT_END
    differing = np.cumsum(np.append(0, tokens[period:] != tokens[:-period]))
    least = np.min(differing[size:] - differing[:-size], initial=size)
    return bool(least <= size // MIN_EQUAL + numbers)


def _is_row(pattern: Sequence[str]) -> bool:
    """Whether what is repeated is numbers without words: a row, a table or a scale."""
    letters = "".join(pattern)
    return _DIGITS.search(letters) is not None and not any(map(str.isalpha, letters))


def _whole_copies(
    keys: Sequence[Hashable], min_repeated: int = MIN_AT_END, share: float = WRITTEN_TWICE
) -> Loop | None:
    """The loop that a text is from its first token to its last, of any period."""
    size = _common_ends(keys)[-1] if keys else 0
    if size < max(min_repeated, share * len(keys)):
        return None
    return Loop(len(keys) - size, 0, len(keys))


def _common_ends(keys: Sequence[Hashable]) -> list[int]:
    """How many tokens of the start also end at each position (Knuth, Morris and Pratt)."""
    common = [0] * len(keys)
    size = 0
    for position in range(1, len(keys)):
        while size and keys[position] != keys[size]:
            size = common[size - 1]
        size += keys[position] == keys[size]
        common[position] = size
    return common
