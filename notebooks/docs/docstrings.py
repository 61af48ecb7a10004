"""Converts roles, formulas and examples of docstrings to Markdown."""

from __future__ import annotations

import re
from typing import Any

import griffe
from latex2mathml.converter import convert

_EXAMPLE = re.compile(r"(?:^|(?<=\n))( *)>>> .*(?:\n\1\S.*|\n\1    .*)*")
_BLOCK = re.compile(r"^( *)\.\. math::[ \n]*((?:.+\n?)+)", re.MULTILINE)
_FORMULA = re.compile(r":math:`([^`]+)`")
_ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod):`(~?)\.?([^`]+)`")


class MarkdownDocstrings(griffe.Extension):
    """Rewrites every docstring of a package."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Rewrite the docstrings of modules, classes, functions and attributes."""
        _rewrite(pkg)


def _rewrite(item: griffe.Object) -> None:
    if item.docstring:
        item.docstring.value = _markdown(item.docstring.value)
    for member in item.members.values():
        if isinstance(member, griffe.Object):  # not an imported name
            _rewrite(member)


def _markdown(text: str) -> str:
    text = _EXAMPLE.sub(lambda m: f"{m[1]}```python\n{m[0]}\n{m[1]}```", text)
    text = _BLOCK.sub(lambda m: f"{m[1]}{_formula(m[2], 'block')}\n", text)
    text = _FORMULA.sub(lambda m: _formula(m[1], "inline"), text)
    text = re.sub(r"::$", ":", text, flags=re.MULTILINE)
    return _ROLE.sub(_reference, text)


def _formula(latex: str, display: str) -> str:
    # In a span, because Markdown makes a paragraph of a formula at the start of a line.
    return f"<span>{convert(' '.join(latex.split()), display=display)}</span>"


def _reference(match: re.Match[str]) -> str:
    """A link if the site documents the name, else the name."""
    name = match[2]
    shown = name.rpartition(".")[2] if match[1] else name
    return f'<autoref optional identifier="{name}"><code>{shown}</code></autoref>'
