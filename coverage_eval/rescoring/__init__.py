"""Choosing translations from n-best lists with length and coverage penalties."""
