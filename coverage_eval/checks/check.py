"""Checks of texts: a wrong file must not give a plausible number.

A wrong file (another tokeniser, lines out of step, the source instead of the output, a model of
another language) seldom stops a score: it changes the score, often for the better. After a score,
:func:`check` looks at a sample of the texts, and says in one line each what it saw and what to do.

:data:`CHECKS` is the table of all checks of texts. Its order is the order of explanation: a finding
suppresses later ones that have the same cause in the same text. The thresholds were set on a corpus
of image descriptions, a corpus of short sentences, outputs of real systems, and the same texts
damaged in each of these ways; the comment at each threshold gives the figures for sound and for
damaged text.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from coverage_eval.checks import model, texts, words
from coverage_eval.checks.line_order import (
    MIN_LENGTHS,
    look_for_other_lengths,
    look_for_other_order,
)
from coverage_eval.core.batches import RowSample
from coverage_eval.core.errors import Finding
from coverage_eval.core.metric import Metric
from coverage_eval.core.sampled_texts import MIN_SEGMENTS, SampledTexts
from coverage_eval.core.text_metric import TokenMetric
from coverage_eval.core.tokenizers import Tokenizer, tokenize
from coverage_eval.core.word_splitting import find_unsegmented
from coverage_eval.outputs.output_errors import (
    KINDS,
    ErrorsBySegment,
    look_for_other_languages,
    look_for_output_errors,
)

if TYPE_CHECKING:
    from coverage_eval.align.aligner import Aligner

COUNTED, WRITTEN, MODEL, SEGMENTS = "counted", "written", "model", "segments"
"""How the texts that a check looks at are split: as the metrics count them, at spaces, or as a
model splits them (such a check also gets the model, and there is a source). Checks of
:data:`SEGMENTS` get the sample, the aligner, and the errors of all outputs if they are known."""

REFERENCES, SOURCE, ALIGNER = "references", "source", "aligner"
NO_MODEL, COUNTED_WORDS = "no model", "counted words"
"""What a check may need."""


@dataclass(frozen=True)
class Check:
    """A look at texts, and what it needs to see anything; without that it is not entered.

    Attributes:
        look: Gives findings, each about one text.
        split: How these texts are split.
        min_segments: Segments of the sample.
        min_tokens: Tokens of the longest text.
        needs: What it compares with, or is about; ``no model`` where a model does better.
    """

    look: Callable[..., Iterable[Finding]]
    split: str = COUNTED
    min_segments: int = 1
    min_tokens: int = 0
    needs: Set[str] = frozenset()


CHECKS: Sequence[Check] = (
    Check(texts.look_for_forms, SEGMENTS),
    Check(texts.look_for_little_text),
    Check(look_for_output_errors, SEGMENTS),
    Check(look_for_other_languages, SEGMENTS),
    Check(words.look_for_subwords, WRITTEN),
    Check(words.look_for_unsegmented_words, needs={ALIGNER}),
    Check(model.look_for_other_tokens, MODEL, MIN_SEGMENTS),
    Check(words.look_for_attached_punctuation, COUNTED, MIN_SEGMENTS, needs={COUNTED_WORDS}),
    Check(texts.look_for_characters, WRITTEN),
    Check(texts.look_for_quotes, WRITTEN),
    Check(texts.look_for_equal_texts),
    Check(texts.look_for_copies, COUNTED, MIN_SEGMENTS, needs={SOURCE, REFERENCES}),
    Check(model.look_for_swapped_links, SEGMENTS, needs={SOURCE, ALIGNER}),
    Check(model.look_for_swapped_sides, MODEL, min_tokens=model.MIN_TOKENS),
    Check(texts.look_for_case, min_tokens=texts.MIN_CASED),
    Check(model.look_for_unknown_words, MODEL, MIN_SEGMENTS),
    Check(model.look_for_training, MODEL),
    Check(texts.look_for_blanks),
    Check(texts.look_for_missing_values),
    Check(texts.look_for_missing_references),
    Check(words.look_for_other_words, COUNTED, MIN_SEGMENTS, needs={REFERENCES}),
    Check(look_for_other_order, COUNTED, MIN_SEGMENTS),
    Check(model.look_for_other_order, MODEL, MIN_SEGMENTS),
    Check(look_for_other_lengths, COUNTED, MIN_LENGTHS, needs={SOURCE, NO_MODEL}),
)
"""All checks of texts, in the order of explanation."""


def check(
    sample: RowSample,
    metrics: Iterable[Metric] = (),
    *,
    aligner: Aligner | None = None,
    known: Sequence[Finding] = (),
    output_errors: ErrorsBySegment | None = None,
) -> list[Finding]:
    """What looks wrong with texts, in a sample of them.

    Args:
        sample: At most 2,000 segments of the texts.
        metrics: The metrics that score them.
        aligner: What aligns the texts, if no metric says so.
        known: What the caller found; it comes first.
        output_errors: The errors of all outputs, where the caller looked at every output.

    Returns:
        The findings, the most serious first.

    Raises:
        AlignerError: The aligner failed.
    """
    metrics = list(metrics)
    aligner = aligner or next((m.aligner for m in metrics if hasattr(m, "aligner")), None)
    found = [*known]
    by_name = {str(number): metric for number, metric in enumerate(metrics)}
    for findings in find_unsegmented(sample, by_name).values():
        found += findings
    counting = (metric.tokenizer for metric in metrics if isinstance(metric, TokenMetric))
    found += check_texts(sample, next(counting, None), aligner, output_errors)
    if aligner is not None:
        found += model.look_for_links(aligner)
    for metric in metrics:
        found += metric.check(sample)
    return combine(found, sample.source)


def check_texts(
    sample: RowSample,
    tokenizer: Tokenizer | None = None,
    aligner: Aligner | None = None,
    output_errors: ErrorsBySegment | None = None,
) -> list[Finding]:
    """What :data:`CHECKS` find in a sample, each finding in one text.

    Args:
        sample: A sample of the texts.
        tokenizer: Splits them into the words that are counted; by default the aligner's, or 13a.
        aligner: What aligns the texts.
        output_errors: The errors of all outputs, if they are known.
    """
    split = tokenizer or (aligner.tokenizer if aligner else Tokenizer("13a"))
    split_source = split
    if aligner is not None:  # both sides are compared in the same case, whatever the model's case
        split_source = replace(aligner.source_tokenizer, lowercase=split.lowercase)
    counted = SampledTexts.tokenize(sample, split, split_source)
    counted = replace(counted, has_tokenizer=tokenizer is not None)
    is_written = split == split_source == Tokenizer()
    seen: dict[str, tuple[Any, ...]] = {
        COUNTED: (counted,),
        WRITTEN: (counted if is_written else SampledTexts.tokenize(sample, tokenize, tokenize),),
        SEGMENTS: (sample, aligner, output_errors),
    }
    fast_align = getattr(aligner, "model", None)
    if aligner is not None and fast_align is not None and sample.source is not None:
        of_model = SampledTexts.tokenize(sample, aligner.tokenizer, aligner.source_tokenizer)
        seen[MODEL] = (of_model, fast_align)
    given = {ALIGNER} if aligner else set[str]()
    if tokenizer or aligner:  # else punctuation may be attached to words, which nobody counts
        given.add(COUNTED_WORDS)
    found = run_checks(CHECKS, seen, given)
    if len(sample.rows) == sample.size:
        return found
    counted_in_all = () if output_errors is None else KINDS
    return [
        item if item.kind in counted_in_all else item._replace(sample=len(sample.rows))
        for item in found
    ]


def run_checks(
    checks: Iterable[Check], seen: Mapping[str, Sequence[Any]], given: Set[str]
) -> list[Finding]:
    """What checks find in texts that have what they need.

    Args:
        checks: The checks.
        seen: What a check looks at, by how its texts are split; the first of :data:`COUNTED` tells
            what texts there are.
        given: What else checks may need.
    """
    found: list[Finding] = []
    counted: SampledTexts = seen[COUNTED][0]
    has = {REFERENCES: counted.references, SOURCE: counted.source, NO_MODEL: MODEL not in seen}
    given = given | {need for need, there in has.items() if there}
    longest = max((text.token_count for text in counted.all), default=0)
    for item in checks:
        is_large = len(counted.lines) >= item.min_segments and longest >= item.min_tokens
        if is_large and item.split in seen and item.needs <= given:
            found += item.look(*seen[item.split])
    return found


MAX_NAMED_TEXTS = 3
"""A message names at most this many texts."""


def combine(findings: Iterable[Finding], source: str | None = None) -> list[Finding]:
    """Leave out what others explain, and join what one check says of several texts.

    Args:
        findings: What checks found, in the order of explanation.
        source: The name of the source: what is wrong with it explains findings in any text.

    Returns:
        The findings, the most serious first.
    """
    kept: list[Finding] = []
    for finding in dict.fromkeys(findings):
        names = {source, *finding.texts}
        if not any(
            finding.kind in other.suppresses and (not other.texts or names & set(other.texts))
            for other in kept
        ):
            kept.append(finding)
    alike: dict[Hashable, list[Finding]] = {}
    for finding in kept:
        key = (finding.kind, finding.severity, finding.advice) if finding.advice else finding
        alike.setdefault(key, []).append(finding)
    joined = [_join(group) if len(group) > 1 else group[0] for group in alike.values()]
    joined = [
        item._replace(message=f"in a sample of {item.sample:,} segments, {item.message}")
        if item.sample
        else item
        for item in joined
    ]
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
