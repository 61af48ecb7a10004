"""Special tokens, which are not words of a text."""

from __future__ import annotations

SINK = "<SINK>"
"""A token after every source that takes the attention or links that no word needs."""

EOS_TOKENS = frozenset({"</s>", "<EOS>", "<eos>", "<|endoftext|>", SINK, SINK.lower()})
"""Tokens that toolkits write after the last word."""

SPECIAL_TOKENS = EOS_TOKENS | {"<s>", "<BOS>", "<pad>"}
"""All special tokens; no words are lost by ignoring them."""
