"""``audit run``: everything that can be checked of finished runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coverage_eval.nmt.replay_audit import replay_claim
from coverage_eval.nmt.roster import TABLES
from coverage_eval.nmt.run_comparison import comparison_claims
from coverage_eval.nmt.run_folder import RunFolder
from coverage_eval.published.claims import Audit

__all__ = ["audit_runs"]


def audit_runs(paths: Sequence[Path], *, title: str, segments: int = 100) -> Audit:
    """Replay the models of runs in NumPy, and set their scores beside the printed ones.

    Args:
        paths: Folders of runs: one, or several of different seeds on the same corpora.
        title: What was checked, in words.
        segments: Test sentences to replay of each system.

    Raises:
        DataError: A folder without a run or without a finished system, or runs that do not belong
            together.
    """
    runs = [RunFolder.existing(path) for path in paths]
    directions = [claim for table in TABLES for claim in comparison_claims(runs, table)]
    replays = [replay_claim(run, segments=segments) for run in runs]
    return Audit("run", title, (*replays, *directions))
