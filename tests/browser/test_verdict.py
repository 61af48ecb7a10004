"""The first screen in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import RunCli
from tests.core.corrupt import confuse
from tests.grammar import generate

LINE = ("report", "--ref", "ref", "--metrics", "bleu,rep", "good", "loops", "-o", "two.html")


@pytest.fixture(scope="module")
def folder(run_cli: RunCli, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("verdict")
    target = [list(pair.target) for pair in generate(150, seed=4)]
    texts = {
        "ref": target,
        "good": confuse(target, 0.05),
        "loops": [[*row, "and", *row] if i % 3 == 0 else row for i, row in enumerate(target)],
    }
    for name, rows in texts.items():
        (path / name).write_text("".join(f"{' '.join(row)}\n" for row in rows))
    run_cli(*LINE, cwd=path)
    return path


def test_statements_stand_first(reader, folder):
    page = reader.open(folder / "two.html")
    assert page.inner_text("#answer .headline").startswith("loops repeats more than good: REP ")
    assert page.inner_text("#odd li").startswith("loops: 50 of 150 outputs say the same words")
    assert page.locator("#answer .sure").first.inner_text().startswith("good has the better")
    assert page.locator("#answer").bounding_box()["y"] < 300
