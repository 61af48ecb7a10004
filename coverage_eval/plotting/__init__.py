"""Figures: functions that take arrays and ``ax=None`` and return Axes."""
