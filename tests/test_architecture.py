"""The rooms of the house: which may import which, no circle, one name for one thing.

Imports are read from the source, those inside functions too; imports for type checkers only count
as circles. A module that is named by a string (a metric in the registry, a command) is in the room
of that string's module, and needs no arrow.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from graphlib import TopologicalSorter

import pytest

from tests.conftest import ROOT

# Room → the rooms that it may import from, bottom to top: an arrow only goes to a line above.
ARROWS = {
    "fast_align_wrapper": "",
    "version": "",
    "coverage_eval": "version",
    "errors": "fast_align_wrapper",
    "special_tokens": "",  # by itself, because pictures of attention leave them out, too
    "tables": "",
    "attention": "errors",
    "torch": "errors attention",
    "plotting": "errors special_tokens tables attention",
    "data": "fast_align_wrapper errors",
    "alignment": "fast_align_wrapper errors special_tokens data",
    "metrics": "fast_align_wrapper version errors data alignment",
    "comparison": "fast_align_wrapper version errors tables plotting data alignment metrics",
    "attention_maps": "fast_align_wrapper errors special_tokens attention data alignment metrics",
    "papers": "fast_align_wrapper version errors special_tokens tables attention torch plotting "
    "data alignment metrics comparison attention_maps",
    # Over the papers, because the demonstration begins with the translations of Appendix B.
    "testbed": "fast_align_wrapper errors tables data alignment metrics comparison papers",
    "report": "fast_align_wrapper version tables plotting data metrics comparison testbed",
    "spark": "fast_align_wrapper errors data alignment metrics",
    "cli": "fast_align_wrapper version errors tables torch plotting data alignment metrics "
    "comparison attention_maps papers testbed report spark",
    "__main__": "cli",
}

LIBRARIES = {
    "tables": {"pandas", "rich", "tabulate", "wcwidth"},
    "attention": {"numpy", "scipy"},  # scipy for an optimiser, in regression
    "torch": {"torch"},
    "plotting": {"numpy", "matplotlib"},
}
"""The only libraries of these rooms, which know neither texts nor files."""

SAME_MODULE_NAMES = {
    "comparison": "the room, and its main module",
    "formats": "one file a format: of tables, and of toolkits' attention",
    "matching": "METEOR's matchers, and labels put together with scores",
    "scores": "of attention maps, and pictures of scores",
    "tables": "the room, and tables that are read",
    "transformations": "of attention, as reference and for training",
}
SAME_CLASS_NAMES = {"REP": "for sacreBLEU's own interface, which asks for classes of these names"}


def _modules() -> dict[str, ast.Module]:
    found = {}
    for package in ("fast_align_wrapper", "coverage_eval"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


MODULES = _modules()


def _imports(node: ast.AST, *, for_types: bool = False) -> Iterator[str]:
    """The modules and ``module.name`` that a syntax tree imports when it runs, or for types too."""
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
            yield from _imports(child, for_types=for_types)


def _own(imported: str) -> str | None:
    """The module of ours that an import reads, None if it is of another library."""
    while imported and imported not in MODULES:
        imported = imported.rpartition(".")[0]
    return imported or None


IMPORTS = {name: set(_imports(tree)) for name, tree in MODULES.items()}
GRAPH = {name: {m for m in map(_own, found) if m} - {name} for name, found in IMPORTS.items()}


def _room(module: str) -> str:
    package, _, rest = module.partition(".")
    return rest.split(".")[0] if package == "coverage_eval" and rest else package


def test_a_small_program_is_read_as_it_runs() -> None:
    program = """
if TYPE_CHECKING:
    import coverage_eval.cli
else:
    import coverage_eval.data
def later():
    from coverage_eval.metrics.rep import REP
"""
    found = sorted(_imports(ast.parse(program)))
    assert found == ["coverage_eval.data", "coverage_eval.metrics.rep.REP"]
    assert _own(found[1]) == "coverage_eval.metrics.rep"
    assert _own("numpy.typing") is None


def test_no_arrow_goes_upwards() -> None:
    rooms = list(ARROWS)
    for number, (room, allowed) in enumerate(ARROWS.items()):
        assert set(allowed.split()) <= set(rooms[:number]), room


@pytest.mark.parametrize("room", sorted({_room(name) for name in MODULES}))
def test_rooms_import_what_they_may(room: str) -> None:
    allowed = {room, *ARROWS[room].split()}
    wrong = [
        f"{name} imports {other}"
        for name, imported in GRAPH.items()
        if _room(name) == room
        for other in imported
        if _room(other) not in allowed
    ]
    assert not wrong


def test_no_module_imports_itself_in_a_circle() -> None:
    """Not even for types, but for the names that packages give on demand."""
    for_types = {
        name: set(_imports(tree, for_types=name not in {"coverage_eval", "fast_align_wrapper"}))
        for name, tree in MODULES.items()
    }
    graph = {name: {m for m in map(_own, found) if m} - {name} for name, found in for_types.items()}
    assert list(TopologicalSorter(graph).static_order())  # CycleError names the circle
    assert (
        graph["coverage_eval.alignment.alignment_checks"]
        > GRAPH["coverage_eval.alignment.alignment_checks"]
    )  # types are looked at


@pytest.mark.parametrize("room", LIBRARIES)
def test_rooms_of_arrays_and_values_know_no_other_library(room: str) -> None:
    found = {
        i.split(".")[0] for name, items in IMPORTS.items() if _room(name) == room for i in items
    }
    others = found - set(sys.stdlib_module_names) - {"coverage_eval"}
    assert others <= LIBRARIES[room]


def _is_named_after_its_subject(module: str) -> bool:
    """Commands and reports have the name of what they print; formats, that of the format."""
    return _room(module) in {"cli", "report"} or ".formats." in module or "__main__" in module


def test_modules_have_names_of_their_own() -> None:
    homes = defaultdict(list)
    for module in MODULES:
        # The wrapper is a package by itself, which knows no name of this one.
        if _room(module) != "fast_align_wrapper" and not _is_named_after_its_subject(module):
            homes[module.rpartition(".")[2]].append(module)
    shared = {name for name, modules in homes.items() if len(modules) > 1}
    assert shared == set(SAME_MODULE_NAMES)


def test_public_classes_have_names_of_their_own() -> None:
    homes = defaultdict(list)
    for module, tree in MODULES.items():
        for node in tree.body:
            private = node.name.startswith("_") if isinstance(node, ast.ClassDef) else True
            if isinstance(node, ast.ClassDef) and not private and "._" not in module:
                homes[node.name].append(module)
    shared = {name for name, modules in homes.items() if len(modules) > 1}
    assert shared == set(SAME_CLASS_NAMES)
