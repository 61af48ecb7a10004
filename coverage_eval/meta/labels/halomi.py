"""HalOmi (Dale et al., EMNLP 2023): degrees of omission and hallucination, and their spans.

The columns are ``src_lang tgt_lang src_text mt_text omit_spans hall_spans class_hall class_omit``,
quoted as pandas writes them; spans stand between ``<<<`` and ``>>>``, of omissions in the source. A
degree is a name that begins with its number, ``1_No_omission`` to ``4_Full_omission``, or that
number. Of a file that says so, only ``natural`` translations are read, as its authors recommend.
"""

from __future__ import annotations

from coverage_eval.data.files import Source, source_name
from coverage_eval.data.tables import Record, bad_line, read_header, read_records
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError
from coverage_eval.meta.judgements import Judgement, Labels
from coverage_eval.meta.labels.marked_text import marked_words, without_marks

_COLUMNS = ("src_lang", "tgt_lang", "src_text", "mt_text", "omit_spans", "hall_spans")
_DEGREES = {"omission": "class_omit", "hallucination": "class_hall"}


def recognise(source: Source) -> bool:
    """Whether the header is HalOmi's."""
    return set(_COLUMNS) <= set(read_header(source))


def read(source: Source, kind: str, tokens: Tokenizer) -> Labels:
    """Read a file; ``kind`` is ``omission`` or ``hallucination``.

    Each pair of languages is a system; segments are numbered in each, in the order of the file. The
    grade is the degree less 1.

    Raises:
        DataError: Another kind, another header, a degree that is no number, or unbalanced marks.
    """
    if kind not in _DEGREES:
        known = " and ".join(_DEGREES)
        raise DataError(f"{source_name(source)}: HalOmi has labels of {known}, not of {kind}")
    numbers: dict[str, int] = {}
    judgements = []
    for line, row in read_records(source, [*_COLUMNS, _DEGREES[kind]], quoted=True):
        if row.get("perturbation", "natural") == "natural":
            pair = f"{row['src_lang']}-{row['tgt_lang']}"
            numbers[pair] = numbers.get(pair, 0) + 1
            judgements.append(_judgement(source, line, row, kind, (pair, numbers[pair]), tokens))
    return Labels(source_name(source), tuple(judgements), grade="degree")


def _judgement(
    source: Source, line: int, row: Record, kind: str, key: tuple[str, int], tokens: Tokenizer
) -> Judgement:
    degree = row[_DEGREES[kind]]
    number = degree.partition("_")[0]
    if not (number.isascii() and number.isdigit() and len(number) <= 9 and int(number) >= 1):
        said = f"{_DEGREES[kind]} {degree!r:.60} does not begin with a degree from 1"
        raise bad_line(source, line, said)
    grade = int(number) - 1
    words = _words(source, line, row, grade > 0, tokens) if kind == "omission" else None
    return Judgement(
        key[1], grade > 0, grade, key[0], source=(key[0], row["src_text"]),
        source_text=row["src_text"], target_text=row["mt_text"],
        words=words and words[0], source_words=words and words[1], line=line,
    )  # fmt: skip


def _words(
    source: Source, line: int, row: Record, positive: bool, tokens: Tokenizer
) -> tuple[frozenset[int], int] | None:
    """Marked source words and their number; None where they are not known."""
    if not positive:
        return marked_words(row["src_text"], [False] * len(row["src_text"]), tokens)
    try:
        text, inside = without_marks(row["omit_spans"], "<<<", ">>>")
    except DataError as error:
        raise bad_line(source, line, error) from None
    # Where the marked copy differs from the text, its words may be others.
    whole = text == row["src_text"] and any(inside)
    return marked_words(text, inside, tokens) if whole else None
