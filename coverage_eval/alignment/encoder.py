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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.alignment.aligner import AlignedRow, Aligner, CoveredRow
from coverage_eval.data.dataset import Row
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError, MissingDependencyError, require_integer

if TYPE_CHECKING:
    import torch

Floats = NDArray[np.float64]

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


class EncoderAligner(Aligner):
    """An encoder of the Transformers library; see :meth:`Aligner.from_encoder`."""

    symmetrize = "given"
    sink = False
    covers = True

    def __init__(
        self,
        name: str,
        *,
        layer: int = 8,
        method: str = "softmax",
        tokenize: str = "none",
        src_tokenize: str | None = None,
        lowercase: bool = False,
        batch_size: int = 32,
        device: str | None = None,
    ) -> None:
        if method not in METHODS:
            raise ValueError(f"method is one of {', '.join(METHODS)}, not {method!r}")
        require_integer("batch_size", batch_size, 1)
        self.method, self.layer, self.name = method, layer, name
        self.tokens = Tokenizer(tokenize, lowercase)
        self.source_tokens = Tokenizer(src_tokenize or tokenize, lowercase)
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

    def align(self, rows: Iterable[Row], *, compat: str | None = None) -> Iterator[AlignedRow]:  # noqa: ARG002
        """Links of a test set, row by row; see :meth:`Aligner.align`."""
        without = (row._replace(peers=()) for row in rows)
        for row, source, found in self._soft_links(without):
            links = tuple(
                tuple((int(i), int(j)) for i, j in np.argwhere(one.T > 0)) for one in found
            )
            split = len(row.references)
            yield AlignedRow(source, links[:split], links[split:])

    def cover(self, rows: Iterable[Row], side: str = "source") -> Iterator[CoveredRow]:
        """Coverages of a test set, row by row; see :meth:`Aligner.cover`."""
        if side == "target":
            rows = (row._replace(references=(), peers=()) for row in rows)
        axis = 0 if side == "source" else 1
        for row, source, found in self._soft_links(rows):
            covered = tuple(np.minimum(1.0, one.sum(axis=axis)) for one in found)
            first, last = len(row.references), len(found) - len(row.peers)
            lengths = tuple(len(one) for one in found[first:last])
            yield CoveredRow(source, covered[:first], covered[first:last], lengths, covered[last:])

    def _soft_links(self, rows: Iterable[Row]) -> Iterator[tuple[Row, Sequence[str], list[Floats]]]:
        """Each row with its source and the soft links of each text, ``[target, source]``."""
        rows = iter(rows)
        while block := list(islice(rows, _ROWS)):
            cut = []
            for row in block:
                texts = (*row.references, *row.hypotheses, *row.peers)
                own = [tuple(self._cut_source(row))]
                cut.append([*own, *(tuple(self.tokens(text)) for text in texts)])
            # Texts of similar length together need little padding.
            distinct = dict.fromkeys(one for own in cut for one in own)
            vectors = self._encode(sorted(distinct, key=len))
            for row, (source, *targets) in zip(block, cut, strict=True):
                found = [self._link(vectors[source], vectors[target]) for target in targets]
                yield row, list(source), found

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
    def _digest(self) -> str:
        """The first 12 hexadecimal digits of a hash of the weights."""
        found = sha256()
        for name, values in sorted(self._model.state_dict().items()):
            found.update(name.encode() + values.cpu().numpy().tobytes())
        return found.hexdigest()[:12]

    @property
    def settings(self) -> Mapping[str, object]:
        """Weights, layer, method and tokenisers."""
        return {
            "aligner": "encoder",
            "model": self._digest,
            "layer": self.layer,
            "sym": self.method,
            "sink": False,
            **self._token_settings,
        }


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
