"""A test set row by row: one segment in all its texts, checked to belong together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

from coverage_eval.data.files import Text, read_parallel
from coverage_eval.errors import DataError
from fast_align_wrapper.text import Segment


class Row(NamedTuple):
    """One segment of a test set.

    Attributes:
        hypotheses: The segment as each system translated it; at least one.
        references: Its reference translations; none where a metric needs none.
        source: The source segment; None if it is not known.
    """

    hypotheses: tuple[Segment, ...]
    references: tuple[Segment, ...] = ()
    source: Segment | None = None


def row_length(row: Row) -> int:
    """Characters, or tokens, of all texts of a row: what it weighs in a batch."""
    return sum(map(len, row.hypotheses + row.references)) + len(row.source or "")


def read_rows(
    hypotheses: Sequence[Text], references: Sequence[Text] = (), source: Text | None = None
) -> Iterator[Row]:
    """Read the texts of a test set in step.

    Args:
        hypotheses: One text a system.
        references: One text a reference.
        source: The source's text.

    Raises:
        DataError: As :func:`~coverage_eval.data.files.read_parallel`.
    """
    files = [*hypotheses, *references, *([] if source is None else [source])]
    first, last = len(hypotheses), len(hypotheses) + len(references)
    for lines in read_parallel(*files):
        yield Row(lines[:first], lines[first:last], None if source is None else lines[-1])


def make_rows(
    systems: Mapping[str, Sequence[Segment]],
    references: Sequence[Any] | None = None,
    sources: Sequence[Segment] | None = None,
) -> list[Row]:
    """Put the texts of a test set together, segment by segment.

    Args:
        systems: Each system's segments by its name, strings or lists of tokens.
        references: The reference's segments, or a list of several references, each a list of
            segments; see :func:`split_references`.
        sources: The source's segments.

    Raises:
        DataError: No system, no segments, or unequal numbers of segments.
        TypeError: A single string, a mapping, a set or a data frame where a list of segments is
            meant, or segments that are neither strings nor lists of tokens.
    """
    if not systems:
        raise DataError("no system to score")
    texts: dict[str, list[Segment]] = {
        name: _segments(segments, name) for name, segments in systems.items()
    }
    hypotheses = list(texts.values())
    several = [] if references is None else split_references(hypotheses[0], references)
    names = ["the reference"] if len(several) == 1 else _numbered(len(several))
    for name, reference in zip(names, several, strict=True):
        texts[name] = _segments(reference, name)
    if sources is not None:
        texts["the source"] = _segments(sources, "the source")
    _check_sizes({name: len(segments) for name, segments in texts.items()})
    columns = list(texts.values())
    first, last = len(systems), len(systems) + len(several)
    return [
        Row(tuple(row[:first]), tuple(row[first:last]), None if sources is None else row[-1])
        for row in zip(*columns, strict=True)
    ]


def make_text_rows(
    hypotheses: Sequence[Segment],
    references: Sequence[Any] | None = None,
    sources: Sequence[Segment] | None = None,
) -> list[Row]:
    """As :func:`make_rows`, of one system."""
    return make_rows({"the hypothesis": hypotheses}, references, sources)


def split_references(
    hypotheses: Sequence[Segment], references: Sequence[Any]
) -> list[Sequence[Segment]]:
    """The references one by one, of a list of segments or of a list of such lists.

    >>> split_references(["a b", "c"], iter(["a b", "d"]))
    [['a b', 'd']]
    >>> split_references(["a b", "c"], [["a b", "c"], ["a", "c d"]])
    [['a b', 'c'], ['a', 'c d']]

    With hypotheses that are strings, ``["a b", "c"]`` is one reference of two segments, and
    ``[["a b", "c"], ["a", "c d"]]`` are two references, as sacreBLEU has it. With hypotheses that
    are lists of tokens, one reference is a list of lists of tokens.

    Raises:
        DataError: One list a segment instead of one list a reference, or several references of
            strings for hypotheses of tokens.
        TypeError: Something other than a list of segments.
    """
    # Iterators can be looked at only once.
    references = [
        list(item) if isinstance(item, Iterator) else item
        for item in _listed(references, "the reference")
    ]
    if _depth(references) <= max(1, _depth(hypotheses)):
        _check_tokens(hypotheses, references)
        return [references]
    names = _numbered(len(references))
    several: list[Sequence[Segment]] = [
        _listed(item, name) for item, name in zip(references, names, strict=True)
    ]
    sizes = {len(reference) for reference in several}
    if len(several) == len(hypotheses) != 1 and sizes != {len(hypotheses)}:
        raise DataError(
            f"{len(several)} lists of references for {len(hypotheses)} segments: give one list a "
            "reference, each with a segment for every hypothesis, not one list a segment"
        )
    return several


def _depth(value: Any) -> int:
    """How deep lists are nested: 0 for a string, 1 for a list of strings; empty lists tell less."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return 0
    return 1 + max((_depth(item) for item in value), default=0)


def _check_tokens(hypotheses: Sequence[Segment], reference: Sequence[Any]) -> None:
    """Refuse several references of strings that look like one reference of tokens."""
    tokens = _tokens(reference)
    phrases = sum(" " in token for token in tokens)
    if 2 * phrases >= max(1, len(tokens)) and not any(" " in t for t in _tokens(hypotheses)):
        raise DataError(
            "the tokens of the reference hold spaces, as if they were whole segments: with "
            "hypotheses as lists of tokens, several references are lists of lists of tokens"
        )


def _tokens(segments: Sequence[Segment]) -> list[str]:
    """The tokens, as far as they are strings, of segments that are lists of tokens."""
    lists = [segment for segment in segments if isinstance(segment, (list, tuple))]
    return [token for segment in lists for token in segment if isinstance(token, str)]


def _numbered(count: int) -> list[str]:
    return [f"reference {number}" for number in range(1, count + 1)]


def _segments(segments: Iterable[Segment], name: str) -> list[Segment]:
    found = _listed(segments, name)
    for number, segment in enumerate(found, start=1):
        if not isinstance(segment, (str, Sequence)) or isinstance(segment, bytes):
            raise TypeError(
                f"{name}: segment {number} is neither a string nor a list of tokens: "
                f"{type(segment).__name__}"
            )
    return found


def _listed(segments: Any, name: str) -> list[Any]:
    """The items of a list of segments."""
    check_list(segments, name)
    return list(segments)


def check_list(segments: object, name: str) -> None:
    """Refuse what is no list of segments; a mapping or a data frame would give its keys.

    Raises:
        TypeError: A single string, a mapping, a set, a data frame, or nothing to iterate over.
    """
    if isinstance(segments, (str, bytes)):
        raise TypeError(f"{name} is a list of segments, not a single string")
    is_frame = hasattr(segments, "columns")
    if not isinstance(segments, Iterable) or isinstance(segments, (Mapping, Set)) or is_frame:
        raise TypeError(f"{name} is a list of segments, not {type(segments).__name__}")


def _check_sizes(sizes: Mapping[str, int]) -> None:
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise DataError(f"unequal numbers of segments: {listed}")
    if not any(sizes.values()):
        raise DataError("no segments to score")
