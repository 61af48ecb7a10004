"""Commands and Python examples of the README and the site give the output shown below them."""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from itertools import takewhile
from pathlib import Path

import click
import pytest

from coverage_eval.cli import cli
from tests.conftest import ROOT, RunCli

SITE = ROOT / "notebooks" / "docs" / "pages"
PAGES = [ROOT / "README.md", ROOT / ".github" / "CONTRIBUTING.md", *sorted(SITE.rglob("*.md"))]
with_examples = pytest.mark.parametrize(
    "page",
    [page for page in PAGES if re.search(r"^```(console|python)$", page.read_text(), re.MULTILINE)],
    ids=lambda page: page.stem,
)


@pytest.fixture
def folder(demonstration: Path, tmp_path: Path) -> Path:
    """A folder with the files that the examples use: the demonstration and the tutorial's texts."""
    shutil.copytree(demonstration, tmp_path / "demo")
    shutil.copytree(ROOT / "notebooks" / "tanaka", tmp_path / "tanaka")
    return tmp_path


def blocks(language: str, page: Path = ROOT / "README.md") -> list[str]:
    """The code blocks in a language; a block with a title is a file and no example."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[tuple[str, str]]:
    """Each command with the output shown below it, in the order of the page."""
    found = []
    for block in blocks("console", page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            first, *rest = part.rstrip("\n").split("\n")
            more = list(takewhile(lambda line: line.startswith("> "), rest))
            command = "\n".join([first, *(line[2:] for line in more)])
            found.append((command, "\n".join(rest[len(more) :])))
    return found


def comparable(text: str) -> str:
    """The text without the model's hash, which depends on the processor's exp and log."""
    return re.sub(r"model:[0-9a-f]{12}", "model:…", text.rstrip("\n"))


@pytest.fixture(scope="module")
def models(finder: Path) -> dict[str, bytes]:
    """What the commands for training wrote: several pages begin with the same one."""
    train = "coverage-eval align train demo/train.de demo/train.en --prepare-for omissions"
    return {train: finder.read_bytes()}


@with_examples
def test_commands_print_what_is_shown(page, folder, run_cli, models):
    """All commands of a page in one test, because later ones use files of earlier ones."""
    if shutil.which("jq") is None and any("jq " in command for command, _ in commands(page)):
        pytest.skip("jq is not installed")
    for command, output in commands(page):
        words = command.replace("\\\n", " ").split()
        training, model = " ".join(words[:-2]), folder / words[-1]
        if training in models and not output:
            model.write_bytes(models[training])
            continue
        printed = _run(command, folder, run_cli)
        assert comparable(printed) == comparable(output), command
        if words[:3] == ["coverage-eval", "align", "train"]:
            models[training] = model.read_bytes()


def _run(command: str, folder: Path, run_cli: RunCli) -> str:
    """What a command prints; a shell runs only what is not a plain call of coverage-eval.

    What follows such a call (a pipe, a redirection, ``||``) gets its output from files.
    """
    plain = r"[^|&;<>()$`*?~#!\n]"
    found = re.fullmatch(rf"coverage-eval ((?:\\\n|(?! 2>){plain})*)(.*)", command, re.DOTALL)
    if found is None or "coverage-eval" in found[2]:
        return _in_shell(command, folder)
    arguments, rest = shlex.split(found[1].replace("\\\n", " ")), found[2]
    done = run_cli(*arguments, cwd=folder, check=not rest)
    if not rest:
        return done.stdout
    for name, text in {".printed": done.stdout, ".messages": done.stderr}.items():
        (folder / name).write_text(text, encoding="utf-8")
    call = f"( cat .printed; cat .messages >&2; exit {done.returncode} )"
    return _in_shell(f"{call} {rest}", folder)


def _in_shell(command: str, folder: Path) -> str:
    """What a command prints in a shell that has coverage-eval on its PATH."""
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False,
        env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_ci_job_of_the_recipes_stops_a_worse_release(folder, run_cli):
    (job,) = blocks("yaml", SITE / "recipes.md")
    (step,) = re.findall(r"- run: >-\n((?: {8}.*\n)+)", job)
    assert len(job.splitlines()) <= 10
    for name, system in {"released": "careful", "new": "dropping"}.items():
        (folder / "demo" / f"{name}.en").write_bytes((folder / f"demo/{system}.en").read_bytes())
    command = step.split()
    assert command.pop(0) == "coverage-eval"
    done = run_cli(*command, cwd=folder / "demo", check=False)
    assert done.returncode == 3
    gate = json.loads((folder / "demo/coverage.json").read_text())["gate"]
    assert {item["metric"] for item in gate["worse"]} == {"DROP", "BLEU"}
    assert "new is worse than released: DROP" in done.stderr
    (folder / "demo/new.en").write_bytes((folder / "demo/careful.en").read_bytes())
    run_cli(*command, cwd=folder / "demo")


@pytest.mark.slow
def test_the_block_that_installs_can_be_pasted_into_an_empty_folder(tmp_path):
    """What it installs is installed here, so that line is not run."""
    made, block, *_ = blocks("sh")
    assert made.splitlines() == ["make demo", "make test"]
    install, *pasted = block.splitlines()
    assert install.startswith("pip install ")
    assert not any(line.startswith("$ ") for line in pasted)
    _in_shell("\n".join(pasted), tmp_path)
    assert {"careful.en", "report.html", "test.de"} <= {p.name for p in tmp_path.glob("demo/*")}


@with_examples
def test_python_gives_what_is_shown(page, folder, monkeypatch):
    monkeypatch.chdir(folder)
    # Examples with PyTorch are run by tests/torch/test_pages.py.
    text = "\n".join(block for block in blocks("python", page) if "torch" not in block)
    example = doctest.DocTestParser().get_doctest(text, {}, page.stem, page.name, 0)
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


@pytest.mark.parametrize("page", sorted(SITE.rglob("*.md")), ids=lambda page: page.stem)
def test_quotations_are_those_of_the_code(page, monkeypatch):
    """Run `python notebooks/docs/taken.py` after a change."""
    monkeypatch.syspath_prepend(SITE.parent)
    text = page.read_text(encoding="utf-8")
    assert import_module("taken").with_quotations(text) == text
    begun = re.findall(r"^<!-- (?!end)", text, re.MULTILINE)
    assert text.count("<!-- end -->") == len(begun)  # without its end, nothing is shown


def test_there_are_at_least_30_examples_of_commands_and_of_python():
    found = [command for page in PAGES for command, _ in commands(page)]
    assert sum("coverage-eval " in command for command in found) >= 30
    assert sum(block.count(">>> ") for page in PAGES for block in blocks("python", page)) >= 30


def options_of(words: list[str]) -> tuple[str, set[str]]:
    """The name and the options of the command with which these words begin."""
    command: click.Command = cli
    context = click.Context(cli)
    names = []
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        assert found is not None, words
        command, words, names = found, words[1:], [*names, words[0]]
    known = {
        flag for item in command.get_params(context) for flag in (*item.opts, *item.secondary_opts)
    }
    return " ".join(names), known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_that_are_not_run_have_options_that_exist(page):
    """Commands that take long or need files that are not here are not run."""
    for block in blocks("sh", page):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["coverage-eval"]:
                name, known = options_of(words[1:])
                unknown = {word for word in words if word.startswith("--")} - known - {"--version"}
                assert not unknown, name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_linked_files_exist(page):
    """Links are followed as on a code host; tests/site follows those of the built site."""
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"""(?:\]\(|src(?:set)?=")([^)#:"]+)[)#"]""", text):
        assert (page.parent / name).exists(), name


def test_the_page_on_the_code_names_files_that_exist():
    text = (SITE / "extending.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:coverage_eval|fast_align_wrapper|tests)/[\w/.]*)`", text)
    assert len(paths) > 10
    for path in paths:
        assert (ROOT / path).exists(), path
    listed = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", text, re.MULTILINE))))
    folders = {path.parent.name for path in ROOT.glob("coverage_eval/*/__init__.py")}
    assert folders <= listed


def test_the_readme_names_every_command():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    names = cli.list_commands(click.Context(cli))
    assert {"rep", "compare", "audit"} <= set(names)
    for name in names:
        assert re.search(rf"coverage-eval {name}\b|`{name}`", readme), name
