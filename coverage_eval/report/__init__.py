"""Rendering of scores and evidence; nothing is computed here."""
