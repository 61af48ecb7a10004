"""The script's sources: types, unit tests, and the bundle in the package; `make lint` has style."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "coverage_eval" / "comparison" / "report"
FRONTEND = PACKAGE / "frontend"


def npm(*command: str) -> subprocess.CompletedProcess[str]:
    """What npm did; its messages are shown where a test fails."""
    if shutil.which("npm") is None or not (FRONTEND / "node_modules").is_dir():
        pytest.skip("no node, or its packages are not installed: make test-browser")
    return subprocess.run(
        ["npm", "--silent", *command], cwd=FRONTEND, capture_output=True, text=True, check=False
    )


def test_types_are_correct():
    checked = npm("run", "check")
    assert checked.returncode == 0, checked.stdout


def test_unit_tests_pass():
    tested = npm("test")
    assert tested.returncode == 0, tested.stdout
    assert "# fail 0" in tested.stdout


def test_the_bundle_is_built_from_the_sources(tmp_path):
    built = npm("run", "build", "--", str(tmp_path / "report.js"))
    assert built.returncode == 0, built.stderr
    carried = (PACKAGE / "assets" / "report.js").read_bytes()
    assert (tmp_path / "report.js").read_bytes() == carried, "npm run build, and commit the bundle"


def test_locked_packages_name_no_host():
    lock = json.loads((FRONTEND / "package-lock.json").read_text(encoding="utf-8"))
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]
