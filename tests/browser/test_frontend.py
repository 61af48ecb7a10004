"""The script's sources: types, style, unit tests, and the bundle in the package."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "coverage_eval" / "comparison" / "report"
FRONTEND = PACKAGE / "frontend"


def npm(*command: str) -> str:
    if shutil.which("npm") is None or not (FRONTEND / "node_modules").is_dir():
        pytest.skip("no node, or its packages are not installed: make test-browser")
    done = subprocess.run(
        ["npm", "--silent", *command], cwd=FRONTEND, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_types_are_correct():
    npm("run", "check")


def test_sources_are_formatted_and_linted():
    npm("run", "lint")


def test_unit_tests_pass():
    assert "# fail 0" in npm("test")


def test_the_bundle_is_built_from_the_sources(tmp_path):
    npm("run", "build", "--", str(tmp_path / "report.js"))
    carried = (PACKAGE / "assets" / "report.js").read_bytes()
    assert (tmp_path / "report.js").read_bytes() == carried, "npm run build, and commit the bundle"


def test_locked_packages_name_no_host():
    lock = json.loads((FRONTEND / "package-lock.json").read_text(encoding="utf-8"))
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]
