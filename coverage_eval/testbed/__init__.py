"""Test beds: artificial parallel text with known links, outputs with known errors, and labels."""
