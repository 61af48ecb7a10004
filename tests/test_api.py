"""The public names: there, documented, and cheap to import."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import pkgutil
import subprocess
import sys

import pytest

import coverage_eval


@pytest.mark.parametrize("name", coverage_eval.__all__)
def test_public_names_exist_and_are_documented(name: str) -> None:
    assert name in dir(coverage_eval)
    item = getattr(coverage_eval, name)
    assert name == "__version__" or ">>>" in item.__doc__


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match="ROUGE"):
        coverage_eval.ROUGE  # noqa: B018


def test_heavy_libraries_are_imported_only_where_used() -> None:
    program = (
        "import sys, coverage_eval, coverage_eval.cli; "
        "print([m for m in ('numpy', 'pandas', 'matplotlib', 'sacrebleu', 'scipy', 'nltk', 'torch')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == b"[]\n"


MODULES = [
    info.name
    for package in ("coverage_eval", "fast_align_wrapper")
    for info in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
    if not info.name.endswith("__main__")
]


OPTIONAL_ROOMS = {
    "papers.reproduction": ["torch", "tokenizers"], "torch": ["torch"], "spark": ["pyarrow"]
}  # fmt: skip
"""Rooms whose modules may need what an extra installs."""


@pytest.mark.parametrize("name", ["coverage_eval", *MODULES])
def test_every_module_is_documented_and_its_examples_hold(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        missing = getattr(error.__cause__ or error, "name", None)
        assert missing in [
            package
            for room, packages in OPTIONAL_ROOMS.items()
            for package in packages
            if f"{name}.".startswith(f"coverage_eval.{room}.")
        ]
        assert importlib.util.find_spec(missing) is None
        return  # `make test-torch` imports it
    assert module.__doc__
    assert doctest.testmod(module).failed == 0
