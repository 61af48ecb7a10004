"""Run every command that reads a file on mutated files, in child processes with limits."""

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
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import coverage_eval
from coverage_eval.cli import main
from coverage_eval.data.files import zstd
from fast_align_wrapper import FastAlign
from tests.attention_maps.writers import CASES, SAMPLES
from tests.fuzz.aligner import LINKS
from tests.fuzz.findings import SECONDS, Campaign, Run, kept_inputs
from tests.fuzz.mutation import mutate

__all__ = ["TARGETS", "attack_commands", "import_everything", "run_target"]

_MEMORY = 3 << 30
_HYP = b"a house house the the the\n\na dog , a dog\n"
_REF = b"a house\nx y\na dog\n"
_SRC = b"ein haus\n\nein hund\n"
_LINKS = b"0-0 1-1\n\n0-0 1-1\n"
_JSON_LINES = b'{"hyp": "a a", "ref": "a"}\n{"ref": "\\u00e9", "hyp": ""}\n'
_TEXTS = {"hyp": _HYP, "ref": _REF}
_MAPS = {
    "maps": b'{"attention": [[0.9, 0.1], [0, 1]], "source": ["a", "b@@"], "tgt_eos": true}\n',
    "src": b"a b@@\n",
    "hyp": b"x\n",
}


_LABELS = b"segment\tlabel\twords\traters\n1\t1\t2\t1 0\n2\t0\t\t0 0\n3\t0\t\t0 1\n"
_GOLD = (
    b'{"segment": 1, "kind": "omission-word", "hypothesis": [1, 1], "source": [1], "removed": ""}\n'
    b'{"segment": 3, "kind": "addition", "hypothesis": [1, 2], "source": null, "removed": ""}\n'
)
_MQM = (
    b"system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\n"
    b"s\td\t1\t1\tr1\tein <v>haus</v>\ta\tAccuracy/Omission\tMajor\n"
    b"s\td\t1\t1\tr2\tein haus\ta\tNo-error\tno-error\n"
    b"s\td\t2\t2\tr1\tein hund\ta dog\tNo-error\tno-error\n"
)
_HALOMI = (
    b"src_lang\ttgt_lang\tsrc_text\tmt_text\tomit_spans\thall_spans\tclass_hall\tclass_omit\n"
    b"de\ten\tein haus\ta\tein <<<haus>>>\ta\t1_No\t3_Partial\n"
    b'de\ten\t"ein ""hund"""\ta dog\tein hund\ta dog\t1_No\t1_No_omission\n'
)
_SCORES = b"segment,score,marks\n1,0.0,\n2,1.0,\n3,50.0,hund at 2\n"
_JSON_SCORES = (
    b'{"scores": [{"metric": "DROP", "score": 1.5, "higher_is_better": false, "kinds":'
    b' [{"kind": "dropped", "side": "source"}], "sentences": [\n'
    b'{"segment": 1, "score": 0.0, "marks": []}, {"segment": 2, "score": 1.0, "marks": []},\n'
    b'{"segment": 3, "score": 50.0, "marks": [{"side": "source", "positions": [1]}]}]}]}\n'
)
_SPANS = (
    b'{"scores": [{"metric": "Omissions", "kinds": [{"side": "source"}], "sentences": [{"segment":'
    b' 1, "score": 2.5, "probability": 0.5, "marks": [{"side": "source", "positions": [0, 1],'
    b' "amount": 1.5}]},\n'
    b'{"segment": 2, "score": 0.1, "probability": 0.1, "marks": []},\n'
    b'{"segment": 3, "score": 0, "probability": 0, "marks": []}]}]}\n'
)
_DETAILS = (
    b'{"kind": "comparison", "systems": ["s"]}\n'
    b'{"kind": "segment", "segment": 1, "system": "s", "metrics": {"REP": {"score": 1.0}}}\n'
    b'{"kind": "segment", "segment": 2, "system": "s", "metrics": {"REP": {"score": 2.0}}}\n'
)
_TABLE = b"system,dataset,metric,value\nsoftmax,De-En,BLEU,29.5\ncsparsemax,De-En,BLEU,29.9\n"
_ONE_WORD = b'{"attention": [[1]], "source": ["a"], "hypothesis": ["b"]}\n'


class Target(NamedTuple):
    """A command line, its files, and whether it prints lines of its input unchanged."""

    command: str
    files: Mapping[str, bytes]
    prints_data: bool = False


def _model() -> bytes:
    with tempfile.TemporaryDirectory() as folder, FastAlign.train([("ein haus", "a house")]) as it:
        it.save(Path(folder) / "model")
        return (Path(folder) / "model").read_bytes()


def _stored(packed: bytes) -> bytes:
    """The same archive without compression, so that mutations reach its content."""
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
        "rep-letters": Target("rep hyp ref --letters --sentence-level", _TEXTS),
        "rep-json": Target("rep hyp ref -f json --confidence --bootstrap 20", _TEXTS),
        "rep-gzip": Target(
            "rep hyp.gz ref -f csv", {"hyp.gz": gzip.compress(_HYP, mtime=0), "ref": _REF}
        ),
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
        "attention-convert": Target("attention convert maps -o out.jsonl", _MAPS),
        "attention-texts": Target("attention score maps --src src --hyp hyp --words", _MAPS),
        "attention-plot": Target("attention plot maps -o out.png", _MAPS),
        "attention-aer": Target("attention aer maps gold", {**_MAPS, "gold": b"0-0 1?1\n"}),
    }
    targets |= _newer_targets(with_model)
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


def _newer_targets(with_model: Mapping[str, bytes]) -> dict[str, Target]:
    """Targets for injected errors, omissions, reports, labels and data of the experiments."""
    texts = {"src": _SRC, **_TEXTS}
    found = "omissions hyp --src src --model model"
    targets = {
        "omissions": Target(f"{found} --sentence-level -f json", with_model),
        "omissions-ref": Target(f"{found} --ref ref --sentence-level", with_model),
        "additions": Target(f"{found} --additions --sentence-level", with_model),
        "inject": Target(
            "inject hyp --src src --links one --kind untranslated --kind repetition-tail "
            "--rate 0.2 -o out --gold out2",
            {**texts, "one": _LINKS},
        ),
        "meta-injected": Target(
            "meta --labels gold --src src --hyp hyp --resamples 5", {**texts, "gold": _GOLD}
        ),
        "meta-texts": Target("meta --labels labels --texts out", {"labels": _HALOMI}),
        "report": Target(
            "report --ref ref hyp --metrics rep --resamples 5 --labels gold --attention maps "
            "--src src -o out.html",
            {**texts, "gold": _GOLD, "maps": _ONE_WORD * 3},
        ),
        "audit-scores": Target("audit table1 --scores table", {"table": _TABLE}),
    }
    labels = {"plain": _LABELS, "mqm": _MQM, "halomi": _HALOMI}
    scores = {"csv": _SCORES, "json": _JSON_SCORES, "spans": _SPANS, "details": _DETAILS}
    for name, label in labels.items():
        for form, score in scores.items():
            files = {"labels": label, "scores": score, "src": _SRC}
            command = "meta --labels labels scores --resamples 5 -f json"
            targets[f"meta-{name}-{form}"] = Target(command, files)
    return targets


TARGETS = _targets()


def import_everything() -> None:
    """Import all modules before the first fork, so that no child has to."""
    for module in pkgutil.walk_packages(coverage_eval.__path__, "coverage_eval."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):  # PyTorch may be missing
                import_module(module.name)
    for name in ("matplotlib.backends.backend_agg", "pandas", "tabulate", "tqdm", "sacrebleu"):
        import_module(name)


def attack_commands(seconds: float, seed: int = 0, most: int = 1 << 40) -> Campaign:
    """Run the commands on mutated files for some time.

    Args:
        seconds: How long to run.
        seed: Seed of the mutations.
        most: Maximum number of runs.
    """
    import_everything()
    campaign, generator = Campaign(), random.Random(seed)
    end = time.monotonic() + seconds
    kept = kept_inputs(TARGETS)
    for name, several in kept.items():
        for files in several:
            campaign.judge(name, files, _run(TARGETS[name], files))
    names = list(TARGETS)
    while time.monotonic() < end and campaign.runs < most:
        name = generator.choice(names)
        seeds = generator.choice([TARGETS[name].files, *kept.get(name, [])])
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
    return run_target(target.command.split(), files, prints_data=target.prints_data)


def run_target(
    arguments: Sequence[str], files: Mapping[str, bytes], *, prints_data: bool, encoding: str = ""
) -> Run:
    """Run a command in a forked child, because starting Python takes longer than most commands."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for key, data in files.items():
            (folder / key).parent.mkdir(exist_ok=True)
            (folder / key).write_bytes(data)
        sys.stdout.flush()
        before = _resident()
        child = os.fork()
        if child == 0:
            _command(list(arguments), folder, encoding or "utf-8")
        status, grown = _wait(child, before)
        return Run(
            status,
            (folder / ".stdout").read_bytes(),
            (folder / ".stderr").read_bytes().decode("utf-8", "replace"),
            grown,
            prints_data,
        )


def _command(arguments: list[str], folder: Path, encoding: str) -> None:
    """Run the command in this process, as if it were installed, and exit."""
    os.setsid()
    while "=" in arguments[0]:  # a variable of the environment
        name, _, value = arguments.pop(0).partition("=")
        os.environ[name] = value.replace("\0", "")
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in ((1, ".stdout"), (2, ".stderr")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), number)
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(os.fdopen(number, "wb", 0), encoding, write_through=True)
        for number in (1, 2)
    )
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    status = 99
    try:
        status = main(arguments)
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
    """Exit status of a child and growth of its memory; a child that takes too long is killed."""
    descriptor = os.pidfd_open(child)
    if not select.select([descriptor], [], [], SECONDS)[0]:
        os.killpg(child, signal.SIGKILL)
    os.close(descriptor)
    _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), (usage.ru_maxrss << 10) - before


def _resident() -> int:
    """Resident bytes of this process; a forked child starts with as many."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
