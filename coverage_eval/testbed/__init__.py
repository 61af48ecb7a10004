"""Test beds: made-up parallel text with known links, and outputs with known errors."""
