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
    path = tmp_path_factory.mktemp("answer")
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


def test_the_answer_stands_first(reader, folder):
    page = reader.open(folder / "two.html")
    assert page.inner_text("#answer .who") == "loops repeats more than good"
    assert page.inner_text("#answer .much").startswith("50 of 150 outputs of loops repeat words")
    assert page.inner_text("#answer .why").startswith("50 outputs of loops say the same words")
    assert page.inner_text("#odd li").startswith("loops: 50 of 150 outputs say the same words")
    assert page.locator(".said").first.inner_text().startswith("loops repeats more than good: REP")
    box = page.locator("#answer").bounding_box()
    assert box["y"] + box["height"] < 300
