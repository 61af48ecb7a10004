"""The first screen in a browser: its numbers and sentences are those of ``compare``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import RunCli
from tests.core.spoil import confuse
from tests.grammar import generate

OPTIONS = ("--ref", "ref", "--metrics", "bleu,rep,chrf")
TWO, FOUR = ("good", "loops"), ("poor", "loops", "good", "fair")


@pytest.fixture(scope="module")
def folder(run_cli: RunCli, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("verdict")
    target = [list(pair.target) for pair in generate(150, seed=4)]
    texts = {
        "ref": target,
        "good": confuse(target, 0.05),
        "fair": confuse(target, 0.1, seed=3),
        "poor": confuse(target, 0.5),
        "loops": [[*row, "and", *row] if i % 3 == 0 else row for i, row in enumerate(target)],
    }
    for name, rows in texts.items():
        (path / name).write_text("".join(f"{' '.join(row)}\n" for row in rows))
    for names, file in ((TWO, "two.html"), (FOUR, "four.html")):
        run_cli("report", *OPTIONS, *names, "-o", file, cwd=path)
    return path


def test_the_first_screen_has_the_verdict_and_the_table_of_compare(reader, run_cli, folder):
    page = reader.open(folder / "four.html")
    told = json.loads(run_cli("compare", *OPTIONS, *FOUR, "-f", "json", cwd=folder).stdout)
    shown = page.locator("#answer p").all_inner_texts()
    assert [text.replace("\u00a0", " ") for text in shown] == told["verdict"]["sentences"]
    scores = {(score["system"], score["metric"]): score["score"] for score in told["scores"]}
    heads = page.locator("#which thead th").all_inner_texts()
    metrics = [head.split()[0] for head in heads[1:]]
    assert sorted(metrics) == ["BLEU", "REP", "chrF2"]
    for name in FOUR:
        row = page.locator("#which tbody tr", has=page.locator(f"bdi:text-is('{name}')"))
        for at, metric in enumerate(metrics):
            value = row.locator("td").nth(at).locator("strong").inner_text()
            assert value.rstrip("*") == f"{scores[name, metric]:.2f}"


def test_what_needs_no_test_stands_first(reader, folder):
    page = reader.open(folder / "two.html")
    assert page.inner_text("#answer .headline").startswith("loops: 50 of 150 outputs say the same")
    assert page.locator("#answer b").all_inner_texts()[:2] == ["loops", "good"]
    assert page.inner_text("#odd li").startswith("loops: 50 of 150 outputs say the same words")
    assert page.locator("#answer .sure").first.inner_text() == "Take good."
    assert page.locator("#answer").bounding_box()["y"] < 300
