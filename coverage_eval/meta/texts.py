"""The texts that labels are about: for baselines, and for the number of words of each source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coverage_eval.data.dataset import Row
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError
from coverage_eval.meta.judgements import Labels
from coverage_eval.meta.matching import Matched
from coverage_eval.meta.score_files import Key
from fast_align_wrapper.text import Segment


def judged_rows(labels: Labels, references: Sequence[str] | None = None) -> dict[Key, Row]:
    """The texts of the judged translations, by system and segment; empty if labels have none.

    Args:
        labels: The labels.
        references: The reference's segments, of which a label's segment is the number.

    Raises:
        DataError: A segment is not among the references.
    """
    rows = {}
    for item in labels.judgements:
        if item.source_text is None or item.target_text is None:
            return {}
        if references is not None and item.segment > len(references):
            raise DataError(
                f"{labels.name}: line {item.line}: segment {item.segment} is behind the end of the "
                f"reference, which has {len(references):,} lines"
            )
        reference = () if references is None else (references[item.segment - 1],)
        rows[item.key] = Row((item.target_text,), reference, item.source_text)
    return rows


def with_source_words(matched: Matched, sources: Sequence[Segment], tokens: Tokenizer) -> Matched:
    """The same with the number of words of every source, where labels do not say it.

    Args:
        matched: Translations whose segments are lines of the source.
        sources: The source's segments.
        tokens: What cuts them into words.
    """
    lengths = [len(tokens(source)) for source in sources]
    judgements = tuple(
        item
        if item.source_words is not None or item.segment > len(lengths)
        else replace(item, source_words=lengths[item.segment - 1])
        for item in matched.judgements
    )
    return replace(matched, judgements=judgements)
