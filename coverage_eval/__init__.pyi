"""The public names and their homes; at run time each is imported when it is first asked for."""

from . import attention, attention_maps, plotting
from .alignment.aligner import Aligner
from .alignment.segmentation import Segmentation, Segmenter, segment
from .comparison.comparison import Comparison, compare
from .data.stop_words import StopWords
from .data.tables import read_segments
from .demonstration import demonstrate
from .errors import AlignerError, CoverageEvalError, DataError
from .metrics.drop import DROP, SoftDROP
from .metrics.functions import bleu, chrf, drop, letter_rep, meteor, omissions, rep, soft_drop, ter
from .metrics.loops import LoopDetector
from .metrics.meteor.metric import METEOR
from .metrics.omission_finder import OmissionFinder
from .metrics.omission_training import train_for_omissions
from .metrics.rep import REP, LetterREP
from .metrics.sacrebleu_adapters import BLEU, CHRF, TER
from .metrics.score import Score
from .papers.audits import run_audits
from .report.html import make_report
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
    "LoopDetector",
    "OmissionFinder",
    "Score",
    "Segmentation",
    "Segmenter",
    "SoftDROP",
    "StopWords",
    "__version__",
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
