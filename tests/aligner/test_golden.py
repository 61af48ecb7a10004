"""Files of the reference tool: clab/fast_align at cab1e9a, one thread, on Multi30k German–English.

At most 1 line in 10,000 may differ: two positions equally far from the diagonal are equally good,
and the last bit of a floating-point number decides.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.aligner.conftest import METHODS, Tools, assert_same_lines, comparable_log, read_golden

TENSION = {"fwd": "7.21604", "rev": "7.50802"}
MULTIPLIER = {"fwd": "1.07117", "rev": "0.961227"}


def golden_lines(shared: Path, name: str) -> list[str]:
    return read_golden(shared / "golden" / "fast_align" / f"{name}.gz")


def corpus_of(shared: Path, stem: str, out: Path) -> Path:
    texts = [
        (shared / "data" / "multi30k-de-en" / f"{stem}.{language}").read_text().split("\n")[:-1]
        for language in ("de", "en")
    ]
    lines = [f"{source} ||| {target}\n" for source, target in zip(*texts, strict=True)]
    out.write_text("".join(lines))
    return out


@pytest.fixture(scope="module")
def train_corpus(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return corpus_of(shared, "train", tmp_path_factory.mktemp("golden") / "train")


@pytest.mark.parametrize(("direction", "flags"), [("fwd", []), ("rev", ["-r"])])
def test_training(
    tools: Tools, shared: Path, train_corpus: Path, tmp_path: Path, direction: str, flags: list[str]
) -> None:
    saved = tmp_path / "params"
    done = tools.fast_align("-i", train_corpus, "-d", "-o", "-v", *flags, "-p", saved)
    assert_same_lines(done.lines, golden_lines(shared, f"train.{direction}.al"))
    parameters = golden_lines(shared, f"{direction}.params")
    assert_same_lines(sorted(saved.read_text().split("\n")[:-1]), sorted(parameters))
    log = (shared / "golden" / "fast_align" / f"{direction}.log").read_text()
    assert comparable_log(done.stderr) == comparable_log(log)


def test_model_1(tools: Tools, shared: Path, train_corpus: Path) -> None:
    done = tools.fast_align("-i", train_corpus)
    assert_same_lines(done.lines, golden_lines(shared, "train.model1.al"))


@pytest.mark.parametrize("method", METHODS)
def test_symmetrization(tools: Tools, shared: Path, tmp_path: Path, method: str) -> None:
    for direction in ("fwd", "rev"):
        lines = golden_lines(shared, f"train.{direction}.al")
        (tmp_path / direction).write_text("".join(line + "\n" for line in lines))
    done = tools.atools("-c", method, "-i", tmp_path / "fwd", "-j", tmp_path / "rev")
    assert done.lines == golden_lines(shared, f"train.{method}.al")


def forced(tools: Tools, shared: Path, folder: Path, direction: str, corpus: Path) -> list[str]:
    """Align with the parameters that the reference saved."""
    parameters = folder / f"{direction}.params"
    parameters.write_text("".join(f"{x}\n" for x in golden_lines(shared, f"{direction}.params")))
    flags = ["-d", "-T", TENSION[direction], "-m", MULTIPLIER[direction]]
    reverse = ["-r"] if direction == "rev" else []
    return tools.fast_align(
        "-i", "-", "-f", parameters, *flags, *reverse, stdin=corpus.read_bytes()
    ).lines


def test_forced_links_and_scores(tools: Tools, shared: Path, tmp_path: Path) -> None:
    corpus = corpus_of(shared, "test_2016_flickr", tmp_path / "test")
    for direction in ("fwd", "rev"):
        lines = forced(tools, shared, tmp_path, direction, corpus)
        assert_same_lines(lines, golden_lines(shared, f"test_2016_flickr.{direction}.full"))
        links = "".join(line.split(" ||| ")[2] + "\n" for line in lines)
        (tmp_path / direction).write_text(links)
    done = tools.atools("-c", "grow-diag-final-and", "-i", tmp_path / "fwd", "-j", tmp_path / "rev")
    assert_same_lines(done.lines, golden_lines(shared, "test_2016_flickr.gdfa.al"))


def test_threads_and_chunks_do_not_change_output_on_real_text(
    tools: Tools, train_corpus: Path, tmp_path: Path
) -> None:
    """3,000 real pairs: every output is the same byte for byte, however the work is divided."""
    part = tmp_path / "part"
    part.write_text("".join(f"{line}\n" for line in train_corpus.read_text().split("\n")[:3000]))
    flags = ["-d", "-o", "-v"]
    divisions = [["--threads", 1], ["--threads", 2], ["--threads", 8], ["--memory", 100_000]]
    outputs = [
        tools.train_both(part, tmp_path / str(number), *flags, *division)
        for number, division in enumerate(divisions)
    ]
    assert all(one == other for one, other in pairwise(outputs))
