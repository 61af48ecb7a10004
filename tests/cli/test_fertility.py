"""The commands ``coverage-eval fertility``, and reading and writing fertilities."""

from __future__ import annotations

import gzip
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coverage_eval.attention_maps.fertility_files import (
    format_fertilities,
    parse_fertilities,
    read_fertilities,
)
from coverage_eval.errors import DataError


@pytest.fixture
def corpus(tmp_path):
    """Source and links of three segments, the second one empty."""
    source, links = tmp_path / "source.txt", tmp_path / "links.txt"
    source.write_text("a b c\n\nx a\n", encoding="utf-8")
    links.write_text("0-0 0-1 2-0\n\n0-0\n", encoding="utf-8")
    return source, links


def lines(done):
    return done.stdout.split("\n")


def test_constant_fertilities(run_cli, corpus):
    source, _ = corpus
    assert lines(run_cli("fertility", "constant", source)) == ["2 2 2", "", "2 2", ""]
    done = run_cli("fertility", "constant", "-n", "1.5", "--sink", "-", stdin="a b\n\n")
    assert lines(done) == ["1.5 1.5 inf", "inf", ""]


def test_actual_fertilities(run_cli, corpus):
    assert lines(run_cli("fertility", "actual", *corpus)) == ["2 1 1", "", "1 1", ""]
    assert lines(run_cli("fertility", "actual", *corpus, "--add", 1)) == ["3 2 2", "", "2 2", ""]


def test_guided_fertilities(run_cli, corpus):
    source, links = corpus
    done = run_cli(
        "fertility", "guided", "-", "--train-src", source, "--train-links", links,
        stdin="a a never\n\nb x c\n",
    )  # fmt: skip
    assert lines(done) == ["2 2 1", "", "1 1 1", ""]


def test_predicted_fertilities(run_cli, corpus):
    probabilities = "0,1,0 0.5,0.5,0 .25,.25,.5\n\n1 0,1\n"
    done = run_cli("fertility", "predicted", "-", "--src", corpus[0], stdin=probabilities)
    assert lines(done) == ["2 1.5 2.25", "", "1 2", ""]
    done = run_cli("fertility", "predicted", "-", "--first-class", 0, stdin="0.5,0.5\n")
    assert lines(done) == ["0.5", ""]
    done = run_cli("fertility", "predicted", "-", "--add", 1, "--sink", stdin="0.5,0.5 1\n")
    assert lines(done) == ["2.5 2 inf", ""]


def test_fertilities_are_written_to_a_file(run_cli, corpus, tmp_path):
    target = tmp_path / "out.txt"
    done = run_cli("fertility", "actual", *corpus, "--sink", "-o", target)
    assert done.stdout == ""
    assert [f.tolist() for f in read_fertilities(target)] == [
        [2, 1, 1, np.inf], [np.inf], [1, 1, np.inf],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (("actual", "SOURCE", "-"), "0-0\n\n0-0 7-0\n", "line 3: link 7-0 is out of range"),
        (("actual", "SOURCE", "-"), "0-0\n", "unequal numbers of lines"),
        (("actual", "SOURCE", "-"), "0-0\nx\n\n", "standard input: line 2: 'x' is not a link"),
        (
            ("guided", "SOURCE", "--train-src", "SOURCE", "--train-links", "-"),
            "0-0\n\n2-0\n",
            "standard input: line 3: link 2-0 is out of range: the source has 2 words",
        ),
        (("predicted", "-"), "0.5,0.5 0.5,0.4\n", "line 1: class probabilities must"),
        (("predicted", "-"), "1 a,1\n", "line 1: 'a' is not a number"),
        (("predicted", "-", "--src", "SOURCE"), "1 1\n\n1 1\n", "2 words, but the source has 3"),
        (("constant", "missing.txt"), "", "missing.txt: no such file"),
    ],
)
def test_bad_data_is_one_line_and_status_1(run_cli, corpus, tmp_path, arguments, stdin, message):
    arguments = [str(corpus[0]) if a == "SOURCE" else a for a in arguments]
    target = tmp_path / "out.txt"
    done = run_cli("fertility", *arguments, "-o", target, stdin=stdin, check=False)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not target.exists()


def test_usage_errors_are_status_2(run_cli, corpus):
    assert run_cli("fertility", "constant", corpus[0], "-n", 0, check=False).returncode == 2
    assert run_cli("fertility", "guided", corpus[0], check=False).returncode == 2
    assert run_cli("fertility", "nonsense", check=False).returncode == 2


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(1e-3, 1e6) | st.integers(1, 50).map(float) | st.just(np.inf)))
def test_what_is_written_reads_back(values):
    read = parse_fertilities(format_fertilities(values))
    np.testing.assert_allclose(read, values, rtol=1e-11)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="0123456789.-+einfa_, \tx", max_size=12))
def test_any_line_reads_or_is_refused(line):
    try:
        values = parse_fertilities(line)
    except DataError:
        return
    assert np.all(values > 0)


def test_guided_fertilities_of_a_real_corpus(run_cli, shared):
    """Multi30k with fast_align's links, against a plain count of the most links of each word."""
    source = shared / "data" / "multi30k-de-en" / "train.de"
    links = shared / "golden" / "fast_align" / "train.grow-diag-final-and.al.gz"
    test = shared / "data" / "multi30k-de-en" / "test_2016_flickr.de"
    done = run_cli("fertility", "guided", test, "--train-src", source, "--train-links", links)
    largest: Counter[str] = Counter()
    link_lines = gzip.decompress(links.read_bytes()).decode().split("\n")
    for text, line in zip(source.read_text(encoding="utf-8").split("\n"), link_lines, strict=True):
        counts = Counter(int(link.split("-")[0]) for link in line.split())
        for place, word in enumerate(text.split(" ")):
            largest[word] = max(largest[word], counts[place], 1)
    texts = test.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    expected = [" ".join(str(largest[w] or 1) for w in text.split(" ")) for text in texts]
    assert done.stdout.split("\n")[:-1] == expected
