"""WMT's MQM annotation: texts of systems, and the errors that raters marked in them.

See :mod:`coverage_eval.testbed.labels` for the format.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from coverage_eval.data.files import CorpusWarning, Source, source_name
from coverage_eval.data.tables import Record, SystemTexts, bad_line, read_records
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError

Key = tuple[str, int]
"""System (empty if there is only one) and number of a segment, from 1."""

_MQM_COLUMNS = ("system", "rater", "source", "target", "category", "severity")
_MQM_SEGMENT = ("globalSegId", "seg_id")


def has_mqm_columns(names: Sequence[str]) -> bool:
    """Whether these columns are those of WMT's MQM files."""
    return set(_MQM_COLUMNS) <= set(names) and any(name in names for name in _MQM_SEGMENT)


def without_marks(text: str, opening: str, closing: str) -> tuple[str, list[bool]]:
    """A text without its marks, and for each of its characters whether it was marked.

    >>> without_marks("a <v>b</v>", "<v>", "</v>")
    ('a b', [False, False, True])

    Raises:
        DataError: Opening and closing marks do not alternate.
    """
    parts = re.split(f"({re.escape(opening)}|{re.escape(closing)})", text)
    texts, marks = parts[::2], parts[1::2]
    if marks != [opening, closing] * (len(marks) // 2):
        raise DataError(f"marks {opening} and {closing} do not alternate")
    return "".join(texts), [n % 2 == 1 for n, part in enumerate(texts) for _ in part]


def marked_words(
    text: str, inside: Sequence[bool], tokens: Tokenizer
) -> tuple[frozenset[int], int] | None:
    """The positions from 0 of words with a marked character, and the number of words.

    Words are matched with the text by their characters, ignoring spaces.

    Args:
        text: A text without marks.
        inside: For each of its characters, whether it is marked.
        tokens: Splits the text into words.

    Returns:
        None if the tokeniser changes characters, so its words cannot be matched.
    """
    flags = [flag for char, flag in zip(text, inside, strict=True) if not char.isspace()]
    characters = "".join(text.split())
    words = ["".join(word.split()) for word in tokens(text)]
    folded = characters.lower() if tokens.lowercase else characters
    if "".join(words) != folded or len(folded) != len(characters):
        return None
    owners = (position for position, word in enumerate(words) for _ in word)
    return frozenset(word for word, flag in zip(owners, flags, strict=True) if flag), len(words)


@dataclass
class MqmTranslation:
    """A translation and the content of its rows.

    Attributes:
        line: The line of its first row.
        sources: The sources in all rows of its segment, for all systems.
        targets: The targets in its rows.
        raters: Rater → summed weights of the errors of the kind.
        marks: For each such error, the row's source, and whether each of its characters is marked.
    """

    line: int
    sources: Counter[str]
    targets: Counter[str] = field(default_factory=Counter)
    raters: dict[str, float] = field(default_factory=dict)
    marks: list[tuple[str, list[bool]]] = field(default_factory=list)

    @property
    def source(self) -> str:
        """The source in most rows; the first of equally frequent ones."""
        return self.sources.most_common(1)[0][0]

    @property
    def target(self) -> str:
        """The target in most rows, likewise."""
        return self.targets.most_common(1)[0][0]

    def words(self, tokens: Tokenizer) -> tuple[frozenset[int], int] | None:
        """The marked source words, and the number of all; None if unknown."""
        text = self.source
        if any(source != text for source, _ in self.marks):
            return None
        marks = [[False] * len(text), *(inside for _, inside in self.marks)]
        inside = [any(flags) for flags in zip(*marks, strict=True)]
        found = marked_words(text, inside, tokens)
        # An error without a span in the source says nothing about its words.
        return found if found and bool(found[0]) == any(self.raters.values()) else None


def mqm_weight(category: str, severity: str) -> float:
    """The weight of an error in an MQM score, 0 to 25 (Freitag et al., TACL 2021, section 3.3)."""
    kind, how_bad = category.strip().lower(), severity.strip().lower()
    if kind.startswith("non-translation") and how_bad == "major":
        return 25.0
    if kind.startswith("fluency/punctuation") and how_bad == "minor":
        return 0.1
    return {"critical": 5.0, "major": 5.0, "minor": 1.0}.get(how_bad, 0.0)


def read_mqm_rows(source: Source, weigh: Callable[[Record], float]) -> dict[Key, MqmTranslation]:
    """Collect the rows of each translation; errors of other kinds have a weight of 0."""
    translations: dict[Key, MqmTranslation] = {}
    sources: dict[int, Counter[str]] = defaultdict(Counter)
    for line, row in read_records(source, _MQM_COLUMNS):
        try:
            segment = int(next(row[name] for name in _MQM_SEGMENT if name in row))
            text, inside = without_marks(row["source"], "<v>", "</v>")
            target, _ = without_marks(row["target"], "<v>", "</v>")
        except StopIteration:
            raise bad_line(source, 1, f"no column {' or '.join(_MQM_SEGMENT)}") from None
        except (ValueError, DataError) as error:
            raise bad_line(source, line, error) from None
        item = translations.setdefault(
            (row["system"], segment), MqmTranslation(line, sources[segment])
        )
        weight = weigh(row)
        item.sources[text] += 1
        item.targets[target] += 1
        item.raters[row["rater"]] = item.raters.get(row["rater"], 0.0) + weight
        if weight:
            item.marks.append((text, inside))
    changed = [
        item.line
        for item in translations.values()
        if len(item.sources) > 1 or len(item.targets) > 1
    ]
    if changed:
        message = (
            f"{source_name(source)}: raters changed the source or the translation of "
            f"{len(changed):,} of {len(translations):,} translations (the first: line "
            f"{changed[0]}); the texts of most rows are used"
        )
        warnings.warn(message, CorpusWarning, stacklevel=3)
    return translations


def read_translations(source: Source) -> SystemTexts:
    """Read the translations of an MQM file with their sources, each once and without marks.

    Raises:
        DataError: A damaged file.
    """
    found = SystemTexts(source, ("source",))
    for (system, segment), item in read_mqm_rows(source, lambda _: 0.0).items():
        found.add(f"line {item.line}", system, str(segment), item.target, (item.source,))
    return found
