"""Links of other aligners: from files or memory, checked, and signed by content."""

from __future__ import annotations

import warnings
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coverage_eval as ce
from coverage_eval.align.aligner import Aligner
from coverage_eval.core.errors import DataError
from tests.rows import make_text_rows

REFERENCE, HYPOTHESIS = [[(0, 0), (1, 1)], [(0, 0)]], [[(0, 0)], []]
TEXTS = (["x", "y"], ["x z", "y"], ["a b", "c"])


def write(path: Path, links: list[list[tuple[int, int]]]) -> Path:
    path.write_text("".join(" ".join(f"{i}-{j}" for i, j in row) + "\n" for row in links))
    return path


def test_files_and_lists_give_the_same_links(tmp_path):
    files = (write(tmp_path / "ref", REFERENCE), write(tmp_path / "hyp", HYPOTHESIS))
    from_files, from_lists = Aligner.from_links(*files), Aligner.from_links(REFERENCE, HYPOTHESIS)
    rows = make_text_rows(*TEXTS)
    assert list(from_files.align(rows)) == list(from_lists.align(rows))
    assert from_files.settings == from_lists.settings
    score = ce.drop(*TEXTS, from_files)
    assert score.score == pytest.approx(100 * 2 / 3)
    assert str(score.signature) == str(ce.drop(*TEXTS, from_lists).signature)


def test_different_links_have_different_signatures():
    names = {
        str(Aligner.from_links(*links).settings["links"])
        for links in (
            (REFERENCE, HYPOTHESIS), (HYPOTHESIS, REFERENCE), (REFERENCE, REFERENCE),
            (REFERENCE, [HYPOTHESIS, HYPOTHESIS]),
        )
    }  # fmt: skip
    assert len(names) == 4
    assert all(part for name in names for part in name.replace(",", "+").split("+"))


def test_links_to_the_sink_are_left_out():
    """The source has two words, so position 2 is the sink."""
    aligner = Aligner.from_links([[(0, 0), (2, 1)]], [[(2, 0)]], sink=True)
    (row,) = aligner.align(make_text_rows(["x"], ["x z"], ["a b"]))
    assert row.references == (((0, 0),),)
    assert row.hypotheses == ((),)
    assert aligner.settings["sink"] is True
    with pytest.raises(DataError, match="the source text is needed to find the sink"):
        list(aligner.align(make_text_rows(["x"], ["x z"])))


def test_several_references_and_systems():
    first, second = [[(0, 0)]], [[(1, 0)]]
    aligner = Aligner.from_links([first, second], [first])
    (row,) = aligner.align(make_text_rows(["x"], [["x"], ["y"]], ["a b"]))
    assert row.references == (((0, 0),), ((1, 0),))
    with pytest.raises(DataError, match="2 references and 1 hypotheses, but 1 references and 1"):
        list(aligner.align(make_text_rows(["x"], ["x"], ["a b"])))


def test_links_that_do_not_fit_are_refused(tmp_path):
    short = Aligner.from_links(REFERENCE[:1], HYPOTHESIS)
    with pytest.raises(
        DataError, match="unequal numbers of lines: the text has 2, links of the ref"
    ):
        list(short.align(make_text_rows(*TEXTS)))
    path = write(tmp_path / "far", [[(0, 0)], [(1, 0)]])
    with pytest.raises(DataError, match="far: line 2: link 1-0 is out of range: the source has 1"):
        list(Aligner.from_links(REFERENCE, path).align(make_text_rows(*TEXTS)))
    with pytest.raises(DataError, match="no such file"):
        Aligner.from_links(REFERENCE, tmp_path / "missing")
    with pytest.raises(DataError, match="coverage needs a model"):
        ce.soft_drop(*TEXTS, Aligner.from_links(REFERENCE, HYPOTHESIS))


def test_links_by_system_name_may_be_in_any_order():
    hypotheses, references, sources = TEXTS
    systems = {"good": references, "bad": hypotheses}
    named = {"bad": HYPOTHESIS, "good": REFERENCE}
    by_name = Aligner.from_links(REFERENCE, named)
    in_order = Aligner.from_links(REFERENCE, [named[system] for system in systems])
    expected = ce.compare(systems, references, sources, in_order, metrics="drop", resamples=0)
    metrics: list[Any]
    for metrics in (["drop"], [ce.DROP(by_name)]):
        found = ce.compare(systems, references, sources, by_name, metrics=metrics, resamples=0)
        assert found.rows == expected.rows
        assert found.signatures == expected.signatures
    with pytest.raises(DataError, match="links are for the systems bad, good, but the systems are"):
        ce.compare({"good": references, "worse": references}, references, sources, by_name)


@pytest.mark.parametrize(
    "kind", [iter, set, tuple, lambda links: np.array(links, dtype=int).reshape(-1, 2)]
)
def test_links_in_memory_of_any_kind(kind):
    links = [[kind(segment) for segment in text] for text in (REFERENCE, HYPOTHESIS)]
    assert ce.drop(*TEXTS, Aligner.from_links(*links)) == ce.drop(
        *TEXTS, Aligner.from_links(REFERENCE, HYPOTHESIS)
    )


def test_lines_of_links_are_links(tmp_path):
    """As aligners' bindings give them: a list of lines is no list of files."""
    lines = [["0-0 1-1", "0-0"], ["0-0", ""]]
    expected = ce.drop(*TEXTS, Aligner.from_links(REFERENCE, HYPOTHESIS))
    for given in (
        Aligner.from_links(*lines),
        Aligner.from_links([lines[0]], {"system": lines[1]}),
        Aligner.from_links(iter(lines[0]), write(tmp_path / "hyp", HYPOTHESIS)),
    ):
        assert ce.drop(*TEXTS, given) == expected
    both = Aligner.from_links([lines[0], lines[0]], [lines[1], lines[1]])
    assert [text.name for text in both.link_texts] == [
        *["links of the reference"] * 2, *["links of the hypothesis"] * 2
    ]  # fmt: skip
    files = [write(tmp_path / name, REFERENCE) for name in ("a", "b")]
    assert len(Aligner.from_links([*map(str, files)], HYPOTHESIS).link_texts) == 3
    with pytest.raises(DataError, match="no such file"):
        Aligner.from_links(["a.links"], HYPOTHESIS)


def test_given_links_count_words_as_aligners_do(tmp_path):
    """fast_align has one word where a no-break space stands; five of the six others are linked."""
    source = "12\u00a0000 Leute waren hier , sagte Anna"
    target = "12,000 people were here , said Anna"
    every = [[(n, n) for n in range(7)]]
    lost = write(tmp_path / "hyp", [[(n, n) for n in range(5)] + [(6, 5)]])
    hypothesis = "12,000 people were here , Anna"
    texts, aligner = ([hypothesis], [target], [source]), Aligner.from_links(every, lost)
    metric = ce.DROP(aligner, denominator="source")
    assert metric.corpus_score(texts[0], [texts[1]], texts[2]).score == pytest.approx(100 / 7)
    (mark,) = metric.evidence(hypothesis, target, source)
    assert mark.text == "sagte"
    assert ce.drop(*texts, aligner, stopwords=ce.StopWords(["sagte"])).score == 0
    assert "|tok:ascii|" in str(ce.drop(*texts, aligner).signature)


def test_the_papers_script_skips_lines_that_look_like_markup(tmp_path):
    (tmp_path / "ref").write_text("<doc>\n1-0\n0-0\n")
    aligner = Aligner.from_links(tmp_path / "ref", [[(0, 0)], [(0, 0)], []])
    rows = aligner.align(make_text_rows(*TEXTS), compat="acl2018")
    assert [(row.references[0], row.hypotheses[0]) for row in rows] == [
        (((1, 0),), ((0, 0),)),
        (((0, 0),), ((0, 0),)),
    ]
    (tmp_path / "ref").write_text("<doc>\n0-0\n1-0\n")
    aligner = Aligner.from_links(tmp_path / "ref", HYPOTHESIS)
    with pytest.raises(DataError, match="ref: line 3: link 1-0 is out of range"):
        list(aligner.align(make_text_rows(*TEXTS), compat="acl2018"))


@pytest.mark.parametrize("links", [[[(0, 0, 1)], []], [["0 0"], ["0-0"]], [[(0,)], []]])
def test_values_that_are_not_links_are_refused(links):
    with pytest.raises(DataError, match=r"links of the reference: segment 1: .* are not links"):
        Aligner.from_links(links, HYPOTHESIS)
    with pytest.raises(TypeError, match="not iterable"):
        Aligner.from_links(None, HYPOTHESIS)  # type: ignore[arg-type]


@pytest.mark.parametrize("data", [("multi30k-de-en", "de", "en"), ("small-enja", "en", "ja")])
def test_swapped_links_are_named_where_both_sides_have_equal_lengths(data, shared):
    """Where lengths differ, they are out of range."""
    folder, *languages = data
    files = [shared / "data" / folder / f"train.{language}" for language in languages]
    pairs = list(zip(*(islice(ce.read_segments(file), 4000) for file in files), strict=True))
    model = Aligner.train_pairs(pairs, tokenize="none")
    equal = [pair for pair in pairs if len(pair[0].split()) == len(pair[1].split())][:200]
    sources, targets = map(list, zip(*equal, strict=True))
    links = [row.hypotheses[0] for row in model.align(make_text_rows(targets, None, sources))]
    swapped = [[(j, i) for i, j in row] for row in links]
    for size in (5, 25, 100, len(equal)):
        texts = targets[:size], targets[:size], sources[:size]
        assert not named_as_swapped(texts, links[:size], links[:size])
        if size >= 100:
            (named,) = named_as_swapped(texts, links[:size], swapped[:size])
            assert named.startswith("links of the hypothesis: ")


def test_the_direction_of_links_of_equal_positions_is_not_asked_for():
    links = [[(n, n) for n in range(9)]] * 100
    lines = ["a b c d e f g h i"] * 100
    assert not named_as_swapped((lines, lines, lines), links, links)


def named_as_swapped(texts: tuple[list[str], ...], *links: list[Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ce.drop(*texts, Aligner.from_links(*links))
    messages = [str(warning.message) for warning in caught]
    return [message for message in messages if "source and target are swapped" in message]
