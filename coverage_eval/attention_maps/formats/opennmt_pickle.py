"""The pickle that ``-dump_attn`` writes in the authors' fork of OpenNMT-py.

``attn_matrices_<attn_transform>.out`` is ``{'pred': [array], 'gold': [array]}``, pickled by
Python 2. Each array is target × source with a row for EOS; the source has no EOS, but has a
``<SINK>`` column if the data had one. ``pred`` keeps the first sentence of each batch only, so a
dump is complete only with ``-batch_size 1``; ``gold`` is filled only with ``-tgt``.
Source: Unbabel/OpenNMT-py, branch dev, onmt/translate/Translator.py.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from coverage_eval.attention_maps.formats.raw import Dump, Format, Layout, RawMap, ReadOptions
from coverage_eval.attention_maps.formats.unpickling import unpickle_arrays
from coverage_eval.errors import DataError

__all__ = ["FORMAT"]


def _recognise(dump: Dump) -> bool:
    head = dump.head
    # Protocol 0, Python 2's default, is text that begins with a dictionary.
    return head[:1] == b"\x80" or head.startswith((b"(dp", b"(d."))


def _read(dump: Dump, options: ReadOptions) -> list[RawMap]:
    if not _recognise(dump):
        raise DataError(f"{dump.name}: not a pickle")
    value = unpickle_arrays(Path(dump.path).read_bytes(), dump.name)
    if not isinstance(value, dict) or not {"pred", "gold"} & value.keys():
        raise DataError(f"{dump.name}: a pickle, but without 'pred' and 'gold' of -dump_attn")
    arrays = value.get(options.side)
    if not isinstance(arrays, list):
        raise DataError(f"{dump.name}: a pickle, but without a list {options.side!r}")
    if not arrays and options.side == "gold":
        raise DataError(f"{dump.name}: 'gold' is empty: OpenNMT-py fills it only with -tgt")
    raws = []
    for number, array in enumerate(arrays, start=1):
        where = f"{dump.name}: {options.side} array {number}"
        if not isinstance(array, np.ndarray) or array.ndim != 2:
            raise DataError(f"{where}: not a two-dimensional array")
        raws.append(RawMap(where, matrix=array.astype(np.float64)))
    return raws


FORMAT = Format(
    name="opennmt-pickle",
    title="OpenNMT-py -dump_attn (pickle)",
    layout=Layout(
        tgt_eos=True,
        src_eos=False,
        src_end="<SINK>",
        count_hint="-dump_attn keeps one sentence a batch: translate with -batch_size 1",
    ),
    recognise=_recognise,
    read=_read,
    binary=True,
)
