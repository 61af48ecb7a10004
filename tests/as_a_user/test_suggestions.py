"""Every line that an error suggests runs as it stands, on the demonstration's texts.

Words in capitals stand for what the user has; here, for texts of the demonstration.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.conftest import RunCli
from tests.core.test_unspaced_texts import CHINESE, OTHER

_USERS_OWN = {
    "HYP": "careful.en", "REF": "test.en", "SRC": "test.de", "TGT": "test.en", "MODEL": "model",
    "FILE": "careful.en", "M": "new.model", "N": "3", "PERCENT": "5",
}  # fmt: skip
_LINE = re.compile(r"coverage-eval [^;'()]*?(?=[;'()]|(?<!\.)\. |, |$)")
_OPTION = re.compile(r"add (--[a-z-]+(?: [a-z0-9]+\b(?![- ]))?)")

MISTAKES = [
    "drop careful.en test.en",
    "rep test.ref careful.en",
    "omissions careful.en -s test.de",
    "rep table.tsv:mt table.tsv",
    "compare table.tsv -r table.tsv:ref",
    "chrf careful.en test.en",
    "ter careful.en test.en",
    "align train pairs.tsv -o new.model",
    "align train pairs.txt -o new.model",
    "align train rows.jsonl -o new.model",
    "align apply model pairs.txt",
]

_OTHER_TEXTS = [
    "rep {0} {0}",
    "bleu {0} {0}",
    "meteor {0} {0}",
    "meteor {0} {0} --variant nltk",
    "drop {0} {0} -s {0} --model model",
    "omissions {0} -s {0} --model model",
    "compare {0} -r {0} -s {0}",
    "compare {0} -r {0} -m rep,bleu,ter,meteor",
    "align train {0} {0} -o new.model",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    run_cli("demo", "--folder", "demo", cwd=folder)
    folder /= "demo"
    outputs = (folder / "careful.en").read_text("utf-8").splitlines()
    references = (folder / "test.en").read_text("utf-8").splitlines()
    (folder / "test.ref").write_text("\n".join(references) + "\n", "utf-8")
    sources = (folder / "test.de").read_text("utf-8").splitlines()
    pairs = [*zip(sources, references, strict=True)]
    (folder / "pairs.txt").write_text("".join(f"{s}\t{t}\n" for s, t in pairs), "utf-8")
    (folder / "pairs.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in pairs), "utf-8")
    objects = (json.dumps({"source": source, "target": target}) for source, target in pairs)
    (folder / "rows.jsonl").write_text("\n".join(objects), "utf-8")
    (folder / "chinese").write_text("\n".join([*CHINESE, *OTHER] * 9) + "\n", "utf-8")
    raw = [output.replace(" .", ".").replace(" ,", ",") for output in outputs]
    (folder / "raw.en").write_text("\n".join(raw) + "\n", "utf-8")
    rows = [f"{hyp}\t{ref}" for hyp, ref in zip(outputs, references, strict=True)]
    (folder / "table.tsv").write_text("\n".join(["mt\tref", *rows]) + "\n", "utf-8")
    return folder


def runs(run_cli: RunCli, folder: Path, suggestion: str) -> bool:
    line = suggestion.replace("FILE...", "careful.en dropping.en")
    line = re.sub(r"\b[A-Z]+\b(?![.:])", lambda word: _USERS_OWN.get(word[0], word[0]), line)
    line = line.replace("-o model", "-o new.model")  # what the other lines read stays
    done = run_cli(*shlex.split(line)[1:], cwd=folder, check=False)
    assert done.returncode == 0, f"{line}: {done.stderr}"
    return True


@pytest.mark.parametrize("mistake", MISTAKES)
def test_lines_that_errors_suggest_run(run_cli, folder, mistake):
    done = run_cli(*mistake.split(), cwd=folder, check=False)
    assert done.returncode in {1, 2}
    assert "coverage-eval" in done.stderr.split("error: ")[-1]
    for suggestion in _LINE.findall(done.stderr.split("error: ")[-1]):
        assert runs(run_cli, folder, suggestion.strip())


@pytest.mark.parametrize(
    "mistake",
    ["rep careful.en test.en --confidence 0.9", "omissions careful.en zh -s test.de --model model"],
)
def test_what_is_no_file_is_not_suggested_as_one(run_cli, folder, mistake):
    done = run_cli(*mistake.split(), cwd=folder, check=False)
    assert "no such file" in done.stderr
    assert "type" not in done.stderr.lower()


@pytest.mark.parametrize("text", ["chinese", "raw.en"])
@pytest.mark.parametrize("command", _OTHER_TEXTS)
def test_options_that_errors_and_warnings_suggest_are_those_of_the_command(
    run_cli, folder, command, text
):
    typed = command.format(text).split()
    done = run_cli(*typed, cwd=folder, check=False)
    options = _OPTION.findall(done.stderr)
    if typed[0] == "align":
        options += re.findall("train the model with (--[-a-z0-9 ]*)", done.stderr)
    assert options or {"meteor", "model", "train"} & {*typed} or text == "raw.en"
    for option in options:
        again = run_cli(*typed, *option.split(), cwd=folder, check=False)
        assert again.returncode == 0, f"{option}: {again.stderr}"
        assert option not in again.stderr
