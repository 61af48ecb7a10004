"""coverage-eval: finds and explains coverage errors in machine translation.

Scores are functions (``rep``, ``letter_rep``, ``drop``, ``soft_drop``, ``bleu``, ``meteor``,
``profile``) and classes of the same names in capitals; ``Aligner`` links the source, ``compare``
compares systems. Attention has three rooms: ``attention``, ``attention_maps`` and ``plotting``.

>>> import coverage_eval as ce
>>> print(ce.rep(["a red red house"], ["a red house"]))
REP|refs:1|n:2|w1:1.0|w2:2.0|norm:refwords|case:mixed|tok:none|version:0.1.0 = 66.67
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from coverage_eval.version import __version__

if TYPE_CHECKING:
    from coverage_eval import attention as attention
    from coverage_eval import attention_maps as attention_maps
    from coverage_eval import plotting as plotting
    from coverage_eval.alignment.aligner import Aligner as Aligner
    from coverage_eval.comparison.comparison import Comparison as Comparison
    from coverage_eval.comparison.comparison import compare as compare
    from coverage_eval.errors import CoverageEvalError as CoverageEvalError
    from coverage_eval.errors import DataError as DataError
    from coverage_eval.metrics.drop import DROP as DROP
    from coverage_eval.metrics.drop import SoftDROP as SoftDROP
    from coverage_eval.metrics.drop import StopWords as StopWords
    from coverage_eval.metrics.functions import bleu as bleu
    from coverage_eval.metrics.functions import chrf as chrf
    from coverage_eval.metrics.functions import drop as drop
    from coverage_eval.metrics.functions import letter_rep as letter_rep
    from coverage_eval.metrics.functions import meteor as meteor
    from coverage_eval.metrics.functions import rep as rep
    from coverage_eval.metrics.functions import soft_drop as soft_drop
    from coverage_eval.metrics.meteor.metric import METEOR as METEOR
    from coverage_eval.metrics.omissions import OmissionFinder as OmissionFinder
    from coverage_eval.metrics.profile import profile as profile
    from coverage_eval.metrics.rep import REP as REP
    from coverage_eval.metrics.rep import LetterREP as LetterREP
    from coverage_eval.metrics.sacrebleu_adapters import BLEU as BLEU
    from coverage_eval.metrics.sacrebleu_adapters import CHRF as CHRF
    from coverage_eval.metrics.score import Score as Score
    from coverage_eval.papers.audits import run_audits as run_audits
    from coverage_eval.papers.reproduction.run_audit import audit_runs as audit_runs
    from coverage_eval.testbed.demonstration import demonstrate as demonstrate
    from fast_align_wrapper.errors import AlignerError as AlignerError

# Module → names; imported when first asked for, so that importing the package costs nothing.
_NAMES = {
    "coverage_eval.alignment.aligner": ("Aligner",),
    "coverage_eval.comparison.comparison": ("Comparison", "compare"),
    "coverage_eval.errors": ("CoverageEvalError", "DataError"),
    "coverage_eval.metrics.drop": ("DROP", "SoftDROP", "StopWords"),
    "coverage_eval.metrics.functions": (
        "bleu",
        "chrf",
        "drop",
        "letter_rep",
        "meteor",
        "rep",
        "soft_drop",
    ),
    "coverage_eval.metrics.meteor.metric": ("METEOR",),
    "coverage_eval.metrics.profile": ("profile",),
    "coverage_eval.metrics.rep": ("REP", "LetterREP"),
    "coverage_eval.metrics.sacrebleu_adapters": ("BLEU", "CHRF"),
    "coverage_eval.metrics.score": ("Score",),
    "coverage_eval.metrics.omissions": ("OmissionFinder",),
    "coverage_eval.papers.reproduction.run_audit": ("audit_runs",),
    "coverage_eval.papers.audits": ("run_audits",),
    "coverage_eval.testbed.demonstration": ("demonstrate",),
    "coverage_eval.data.files": ("read_segments",),
    "fast_align_wrapper.errors": ("AlignerError",),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}
_ROOMS = ("attention", "attention_maps", "plotting")

__all__ = [  # noqa: PLE0604 (names of strings only)
    "__version__",
    *_ROOMS,
    *sorted(_HOMES),
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
