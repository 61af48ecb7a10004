"""Every command that reads a file, on mutated files, in children with limits."""

from __future__ import annotations

import gzip
import io
import os
import pkgutil
import random
import resource
import select
import signal
import sys
import tempfile
import time
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import coverage_eval
from coverage_eval.cli import main
from coverage_eval.text.corpus import zstd
from fast_align_wrapper import FastAlign
from tests.attention_maps.writers import CASES, SAMPLES
from tests.fuzz.aligner import LINKS
from tests.fuzz.findings import CORPUS, SECONDS, Campaign, Run
from tests.fuzz.mutation import mutate

__all__ = ["TARGETS", "attack_commands"]

_MEMORY = 3 << 30
_HYP = b"a house house the the the\n\na dog , a dog\n"
_REF = b"a house\nx y\na dog\n"
_SRC = b"ein haus\n\nein hund\n"
_LINKS = b"0-0 1-1\n\n0-0 1-1\n"
_NBEST = b"0 ||| a house ||| f= -1 g= -2 ||| -1.5\n0 ||| a ||| f= -1 g= -3 ||| -2\n"
_COVERAGE = b'{"attention": [[0.5, 0.5], [1, 0]]}\n{"coverage": [0.5, 0.5]}\n'
_JSON_LINES = b'{"hyp": "a a", "ref": "a"}\n{"ref": "\\u00e9", "hyp": ""}\n'
_TEXTS = {"hyp": _HYP, "ref": _REF}
_MAPS = {
    "maps": b'{"attention": [[0.9, 0.1], [0, 1]], "source": ["a", "b@@"], "tgt_eos": true}\n',
    "src": b"a b@@\n",
    "hyp": b"x\n",
}


class Target(NamedTuple):
    """A command line with names of files, those files, and whether it prints text as it is."""

    command: str
    files: Mapping[str, bytes]
    prints_data: bool = False


def _model() -> bytes:
    with tempfile.TemporaryDirectory() as folder, FastAlign.train([("ein haus", "a house")]) as it:
        it.save(Path(folder) / "model")
        return (Path(folder) / "model").read_bytes()


def _stored(packed: bytes) -> bytes:
    """The same archive without compression, so that damage reaches what is in it."""
    with zipfile.ZipFile(io.BytesIO(packed)) as old:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as new:
            for name in old.namelist():
                new.writestr(name, old.read(name))
    return out.getvalue()


def _targets() -> dict[str, Target]:
    model = _model()
    with_model = {"model": model, "src": _SRC, **_TEXTS}
    table = "--from table --hyp-col hyp --ref-col ref"
    targets = {
        "rep": Target("rep hyp ref --sentence-level", _TEXTS),
        "rep-json": Target("rep hyp ref -f json --confidence --bootstrap 20", _TEXTS),
        "rep-gzip": Target("rep hyp.gz ref -f csv", {"hyp.gz": gzip.compress(_HYP), "ref": _REF}),
        "rep-tsv": Target(f"rep {table}", {"table": b"hyp\tref\na house house\ta house\n\tx\n"}),
        "rep-csv": Target(f"rep {table}", {"table": b'hyp,ref\n"a, a, a",a\n"""b""",\n'}),
        "rep-json-lines": Target(f"rep {table}", {"table": _JSON_LINES}),
        "rep-zstd": Target("rep hyp.zst ref", {"hyp.zst": zstd.compress(_HYP), "ref": _REF}),
        "rep-systems": Target(
            "compare --from table --system-col hyp --hyp-col hyp --ref-col ref --metrics rep",
            {"table": b"hyp\tref\nA\tx y\nB\tx y\nA\tz\nB\tz\n"},
        ),
        "bleu": Target("bleu hyp ref --sentence-level -f markdown", _TEXTS),
        "chrf": Target("chrf hyp ref", _TEXTS),
        "profile": Target("profile hyp --ref ref --src src", {**_TEXTS, "src": _SRC}),
        "compare": Target(
            "compare --ref ref hyp b=ref --metrics rep,bleu,chrf --resamples 20 --breakdown all "
            "--src src --details out -f json",
            {**_TEXTS, "src": _SRC},
        ),
        "compare-links": Target(
            "compare --ref ref hyp --metrics drop,rep --src src --src-ref-align one "
            "--src-hyp-align two --stopwords stop --resamples 20 -f latex",
            {**_TEXTS, "src": _SRC, "one": _LINKS, "two": _LINKS, "stop": b"ein\n"},
        ),
        "train": Target("align train src ref -o out --links out2", {"src": _SRC, "ref": _REF}),
        "apply": Target("align apply model src hyp --scores", with_model),
        "apply-stored": Target("align apply model src hyp", with_model | {"model": _stored(model)}),
        "drop": Target("drop hyp ref --src src --model model", with_model),
        "softdrop": Target("drop hyp ref --src src --model model --soft", with_model),
        "symmetrize": Target("align symmetrize one two", {"one": LINKS, "two": LINKS}),
        "aer": Target("align aer one two", {"one": LINKS, "two": b"1 1 1 S\n1 2 2 P\n3 1 1\n"}),
        "constant": Target("fertility constant src", {"src": _SRC}),
        "guided": Target(
            "fertility guided src --train-src src --train-links one",
            {"src": _SRC, "one": _LINKS},
        ),
        "predicted": Target("fertility predicted classes", {"classes": b"0.1,0.9 0.5,0.5\n\n1\n"}),
        "rescore": Target(
            "rescore nbest --attention maps --alpha 0.2 --beta 0.4",
            {"nbest": _NBEST, "maps": _COVERAGE},
            prints_data=True,
        ),
        "rescore-search": Target(
            "rescore nbest --attention maps --ref ref",
            {"nbest": _NBEST, "maps": _COVERAGE, "ref": b"a house\n"},
            prints_data=True,
        ),
        "attention-convert": Target("attention convert maps -o out.jsonl", _MAPS),
        "attention-texts": Target("attention score maps --src src --hyp hyp --words", _MAPS),
        "attention-plot": Target("attention plot maps -o out.png", _MAPS),
        "attention-aer": Target("attention aer maps gold", {**_MAPS, "gold": b"0-0 1?1\n"}),
    }
    texts = {
        "src": "".join(" ".join(item.source) + "\n" for item in SAMPLES).encode(),
        "hyp": "".join(" ".join(item.hypothesis) + "\n" for item in SAMPLES).encode(),
    }
    for name, case in CASES.items():
        data = case.write(SAMPLES)
        files = {"dump": _stored(data) if data.startswith(b"PK") else data, **texts}
        given = "--src src --hyp hyp"
        targets[f"dump-{name}"] = Target(f"attention score dump {given}", files)
        targets[f"dump-{case.format}"] = Target(
            f"attention links dump --input-format {case.format} {given if case.texts else ''}",
            files,
        )
    return targets


TARGETS = _targets()


def _import_everything() -> None:
    """Before the first fork, or every child would do it again."""
    for module in pkgutil.walk_packages(coverage_eval.__path__, "coverage_eval."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):  # PyTorch is not everywhere
                import_module(module.name)
    for name in ("matplotlib.backends.backend_agg", "pandas", "tabulate", "tqdm", "sacrebleu"):
        import_module(name)


def attack_commands(seconds: float, seed: int = 0, most: int = 1 << 40) -> Campaign:
    """Run the commands on mutated files for some time.

    Args:
        seconds: How long.
        seed: Of the mutations.
        most: The greatest number of runs.
    """
    _import_everything()
    campaign, generator = Campaign(), random.Random(seed)
    end = time.monotonic() + seconds
    for kept in sorted(CORPUS.glob("*.*")):
        name = kept.name.partition(".")[0]
        if name in TARGETS:
            files = {path.name: path.read_bytes() for path in kept.iterdir()}
            campaign.judge(name, files, _run(TARGETS[name], files))
    names = list(TARGETS)
    while time.monotonic() < end and campaign.runs < most:
        name = generator.choice(names)
        seeds = TARGETS[name].files
        damaged = generator.choice(list(seeds))
        others = [data for data in seeds.values() if len(data) < 4096]
        files = {
            key: mutate(data, generator, others)
            if key == damaged or generator.random() < 0.2
            else data
            for key, data in seeds.items()
        }
        campaign.judge(name, files, _run(TARGETS[name], files))
    return campaign


def _run(target: Target, files: Mapping[str, bytes]) -> Run:
    """Run a command in a child: a fork, since starting Python takes longer than most commands."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for key, data in files.items():
            (folder / key).write_bytes(data)
        sys.stdout.flush()
        before = _resident()
        child = os.fork()
        if child == 0:
            _command(target.command.split(), folder)
        status, grown = _wait(child, before)
        return Run(
            status,
            (folder / ".stdout").read_bytes(),
            (folder / ".stderr").read_bytes().decode("utf-8", "replace"),
            grown,
            target.prints_data,
        )


def _command(arguments: list[str], folder: Path) -> None:
    """What the installed command does, in this process, which ends."""
    os.setsid()
    os.chdir(folder)
    for number, name in ((1, ".stdout"), (2, ".stderr")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), number)
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(os.fdopen(number, "wb", 0), "utf-8", write_through=True)
        for number in (1, 2)
    )
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.argv = ["coverage-eval", *arguments]
    status = 99
    try:
        main()
    except SystemExit as leave:
        status = leave.code if isinstance(leave.code, int) else 0
    except BaseException:
        import traceback

        traceback.print_exc()
        status = 1
    finally:
        sys.stdout.flush()
        os._exit(status)


def _wait(child: int, before: int) -> tuple[int, int]:
    """The exit status of a child, and by how much its memory grew; it is killed when late."""
    descriptor = os.pidfd_open(child)
    if not select.select([descriptor], [], [], SECONDS)[0]:
        os.killpg(child, signal.SIGKILL)
    os.close(descriptor)
    _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), (usage.ru_maxrss << 10) - before


def _resident() -> int:
    """Bytes of this process in memory, with which a child begins."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
