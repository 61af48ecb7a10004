"""``make mutants``: change single operators and numbers of a room, and check that its tests fail.

Each mutant is a copy of the packages with one change in one function. The tests of that room run on
it until one fails. For survivors, the line is printed before and after the change. Each run draws
another sample, unless ``--seed`` is given.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = sorted(
    path.parent.name
    for path in (ROOT / "coverage_eval").glob("*/__init__.py")
    if (ROOT / "tests" / path.parent.name).is_dir()
)
"""Rooms of coverage_eval that have a folder of tests with the same name."""

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div,
    ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
}  # fmt: skip


def sites(tree: ast.Module) -> Iterator[tuple[ast.stmt, ast.AST, str, int | None]]:
    """What can be changed: a statement, a node in it, its field, and the index in a list field."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    statements = [one for function in functions for one in function.body]
    for statement in statements:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.Raise, ast.Assert)):
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Raise) or (
                isinstance(node, ast.keyword) and node.arg == "strict"
            ):
                continue  # messages are tested elsewhere; strict=True only guards against bugs
            for name, value in ast.iter_fields(node):
                for place, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
                    if changed(item) is not None:
                        yield statement, node, name, place


def changed(item: object) -> ast.AST | None:
    """The replacement of a part of the tree; None if it is not changed."""
    if type(item) in SWAPS:
        return SWAPS[type(item)]()  # type: ignore[index]
    if isinstance(item, ast.UnaryOp) and isinstance(item.op, ast.Not):
        return item.operand
    if isinstance(item, ast.Constant):
        if isinstance(item.value, bool):
            return ast.Constant(not item.value)
        if isinstance(item.value, (int, float)):
            return ast.Constant(item.value + 1)
    return None


def mutate(tree: ast.Module, number: int) -> str:
    """Change one site; the result shows the line before and after."""
    statement, node, name, place = list(sites(tree))[number]
    before = ast.unparse(statement).split("\n")
    value = getattr(node, name)
    if place is None:
        setattr(node, name, changed(value))
    else:
        value[place] = changed(value[place])
    after = ast.unparse(ast.fix_missing_locations(statement)).split("\n")
    pairs = zip(before, after, strict=False)
    old, new = next((pair for pair in pairs if pair[0] != pair[1]), (before[0], after[0]))
    return f"{statement.lineno}: {old.strip()}  →  {new.strip()}"


IMPORT_THE_COPY = """import sys
sys.meta_path[:] = [f for f in sys.meta_path if not type(f).__module__.startswith("_editable")]
"""
"""An editable installation imports the unchanged code, wherever it is looked for."""


def run_tests(folder: Path, tests: list[str], seconds: float) -> bool:
    """Whether the tests pass in a copy within a time limit; what they start runs the copy too."""
    tests = [*tests, "--mpl"] if find_spec("pytest_mpl") else tests
    command = [sys.executable, "-m", "pytest", "-qx", "-o", f"cache_dir={ROOT}/.pytest_cache"]
    try:
        done = subprocess.run(
            [*command, *tests], cwd=folder, check=False, capture_output=True, timeout=seconds,
            env={**os.environ, "PYTHONPATH": str(folder)},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def by_mention(folder: Path, tests: list[str], name: str) -> list[str]:
    """The files of tests, those first that mention a module most: they fail soonest."""
    given = [folder / test for test in tests]
    files = [
        f for one in given for f in ([one] if one.is_file() else sorted(one.rglob("test_*.py")))
    ]
    return sorted(map(str, files), key=lambda file: -Path(file).read_text("utf-8").count(name))


def main() -> int:
    """Try a sample of mutants; the exit status is 1 if more than one in ten survive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--room", action="append", choices=ROOMS)
    parser.add_argument("--file", help="only files with this in their path")
    parser.add_argument("--tests", type=shlex.split, help="tests to run instead of the folder")
    parser.add_argument("--count", type=int, default=10, help="mutants of each room")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    options = parser.parse_args()
    generator = random.Random(options.seed)
    killed, survivors = 0, []
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        left_out = shutil.ignore_patterns("node_modules", "__pycache__")
        for part in ("coverage_eval", "fast_align_wrapper", "tests"):
            shutil.copytree(ROOT / part, copy / part, ignore=left_out)
        (copy / "notebooks").symlink_to(ROOT / "notebooks")
        shutil.copy(ROOT / "pyproject.toml", copy)
        (copy / "sitecustomize.py").write_text(IMPORT_THE_COPY)
        for room in options.room or ROOMS:
            started = time.monotonic()
            tests = options.tests or [f"tests/{room}"]
            if not run_tests(copy, tests, 3600):
                print(f"{room}: its tests fail on unchanged code", flush=True)
                return 1
            most = 60 + 3 * (time.monotonic() - started)
            paths = sorted((copy / "coverage_eval" / room).rglob("*.py"))
            paths = [path for path in paths if (options.file or "") in str(path)]
            found = [
                (path, number)
                for path in paths
                for number, _ in enumerate(sites(ast.parse(path.read_text("utf-8"))))
            ]
            for path, number in generator.sample(found, min(options.count, len(found))):
                text = path.read_text("utf-8")
                tree = ast.parse(text)
                said = mutate(tree, number)
                path.write_text(ast.unparse(tree), "utf-8")
                survives = run_tests(copy, by_mention(copy, tests, path.stem), most)
                path.write_text(text, "utf-8")
                killed += not survives
                if survives:
                    survivors.append(f"{path.relative_to(copy)}:{said}")
                    print(f"survived: {survivors[-1]}", flush=True)
            print(f"{room}: {len(found):,} places", flush=True)
    print(f"{killed} of {killed + len(survivors)} killed", flush=True)
    return int(len(survivors) * 10 > killed + len(survivors))


if __name__ == "__main__":
    sys.exit(main())
