"""Loops: an output that says the same words again and again, found while it is written or after.

A loop of period p is a run of tokens each of which equals the token p places before it. Numbers are
equal to each other, and some tokens may differ, so "item 1, item 2, item 3 …" is a loop, too, if
there is more of it. :class:`LoopDetector` reads tokens as they come; :func:`find_loop` looks at a
finished output and knows its source, which may have the repetition itself.

The rule of servers, "the last n · k tokens are k copies of n tokens", has no middle way: with a
small k it stops at "no, no, no, no", and with a large one it writes a paragraph k times. Here a
loop needs a number of copies and a number of repeated tokens.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from coverage_eval.errors import require_integer

MAX_PATTERN_SIZE = 100
"""The longest pattern that is looked for by default, in tokens: two long sentences."""

MIN_COUNT = 3
"""Copies that a loop has at least by default, together with :data:`MIN_REPEATED`."""

MIN_REPEATED = 24
"""Tokens that a loop repeats at least by default. In two million words of ordinary text no run of
tokens that equal those before is longer than 15."""

NEAR, STRANGE = 2, 6
"""How many times more copies and tokens a loop needs if its copies differ in one number alone, and
if they differ in other tokens, as litanies do. A loop of numbers and punctuation must be exact."""

MIN_EQUAL = 8
"""Equal tokens for each token that is not, but for one."""

MIN_AT_END = 5
"""Tokens that a loop repeats at least if a finished output ends in it."""

MAX_AFTER = 2
"""Tokens that may follow such a loop, such as a full stop."""

_ENDLESS = 1000
"""Tokens of an exact loop in a finished output from which on only its end is looked for."""

_DIGITS = re.compile(r"\d+")


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
        equal: Tokens that are equal.
        words: Those among them that are words, not numbers or punctuation.
        slot: The place in the pattern where numbers differ; None if none do.
        misses: All other tokens that are not equal.
        exact: Tokens since the last one that was not equal.
        exact_start: Where the first copy of these is.
    """

    start: int
    equal: int = 0
    words: int = 0
    slot: int | None = None
    misses: int = 0
    exact: int = 0
    exact_start: int = 0

    def add(self, token: Hashable, place: int) -> None:
        """One more equal token; the one a period before is at this position."""
        if not self.exact:
            self.exact_start = place
        self.exact += 1
        self.equal += 1
        self.words += token.isalpha() if isinstance(token, str) else True


def _key(token: Hashable) -> Hashable:
    """What a token is compared by: numbers are equal to each other."""
    if not isinstance(token, str) or token.isalpha():
        return token
    return _DIGITS.sub("0", token)


class LoopDetector:
    """Finds loops in tokens as they come, in bounded memory.

    It remembers the last ``max_pattern_size`` tokens. A token costs as many steps as it occurs
    among these, usually two or three, however long the text is.

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

    def __init__(
        self,
        max_pattern_size: int = MAX_PATTERN_SIZE,
        min_pattern_size: int = 1,
        min_count: int = MIN_COUNT,
        *,
        min_repeated: int = MIN_REPEATED,
        near: bool = True,
    ) -> None:
        require_integer("max_pattern_size", max_pattern_size, 1)
        require_integer("min_pattern_size", min_pattern_size, 1, max_pattern_size)
        require_integer("min_count", min_count, 2)
        require_integer("min_repeated", min_repeated, 0)
        self._sizes = range(min_pattern_size, max_pattern_size + 1)
        self._min_count, self._min_repeated, self._near = min_count, min_repeated, near
        self._size = max_pattern_size
        self.reset()

    def reset(self) -> None:
        """Forget everything: the next token is the first of another text."""
        self.position = 0
        """Number of tokens pushed so far."""
        self._index = 0  # as the position, but a number of several tokens counts once
        self._held: deque[tuple[Hashable, Hashable, int]] = deque()  # key, token, position
        self._places: dict[Hashable, deque[int]] = {}
        self._runs: dict[int, _Run] = {}
        self._in_number = False

    def push(self, token: Hashable) -> Loop | None:
        """Read the next token, a string or a number of a vocabulary.

        Returns:
            The loop that the text ends in, with the shortest period; None if there is none.
        """
        position, self.position = self.position, self.position + 1
        is_digits = isinstance(token, str) and token.isdigit()
        if self._near and is_digits and self._in_number:
            return None  # one more piece of a number that a subword tokeniser cut
        self._in_number = isinstance(token, str) and token[-1:].isdigit()
        key = _key(token) if self._near else token
        index, self._index = self._index, self._index + 1
        places = self._places.setdefault(key, deque())
        equal = {index - place for place in places if index - place in self._sizes}
        found = self._follow(token, equal)
        places.append(index)
        self._held.append((key, token, position))
        if len(self._held) > self._size:
            old, _, _ = self._held.popleft()
            self._places[old].popleft()
            if not self._places[old]:
                del self._places[old]
        return found

    def _follow(self, token: Hashable, equal: set[int]) -> Loop | None:
        """Continue or end every run; the loop of the shortest period, if there is one."""
        runs, held, found = self._runs, self._held, None
        for period in equal - runs.keys():
            runs[period] = _Run(held[-period][2])
        for period in sorted(runs):
            run = runs[period]
            if period in equal:
                _, before, place = held[-period]
                if before == token:
                    run.add(token, place)
                    is_miss = False
                else:
                    slot = self._index % period
                    run.slot = slot if run.slot is None else run.slot
                    run.exact = 0
                    is_miss = run.slot != slot
            else:
                is_miss = True
            if is_miss:
                run.misses += 1
                run.exact = 0
                if not self._near or run.misses > 1 + run.equal // MIN_EQUAL:
                    del runs[period]
                    continue
            if found is None:
                found = self._loop(period, run, ends=period in equal)
        return found

    def _loop(self, period: int, run: _Run, *, ends: bool) -> Loop | None:
        needed = max((self._min_count - 1) * period, self._min_repeated)
        if run.exact >= needed:
            return Loop(period, run.exact_start, self.position)
        factor = STRANGE if run.misses else NEAR
        if not (ends and run.words) or run.equal < factor * self._min_repeated:
            return None
        near = Loop(period, run.start, self.position, exact=False)
        return near if near.count >= factor * self._min_count else None


def find_loop(tokens: Sequence[str], source: Sequence[str] = ()) -> Loop | None:
    """The loop of a finished output: one that it ends in, a long one anywhere, or all of it twice.

    A loop of the source explains one of at most twice its length.

    >>> print(find_loop("a man is a man is a man is a man .".split()))
    loop of period 3 since position 0, 3 times

    Args:
        tokens: The words and punctuation of the output.
        source: Those of its source.
    """
    found = _longest_loop(tokens)
    if found is None:
        return None
    words = [_key(token.lower()) for token in source if token[:1].isalnum()]
    twice = _whole_copies(words, 2, EXCUSED_TWICE)
    if twice is not None and found.count <= twice.count + 1:
        return None
    theirs = _longest_loop(source)
    if theirs is not None and found.end - found.start <= 2 * (theirs.end - theirs.start):
        return None
    return found


def _longest_loop(tokens: Sequence[str]) -> Loop | None:
    keys = list(map(_key, tokens))
    if whole := _whole_copies(keys):
        return replace(whole, exact=tokens[whole.period :] == tokens[: -whole.period])
    # In every loop some words come three times; most outputs have none, and need no detector.
    if max(Counter(pairwise(keys)).values(), default=0) < MIN_COUNT:
        return None
    detector = LoopDetector(min_repeated=MIN_AT_END)
    longest: Loop | None = None
    place = first = 0
    while place < len(tokens):
        loop = detector.push(tokens[place])
        place += 1
        if loop is None:
            continue
        if loop.exact and loop.end - loop.start >= _ENDLESS:
            while place < len(tokens) and tokens[place] == tokens[place - loop.period]:
                place += 1
            detector.reset()
        loop = replace(loop, start=first + loop.start, end=place)
        first = place - detector.position
        if longest is None or loop.end - loop.start >= longest.end - longest.start:
            longest = loop
    if longest is None or longest.end - longest.start - longest.period >= MIN_REPEATED:
        return longest
    return longest if longest.end >= len(tokens) - MAX_AFTER else None


SAID_TWICE = 0.45
"""Share of a finished output that its beginning and its end have in common if it was written twice,
with a number before or a word between; there is none in 138,000 ordinary sentences."""


EXCUSED_TWICE = 0.35
"""The same share of a source's words, from which on it says the same twice: "X, and X"."""


def _whole_copies(
    keys: Sequence[Hashable], least: int = MIN_AT_END, share: float = SAID_TWICE
) -> Loop | None:
    """The loop that a text is from its first token to its last, of any period."""
    common = [0] * len(keys)  # tokens at the start that also end here (Knuth, Morris and Pratt)
    size = 0
    for place in range(1, len(keys)):
        while size and keys[place] != keys[size]:
            size = common[size - 1]
        size += keys[place] == keys[size]
        common[place] = size
    if size < max(least, share * len(keys)):
        return None
    return Loop(len(keys) - size, 0, len(keys))


class LoopStop:
    """Ends generation in Hugging Face transformers where an output loops.

    Give it as ``model.generate(…, stopping_criteria=[LoopStop(tokenizer)])``. It is no subclass, so
    that this package does not need transformers.

    Args:
        tokenizer: The model's tokeniser, with which numbers are known to be numbers; None to take
            tokens as they are.
        prompt: Number of tokens of the prompt, whose repetitions do not count; by default all
            tokens of the first call but one, as decoders without an encoder give them.
        **settings: Those of :class:`LoopDetector`.
    """

    def __init__(
        self, tokenizer: Any = None, *, prompt: int | None = None, **settings: Any
    ) -> None:
        self._tokenizer, self._prompt, self._settings = tokenizer, prompt, settings
        LoopDetector(**settings)  # refuses wrong settings
        self._seen: Any = None
        self._rows: list[tuple[LoopDetector, Loop | None]] = []

    @property
    def loops(self) -> list[Loop | None]:
        """The loop of each output of the last call; positions from the end of the prompt."""
        return [loop for _, loop in self._rows]

    def __call__(self, input_ids: Any, scores: Any = None, **_: Any) -> Any:  # noqa: ARG002
        """Which outputs ``[batch]`` end in a loop.

        Args:
            input_ids: The tokens so far, ``[batch, tokens]``.
            scores: Not looked at.
        """
        import torch

        seen = self._seen
        length = input_ids.shape[1]
        goes_on = (
            seen is not None
            and seen.shape == (len(input_ids), length - 1)
            and torch.equal(seen, input_ids[:, :-1])
        )
        if goes_on:
            first = length - 1
        else:  # another text, or beams in another order
            is_later = seen is not None and seen.shape == (len(input_ids), length - 1)
            if not is_later:
                self._start = length - 1 if self._prompt is None else self._prompt
            first = self._start
            self._rows = [(LoopDetector(**self._settings), None) for _ in input_ids]
        self._seen = input_ids.clone()
        rows = []
        for (detector, known), own in zip(self._rows, input_ids[:, first:].tolist(), strict=True):
            found = known
            for token in own if self._tokenizer is None else self._words(own):
                found = detector.push(token) or found
            rows.append((detector, found))
        self._rows = rows
        return torch.tensor([loop is not None for loop in self.loops], device=input_ids.device)

    def _words(self, ids: list[int]) -> list[str]:
        words: list[str] = self._tokenizer.convert_ids_to_tokens(ids)
        return words
