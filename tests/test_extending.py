"""The site's steps for a new metric, loader and transformation work in a copy of the sources."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import DEPENDENCIES, ROOT, run_python

PAGE = ROOT / "notebooks" / "docs" / "pages" / "extending.md"


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of both packages with all files and changes of the page."""
    folder = tmp_path_factory.mktemp("extended")
    text = PAGE.read_text(encoding="utf-8")
    for package in ("coverage_eval", "fast_align_wrapper"):
        ignored = shutil.ignore_patterns("__pycache__", "frontend", "src")
        shutil.copytree(ROOT / package, folder / package, ignore=ignored)
    files = re.findall(r'^```python title="(.*?)"\n(.*?)^```$', text, re.MULTILINE | re.DOTALL)
    changes = re.findall(r"^```diff\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(files) == len(changes) == 3
    for name, content in files:
        assert not (folder / name).exists()
        (folder / name).write_text(content, encoding="utf-8")
    for change in changes:
        command = ["git", "apply", "--recount", "-"]
        done = subprocess.run(command, cwd=folder, input=change, text=True, check=False)
        assert done.returncode == 0, change
    return folder


def run(folder: Path, *arguments: str) -> str:
    return run_python(*arguments, cwd=folder, path=[folder, *DEPENDENCIES])


def test_the_metric_has_a_command_and_a_column(extended: Path) -> None:
    (extended / "hyp").write_text("a red red house\n")
    (extended / "ref").write_text("a red house\n")
    scored = run(extended, "-m", "coverage_eval", "length", "hyp", "ref")
    assert scored == "Length|refs:1|case:mixed|tok:none|version:0.1.0 = 133.33\n"
    table = run(
        extended, "-m", "coverage_eval", "compare", "--ref", "ref", "hyp", "--metrics",
        "rep,length", "-f", "csv",
    )  # fmt: skip
    assert "hyp,Length,133.33" in table


def test_the_loader_is_recognised(extended: Path) -> None:
    (extended / "log").write_text("loading\nATTN 0.9,0.1;0.2,0.8\n")
    for name in "src", "out":
        (extended / name).write_text("a b\n")
    links = run(
        extended, "-m", "coverage_eval", "attention", "links", "log", "--src", "src", "--hyp", "out"
    )
    assert links == "0-0 1-1\n"


# Checks it against the optimisation problem that defines it, and its gradient numerically.
TRANSFORMATION = """
import numpy as np
from scipy.optimize import minimize
from coverage_eval.attention import attend_with_credit, find_transformation
entmax = find_transformation("1.5-entmax")
z = np.array([0.7, 0.1, -0.4, -3.0])
alpha = entmax.function(z)
def loss(p):
    return (4 / 3) * (p**1.5).sum() - p @ z
on_simplex = {"type": "eq", "fun": lambda p: p.sum() - 1}
best = minimize(loss, np.full(4, 0.25), bounds=[(0, 1)] * 4, constraints=on_simplex, tol=1e-12).x
np.testing.assert_allclose(alpha, best, atol=1e-4)
moved = [(entmax.function(z + e) - entmax.function(z - e)) / 2e-6 for e in 1e-6 * np.eye(4)]
np.testing.assert_allclose(entmax.jacobian(alpha), np.transpose(moved), atol=1e-6)
weights = np.arange(4.0)
np.testing.assert_allclose(entmax.vjp(weights, alpha), weights @ entmax.jacobian(alpha))
np.testing.assert_allclose(attend_with_credit([z], 1.0, "entmax15")[0].sum(), 1)
"""


def test_the_transformation_solves_its_problem_and_has_its_gradient(extended: Path) -> None:
    assert run(extended, "-c", TRANSFORMATION) == ""
