"""Attention maps of MT toolkits: loading, subword merging, hard links, coverage scores."""

from coverage_eval.attention_maps.load import FORMATS, load
from coverage_eval.attention_maps.maps import AttentionMap
from coverage_eval.attention_maps.native import save

__all__ = ["FORMATS", "AttentionMap", "load", "save"]
