"""The public names and their homes; at run time each is imported when it is first asked for."""

from . import attention, attention_maps, plotting
from .align.aligner import Aligner, AlignerError
from .align.gold import aer
from .api import bleu, chrf, drop, letter_rep, meteor, omissions, rep, soft_drop, ter
from .comparison.compare import compare
from .comparison.report.html import make_report
from .comparison.table import Comparison
from .core.errors import CoverageEvalError, DataError
from .core.score import Score
from .core.texts import read_segments
from .core.tokenizers import StopWords
from .coverage.drop import DROP, SoftDROP
from .coverage.omission_finder import FoundSegment, OmissionFinder
from .coverage.training import train_for_omissions
from .demonstration import demonstrate
from .documents.segment import Segmenter, segment
from .documents.segmentation import Segmentation
from .papers.audits import run_audits
from .quality.meteor.metric import METEOR
from .quality.sacre import BLEU, CHRF, TER
from .repetition.loops import LoopDetector
from .repetition.rep import REP, LetterREP
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
    "FoundSegment",
    "LetterREP",
    "LoopDetector",
    "OmissionFinder",
    "Score",
    "Segmentation",
    "Segmenter",
    "SoftDROP",
    "StopWords",
    "__version__",
    "aer",
    "attention",
    "attention_maps",
    "bleu",
    "chrf",
    "compare",
    "demonstrate",
    "drop",
    "letter_rep",
    "make_report",
    "meteor",
    "omissions",
    "plotting",
    "read_segments",
    "rep",
    "run_audits",
    "segment",
    "soft_drop",
    "ter",
    "train_for_omissions",
]
