"""The text files of an experiment."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from coverage_eval.text.corpus import check_source
from fast_align_wrapper.files import file_sha256


@dataclass(frozen=True)
class Corpora:
    """The text files of an experiment: tokenised, one segment a line, both sides in step.

    Attributes:
        train_src: Source side of the training text.
        train_tgt: Target side.
        valid_src: Source side of the validation text, on which rates and penalties are decided.
        valid_tgt: Target side.
        test_src: Source side of the test set.
        test_ref: Its reference.
    """

    train_src: str
    train_tgt: str
    valid_src: str
    valid_tgt: str
    test_src: str
    test_ref: str

    def hashes(self) -> dict[str, str]:
        """SHA-256 of each file, by the name of its option."""
        check_source(*asdict(self).values())
        return {name: file_sha256(Path(path)) for name, path in asdict(self).items()}
