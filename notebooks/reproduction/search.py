r"""Beam search with penalties in the beam, and the files with its results.

At every step hypotheses, finished or not, are ranked by :math:`\log P(y|x) / lp(y) + cp(x; y)` with
the penalties of :mod:`coverage_eval.attention.penalties` (Wu et al. 2016, section 7; Malaviya et
al. 2018, footnote 5). Length counts pieces without the end symbol; coverage counts all source
pieces except the sink. Credit is part of the decoder's state, so each hypothesis has its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import torch
from corpus import BLANK, END, START, UNKNOWN_ID, Minibatch, Pieces, PieceText, Vocabulary
from model import Translator, TranslatorState
from numpy.typing import NDArray
from torch import Tensor

from coverage_eval.attention_maps.maps import AttentionMap
from coverage_eval.attention_maps.subwords import join_words
from coverage_eval.core.progress import progress_bar, track
from coverage_eval.torch import Source

_MARGIN = 10

Weights: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True)
class Penalties:
    """The penalties that rank hypotheses, besides their probability.

    Attributes:
        alpha: Weight of the length penalty; 0 for none.
        beta: Weight of the coverage penalty; 0 for none.
        epsilon: Lower coverage is raised to this, because sparse attention can be 0.
    """

    alpha: float = 0.0
    beta: float = 0.0
    epsilon: float = 0.1

    def length(self, pieces: int) -> float:
        """lp, which divides the log-probability."""
        return float(((5.0 + pieces) / 6.0) ** self.alpha)

    def coverage(self, beams: _Beams) -> Tensor:
        """``[n, k]`` cp of each hypothesis."""
        if not self.beta:
            return torch.zeros_like(beams.total)
        logs = beams.state.received.clamp(self.epsilon, 1.0).log()
        return self.beta * torch.where(beams.counted, logs, 0.0).sum(-1).view_as(beams.total)


@dataclass(frozen=True)
class Hypothesis:
    """A finished translation.

    Attributes:
        numbers: Its pieces, without the end symbol.
        attention: ``[T + 1, S]``; the last row is the end symbol's, the last column the sink's.
        log_probability: Log-probability of its pieces and the end symbol.
        score: The penalised score that ranked it.
    """

    numbers: tuple[int, ...]
    attention: Weights
    log_probability: float
    score: float


@dataclass
class _Beams:
    """The unfinished hypotheses: ``k`` for each of ``n`` sentences, sentence by sentence.

    Attributes:
        sentences: ``[n]`` places in the batch.
        state: The decoder's state, ``n · k`` rows.
        source: The encoded source, ``n · k`` rows.
        counted: ``[n · k, S]`` source pieces whose coverage counts.
        words: ``[n · k, t]`` the start symbol and the pieces so far.
        attention: ``[n · k, t - 1, S]``.
        total: ``[n, k]`` log-probability; -inf for an unused place.
    """

    sentences: list[int]
    state: TranslatorState
    source: Source
    counted: Tensor
    words: Tensor
    attention: Tensor
    total: Tensor

    def rows(self, index: Tensor) -> _Beams:
        return replace(
            self,
            state=self.state.rows(index),
            words=self.words[index],
            attention=self.attention[index],
        )

    def keep(self, rows: list[int]) -> _Beams:
        """The beams of some sentences."""
        size = self.total.shape[1]
        chosen = torch.tensor(rows, dtype=torch.long, device=self.total.device)
        index = (chosen[:, None] * size + torch.arange(size, device=chosen.device)).flatten()
        return replace(
            self.rows(index),
            sentences=[self.sentences[row] for row in rows],
            source=self.source.reorder(index),
            counted=self.counted[index],
            total=self.total[chosen],
        )


@torch.no_grad()
def beam_search(
    model: Translator,
    batch: Minibatch,
    *,
    size: int = 10,
    penalties: Penalties | None = None,
) -> list[list[Hypothesis]]:
    """Translate a batch.

    A sentence is done when it has k finished hypotheses and none of them is worse than the best
    unfinished one. A hypothesis must end when it has two pieces per source piece, and ten more.

    Args:
        model: The model, in evaluation mode.
        batch: A batch on the model's device; its targets are ignored.
        size: Hypotheses per sentence, k.
        penalties: Penalties of length and coverage; None for none.

    Returns:
        For each row of the batch up to k hypotheses, the best first.
    """
    penalties = penalties or Penalties()
    finished: list[list[Hypothesis]] = [[] for _ in batch.rows]
    beams = _start(model, batch, size)
    weights = model.step_weights()
    length = 0
    while beams.sentences:
        beams, ended = _advance(model, weights, beams, penalties, length)
        length += 1
        for sentence, hypothesis in ended:
            finished[sentence].append(hypothesis)
        alive = beams.total / penalties.length(length) + penalties.coverage(beams)
        going = []
        for row, best in enumerate(alive.amax(1).tolist()):
            scores = sorted((h.score for h in finished[beams.sentences[row]]), reverse=True)
            is_done = len(scores) >= size and scores[size - 1] >= best
            if best > -np.inf and not is_done:
                going.append(row)
        if len(going) < len(beams.sentences):
            beams = beams.keep(going)
    return [sorted(found, key=lambda h: -h.score)[:size] for found in finished]


def _start(model: Translator, batch: Minibatch, size: int) -> _Beams:
    source, state = model.encode(batch)
    rows, positions = batch.sources.shape
    device = batch.sources.device
    lengths = batch.lengths.to(device)
    counted = torch.arange(positions, device=device) < lengths[:, None] - 1
    index = torch.arange(rows, device=device).repeat_interleave(size)
    total = torch.full((rows, size), -torch.inf, device=device)
    total[:, 0] = 0.0
    words = torch.full((rows * size, 1), START, device=device)
    attention = torch.zeros((rows * size, 0, positions), device=device)
    return _Beams(
        list(range(rows)),
        state.rows(index),
        source.reorder(index),
        counted[index],
        words,
        attention,
        total,
    )


def _advance(
    model: Translator,
    weights: Sequence[tuple[Tensor, Tensor | None]],
    beams: _Beams,
    penalties: Penalties,
    length: int,
) -> tuple[_Beams, list[tuple[int, Hypothesis]]]:
    """Add a piece to every hypothesis, all of ``length`` pieces; return ended ones separately."""
    sentences, size = beams.total.shape
    state, attention = model.step(
        model.inputs(beams.words[:, -1]), beams.state, beams.source, weights
    )
    beams = replace(
        beams, state=state, attention=torch.cat([beams.attention, attention[:, None]], 1)
    )
    logs = model.output(state.fed).log_softmax(-1)
    logs[:, [BLANK, START]] = -torch.inf
    must_end = beams.counted.sum(1) * 2 + _MARGIN <= length
    end = logs[:, END].clone()
    logs[must_end] = -torch.inf
    logs[:, END] = end
    total = (beams.total.flatten()[:, None] + logs).view(sentences, size, -1)
    ranked = total / penalties.length(length + 1)
    ranked[:, :, END] = total[:, :, END] / penalties.length(length)
    ranked = ranked + penalties.coverage(beams)[:, :, None]
    vocabulary = total.shape[-1]
    # At most k of the 2k best end, so at least k continue.
    scores, choice = ranked.flatten(1).topk(2 * size)
    origin, piece = choice // vocabulary, choice % vocabulary
    ends = piece == END
    ended = _ended(beams, total, scores, origin, ends[:, :size])
    order = ends.to(torch.int8).argsort(dim=1, stable=True)[:, :size]
    kept, pieces = origin.gather(1, order), piece.gather(1, order)
    rows = (torch.arange(sentences, device=kept.device)[:, None] * size + kept).flatten()
    alive = beams.rows(rows)
    alive = replace(
        alive,
        words=torch.cat([alive.words, pieces.view(-1, 1)], 1),
        total=total.flatten(1).gather(1, kept * vocabulary + pieces),
    )
    return alive, ended


def _ended(
    beams: _Beams, total: Tensor, scores: Tensor, origin: Tensor, ends: Tensor
) -> list[tuple[int, Hypothesis]]:
    found = []
    lengths = beams.counted.sum(1) + 1
    for sentence, rank in ends.nonzero().tolist():
        score = float(scores[sentence, rank])
        if score == -np.inf:
            continue
        beam = int(origin[sentence, rank])
        row = sentence * total.shape[1] + beam
        hypothesis = Hypothesis(
            tuple(beams.words[row, 1:].tolist()),
            beams.attention[row, :, : int(lengths[row])].cpu().numpy(),
            float(total[sentence, beam, END]),
            score,
        )
        found.append((beams.sentences[sentence], hypothesis))
    return found


@dataclass(frozen=True)
class Translation:
    """A hypothesis with its pieces as text.

    Attributes:
        pieces: Its pieces without the end symbol; unknown ones are replaced.
        hypothesis: The search's hypothesis.
    """

    pieces: Pieces
    hypothesis: Hypothesis


def translate(
    model: Translator,
    text: PieceText,
    batches: Sequence[Minibatch],
    target: Vocabulary,
    *,
    beam: int,
    penalties: Penalties | None = None,
    label: str = "decoding",
) -> list[list[Translation]]:
    """Translate a text; the source piece with the most attention replaces an unknown piece.

    Args:
        model: The model, in evaluation mode.
        text: The sources.
        batches: The sources as tensors.
        target: Vocabulary of the targets.
        beam: Hypotheses per sentence.
        penalties: Penalties of length and coverage.
        label: Text before the progress bar.

    Returns:
        For each source its hypotheses, the best first.
    """
    device = next(model.parameters()).device
    found: dict[int, list[Translation]] = {}
    with progress_bar(label) as progress:
        for batch in track(batches, progress, len(text.sources), lambda batch: len(batch.rows)):
            lists = beam_search(model, batch.to(device), size=beam, penalties=penalties)
            for row, hypotheses in zip(batch.rows, lists, strict=True):
                source = text.sources[row]
                found[row] = [Translation(_spell(h, source, target), h) for h in hypotheses]
    return [found[row] for row in range(len(text.sources))]


def _spell(hypothesis: Hypothesis, source: Pieces, target: Vocabulary) -> Pieces:
    pieces = [target.pieces[number] for number in hypothesis.numbers]
    for position, number in enumerate(hypothesis.numbers):
        words = hypothesis.attention[position, :-1]
        if number == UNKNOWN_ID and len(words):
            pieces[position] = source[int(words.argmax())]
    return tuple(pieces)


def best_texts(lists: Iterable[Sequence[Translation]]) -> list[str]:
    """The best translation of each sentence, in words."""
    return [join_words(translations[0].pieces, "bpe") for translations in lists]


def attention_maps(
    text: PieceText, lists: Sequence[Sequence[Translation]]
) -> Iterable[AttentionMap]:
    """The attention of each best hypothesis, with the end symbol's row and the sink's column."""
    for source, translations in zip(text.sources, lists):
        yield AttentionMap(
            translations[0].hypothesis.attention.astype(np.float64),
            source=source,
            hypothesis=(*translations[0].pieces, "</s>"),
            tgt_eos=True,
            src_eos=True,
        )
