"""The public names exist, are documented, and are cheap to import."""

import dataclasses
import doctest
import importlib
import importlib.util
import inspect
import pkgutil
import subprocess
import sys

import pytest

import coverage_eval


@pytest.mark.parametrize("name", coverage_eval.__all__)
def test_public_names_exist_and_are_documented(name):
    assert name in dir(coverage_eval)
    item = getattr(coverage_eval, name)
    assert name == "__version__" or ">>>" in item.__doc__


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ("import coverage_eval, coverage_eval.cli", "[]"),
        (
            "from importlib import import_module\n"
            "for name in ('align', 'attention', 'audit', 'compare', 'demo', 'drop', 'meteor',"
            " 'omissions', 'rep', 'report', 'segment'):\n"
            "    import_module(f'coverage_eval.cli.commands.{name}')",
            "['numpy']",
        ),
    ],
    ids=["packages", "commands"],
)
def test_heavy_libraries_are_imported_only_where_used(program, found):
    heavy = ("numpy", "pandas", "matplotlib", "sacrebleu", "scipy", "nltk", "torch")
    shown = f"import sys\n{program}\nprint([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, check=True)
    assert done.stdout.decode() == f"{found}\n"


@pytest.mark.parametrize("command", ["rep", "bleu"])
def test_a_command_of_text_imports_no_other_feature(command, tmp_path):
    (tmp_path / "text").write_text("a house\n")
    program = (
        f"import sys\nfrom coverage_eval.cli import main\nmain(['{command}', 'text', 'text'])\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, cwd=tmp_path
    )
    loaded = set(done.stderr.decode().split())
    assert "coverage_eval.cli.commands.score" in loaded
    for room in ("align", "comparison", "coverage", "documents", "plotting"):
        assert f"coverage_eval.{room}" not in loaded
    assert not loaded & {"jinja2", "matplotlib", "pandas", "rich", "scipy"}


MODULES = [
    info.name
    for package in ("coverage_eval", "fast_align_wrapper")
    for info in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
    if not info.name.endswith("__main__")
]


NEED_TORCH = "coverage_eval.torch"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.needs("torch") if name.startswith(NEED_TORCH) else ())
        for name in ["coverage_eval", *MODULES]
    ],
)
def test_every_module_is_documented_and_its_examples_hold(name):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        missing = getattr(error.__cause__ or error, "name", None)
        assert (name.startswith("coverage_eval.spark"), missing) == (True, "pyarrow")
        assert importlib.util.find_spec("pyarrow") is None
        return
    assert module.__doc__
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    "name", ["rep", "letter_rep", "drop", "soft_drop", "bleu", "chrf", "ter", "meteor"]
)
def test_functions_have_the_settings_of_their_metrics(name):
    """So editors can complete them; the metric's fields define the defaults."""
    classes = {"letter_rep": "LetterREP", "soft_drop": "SoftDROP"}
    kind = getattr(coverage_eval, classes.get(name, name.upper()))
    parameters = inspect.signature(getattr(coverage_eval, name)).parameters.values()
    named = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    own = {
        item.name: item.default_factory() if callable(item.default_factory) else item.default
        for item in dataclasses.fields(kind)
        if item.name not in {"aligner"}
    }
    assert named == own
    (how,) = [p.annotation for p in parameters if p.kind is p.VAR_KEYWORD]
    assert how == "Unpack[Scoring]"  # editors complete its keys
