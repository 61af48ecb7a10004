"""Marks around parts of a text, and the words that they touch."""

from __future__ import annotations

from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError


def without_marks(text: str, opening: str, closing: str) -> tuple[str, list[bool]]:
    """The text without its marks, and of each of its characters whether it was inside one.

    >>> without_marks("a <v>b</v>", "<v>", "</v>")
    ('a b', [False, False, True])

    Raises:
        DataError: A mark is closed that was not opened, or not closed.
    """
    found: list[str] = []
    inside: list[bool] = []
    for number, part in enumerate(text.split(opening)):
        marked, closed, rest = part.partition(closing)
        if bool(closed) != (number > 0) or closing in rest:
            raise DataError(f"marks {opening} and {closing} do not come in turns")
        if not closed:
            marked, rest = "", part
        found += [marked, rest]
        inside += [True] * len(marked) + [False] * len(rest)
    return "".join(found), inside


def marked_words(
    text: str, inside: list[bool], tokens: Tokenizer
) -> tuple[frozenset[int], int] | None:
    """The positions from 0 of words with a marked character, and the number of words.

    Words are found in the text by their characters, spaces left out.

    Args:
        text: A text without marks.
        inside: Of each of its characters, whether it is marked.
        tokens: What cuts the text into words.

    Returns:
        None if the tokeniser changes characters, so that its words cannot be found in the text.
    """
    cut = tokens(text)
    flags = [flag for char, flag in zip(text, inside, strict=True) if not char.isspace()]
    characters = "".join(char for char in text if not char.isspace())
    words = ["".join(char for char in word if not char.isspace()) for word in cut]
    folded = characters.lower() if tokens.lowercase else characters
    if "".join(words) != folded or len(folded) != len(characters):
        return None
    found = set()
    start = 0
    for position, word in enumerate(words):
        if any(flags[start : start + len(word)]):
            found.add(position)
        start += len(word)
    return frozenset(found), len(cut)
