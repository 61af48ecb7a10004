"""Outputs that are far from the others are named, left out, and decide nothing about others."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from coverage_eval.align.aligner import Aligner
from coverage_eval.core.batches import Row, RowSample, Texts
from coverage_eval.core.errors import Severity
from coverage_eval.outputs.outlier_systems import find_outlier_systems
from tests.grammar import generate

Spoil = Callable[[list[str]], list[str]]

SPOILT: dict[str, tuple[Spoil, str]] = {
    "cut": (
        lambda lines: [line[: len(line) // 2] for line in lines],
        "of the usual length",
    ),
    "blank": (lambda lines: [""] * len(lines), "has 0.0% of the usual length"),
    "some blank": (
        lambda lines: [line if number % 4 else "" for number, line in enumerate(lines)],
        "of the segments are blank",
    ),
    "one word": (lambda lines: ["the " * len(line.split()) for line in lines], "of the "),
    "one sentence": (lambda lines: [lines[0]] * len(lines), "of the different words of others"),
}


def outputs(count: int) -> list[list[str]]:
    """Translations of the same segments that differ by some words."""
    chance = random.Random(3)
    words = [f"word{number}" for number in range(300)]
    first = [chance.choices(words, k=12) for _ in range(60)]
    return [
        [" ".join(w if chance.random() < 0.9 else chance.choice(words) for w in s) for s in first]
        for _ in range(count)
    ]


@pytest.mark.parametrize("kind", SPOILT)
def test_a_spoilt_output_is_found_among_others(kind):
    corrupt, said = SPOILT[kind]
    source, good, other, third, bad = outputs(5)
    right = {"good": good, "third": third, "other": other}
    with Aligner.train(source, good) as aligner:
        texts = Texts.from_lists(right | {"third": corrupt(bad)}, None, source)
        outliers, findings = find_outlier_systems(texts.sample, aligner)
        assert outliers == [1]
        assert said in findings[0].message
        assert findings[0].texts == ("third",)
        assert find_outlier_systems(Texts.from_lists(right, None, source).sample, aligner) == (
            [],
            [],
        )
        peered = Texts.from_lists({"good": good}, None, source, [corrupt(bad)])
        assert find_outlier_systems(peered.sample, aligner)[0] == [0]


def test_a_spoilt_peer_is_named_and_left_out(run_cli, demonstration, tmp_path):
    for name in ("careful.en", "dropping.en", "test.de"):
        lines = (demonstration / name).read_text().splitlines(keepends=True)
        (tmp_path / name).write_text("".join(lines[:150]))
    careful = tmp_path / "careful.en"
    lines = careful.read_text().splitlines()
    peers = {"half": [line[: len(line) // 2] for line in lines], "one": ["the"] * len(lines),
             "blank": [""] * len(lines)}  # fmt: skip
    texts = (tmp_path / "dropping.en", "--src", tmp_path / "test.de")
    command = ("omissions", *texts, "--model", demonstration / "model")

    def omissions(*peers: Path) -> tuple[list[float], str]:
        words = [word for peer in peers for word in ("--peer", peer)]
        done = run_cli(*command, *words, "--sentence-level", "-f", "json")
        (found,) = json.loads(done.stdout)["scores"]
        scores = [one["score"] for one in found["sentences"]]
        return [found["score"], *scores], done.stderr

    with_peer, _ = omissions(careful)
    without, _ = omissions()
    assert with_peer[1:] != without[1:]
    for name, text in peers.items():
        peer = tmp_path / name
        peer.write_text("".join(f"{line}\n" for line in text))
        score, said = omissions(careful, peer)
        assert score == with_peer
        assert f"{peer}: " in said
        assert "it is left out where other outputs show what a segment should have" in said
        assert omissions(peer)[0] == without
    strict = run_cli(*command, "--peer", tmp_path / "half", "--strict", check=False)
    assert strict.returncode == 1


PAIRS = [(" ".join(pair.source), " ".join(pair.target)) for pair in generate(300, seed=2)]


def rows(*, referenced: bool, count: int) -> list[Row]:
    """Right outputs beside some that say everything three times, and one that is half as long."""
    found = []
    for source, target in PAIRS:
        words = target.split()
        outputs = (target, " ".join(words[: len(words) // 2]), *[" ".join([target] * 3)] * count)
        found.append(Row(outputs, (target,) if referenced else (), source))
    return found


@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("referenced", [False, True])
def test_long_outputs_do_not_make_a_right_one_far(referenced, count):
    with Aligner.train(*map(list, zip(*PAIRS, strict=True))) as aligner:
        texts = rows(referenced=referenced, count=count)
        names = [str(number) for number in range(2 + count)]
        sample = RowSample(texts, names, ["ref"] * referenced, "src")
        outliers, findings = find_outlier_systems(sample, aligner)
    assert outliers == [*range(not referenced, 2 + count)]  # the right one is the reference
    # Low scores mean nothing unless the reference shows what is wrong.
    severity = Severity.WARNING
    assert {finding.severity for finding in findings} == {severity}
    assert {finding.kind for finding in findings} == {"outlier"}
    # Without a reference the short one says little, which need not be found again.
    little = {"too-short", "blank"} if not referenced else set()
    assert [finding.suppresses for finding in findings] == [little, *[set()] * count]
    assert re.search("has (4|5)[0-9]% of the usual length", findings[0].message)
    assert all(
        re.search("has (29|30|31)[0-9]% of the usual length", finding.message)
        for finding in findings[1:]
    )


@pytest.mark.parametrize("referenced", [False, True])
@pytest.mark.parametrize(("added", "is_far"), [(1, False), (3, True)])
def test_words_beside_a_translation_make_it_far(referenced, added, is_far):
    """Each added word in a line of ten is one more that may explain a source word."""
    texts = [
        Row((target, f"{target} {' '.join(other.split()[:added])}"), (target,) * referenced, source)
        for (source, target), (_, other) in zip(PAIRS, [*PAIRS[9:], *PAIRS[:9]], strict=True)
    ]
    with Aligner.train(*map(list, zip(*PAIRS, strict=True))) as aligner:
        sample = RowSample(texts, ["good", "long"], ["ref"] * referenced, "src")
        outliers, findings = find_outlier_systems(sample, aligner)
    assert outliers == [0] * referenced + [1] * is_far  # "good" is the reference
    assert [finding.kind for finding in findings] == ["outlier"] * is_far
    assert all(re.search("has 1[23][0-9]% of the usual length", one.message) for one in findings)
