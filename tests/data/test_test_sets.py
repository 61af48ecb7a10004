"""Test sets of sacreBLEU, found on the disk or downloaded, and files of the WMT metrics task."""

from __future__ import annotations

import re
import socket
import sys
from io import StringIO
from pathlib import Path

import pytest
from sacrebleu.dataset import DATASETS

from coverage_eval.data.files import find_test_set
from coverage_eval.errors import MissingDependencyError
from tests.conftest import Terminal


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no network here")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def install(monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, *files: str) -> None:
    """Put a test set's files where sacreBLEU keeps them."""
    monkeypatch.setattr(DATASETS[name], "_outdir", str(folder))
    monkeypatch.setattr(DATASETS[name], "_rawdir", str(folder / "raw"))
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
def test_downloaded_files_are_found(tmp_path, monkeypatch, name, languages, references):
    start = f"{name.replace('/', '_')}.{languages}."
    files = [f"{start}{field}" for field in ("src", *references)]
    install(monkeypatch, tmp_path, name, *files, f"{start}docid")
    found = find_test_set(name, languages)
    assert [found.source, *found.references] == [str(tmp_path / file) for file in files]


@pytest.mark.parametrize("name", ["wmt20", "wmt22"])
def test_without_a_network_the_error_names_a_command_to_run_elsewhere(tmp_path, monkeypatch, name):
    install(monkeypatch, tmp_path, name, f"{name}.de-en.src")
    command = f"sacrebleu -t {name} -l de-en --echo src > /dev/null"
    with pytest.raises(MissingDependencyError, match="cannot be downloaded: no network") as found:
        find_test_set(name, "de-en")
    assert re.search(re.escape(command), str(found.value))


def test_a_downloaded_test_set_becomes_text(tmp_path, monkeypatch):
    """The raw file is like sacreBLEU's download for wmt23, in WMT's own format."""
    data = DATASETS["wmt23"]
    install(monkeypatch, tmp_path, "wmt23")
    raw = tmp_path / "raw" / data.langpairs["en-de"][0]
    raw.parent.mkdir(parents=True)
    segments = ['<seg id="1">A house.</seg><seg id="2">A dog &amp; a cat.</seg>']
    segments += [text.replace("A ", "Ein ").replace(" a ", " eine ") for text in segments]
    raw.write_text(
        '<dataset id="wmttest2023"><doc id="one" origlang="en" domain="news">'
        f'<src lang="en"><p>{segments[0]}</p></src>'
        f'<ref lang="de" translator="refA"><p>{segments[1]}</p></ref></doc></dataset>'
    )
    (archive,) = data.data
    (tmp_path / "raw" / data._get_tarball_filename(archive)).write_text("it was unpacked")
    found = find_test_set("wmt23", "en-de")
    assert Path(found.source).read_text() == "A house.\nA dog & a cat.\n"
    (reference,) = found.references
    assert Path(reference).read_text() == "Ein house.\nEin dog & eine cat.\n"


@pytest.mark.parametrize("stream", [StringIO, Terminal])
def test_only_a_terminal_is_told_of_a_download(tmp_path, monkeypatch, stream):
    install(monkeypatch, tmp_path, "wmt20")
    monkeypatch.setattr(sys, "stderr", stderr := stream())
    seen = []
    monkeypatch.setattr(
        type(DATASETS["wmt20"]), "process_to_text", lambda *_: seen.append(stderr.getvalue())
    )
    find_test_set("wmt20", "de-en")
    told = "downloading test set wmt20 de-en, once" in seen[0]  # before the download
    assert told == (stream is Terminal)
    assert bool(stderr.getvalue()) == told


def test_unknown_test_sets_and_languages_are_errors():
    with pytest.raises(ValueError, match="no test set 'wmt1'; sacrebleu --list names them"):
        find_test_set("wmt1", "de-en")
    with pytest.raises(ValueError, match="no languages 'de-xx'; it has: cs-en, de-en, "):
        find_test_set("wmt20", "de-xx")
