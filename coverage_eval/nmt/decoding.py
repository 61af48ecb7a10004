"""What a system made of a text, as files: n-best lists, translations, attention.

``NAME.nbest`` is in Moses' format and ``NAME.coverage.jsonl`` has what its hypotheses attended to,
so that ``coverage-eval rescore`` reads both; a feature ``unknown=`` has the positions, from 0, of
pieces that stand for unknown ones. ``test.attention.npz`` is for ``coverage-eval
attention`` and has the best hypothesis of each sentence, in pieces.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from coverage_eval.attention_maps.formats.native import save
from coverage_eval.attention_maps.maps import AttentionMap
from coverage_eval.attention_maps.subwords import join_words
from coverage_eval.data.files import atomic_write, read_segments
from coverage_eval.nmt.beam import Hypothesis, Penalties, beam_search
from coverage_eval.nmt.bitext import Pieces, PieceText
from coverage_eval.nmt.minibatches import Minibatch
from coverage_eval.nmt.translator import Translator
from coverage_eval.nmt.vocabulary import UNKNOWN_ID, Vocabulary
from fast_align_wrapper.text import tokenize

_END = "</s>"


@dataclass(frozen=True)
class Translation:
    """A hypothesis with its pieces spelt out.

    Attributes:
        pieces: Without the end symbol; unknown ones are replaced.
        hypothesis: As the search found it.
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
    """Translate a text; unknown pieces are replaced by the source piece most attended to.

    Args:
        model: In evaluation mode.
        text: The sources.
        batches: The same as tensors.
        target: Vocabulary of the targets.
        beam: Hypotheses a sentence.
        penalties: Of length and coverage.
        label: Before the progress bar.

    Returns:
        For each source its hypotheses, the best first.
    """
    device = next(model.parameters()).device
    found: dict[int, list[Translation]] = {}
    bar = tqdm(total=len(text.sources), desc=label, unit="sentence", disable=None, leave=False)
    with bar:
        for batch in batches:
            lists = beam_search(model, batch.to(device), size=beam, penalties=penalties)
            for row, hypotheses in zip(batch.rows, lists, strict=True):
                found[row] = [
                    Translation(_spell(h, text.sources[row], target), h) for h in hypotheses
                ]
            bar.update(len(batch.rows))
    return [found[row] for row in range(len(text.sources))]


def _spell(hypothesis: Hypothesis, source: Pieces, target: Vocabulary) -> Pieces:
    pieces = [target.pieces[number] for number in hypothesis.numbers]
    for place, number in enumerate(hypothesis.numbers):
        words = hypothesis.attention[place, :-1]
        if number == UNKNOWN_ID and len(words):
            pieces[place] = source[int(words.argmax())]
    return tuple(pieces)


def best_texts(lists: Iterable[Sequence[Translation]]) -> list[str]:
    """The best translation of each sentence, in words."""
    return [join_words(translations[0].pieces, "bpe") for translations in lists]


def write_nbest(folder: Path, name: str, lists: Sequence[Sequence[Translation]]) -> None:
    """``NAME.nbest`` and ``NAME.coverage.jsonl``."""
    with atomic_write(folder / f"{name}.coverage.jsonl") as file:
        for item in (item for translations in lists for item in translations):
            received = item.hypothesis.attention[:, :-1].sum(axis=0, dtype=np.float64)
            file.write(json.dumps({"coverage": [round(float(x), 6) for x in received]}) + "\n")
    with atomic_write(folder / f"{name}.nbest") as file:
        for segment, translations in enumerate(lists):
            for item in translations:
                score = f"{item.hypothesis.log_probability:.6f}"
                features = f"F0= {score}{_unknown(item.hypothesis.numbers)}"
                text = " ".join(item.pieces)
                file.write(f"{segment} ||| {text} ||| {features} ||| {score}\n")


def _unknown(numbers: Sequence[int]) -> str:
    places = [str(place) for place, number in enumerate(numbers) if number == UNKNOWN_ID]
    return " ".join(["", "unknown=", *places]) if places else ""


def write_attention(path: Path, text: PieceText, lists: Sequence[Sequence[Translation]]) -> None:
    """Attention of each best hypothesis; the last row is that of the end, the last column the sink.

    Args:
        path: Ends in ``.npz`` or ``.jsonl``.
        text: The sources.
        lists: As :func:`translate` made them.
    """
    save(
        (
            AttentionMap(
                translations[0].hypothesis.attention.astype(np.float64),
                source=source,
                hypothesis=(*translations[0].pieces, _END),
                tgt_eos=True,
                src_eos=True,
            )
            for source, translations in zip(text.sources, lists, strict=True)
        ),
        path,
    )


def read_best(folder: Path, target: Vocabulary) -> list[tuple[list[int], float]]:
    """The best hypotheses of ``test.nbest``: their pieces as the model had them, and log P."""
    found: list[tuple[list[int], float]] = []
    for line in read_segments(folder / "test.nbest"):
        segment, text, features, score = line.split(" ||| ")
        if int(segment) < len(found):
            continue
        numbers = target.numbers(tokenize(text))
        for place in features.partition("unknown=")[2].split():
            numbers[int(place)] = UNKNOWN_ID
        found.append((numbers, float(score)))
    return found
