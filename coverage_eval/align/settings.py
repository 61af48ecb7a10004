"""Where the links of a command come from."""

from __future__ import annotations

from dataclasses import dataclass

from coverage_eval.align.aligner import Aligner
from coverage_eval.core.files import Text
from fast_align_wrapper.links import DEFAULT_SYMMETRIZATION


@dataclass(frozen=True)
class AlignerSettings:
    """Where links come from; :meth:`make` makes the aligner.

    Attributes:
        model: The file of a model.
        sink: Whether it aligns with the word <SINK>.
        ref_links: Links of source and each reference, instead of a model.
        links: Links of source and each output.
        symmetrize: How the links of a model's two directions are joined.
    """

    model: str | None = None
    sink: bool = False
    ref_links: tuple[Text, ...] = ()
    links: tuple[Text, ...] = ()
    symmetrize: str = DEFAULT_SYMMETRIZATION

    def make(self) -> Aligner | None:
        """Make the aligner; None if there are no links.

        Raises:
            DataError: A file cannot be read.
            AlignerError: No model, or a damaged one.
        """
        if self.ref_links or self.links:
            return Aligner.from_links(self.ref_links, self.links, sink=self.sink)
        if self.model is None:
            return None
        return Aligner.load(self.model, symmetrize=self.symmetrize, sink=self.sink)
