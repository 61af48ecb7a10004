"""``audit run``: everything that can be checked of finished runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coverage_eval.errors import DataError
from coverage_eval.nmt.run_comparison import comparison_claims
from coverage_eval.nmt.run_folder import RunFolder
from coverage_eval.published.claims import Audit, Claim

TITLE = "Trained models replayed in NumPy, their scores beside the printed ones"

_TABLES = ("table1", "table2")


def audit_runs(paths: Sequence[str | Path], *, segments: int = 100) -> Audit:
    """Replay the models of runs in NumPy, and set their scores beside the printed ones.

    >>> import coverage_eval as ce
    >>> try:
    ...     ce.audit_runs(["seed1", "seed2"])
    ... except ce.DataError as error:
    ...     print(error)
    seed1: no run is there (it would have a file manifest.json)

    What ``reproduce keep`` kept of a run has no models; its scores are set beside the printed ones.

    Args:
        paths: Folders of runs: one, or several of different seeds on the same corpora.
        segments: Test sentences to replay of each system.

    Raises:
        DataError: A folder without a run, with nothing finished, or runs that do not belong
            together.
        ImportError: PyTorch is needed to read models, and is not installed.
    """
    runs = [RunFolder.existing(Path(path)) for path in paths]
    claims = [_replay(run, segments) for run in runs if (run.path / "models").is_dir()]
    claims += [claim for table in _TABLES for claim in comparison_claims(runs, table)]
    if not claims:
        raise DataError(f"{paths[0]}: no system is finished yet")
    return Audit("run", TITLE, tuple(claims))


def _replay(run: RunFolder, segments: int) -> Claim:
    from coverage_eval.nmt.replay_audit import replay_claim

    return replay_claim(run, segments=segments)
