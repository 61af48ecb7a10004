"""What the text formats share: rows of numbers, links, tokens, and words about bad ones."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention_maps.maps import Weights
from coverage_eval.errors import DataError
from fast_align_wrapper import links
from fast_align_wrapper.errors import AlignerDataError
from fast_align_wrapper.links import Link
from fast_align_wrapper.text import tokenize

LINKS = re.compile(r"(?:\d+-\d+(?: \d+-\d+)*)?", re.ASCII)
"""Links ``i-j`` separated by single spaces, or none, as toolkits print them."""

_MOST_DIMENSIONS = 8
"""None has more than 4, of which messages tell the number."""

_FIELDS = re.compile(r"(?:^| )\|\|\|(?: |$)")


def shown(text: str, limit: int = 60) -> str:
    """Text of a file as a message can quote it: one line, no control characters, cut."""
    return repr(text if len(text) <= limit else text[:limit] + "…")


def printable(text: str) -> str:
    """A message with the control characters of a file taken out."""
    return "".join(c if c.isprintable() else "?" for c in text)


def split_fields(line: str) -> list[str]:
    """The fields of a line between triple pipes; a field may be empty.

    >>> split_fields("a b ||| 0-0 ||| ")
    ['a b', '0-0', '']
    """
    return _FIELDS.split(line)


def tokens_of(text: str) -> tuple[str, ...]:
    """The tokens of a text, by the rule that holds for every text."""
    return tuple(tokenize(text))


def parse_integer(text: str, where: str) -> int:
    """A count or index, at most nine digits.

    Raises:
        DataError: Anything else.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise DataError(f"{where}: {shown(text)} is not a number from 0 upwards")
    return int(text)


def parse_rows(rows: Sequence[Sequence[str]], where: str) -> Weights:
    """Rows of numbers as text, all of one length.

    Raises:
        DataError: A cell is no number, or rows differ in length.
    """
    width = len(rows[0]) if rows else 0
    array = np.empty((len(rows), width))
    for index, row in enumerate(rows):
        if len(row) != width:
            raise DataError(
                f"{where}: row {index + 1} has {len(row)} weights, the first row has {width}"
            )
        try:
            array[index] = [float(cell) for cell in row]
        except ValueError as error:
            raise DataError(f"{where}: row {index + 1}: {error}".replace("\n", " ")) from error
    return array


def parse_links(text: str, where: str) -> list[Link]:
    """Links ``i-j`` separated by spaces, as pairs (source, target) from 0.

    Raises:
        DataError: Another form.
    """
    try:
        return list(links.parse_links(text))
    except AlignerDataError as error:
        raise DataError(f"{where}: {shown(text)} is not links of the form 0-0 1-2") from error


def are_links(texts: Iterable[str | None]) -> bool:
    """Whether all texts are links or empty, none is missing, and some have links."""
    found = [None if text is None else text.strip() for text in texts]
    return any(found) and all(text is not None and LINKS.fullmatch(text) for text in found)


def as_array(value: object, where: str, *, columns: int = 0) -> NDArray[np.float64]:
    """Lists of lists of numbers, nested to any depth, as an array of as many dimensions.

    An empty list is a matrix without rows, which has so many columns.

    Raises:
        DataError: Not lists, lists of different lengths, or something else than numbers in them.
    """
    if not isinstance(value, list):
        raise DataError(f"{where}: attention is not a list of rows")
    if not value:
        return np.zeros((0, columns))
    items, shape = value, [len(value)]
    while list in (kinds := set(map(type, items))):
        sizes = set(map(len, items)) if kinds == {list} else set()
        if len(sizes) != 1 or len(shape) == _MOST_DIMENSIONS:
            raise DataError(f"{where}: rows of attention differ in length, or nest too deep")
        shape += sizes
        items = list(chain.from_iterable(items))
    if not kinds <= {int, float}:
        raise DataError(f"{where}: attention has something else than numbers")
    try:
        return np.array(items, dtype=np.float64).reshape(shape)
    except OverflowError as error:
        raise DataError(f"{where}: attention has a number too large") from error


def as_links(value: object, where: str) -> list[Link]:
    """A list of pairs of numbers from 0, in the order given.

    Raises:
        DataError: Anything else.
    """
    if not isinstance(value, list):
        raise DataError(f"{where}: links are not a list of pairs")
    pairs = []
    for item in value:
        pair = item[:2] if isinstance(item, list) else None
        if not pair or len(pair) < 2 or not all(type(n) is int and 0 <= n < 10**9 for n in pair):
            raise DataError(f"{where}: {shown(str(item))} is not a link, a pair of numbers from 0")
        pairs.append((pair[0], pair[1]))
    return pairs


def as_tokens(value: object, where: str) -> tuple[str, ...] | None:
    """A list of tokens, or None.

    Raises:
        DataError: Anything else.
    """
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(token, str) for token in value):
        raise DataError(f"{where}: tokens are not a list of text")
    try:
        "".join(value).encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{where}: a token has half a character (a lone surrogate)") from error
    return tuple(map(sys.intern, value))  # the same words come again in every segment
