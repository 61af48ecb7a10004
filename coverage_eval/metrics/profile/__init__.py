"""Cheap figures of one output: repetition, length and coverage from text and links alone."""

from coverage_eval.metrics.profile.profile import Profile, ProfiledFigure, profile
from coverage_eval.metrics.profile.registry import FIGURES, Figure, select_figures

__all__ = ["FIGURES", "Figure", "Profile", "ProfiledFigure", "profile", "select_figures"]
