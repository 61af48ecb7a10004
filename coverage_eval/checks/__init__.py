"""Checks of texts: a wrong file must not give a plausible number."""
