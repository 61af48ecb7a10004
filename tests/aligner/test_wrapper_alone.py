"""The wrapper without the rest of coverage-eval, and where it finds its executables."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fast_align_wrapper.process import bundled_folder
from tests.conftest import DEPENDENCIES, ROOT, run_python

PACKAGE = ROOT / "fast_align_wrapper"


ALONE = """
import sys
sys.modules["coverage_eval"] = None  # importing it fails
from fast_align_wrapper import FastAlign, format_links
pairs = [("ein haus", "a house"), ("das haus", "the house")] * 20
with FastAlign.train(pairs) as model:
    model.save(sys.argv[1])
with FastAlign.load(sys.argv[1]) as model:
    print(*map(format_links, model.align(pairs[:1])))
    print(*(found.matrix.argmax(axis=1) for found in model.posteriors(pairs[:1])))
try:
    FastAlign.load("nowhere")
except ValueError as error:
    print(error)
"""


def test_it_works_without_coverage_eval(tmp_path):
    command = [sys.executable, "-c", ALONE, str(tmp_path / "model")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stderr == ""
    assert done.stdout == "0-0 1-1\n[0 1]\nnowhere: no such file\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Content of site-packages after ``pip install .``: Python files, and executables in bin."""
    folder = tmp_path_factory.mktemp("site-packages")
    for package in (PACKAGE, ROOT / "coverage_eval"):
        ignored = shutil.ignore_patterns("src", "__pycache__")
        shutil.copytree(package, folder / package.name, ignore=ignored)
    shutil.copytree(bundled_folder(), folder / PACKAGE.name / "bin", dirs_exist_ok=True)
    return folder


def test_installed_executables_are_found_from_inside_the_clone(installed):
    """The source folder, in which Python runs here, hides the installed packages."""
    if (PACKAGE / "bin").exists():
        pytest.skip("the source folder has its own executables")
    program = (
        "import fast_align_wrapper as package; print(package.__file__); "
        "from fast_align_wrapper.process import bundled_folder; print(bundled_folder()); "
        "print(package.FastAlign.train([('ein haus', 'a house')] * 9).manifest.pairs)"
    )
    folder = installed / PACKAGE.name / "bin"
    expected = f"{PACKAGE / '__init__.py'}\n{folder}\n9\n"
    assert run_python("-c", program, cwd=ROOT, path=[installed, *DEPENDENCIES]) == expected


def configure(build: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run CMake without a compiler."""
    options = [f"-D{name}={value}" for name, value in settings.items()]
    return subprocess.run(
        ["cmake", "-S", str(PACKAGE), "-B", str(build), *options],
        capture_output=True, text=True, check=False, env={**os.environ, "CXX": "no-compiler"},
    )  # fmt: skip


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no CMake")
def test_a_missing_compiler_is_an_error_only_if_the_aligner_is_required(tmp_path):
    done = configure(tmp_path / "auto")
    assert done.returncode == 0, done.stderr
    assert "no C++17 compiler: coverage-eval is built without its word aligner" in done.stderr
    assert (
        subprocess.run(["cmake", "--install", str(tmp_path / "auto")], check=False).returncode == 0
    )
    assert configure(tmp_path / "off", ALIGNER="OFF").returncode == 0
    done = configure(tmp_path / "on", ALIGNER="ON")
    assert done.returncode == 1
    assert "no C++17 compiler" in done.stderr


def test_everything_else_works_without_the_aligner(installed, tmp_path):
    site = tmp_path / "site-packages"
    shutil.copytree(installed, site, ignore=shutil.ignore_patterns("bin"))
    for package in (package for folder in DEPENDENCIES for package in Path(folder).iterdir()):
        if not (site / package.name).exists():
            (site / package.name).symlink_to(package)
    texts = {"hyp": "a a b", "ref": "a b c", "src": "x y z", "a": "0-0 1-1 2-2", "b": "0-0 1-2"}
    for name, text in texts.items():
        (tmp_path / name).write_text(f"{text}\n")

    commands = [
        "rep hyp ref -b", "drop hyp ref --src src --ref-links a --links b -b",
        "--version",
    ]  # fmt: skip
    program = f"from coverage_eval.cli import main\nfor c in {commands}: main(c.split())"
    rep, drop, *version = run_python("-c", program, cwd=tmp_path, path=[site]).splitlines()
    assert (rep, drop) == ("66.67", "33.33")
    assert "this installation has no word aligner" in "\n".join(version)
    with pytest.raises(AssertionError, match="error: this installation has no word aligner"):
        run_python("-m", "coverage_eval", "demo", cwd=tmp_path, path=[site])
