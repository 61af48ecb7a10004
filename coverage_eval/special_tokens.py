"""Tokens among the words of a text that are not words."""

from __future__ import annotations

SINK = "<SINK>"
"""A token after every source that takes the attention, or the links, that no other word needs."""

EOS_TOKENS = frozenset({"</s>", "<EOS>", "<eos>", "<|endoftext|>", SINK, SINK.lower()})
"""What toolkits write after the last word."""

SPECIAL_TOKENS = EOS_TOKENS | {"<s>", "<BOS>", "<pad>"}
"""All of them; ignoring them loses no words."""
