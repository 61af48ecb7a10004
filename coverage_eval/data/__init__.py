"""Test sets: their texts as batches of segments, readers, tokenisers, checks, atomic writing."""
