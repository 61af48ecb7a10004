"""Where links come from, as one dataclass: a model, text to train one on, or files of links."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.data.files import check_readable_again, check_target, read_parallel
from coverage_eval.data.tokenizers import TOKENIZERS
from coverage_eval.settings import (
    file_setting,
    files_setting,
    output_file_setting,
    setting,
)
from fast_align_wrapper.links import DEFAULT_SYMMETRIZATION, SYMMETRIZATIONS


@dataclass(frozen=True)
class AlignerSettings:
    """Where links come from, and how texts become words; :meth:`make` makes the aligner."""

    model: str | None = file_setting(
        "Align with this model, made by 'align train'.", group="Options"
    )
    train_src: str | None = file_setting(
        "Train a model on this source text.", goes_with=("train_tgt",)
    )
    train_tgt: str | None = file_setting("Train it on this target text.", goes_with=("train_src",))
    save_model: str | None = output_file_setting(
        "Save the trained model to this file.", goes_with=("train_src",)
    )
    sink: bool = setting(
        False, "Append the word <SINK> to every source; it is not scored.", group="Advanced"
    )
    fast_align: str | None = file_setting(
        "Run this fast_align executable, or the one in this folder.  "
        "[default: FAST_ALIGN, or the one included]",
        group="Advanced",
    )
    threads: int | None = setting(
        None,
        "Run the aligner in this many threads; the result does not depend on it.  "
        "[default: all cores]",
        min=1,
        max=1024,
        group="Advanced",
    )
    src_ref_align: tuple[str, ...] = files_setting(
        "Read links of source and reference from this file, one line per segment, made by any "
        "aligner; give it once for each reference."
    )
    src_hyp_align: tuple[str, ...] = files_setting(
        "Read links of source and hypothesis from this file; give it once for each system, in "
        "their order."
    )
    symmetrize: str = setting(
        DEFAULT_SYMMETRIZATION,
        "Join the links of the two directions by this heuristic.",
        choices=SYMMETRIZATIONS,
    )
    tokenize: str | None = setting(
        None,
        "Apply one of sacreBLEU's tokenisers to {sides}.  [default: none, or the model's]",
        choices=TOKENIZERS,
        group="Metrics",
    )
    src_tokenize: str | None = setting(
        None, "Apply another tokeniser to the source.", choices=TOKENIZERS, group="Metrics"
    )
    lowercase: bool = setting(False, "Lowercase {sides}.", group="Metrics")

    @property
    def has_model(self) -> bool:
        """Whether there is a model, or text to train one on."""
        return self.model is not None or None not in {self.train_src, self.train_tgt}

    @property
    def has_links(self) -> bool:
        """Whether there are files of links."""
        return bool(self.src_ref_align or self.src_hyp_align)

    @property
    def is_given(self) -> bool:
        """Whether there are links from anywhere."""
        return self.has_model or self.has_links

    @property
    def of_model(self) -> dict[str, Any]:
        """Options of :meth:`coverage_eval.Aligner.load`."""
        return {
            "symmetrize": self.symmetrize,
            "tokenize": self.tokenize,
            "src_tokenize": self.src_tokenize,
            "lowercase": self.lowercase or None,
            "sink": self.sink,
        }

    def make(self, add_data: Callable[..., None] | None = None) -> Aligner | None:
        """Make the aligner; None if there are no links.

        Args:
            add_data: Adds to a newly trained model the data that a command needs, before the model
                is saved. It gets the model, a function that reads the training text again, and the
                options of training.

        Raises:
            DataError: A file cannot be read, or ``save_model`` cannot be written, which is found
                before the training.
            AlignerError: A damaged model, or the aligner failed.
        """
        if self.has_links:
            return Aligner.from_links(self.src_ref_align, self.src_hyp_align, sink=self.sink)
        words: dict[str, Any] = {
            "tokenize": self.tokenize or "none",
            "src_tokenize": self.src_tokenize,
            "lowercase": self.lowercase,
        }
        if self.model is not None:
            return Aligner.load(
                self.model, **self.of_model, fast_align=self.fast_align, threads=self.threads
            )
        if self.train_src is None or self.train_tgt is None:
            return None
        if self.save_model is not None:
            check_target(self.save_model)
        if add_data is not None:
            check_readable_again(self.train_src, self.train_tgt)
        read = partial(read_parallel, self.train_src, self.train_tgt)
        options: dict[str, Any] = {
            "sink": self.sink,
            "fast_align": self.fast_align,
            "threads": self.threads,
            "progress": True,
        }
        aligner: ModelAligner = Aligner.train_pairs(
            read(), symmetrize=self.symmetrize, **words, **options
        )
        if add_data is not None:
            add_data(aligner, read, **options)
        if self.save_model is not None:
            aligner.save(self.save_model)
        return aligner
