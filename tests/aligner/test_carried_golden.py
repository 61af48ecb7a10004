"""Files of the reference tool that the repository carries, so that every clone has an oracle.

They are outputs of the original fast_align, not of ours; ``tests/golden/fast_align/README.md``
gives their origin.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from coverage_eval.demonstration import demonstration_texts
from fast_align_wrapper import FastAlign
from fast_align_wrapper.links import Links, format_links, parse_links, symmetrize
from tests.aligner.conftest import (
    METHODS,
    Pair,
    assert_same_lines,
    comparable_log,
    read_golden,
    write_corpus,
)
from tests.grammar import paraphrase

FOLDER = Path(__file__).resolve().parent.parent / "golden" / "fast_align"
TEXTS = demonstration_texts()
SEED = 2018
# If two links are equally good, the last bit of a floating-point number decides.
TOLERATED = 1e-3
FLAGS: dict[str, list[str]] = {"forward": [], "reverse": ["-r"]}
# From the reference's log, for its -f.
FORCED = {
    "forward": ["-d", "-T", "6.03674", "-m", "1.05611"],
    "reverse": ["-d", "-T", "5.84573", "-m", "0.960334", "-r"],
}


def dropping_output() -> list[str]:
    """The text with a tenth of the words left out, as it was given to the reference."""
    generator = random.Random(f"{SEED} dropping")
    lines = []
    for line in TEXTS["test.en"]:
        words = paraphrase(line.split(), 0.5, generator)
        kept = [word for word in words if generator.random() >= 0.1]
        for _ in kept:  # one more draw per word, as if for repetitions
            generator.random()
        lines.append(" ".join(kept))
    return lines


# Output of the reference → target side of the test set.
TESTS = {"test": TEXTS["test.en"], "test.dropping": dropping_output()}


@dataclass(frozen=True)
class Corpus:
    """Training text, and the reference's files for it."""

    name: str
    pairs: Sequence[Pair]

    def golden(self, file: str) -> list[str]:
        return read_golden(FOLDER / self.name / f"{file}.gz")


def tanaka() -> Iterator[Pair]:
    for line in read_golden(FOLDER / "tanaka" / "train.ja-en.tsv.gz"):
        japanese, english = line.split("\t")
        yield japanese, english


GRAMMAR = Corpus("grammar", list(zip(TEXTS["train.de"], TEXTS["train.en"], strict=True)))
CORPORA = [GRAMMAR, Corpus("tanaka", list(tanaka()))]
each_corpus = pytest.mark.parametrize("corpus", CORPORA, ids=lambda corpus: corpus.name)


def last_match(pattern: str, log: Iterable[str]) -> float:
    return float(re.findall(pattern, "\n".join(log))[-1])


@pytest.mark.parametrize("stem", TESTS)
def test_the_grammar_generates_the_text_given_to_the_reference(stem):
    expected = [line.split(" ||| ")[:2] for line in GRAMMAR.golden(f"{stem}.forward.full")]
    assert [list(pair) for pair in zip(TEXTS["test.de"], TESTS[stem], strict=True)] == expected


@each_corpus
@pytest.mark.parametrize("direction", FLAGS)
def test_training(tools, tmp_path, corpus, direction):
    text, saved = write_corpus(tmp_path / "text", corpus.pairs), tmp_path / "params"
    done = tools.fast_align("-i", text, "-d", "-o", "-v", *FLAGS[direction], "-p", saved)
    assert_same_lines(done.lines, corpus.golden(f"train.{direction}"), tolerated=TOLERATED)
    found = saved.read_text(encoding="utf-8").split("\n")[:-1]
    parameters = corpus.golden(f"{direction}.params")
    assert_same_lines(sorted(found), sorted(parameters), tolerated=TOLERATED)
    log = "\n".join(corpus.golden(f"{direction}.log"))
    assert comparable_log(done.stderr) == comparable_log(log)


@each_corpus
def test_model_1(tools, tmp_path, corpus):
    done = tools.fast_align("-i", write_corpus(tmp_path / "text", corpus.pairs))
    assert_same_lines(done.lines, corpus.golden("train.model1.forward"), tolerated=TOLERATED)


@each_corpus
@pytest.mark.parametrize("method", METHODS)
def test_symmetrization(corpus, method):
    """Both directions joined as the reference's atools does."""
    forward, reverse = (map(parse_links, corpus.golden(f"train.{name}")) for name in FLAGS)
    joined = [symmetrize(*pair, method) for pair in zip(forward, reverse, strict=True)]
    assert list(map(format_links, joined)) == corpus.golden(f"train.{method}")


@pytest.mark.parametrize("stem", TESTS)
def test_forced_links_and_scores(tools, tmp_path, stem):
    text = write_corpus(tmp_path / "text", list(zip(TEXTS["test.de"], TESTS[stem], strict=True)))
    for direction, flags in FORCED.items():
        saved = tmp_path / "params"
        saved.write_text("".join(f"{line}\n" for line in GRAMMAR.golden(f"{direction}.params")))
        done = tools.fast_align("-i", "-", "-f", saved, *flags, stdin=text.read_bytes())
        expected = GRAMMAR.golden(f"{stem}.{direction}.full")
        assert_same_lines(done.lines, expected, tolerated=TOLERATED)
        links = [line.split(" ||| ")[2] for line in done.lines]
        assert_same_lines(links, GRAMMAR.golden(f"{stem}.{direction}"), tolerated=TOLERATED)


def assert_same_links(found: Iterable[Links], expected: Iterable[str]) -> None:
    rows = list(zip(found, map(parse_links, expected), strict=True))
    differing = [pair for pair in rows if pair[0] != pair[1]]
    assert len(differing) <= TOLERATED * len(rows), differing[:5]


@each_corpus
def test_the_wrapper_trains_like_the_reference(corpus):
    with FastAlign.train(corpus.pairs) as model:
        for name in FLAGS:
            log, numbers = corpus.golden(f"{name}.log"), getattr(model.manifest, name)
            found = [numbers.length_multiplier, numbers.tension, numbers.log_likelihood[-1]]
            expected = [
                last_match(r"expected target length = source length \* (\S+)", log),
                last_match(r"final tension: (\S+)", log),
                last_match(r"log_e likelihood: (\S+)", log),
            ]
            assert found == pytest.approx(expected, rel=1e-5)
        for method in (*FLAGS, *METHODS):
            assert_same_links(model.training_links(method), corpus.golden(f"train.{method}"))
        if corpus is GRAMMAR:
            for stem, targets in TESTS.items():
                pairs = list(zip(TEXTS["test.de"], targets, strict=True))
                for method in ("forward", "reverse", "grow-diag-final-and"):
                    found_links = model.align(pairs, method)
                    assert_same_links(found_links, corpus.golden(f"{stem}.{method}"))
