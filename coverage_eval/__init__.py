"""coverage-eval: finds and explains coverage errors in machine translation.

>>> import coverage_eval
>>> rep = coverage_eval.REP()
>>> statistics = rep.statistics(["a red red house"], ["a red house"])
>>> print(rep.corpus_score(statistics))
REP|n:2|w1:1.0|w2:2.0|norm:refwords|tok:none|version:0.1.0 = 66.67
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from coverage_eval.version import __version__

if TYPE_CHECKING:
    from coverage_eval.alignment.aligner import Triple as Triple
    from coverage_eval.alignment.aligner import align_texts as align_texts
    from coverage_eval.alignment.aligner import cover_texts as cover_texts
    from coverage_eval.alignment.aligner import read_triples as read_triples
    from coverage_eval.comparison.table import Comparison as Comparison
    from coverage_eval.comparison.table import compare as compare
    from coverage_eval.metrics.bleu import BLEU as BLEU
    from coverage_eval.metrics.drop import DROP as DROP
    from coverage_eval.metrics.rep import REP as REP
    from coverage_eval.metrics.significance import bootstrap_interval as bootstrap_interval
    from coverage_eval.metrics.soft_drop import SoftDROP as SoftDROP
    from coverage_eval.text.corpus import read_parallel as read_parallel
    from coverage_eval.text.corpus import read_segments as read_segments

# Name → module; imported when first asked for, so that importing the package costs nothing.
_MODULES = {
    "BLEU": "coverage_eval.metrics.bleu",
    "Comparison": "coverage_eval.comparison.table",
    "DROP": "coverage_eval.metrics.drop",
    "REP": "coverage_eval.metrics.rep",
    "SoftDROP": "coverage_eval.metrics.soft_drop",
    "Triple": "coverage_eval.alignment.aligner",
    "align_texts": "coverage_eval.alignment.aligner",
    "bootstrap_interval": "coverage_eval.metrics.significance",
    "compare": "coverage_eval.comparison.table",
    "cover_texts": "coverage_eval.alignment.aligner",
    "read_parallel": "coverage_eval.text.corpus",
    "read_segments": "coverage_eval.text.corpus",
    "read_triples": "coverage_eval.alignment.aligner",
}

__all__ = [  # noqa: PLE0604 (names of strings only)
    "__version__",
    *_MODULES,
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
