"""sacreBLEU's test sets: found where they are, and never fetched."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest
from sacrebleu.dataset import DATASETS

from coverage_eval.data.files import find_test_set
from coverage_eval.errors import MissingDependencyError


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was made")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def install(monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, *files: str) -> None:
    """Put files where sacreBLEU keeps those of a test set."""
    monkeypatch.setattr(DATASETS[name], "_outdir", str(folder))
    for file in files:
        (folder / file).write_text("text\n")


@pytest.mark.parametrize(
    ("name", "languages", "references"),
    [
        ("wmt20", "de-en", ["ref"]),
        ("wmt20/tworefs", "de-en", ["ref-0", "ref-1"]),
        ("wmt21", "en-de", ["ref-A"]),
        ("wmt22", "cs-en", ["ref-B"]),
        ("mtnt2019", "en-fr", ["ref"]),
        ("wmt20/robust/set1", "en-ja", ["ref"]),
    ],
)
def test_files_are_found(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    languages: str,
    references: list[str],
) -> None:
    start = f"{name.replace('/', '_')}.{languages}."
    files = [f"{start}{field}" for field in ("src", *references)]
    install(monkeypatch, tmp_path, name, *files, f"{start}docid")
    found = find_test_set(name, languages)
    assert [found.source, *found.references] == [str(tmp_path / file) for file in files]


@pytest.mark.parametrize("name", ["wmt20", "wmt22"])
def test_nothing_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    install(monkeypatch, tmp_path, name, f"{name}.de-en.src")
    command = f"sacrebleu -t {name} -l de-en --echo src > /dev/null"
    with pytest.raises(MissingDependencyError, match=re.escape(command)):
        find_test_set(name, "de-en")
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.de-en.src"]


def test_unknown_names() -> None:
    with pytest.raises(ValueError, match="no test set 'wmt1'; sacrebleu --list names them"):
        find_test_set("wmt1", "de-en")
    with pytest.raises(ValueError, match="no languages 'de-xx'; it has: cs-en, de-en, "):
        find_test_set("wmt20", "de-xx")
