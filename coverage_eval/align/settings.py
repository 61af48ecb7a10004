"""Where the links of a command come from."""

from __future__ import annotations

from dataclasses import dataclass

from coverage_eval.align.aligner import Aligner
from coverage_eval.core.files import Text


@dataclass(frozen=True)
class AlignerSettings:
    """Where links come from; :meth:`make` makes the aligner.

    Attributes:
        model: The file of a model.
        ref_links: Links of source and each reference, instead of a model.
        links: Links of source and each output.
    """

    model: str | None = None
    ref_links: tuple[Text, ...] = ()
    links: tuple[Text, ...] = ()

    def make(self) -> Aligner | None:
        """Make the aligner; None if there are no links.

        Raises:
            DataError: A file cannot be read.
            AlignerError: No model, or a damaged one.
        """
        if self.ref_links or self.links:
            return Aligner.from_links(self.ref_links, self.links)
        return None if self.model is None else Aligner.load(self.model)
