"""Attention that a toolkit gives as Python objects: bare arrays, and CTranslate2's results.

Nothing of the toolkits is imported: an object counts by the attributes it has, and a tensor by
``detach``, so that any release of them will do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from coverage_eval.attention_maps.dumps import ORIENTATIONS, Layout, Orientation, RawMap
from coverage_eval.attention_maps.heads import Head, named_choice, one_head
from coverage_eval.attention_maps.maps import AttentionMap, checked_array
from coverage_eval.attention_maps.orientation import Texts, settle
from coverage_eval.attention_maps.row_sums import warn_of_row_sums
from coverage_eval.errors import DataError
from fast_align_wrapper.text import Segment, tokenize


def from_arrays(
    arrays: Iterable[Any],
    sources: Iterable[Segment],
    hypotheses: Iterable[Segment],
    *,
    orientation: Orientation | None = None,
    layer: int | None = None,
    head: Head | None = None,
) -> list[AttentionMap]:
    """Maps from arrays or tensors, one a segment.

    Joey NMT has them target × source, fairseq's ``hypo["attention"]`` is source × target.

    Args:
        arrays: ``[T, S]`` or ``[S, T]``, with or without EOS entries, and before these dimensions
            heads, or layers and heads.
        sources: The segments as the toolkit saw them, subwords included.
        hypotheses: Likewise.
        orientation: By default settled by the shapes of all segments.
        layer: Which layer, an index from 0, or −1 for the last; may be left out if there is one.
        head: Which head, likewise, or "mean".

    Raises:
        DataError: A single map, or something that is no array; numbers of segments differ, or the
            shapes fit no reading, or two; there are several layers or heads and none is chosen, or
            not the one that is.

    Warns:
        CorpusWarning: Rows do not sum to 1.
    """
    if getattr(arrays, "ndim", 3) == 2:
        raise DataError("one array of two dimensions is one segment; give a list: [array]")
    raws = []
    for number, array in enumerate(arrays, start=1):
        where = f"array {number}"
        matrix = one_head(checked_array(array, where), where, layer, head)
        raws.append(RawMap(where, matrix=matrix))
    texts = Texts([tokenize(text) for text in sources], [tokenize(text) for text in hypotheses])
    layout = Layout(orientations=ORIENTATIONS)
    maps = list(settle("arrays", raws, layout, texts, orientation=orientation))
    warn_of_row_sums("arrays", maps, "they were cut, or the orientation is another")
    return [replace(item, chosen=named_choice(layer, head)) for item in maps]


def from_ctranslate2(
    results: Iterable[Any], sources: Iterable[Segment], *, rank: int = 0
) -> list[AttentionMap]:
    """Maps from what ``translate_batch(…, return_attention=True)`` of CTranslate2 returns.

    The attention is target × source; EOS is in it only with ``return_end_token``, and special
    source tokens are left out and filled up with zeros, so rows need not sum to 1.

    With several segments in a batch and a beam above 1, CTranslate2 (4.x at least) can return rows
    of another segment's attention. That shows in row sums only if that source was longer: translate
    with ``max_batch_size=1``, or ``beam_size=1``.

    Args:
        results: Translation results, with ``hypotheses`` and ``attention``.
        sources: The source tokens that were translated.
        rank: Which of the hypotheses.

    Raises:
        DataError: No attention, no such hypothesis, or shapes that do not fit.

    Warns:
        CorpusWarning: Rows of several segments do not sum to 1.
    """
    raws = []
    tokens = [tuple(tokenize(source)) for source in sources]
    for number, result in enumerate(results, start=1):
        where = f"CTranslate2 result {number}"
        hypotheses, attention = list(result.hypotheses), list(result.attention or ())
        if not attention:
            raise DataError(f"{where} has no attention; translate with return_attention=True")
        if not 0 <= rank < min(len(hypotheses), len(attention)):
            raise DataError(f"{where} has no hypothesis of rank {rank}")
        columns = len(tokens[number - 1]) if number <= len(tokens) else 0
        matrix = np.array(attention[rank], dtype=np.float64)
        matrix = matrix if matrix.size else np.zeros((len(hypotheses[rank]), columns))
        raws.append(RawMap(where, matrix=matrix, hypothesis=tuple(hypotheses[rank])))
    maps = list(settle("CTranslate2 results", raws, Layout(), Texts(sources=tokens)))
    if len(maps) > 1:
        warn_of_row_sums(
            "CTranslate2 results",
            maps,
            "it leaves out special tokens, but with a beam above 1 it can also mix up the segments "
            "of a batch: translate with max_batch_size=1 or beam_size=1",
        )
    return maps
