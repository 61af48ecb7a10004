"""Words and n-grams that systems get right, as compare-mt counts them (Neubig et al., NAACL 2019).

The n-th occurrence of a word in the first reference is right if the output has the word n times;
order does not count. N-grams are counted likewise.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

from coverage_eval.comparison.evidence import output_words
from coverage_eval.comparison.segment_texts import marked
from coverage_eval.data.files import Source, read_segments
from coverage_eval.errors import DataError
from coverage_eval.metrics.measure import Result
from coverage_eval.tables.table import Cell, Table

MAX = 4
"""Longest n-grams, in words."""

_HEADER = ("system", "reference words", "right", "% right", "output words", "F1")


def right_by_class(
    result: Result, class_of: Callable[[str], str], classes: Sequence[str], title: str
) -> Table:
    """Recall and F1 of words by a class of words, such as their frequency.

    Args:
        result: The systems.
        class_of: The class of a word.
        classes: The classes, in the order of the rows.
        title: The table's.
    """
    rows: list[tuple[Cell, ...]] = []
    reference: Counter[str] = Counter()
    for row in result.rows:
        reference.update(map(class_of, result.tokens(row.references[0])))
    for_systems = {system: _right_and_said(result, system, class_of) for system in result.systems}
    for name in classes:
        for system, (right, said) in for_systems.items():
            expected, found, own = reference[name], right[name], said[name]
            if expected or own:
                share = 100.0 * found / expected if expected else None
                f1 = 200.0 * found / (expected + own)
                rows.append((name, system, expected, found, share, own, f1))
    return Table(("frequency", *_HEADER), tuple(rows), title, "word-frequency")


def _right_and_said(
    result: Result, system: str, class_of: Callable[[str], str]
) -> tuple[Counter[str], Counter[str]]:
    """For each class, how many words an output has right, and how many it has."""
    right: Counter[str] = Counter()
    said: Counter[str] = Counter()
    for index, row in enumerate(result.rows):
        own = Counter(output_words(result, system, index))
        for word, times in own.items():
            said[class_of(word)] += times
        for word, times in (own & Counter(result.tokens(row.references[0]))).items():
            right[class_of(word)] += times
    return right, said


def read_word_labels(file: Source) -> list[list[str]]:
    """Read the labels of a reference's words, such as parts of speech: one per word.

    Args:
        file: A line for each segment, its labels separated by spaces.
    """
    return [line.split() for line in read_segments(file)]


def right_by_label(result: Result, labels: Sequence[Sequence[str]]) -> Table:
    """Recall of the reference's words by their labels, in the order of their frequency.

    Args:
        result: The systems.
        labels: For each segment, the label of each word of the first reference.

    Raises:
        DataError: The numbers of segments, or of words in a segment, differ.
    """
    if len(labels) != result.segments:
        raise DataError(f"labels of {len(labels)} segments for {result.segments} references")
    expected: Counter[str] = Counter()
    right: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for index, (row, own) in enumerate(zip(result.rows, labels, strict=True)):
        words = result.tokens(row.references[0])
        if len(own) != len(words):
            raise DataError(
                f"labels: line {index + 1}: {len(own)} labels, and the reference has {len(words)} "
                "words; check that the labels belong to this text in this tokenisation"
            )
        expected.update(own)
        for system in result.systems:
            left = Counter(output_words(result, system, index))
            for word, label in zip(words, own, strict=True):
                right[system][label] += left[word] > 0
                left[word] -= 1
    rows = tuple(
        (label, system, total, right[system][label], 100.0 * right[system][label] / total)
        for label, total in sorted(expected.items(), key=lambda item: (-item[1], item[0]))
        for system in result.systems
    )
    title = "Words of the reference that systems get right, by label"
    return Table(("label", *_HEADER[:4]), rows, title, "word-labels")


def telling_ngrams(result: Result, baseline: str, top: int) -> Table:
    """The n-grams that the baseline gets right more often than another system, and the reverse.

    They are ordered as in compare-mt, by (right + 1) / (right + right of the other + 2), then by
    length; a part of a listed n-gram is not listed again with the same counts. The example
    is the first segment in which the first system is right more often.

    Args:
        result: The systems.
        baseline: One of them.
        top: N-grams of each pair of systems; ties are in alphabetical order.
    """
    counts = {system: list(_right_ngrams(result, system)) for system in result.systems}
    totals = {system: Counter[tuple[str, ...]]() for system in counts}
    for system, found in counts.items():
        for in_segment in found:  # their sum would copy the total for each segment
            totals[system].update(in_segment)
    pairs = [(baseline, other) for other in result.systems if other != baseline]
    rows: list[tuple[Cell, ...]] = []
    for system, other in [pair for one in pairs for pair in (one, one[::-1])]:
        ours, theirs = totals[system], totals[other]
        ranked = sorted(
            (gram for gram, times in ours.items() if times > theirs[gram]),
            key=lambda gram: (
                -(ours[gram] + 1) / (ours[gram] + theirs[gram] + 2), -len(gram), gram
            ),
        )  # fmt: skip
        listed: list[tuple[str, ...]] = []
        in_listed = set()
        for gram in ranked:
            times = (ours[gram], theirs[gram])
            if (gram, times) not in in_listed:
                listed.append(gram)
                in_listed |= {(part, times) for part in _ngrams(gram)}
            if len(listed) == top:
                break
        for gram in listed:
            both = enumerate(zip(counts[system], counts[other], strict=True))
            index = next(n for n, (mine, its) in both if mine[gram] > its[gram])
            words = output_words(result, system, index)
            starts = range(len(words))
            start = next(n for n in starts if tuple(words[n : n + len(gram)]) == gram)
            example = marked(words, range(start, start + len(gram)))
            rows.append(
                (system, other, " ".join(gram), ours[gram], theirs[gram], index + 1, example)
            )
    header = ("system", "but not", "n-gram", "right", "other right", "segment", "words")
    title = f"N-grams that {baseline} or another system gets right more often"
    return Table(header, tuple(rows), title, "telling-ngrams")


def _right_ngrams(result: Result, system: str) -> Iterator[Counter[tuple[str, ...]]]:
    """The n-grams that an output shares with the reference, segment by segment."""
    for index, row in enumerate(result.rows):
        own, reference = (
            Counter(_ngrams(words))
            for words in (output_words(result, system, index), result.tokens(row.references[0]))
        )
        yield own & reference


def _ngrams(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """All n-grams of up to :data:`MAX` words."""
    for size in range(1, MAX + 1):
        for start in range(len(words) - size + 1):
            yield tuple(words[start : start + size])
