"""The formats in which MT toolkits write attention: our own, those of toolkits, bare arrays."""

from __future__ import annotations

from coverage_eval.attention_maps.dumps import DumpFormat
from coverage_eval.attention_maps.formats import arrays, native, toolkits

__all__ = ["FORMATS"]

# The most recognisable formats come first.
_ALL = (*native.FORMATS, *toolkits.FORMATS, *arrays.FORMATS)
FORMATS: dict[str, DumpFormat] = {item.name: item for item in _ALL}
"""Every format by the name that ``--input-format`` takes, in the order in which they are tried."""
