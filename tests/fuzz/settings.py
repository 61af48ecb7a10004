"""Commands with odd options, names, encodings and models; the aligner with few resources."""

from __future__ import annotations

import copy
import io
import json
import os
import random
import resource
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import click

from coverage_eval.cli import cli
from fast_align_wrapper.process import bundled_folder
from tests.fuzz.aligner import PAIRS, build
from tests.fuzz.commands import TARGETS, import_everything, run_target
from tests.fuzz.findings import SECONDS, Campaign, Run

__all__ = ["KINDS", "attack_limits", "attack_settings"]

HOSTILE = "x\x1b[31m\x07\u202e\u2028\u200b\U000e0041\ny"
_VALUES = (
    "", "0", "-1", "1", "1_0", "１", "nan", "inf", "1e400", "9" * 30, "0.5", "x", HOSTILE, "-",
    "/dev/stdin", "hyp", "ref", "src", "one", "a,b", "rep,drop", "all", "=", "x=", "x" * 10_000,
    "é↓", "--", "*", "text", "json", "csv", "latex",
)  # fmt: skip
_LEAVES = (
    None, True, 0, 1, -1, 2.5, 10**400, 1e308, float("nan"), "", "x", "13a", HOSTILE, "x" * 10**6,
    [], [1], {}, {"a": 1},
)  # fmt: skip
_NOT_TRIED = {"--fast-align", "--help", "--help-all"}
"""The first names a program to run, which is trusted."""

Case = tuple[list[str], dict[str, bytes]]


def _options_of(words: Sequence[str]) -> list[str]:
    """The options of the command of a command line."""
    command: click.Command = cli
    for word in words:
        if not isinstance(command, click.Group):
            break
        found = command.get_command(click.Context(command), word)
        assert found is not None
        command = found
    flags = [param.opts[0] for param in command.params if isinstance(param, click.Option)]
    return [flag for flag in flags if flag not in _NOT_TRIED]


def with_options(words: list[str], files: dict[str, bytes], generator: random.Random) -> Case:
    """Add some options of the command, with values that are probably wrong."""
    for flag in generator.choices(_options_of(words), k=generator.choice((1, 1, 2))):
        words = [*words, flag, *generator.choices(_VALUES, k=generator.choice((0, 1, 1, 1)))]
    return words, files


def with_names(words: list[str], files: dict[str, bytes], generator: random.Random) -> Case:
    """Rename a file to a name with terminal controls, direction marks and invisible characters."""
    named = [key for key in files if key in words]
    if not named:
        return words, files
    key = generator.choice(named)
    name = f"{generator.choice(HOSTILE)}{HOSTILE}{key}"
    return (
        [name if word == key else word for word in words],
        {name if file == key else file: data for file, data in files.items()},
    )


def leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values in JSON."""
    if not isinstance(value, (dict, list)):
        return
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*place, key)
        yield from leaves(item, (*place, key))


def with_manifests(words: list[str], files: dict[str, bytes], generator: random.Random) -> Case:
    """Change one value of the model's manifest."""
    if "model" not in files:
        return words, files
    with zipfile.ZipFile(io.BytesIO(files["model"])) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["manifest.json"])
    *parents, last = generator.choice(list(leaves(manifest)))
    holder = manifest
    for key in parents:
        holder = holder[key]
    holder[last] = copy.deepcopy(generator.choice(_LEAVES))
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in (members | {"manifest.json": json.dumps(manifest).encode()}).items():
            archive.writestr(name, data)
    return words, files | {"model": made.getvalue()}


_VARIABLES = (
    "SOURCE_DATE_EPOCH", "MPLBACKEND", "COLUMNS", "LINES", "TERM", "NO_COLOR", "TZ", "LANG",
    "LC_ALL", "TMPDIR", "HOME", "XDG_CACHE_HOME", "MPLCONFIGDIR", "COVERAGE_EVAL_CACHE",
    "SACREBLEU", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TQDM_DISABLE", "PYTHONWARNINGS",
)  # fmt: skip


def with_variables(words: list[str], files: dict[str, bytes], generator: random.Random) -> Case:
    """Set some variables of the environment, probably to nonsense."""
    values = [value for value in _VALUES if len(value) < 100]
    for name in generator.choices(_VARIABLES, k=generator.choice((1, 1, 3))):
        words = [f"{name}={generator.choice(values)}", *words]
    return words, files


def with_derived_names(words: list[str], files: dict[str, bytes], generator: random.Random) -> Case:
    """Write to names that stand for an input, or beside which an input stands."""
    target = generator.choice(["out", "sub/", "/dev/stdout", "/dev/fd/2", "/dev/null", *files])
    form = generator.choice(("csv", "jsonl", "json", "text"))
    beside = generator.choice(list(files))
    more = {f"{target}.signatures": files[beside]} if target == "out" else {}
    return [*words, "-f", form, "-o", target], files | more


def unchanged(words: list[str], files: dict[str, bytes], _: random.Random) -> Case:
    """The command unchanged, to be run with another encoding."""
    return words, files


KINDS: dict[str, Callable[[list[str], dict[str, bytes], random.Random], Case]] = {
    "options": with_options,
    "names": with_names,
    "manifests": with_manifests,
    "encodings": unchanged,
    "variables": with_variables,
    "derived names": with_derived_names,
}


def attack_settings(kind: str, seconds: float, seed: int = 0, most: int = 1 << 40) -> Campaign:
    """Run commands with one kind of change for some time.

    Args:
        kind: One of :data:`KINDS`.
        seconds: How long to run.
        seed: Seed of the choices.
        most: Maximum number of runs.
    """
    import_everything()
    campaign, generator = Campaign(), random.Random(seed)
    end = time.monotonic() + seconds
    names = [name for name in TARGETS if kind != "manifests" or "model" in TARGETS[name].files]
    while time.monotonic() < end and campaign.runs < most:
        target = TARGETS[generator.choice(names)]
        words, files = KINDS[kind](target.command.split(), dict(target.files), generator)
        encoding = generator.choice(("ascii", "latin-1", "cp1252")) if kind == "encodings" else ""
        done = run_target(words, files, prints_data=target.prints_data, encoding=encoding)
        shown = {key.encode("ascii", "backslashreplace").decode().replace("/", "_"): data
                 for key, data in files.items()}  # fmt: skip
        campaign.judge(kind, {**shown, "command": repr((words, encoding)).encode()}, done)
    return campaign


def attack_limits(seconds: float, seed: int = 0, most: int = 1 << 40) -> Campaign:
    """Run the aligner with little memory, and its AddressSanitizer build with few threads.

    AddressSanitizer needs terabytes of address space, so its memory is not limited. Its search for
    leaks starts a process, so it is off here. For root the number of processes is not limited, so
    under root the aligner runs as the user nobody.
    """
    campaign, generator = Campaign(), random.Random(seed)
    tool, plain = build("asan"), bundled_folder() / "fast_align"
    text = PAIRS * 200
    end = time.monotonic() + seconds
    while time.monotonic() < end and campaign.runs < most:
        few_threads = generator.random() < 0.5
        kind = resource.RLIMIT_NPROC if few_threads else resource.RLIMIT_AS
        limit = generator.randrange(1, 40) if few_threads else generator.randrange(8, 400) << 20
        program = tool.folder / "fast_align" if few_threads else plain
        threads = generator.choice((2, 8, 32, 1024))
        command = [str(program), "-i", "-", "-d", "-o", "-v", "-I", "2", "--threads", str(threads)]
        try:
            done = subprocess.run(
                command, input=text, capture_output=True, check=False, timeout=SECONDS,
                env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0"},
                user=65534 if few_threads and os.geteuid() == 0 else None,
                preexec_fn=partial(resource.setrlimit, kind, (limit, limit)),
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            run = Run(-9, b"", f"no end within {SECONDS:g} seconds")
        else:
            said = done.stderr.decode("utf-8", "replace")
            run = Run(done.returncode, b"", said, prints_data=True)
        campaign.judge("limits", {"command": repr((command[1:], kind, limit)).encode()}, run)
    return campaign
