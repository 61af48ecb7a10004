"""Attention maps of files, of arrays, and of outputs of CTranslate2 and Hugging Face.

A file's format is recognised by its content or named. No toolkit is imported: outputs are
recognised by their attributes, and tensors by ``detach``, so any release works.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention_maps.arrays import BARE_FORMATS, OUR_FORMATS
from coverage_eval.attention_maps.dumps import (
    ORIENTATIONS,
    TEXTS,
    Dump,
    DumpFormat,
    Orientation,
    RawMap,
    quoted,
    to_canonical,
)
from coverage_eval.attention_maps.maps import (
    AttentionMap,
    Head,
    UnclearMapsError,
    Weights,
    checked_array,
    choose_head,
    named_choice,
    warn_of_row_sums,
)
from coverage_eval.attention_maps.toolkits import TOOLKIT_FORMATS
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import STDIN, zip_lines
from coverage_eval.core.lists import DiskList
from coverage_eval.core.tokenizers import EOS_TOKENS, Segment, tokenize

_BARE = f"--orientation {ORIENTATIONS[0]} {TEXTS}"
"""Options for what bare arrays leave open."""

# The most recognisable formats come first.
_ALL = (*OUR_FORMATS, *TOOLKIT_FORMATS, *BARE_FORMATS)
FORMATS: dict[str, DumpFormat] = {item.name: item for item in _ALL}
"""Every format by the name that ``--input-format`` takes, in the order in which they are tried."""


def load(
    path: str | Path,
    *,
    sources: Iterable[Segment] | None = None,
    hypotheses: Iterable[Segment] | None = None,
    input_format: str | None = None,
    orientation: Orientation | None = None,
    layer: int | None = None,
    head: Head | None = None,
) -> Sequence[AttentionMap]:
    """Read the attention maps of a file, which need not fit in memory.

    Args:
        path: The file; text formats may be ``.gz`` or, if the format is named, ``-``.
        sources: Source segments as the toolkit saw them, subwords included; text or tokens.
            Optional if the file has tokens.
        hypotheses: Hypothesis segments as the toolkit saw them.
        input_format: One of :data:`~coverage_eval.attention_maps.FORMATS`; by default recognised.
        orientation: ``target-source`` or ``source-target``; needed for bare arrays.
        layer: Which layer of arrays ``[layers, heads, T, S]``, an index from 0, or −1 for the
            last; optional if there is only one.
        head: Which head of such arrays or of ``[heads, T, S]``: an index like ``layer``, or "mean".

    Returns:
        One map per segment, target × source, in a temporary file if they are many.

    Raises:
        DataError: Not recognised, damaged, or ambiguous; the message says what was seen. Also if a
            layer or head is chosen for a format with one matrix per segment.

    Warns:
        CorpusWarning: Rows do not sum to 1.
    """
    dump = Dump(path, layer, head)
    if input_format is not None and input_format not in FORMATS:
        raise DataError(f"attention format {input_format!r} is not one of {', '.join(FORMATS)}")
    chosen = FORMATS[input_format] if input_format else recognise(dump)
    if not chosen.several_heads and (layer, head) != (None, None):
        raise DataError(
            f"{dump.name}: {chosen.title} has one matrix per segment; leave --layer and --head out"
        )
    is_unclear = chosen.bare and orientation is None
    try:
        raws = DiskList(chosen.read(dump))
    except UnclearMapsError as error:
        if is_unclear:  # asked for next
            raise UnclearMapsError(str(error), f"{error.options} {_BARE}") from None
        raise
    if not raws:
        raise DataError(f"{dump.name}: no attention found (read as {chosen.title})")
    if is_unclear:
        raise UnclearMapsError(
            f"{dump.name}: bare arrays do not say what their rows are: give the orientation, "
            f"{' or '.join(ORIENTATIONS)} (--orientation)",
            _BARE,
        )
    known = (sources, hypotheses, orientation or ORIENTATIONS[0], named_choice(layer, head))
    maps = DiskList(to_canonical(dump.name, raws, *known, count_hint=chosen.count_hint))
    warn_of_row_sums(dump.name, maps)
    return maps


def recognise(dump: Dump) -> DumpFormat:
    """The format of a file, recognised by its content.

    Raises:
        DataError: None is recognised, or the file cannot be read.
    """
    if str(dump.path) == STDIN:
        raise UnclearMapsError(
            f"standard input: name its format, one of {', '.join(FORMATS)}", "--input-format NAME"
        )
    for item in FORMATS.values():
        with suppress(DataError):
            if item.recognise(dump):
                return item
    first = next(iter(dump.probe), None)  # an unreadable file ends here, with its reason
    if first is None:
        raise DataError(f"{dump.name}: no segments: the file is empty")
    raise UnclearMapsError(
        f"{dump.name}: attention format not recognised (it begins {quoted(first)}); "
        f"name it, one of {', '.join(FORMATS)}",
        "--input-format NAME",
    )


def from_arrays(
    arrays: Iterable[Any],
    sources: Iterable[Segment],
    hypotheses: Iterable[Segment],
    *,
    orientation: Orientation = "target-source",
    layer: int | None = None,
    head: Head | None = None,
    source_mask: Iterable[Any] | None = None,
    hypothesis_mask: Iterable[Any] | None = None,
) -> list[AttentionMap]:
    """Maps from arrays or tensors, one per segment.

    Joey NMT's arrays are target × source; fairseq's ``hypo["attention"]`` is source × target, so
    needs ``orientation="source-target"``.

    Args:
        arrays: ``[T, S]`` or ``[S, T]``, with or without entries for EOS; a dimension for heads, or
            two for layers and heads, may come first.
        sources: The segments as the toolkit saw them, subwords included.
        hypotheses: The hypotheses as the toolkit saw them.
        orientation: What rows and columns are.
        layer: Which layer, an index from 0, or −1 for the last; optional if there is only one.
        head: Which head, an index from 0, or −1 for the last, or "mean".
        source_mask: For each segment 1 at its source tokens and 0 at padding, as ``attention_mask``
            of Hugging Face. Without it, only tokens such as ``<pad>``, zeros and NaN are padding.
        hypothesis_mask: The same of the hypotheses.

    Raises:
        DataError: A single map, or something that is not an array; the numbers of segments differ;
            a shape does not fit its texts or mask; there are several layers or heads and none is
            chosen, or the chosen one does not exist.

    Warns:
        CorpusWarning: Rows do not sum to 1.
    """
    matrices = []
    for number, array in enumerate(arrays, start=1):
        where = f"array {number}"
        matrices.append(choose_head(checked_array(array, where), where, layer, head))
    if orientation == "source-target":
        matrices = [matrix.T for matrix in matrices]
    texts = [[*map(tokenize, text)] for text in (hypotheses, sources)]
    for axis, masks in enumerate((hypothesis_mask, source_mask)):
        if masks is not None:
            matrices, texts[axis] = _masked(matrices, texts[axis], masks, axis)
    maps = _as_maps(matrices, texts[1], texts[0], named_choice(layer, head))
    warn_of_row_sums("arrays", maps)
    return maps


def _as_maps(
    matrices: Iterable[Weights],
    sources: Iterable[Segment],
    hypotheses: Iterable[Segment],
    choice: tuple[tuple[str, str], ...] = (),
) -> list[AttentionMap]:
    """Maps of matrices target × source."""
    raws = [RawMap(f"array {number}", matrix) for number, matrix in enumerate(matrices, start=1)]
    return list(to_canonical("arrays", raws, sources, hypotheses, choice=choice))


def _masked(
    matrices: Sequence[Weights], texts: Sequence[Sequence[str]], given: Iterable[Any], axis: int
) -> tuple[list[Weights], list[Sequence[str]]]:
    """Matrices, and texts that are as long, without what masks leave out.

    Raises:
        DataError: A mask does not fit its matrix.
        ValueError: There are more or fewer masks.
    """
    name = ("hypothesis_mask", "source_mask")[axis]
    masks = [checked_array(mask, name).astype(np.bool_) for mask in given]
    for number, (matrix, mask) in enumerate(zip(matrices, masks, strict=True), start=1):
        if mask.shape != (matrix.shape[axis],):
            raise DataError(
                f"array {number} has {matrix.shape[axis]} {('rows', 'columns')[axis]}, but "
                f"{name} {number} has the shape {mask.shape}"
            )
    kept = [
        [*compress(tokens, mask)] if len(tokens) == len(mask) else tokens
        for tokens, mask in zip(texts, masks, strict=False)  # unequal numbers are found later
    ]
    pairs = zip(masks, matrices, strict=True)
    return [np.compress(mask, matrix, axis) for mask, matrix in pairs], [*kept, *texts[len(kept) :]]


def from_ctranslate2(results: Iterable[Any], sources: Iterable[Segment]) -> list[AttentionMap]:
    """Maps of the best hypotheses of ``translate_batch(…, return_attention=True)`` of CTranslate2.

    With a beam above 1, translate with ``max_batch_size=1``: CTranslate2 can return rows of another
    segment of the batch.

    Args:
        results: Translation results with ``hypotheses`` and ``attention``.
        sources: The source tokens that were translated.

    Raises:
        DataError: No attention, or shapes that do not fit.
    """
    arrays, hypotheses, tokens = [], [], [tokenize(source) for source in sources]
    pairs = zip_lines(("the results", "the source"), (results, tokens))
    for number, (result, source) in enumerate(pairs, start=1):
        if not result.attention:
            raise DataError(f"result {number} lacks attention: add return_attention=True")
        hypotheses.append(result.hypotheses[0])
        weights = checked_array(result.attention[0], f"result {number}", np.float64)
        arrays.append(weights if weights.size else np.zeros((0, len(source))))
    # Its rows do not sum to 1 where the source has special tokens.
    return _as_maps(arrays, tokens, hypotheses)


def from_huggingface(
    outputs: Any,
    sources: Iterable[Segment],
    hypotheses: Iterable[Segment] | None = None,
    *,
    layer: int = -1,
    head: Head = "mean",
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
        head: Which head, an index from 0, or −1 for the last; by default the mean of all.
        attention_mask: The encoder's mask ``[segments, S]``, needed if any source is padded.
        eos_token_id: Ends a sequence; whatever follows it is padding.
        pad_token_id: Never generated, so it ends a sequence too.

    Raises:
        DataError: The outputs have no attention, come from a decoder-only model or a forward pass,
            or do not fit the texts; the message says what to do.
        IndexError: The mask does not fit the attention.
    """
    steps = _cross_attentions(outputs, layer, head)
    generated = _generated(outputs, steps, eos_token_id, pad_token_id)
    tokens = [tokenize(source) for source in sources]
    texts: Sequence[Sequence[str]] = [[str(token) for token in ids] for ids, _ in generated]
    if hypotheses is not None:
        texts = [tokenize(text) for text in hypotheses]
    mask = np.ones((len(generated), steps.shape[-1]), dtype=np.bool_)
    if attention_mask is not None:
        mask = checked_array(attention_mask, "the attention mask").astype(np.bool_)
    raws = [
        RawMap(
            f"Hugging Face sequence {index + 1}",
            steps[range(len(ids)), rows][:, mask[index]],
            tgt_eos=bool(ids) and (ids[-1] == eos_token_id or _ends(texts, index)),
            src_eos=_ends(tokens, index),
        )
        for index, (ids, rows) in enumerate(generated)
    ]
    hint = "give all tokens, EOS and language tags included, and for padded sources attention_mask="
    choice = named_choice(layer, head)
    name = "Hugging Face outputs"
    return list(to_canonical(name, raws, tokens, texts, choice=choice, count_hint=hint))


def _ends(texts: Sequence[Sequence[str]], index: int) -> bool:
    """Whether a text ends with EOS; False if there is none, which is found later."""
    return index < len(texts) and not EOS_TOKENS.isdisjoint(texts[index][-1:])


def _cross_attentions(outputs: Any, layer: int, head: Head) -> NDArray[np.float64]:
    """The queries that predict each decoding step's token: ``[steps, rows, S]``.

    Raises:
        DataError: The outputs are of another kind, or have no such layer or head.
    """
    attentions = getattr(outputs, "cross_attentions", None)
    if not attentions:
        raise DataError(
            "Hugging Face outputs have no cross_attentions; call generate with "
            "return_dict_in_generate=True, output_attentions=True. A decoder-only model has none: "
            "cut the part from target to source out of its attentions, for from_arrays"
        )
    if not hasattr(outputs, "sequences"):
        raise DataError(
            "these Hugging Face outputs come from a forward pass, not from generate; give "
            'from_arrays(outputs.cross_attentions[-1], sources, hypotheses, head="mean", '
            'orientation="target-source"), each segment without its padding'
        )
    steps = []
    for number, step in enumerate(attentions, start=1):
        if not isinstance(layer, int) or not -len(step) <= layer < len(step):
            raise DataError(
                f"Hugging Face outputs have no decoder layer {layer!r}: choose one of "
                f"{len(step)}, from 0, or layer=-1 for the last"
            )
        if step[layer] is None:
            raise DataError(
                "Hugging Face cross_attentions are None; load the model with "
                'attn_implementation="eager", or choose a model that supports it'
            )
        where = f"Hugging Face cross_attentions of step {number}"
        weights = checked_array(step[layer], where)
        # The prompt's queries come before the last one.
        steps.append(choose_head(np.moveaxis(weights[:, :, -1], 1, 0), where, None, head))
    return np.stack(steps)


def _generated(
    outputs: Any, steps: NDArray[np.float64], eos: int | None, pad: int | None
) -> list[tuple[list[int], list[int]]]:
    """Each sequence's generated ids, and its row of the attention at each step.

    Raises:
        DataError: Nothing says which rows of attention belong to which sequence.
    """
    sequences = checked_array(outputs.sequences, "Hugging Face sequences")
    if getattr(outputs, "beam_indices", None) is None:
        if len(steps[0]) != len(sequences):
            raise DataError(
                f"Hugging Face attention has {len(steps[0])} rows for {len(sequences)} sequences, "
                "and no beam_indices that assign them; call generate with output_scores=True"
            )
        new = sequences[:, -len(steps) :].tolist()
        lengths = [_length(ids, eos, pad) for ids in new]
        beams = [[row] * len(steps) for row in range(len(new))]
    else:
        indices = checked_array(outputs.beam_indices, "Hugging Face beam_indices")
        lengths = (indices >= 0).sum(axis=1).tolist()
        start = sequences.shape[1] - max(lengths, default=0)
        new, beams = sequences[:, start:].tolist(), indices.tolist()
    return [
        (ids[:length], rows[:length]) for ids, rows, length in zip(new, beams, lengths, strict=True)
    ]


def _length(ids: list[int], eos: int | None, pad: int | None) -> int:
    """The number of ids up to EOS, which counts, or padding, which does not."""
    ends = (index + (token == eos) for index, token in enumerate(ids) if token in {eos, pad})
    return next(ends, len(ids))
