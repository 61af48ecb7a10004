"""METEOR 1.5 for English, without Java (Denkowski and Lavie, "Meteor Universal", WMT 2014).

The implementation follows a description of the program's behaviour; its data come with the
``meteor`` extra. NLTK's METEOR, another metric, is in :mod:`.nltk_variant`.
"""

from coverage_eval.quality.meteor.metric import METEOR, MeteorMatch

__all__ = ["METEOR", "MeteorMatch"]
