"""``align`` and ``drop``: what they say about wrong files that would give plausible numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.grammar import generate

PAIRS = generate(300, seed=4)


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def text(tmp_path: Path) -> tuple[Path, Path]:
    return (
        write(tmp_path / "text.de", [" ".join(pair.source) for pair in PAIRS]),
        write(tmp_path / "text.en", [" ".join(pair.target) for pair in PAIRS]),
    )


def pharaoh(first: int) -> list[str]:
    return [" ".join(f"{i + first}-{j + first}" for i, j in pair.links) for pair in PAIRS]


def test_shifted_training_text_is_warned_of(run_cli, tmp_path, text):
    source, target = text
    model = tmp_path / "model"
    assert "warning" not in run_cli("align", "train", source, target, "-o", model).stderr
    lines = target.read_text(encoding="utf-8").splitlines()
    shifted = write(tmp_path / "shifted.en", [*lines[1:], lines[0]])
    said = run_cli("align", "train", source, shifted, "-o", tmp_path / "bad").stderr
    assert "warning" in said
    assert str(shifted) in said
    assert (tmp_path / "bad").is_file()  # training may have taken minutes


def test_swapped_sides_are_refused(run_cli, tmp_path, text):
    source, target = text
    model, links = tmp_path / "model", tmp_path / "links"
    run_cli("align", "train", source, target, "-o", model)
    assert run_cli("align", "apply", model, source, target, "--strict").stderr == ""
    refused = run_cli("align", "apply", model, target, source, "-o", links, check=False)
    assert refused.returncode == 1
    assert refused.stderr.startswith("coverage-eval: error: ")
    assert "swap source and target" in refused.stderr
    assert not links.exists()
    strict = ("align", "apply", model, target, source, "--strict", "-o", links)
    assert run_cli(*strict, check=False).returncode == 1
    assert not links.exists()


def test_a_file_without_links_is_a_warning(run_cli, tmp_path, text):
    source, target = text
    links, none = write(tmp_path / "links", pharaoh(0)), write(tmp_path / "none", [""] * len(PAIRS))
    command = ["drop", target, target, "--src", source, "--ref-links", links]
    said = f"{none}: no line has a link; is it the right file?"
    result = run_cli(*command, "--links", none, "-f", "json")
    assert said in json.loads(result.stdout)["warnings"]
    assert f"coverage-eval: warning: {said}\n" in result.stderr
    assert "no line" not in run_cli(*command, "--links", links).stderr
