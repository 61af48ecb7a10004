"""Tokens that stand among the words of a text and are none."""

from __future__ import annotations

SINK = "<SINK>"
"""A word behind every source that takes the attention, or the links, that no other word needs."""

EOS_TOKENS = frozenset({"</s>", "<EOS>", "<eos>", "<|endoftext|>", SINK, SINK.lower()})
"""What toolkits write behind the last word."""

SPECIAL_TOKENS = EOS_TOKENS | {"<s>", "<BOS>", "<pad>"}
"""All of them: a source that ignores them loses nothing."""
