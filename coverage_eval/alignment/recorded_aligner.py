"""An aligner that did its work elsewhere: what it signed, for figures made of its links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from coverage_eval.alignment.aligned_rows import AlignedRow
from coverage_eval.alignment.aligner import Aligner
from coverage_eval.data.rows import Row
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError


@dataclass(frozen=True)
class RecordedAligner(Aligner):
    """The settings of an aligner without its model or links; it cannot align.

    Attributes:
        signed: What a signature says of the links.
        symmetrize: How links of both directions were joined.
        sink: Whether sources had a sink.
        tokens: How references and hypotheses were cut.
        source_tokens: How sources were.
    """

    signed: Mapping[str, object]
    symmetrize: str
    sink: bool
    tokens: Tokenizer
    source_tokens: Tokenizer

    @classmethod
    def of(cls, aligner: Aligner) -> RecordedAligner:
        """What is kept of an aligner."""
        return cls(
            dict(aligner.settings),
            aligner.symmetrize,
            aligner.sink,
            aligner.tokens,
            aligner.source_tokens,
        )

    @property
    def settings(self) -> Mapping[str, object]:
        """What was signed."""
        return self.signed

    def align(self, rows: Iterable[Row], *, compat: str | None = None) -> Iterator[AlignedRow]:  # noqa: ARG002
        """Not possible any more.

        Raises:
            DataError: Always.
        """
        raise DataError("these links were made elsewhere, and nothing can be aligned here")
