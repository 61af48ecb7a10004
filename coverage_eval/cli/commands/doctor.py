"""``coverage-eval doctor``."""

from __future__ import annotations

import platform
import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import click

from coverage_eval.cli.options import Command, Output, output_options
from coverage_eval.cli.output import has_rich, show
from coverage_eval.tables.table import Printable, Table
from coverage_eval.version import __version__
from fast_align_wrapper.errors import AlignerError

# Extra → the packages it adds.
EXTRAS = {
    "meteor": ("pycocoevalcap", "snowballstemmer"),
    "notebooks": ("ipykernel", "jupyterlab"),
    "torch": ("torch",),
    "nmt": ("tokenizers",),
    "parquet": ("pyarrow",),
    "spark": ("pyspark", "pyarrow"),
}
CORE = (
    "click", "matplotlib", "nltk", "numpy", "pandas", "rich", "sacrebleu", "scipy", "tabulate",
    "tqdm",
)  # fmt: skip

_TRIAL = [("ein haus", "a house"), ("das haus", "the house")] * 4
_TRIAL_SECONDS = 20.0


@dataclass(frozen=True)
class Part:
    """One part of an installation.

    Attributes:
        part: Its name.
        needed_for: What does not work without it.
        found: Its version or place; None if it is missing.
        remedy: The command that adds it; None if it works.
    """

    part: str
    needed_for: str
    found: str | None
    remedy: str | None = None

    @property
    def ok(self) -> bool:
        """Whether it works."""
        return self.remedy is None


def diagnose() -> list[Part]:
    """Check everything that the commands may need."""
    return [
        Part("coverage-eval", "everything", __version__),
        Part("python", "everything", f"{platform.python_version()} ({sys.executable})"),
        *(_package(name, "everything", "coverage-eval") for name in CORE),
        *_aligner(),
        *_extras(),
        _java(),
    ]


def _package(name: str, needed_for: str, requirement: str) -> Part:
    try:
        return Part(name, needed_for, metadata.version(name))
    except metadata.PackageNotFoundError:
        return Part(name, needed_for, None, f"{_installer()} '{requirement}'")


def _installer() -> str:
    """The command that adds packages to this environment: uv and pipx make some without pip."""
    if Path(sys.prefix, "uv-receipt.toml").exists():
        return f"uv pip install --python {shlex.quote(sys.executable)}"
    if Path(sys.prefix, "pipx_metadata.json").exists():
        return "pipx runpip coverage-eval install"
    return "pip install"


def _aligner() -> Iterator[Part]:
    from fast_align_wrapper import FastAlign
    from fast_align_wrapper.process import VARIABLE, find_fast_align

    purpose = "align, drop with a model"
    try:
        binary = find_fast_align()
    except AlignerError as error:
        yield Part("fast_align", purpose, None, str(error))
        return
    found = f"{binary.version or 'another build'} ({binary.path})"
    try:  # any program may have the name, so let it align
        FastAlign.train(_TRIAL, timeout=_TRIAL_SECONDS).close()
    except AlignerError as error:
        remedy = f"it does not align ({error}); set {VARIABLE} to one that does, or unset it"
        yield Part("fast_align", purpose, found, remedy)
        return
    yield Part("fast_align", purpose, found)


def _extras() -> Iterator[Part]:
    purposes = {
        "meteor": "meteor",
        "notebooks": "the notebooks",
        "torch": "constrained attention in PyTorch, reproduce digits",
        "nmt": "training the paper's systems",
        "parquet": "reading Parquet",
        "spark": "scoring on a cluster",
    }
    for extra, packages in EXTRAS.items():
        for package in packages:
            finding = _package(package, purposes[extra], f"coverage-eval[{extra}]")
            if package == "snowballstemmer" and (finding.found or "").startswith("3"):
                remedy = f"{_installer()} 'coverage-eval[meteor]' (release 3 stems differently)"
                finding = Part(package, "meteor", finding.found, remedy)
            yield finding


def _java() -> Part:
    path = shutil.which("java")
    remedy = None if path else "install a Java runtime, version 17 or newer"
    return Part("java", "scoring on a cluster", path, remedy)


@click.command("doctor", cls=Command)
@output_options(figures=False)
def command(output: Output) -> None:
    """Show what is installed, what is missing, and how to install it.

    \b
    Example:
      coverage-eval doctor
    """
    header = ("part", "found", "needed_for", "ok", "remedy")
    diagnosis = diagnose()
    rows = [(item.part, item.found, item.needed_for, item.ok, item.remedy) for item in diagnosis]
    shown = tuple((p, f or "missing", n, "yes" if ok else "no", r) for p, f, n, ok, r in rows)
    data = [dict(zip(header, row, strict=True)) for row in rows]
    table = Table(header, shown)
    if has_rich(output):  # a narrow one has no room for commands in a column
        notes = tuple(f"{item.part}: {item.remedy}" for item in diagnosis if item.remedy)
        table = Table(header[:3], tuple(row[:3] for row in shown), notes=notes)
    show(Printable((table,), data=data), output)
