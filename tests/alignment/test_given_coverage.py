"""Soft links from other tools: rows and matrices, files and memory, in commands that use them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coverage_eval as ce
from coverage_eval.alignment.aligner import Aligner
from coverage_eval.data.dataset import Row
from coverage_eval.errors import DataError
from coverage_eval.metrics.omissions import OmissionFinder
from coverage_eval.testbed.grammar import generate
from tests.conftest import RunCli

PAIRS = generate(500, seed=3)
SOURCES, TARGETS = ([" ".join(getattr(p, side)) for p in PAIRS] for side in ("source", "target"))


@pytest.fixture(scope="module")
def posteriors(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[Any]]]:
    """A model, and its posteriors for a reference and an output in files and in memory."""
    folder = tmp_path_factory.mktemp("posteriors")
    outputs = [" ".join(line.split()[:-2]) for line in TARGETS[:40]]
    rows = [Row((out,), (ref,), src) for out, ref, src in zip(outputs, TARGETS, SOURCES)]  # noqa: B905
    with Aligner.train(SOURCES, TARGETS) as model:
        model.save(folder / "model")
        found = list(model.posteriors(rows))
    matrices = {
        "ref": [row.references[0].matrix for row in found],
        "hyp": [row.hypotheses[0].matrix for row in found],
    }
    texts = {"src": SOURCES[:40], "ref": TARGETS[:40], "hyp": outputs}
    for name, lines in texts.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    for name, arrays in matrices.items():
        # Every second one as a matrix, the others as the row of its column sums.
        lines = [
            json.dumps((one if n % 2 else one.sum(axis=0)).tolist()) for n, one in enumerate(arrays)
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return folder, matrices


TEXTS = ("hyp", "ref", "--src", "src")
GIVEN = ("--coverage", "hyp.jsonl", "--ref-coverage", "ref.jsonl")


def test_a_models_own_matrices_give_the_models_own_scores(
    run_cli: RunCli, posteriors: tuple[Path, dict[str, list[Any]]]
) -> None:
    folder, matrices = posteriors
    soft = run_cli("drop", "--soft", *TEXTS, *GIVEN, "-b", cwd=folder).stdout
    assert soft == run_cli("drop", "--soft", *TEXTS, "--model", "model", "-b", cwd=folder).stdout
    aligner = Aligner.from_posteriors(matrices["ref"], matrices["hyp"])
    texts = [(folder / name).read_text().splitlines() for name in ("hyp", "ref", "src")]
    assert f"{float(ce.soft_drop(*texts, aligner)):.2f}" == soft.strip()
    for more in ((), ("--sentence-level",)):
        options = ("omissions", "hyp", "--src", "src", "-f", "json", *more)
        found = json.loads(run_cli(*options, "--coverage", "hyp.jsonl", cwd=folder).stdout)
        model = json.loads(run_cli(*options, "--model", "model", cwd=folder).stdout)
        assert found["scores"][0]["score"] == model["scores"][0]["score"]
        for one, other in zip(
            found["scores"][0].get("sentences", []), model["scores"][0].get("sentences", []),
            strict=True,
        ):  # fmt: skip
            assert one["losses"] == pytest.approx(other["losses"], abs=1e-3)
    options = ("compare", "--ref", "ref", "--src", "src", "-f", "csv", "--resamples", 0)
    table = run_cli(*options, "hyp", *GIVEN, cwd=folder).stdout
    assert [line.split(",")[1] for line in table.splitlines()[1:]] == [
        "BLEU",
        "METEOR",
        "REP",
        "SoftDROP",
    ]
    assert "|coverage:" in table
    two = ("a=hyp", "b=ref", "--coverage", "hyp.jsonl", "--coverage", "ref.jsonl", *GIVEN[2:])
    table = run_cli(*options, *two, "--metrics", "softdrop,omissions", cwd=folder).stdout
    assert table.splitlines()[-2].startswith("b,SoftDROP,0.0,")
    report = ("report", "--ref", "ref", "--src", "src", "hyp", *GIVEN, "-o", "r.html")
    run_cli(*report, "--metrics", "softdrop", "--suspects", cwd=folder)


def test_additions_need_a_matrix() -> None:
    matrix = np.array([[0.9, 0.3], [0.0, 0.0], [0.01, 0.02]])
    aligner = Aligner.from_posteriors([], [matrix])
    (row,) = aligner.cover([Row(("a b c",), (), "x y")], "target")
    assert row.hypotheses[0].tolist() == pytest.approx([1.0, 0.0, 0.03])
    (found,) = OmissionFinder.of(aligner, "target").find_texts(["a b c"], ["x y"])
    assert [span.words for span in found.spans] == [("b", "c")]
    with pytest.raises(DataError, match="line 1: a row of source words does not say"):
        list(Aligner.from_posteriors([], [[1, 1]]).cover([Row(("a",), (), "x y")], "target"))


def test_soft_links_by_system_name_with_a_sink() -> None:
    soft = {"a": [[0.5, 0.5, 0.9]], "b": [[1.0, 2.0, 0.0]]}
    aligner = Aligner.from_posteriors([[1, 1, 1]], soft, sink=True)
    systems = {"b": ["x"], "a": ["x"]}
    comparison = ce.compare(systems, ["x"], ["u v"], aligner, metrics=["softdrop"], resamples=0)
    scores = {name: float(cells["softdrop"].score) for name, cells in comparison.rows.items()}
    assert scores == {"b": 0.0, "a": 50.0}
    with pytest.raises(DataError, match="links of the systems a, b were given"):
        ce.compare({"c": ["x"]}, ["x"], ["u v"], aligner, metrics=["softdrop"])


def test_attention_maps_are_matrices(tmp_path: Path) -> None:
    maps = tmp_path / "maps.jsonl"
    record = {"attention": [[0.9, 0.1], [0.2, 0.8]], "tgt_eos": True, "src_eos": True}
    maps.write_text(json.dumps(record) + "\n")
    (row,) = Aligner.from_posteriors([], maps).cover([Row(("a",), (), "x")])
    assert row.hypotheses[0].tolist() == [0.9]


def test_soft_links_of_peers_are_used() -> None:
    soft = {"hyp": [[0.9, 0.1]], "peer": [[0.8, 0.9]]}
    finder = OmissionFinder.of(Aligner.from_posteriors([], soft), peers=1)
    (found,) = finder.find_texts(["x"], ["u v"], peers=[["y"]])
    assert found.peers == 1
    assert found.losses.argmax() == 1
    with pytest.raises(DataError, match="soft links of 0 references and 2 hypotheses and peers"):
        OmissionFinder.of(Aligner.from_posteriors([], soft)).find_texts(["x"], ["u v"])


def test_a_side_without_words_has_no_coverage() -> None:
    aligner = Aligner.from_posteriors([], [[], [[]], [0.2]])
    rows = [Row(("",), (), "x y"), Row(("a",), (), ""), Row(("a",), (), "x")]
    assert [row.hypotheses[0].tolist() for row in aligner.cover(rows)] == [[0, 0], [], [0.2]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1, 1", "line 1: not JSON"),
        ('{"a": 1}', "line 1: is neither a row of numbers"),
        ("[[1], [1, 2]]", "line 1: is neither a row of numbers"),
        ("[1, -1]", "line 1: values are finite numbers from 0"),
        ("[NaN, 1]", "line 1: values are finite numbers from 0"),
        ("3", "line 1: values are finite numbers from 0, in a row"),
        ("[1, 1, 1]", "line 1: has 3 values, and there are 1 target words and 2 source words"),
        ("[[1, 1], [1, 1]]", "line 1: has 2 x 2 values, and there are 1 target words"),
        ("[1, 1]\n[1, 1]", "unequal numbers of lines: the text has 1"),
    ],
)
def test_damaged_soft_links_are_errors(
    run_cli: RunCli, tmp_path: Path, line: str, message: str
) -> None:
    (tmp_path / "soft").write_text(f"{line}\n")
    (tmp_path / "hyp").write_text("a\n")
    (tmp_path / "src").write_text("x y\n")
    texts = ("omissions", "hyp", "--src", "src", "--coverage", "soft")
    done = run_cli(*texts, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["drop", *TEXTS, *GIVEN], "DROP needs links, and --coverage gives soft"),
        (["drop", "--soft", "hyp", "ref", *GIVEN], "--coverage needs --src"),
        (["drop", "--soft", *TEXTS, *GIVEN[2:]], "--ref-coverage goes with --coverage"),
        (["drop", "--soft", *TEXTS, *GIVEN, "--model", "model"], "give only one of: --model"),
        (["compare", "--ref", "ref", "--src", "src", "hyp", *GIVEN, "--metrics", "drop"],
         "metric drop needs links"),
        (["compare", "--ref", "ref", "--src", "src", "hyp", "x=hyp", *GIVEN],
         "--coverage: 1 for 2 systems; give it once for each"),
        (["omissions", "hyp", "--src", "src", *GIVEN, "--calibrate", "m"], "--calibrate needs a"),
        (["meta", "--inject", "hyp", "--src", "src", *GIVEN], "--inject makes new texts"),
    ],
)  # fmt: skip
def test_conflicting_options_are_usage_errors(
    run_cli: RunCli,
    posteriors: tuple[Path, dict[str, list[Any]]],
    arguments: list[str],
    message: str,
) -> None:
    done = run_cli(*arguments, cwd=posteriors[0], check=False)
    assert done.returncode == 2
    assert message in done.stderr
