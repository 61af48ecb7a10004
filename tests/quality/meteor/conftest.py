"""Fixtures for METEOR's tests: its data, golden figures, Java."""

from __future__ import annotations

from pathlib import Path

import pytest

from coverage_eval.core.errors import MissingDependencyError
from coverage_eval.quality.meteor.words import JAR, PARAPHRASES, data_file


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
def golden(shared: Path) -> Path:
    """The figures of the Meteor 1.5 jar; see the README in the folder for their origin."""
    folder = shared / "golden" / "meteor"
    if not folder.is_dir():
        pytest.skip(f"no golden figures at {folder}")
    return folder
