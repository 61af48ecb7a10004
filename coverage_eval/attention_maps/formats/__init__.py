"""The formats in which MT toolkits write attention, one file per toolkit.

To add a format, add a file whose ``FORMATS`` describes it, and its name to the list below.
"""

from __future__ import annotations

from importlib import import_module

from coverage_eval.attention_maps.dumps import DumpFormat

__all__ = ["FORMATS"]

# In the order in which they are tried: the most recognisable formats come first.
_FILES = (
    "native",
    "fairseq",
    "marian",
    "opennmt",
    "arrays",
)

FORMATS: dict[str, DumpFormat] = {
    item.name: item for file in _FILES for item in import_module(f"{__name__}.{file}").FORMATS
}
"""Every format by the name that ``--input-format`` takes, in the order in which they are tried."""
