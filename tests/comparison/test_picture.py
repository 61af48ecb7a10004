"""The picture of a comparison, as a method and as ``compare --plot``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import coverage_eval as ce
from coverage_eval.testbed.grammar import generate
from tests.comparison.systems import damaged
from tests.conftest import RunCli

REFERENCES = [" ".join(pair.target) for pair in generate(60, seed=3)]
SYSTEMS = {"same": REFERENCES, "worse": damaged(REFERENCES, seed=1, repeated=0.3)}


def test_bars_whiskers_and_stars_are_those_of_the_table() -> None:
    comparison = ce.compare(SYSTEMS, REFERENCES, metrics=["bleu", "rep"], resamples=200)
    frame = comparison.to_frame()
    axes = comparison.plot()
    assert [ax.get_xlabel() for ax in axes] == ["BLEU (higher is better)", "REP (lower is better)"]
    for ax, metric in zip(axes, ["BLEU", "REP"], strict=True):
        scores = frame[metric, "score"].to_numpy()
        assert [bar.get_width() for bar in ax.patches] == pytest.approx(scores)
        whiskers = [s[:, 0] for s in ax.containers[1].lines[2][0].get_segments()]
        assert np.allclose(whiskers, frame[metric][["low", "high"]])
        starred = [text.get_text().endswith("*") for text in ax.texts[:2]]
        assert starred == [False, bool(frame.loc["worse", (metric, "p (Holm)")] < 0.05)]
    assert [t.get_text() for t in axes[0].get_yticklabels()] == ["same (baseline)", "worse"]


def test_without_resamples_there_are_neither_whiskers_nor_stars() -> None:
    axes = ce.compare(SYSTEMS, REFERENCES, metrics=["rep"], resamples=0).plot()
    assert [len(ax.patches) for ax in axes] == [2]
    assert not any("*" in text.get_text() for text in axes[0].texts)
    axes[0].figure.canvas.draw()


def test_the_command_writes_the_picture(run_cli: RunCli, tmp_path: Path) -> None:
    for name, lines in {**SYSTEMS, "ref": REFERENCES}.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    arguments = ["compare", "--ref", "ref.txt", "same.txt", "worse.txt", "--metrics", "rep"]
    plain = run_cli(*arguments, cwd=tmp_path)
    drawn = run_cli(*arguments, "--plot", "bars.png", cwd=tmp_path)
    assert drawn.stdout == plain.stdout
    with Image.open(tmp_path / "bars.png") as image:
        assert image.size[0] > 300
    refused = run_cli(*arguments, "--plot", "bars.txt", cwd=tmp_path, check=False)
    assert refused.returncode == 1
    assert "bars.txt: name a file that ends in .png, .svg, .pdf" in refused.stderr
    assert refused.stderr.count("\n") == 1
