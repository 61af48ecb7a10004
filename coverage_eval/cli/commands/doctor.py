"""``coverage-eval doctor``."""

from __future__ import annotations

import platform
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import click

from coverage_eval.cli.options import Command, Output, output_options
from coverage_eval.cli.output import show
from coverage_eval.tables.table import Printable, Table
from coverage_eval.version import __version__
from fast_align_wrapper.errors import AlignerError
from fast_align_wrapper.process import installed_from

_PURPOSES = {
    "meteor": "meteor",
    "neural": "links of a multilingual encoder",
    "nmt": "training the paper's systems",
    "notebooks": "the notebooks",
    "parquet": "reading Parquet",
    "spark": "scoring on a cluster",
    "torch": "constrained attention in PyTorch, reproduce digits",
}
"""What an extra is for."""

_REQUIREMENT = re.compile(
    r"""(?P<name>[\w.-]+) [^;<]* (?:<(?P<below>\d+))? [^;]*
    (?:;.*?python_version\ <\ "3\.(?P<older>\d+)")? (?:.*extra\ ==\ "(?P<extra>\w+)")?""",
    re.VERBOSE,
)
"""A requirement in the package's metadata, in the form that build tools write."""

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
        Part("python", "everything", f"{platform.python_version()} ({sys.executable})"),
        *_packages(),
        *_aligner(),
        _java(),
    ]


def _packages() -> Iterator[Part]:
    """This package, and those that its metadata names, each once."""
    try:
        requirements = metadata.requires("coverage-eval") or []
    except metadata.PackageNotFoundError:
        remedy = "these files are not installed: pip install . in their folder"
        yield Part("coverage-eval", "everything", __version__, remedy)
        return
    yield Part("coverage-eval", "everything", __version__)
    extras: dict[str, list[str]] = {}
    limits = {}
    for requirement in requirements:
        found = _REQUIREMENT.fullmatch(requirement)
        assert found is not None, requirement
        name, below, older, extra = found.groups()
        if name != "coverage-eval" and (not older or sys.version_info < (3, int(older))):
            extras.setdefault(name, []).extend([extra] if extra else [])
            limits[name] = int(below) if below else None
    for name, of in extras.items():
        purpose = "; ".join(_PURPOSES.get(extra, extra) for extra in of) or "everything"
        added = f"{installed_from()}[{of[0]}]" if of else installed_from()
        yield _package(name, purpose, f"{_installer()} '{added}'", limits[name])


def _package(name: str, needed_for: str, install: str, below: int | None) -> Part:
    """A package.

    Args:
        name: Its name.
        needed_for: What does not work without it.
        install: The command that installs it.
        below: The first major version that does not work; None if all later ones do.
    """
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Part(name, needed_for, None, install)
    if below and int(found.partition(".")[0]) >= below:
        return Part(name, needed_for, found, f"{install} (a release below {below} is needed)")
    return Part(name, needed_for, found)


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
    if output.output_format == "text":  # commands do not fit into a column
        notes = tuple(f"{item.part}: {item.remedy}" for item in diagnosis if item.remedy)
        table = Table(header[:4], tuple(row[:4] for row in shown), notes=notes)
    show(Printable((table,), data=data), output)
