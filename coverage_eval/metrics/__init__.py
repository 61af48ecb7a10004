"""Metrics of coverage and of translation quality, all counted segment by segment."""
