"""fast_align and atools, built with sanitizers, on mutated files."""

from __future__ import annotations

import os
import random
import subprocess
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.conftest import ROOT
from tests.fuzz.findings import SECONDS, Campaign, Run, kept_inputs
from tests.fuzz.mutation import mutate

__all__ = ["SANITIZERS", "TARGETS", "attack_aligner", "build"]

SANITIZERS = {"asan": "address,undefined", "tsan": "thread"}
_SOURCES = ROOT / "fast_align_wrapper" / "src"
_COMPILER = ["c++", "-std=c++17", "-O1", "-g1", "-pthread", "-ffp-contract=off"]

PAIRS = (
    b"das haus ||| the house\nein buch ||| a book\n ||| x\ndas buch ||| the book\na b c ||| x y z\n"
)
PARAMETERS = b"das\tthe\t-0.1\nhaus\thouse\t-0.2\n<eps>\ta\t-3\nbuch\tbook\t-inf\nein\ta\t-1e-3\n"
LINKS = b"0-0 1-1\n\n2-1 0-0 1-3\n0-0\n"


class Target(NamedTuple):
    """A command line with names of files in braces, and the contents of these files."""

    command: str
    files: dict[str, bytes]


TARGETS = {
    "train": Target("fast_align -i {pairs} -d -o -v -I 3 -s -p {out}", {"pairs": PAIRS}),
    "train-reverse": Target("fast_align -i {pairs} -r -N -I 2 --max-cells 40", {"pairs": PAIRS}),
    "train-both": Target(
        "fast_align -i {pairs} --both --forward-links {out} --reverse-full {out} -d -o --memory 1",
        {"pairs": PAIRS},
    ),
    "force": Target(
        "fast_align -i {pairs} -f {params} -d --posteriors {out}",
        {"pairs": PAIRS, "params": PARAMETERS},
    ),
    "force-reverse": Target(
        "fast_align -i {pairs} -f {params} -r -q 0 --max-cells 4",
        {"pairs": PAIRS, "params": PARAMETERS},
    ),
    "atools": Target(
        "atools -i {one} -j {two} -c grow-diag-final-and", {"one": LINKS, "two": LINKS}
    ),
    "atools-display": Target("atools -i {one} -c display", {"one": LINKS}),
    "atools-fmeasure": Target("atools -i {one} -j {two} -c fmeasure", {"one": LINKS, "two": LINKS}),
}


@dataclass(frozen=True)
class Tool:
    """Executables that were compiled with a sanitizer."""

    folder: Path
    prefix: Sequence[str] = ()


def build(sanitizer: str) -> Tool:
    """Compile both executables with a sanitizer, unless they are up to date."""
    folder = ROOT / "build" / f"fuzz-{sanitizer}"
    folder.mkdir(parents=True, exist_ok=True)
    headers = max(path.stat().st_mtime for path in _SOURCES.glob("*.hpp"))
    flags = [f"-fsanitize={SANITIZERS[sanitizer]}", "-fno-sanitize-recover=all"]

    def compile_one(source: Path) -> Path:
        made = folder / f"{source.stem}.o"
        newest = max(headers, source.stat().st_mtime)
        if not made.exists() or made.stat().st_mtime < newest:
            command = [*_COMPILER, *flags, "-c", str(source), "-o", str(made)]
            subprocess.run(command, check=True)
        return made

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, sorted(_SOURCES.glob("*.cpp"))))
    for tool in ("fast_align", "atools"):
        parts = [made for made in objects if made.stem in {f"main_{tool}"} | _library(objects)]
        target = folder / tool
        if not target.exists() or target.stat().st_mtime < max(p.stat().st_mtime for p in parts):
            subprocess.run([*_COMPILER, *flags, *map(str, parts), "-o", str(target)], check=True)
    # ThreadSanitizer fails with the random addresses of some kernels.
    return Tool(folder, ("setarch", "-R") if sanitizer == "tsan" else ())


def _library(objects: Sequence[Path]) -> set[str]:
    return {made.stem for made in objects if not made.stem.startswith("main_")}


def attack_aligner(sanitizer: str, seconds: float, seed: int = 0, most: int = 1 << 40) -> Campaign:
    """Run the tools on mutated files for some time.

    Args:
        sanitizer: One of :data:`SANITIZERS`.
        seconds: How long to run.
        seed: Seed of the mutations.
        most: Maximum number of runs.
    """
    tool, campaign, generator = build(sanitizer), Campaign(), random.Random(seed)
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kept = kept_inputs(TARGETS)
        for target, several in kept.items():
            for files in several:
                _run(tool, target, files, folder, campaign, 2)
        while time.monotonic() < end and campaign.runs < most:
            target = generator.choice(list(TARGETS))
            seeds = generator.choice([TARGETS[target].files, *kept.get(target, [])])
            damaged = generator.choice(list(seeds))
            files = {
                key: mutate(data, generator, list(seeds.values()))
                if key == damaged or generator.random() < 0.3
                else data
                for key, data in seeds.items()
            }
            _run(tool, target, files, folder, campaign, generator.choice((1, 2, 3)))
    return campaign


def _run(
    tool: Tool, name: str, files: dict[str, bytes], folder: Path, campaign: Campaign, threads: int
) -> None:
    for key, data in files.items():
        (folder / key).write_bytes(data)
    places = {key: str(folder / key) for key in (*files, "out")}
    program, *arguments = TARGETS[name].command.format(**places).split()
    if program == "fast_align":
        arguments += ["--threads", str(threads)]
    options = "exitcode=99:detect_leaks=1:allocator_may_return_null=1"
    try:
        done = subprocess.run(
            [*tool.prefix, str(tool.folder / program), *arguments],
            check=False,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
            env={**os.environ, "ASAN_OPTIONS": options, "TSAN_OPTIONS": "exitcode=99"},
        )
    except subprocess.TimeoutExpired:
        campaign.judge(name, files, Run(-9, b"", f"no end within {SECONDS:g} seconds"))
        return
    # Results of the lines before a damaged one may have been printed.
    run = Run(done.returncode, b"", done.stderr.decode("utf-8", "replace"), prints_data=True)
    # A nan is allowed if the input has one, or if a warning calls a pair too long.
    is_explained = any(b"nan" in data for data in files.values()) or "--max-cells" in run.stderr
    if b"nan" in done.stdout and not is_explained:
        run = Run(-1, b"", "printed nan")
    campaign.judge(name, files, run)
