"""Finds source words that a translation leaves out, and translation that has no source."""
