"""From a segment to its tokens: sacreBLEU's tokenisers by name, lowercasing, and words to ignore.

A metric or an aligner applies its :class:`Tokenizer` and signs with it, so no signature can name a
tokeniser that was not applied. Metrics count tokens; where they explain a score they need to know,
too, where each token stands in the text as the user wrote it. :meth:`Tokenizer.locate` finds that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias, cast, overload

from coverage_eval.core.errors import DataError, MissingDependencyError, require_flag
from coverage_eval.core.files import FileText, PathLike, file_name

Segment: TypeAlias = "str | Sequence[str]"
"""A segment as callers give it: text to be split at white space, or a list of tokens."""

_NEED_MODELS = ("flores101", "flores200")
"""Tokenisers whose models sacreBLEU downloads."""

TOKENIZERS = ("none", "13a", "intl", "zh", "char", "ja-mecab", "ko-mecab", *_NEED_MODELS)
"""The names of tokenisers, as sacreBLEU has them; ``none`` splits at white space only."""

ASCII = "ascii"
"""The name of what splits at ASCII white space only, as aligners do. It is nobody's choice: links
that were made elsewhere are of these tokens."""

_ASCII_TOKEN = re.compile(r"[^ \t\n\r\v\f]+")

Span: TypeAlias = "tuple[int, int]"
"""Characters of a text: the position of the first, from 0, and the position behind the last."""


@dataclass(frozen=True)
class Words(Sequence[str]):
    """The words of a text as they were written, which know where they stand.

    >>> words = Tokenizer("13a", lowercase=True, stem=3).locate("Hello,  World!")
    >>> list(words), words.spans[2]
    (['Hello', ',', 'World', '!'], (8, 13))
    >>> words.text_of(range(1, 3))
    ',  World'

    Attributes:
        text: The text.
        spans: The characters of each word, in the order of the words.
    """

    text: str
    spans: tuple[Span, ...]

    def __len__(self) -> int:
        return len(self.spans)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self.text[start:end] for start, end in self.spans[index]]
        start, end = self.spans[index]
        return self.text[start:end]

    def text_of(self, positions: Sequence[int]) -> str:
        """The text from the first to the last of some words, given by their positions from 0."""
        if not positions:
            return ""
        return self.text[self.spans[positions[0]][0] : self.spans[positions[-1]][1]]


UNSPACED = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
"""The characters of Thai, Lao, Tibetan, Burmese, Khmer, Japanese and Chinese, which have no spaces
between words, as a range of a regular expression."""

UNSPACED_CHARACTER = f"[{UNSPACED}]"
"""The pattern of one of them; not compiled here, since that takes as long as reading this file."""


def tokenize(segment: Segment) -> Sequence[str]:
    """Split a segment at Unicode white space; a list of tokens is returned unchanged.

    White space is what :meth:`str.split` takes for it, as in sacreBLEU: no-break, thin and
    ideographic spaces and line breaks, too. Only links that were made elsewhere have another rule.

    >>> tokenize("a  b\\tc\\u00a0d\\u3000e ")
    ['a', 'b', 'c', 'd', 'e']
    >>> tokenize("")
    []
    """
    return segment.split() if isinstance(segment, str) else segment


def has_words(segment: Segment) -> bool:
    """Whether anything but white space is in a segment."""
    if isinstance(segment, str):
        return bool(segment) and not segment.isspace()
    return any(map(has_words, segment))


@dataclass(frozen=True)
class Tokenizer:
    """A tokeniser with its settings; calling it gives the tokens of a segment.

    >>> Tokenizer("13a", lowercase=True)("Hello, world!")
    ['hello', ',', 'world', '!']
    >>> Tokenizer()(["a", "list", "of", "tokens"])
    ['a', 'list', 'of', 'tokens']
    >>> Tokenizer(stem=3)("aligned aligner aligns")
    ['ali', 'ali', 'ali']

    Args:
        name: One of :data:`TOKENIZERS`.
        lowercase: Lowercase the segment first.
        stem: Keep only this many first letters of each token, a plain way of stemming; 0 keeps all.

    Raises:
        ValueError: No tokeniser has that name, or ``stem`` is below 0.
        MissingDependencyError: The tokeniser needs a package or a model that is not installed.
    """

    name: str = "none"
    lowercase: bool = False
    stem: int = 0

    def __post_init__(self) -> None:
        require_flag("lowercase", self.lowercase)
        if self.name not in (*TOKENIZERS, ASCII):
            raise ValueError(f"unknown tokenizer {self.name!r}; one of {', '.join(TOKENIZERS)}")
        if self.stem < 0:
            raise ValueError(f"stem is a number of letters, not {self.stem}")
        if self.name not in {"none", ASCII}:
            _ = self._function  # fails before any text is read if a package is missing

    def __call__(self, segment: Segment) -> Sequence[str]:
        """The tokens of a segment; a list of tokens is joined with spaces and tokenised again."""
        if self.name == ASCII and isinstance(segment, str):
            segment = _ASCII_TOKEN.findall(segment)
        if self.name not in {"none", ASCII}:
            text = segment_text(segment)
            tokens = tokenize(self._function(text.lower() if self.lowercase else text))
        elif not self.lowercase:
            tokens = tokenize(segment)
        elif isinstance(segment, str):
            tokens = tokenize(segment.lower())
        else:
            tokens = [token.lower() for token in segment]
        return [token[: self.stem] for token in tokens] if self.stem else tokens

    def spaced(self, segments: Sequence[Segment]) -> Sequence[Segment]:
        """Segments with the same tokens, for a reader that splits at spaces.

        Splitting takes most of a tokeniser's time, so text whose only white space is spaces stays
        text.

        >>> Tokenizer(lowercase=True).spaced(["A b", "c"]), Tokenizer().spaced(["a\\u00a0b"])
        (['a b', 'c'], [['a', 'b']])
        """
        if self.name == "none" and not self.stem and {*map(type, segments)} == {str}:
            text = "\n".join(cast("Sequence[str]", segments))
            if self.lowercase:
                text = text.lower()
            if text.count("\n") == len(segments) - 1 and not _OTHER_SPACE.search(text):
                return text.split("\n")
        return list(map(self, segments))

    def locate(self, segment: Segment) -> Words:
        """The same tokens, as words of the user's own text; counting needs no such look.

        A segment that is a list of tokens is their text with a space between each.

        >>> Tokenizer("13a").locate("Tom &amp; Jerry").spans
        ((0, 3), (4, 9), (10, 15))
        """
        text, tokens = segment_text(segment), self._unstemmed(segment)
        lowered = text.lower() if self.lowercase else text
        is_rewritten = self.name == "13a" and _IS_REWRITTEN.search(lowered)
        if len(lowered) == len(text) and not is_rewritten:
            return Words(text, tuple(find_tokens(lowered, tokens)))
        split, origins = _rewrite(text, self.name, lowercase=self.lowercase)
        origins.append((len(text), len(text)))
        spans = find_tokens(split, tokens)
        return Words(text, tuple((origins[a][0], origins[max(a, b - 1)][a < b]) for a, b in spans))

    @cached_property
    def _unstemmed(self) -> Tokenizer:
        return replace(self, stem=0) if self.stem else self

    @cached_property
    def whole(self) -> Tokenizer:
        """The same tokeniser without lowercasing and stems."""
        return replace(self, lowercase=False, stem=0) if self.lowercase or self.stem else self

    @property
    def settings(self) -> dict[str, str]:
        """The tokeniser's part of a signature."""
        stem = {"stem": str(self.stem)} if self.stem else {}
        return {"case": "lc" if self.lowercase else "mixed", "tok": self.name, **stem}

    @cached_property
    def _function(self) -> Callable[[str], str]:
        return sacre_tokenizer(self.name)


@cache
def sacre_tokenizer(name: str) -> Callable[[str], str]:
    """sacreBLEU's tokeniser, one for all that use it: it remembers the texts that it split.

    Raises:
        MissingDependencyError: It needs a package or a model that is not installed.
    """
    from sacrebleu.metrics.bleu import BLEU

    is_modelled = name in _NEED_MODELS
    if is_modelled:
        _check_model(name)
    try:
        tokenizer = BLEU(tokenize=name).tokenizer
    except (ImportError, RuntimeError) as error:
        language = name.partition("-")[0]
        package = "sentencepiece" if is_modelled else f"sacrebleu[{language}]"
        raise MissingDependencyError(
            f"tokenizer {name}: its package is not installed; pip install '{package}'"
        ) from error
    return cast("Callable[[str], str]", tokenizer)


def ascii_places(tokenizer: Tokenizer, segment: Segment) -> Sequence[int]:
    """For each token of a segment, the word at ASCII white space, from 0, that has it.

    >>> ascii_places(Tokenizer(), "12\\u00a0000 people")
    [0, 0, 1]

    A tokeniser with a name makes another text, whose tokens are its words.
    """
    if tokenizer.name != "none":
        return range(len(tokenizer(segment)))
    words = Tokenizer(ASCII)(segment)
    return [place for place, word in enumerate(words) for _ in tokenize(word)]


def segment_text(segment: Segment) -> str:
    """A segment as one text without a line end: a list of tokens has a space between each."""
    if not isinstance(segment, str):
        return " ".join(segment)
    return segment[:-1].removesuffix("\r") if segment.endswith("\n") else segment


_REWRITTEN = (
    ("<skipped>", ""),
    ("-\n", ""),
    ("&quot;", '"'),
    ("&amp;", "&"),
    ("&lt;", "<"),
    ("&gt;", ">"),
)
"""What ``13a`` replaces before it splits a text, in this order."""

_IS_REWRITTEN = re.compile("|".join(old for old, _ in _REWRITTEN))

_OTHER_SPACE = re.compile(r"[^\S \n]")
"""White space that does not separate tokens for a reader that splits at spaces."""

_SPACE_MARK = "▁"
"""SentencePiece's mark of a space."""

_SYNC = 8
"""Characters that must agree where a token is found again behind characters that differ."""

_MAX_SHIFT = 40
"""Characters behind which it is looked for."""


def _rewrite(text: str, name: str, *, lowercase: bool) -> tuple[str, list[Span]]:
    """A text as a tokeniser splits it, and which characters of the text each of its letters was.

    >>> _rewrite("A&lt;", "13a", lowercase=True)
    ('a<', [(0, 1), (1, 5)])
    """
    spans = [(at, at + 1) for at in range(len(text))]
    if lowercase:  # a few letters become several
        spans = [span for span, letter in zip(spans, text, strict=True) for _ in letter.lower()]
        text = text.lower()
    for old, new in _REWRITTEN if name == "13a" else ():
        for match in reversed([*re.finditer(old, text)]):
            start, end = match.span()
            spans[start:end] = [(spans[start][0], spans[end - 1][1])] * len(new)
        text = text.replace(old, new)
    return text, spans


def find_tokens(text: str, tokens: Sequence[str]) -> list[Span]:
    """The characters of each token in its text, in the order of the tokens.

    SentencePiece composes accents and writes other characters otherwise, too. Tokens that are not
    found stand for all the characters between their neighbours.

    >>> find_tokens("a e\u0301 b", ["a", "\u00e9", "b"])
    [(0, 1), (2, 4), (5, 6)]
    """
    spans: list[Span] = []
    end = 0
    has_marks = _SPACE_MARK in text
    for number, token in enumerate(tokens):
        spelt = token if has_marks else token.replace(_SPACE_MARK, "")
        start = text.find(spelt, end, end + _MAX_SHIFT + len(spelt)) if spelt else -1
        if start < 0 or text[end:start].strip():
            start = _search_token(text, end, spelt, tokens[number : number + _SYNC])
        if start >= 0:
            if number > len(spans):
                spans += [_between(text, end, start)] * (number - len(spans))
            end = start + len(spelt)
            spans.append((start, end))
    return spans + [_between(text, end, len(text))] * (len(tokens) - len(spans))


def _search_token(text: str, end: int, token: str, following: Sequence[str]) -> int:
    """Where a token is found behind much white space, or characters that differ; −1 if nowhere.

    Args:
        text: The text.
        end: Where the token before it ends.
        token: The token.
        following: The token as the tokeniser writes it, and those after it; some must follow.
    """
    start = len(text) - len(text[end:].lstrip())
    if not token:
        return -1
    if text.startswith(token, start):
        return start
    start = text.find(token, start, start + _MAX_SHIFT + len(token))
    expected = "".join(following).replace(_SPACE_MARK, "")[:_SYNC]
    there = "".join(text[start : start + _MAX_SHIFT].split())[: len(expected)]
    return start if there == expected else -1


def _between(text: str, start: int, end: int) -> Span:
    """The characters from one position to another without white space at their ends."""
    start = end - len(text[start:end].lstrip())
    return start, start + len(text[start:end].rstrip())


def _check_model(name: str) -> None:
    """Raise if a SentencePiece model is missing: scoring never downloads anything."""
    spm: Any = import_module("sacrebleu.tokenizers.tokenizer_spm")
    utils: Any = import_module("sacrebleu.utils")
    path = Path(utils.SACREBLEU_DIR) / "models" / Path(spm.SPM_MODELS[name]["url"]).name
    if not path.is_file():
        raise MissingDependencyError(
            f"tokenizer {name}: its model is missing ({path}); fetch it once with sacreBLEU: "
            f"echo a | sacrebleu --tokenize {name} <(echo a)"
        )


class StopWords(frozenset[str]):
    """A set of words, named in signatures by its size and hash; compared as written.

    >>> words = StopWords.of(["the", "a"])
    >>> "the" in words, "The" in words
    (True, False)
    """

    @classmethod
    def read(cls, path: PathLike) -> StopWords:
        """Read one word per line; surrounding white space and empty lines are ignored.

        Raises:
            DataError: As :func:`coverage_eval.core.files.FileText`; a line has several words.
        """
        words: list[str] = []
        for number, line in enumerate(FileText(path), start=1):
            words += tokenize(line)
            if len(tokenize(line)) > 1:
                raise DataError(
                    f"{file_name(path)}: line {number}: a list of stop words has one word per line"
                )
        return cls(words)

    @classmethod
    def of(cls, words: Iterable[str]) -> StopWords:
        """The words as a set, without white space around them.

        Raises:
            TypeError: A single string, whose letters would be the words.
        """
        if isinstance(words, str):
            raise TypeError("stop words are a list of words, not a single string; split it first")
        return cls(stripped for word in words if (stripped := word.strip()))

    def __str__(self) -> str:
        from hashlib import sha256  # slow to import

        digest = sha256("\n".join(sorted(self)).encode()).hexdigest()[:8]
        return f"{len(self)}-{digest}" if self else "none"


SINK = "<SINK>"
"""A token after every source that takes the attention or links that no word needs."""

EOS_TOKENS = frozenset({"</s>", "<EOS>", "<eos>", "<|endoftext|>", SINK, SINK.lower()})
"""Tokens that toolkits write after the last word."""

PAD_TOKENS = frozenset({"<pad>", "<PAD>", "[PAD]", "<|pad|>", "<blank>"})
"""Tokens that fill the shorter segments of a batch; OpenNMT-py's is ``<blank>``."""
