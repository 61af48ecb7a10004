"""Where links come from, as one dataclass: a model, or files of links."""

from __future__ import annotations

from dataclasses import dataclass

from coverage_eval.align.aligner import Aligner
from coverage_eval.core.files import Text
from coverage_eval.core.settings import file_setting, files_setting, setting
from fast_align_wrapper.links import DEFAULT_SYMMETRIZATION, SYMMETRIZATIONS


@dataclass(frozen=True)
class AlignerSettings:
    """Where links come from; :meth:`make` makes the aligner."""

    model: str | None = file_setting(
        "Align with this model, made by 'align train'.", group="Options"
    )
    sink: bool = setting(
        False, "Append the word <SINK> to every source; it is not scored.", group="Advanced"
    )
    ref_links: tuple[Text, ...] = files_setting(
        "Read links of source and reference from this text, one line per segment, made by any "
        "aligner; give it once for each reference."
    )
    links: tuple[Text, ...] = files_setting(
        "Read links of source and hypothesis from this text; give it once for each system, in "
        "their order."
    )
    symmetrize: str = setting(
        DEFAULT_SYMMETRIZATION,
        "Join the links of the two directions by this heuristic.",
        choices=SYMMETRIZATIONS,
    )

    @property
    def has_links(self) -> bool:
        """Whether there are files of links."""
        return bool(self.ref_links or self.links)

    @property
    def is_given(self) -> bool:
        """Whether there are links from anywhere."""
        return self.model is not None or self.has_links

    def make(self) -> Aligner | None:
        """Make the aligner; None if there are no links.

        Raises:
            DataError: A file cannot be read.
            AlignerError: No model, or a damaged one.
        """
        if self.has_links:
            return Aligner.from_links(self.ref_links, self.links, sink=self.sink)
        if self.model is None:
            return None
        return Aligner.load(self.model, symmetrize=self.symmetrize, sink=self.sink)
