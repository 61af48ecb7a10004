"""Training, saved parameters, forced links, scores and posteriors against the oracle."""

from __future__ import annotations

import json
import math
import struct

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.aligner import oracle
from tests.aligner.conftest import Pair, read_table, write_corpus

SEGMENTS = st.lists(st.sampled_from(["a", "b", "c", "Ä", "‑", "\u00a0"]), min_size=1, max_size=6)
CORPORA = st.lists(st.tuples(SEGMENTS, SEGMENTS), min_size=1, max_size=6)
SETTINGS = st.builds(
    oracle.Settings,
    favor_diagonal=st.booleans(),
    optimize_tension=st.booleans(),
    variational_bayes=st.booleans(),
    iterations=st.integers(1, 5),
    p0=st.sampled_from([0.08, 0.3]),
    alpha=st.sampled_from([0.01, 0.5]),
    tension=st.sampled_from([1.0, 4.0]),
    null_word=st.booleans(),
)


def as_text(corpus: list[tuple[list[str], list[str]]]) -> list[Pair]:
    return [(" ".join(source), " ".join(target)) for source, target in corpus]


def oriented(corpus: list[tuple[list[str], list[str]]], reverse: bool) -> list[oracle.Sentences]:
    """Pairs as (generated, conditioning)."""
    return [(source, target) if reverse else (target, source) for source, target in corpus]


def parse_links(line: str, reverse: bool) -> dict[int, int]:
    """Conditioning position by generated position."""
    links = {}
    for link in line.split():
        source, target = map(int, link.split("-"))
        generated, conditioning = (source, target) if reverse else (target, source)
        assert generated not in links
        links[generated] = conditioning
    return links


def assert_best(model: oracle.Model, pair: oracle.Sentences, line: str, reverse: bool) -> None:
    """Each link (or none, for NULL) is as probable as the best one, up to rounding."""
    links = parse_links(line, reverse)
    assert all(generated < len(pair[0]) for generated in links)
    for j in range(1, len(pair[0]) + 1):
        joint = model.joint(pair, j)
        chosen = joint[links[j - 1] + 1 if j - 1 in links else 0]
        assert chosen == pytest.approx(max(joint), rel=1e-7)


@settings(max_examples=25, deadline=None)
@given(corpus=CORPORA, chosen=SETTINGS)
def test_training_equals_the_oracle(tools, tmp_path_factory, corpus, chosen):
    folder = tmp_path_factory.mktemp("oracle")
    path = write_corpus(folder / "corpus", as_text(corpus))
    outputs = tools.train_both(path, folder / "out", *chosen.flags())
    statistics = json.loads(outputs["stats"])
    for direction, reverse in (("forward", False), ("reverse", True)):
        pairs = oriented(corpus, reverse)
        model = oracle.train(pairs, chosen)
        figures = statistics[direction]
        assert figures["tension"] == pytest.approx(model.tension, rel=1e-6)
        assert figures["log_likelihood"] == pytest.approx(model.log_likelihood, rel=1e-9, abs=1e-9)
        ratios = [len(generated) / len(conditioning) for generated, conditioning in pairs]
        assert figures["length_multiplier"] == pytest.approx(sum(ratios) / len(ratios))
        full = read_table(outputs[f"{direction}-full"])
        for words, theta in model.theta.items():
            if words in full:
                assert math.exp(full[words]) == pytest.approx(theta, rel=1e-6)
            else:
                assert theta < 1e-7 * (1 + 1e-6)
        assert set(full) <= set(model.theta)
        lines = outputs[f"{direction}-links"].decode().split("\n")[:-1]
        assert len(lines) == len(pairs)
        for pair, line in zip(pairs, lines, strict=True):
            assert_best(model, pair, line, reverse)


@settings(max_examples=15, deadline=None)
@given(corpus=CORPORA, chosen=SETTINGS, fresh=CORPORA, reverse=st.booleans())
def test_forced_alignment_equals_the_oracle(
    tools, tmp_path_factory, corpus, chosen, fresh, reverse
):
    assume(chosen.iterations > 1)  # a single pass changes no parameter and saves none
    folder = tmp_path_factory.mktemp("forced")
    path = write_corpus(folder / "corpus", as_text(corpus))
    outputs = tools.train_both(path, folder / "out", *chosen.flags())
    parameters = folder / "parameters"
    parameters.write_bytes(outputs["reverse-full" if reverse else "forward-full"])
    theta = {words: math.exp(log) for words, log in read_table(parameters.read_bytes()).items()}
    model = oracle.Model(chosen, 3.5, theta)
    fresh_path = write_corpus(folder / "fresh", as_text(fresh))
    flags = [*chosen.flags(), "-T", 3.5, "-m", 1.25, *(["-r"] if reverse else [])]
    done = tools.fast_align(
        "-i", fresh_path, "-f", parameters, "--posteriors", folder / "posteriors", *flags
    )
    records = read_posteriors((folder / "posteriors").read_bytes())
    assert len(done.lines) == len(fresh) == len(records)
    for pair, text, line, record in zip(
        oriented(fresh, reverse), as_text(fresh), done.lines, records, strict=True
    ):
        source, target, links, score = line.split(" ||| ")
        assert (source, target) == text
        assert_best(model, pair, links, reverse)
        assert float(score) == pytest.approx(oracle.score(model, pair, 1.25), rel=1e-5)
        nulls, matrix = record
        assert len(nulls) == len(pair[0])
        for j, row in enumerate(matrix, 1):
            joint = model.joint(pair, j)
            expected = [value / sum(joint) for value in joint]
            assert [nulls[j - 1], *row] == pytest.approx(expected, rel=1e-5, abs=1e-30)


def read_posteriors(content: bytes) -> list[tuple[list[float], list[list[float]]]]:
    """NULL column and matrix [m][n] of each record."""
    assert content.startswith(b"CEPOST1\n")
    at = 8
    records = []
    while at < len(content):
        m, n = struct.unpack_from("<II", content, at)
        numbers = struct.unpack_from(f"<{m + m * n}f", content, at + 8)
        at += 8 + 4 * len(numbers)
        rows = [list(numbers[m + j * n : m + (j + 1) * n]) for j in range(m)]
        records.append((list(numbers[:m]), rows))
    assert at == len(content)
    return records


def test_pruning_follows_the_beam(tools, tmp_path):
    pairs = [("a b", "x y"), ("a c", "x z"), ("a d e", "x w v"), ("b", "y")]
    corpus = write_corpus(tmp_path / "corpus", pairs)
    full = read_table(tools.train_both(corpus, tmp_path / "out", "-d", "-v")["forward-full"])
    for beam in (-1, -2, -4):
        saved = tmp_path / f"saved{beam}"
        tools.fast_align("-i", corpus, "-d", "-v", "-p", saved, "-t", beam)
        kept = {
            words
            for words, log in full.items()
            if log >= -beam * max(value for other, value in full.items() if other[0] == words[0])
        }
        table = read_table(saved.read_bytes())
        assert {words for words in table if table[words] >= math.log(1e-7)} == kept
        assert table == pytest.approx(
            {words: full.get(words, table[words]) for words in table}, rel=1e-5
        )


def test_training_scores(tools, tmp_path):
    corpus = [(["a", "b"], ["x", "y", "y"]), (["a"], ["x"]), (["c", "b"], ["z", "y"])]
    path = write_corpus(tmp_path / "corpus", as_text(corpus))
    done = tools.fast_align("-i", path, "-d", "-o", "-v", "-s")
    chosen = oracle.Settings()
    pairs = oriented(corpus, False)
    model = oracle.train(pairs, chosen)
    for pair, line in zip(pairs, done.lines, strict=True):
        links, score = line.split(" ||| ")
        assert_best(model, pair, links, False)
        assert float(score) == pytest.approx(oracle.score(model, pair, (1.5 + 1 + 1) / 3), rel=1e-5)
