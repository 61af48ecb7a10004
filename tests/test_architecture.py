"""The rooms (subpackages): which may import which, no cycles, one name for one thing.

Imports are read from the source, inside functions too. Imports for type checkers count only in the
test of cycles. Modules that are imported by a string (metrics of the registry, commands) do not
count.
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
    # Above the papers, because the demonstration begins with the translations of Appendix B.
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
"""The only libraries that these rooms may import; they handle neither texts nor files."""

SAME_MODULE_NAMES = {
    "comparison": "the room and its main module",
    "formats": "of tables, and of toolkits' attention",
    "matching": "METEOR's matchers, and matching labels with scores",
    "scores": "of attention maps, and pictures of scores",
    "tables": "the room, and reading tables",
    "transformations": "of attention, as reference and for training",
}
SAME_CLASS_NAMES = {"REP": "the metric, and its class for sacreBLEU's interface"}


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
    """What a syntax tree imports when it runs, as ``module`` or ``module.name``.

    Args:
        node: The tree.
        for_types: Whether to include imports for type checkers.
    """
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
    """The module of this repository that an import reads; None for another library."""
    while imported and imported not in MODULES:
        imported = imported.rpartition(".")[0]
    return imported or None


IMPORTS = {name: set(_imports(tree)) for name, tree in MODULES.items()}
GRAPH = {name: {m for m in map(_own, found) if m} - {name} for name, found in IMPORTS.items()}


def _room(module: str) -> str:
    package, _, rest = module.partition(".")
    return rest.split(".")[0] if package == "coverage_eval" and rest else package


def test_imports_for_type_checkers_are_left_out_by_default() -> None:
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
def test_rooms_import_only_the_rooms_that_they_may(room: str) -> None:
    allowed = {room, *ARROWS[room].split()}
    wrong = [
        f"{name} imports {other}"
        for name, imported in GRAPH.items()
        if _room(name) == room
        for other in imported
        if _room(other) not in allowed
    ]
    assert not wrong


def test_there_are_no_import_cycles() -> None:
    """Imports for type checkers count, except those of the packages' lazily loaded names."""
    for_types = {
        name: set(_imports(tree, for_types=name not in {"coverage_eval", "fast_align_wrapper"}))
        for name, tree in MODULES.items()
    }
    graph = {name: {m for m in map(_own, found) if m} - {name} for name, found in for_types.items()}
    assert list(TopologicalSorter(graph).static_order())  # CycleError names the circle
    assert (
        graph["coverage_eval.alignment.alignment_checks"]
        > GRAPH["coverage_eval.alignment.alignment_checks"]
    )  # imports for type checkers count


@pytest.mark.parametrize("room", LIBRARIES)
def test_rooms_of_arrays_and_values_import_only_their_libraries(room: str) -> None:
    found = {
        i.split(".")[0] for name, items in IMPORTS.items() if _room(name) == room for i in items
    }
    others = found - set(sys.stdlib_module_names) - {"coverage_eval"}
    assert others <= LIBRARIES[room]


def _is_named_after_its_subject(module: str) -> bool:
    """Commands and reports are named after what they print, formats after the toolkit."""
    return _room(module) in {"cli", "report"} or ".formats." in module or "__main__" in module


def test_no_two_modules_have_the_same_name() -> None:
    homes = defaultdict(list)
    for module in MODULES:
        # The wrapper is a separate package.
        if _room(module) != "fast_align_wrapper" and not _is_named_after_its_subject(module):
            homes[module.rpartition(".")[2]].append(module)
    shared = {name for name, modules in homes.items() if len(modules) > 1}
    assert shared == set(SAME_MODULE_NAMES)


def test_no_two_public_classes_have_the_same_name() -> None:
    homes = defaultdict(list)
    for module, tree in MODULES.items():
        for node in tree.body:
            private = node.name.startswith("_") if isinstance(node, ast.ClassDef) else True
            if isinstance(node, ast.ClassDef) and not private and "._" not in module:
                homes[node.name].append(module)
    shared = {name for name, modules in homes.items() if len(modules) > 1}
    assert shared == set(SAME_CLASS_NAMES)
