r"""Attention scores :math:`z_{tj}` of a decoder state and the source: general, dot and additive.

Each form can be conditioned on the attention :math:`\beta_j` that a source word has received
so far (the coverage vector of Tu et al. 2016). For the bilinear score the paper prints
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
        AttentionError: on construction, arrays that do not fit together.
    """

    weight: FloatArray | None = None
    coverage: FloatArray | None = None
    form: CoverageFormula = "text"

    def __post_init__(self) -> None:
        if self.form not in ("text", "scripts"):
            raise AttentionError(f"unknown coverage form {self.form!r}: use 'text' or 'scripts'")
        if self.weight is not None and np.ndim(self.weight) != 2:
            raise AttentionError(f"W must be a matrix, not of shape {np.shape(self.weight)}")
        if self.coverage is not None and np.ndim(self.coverage) != 1:
            raise AttentionError("the coverage vector must have one axis")
        if self.weight is not None and self.coverage is not None:
            wanted = np.shape(self.weight)[0 if self.form == "text" else 1]
            if len(self.coverage) != wanted:
                raise AttentionError(
                    f"the coverage vector ({self.form}) has {len(self.coverage)} entries, "
                    f"but W is {np.shape(self.weight)}: {wanted} are needed"
                )

    def keys(self, memory: FloatArray) -> FloatArray:
        """``[B, S, D]``: :math:`W h_j`, the same for all steps."""
        return memory if self.weight is None else np.asarray(memory @ self.weight.T)

    def scores(
        self, query: FloatArray, keys: FloatArray, memory: FloatArray, cumulative: FloatArray
    ) -> FloatArray:
        """``[B, S]`` scores of a decoder state ``[B, D]``, in time O(BSD)."""
        scores: FloatArray = np.matmul(keys, query[:, :, None])[:, :, 0]
        if self.coverage is None:
            return scores
        by_state = self.form == "text"
        slope = (query @ self.coverage)[:, None] if by_state else memory @ self.coverage
        return np.asarray(scores + cumulative * slope)


@dataclass(frozen=True)
class AdditiveScore:
    r""":math:`z_j = e^\top \tanh(A s + U h_j + b + v \beta_j)` (Bahdanau et al. 2014, A.1.2).

    The term with the cumulative attention is that of Tu et al. 2016.

    Attributes:
        query_weight: ``[P, D]``, A. OpenNMT-py: ``linear_query.weight``.
        memory_weight: ``[P, K]``, U. OpenNMT-py: ``linear_context.weight``.
        energy: ``[P]``, e. OpenNMT-py: ``v.weight``.
        bias: ``[P]``, b, or None. OpenNMT-py: ``linear_query.bias``.
        coverage: ``[P]``, v; None for no coverage.

    Raises:
        AttentionError: on construction, arrays that do not fit together.
    """

    query_weight: FloatArray
    memory_weight: FloatArray
    energy: FloatArray
    bias: FloatArray | None = None
    coverage: FloatArray | None = None

    def __post_init__(self) -> None:
        size = np.shape(self.energy)
        rows = {"A": np.shape(self.query_weight)[:1], "U": np.shape(self.memory_weight)[:1]}
        for name, vector in (("b", self.bias), ("v", self.coverage)):
            if vector is not None:
                rows[name] = np.shape(vector)
        wrong = [f"{name} {shape}" for name, shape in rows.items() if shape != size]
        if len(size) != 1 or wrong:
            raise AttentionError(
                f"the additive score's arrays do not fit e of shape {size}: {', '.join(wrong)}"
            )

    def keys(self, memory: FloatArray) -> FloatArray:
        """``[B, S, P]``: :math:`U h_j + b`, the same for all steps."""
        keys = memory @ self.memory_weight.T
        return np.asarray(keys if self.bias is None else keys + self.bias)

    def scores(
        self,
        query: FloatArray,
        keys: FloatArray,
        memory: FloatArray,  # noqa: ARG002
        cumulative: FloatArray,
    ) -> FloatArray:
        """``[B, S]`` scores of a decoder state ``[B, D]``, in time O(BSP)."""
        inner = keys + (query @ self.query_weight.T)[:, None, :]
        if self.coverage is not None:
            inner = inner + cumulative[:, :, None] * self.coverage
        return np.asarray(np.tanh(inner) @ self.energy)


Score: TypeAlias = "BilinearScore | AdditiveScore"
