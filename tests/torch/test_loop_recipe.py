"""The recipe that ends a looping generation of transformers, with a tiny random model."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from coverage_eval.repetition.loops import LoopDetector
from tests.test_readme import SITE

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


def test_generation_ends_where_the_output_loops():
    """The model does not know positions, so that it cannot get out of a loop by chance."""
    torch.manual_seed(5)
    config = transformers.GPT2Config(
        vocab_size=40, n_positions=512, n_embd=16, n_layer=1, n_head=2, bos_token_id=0,
        eos_token_id=None, pad_token_id=0, initializer_range=0.5,
    )  # fmt: skip
    model = transformers.GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        model.transformer.wpe.weight.zero_()
    ids = torch.tensor([[5, 6, 7, 8, 5, 6, 7, 8]])
    inputs = {
        "input_ids": ids, "attention_mask": torch.ones_like(ids), "max_new_tokens": 200,
        "do_sample": False, "pad_token_id": 0,
    }  # fmt: skip
    whole = model.generate(**inputs)[0, 8:].tolist()
    page = (SITE / "language-models.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert sum(map(bool, code.splitlines())) == 5
    names: dict[str, Any] = {
        "LoopDetector": LoopDetector, "torch": torch, "model": model, "inputs": inputs,
        "tokenizer": SimpleNamespace(convert_ids_to_tokens=lambda token: f"w{chr(97 + token)}"),
    }  # fmt: skip
    exec(code, names)
    written = names["written"][0, 8:].tolist()
    assert len(whole) == 200
    assert 24 < len(written) < 200
    assert whole[: len(written)] == written
    rest = [names["detector"].push(f"w{chr(97 + token)}") for token in whole[len(written) :]]
    assert all(rest)  # it would never have stopped
