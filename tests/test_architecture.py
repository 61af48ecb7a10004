"""The packages' folders, called rooms: which may import which, no cycle, one name for one class.

Imports are read from the source, including those inside functions. Imports for type checkers matter
only for cycles. ``import_module`` of a literal is an import like any other; a module that is looked
up in a table (a metric in the registry, a command) needs no arrow.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from typing import TypeGuard

import pytest

from coverage_eval.registry import METRICS, metric_class
from tests.conftest import ROOT

# Room → the rooms that it may import from. They are listed from bottom to top: every arrow points
# to a line above. The kernel knows no feature, and features meet only where it says so here.
ARROWS = {
    "fast_align_wrapper": "",
    "version": "",
    "coverage_eval": "version",
    "core": "version",
    "attention": "core",
    "torch": "core attention",
    "registry": "core",
    "align": "fast_align_wrapper core",
    "repetition": "core",
    "quality": "fast_align_wrapper version core",
    "outputs": "core align repetition",
    "checks": "fast_align_wrapper core align outputs",
    "documents": "core align",
    "coverage": "fast_align_wrapper core align checks documents outputs",
    "attention_maps": "fast_align_wrapper core align",
    "plotting": "core attention attention_maps",
    "comparison": "fast_align_wrapper version core plotting registry align checks documents "
    "outputs coverage attention_maps",
    "scoring": "core checks documents",
    "api": "core align repetition quality coverage scoring",
    "papers": "fast_align_wrapper core attention repetition align coverage",
    "spark": "core registry align",
    "demonstration": "core align repetition quality coverage comparison",
    "cli": "fast_align_wrapper version core registry plotting align checks documents outputs "
    "coverage attention_maps comparison papers demonstration",
    "__main__": "cli",
}


MAX_FLOORS = 10
"""Rooms in the longest chain of imports."""

LIBRARIES = {
    "attention": {"numpy"},
    "torch": {"torch"},
    "plotting": {"numpy", "matplotlib"},
}
"""The only libraries that these rooms may import."""


@cache
def _modules() -> dict[str, ast.Module]:
    """The syntax tree of every module of both packages."""
    found = {}
    for package in ("fast_align_wrapper", "coverage_eval"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def _imports(node: ast.AST, *, for_types: bool = False) -> Iterator[str]:
    """Names of what a syntax tree imports, such as ``module`` and ``module.name``."""
    for child in ast.iter_child_nodes(node):
        is_typing = isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING")
        if is_typing and not for_types:
            yield from _imports(ast.Module(child.orelse, []))
        elif isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, "imports name the whole path"
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        else:
            if isinstance(child, ast.Call) and ast.unparse(child.func).endswith("import_module"):
                yield from (arg.value for arg in child.args if _is_name(arg))
            yield from _imports(child, for_types=for_types)


def _is_name(node: ast.expr) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _own(imported: str) -> str | None:
    """The module of our packages that an import reads; None for another library."""
    while imported and imported not in _modules():
        imported = imported.rpartition(".")[0]
    return imported or None


@cache
def _all_imports() -> dict[str, set[str]]:
    """What every module imports when it runs."""
    return {name: set(_imports(tree)) for name, tree in _modules().items()}


def _graph(imports: dict[str, set[str]]) -> dict[str, set[str]]:
    """For every module, the modules of our packages that it imports."""
    return {name: {m for m in map(_own, found) if m} - {name} for name, found in imports.items()}


def _room(module: str) -> str:
    package, _, rest = module.partition(".")
    return rest.split(".")[0] if package == "coverage_eval" and rest else package


def test_every_room_is_listed_and_no_arrow_goes_upwards():
    rooms = list(ARROWS)
    assert {_room(name) for name in _modules()} == set(rooms)
    for number, (room, allowed) in enumerate(ARROWS.items()):
        assert set(allowed.split()) <= set(rooms[:number]), room


def test_rooms_import_what_they_may():
    wrong = [
        f"{name} imports {other}"
        for name, imported in _graph(_all_imports()).items()
        for other in imported
        if _room(other) not in {_room(name), *ARROWS[_room(name)].split()}
    ]
    assert not wrong


def test_rooms_have_few_floors():
    floors: dict[str, int] = {}
    graph = _graph(_all_imports())
    for room in ARROWS:  # from bottom to top
        below = {_room(other) for name in graph if _room(name) == room for other in graph[name]}
        floors[room] = 1 + max((floors[other] for other in below - {room}), default=0)
    assert max(floors.values()) <= MAX_FLOORS, floors


def test_there_is_no_import_cycle():
    """Not even for types, except for the names that the packages import on demand."""
    on_demand = {"coverage_eval", "fast_align_wrapper"}
    for_types = {
        name: set(_imports(tree, for_types=name not in on_demand))
        for name, tree in _modules().items()
    }
    graph = _graph(for_types)
    assert list(TopologicalSorter(graph).static_order())  # CycleError names the cycle
    assert any(graph[name] > found for name, found in _graph(_all_imports()).items())


@pytest.mark.parametrize("room", LIBRARIES)
def test_rooms_of_arrays_and_values_import_no_other_library(room):
    imported = [found for name, found in _all_imports().items() if _room(name) == room]
    libraries = {name.split(".")[0] for found in imported for name in found}
    others = libraries - set(sys.stdlib_module_names) - {"coverage_eval", "fast_align_wrapper"}
    assert others <= LIBRARIES[room]


def test_no_two_public_classes_have_the_same_name():
    homes = defaultdict(list)
    for module, tree in _modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(module)
    assert not {name for name, modules in homes.items() if len(modules) > 1}


READERS = ("comparison", "cli", "spark", "demonstration")
"""The rooms that show or use what metrics find."""

MAKERS = {
    "cli.commands.omissions": {"Additions", "Omissions"},
}
"""Modules that make a metric themselves, and the classes that they name."""

SPEAKERS = {
    "cli.commands.segment",
    "demonstration",
}
"""Modules with words of their own that are also what a metric calls its marks."""


METRIC_ROOMS = ("repetition", "quality", "coverage", "documents", "registry", "papers")
"""The rooms where metrics are defined, and where names are those of the papers' columns."""

OTHER_WORDS = {
    "cli.main": {"rep", "drop", "bleu", "meteor", "omissions"},
    "cli.commands.align": {"omissions"},  # the value of --prepare-for
    "cli.commands.segment": {"additions"},  # a key of its JSON
}
"""Modules with names of commands, extras and keys that are also those of metrics."""


def _metric_names() -> tuple[set[str], set[str]]:
    """The names of all metric classes, and what metrics call their marks."""
    classes = {metric_class(name) for name in METRICS}
    kinds = [kind for metric in classes for kind in metric.presentation.kinds]
    called = {name for kind in kinds for name in (kind.name, kind.key)}
    return {one.__name__ for one in classes}, called - {"n-gram"}  # a word of the field


def _deciding_strings(tree: ast.Module) -> Iterator[ast.Constant]:
    """Literal strings that something is compared with or looked up in."""
    for node in ast.walk(tree):
        parts: list[ast.expr | None] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Set):
            parts = list(node.elts)
        elif isinstance(node, ast.Dict):
            parts = list(node.keys)
        elif isinstance(node, ast.MatchValue):
            parts = [node.value]
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called.endswith(("set", "startswith", "endswith")):
                parts = list(node.args)
        for part in filter(None, parts):
            inside = part.elts if isinstance(part, (ast.Tuple, ast.List, ast.Set)) else [part]
            yield from filter(_is_name, inside)


def test_no_metric_is_chosen_by_its_name():
    """A user's own metric has the attributes of ours, and not their names."""
    names = {
        *METRICS,
        *_metric_names()[0],
        *(metric_class(name).presentation.name for name in METRICS),
    }
    assert {"rep", "REP", "omissions", "Omissions", "chrF2"} <= names
    wrong = [
        f"{module}: line {node.lineno}: {node.value!r}"
        for module, tree in _modules().items()
        if _room(module) not in METRIC_ROOMS
        for node in _deciding_strings(tree)
        if node.value in names - OTHER_WORDS.get(module.removeprefix("coverage_eval."), set())
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "source",
    ['m.name == "REP"', 'm in ("rep", "x")', '{"REP", "x"}', '{"rep": 1}', 'frozenset(["REP"])',
     'name.endswith("rep")', 'match m:\n    case "REP": pass'],
)  # fmt: skip
def test_choices_by_name_are_found(source):
    assert {node.value for node in _deciding_strings(ast.parse(source))} & {"rep", "REP"}


def test_nobody_asks_which_metric_a_mark_is_of():
    """Outside metrics, neither a metric's class nor what it calls its marks is named."""
    classes, called = _metric_names()
    assert {"REP", "DROP", "Omissions", "Additions"} <= classes
    assert {"repeated", "dropped", "lost", "suspected", "added"} <= called
    wrong = []
    for module, tree in _modules().items():
        name = module.removeprefix("coverage_eval.")
        if _room(module) not in READERS:
            continue
        for node in ast.walk(tree):
            is_kind = isinstance(node, ast.Constant) and node.value in called
            is_class = isinstance(node, ast.Name) and node.id in classes
            if (is_kind and name not in SPEAKERS) or (
                is_class and node.id not in MAKERS.get(name, set())
            ):
                wrong.append(f"{module}: line {node.lineno}: {ast.unparse(node)}")
    assert not wrong, "\n".join(wrong)


def test_the_reports_script_names_no_metric_and_compares_no_kind_of_mark():
    classes, called = _metric_names()
    names = "|".join((*classes, *called, "SoftDROP", "REP-letters"))
    for path in (ROOT / "coverage_eval/comparison/report/frontend/src").glob("*.ts"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(rf"""[!=]==? "({names})"|"({"|".join(classes)})\"""", text), path.name
