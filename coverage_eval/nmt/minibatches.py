"""Sentences of like length as padded tensors, made once for all epochs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from coverage_eval.nmt.bitext import PieceText
from coverage_eval.nmt.bounds import Bounds
from coverage_eval.nmt.vocabulary import BLANK, END, START, Vocabulary


@dataclass(frozen=True)
class Minibatch:
    """Some sentences.

    Attributes:
        rows: Their places in the text.
        sources: ``[B, S]`` numbers of pieces, ``<blank>`` at padding.
        lengths: ``[B]`` pieces of each source, on the processor.
        inside: ``[B, S]`` False at padding; None where no source is padded.
        before: ``[B, T]`` the target with the start symbol before it: what is read.
        after: ``[B, T]`` the target with the end symbol behind it: what is predicted.
        fertilities: ``[B, S]`` upper bounds, +inf for sinks, 0 at padding; None where there are
            none.
        places: ``[words]`` where in ``after``, flattened, there is something to predict.
        words: Pieces to predict, end symbols included.
    """

    rows: tuple[int, ...]
    sources: Tensor
    lengths: Tensor
    inside: Tensor | None
    before: Tensor
    after: Tensor
    fertilities: Tensor | None
    places: Tensor
    words: int

    def to(self, device: torch.device) -> Minibatch:
        """The same on a device; lengths stay where packing wants them."""
        return replace(
            self,
            sources=self.sources.to(device),
            inside=None if self.inside is None else self.inside.to(device),
            before=self.before.to(device),
            after=self.after.to(device),
            fertilities=None if self.fertilities is None else self.fertilities.to(device),
            places=self.places.to(device),
        )


def make_minibatches(
    text: PieceText,
    source: Vocabulary,
    target: Vocabulary,
    bounds: Bounds | None = None,
    *,
    size: int,
) -> list[Minibatch]:
    """Put sentences together by source length, then by target length.

    Args:
        text: The sentences.
        source: Vocabulary of the sources.
        target: Vocabulary of the targets.
        bounds: Fertilities of each source, its sink included.
        size: Sentences a batch, at most.
    """
    lengths = [(len(s), len(t)) for s, t in zip(text.sources, text.targets, strict=True)]
    order = sorted(range(len(lengths)), key=lambda i: (*lengths[i], i))
    sources = [source.numbers(pieces) for pieces in text.sources]
    targets = [target.numbers(pieces) for pieces in text.targets]
    batches = []
    for start in range(0, len(order), size):
        rows = tuple(order[start : start + size])
        counts = torch.tensor([len(sources[i]) for i in rows])
        positions = torch.arange(int(counts.max()))
        inside = positions < counts[:, None]
        after = padded([[*targets[i], END] for i in rows])
        places = (after != BLANK).flatten().nonzero()[:, 0]
        batches.append(
            Minibatch(
                rows,
                padded([sources[i] for i in rows]),
                counts,
                None if bool(inside.all()) else inside,
                padded([[START, *targets[i]] for i in rows]),
                after,
                None if bounds is None else _padded_bounds([bounds[i] for i in rows]),
                places,
                len(places),
            )
        )
    return batches


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Rows of numbers as one tensor, with ``<blank>`` behind the shorter ones."""
    tensors = [torch.tensor(row, dtype=torch.long) for row in rows]
    return pad_sequence(tensors, batch_first=True, padding_value=BLANK)


def _padded_bounds(rows: Bounds) -> Tensor:
    return pad_sequence([torch.from_numpy(row).float() for row in rows], batch_first=True)
