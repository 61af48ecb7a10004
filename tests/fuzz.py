"""``make fuzz``: damage the files of some commands for some time; every fault must be one line.

A run must end with status 0 to 3, raise nothing, print no control character, and nothing on
standard output if it fails. Failing inputs are kept in a folder that the first line names.
"""

from __future__ import annotations

import argparse
import random
import resource
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fast_align_wrapper import FastAlign
from tests.attention_maps.writers import CASES, SAMPLES
from tests.conftest import in_process

SECONDS, MEMORY, MIN_RUNS = 60, 3 << 30, 10
CONTROLS = {chr(code) for code in (*range(9), 11, 12, *range(14, 32), 127, 0x9B, 0x202E)}

# Strings that are known to trip parsers.
_TOKENS = (
    b"", b"\n", b"\r\n", b"\t", b" ", b"|||", b" ||| ", b"<eps>", b"</s>", b"0-0", b"-1", b"1e309",
    b"nan", b"inf", b"-0", b"99999999999999999999", b"4294967296", b"[", b"]", b"{", b"}", b'"',
    b",", b":", b"null", b"\x00", b"\x1b[31m", b"\xc2\x9b", b"\xe2\x80\xae", b"\xff",
    b"\xed\xa0\x80", b"\\ud800", b"\x80\x04", b"PK\x03\x04", b"\x1f\x8b", b"\x93NUMPY",
    b"@@", b"\xe2\x96\x81",
)  # fmt: skip


class Target(NamedTuple):
    """A command line, and the content of its files."""

    command: str
    files: Mapping[str, bytes]


def targets() -> list[Target]:
    """Commands of every kind."""
    src, ref = b"ein haus\n\nein hund\n", b"a house\nx y\na dog\n"
    hyp = b"a house house the the the\n\na dog , a dog\n"
    texts = {"src": src, "ref": ref, "hyp": hyp, "links": b"0-0 1-1\n\n0-0 1-1\n"}
    with tempfile.TemporaryDirectory() as folder, FastAlign.train([("ein haus", "a house")]) as it:
        it.save(Path(folder) / "model")
        with_model = {**texts, "model": (Path(folder) / "model").read_bytes()}
    scores = b"system,dataset,metric,value\nsoftmax,De-En,BLEU,29.5\ncsparsemax,De-En,BLEU,29.9\n"
    found = [
        Target("rep hyp ref --sentence-level", texts),
        Target("bleu hyp ref", texts),
        Target("rep t.tsv:hyp t.tsv:ref", {"t.tsv": b"hyp\tref\na a\ta\n\tb\n"}),
        Target(
            "rep t.jsonl:hyp t.jsonl:ref",
            {"t.jsonl": b'{"hyp": "a a", "ref": "a"}\n{"ref": "\\u00e9", "hyp": ""}\n'},
        ),
        Target("align train src ref -o out", texts),
        Target("align apply model src hyp", with_model),
        Target("align symmetrize links links", texts),
        Target("align aer links links", texts),
        Target("drop hyp ref --src src --model model", with_model),
        Target("omissions hyp --src src --model model --sentence-level -f json", with_model),
        Target("compare --ref ref hyp a=ref --metrics rep --resamples 9 -f csv", texts),
        Target(
            "compare hyp --ref ref --metrics rep --resamples 9 --scores x=scores",
            {**texts, "scores": b"segment,score\n1,0.5\n2,1\n3,0\n"},
        ),
        Target("report --ref ref hyp --metrics rep --resamples 0 -o out.html", texts),
        Target("audit table1 --scores table", {"table": scores}),
        Target("segment hyp --src src --model model -o out", with_model),
    ]
    words = {
        "src": "".join(" ".join(item.source) + "\n" for item in SAMPLES).encode(),
        "hyp": "".join(" ".join(item.hypothesis) + "\n" for item in SAMPLES).encode(),
    }
    for case in CASES.values():
        files = {"dump": case.write(SAMPLES), **words}
        found.append(Target("attention convert dump --src src --hyp hyp -o maps.jsonl", files))
    return found


def mutate(data: bytes, generator: random.Random) -> bytes:
    """A damaged copy."""
    damaged = bytearray(data)
    for _ in range(generator.choice((1, 1, 2, 3, 8))):
        start = generator.randint(0, len(damaged))
        end = min(len(damaged), start + generator.choice((1, 1, 2, 4, 16, 64, 1024)))
        kind = generator.randrange(6)
        if kind == 0 and start < len(damaged):
            damaged[start] ^= 1 << generator.randrange(8)
        elif kind == 1:
            del damaged[start:end]
        elif kind == 2:
            damaged[start:start] = generator.choice(_TOKENS)
        elif kind == 3:
            damaged[start:end] = generator.choice(_TOKENS)
        elif kind == 4:
            damaged[start:start] = damaged[start:end] * generator.choice((1, 2, 8, 64, 1024))
        else:
            damaged[start:end] = generator.randbytes(end - start)
    return bytes(damaged)


def run(arguments: Sequence[str], folder: Path) -> list[str]:
    """Run a command in this process; return what is wrong with the run.

    A run that hangs or crashes ends the fuzzing, and its folder is kept.
    """
    signal.alarm(SECONDS)
    try:
        status, *outputs = in_process(list(arguments), b"", folder, {}, SECONDS)
    except Exception as error:
        return [f"it raised {error!r}"]
    finally:
        signal.alarm(0)
    printed, said = (data.decode("utf-8", "replace") for data in outputs)
    errors = [line for line in said.splitlines() if "warning: " not in line]
    wrong = {
        f"exit status {status}": status not in {0, 1, 2, 3},
        f"{len(errors)} lines of messages": status != 0 and len(errors) > 6,
        "control characters": bool(CONTROLS & set(said + printed)),
        "output of a run that failed": status in {1, 2} and bool(printed),
    }
    return [what for what, is_so in wrong.items() if is_so]


def main() -> int:
    """Run damaged inputs, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    options = parser.parse_args()
    generator, chosen = random.Random(options.seed), targets()
    kept = Path(tempfile.mkdtemp(prefix="fuzz-"))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    print(f"seed {options.seed}, in {kept}", flush=True)
    runs, failures = 0, 0
    end = time.monotonic() + options.seconds
    while time.monotonic() < end or runs < MIN_RUNS:
        target = generator.choice(chosen)
        damaged = generator.choice(list(target.files))
        folder = kept / str(runs)
        folder.mkdir()
        for name, data in target.files.items():
            is_hit = name == damaged or generator.random() < 0.2
            (folder / name).write_bytes(mutate(data, generator) if is_hit else data)
        wrong = run(target.command.split(), folder)
        runs += 1
        if wrong:
            failures += 1
            print(f"{folder}: {target.command}: {', '.join(wrong)}")
        else:
            shutil.rmtree(folder)
    print(f"{runs:,} inputs, {failures} failures")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
