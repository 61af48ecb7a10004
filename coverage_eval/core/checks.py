"""Checks of texts: a wrong file must not give a plausible number.

A wrong file (another tokeniser, lines out of step, the source instead of the output, a model of
another language) seldom stops a score: it changes the score, often for the better. A check looks at
a sample of the texts and says in one line what it saw and what to do. Each feature has the checks
of what it knows: :mod:`coverage_eval.core.text_checks` those of texts beside each other,
:mod:`coverage_eval.align.checks` those of models and links. Here is what they share.

The thresholds were set on a corpus of image descriptions, a corpus of short sentences, outputs of
real systems, and the same texts damaged in each of these ways; the comment at each threshold gives
the figures for sound and for damaged text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby
from typing import TypeAlias

from coverage_eval.core.batches import BLOCK_ROWS, RowSample
from coverage_eval.core.errors import CheckId, Finding
from coverage_eval.core.tokenizers import Segment

TokenizedText: TypeAlias = Sequence[Sequence[str]]
"""A text: the tokens of each segment."""

TokenizerFunction: TypeAlias = Callable[[Segment], Sequence[str]]
"""Splits a segment into tokens."""

MIN_SEGMENTS = 20
"""With fewer segments, shares mean little."""

OTHER_ORDER = frozenset({CheckId.SHIFTED, CheckId.REORDERED, CheckId.OUT_OF_STEP})
"""Line N of a text does not belong to line N of another."""

MISFITS = OTHER_ORDER | {CheckId.UNKNOWN_WORDS, CheckId.OTHER_WORDS}
"""What is found, too, in a text that is not the one that was meant, or has other words."""


class SampledText:
    """A text of a sample, with counts that several checks need.

    Attributes:
        name: The name of its system or file.
        rows: The tokens of each segment.
        counts: How often each token occurs.
        token_count: Number of tokens.
        has_enough: Whether enough segments have tokens for shares to mean something.
    """

    def __init__(self, name: str, rows: TokenizedText) -> None:
        self.name = name
        self.rows = rows
        self.counts = Counter(chain.from_iterable(rows))
        self.token_count = self.counts.total()
        self.has_enough = sum(map(bool, rows)) >= MIN_SEGMENTS

    @cached_property
    def bytes(self) -> int:
        """Its length without spaces, in UTF-8."""
        return sum(n * len(token.encode(errors="replace")) for token, n in self.counts.items())

    @cached_property
    def words(self) -> list[frozenset[str]]:
        """The words of each segment in lower case, without punctuation."""
        lowered = {token: token.lower() for token in self.counts if any(map(str.isalnum, token))}
        return [frozenset(lowered[token] for token in row if token in lowered) for row in self.rows]


@dataclass(frozen=True)
class SampledTexts:
    """Rows of parallel texts, in blocks of neighbouring lines.

    Attributes:
        hypotheses: The text of each system.
        references: The text of each reference.
        source: The source; None if there is none.
        lines: The number of each row's line in the whole text, from 1.
        has_tokenizer: Whether the option ``--tokenize`` would split them in another way.
    """

    hypotheses: Sequence[SampledText] = ()
    references: Sequence[SampledText] = ()
    source: SampledText | None = None
    lines: Sequence[int] = ()
    has_tokenizer: bool = False

    @classmethod
    def tokenize(
        cls, sample: RowSample, tokenizer: TokenizerFunction, source_tokenizer: TokenizerFunction
    ) -> SampledTexts:
        """Tokenise the rows of a sample.

        Args:
            sample: The texts. Peers are checked like hypotheses, and a file that is named as a
                reference twice is one text.
            tokenizer: Splits a hypothesis or a reference into words.
            source_tokenizer: Splits a source into words.
        """
        rows = sample.rows
        hypotheses = [
            SampledText(name, [tokenizer(row.hypotheses[index]) for row in rows])
            for index, name in enumerate(sample.systems)
        ]
        hypotheses += [
            SampledText(name, [tokenizer(row.peers[index]) for row in rows])
            for index, name in enumerate(sample.peers)
        ]
        references = {
            name: SampledText(name, [tokenizer(row.references[index]) for row in rows])
            for index, name in enumerate(sample.references)
        }
        source = None
        if sample.source is not None:
            source = SampledText(
                sample.source, [source_tokenizer(row.source or "") for row in rows]
            )
        return cls(hypotheses, list(references.values()), source, sample.lines)

    @cached_property
    def all(self) -> list[SampledText]:
        """All texts: hypotheses, references, source."""
        return [*self.hypotheses, *self.references, *([self.source] if self.source else [])]

    @property
    def targets(self) -> Sequence[SampledText]:
        """The texts to compare with the source: the first reference, or else all outputs."""
        return self.references[:1] or self.hypotheses

    @cached_property
    def blocks(self) -> list[list[int]]:
        """Rows of neighbouring segments: at most :data:`BLOCK_ROWS`, and enough for shares.

        Rows with the same source, as in tables with a row for each system, are one segment, which
        stands for nothing but the rows at its ends.
        """
        numbers = groupby(range(len(self.lines)), lambda row: (self.lines[row] - 1) // BLOCK_ROWS)
        blocks = [list(rows) for _, rows in numbers]
        if self.source is not None:
            rows = self.source.rows
            segments = [
                list(run) for block in blocks for _, run in groupby(block, rows.__getitem__)
            ]
            if 2 * len(segments) <= len(self.lines):
                blocks = [
                    [segment[end] for segment in segments[start : start + MIN_SEGMENTS]]
                    for end in (0, -1)
                    for start in range(0, len(segments), MIN_SEGMENTS)
                ]
        return [rows for rows in blocks if len(rows) >= MIN_SEGMENTS]


@dataclass(frozen=True)
class Check:
    """A look at texts, and what it needs to see anything; without that it is not entered.

    Attributes:
        look: Gives what it finds in some texts, each finding in one text; checks of a model also
            take the model.
        min_segments: Segments of the sample.
        min_tokens: Tokens of the longest text.
        needs_references: Whether it compares with a reference.
        needs_source: Whether it compares with the source.
    """

    look: Callable[..., Iterable[Finding]]
    min_segments: int = 1
    min_tokens: int = 0
    needs_references: bool = False
    needs_source: bool = False


def run_checks(checks: Iterable[Check], texts: SampledTexts, *model: object) -> list[Finding]:
    """What checks find in texts that have what they need.

    Args:
        checks: The checks.
        texts: The texts.
        *model: The model, if the checks look at it.
    """
    found: list[Finding] = []
    longest = max((text.token_count for text in texts.all), default=0)
    for check in checks:
        if len(texts.lines) < check.min_segments or longest < check.min_tokens:
            continue
        if check.needs_references and not texts.references:
            continue
        if check.needs_source and texts.source is None:
            continue
        found += check.look(texts, *model)
    return found


MAX_NAMED_TEXTS = 3
"""Texts with the same trouble of which a message says it; of more, it names two."""


def combine_findings(findings: Iterable[Finding], source: str | None = None) -> list[Finding]:
    """Leave out what others explain, and join what one check says of several texts.

    Args:
        findings: What all features found.
        source: The name of the source: what is wrong with it explains findings in any text.

    Returns:
        The findings, the most serious first.
    """
    kept: list[Finding] = []
    for finding in sorted(dict.fromkeys(findings), key=lambda item: max(item.check or 0, 0)):
        names = {source, *finding.texts}
        if not any(
            finding.check in other.explains and (not other.texts or names & set(other.texts))
            for other in kept
        ):
            kept.append(finding)
    alike: dict[Hashable, list[Finding]] = {}
    for finding in kept:
        key = (finding.check, finding.severity, finding.advice) if finding.advice else finding
        alike.setdefault(key, []).append(finding)
    joined = [_join(group) if len(group) > 1 else group[0] for group in alike.values()]
    return sorted(joined, key=lambda finding: finding.severity)


def _join(findings: Sequence[Finding]) -> Finding:
    """One finding for all texts in which the same was found; the first of each text counts."""
    first = findings[0]
    labels: dict[str, str] = {}
    for finding in findings:
        for text, label in zip(finding.texts, finding.labels, strict=False):
            labels.setdefault(text, label)
    if len(labels) < 2:
        return first
    listed = [f"{text} ({label})" for text, label in labels.items()]
    if len(listed) > MAX_NAMED_TEXTS:
        listed = [*listed[:2], f"and {len(listed) - 2} more texts"]
    message = ", ".join(listed)
    return first._replace(
        message=f"{message}: {first.advice}", texts=tuple(labels), labels=tuple(labels.values())
    )


def percent(share: float) -> str:
    """A share, 0 to 1, in percent; small ones with a decimal."""
    return f"{100 * share:.{0 if share >= 0.0995 else 1}f}%"


def quote_token(token: str) -> str:
    """A token for a message, printable and short."""
    text = "".join(c if c.isprintable() else "?" for c in token)
    return f"'{text[:24]}…'" if len(text) > 24 else f"'{text}'"
