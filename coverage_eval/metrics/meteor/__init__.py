"""METEOR 1.5 for English, without Java (Denkowski and Lavie, "Meteor Universal", WMT 2014)."""
