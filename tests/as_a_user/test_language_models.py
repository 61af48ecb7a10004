"""Outputs of language models: gates that no threshold opens, and what they say."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from coverage_eval.outputs.output_errors import GUESSES
from tests.conftest import RunCli
from tests.grammar import generate
from tests.outputs.language_model_rows import plant

PAIRS = [(" ".join(pair.source), " ".join(pair.target)) for pair in generate(1200, seed=4)]
ROWS = plant(PAIRS[:600], "en", seed=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli) -> Path:
    found = tmp_path_factory.mktemp("language-model")
    rows = [
        {"id": number, "source": row.source, "out": {"text": row.output}, "kind": row.kind}
        for number, row in enumerate(ROWS, start=1)
    ]
    (found / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for place, side in enumerate(("src", "ref")):
        (found / f"train.{side}").write_text("".join(f"{pair[place]}\n" for pair in PAIRS[600:]))
    run_cli(
        "align", "train", "train.src", "train.ref", "-o", "model", "--prepare-for", "omissions",
        cwd=found,
    )  # fmt: skip
    return found


def read(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("more", [(), ("--additions",)])
def test_named_errors_are_rejected_whatever_the_threshold(run_cli, folder, tmp_path, more):
    """Of 600 rows all with an error but some of the halved ones."""
    line = ("omissions", "rows.jsonl:out.text", "--src", "rows.jsonl:source")
    files = ("--keep", tmp_path / "good.jsonl", "--reject", tmp_path / "bad.jsonl")
    gate = ("--model", "model", "--fail-above", 2, "--sentence-level", "-f", "jsonl")
    done = run_cli(*line, *files, *gate, *more, cwd=folder, check=False)
    assert done.returncode == 3
    good, bad = read(tmp_path / "good.jsonl"), read(tmp_path / "bad.jsonl")
    assert len(good) + len(bad) == len(ROWS) == 600
    kept, rejected = Counter(row["kind"] for row in good), Counter(row["kind"] for row in bad)
    assert kept.keys() <= {"", *GUESSES}
    assert more or rejected["truncated"] >= 0.7 * (kept["truncated"] + rejected["truncated"]) > 9
    assert rejected[""] <= 0.05 * (kept[""] + rejected[""])
    assert "reason" not in good[0]
    certain = {"refusal", "wrong-language"} if more else {"empty", "untranslated", "refusal"}
    for row, scored in zip(ROWS, done.stdout.splitlines(), strict=True):
        assert row.kind not in certain or json.loads(scored)["probability"] > 0.99, row
    for row in bad:
        assert row["kind"] in {"", *GUESSES} or str(row["kind"]) in str(row["reason"])
    texts = {row["id"]: row["out"] for row in (*good, *bad)}
    assert texts == {n: {"text": row.output} for n, row in enumerate(ROWS, start=1)}  # line breaks
    assert "6 empty" in done.stderr
    assert done.stderr.count("line breaks") == 1
