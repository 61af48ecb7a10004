"""Whole outputs that are wrong and have a name, such as copies and refusals."""
