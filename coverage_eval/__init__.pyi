"""The public names and their homes; at run time each is imported when it is first asked for."""

from . import attention, attention_maps, plotting
from .alignment.aligner import Aligner
from .comparison.comparison import Comparison, compare
from .data.files import read_segments
from .errors import AlignerError, CoverageEvalError, DataError
from .metrics.drop import DROP, SoftDROP, StopWords
from .metrics.functions import bleu, chrf, drop, letter_rep, meteor, rep, soft_drop, ter
from .metrics.meteor.metric import METEOR
from .metrics.omissions import OmissionFinder
from .metrics.profile import profile
from .metrics.rep import REP, LetterREP
from .metrics.sacrebleu_adapters import BLEU, CHRF, TER
from .metrics.score import Score
from .papers.audits import run_audits
from .papers.reproduction.run_audit import audit_runs
from .testbed.demonstration import demonstrate
from .version import __version__

__all__ = [
    "BLEU",
    "CHRF",
    "DROP",
    "METEOR",
    "REP",
    "TER",
    "Aligner",
    "AlignerError",
    "Comparison",
    "CoverageEvalError",
    "DataError",
    "LetterREP",
    "OmissionFinder",
    "Score",
    "SoftDROP",
    "StopWords",
    "__version__",
    "attention",
    "attention_maps",
    "audit_runs",
    "bleu",
    "chrf",
    "compare",
    "demonstrate",
    "drop",
    "letter_rep",
    "meteor",
    "plotting",
    "profile",
    "read_segments",
    "rep",
    "run_audits",
    "soft_drop",
    "ter",
]
