"""Outputs of documents, with other lines than their source, cut before they are scored.

What cuts them is loaded only if there are some.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from coverage_eval.align.aligner import Aligner
from coverage_eval.align.settings import AlignerSettings
from coverage_eval.core.batches import RowSample, Texts
from coverage_eval.core.errors import CheckId, Finding, Severity
from coverage_eval.core.features import Feature
from coverage_eval.core.progress import Progress
from coverage_eval.core.tokenizers import Tokenizer

if TYPE_CHECKING:
    from coverage_eval.documents.segmentation import Segmentation

MUCH_EXTRA = 0.1
"""Share of an output's words that belong to no line, from which on this is a warning: a loop, or a
second version of the document; prefaces and notes have less."""

_MISSING = frozenset({CheckId.EMPTY, CheckId.BLANK})
"""What is also found in outputs of which lines are missing."""


class Documents(Feature):
    """Cuts all outputs, those of peers, too, by the lines of their source, before they are scored.

    Args:
        tokenize: The tokeniser that finds words if a reference takes the place of the source;
            for ``none``, ``13a`` parts words from punctuation.
        aligner: A model, or settings that name one, to cut by the source; without it, the first
            reference's lines count.
        jobs: Number of processes, if there are several documents.

    Attributes:
        by_output: By the name of each output, peers included, its documents.
    """

    prepares: ClassVar[bool] = True

    def __init__(
        self,
        tokenize: str = "none",
        aligner: Aligner | AlignerSettings | None = None,
        *,
        jobs: int = 1,
    ) -> None:
        self._tokenize = tokenize
        self._aligner = aligner
        self._jobs = jobs
        self.by_output: Mapping[str, Sequence[Segmentation]] = {}

    def prepare(self, texts: Texts, progress: Progress) -> Texts:
        """Return the texts with outputs that have the lines of their source.

        Raises:
            DataError, TypeError, AlignerError: As
                :func:`~coverage_eval.documents.cut_documents.match_outputs`.
        """
        from coverage_eval.documents.cut_documents import match_outputs

        texts, self.by_output, segmentation = match_outputs(
            texts, self._tokenize, self._aligner, jobs=self._jobs, progress=progress
        )
        self.text_settings = {"seg": segmentation}
        return texts

    def findings(self, sample: RowSample, tokenizer: Tokenizer | None) -> Iterator[Finding]:  # noqa: ARG002
        """A note for each output: how many lines have text, and how much belongs to none.

        It is a warning if that is much, because no score but ExtraText sees such text.
        """
        from coverage_eval.documents.segmentation import summary

        for name, documents in self.by_output.items():
            message = f"{name}: {summary(documents)}"
            extra = sum(piece.words for document in documents for piece in document.extra)
            if extra > MUCH_EXTRA * sum(document.output_words for document in documents):
                message += ", and counts in no score but ExtraText"
                yield Finding(message, explains=_MISSING)
            else:
                yield Finding(message, Severity.NOTE, explains=_MISSING)
