"""Attention as a toolkit's Python objects: arrays, results of CTranslate2 and Hugging Face.

The toolkits are not imported: their objects are recognised by their attributes, and tensors by
``detach``, so any release works.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention_maps.dumps import ORIENTATIONS, Layout, Orientation, RawMap
from coverage_eval.attention_maps.load import to_canonical, warn_of_row_sums
from coverage_eval.attention_maps.maps import (
    AttentionMap,
    Head,
    checked_array,
    named_choice,
    one_head,
)
from coverage_eval.core.errors import DataError
from coverage_eval.core.tokenizers import EOS_TOKENS
from fast_align_wrapper.text import Segment, tokenize


def from_arrays(
    arrays: Iterable[Any],
    sources: Iterable[Segment],
    hypotheses: Iterable[Segment],
    *,
    orientation: Orientation = "target-source",
    layer: int | None = None,
    head: Head | None = None,
) -> list[AttentionMap]:
    """Maps from arrays or tensors, one per segment.

    Joey NMT's arrays are target × source; fairseq's ``hypo["attention"]`` is source × target, so
    needs ``orientation="source-target"``.

    Args:
        arrays: ``[T, S]`` or ``[S, T]``, with or without entries for EOS; a dimension for heads, or
            two for layers and heads, may come first.
        sources: The segments as the toolkit saw them, subwords included.
        hypotheses: Likewise.
        orientation: What rows and columns are.
        layer: Which layer, an index from 0, or −1 for the last; optional if there is only one.
        head: Which head, likewise, or "mean".

    Raises:
        DataError: A single map, or something that is not an array; the numbers of segments differ;
            a shape does not fit its texts; there are several layers or heads and none
            is chosen, or the chosen one does not exist.

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
    layout = Layout(orientations=ORIENTATIONS)
    maps = list(
        to_canonical(
            "arrays",
            raws,
            layout,
            sources=[tokenize(text) for text in sources],
            hypotheses=[tokenize(text) for text in hypotheses],
            orientation=orientation,
        )
    )
    warn_of_row_sums("arrays", maps, "they were truncated, or the orientation is wrong")
    return [replace(item, chosen=named_choice(layer, head)) for item in maps]


def from_ctranslate2(
    results: Iterable[Any], sources: Iterable[Segment], *, rank: int = 0
) -> list[AttentionMap]:
    """Maps from what ``translate_batch(…, return_attention=True)`` of CTranslate2 returns.

    The attention is target × source. It has a row for EOS only with ``return_end_token``. Special
    source tokens get zeros, so rows need not sum to 1.

    With several segments in a batch and a beam above 1, CTranslate2 (at least 4.x) can return rows
    of another segment's attention. Row sums reveal that only if the other source was longer, so
    translate with ``max_batch_size=1`` or ``beam_size=1``.

    Args:
        results: Translation results with ``hypotheses`` and ``attention``.
        sources: The source tokens that were translated.
        rank: Which hypothesis, from 0 for the best.

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
    maps = list(to_canonical("CTranslate2 results", raws, Layout(), sources=tokens))
    if len(maps) > 1:
        warn_of_row_sums(
            "CTranslate2 results",
            maps,
            "it leaves out special tokens, but with a beam above 1 it can also mix up the segments "
            "of a batch: translate with max_batch_size=1 or beam_size=1",
        )
    return maps


def from_huggingface(
    outputs: Any,
    sources: Iterable[Segment],
    hypotheses: Iterable[Segment] | None = None,
    *,
    layer: int = -1,
    head: Head | None = None,
    attention_mask: Any = None,
    eos_token_id: int | None = None,
    pad_token_id: int | None = None,
) -> list[AttentionMap]:
    """Maps from what ``generate(…, return_dict_in_generate=True, output_attentions=True)`` returns.

    Load the model with ``attn_implementation="eager"``. With beam search, generate with
    ``output_scores=True``: it adds ``beam_indices``, which say which rows of the attention belong
    to a hypothesis.

    Args:
        outputs: Has ``sequences``, one per segment, ``cross_attentions[step][layer]`` of
            ``[rows, heads, q, S]`` and, with beam search, ``beam_indices``.
        sources: All source tokens, EOS and language tags included (``convert_ids_to_tokens`` of
            the input's ids), without padding.
        hypotheses: The generated tokens, EOS included if it was generated; by default their ids.
        layer: Which decoder layer, an index from 0, or −1 for the last.
        head: Which head, likewise; by default the mean of all.
        attention_mask: The encoder's mask ``[segments, S]``, needed if any source is padded.
        eos_token_id: Ends a sequence; whatever follows it is padding.
        pad_token_id: Never generated, so it ends a sequence too.

    Raises:
        DataError: The outputs have no attention, come from a decoder-only model or a forward pass,
            or do not fit the texts; the message says what to do.
    """
    steps = _cross_attentions(outputs, layer, head)
    tokens = [tuple(tokenize(source)) for source in sources]
    generated, rows = _generated(outputs, steps, eos_token_id, pad_token_id)
    texts = [tuple(map(str, ids)) for ids in generated]
    if hypotheses is not None:
        texts = [tuple(tokenize(text)) for text in hypotheses]
    for name, count in (("sources", len(tokens)), ("hypotheses", len(texts))):
        if count != len(generated):
            raise DataError(
                f"Hugging Face outputs have {len(generated)} sequences, not {count} ({name})"
            )
    mask = _checked_mask(attention_mask, (len(tokens), steps[0].shape[1]))
    maps = []
    chosen = named_choice(layer, "mean" if head is None else head)
    for index, (ids, source, hypothesis) in enumerate(zip(generated, tokens, texts, strict=True)):
        where = f"Hugging Face sequence {index + 1}"
        columns = np.flatnonzero(mask[index])
        if len(columns) != len(source):
            raise DataError(
                f"{where}: the source has {len(source)} tokens, its attention {mask.shape[1]} "
                "columns"
                + (
                    "; give all tokens, EOS and language tags included, and for padded sources "
                    "attention_mask="
                    if attention_mask is None
                    else f", and the mask keeps {len(columns)} of them"
                )
            )
        weights = np.array([steps[t][rows[index][t], columns] for t in range(len(ids))])
        if len(hypothesis) != len(ids):
            raise DataError(
                f"{where} has {len(ids)} generated tokens, but the text has {len(hypothesis)}"
            )
        ended = bool(ids) and (ids[-1] == eos_token_id or hypothesis[-1] in EOS_TOKENS)
        maps.append(
            AttentionMap(
                weights.reshape(len(ids), len(source)),
                source=source,
                hypothesis=hypothesis,
                tgt_eos=ended,
                src_eos=bool(source and source[-1] in EOS_TOKENS),
                chosen=chosen,
            )
        )
    return maps


def _checked_mask(attention_mask: Any, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """The mask as ``[segments, S]``; True everywhere for None."""
    if attention_mask is None:
        return np.ones(shape, dtype=np.bool_)
    mask = checked_array(attention_mask, "the attention mask").astype(np.bool_)
    if mask.shape != shape:
        raise DataError(
            f"the attention mask has shape {mask.shape}, not {shape[0]} segments × {shape[1]} "
            "source tokens of the attention"
        )
    return mask


def _checked_attentions(outputs: Any) -> Any:
    """The cross-attention of each decoding step.

    Raises:
        DataError: The outputs are of another kind; the message says what to do.
    """
    attentions = getattr(outputs, "cross_attentions", None)
    if (
        not attentions
        and getattr(outputs, "attentions", None)
        and not any(hasattr(outputs, name) for name in ("encoder_attentions", "decoder_attentions"))
    ):
        raise DataError(
            "these Hugging Face outputs come from a decoder-only model, which has no attention "
            "from target to source; cut it out of attentions yourself and give it to from_arrays"
        )
    if attentions and (not hasattr(outputs, "sequences") or hasattr(attentions[0], "shape")):
        raise DataError(
            "these Hugging Face outputs come from a forward pass, not from generate; give "
            'from_arrays(outputs.cross_attentions[-1], sources, hypotheses, head="mean", '
            'orientation="target-source"), each segment without its padding'
        )
    if not attentions:
        raise DataError(
            "Hugging Face outputs have no cross_attentions; call generate with "
            "return_dict_in_generate=True, output_attentions=True"
        )
    return attentions


def _cross_attentions(outputs: Any, layer: int, head: Head | None) -> list[NDArray[Any]]:
    """One array ``[rows, S]`` per decoding step: the query that predicts the step's token."""
    attentions = _checked_attentions(outputs)
    if not isinstance(layer, int):
        raise DataError(f"layer={layer!r}: choose one decoder layer, as layer=-1 for the last")
    steps = []
    for step in attentions:
        if not step or not -len(step) <= layer < len(step):
            raise DataError(f"Hugging Face outputs have no decoder layer {layer}")
        if step[layer] is None:
            raise DataError(
                "Hugging Face cross_attentions are None; load the model with "
                'attn_implementation="eager", or choose a model that supports it'
            )
        weights = checked_array(step[layer], "Hugging Face cross_attentions")
        count = weights.shape[1] if weights.ndim == 4 else 0
        if count == 0 or not weights.shape[2] or head not in {None, "mean", *range(-count, count)}:
            raise DataError(
                f"Hugging Face cross_attentions of shape {weights.shape} have no head {head}"
            )
        last = weights[:, :, -1, :]  # the prompt's queries come before
        steps.append(last[:, head] if isinstance(head, int) else last.mean(axis=1))
    if len({step.shape[1] for step in steps}) > 1:
        raise DataError("Hugging Face cross_attentions differ in columns between steps")
    return steps


def _generated(
    outputs: Any, steps: Sequence[NDArray[Any]], eos: int | None, pad: int | None
) -> tuple[list[list[int]], list[list[int]]]:
    """Each sequence's generated ids, and its row of the attention at each step."""
    sequences = _table(outputs.sequences, "sequences")
    if getattr(outputs, "beam_indices", None) is None:
        length = min(len(steps), sequences.shape[1])
        ids = [
            _until_end(list(map(int, row[-length:] if length else [])), eos, pad)
            for row in sequences
        ]
        if len(steps[0]) != len(sequences):
            raise DataError(
                f"Hugging Face attention has {len(steps[0])} rows for {len(sequences)} sequences, "
                "and no beam_indices that assign them; call generate with output_scores=True"
            )
        return ids, [[index] * len(row) for index, row in enumerate(ids)]
    beams = _table(outputs.beam_indices, "beam_indices")
    lengths = (beams >= 0).sum(axis=1)
    start = sequences.shape[1] - int(lengths.max(initial=0))
    least = min(map(len, steps))  # rows of attention
    if len(beams) != len(sequences) or lengths.max(initial=0) > len(steps) or start < 0:
        raise DataError(
            f"Hugging Face beam_indices of shape {beams.shape} do not fit sequences of shape "
            f"{sequences.shape} and {len(steps)} steps of attention"
        )
    if beams.max(initial=0) >= least:
        raise DataError(f"Hugging Face beam_indices name a row that is not among the {least}")
    ids = [
        list(map(int, row[start : start + n])) for row, n in zip(sequences, lengths, strict=True)
    ]
    return ids, [[int(b) for b in row[:n]] for row, n in zip(beams, lengths, strict=True)]


def _table(value: Any, name: str) -> NDArray[Any]:
    """Token ids or row numbers, as ``[sequences, tokens]``."""
    table = checked_array(value, f"Hugging Face {name}")
    if table.ndim != 2 or table.dtype.kind not in "iuf":
        raise DataError(
            f"Hugging Face {name} of shape {table.shape} are not a table of whole numbers"
        )
    return table


def _until_end(ids: list[int], eos: int | None, pad: int | None) -> list[int]:
    """The ids up to EOS (kept) or padding (dropped)."""
    for position, token in enumerate(ids):
        if token == eos:
            return ids[: position + 1]
        if token == pad:
            return ids[:position]
    return ids
