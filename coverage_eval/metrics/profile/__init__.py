"""Cheap figures of one output: repetition, length and coverage from text and links alone."""

from coverage_eval.metrics.profile.figures import FIGURES, Figure, select_figures
from coverage_eval.metrics.profile.profile import ROW, Profile, ProfiledFigure, profile

__all__ = ["FIGURES", "ROW", "Figure", "Profile", "ProfiledFigure", "profile", "select_figures"]
