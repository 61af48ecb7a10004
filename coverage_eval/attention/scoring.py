r"""Attention scores :math:`z_{tj}` of a decoder state and the source: general and dot.

Both can be conditioned on the attention :math:`\beta_j` that a source word has received
so far (the coverage vector of Tu et al. 2016). The paper prints
:math:`z_{tj} = s^\top (W h_j + v \beta_j)` (Malaviya et al. 2018, section 5; ``"text"``), but its
authors' scripts compute :math:`(W^\top s + w \beta_j)^\top h_j` (``"scripts"``). The text weights
coverage by the decoder state, the scripts by the source word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from coverage_eval.attention.inputs import AttentionError, FloatArray

CoverageFormula = Literal["text", "scripts"]
Parameters: TypeAlias = dict[str, FloatArray]


@dataclass(frozen=True)
class ScoreGradients:
    """Gradients of one step's scores.

    Attributes:
        query: ``[B, D]`` for the decoder state.
        keys: ``[B, S, P]`` for the projected memory.
        memory: ``[B, S, K]`` for the memory itself (coverage in the scripts' form), or a single 0.
        cumulative: ``[B, S]`` for the cumulative attention, or a single 0.
        parameters: by field name, those used in the step; ``keys_vjp`` gives the others.
    """

    query: FloatArray
    keys: FloatArray
    memory: FloatArray
    cumulative: FloatArray
    parameters: Parameters


@dataclass(frozen=True)
class BilinearScore:
    r""":math:`z_j = s^\top W h_j`, "general" of Luong et al. 2015 (section 3.1), "dot" without W.

    Malaviya et al. 2018, section 2, for the general form and section 5 for the coverage vector.

    Attributes:
        weight: ``[D, K]``, W; None for the dot product, where D = K. OpenNMT-py stores its
            transpose as ``linear_in``.
        coverage: ``[D]`` v in the text's form, ``[K]`` w in the scripts'; None for no coverage.
        form: the formula of the coverage vector.

    Raises:
        AttentionError: on construction, an unknown formula.
    """

    weight: FloatArray | None = None
    coverage: FloatArray | None = None
    form: CoverageFormula = "text"

    def __post_init__(self) -> None:
        if self.form not in ("text", "scripts"):
            raise AttentionError(f"unknown coverage form {self.form!r}: use 'text' or 'scripts'")

    def keys(self, memory: FloatArray) -> FloatArray:
        """``[B, S, D]``: :math:`W h_j`, the same for all steps."""
        return memory if self.weight is None else np.asarray(memory @ self.weight.T)

    def keys_vjp(self, d_keys: FloatArray, memory: FloatArray) -> tuple[FloatArray, Parameters]:
        """Gradients of :meth:`keys` for the memory and W."""
        if self.weight is None:
            return d_keys, {}
        d_weight = np.einsum("bsd,bsk->dk", d_keys, memory)
        return np.asarray(d_keys @ self.weight), {"weight": d_weight}

    def scores(
        self, query: FloatArray, keys: FloatArray, memory: FloatArray, cumulative: FloatArray
    ) -> FloatArray:
        """``[B, S]`` scores of a decoder state ``[B, D]``, in time O(BSD)."""
        scores: FloatArray = np.matmul(keys, query[:, :, None])[:, :, 0]
        if self.coverage is None:
            return scores
        return np.asarray(scores + cumulative * self._slope(query, memory))

    def _slope(self, query: FloatArray, memory: FloatArray) -> FloatArray:
        """What one unit of cumulative attention adds to a score, ``[B, 1]`` or ``[B, S]``."""
        assert self.coverage is not None
        if self.form == "text":
            return np.asarray(query @ self.coverage)[:, None]
        return np.asarray(memory @ self.coverage)

    def vjp(
        self,
        d_scores: FloatArray,
        query: FloatArray,
        keys: FloatArray,
        memory: FloatArray,
        cumulative: FloatArray,
    ) -> ScoreGradients:
        """Gradients of :meth:`scores` for all that it was given."""
        d_query = np.matmul(d_scores[:, None, :], keys)[:, 0, :]
        d_keys = d_scores[:, :, None] * query[:, None, :]
        none = np.zeros(())
        if self.coverage is None:
            return ScoreGradients(d_query, d_keys, none, none, {})
        d_cumulative = d_scores * self._slope(query, memory)
        weighted = d_scores * cumulative
        if self.form == "text":
            total = weighted.sum(axis=1)
            d_query = d_query + total[:, None] * self.coverage
            return ScoreGradients(d_query, d_keys, none, d_cumulative, {"coverage": total @ query})
        d_memory = weighted[:, :, None] * self.coverage
        d_coverage = np.einsum("bs,bsk->k", weighted, memory)
        return ScoreGradients(d_query, d_keys, d_memory, d_cumulative, {"coverage": d_coverage})
