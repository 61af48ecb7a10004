"""Where Meteor's data files are, and how each of them is read.

The data come with the ``meteor`` extra (the PyPI package pycocoevalcap): a paraphrase table as a
file, and word lists inside Meteor's jar, which is a zip archive. Nothing here starts Java, and
the package is only located, never imported.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from coverage_eval.errors import DataError, MissingDependencyError

INSTALL = "pip install 'coverage-eval[meteor]'"
"""The command that adds what METEOR needs."""

_JAR = "spice/lib/Meteor-1.5.jar"
_PARAPHRASES = "meteor/data/paraphrase-en.gz"


@cache
def _data_file(relative: str) -> Path:
    """A file of the extra's package, by its path inside the package."""
    spec = find_spec("pycocoevalcap")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / relative
        if path.is_file():
            return path
    missing = "package pycocoevalcap" if spec is None else f"pycocoevalcap's file {relative}"
    raise MissingDependencyError(f"METEOR needs its data files ({missing} is missing): {INSTALL}")


def package_version(name: str) -> str:
    """The version of a package of the extra.

    Raises:
        MissingDependencyError: It is not installed.
    """
    try:
        return version(name)
    except PackageNotFoundError as error:
        raise MissingDependencyError(
            f"METEOR needs the package {name}, which is missing: {INSTALL}"
        ) from error


def jar_path() -> Path:
    """The stock Meteor 1.5 jar.

    Raises:
        MissingDependencyError: The extra is not installed.
    """
    return _data_file(_JAR)


def paraphrase_path() -> Path:
    """The English paraphrase table: gzip, (probability, phrase, paraphrase) as line triples.

    Raises:
        MissingDependencyError: The extra is not installed.
    """
    return _data_file(_PARAPHRASES)


def _jar_lines(name: str) -> list[str]:
    """The lines of one text file in the jar."""
    path = jar_path()
    try:
        with zipfile.ZipFile(path) as jar:
            return jar.read(name).decode("utf-8").split("\n")
    except (KeyError, OSError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: cannot read {name} ({error}); reinstall: {INSTALL}") from error


def _line_pairs(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Lines 1 and 2, 3 and 4, and so on; an incomplete pair at the end is left out."""
    return zip(islice(lines, 0, None, 2), islice(lines, 1, None, 2), strict=False)


@cache
def read_function_words() -> frozenset[str]:
    """Meteor's English function words, lowercase; punctuation marks are among them."""
    return frozenset(line.strip() for line in _jar_lines("function/english.words") if line.strip())


@cache
def read_synsets() -> dict[str, str]:
    """WordNet's words (lowercase, ``_`` in compounds), each with its synset numbers in one string.

    The numbers of all parts of speech are pooled, separated by spaces.
    """
    return dict(_line_pairs(_jar_lines("synonym/english.synsets")))


@cache
def read_inflections() -> dict[str, tuple[str, ...]]:
    """WordNet's irregular forms, each with its base forms."""
    bases: dict[str, tuple[str, ...]] = {}
    for base, forms in _line_pairs(_jar_lines("synonym/english.exceptions")):
        for form in forms.split():
            bases[form] = (*bases.get(form, ()), base)
    return bases


@cache
def read_nonbreaking_prefixes() -> dict[str, bool]:
    """Abbreviations whose full stop ends no sentence; true for those only before a number."""
    prefixes = {}
    for line in _jar_lines("nonbreaking/english.prefixes"):
        if line.strip() and not line.startswith("#"):
            prefix, _, remark = line.strip().partition(" ")
            prefixes[prefix] = "NUMERIC_ONLY" in remark
    return prefixes
