"""The page on the code: its walk through the code is the code's, and its steps work on a copy."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import FrameType

import pytest

from tests.comparison.systems import read_blocks
from tests.conftest import DEPENDENCIES, ROOT, run_python

PAGE = ROOT / "notebooks" / "docs" / "pages" / "extending.md"

EXCERPTS = re.findall(
    r'^```python title="(\S+\.py): ([\w.]+)"\n(.*?)^```$',
    PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL,
)  # fmt: skip
"""The steps of the walk: file, function, lines of it."""


def lines_of(file: str, name: str) -> list[str]:
    """The lines of a function, with its decorators, without the spaces around them."""
    text = (ROOT / file).read_text(encoding="utf-8")
    found: ast.AST = ast.parse(text)
    for part in name.split("."):
        (found,) = (node for node in ast.walk(found) if getattr(node, "name", "") == part)
    assert isinstance(found, ast.FunctionDef)
    first = min(node.lineno for node in (found, *found.decorator_list))
    return [line.strip() for line in text.splitlines()[first - 1 : found.end_lineno]]


@pytest.mark.parametrize(("file", "name", "excerpt"), EXCERPTS, ids=[item[1] for item in EXCERPTS])
def test_the_walk_shows_the_code_as_it_is(file, name, excerpt):
    """Its lines in their order; between those without dots, there is no other line of code."""
    lines = iter(lines_of(file, name))
    may_skip = True
    for shown in map(str.strip, excerpt.splitlines()):
        if shown == "...":
            may_skip = True
            continue
        for line in lines:
            if line == shown:
                break
            assert may_skip, f"{line} is missing before {shown}"
        else:
            pytest.fail(f"no such line: {shown}")
        may_skip = False


def test_the_walk_is_the_way_of_a_line(run_cli, tmp_path):
    (tmp_path / "hyp").write_text("a red red house\n")
    (tmp_path / "ref").write_text("a red house\n")
    steps = [(str(ROOT / file), name.rpartition(".")[2]) for file, name, _ in EXCERPTS]
    entered: list[tuple[str, str]] = []

    def watch(frame: FrameType, event: str, _: object) -> None:
        step = (frame.f_code.co_filename, frame.f_code.co_name)
        if event == "call" and step in steps and step not in entered:
            entered.append(step)

    sys.setprofile(watch)
    try:
        printed = run_cli("rep", "hyp", "ref", cwd=tmp_path).stdout
    finally:
        sys.setprofile(None)
    assert printed.endswith(" = 66.67\n")
    assert entered == steps


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of both packages with the metric and all changes of the page."""
    folder = tmp_path_factory.mktemp("extended")
    text = PAGE.read_text(encoding="utf-8")
    for package in ("coverage_eval", "fast_align_wrapper"):
        ignored = shutil.ignore_patterns("__pycache__", "frontend", "src")
        shutil.copytree(ROOT / package, folder / package, ignore=ignored)
    shutil.copy(
        ROOT / "tests" / "repetition" / "length.py", folder / "coverage_eval" / "repetition"
    )
    changes = re.findall(r"^```diff\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(changes) == 4
    for change in changes:
        command = ["git", "apply", "--recount", "-"]
        done = subprocess.run(command, cwd=folder, input=change, text=True, check=False)
        assert done.returncode == 0, change
    return folder


def run(folder: Path, *arguments: str) -> str:
    return run_python(*arguments, cwd=folder, path=[folder, *DEPENDENCIES])


def test_the_metric_has_a_command_and_a_column(extended):
    (extended / "hyp").write_text("a red red house\n")
    (extended / "ref").write_text("a red house\n")
    scored = run(extended, "-m", "coverage_eval", "length", "hyp", "ref")
    assert scored == "Length|refs:1|letters:no|case:mixed|tok:none|version:0.1.0 = 133.33\n"
    table = run(
        extended, "-m", "coverage_eval", "compare", "--ref", "ref", "hyp", "--metrics",
        "rep,length", "-f", "csv",
    )  # fmt: skip
    assert "hyp,Length,133.33" in table


def test_the_option_is_in_the_command_its_help_and_the_signature(extended):
    (extended / "hyp").write_text("a red red house\n")
    (extended / "ref").write_text("a red house\n")
    command = ("-m", "coverage_eval", "length", "hyp", "ref", "--letters")
    signature = "Length|refs:1|letters:yes|case:mixed|tok:none|version:0.1.0"
    assert run(extended, *command) == f"{signature} = 133.33\n"
    assert re.search(
        r"--letters +Count letters in place of words.", run(extended, *command, "--help-all")
    )


def test_the_check_warns(extended):
    (extended / "filled").write_text("a {0} house\n")
    (extended / "house").write_text("a house\n")
    line = ("rep", "filled", "house", "-f", "json")
    (warning,) = json.loads(run(extended, "-m", "coverage_eval", *line))["warnings"]
    said = "filled: has slots of templates, such as '{0}'; fill them in all texts"
    assert warning == said


def insert(file: Path, *changes: tuple[str, str]) -> None:
    """Put lines before others, which are there once."""
    text = file.read_text(encoding="utf-8")
    for new, old in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new + old)
    file.write_text(text, encoding="utf-8")


def test_the_loader_is_recognised(extended):
    folder = extended / "coverage_eval" / "attention_maps"
    shutil.copy(ROOT / "tests" / "attention_maps" / "mytoolkit.py", folder)
    insert(
        folder / "load.py",
        ("from coverage_eval.attention_maps.mytoolkit import MY_FORMATS\n",
         "from coverage_eval.attention_maps.toolkits import"),
        ("*MY_FORMATS, ", "*TOOLKIT_FORMATS, "),
    )  # fmt: skip
    (extended / "log").write_text("loading\nATTN 0.9,0.1;0.2,0.8\n")
    for name in "src", "out":
        (extended / name).write_text("a b\n")
    attention = ("-m", "coverage_eval", "attention")
    run(extended, *attention, "convert", "log", "--src", "src", "--hyp", "out", "-o", "maps.npz")
    links = run(extended, *attention, "links", "maps.npz")
    assert links == "0-0 1-1\n"


# Checks it against the optimisation problem that defines it, and its gradient numerically.
TRANSFORMATION = """
import numpy as np
from scipy.optimize import minimize
from coverage_eval.attention import attend_with_credit, find_transformation
entmax = find_transformation("1.5-entmax")
z = np.array([0.7, 0.1, -0.4, -3.0])
alpha = entmax.function(z)
def loss(p):
    return (4 / 3) * (p**1.5).sum() - p @ z
on_simplex = {"type": "eq", "fun": lambda p: p.sum() - 1}
best = minimize(loss, np.full(4, 0.25), bounds=[(0, 1)] * 4, constraints=on_simplex, tol=1e-12).x
np.testing.assert_allclose(alpha, best, atol=1e-4)
moved = [(entmax.function(z + e) - entmax.function(z - e)) / 2e-6 for e in 1e-6 * np.eye(4)]
weights = np.arange(4.0)
np.testing.assert_allclose(entmax.vjp(weights, alpha), moved @ weights, atol=1e-6)
np.testing.assert_allclose(attend_with_credit([z], 1.0, "entmax15")[0].sum(), 1)
"""


def test_the_transformation_solves_its_problem_and_has_its_gradient(extended):
    folder = extended / "coverage_eval" / "attention"
    shutil.copy(ROOT / "tests" / "attention" / "entmax15.py", folder)
    (line,) = re.findall(r"`(Transformation\(.*?\))`", PAGE.read_text(encoding="utf-8"))
    insert(
        folder / "transformations.py",
        ("from coverage_eval.attention.entmax15 import entmax15, entmax15_vjp\n",
         "from coverage_eval.attention.inputs import"),
        (f"{line},\n        ", 'Transformation("softmax", "softmax"'),
    )  # fmt: skip
    assert run(extended, "-c", TRANSFORMATION) == ""


# A metric with marks: its file, and its line in the list. It counts words in capitals.
SHOUT = '''
"""Shouting: words in capitals, per 100 words of the output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from coverage_eval.core.mark import Explanation, Mark, MarkKind
from coverage_eval.core.metric import Presentation
from coverage_eval.core.text_metric import TokenMetric


@dataclass(frozen=True)
class Shout(TokenMetric):
    """Words in capitals per 100 words of the output."""

    presentation: ClassVar[Presentation] = Presentation(
        "Shout", higher_is_better=False, undefined="the output has no words",
        kinds=(MarkKind("loud", "output", "shouted", "shouted word", "shouted words",
                        "word in capitals", "addition", style="added"),),
        more_errors="shouts more", caveat="Names in capitals count, too.",
    )
    needs: ClassVar[frozenset[str]] = frozenset()
    statistic_names: ClassVar[tuple[str, ...]] = ("shouted_words", "output_words")

    def count(self, batch):
        texts = [[self.tokenizer(text) for text in row.hypotheses] for row in batch.rows]
        found = [[(sum(map(str.isupper, words)), len(words)) for words in row] for row in texts]
        return np.array(found, dtype=np.int64).swapaxes(0, 1)

    def explain(self, batch):
        for row in batch.rows:
            words = map(self.tokenizer.locate, row.hypotheses)
            yield tuple(Explanation(tuple(self._marks(item))) for item in words)

    def _marks(self, words):
        for place, word in enumerate(words):
            if word.isupper():
                detail = {"letters": len(word)}
                yield Mark.of(words, (place,), "output", "loud", detail=detail)
'''
LINE = '    "shout": MetricEntry("repetition.shout:Shout", "Words in capitals."),\n'
START = "METRICS: Mapping[str, MetricEntry] = {\n"


@pytest.fixture(scope="module")
def shouting(extended: Path) -> Path:
    """The copy with one more file, and one more line; texts of two systems."""
    (extended / "coverage_eval" / "repetition" / "shout.py").write_text(SHOUT, encoding="utf-8")
    registry = extended / "coverage_eval" / "registry.py"
    text = registry.read_text(encoding="utf-8")
    assert START in text
    registry.write_text(text.replace(START, START + LINE), encoding="utf-8")
    quiet, loud = ["a red house", "the dog", "a cat"], ["a RED house", "the dog", "A CAT"]
    refs = ["a red home", *quiet[1:]]
    for name, lines in (("quiet", quiet), ("loud", loud), ("refs", refs)):
        (extended / name).write_text("".join(f"{line}\n" for line in lines * 20))
    return extended


MARK = {
    "side": "output", "kind": "loud", "text": "RED", "start": 2, "end": 5, "amount": 1.0,
    "first_start": None, "first_end": None, "detail": {"letters": 3},
}  # fmt: skip


def test_a_metric_with_marks_has_a_command_with_evidence(shouting):
    line = ("-m", "coverage_eval", "shout", "loud")
    (score,) = json.loads(run(shouting, *line, "--sentence-level", "-f", "json"))["scores"]
    assert score["kinds"] == [{"kind": "loud", "side": "output", "meaning": "word in capitals"}]
    assert score["sentences"][0]["marks"] == [MARK]


def test_a_report_marks_what_a_new_metric_marks(shouting):
    line = ("report", "--ref", "refs", "quiet", "loud", "-m", "rep,shout", "-o", "report.html")
    said = run(shouting, "-m", "coverage_eval", *line)
    assert "loud shouts more than quiet: Shout 42.86 against 0.00 (p = 0.002)" in said
    page = (shouting / "report.html").read_text(encoding="utf-8")
    assert '<mark class="run added">A CAT</mark>' in page
    assert "Names in capitals count, too." in page
    blocks = read_blocks(page)
    kind = blocks["contents"]["kinds"][-1]
    assert (kind["key"], kind["meaning"], kind["side"]) == ("shouted", "word in capitals", "output")
    (mark,) = blocks["segments/0"][0]["outputs"][1]["marks"]
    assert (mark["kind"], mark["spans"]) == ("shouted", [2, 3])
