"""Test sets that outgrow one run: shards and their parts, Arrow batches, Spark."""
