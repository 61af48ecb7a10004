"""The commands ``coverage-eval attention``."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from coverage_eval.attention_maps import load
from coverage_eval.attention_maps.scores import SCORES
from coverage_eval.plotting import attention_heatmap
from coverage_eval.plotting.saving import save_figure
from tests.attention_maps.writers import SAMPLES, marian_soft

MAPS = (
    '{"attention": [[0.9, 0.1], [0, 1], [0.5, 0.5]], "source": ["ein", "Haus"],'
    ' "hypothesis": ["a", "house", "</s>"], "tgt_eos": true, "src_eos": false}\n'
    '{"attention": [[1, 0]], "source": ["<b>", "&"], "hypothesis": ["x"],'
    ' "tgt_eos": false, "src_eos": false}\n'
)
SIGNATURE = "attention|level:word|over:1.5|under:0.2|with_eos:no|version:0.1.0"


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "dump.jsonl"
    path.write_text(MAPS)
    return path


@pytest.fixture
def texts(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "src").write_text("".join(" ".join(s.source) + "\n" for s in SAMPLES))
    (tmp_path / "hyp").write_text("".join(" ".join(s.hypothesis) + "\n" for s in SAMPLES))
    return "--src", str(tmp_path / "src"), "--hyp", str(tmp_path / "hyp")


def test_score_prints_one_line_per_segment_and_one_for_the_corpus(run_cli, dump):
    scores = "mean_coverage,zeros,under_attended"
    result = run_cli("attention", "score", dump, "-m", scores)
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0][:4] == ["segment", "mean_coverage", "zeros", "under_attended"]
    assert lines[2:5] == [
        ["1", "1.00", "0.25", "0"],
        ["2", "0.50", "0.50", "1", "2:&"],
        ["corpus", "0.75", "0.38", "1"],
    ]
    assert result.stdout.splitlines()[-1] == SIGNATURE
    assert result.stderr == ""


def test_score_prints_every_format(run_cli, dump):
    record = json.loads(run_cli("attention", "score", dump, "-f", "json").stdout)
    assert record["signature"] == SIGNATURE
    assert list(record["corpus"]) == list(SCORES)
    assert [item["segment"] for item in record["segments"]] == [1, 2]
    assert record["segments"][0]["coverage"] == [0.9, 1.1]
    assert record["segments"][1]["under_attended_words"] == ["2:&"]
    table = run_cli("attention", "score", dump, "-f", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [row["segment"] for row in rows] == ["1", "2", "corpus"]
    assert float(rows[0]["cdp_code"]) == record["segments"][0]["cdp_code"]
    assert {row["signature"] for row in rows} == {SIGNATURE}
    assert run_cli("attention", "score", dump, "-f", "latex").stdout.endswith(f"% {SIGNATURE}\n")
    assert run_cli("attention", "score", dump, "-f", "markdown").stdout.count("|") > 60


def test_score_per_word(run_cli, dump):
    table = run_cli("attention", "score", dump, "--per-word", "-f", "csv").stdout
    rows = [row[:5] for row in csv.reader(io.StringIO(table))]
    assert rows == [
        ["segment", "position", "word", "coverage", "attended"],
        ["1", "1", "ein", "0.9", ""],
        ["1", "2", "Haus", "1.1", ""],
        ["2", "1", "<b>", "1.0", ""],
        ["2", "2", "&", "0.0", "under"],
    ]


@pytest.mark.parametrize("ending", ["npz", "jsonl"])
def test_convert_keeps_weights_and_words(run_cli, ending, tmp_path, texts):
    (tmp_path / "dump").write_bytes(marian_soft(SAMPLES))
    output = tmp_path / f"maps.{ending}"
    result = run_cli("attention", "convert", tmp_path / "dump", *texts, "-o", output)
    assert result.stdout == ""
    for item, s in zip(load(output), SAMPLES, strict=True):
        np.testing.assert_allclose(item.weights, s.weights, atol=1e-6)
        assert item.source == (*s.source, "</s>")
        assert item.hypothesis == (*s.hypothesis, "</s>")


@pytest.fixture
def layers(tmp_path: Path) -> tuple[str, ...]:
    """Two layers of three heads that prefer different links, and the options of their texts."""
    heads = np.zeros((2, 3, 3, 2))
    for layer, head in np.ndindex(2, 3):
        heads[layer, head, :, (layer + head) % 2] = 1.0
        heads[layer, head, 0] = [0.75, 0.25]
    np.save(tmp_path / "layers.npy", heads)
    (tmp_path / "layers.jsonl").write_text(json.dumps(heads.tolist()) + "\n")
    (tmp_path / "texts.tsv").write_text("de\ten\nein Haus\ta little house\n")
    return ("--src", f"{tmp_path}/texts.tsv:de", "--hyp", f"{tmp_path}/texts.tsv:en",
            "--orientation", "target-source")  # fmt: skip


@pytest.mark.parametrize(
    ("name", "ending", "layer", "head", "expected"),
    [
        ("layers.npy", "npz", "1", "1", "0-0 0-1 0-2\n"),
        ("layers.jsonl", "jsonl", "1", "2", "0-0 1-1 1-2\n"),
        ("layers.npy", "jsonl", "-1", "-1", "0-0 1-1 1-2\n"),
        ("layers.jsonl", "npz", "2", "mean", "0-0 1-1 1-2\n"),
    ],
)
def test_convert_chooses_layers_and_heads_from_1(
    run_cli, tmp_path, layers, name, ending, layer, head, expected
):
    """What it writes is read as it is, and its signature names the layer and the head."""
    chosen, maps = ("--layer", layer, "--head", head), tmp_path / f"maps.{ending}"
    run_cli("attention", "convert", tmp_path / name, *layers, *chosen, "-o", maps)
    result = run_cli("attention", "links", maps)
    assert (result.stdout, result.stderr) == (expected, "")
    assert f"|layer:{layer}|head:{head}|" in run_cli("attention", "score", maps).stdout


def test_files_that_leave_something_open_are_answered_with_the_line_to_type(
    run_cli, tmp_path, layers
):
    """As in the folder of the file; what is in capitals is the user's."""
    (tmp_path / "links").write_text("x y ||| 0-0 1-1\n")
    (tmp_path / "unknown").write_text("hello\n")
    bare = "--orientation target-source --src SRC --hyp HYP"
    (tmp_path / "matrix.jsonl").write_text("[[1, 0], [0, 1], [0, 1]]\n")
    expected = {
        "layers.jsonl": f"--layer 1 --head 1 {bare}",
        "matrix.jsonl": bare,
        "links": "--src SRC --hyp HYP",
        "unknown": "--input-format NAME",
    }
    for name, options in expected.items():
        done = run_cli("attention", "score", name, cwd=tmp_path, check=False)
        line = f"attention convert {name} {options} -o {name.partition('.')[0]}.maps.npz"
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.endswith(f". Type: coverage-eval {line}\n"), done.stderr
        if name == "layers.jsonl":
            line = line.replace("SRC", layers[1]).replace("HYP", layers[3])
            run_cli(*line.split(), cwd=tmp_path)
            run_cli("attention", "score", "layers.maps.npz", cwd=tmp_path)


def test_plot_draws_what_python_draws(run_cli, dump, tmp_path):
    picture, again = tmp_path / "a.svg", tmp_path / "b.svg"
    result = run_cli("attention", "plot", dump, "--index", 2, "-o", picture)
    assert (result.stdout, result.stderr) == ("", "")
    save_figure(attention_heatmap(load(dump)[1]), again, tight=True)
    assert picture.read_bytes() == again.read_bytes()
    ET.parse(picture)  # the tokens <b> and & are escaped
