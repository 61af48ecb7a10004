"""Links and coverages from a multilingual encoder, for languages without parallel text.

Words that mean the same have similar vectors in a middle layer. There are three ways to link the
subwords of two texts by similarity:

- ``softmax``, as in awesome-align (Dou and Neubig, EACL 2021): softmax of the dot products over the
  source and over the target; two subwords are linked if both probabilities are above a threshold,
  and the strength of the link is their harmonic mean.
- ``argmax``, as in SimAlign (Jalili Sabet et al., Findings of EMNLP 2020): two subwords are linked
  if each is the other's most similar one by cosine.
- ``itermax``, also from SimAlign: argmax once more, after multiplying the similarity by 0.9 if one
  of the subwords is linked and by 0 if both are.

The link of two words is the strongest link of their subwords. We have not measured how well
coverages from an encoder find errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coverage_eval.arrays import Floats
from coverage_eval.errors import DataError, MissingDependencyError, require_integer

if TYPE_CHECKING:
    import torch

METHODS = ("softmax", "argmax", "itermax")

THRESHOLD = 1e-3
"""awesome-align's threshold for both probabilities of a link."""

_REDUCED = 0.9
"""SimAlign's factor for similarities of subwords that are already linked, in itermax."""

_ROWS = 16
"""Number of segments to encode together."""


class _Encoded(NamedTuple):
    """Vectors of a text ``[subwords, size]``, the word of each subword, and the number of words."""

    vectors: torch.Tensor
    owners: list[int]
    words: int


class Encoder:
    """An encoder of the Transformers library, and how it links words.

    Args:
        name: The encoder, or a folder.
        layer: The layer whose vectors are compared; 0 is the embeddings.
        method: One of :data:`METHODS`.
        batch_size: Number of texts to encode together.
        device: Where to compute; by default a GPU if there is one.

    Raises:
        MissingDependencyError: PyTorch, Transformers or the encoder is not installed.
        ValueError: An unknown method, or a layer that the encoder does not have.
    """

    def __init__(
        self,
        name: str,
        *,
        layer: int = 8,
        method: str = "softmax",
        batch_size: int = 32,
        device: str | None = None,
    ) -> None:
        if method not in METHODS:
            raise ValueError(f"method is one of {', '.join(METHODS)}, not {method!r}")
        require_integer("batch_size", batch_size, 1)
        self.method, self.layer, self.name = method, layer, name
        self._batch_size = batch_size
        try:
            import torch
            from transformers import AutoModel, AutoTokenizer
            from transformers.utils import logging
        except ImportError as error:
            raise MissingDependencyError(
                "an encoder needs PyTorch and Transformers; pip install 'coverage-eval[neural]'"
            ) from error
        bars = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()
        try:
            # Nothing is downloaded while texts are scored.
            self._pieces = AutoTokenizer.from_pretrained(name, local_files_only=True)
            self._model = AutoModel.from_pretrained(name, local_files_only=True)
        except (OSError, ValueError) as error:
            raise MissingDependencyError(
                f"encoder {name}: is not in your cache, or not an encoder; give a folder, or fetch "
                f"it once: hf download {name}"
            ) from error
        finally:
            if bars:
                logging.enable_progress_bar()
        layers = self._model.config.num_hidden_layers
        if not 0 <= layer <= layers:
            raise ValueError(f"layer is 0 to {layers} in {name}, not {layer}")
        if not self._pieces.is_fast:
            raise MissingDependencyError(
                f"encoder {name}: its tokeniser does not tell which word a subword belongs to; "
                "choose an encoder with a fast tokeniser"
            )
        self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self._model.to(self._device).eval()

    def link(self, segments: Iterable[Sequence[tuple[str, ...]]]) -> Iterator[list[Floats]]:
        """Soft links of each segment's source and targets, ``[target words, source words]``.

        Args:
            segments: The words of the source, then of each target.
        """
        segments = iter(segments)
        while block := list(islice(segments, _ROWS)):
            # Texts of similar length together need little padding.
            distinct = dict.fromkeys(text for segment in block for text in segment)
            vectors = self._encode(sorted(distinct, key=len))
            for source, *targets in block:
                yield [self._link(vectors[source], vectors[target]) for target in targets]

    def _encode(self, texts: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], _Encoded]:
        """Encode distinct texts, in batches."""
        import torch

        found: dict[tuple[str, ...], _Encoded] = {(): _Encoded(torch.zeros(0, 1), [], 0)}
        full = [text for text in texts if text]
        for start in range(0, len(full), self._batch_size):
            batch = full[start : start + self._batch_size]
            pieces = self._pieces(
                [list(text) for text in batch],
                is_split_into_words=True,
                padding=True,
                return_tensors="pt",
            )
            most = getattr(self._model.config, "max_position_embeddings", None)
            # RoBERTa has fewer usable positions than max_position_embeddings.
            longest = pieces["input_ids"].shape[1]
            if most is not None and longest > min(most, self._pieces.model_max_length):
                raise DataError(
                    f"a segment has {longest} subwords, and {self.name} takes at most "
                    f"{min(most, self._pieces.model_max_length)}; split long segments"
                )
            with torch.inference_mode():
                output = self._model(**pieces.to(self._device), output_hidden_states=True)
            for number, text in enumerate(batch):
                owners = pieces.word_ids(number)
                places = [n for n, owner in enumerate(owners) if owner is not None]
                vectors = output.hidden_states[self.layer][number, places].float()
                found[text] = _Encoded(vectors, [owners[n] for n in places], len(text))
        return found

    def _link(self, source: _Encoded, target: _Encoded) -> Floats:
        """Soft links of words, ``[target, source]``, 0 to 1."""
        links = np.zeros((target.words, source.words))
        if source.owners and target.owners:
            pieces = link_pieces(source.vectors, target.vectors, self.method)
            np.maximum.at(links, np.ix_(target.owners, source.owners), pieces.T)
        return links

    @cached_property
    def digest(self) -> str:
        """The first 12 hexadecimal digits of a hash of the weights."""
        found = sha256()
        for name, values in sorted(self._model.state_dict().items()):
            found.update(name.encode() + values.cpu().numpy().tobytes())
        return found.hexdigest()[:12]


def link_pieces(source: torch.Tensor, target: torch.Tensor, method: str) -> Floats:
    """Soft links of subwords ``[source, target]``, 0 to 1, from their vectors.

    Args:
        source: Vectors ``[source subwords, size]``.
        target: Vectors ``[target subwords, size]``.
        method: One of :data:`METHODS`.
    """
    from torch.nn.functional import normalize

    if method == "softmax":
        products = source @ target.T
        forward, backward = products.softmax(1), products.softmax(0)
        linked = (forward > THRESHOLD) & (backward > THRESHOLD)
        # As in awesome-align's --output_prob_file.
        found = 2 * forward * backward / (forward + backward + 1e-9) * linked
        return np.asarray(found.cpu().numpy(), dtype=np.float64)
    cosines = normalize(source, dim=1) @ normalize(target, dim=1).T
    similarity = np.asarray(((cosines + 1) / 2).cpu().numpy(), dtype=np.float64)
    links = _mutual(similarity)
    if method == "argmax" or min(links.shape) <= 2:
        return links
    free_source, free_target = links.sum(1, keepdims=True) == 0, links.sum(0, keepdims=True) == 0
    if not free_source.any() or not free_target.any():
        return links
    factor = np.minimum(1.0, _REDUCED * free_source + _REDUCED * free_target)
    more: Floats = np.maximum(links, _mutual(similarity * factor) * (free_source | free_target))
    return more


def _mutual(similarity: Floats) -> Floats:
    """1 where each of the two is the other's most similar one, else 0; ties go to the first."""
    rows, columns = np.indices(similarity.shape)
    best_target = similarity.argmax(1)[:, None] == columns
    best_source = similarity.argmax(0)[None] == rows
    return np.asarray(best_target & best_source, dtype=np.float64)
