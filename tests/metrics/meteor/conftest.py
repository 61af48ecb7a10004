"""Fixtures for METEOR's tests: its data, golden figures, Java."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from coverage_eval.errors import MissingDependencyError
from coverage_eval.metrics.meteor.words import JAR, PARAPHRASES, data_file


@pytest.fixture(scope="session", autouse=True)
def _extra() -> None:
    """Skip if the ``meteor`` extra is not installed."""
    pytest.importorskip("snowballstemmer", reason="the meteor extra is not installed")
    try:
        data_file(JAR)
        data_file(PARAPHRASES)
    except MissingDependencyError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session", autouse=True)
def _paraphrases(_extra: None, paraphrases: None) -> None:
    """Make the paraphrase index before the first test."""


@pytest.fixture(scope="session")
def java() -> None:
    """Skip if there is no Java to run the jar."""
    if shutil.which("java") is None:
        pytest.skip("no Java here: the comparison with the Meteor jar is left out")


@pytest.fixture(scope="session")
def golden(shared: Path) -> Path:
    """The figures of the Meteor 1.5 jar; see the README in the folder for their origin."""
    folder = shared / "golden" / "meteor"
    if not folder.is_dir():
        pytest.skip(f"no golden figures at {folder}")
    return folder
