"""The first screen in a browser: its numbers are those of ``compare``; it sorts and is saved."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import RunCli
from tests.data.spoil import confuse
from tests.grammar import generate

OPTIONS = ("--ref", "ref", "--metrics", "bleu,rep,chrf", "--force")
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


def compared(run_cli: RunCli, folder: Path, names: tuple[str, ...], *more: str) -> Any:
    """Scores of ``compare -f json`` by system and metric."""
    found = json.loads(run_cli("compare", *OPTIONS, *names, *more, "-f", "json", cwd=folder).stdout)
    return {(score["system"], score["metric"]): score for score in found["scores"]}


def test_scores_and_places_are_those_of_compare(reader, run_cli, folder):
    page = reader.open(folder / "four.html")
    scores = compared(run_cli, folder, FOUR)
    heads = page.locator("#ranks thead button").all_inner_texts()
    metrics = [head.split()[0] for head in heads[1:]]
    assert sorted(metrics) == ["BLEU", "REP", "chrF2"]
    wins = dict.fromkeys(scores, 0)
    losses = dict.fromkeys(scores, 0)
    for base in FOUR:
        # Without a correction, a system is significantly better at least where Holm says so.
        for key, score in compared(run_cli, folder, FOUR, "--baseline", base).items():
            if score["p_value"] is not None and score["p_value"] < 0.05:
                better = (score["difference"] > 0) == score["higher_is_better"]
                (wins if better else losses)[key] += 1
    for name in FOUR:
        row = page.locator("#ranks tbody tr", has=page.locator(f"bdi:text-is('{name}')"))
        for at, metric in enumerate(metrics):
            value, ranks = row.locator("td").nth(at).inner_text().split()
            assert value == f"{scores[name, metric]['score']:.2f}"
            first, last = (ranks.split("–") * 2)[:2]
            assert 1 <= int(first) <= 1 + losses[name, metric]
            assert 4 - wins[name, metric] <= int(last) <= 4


def test_the_sentences_say_the_scores_and_p_values_of_compare(reader, run_cli, folder):
    page = reader.open(folder / "two.html")
    scores = compared(run_cli, folder, TWO)
    assert page.inner_text("#answer .headline") == "Take good"
    told = page.inner_text("#answer")
    found = re.findall(r"\((\S+) (\S+) against (\S+), p\s(.)\s([\d.]+)\)", told)
    assert {item[0] for item in found} == {
        metric for (system, metric), score in scores.items()
        if system == "loops" and score["p_value_holm"] < 0.05
    }  # fmt: skip
    for metric, ours, theirs, sign, p in found:
        assert ours == f"{scores['good', metric]['score']:.2f}"
        assert theirs == f"{scores['loops', metric]['score']:.2f}"
        holm = scores["loops", metric]["p_value_holm"]
        assert f"{sign} {p}" == ("< 0.001" if holm < 0.0005 else f"= {holm:.3f}")


def test_the_sentences_name_the_scores_of_the_best_and_the_worst_of_several(
    reader, run_cli, folder
):
    page = reader.open(folder / "four.html")
    scores = compared(run_cli, folder, FOUR)
    headline = page.inner_text("#answer .headline")
    chosen = next(name for name in FOUR if headline.startswith(f"Take {name}"))
    told = page.inner_text("#answer").replace("\u00a0", " ")
    pattern = r"\((\S+) (\S+) against (\S+)(?: to (\S+))?, p [=<≤] [\d.]+\)"
    found = re.findall(pattern, told)
    assert any(last for *_, last in found)  # of several systems
    for metric, ours, *theirs in found:
        others = [scores[name, metric]["score"] for name in FOUR if name != chosen]
        assert ours == f"{scores[chosen, metric]['score']:.2f}"
        ends = [text for text in theirs if text]
        assert {*ends} <= {f"{score:.2f}" for score in others}
        assert ends == sorted(ends, key=float)


def test_the_table_sorts_by_mouse_and_keyboard(reader, folder):
    page = reader.open(folder / "four.html")

    def values(column: int) -> list[float]:
        cells = page.locator(f"#ranks tbody tr td:nth-of-type({column + 1}) .value")
        return [float(text) for text in cells.all_inner_texts()]

    heads = page.locator("#ranks thead button")
    for at in range(1, heads.count()):
        metric = heads.nth(at).inner_text().split()[0]
        heads.nth(at).focus()
        page.keyboard.press("Enter")
        best_first = sorted(values(at - 1), reverse=metric != "REP")
        assert values(at - 1) == best_first or metric == "REP"  # REP is sorted already
        heads.nth(at).click()
        assert values(at - 1) in (best_first, best_first[::-1])
