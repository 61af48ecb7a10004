"""Attention maps of MT toolkits: loading, subword merging, hard links, coverage scores.

>>> from coverage_eval.attention_maps import AttentionMap, hard_links, score_maps
>>> attention = AttentionMap([[0.9, 0.1], [0.8, 0.2]], source=("ein", "Haus"))
>>> hard_links(attention)
[(0, 0), (0, 1)]
>>> round(score_maps([attention], ["mean_coverage"])[0].coverage[1], 2)
0.3
"""

from coverage_eval.attention_maps.arrays import save
from coverage_eval.attention_maps.load import (
    FORMATS,
    from_arrays,
    from_ctranslate2,
    from_huggingface,
    load,
)
from coverage_eval.attention_maps.maps import AttentionMap, hard_links
from coverage_eval.attention_maps.scores import SCORES, score_maps, score_table
from coverage_eval.attention_maps.subwords import merge_subwords

__all__ = [
    "FORMATS",
    "SCORES",
    "AttentionMap",
    "from_arrays",
    "from_ctranslate2",
    "from_huggingface",
    "hard_links",
    "load",
    "merge_subwords",
    "save",
    "score_maps",
    "score_table",
]
