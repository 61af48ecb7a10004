"""Readers of labels, one file a format; a new one is a file and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from coverage_eval.data.files import Source, source_name
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError
from coverage_eval.meta.judgements import Labels
from coverage_eval.meta.labels import halomi, injected, plain, wmt_mqm

__all__ = ["LABEL_FORMATS", "LabelFormat", "read_labels"]


class LabelFormat(NamedTuple):
    """A format of labels.

    Attributes:
        recognise: Whether a file, by its first line, is one.
        read: From a file, the kind of error and what cuts sources into words to the labels.
    """

    recognise: Callable[[Source], bool]
    read: Callable[[Source, str, Tokenizer], Labels]


LABEL_FORMATS: Mapping[str, LabelFormat] = {
    "wmt-mqm": LabelFormat(wmt_mqm.recognise, wmt_mqm.read),
    "halomi": LabelFormat(halomi.recognise, halomi.read),
    "injected": LabelFormat(injected.recognise, injected.read),
    "plain": LabelFormat(plain.recognise, plain.read),
}


def read_labels(
    source: Source,
    kind: str = "omission",
    tokens: Tokenizer | None = None,
    label_format: str | None = None,
) -> Labels:
    """Read labels of one kind of error.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked).
        kind: The kind of error, as the format names it.
        tokens: What cuts sources into words; by default at spaces.
        label_format: A name of :data:`LABEL_FORMATS`; None to look at the first line.

    Raises:
        DataError: The format is not recognised, or what its reader refuses.
    """
    if label_format is None:
        found = (name for name, item in LABEL_FORMATS.items() if item.recognise(source))
        label_format = next(found, None)
    if label_format is None:
        raise DataError(
            f"{source_name(source)}: line 1: not known as labels; a TSV file with the columns "
            "segment and label is, as are WMT's MQM files, HalOmi and gold files of 'inject'"
        )
    return LABEL_FORMATS[label_format].read(source, kind, tokens or Tokenizer())
