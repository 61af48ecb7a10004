"""Outputs cut by the lines of their source: oracles, properties, planted damage, refusals."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import coverage_eval as ce
from coverage_eval.core.tokenizers import Tokenizer
from coverage_eval.documents import path as segment_path
from coverage_eval.documents.path import (
    NOWHERE,
    Evidence,
    Run,
    find_path,
)
from coverage_eval.documents.segment import Segmenter
from coverage_eval.documents.segmentation import summary
from coverage_eval.documents.words import Boundary, OutputWords, SourceWords
from tests.grammar import generate


@pytest.fixture(scope="module")
def segmenter() -> Iterator[Segmenter]:
    pairs = generate(3000, seed=1)
    with ce.Aligner.train([p.source for p in pairs], [p.target for p in pairs]) as aligner:
        yield Segmenter.of_model(aligner)


def document(lines: int, seed: int) -> tuple[list[str], list[str]]:
    """Sources and translations, no two alike."""
    pairs = {" ".join(p.source): " ".join(p.target) for p in generate(lines * 2, seed)}
    return list(pairs)[:lines], list(pairs.values())[:lines]


# The path


def some_evidence(seed: int, words: int, segments: int) -> Evidence:
    generator = np.random.default_rng(seed)
    types = generator.integers(0, 4, words)
    ratios = generator.uniform(0, 4, (4, segments)) * (generator.random((4, segments)) < 0.6)
    return Evidence(
        ratios=sparse.csc_matrix(ratios),
        base=-1.2,
        types=types,
        weights=np.where(generator.random(words) < 0.9, 1, 0).astype(np.float32),
        boundaries=np.concatenate([[4], generator.integers(0, 6, words - 1)]),
        lengths=generator.integers(1, 4, segments) * (generator.random(segments) < 0.8) * 1.5,
        multi_sentence=generator.random(segments) < 0.3,
    )


def log_probability(evidence: Evidence, path: Sequence[Run]) -> float:
    """Of a path, piece by piece."""
    total, state = 0.0, 0
    boundaries = [*evidence.boundaries, Boundary.PARAGRAPH]
    lines, segments = evidence.boundaries >= Boundary.LINE, evidence.lengths > 0
    move = list(segment_path.MOVE)
    move[Boundary.SENTENCE] += segment_path.IN_LINE * min(1, lines.sum() / segments.sum())
    for first, last, segment in path:
        if segment == NOWHERE:
            total -= segment_path.ENTER[boundaries[first]] + segment_path.LEAVE[boundaries[last]]
            continue
        total -= move[boundaries[first]] + distance(evidence, state, segment + 1)
        said = sum(
            evidence.weights[n] * (evidence.ratios[evidence.types[n], segment] + evidence.base)
            for n in range(first, last)
        )
        inside = sum(segment_path.STAY[boundaries[n]] for n in range(first + 1, last))
        said -= inside * (segment_path.ROOMY if evidence.multi_sentence[segment] else 1)
        away = np.log((last - first + 2) / (evidence.lengths[segment] + 2)) / segment_path.SPREAD
        total += max(said, -segment_path.FREE) - min(segment_path.UNLIKE_MOST, away**2 / 2)
        state = segment + 1
    skipped = sum(evidence.lengths[state:] > 0)
    return float(total - (segment_path.SKIP_FIRST + segment_path.SKIP * skipped if skipped else 0))


def distance(evidence: Evidence, state: int, following: int) -> float:
    if following == state:
        return segment_path.AGAIN
    if following < state:
        return segment_path.BACK + segment_path.BACK_EACH * (state - following)
    skipped = sum(evidence.lengths[n] > 0 for n in range(state, following - 1))
    return segment_path.SKIP_FIRST + segment_path.SKIP * skipped if skipped else 0.0


@pytest.mark.parametrize("chunk", [256, 2])
@pytest.mark.parametrize("seed", [*range(4), 80, 104])  # the last two lack the last segments
def test_a_path_is_the_best_of_all_paths(seed, chunk, monkeypatch):
    monkeypatch.setattr(segment_path, "CHUNK", chunk)
    words, segments = 4, 3
    evidence = some_evidence(seed, words, segments)
    cuts = [
        [0, *inner, words] for size in range(words) for inner in combinations(range(1, words), size)
    ]
    paths = [
        [Run(*piece) for piece in zip(ends, ends[1:], places, strict=False)]
        for ends in cuts
        for places in product(range(NOWHERE, segments), repeat=len(ends) - 1)
    ]
    found = find_path(evidence)
    assert found in paths
    best = max(log_probability(evidence, path) for path in paths)
    assert log_probability(evidence, found) == pytest.approx(best)


def test_ranges_around_anchors_give_the_path_of_the_whole_document(segmenter, monkeypatch):
    sources, targets = document(120, 5)
    output = " ".join(targets[:30] + targets[70:])
    whole = segmenter(output, sources)
    monkeypatch.setattr(segment_path, "WHOLE", 20)
    monkeypatch.setattr(segment_path, "MARGIN", 12)
    near = segmenter(output, sources)
    same = [a == b for a, b in zip(whole.lines, near.lines, strict=True)]
    assert sum(same) >= 117
    assert near.passages[0].first in range(30, 33)


def test_a_passage_that_moved_in_a_long_document_is_not_missing(segmenter):
    sources, targets = document(400, 16)
    output = [*targets[:150], *targets[180:210], *targets[150:180], *targets[210:]]
    found = segmenter(output, sources)
    assert sum(a == b for a, b in zip(found.lines, targets, strict=True)) >= 395
    assert len(found.missing) <= 2


def test_halves_that_changed_places_are_found_in_a_document_that_is_searched_whole(segmenter):
    sources, targets = document(200, 18)
    found = segmenter([*targets[100:], *targets[:100]], sources)
    assert sum(a == b for a, b in zip(found.lines, targets, strict=True)) >= 198
    assert len(found.moved) == 100


def test_ranges_are_narrow_where_a_line_is_long(segmenter):
    sources, targets = document(400, 19)
    sources[100:160] = [" ".join(sources[100:160])]
    evidence = Evidence.of(
        SourceWords.read(sources, segmenter.source_tokenizer),
        OutputWords.read("\n".join(targets), segmenter.tokenizer),
        segmenter.table,
        segmenter.per_word,
    )
    assert max(high - low for _, _, low, high in segment_path._ranges(evidence)) < 180
    found = segmenter(targets, sources)
    assert found.lines[100].split() == " ".join(targets[100:160]).split()
    assert found.lines[101:] == targets[160:]


@pytest.mark.parametrize("kept", [slice(400, 600), slice(200, 400)])
def test_a_long_gap_is_a_missing_passage(segmenter, kept):
    sources, targets = document(600, 15)
    found = segmenter(targets[kept], sources)
    expected = [""] * kept.start + targets[kept] + [""] * (600 - kept.stop)
    assert sum(a == b for a, b in zip(found.lines, expected, strict=True)) >= 590


# What is cut


@given(
    st.lists(st.text("ab .,!\n\t#*&;\"'|-日本。", max_size=30), max_size=6),
    st.sampled_from(["none", "13a", "zh", "char"]),
)
def test_each_character_is_in_one_piece(lines, tokenize):
    references = ["a b a .", "", "# b a", "日本", "b b b, a!"]
    try:
        found = ce.segment(lines, references=references, tokenize=tokenize)
    except ce.DataError:
        return
    text = "\n".join(lines)
    assert len(found.lines) == len(references)
    assert "".join("".join(p.text for p in found.pieces).split()) == "".join(text.split())
    ends = 0
    for piece in found.pieces:
        assert ends <= piece.start <= piece.end
        assert re.sub(r"\s*\n\s*", " ", text[piece.start : piece.end]) == piece.text
        ends = piece.end
    by_line = "".join(found.lines) + "".join(piece.text for piece in found.extra)
    assert sorted("".join(by_line.split())) == sorted("".join(text.split()))


def boundaries(text: str) -> list[tuple[str, str]]:
    words = OutputWords.read(text, Tokenizer("13a"))
    names = [Boundary(n).name for n in words.boundaries]
    return [pair for pair in zip(words.tokens, names, strict=True) if pair[1] != "NONE"]


def test_boundaries_are_read_from_the_text():
    assert boundaries('He said "no." Then, so.\nWhat?\n\n**Yes** 日本 "Why" now!') == [
        ("He", "LINE"), ("Then", "SENTENCE"), ("so", "CLAUSE"), ("What", "LINE"),
        ("*", "PARAGRAPH"),
    ]  # fmt: skip
    assert boundaries('It ended. "Why?" he asked.')[1:] == [('"', "SENTENCE"), ("he", "SENTENCE")]
    assert boundaries('It ended . " Why ? " Then')[1:] == [
        ("Why", "SENTENCE"),
        ("Then", "SENTENCE"),
    ]


def test_ends_of_wrapped_lines_are_no_boundaries():
    wrapped = "One two\nthree. Four\nfive six. Seven eight\nnine. Ten.\n\nEleven"
    kinds = dict(boundaries(wrapped))
    assert not {"three", "five", "nine"} & kinds.keys()
    assert kinds["Eleven"] == "PARAGRAPH"
    assert dict(boundaries("One two\nthree four\nfive six")).keys() == {"One", "three", "five"}


# Damage


def test_merged_split_and_missing_lines_are_found(segmenter):
    sources, targets = document(40, 2)
    gone = {4, 11, 12, 13, 30}
    expected = ["" if n in gone else text for n, text in enumerate(targets)]
    kept = [text for text in expected if text]
    for output in (
        " ".join(kept),
        kept,
        "\n\n".join(kept),
        re.sub(r"( \w+){3} \.", r"\n\g<0>", " ".join(kept)),
        "\r\n".join(kept),
        "\r".join(kept),
    ):
        found = segmenter(output, sources)
        right = sum(a == b for a, b in zip(found.lines, expected, strict=True))
        assert right >= 37
        assert not any("\r" in piece.text for piece in found.pieces)
        assert set(found.missing) == gone
        assert (12, 14) in [(passage.first, passage.last) for passage in found.passages]
        words = [len(line.split()) for line in sources]
        assert found.score == pytest.approx(sum(words[n] for n in gone) / sum(words))


def test_added_pieces_belong_to_no_line(segmenter):
    sources, targets = document(30, 3)
    preface = "certainly , here you have the translation that you asked me for :"
    output = [preface, *targets[:12], *targets[7:12], *targets[12:]]
    found = segmenter(output, sources)
    assert found.missing == ()
    assert found.extra[0].text == preface
    assert [piece.text for piece in found.extra[1:]] == targets[7:12]
    assert [piece.repeats for piece in found.extra[1:]] == [*range(7, 12)]
    assert found.lines == targets
    twice = segmenter([*targets[:9], targets[8], *targets[9:]], sources)
    assert [(piece.text, piece.repeats) for piece in twice.extra] == [(targets[8], 8)]
    assert twice.lines == targets


@pytest.mark.parametrize("given", [3, 5, 6])
def test_equal_source_lines_are_filled_in_order(segmenter, given):
    sources, targets = document(1, 3)
    for output in (targets * given, " ".join(targets * given)):
        found = segmenter(output, sources * 5)
        assert found.lines == targets * min(5, given) + [""] * (5 - given)
        assert [piece.text for piece in found.extra] == targets * max(0, given - 5)


def test_exchanged_sentences_are_not_missing(segmenter):
    sources, targets = document(30, 4)
    output = [*targets[:9], targets[10], targets[9], *targets[11:]]
    found = segmenter(" ".join(output), sources)
    assert found.missing == ()
    assert found.lines == targets
    assert found.moved in {(9,), (10,)}
    assert "1 line stands in another order" in found.summary()


def test_source_lines_without_words_are_not_missing(segmenter):
    sources, targets = document(6, 6)
    found = segmenter(targets, [*sources[:3], "", "---", *sources[3:]])
    assert found.missing == ()
    assert found.lines == [*targets[:3], "", "", *targets[3:]]
    assert summary([found]).startswith("8 source lines, 2 without words: 6 have text, 0 have none")


def test_markup_is_no_word(segmenter):
    sources, targets = document(6, 7)
    marks = ["# ", "* ", "> ", "- ", "| ", "1. "]
    found = segmenter([m + t for m, t in zip(marks, targets, strict=True)], sources)
    assert found.lines == [m + t for m, t in zip(marks, targets, strict=True)]


def test_rows_have_all_lines_and_pieces(segmenter):
    sources, targets = document(8, 8)
    note = "please tell me whether this version pleases you as it stands now"
    output = " ".join([*targets[:2], *targets[3:], note])
    frame = pd.DataFrame(segmenter(output, sources).rows())
    assert frame["line"].isna().tolist() == [n == 8 for n in range(9)]
    assert frame["start"].isna().tolist() == [n == 2 for n in range(9)]
    for row in frame.dropna(subset=["start"]).itertuples():
        assert output[int(row.start) : int(row.end)] == row.text


# Refusals


def test_what_is_no_translation_is_refused(segmenter):
    sources, targets = document(30, 9)
    others = ["this text has nothing to do with it , not even a word of what was said ."] * 20
    generator = random.Random(1)
    shuffled = generator.sample(targets, 30)
    for output, said in (
        ([*targets[:3], "the man sees " * 200], "another text, or does it end in a loop"),
        ([], "the output is empty"),
        (["", " ", "---"], "the output is empty"),
        (sources, "the output is in the source's language"),
        (others, "is not a translation of its source: .* does not know"),
        (shuffled, "in another order: of .* sentences"),
    ):
        with pytest.raises(ce.DataError, match=said):
            segmenter(output, sources)
    with pytest.raises(ce.DataError, match="the source has no words"):
        segmenter(targets, ["", "--"])
    with pytest.raises(ce.DataError, match="line 2 of the source has a line end inside"):
        segmenter(targets, [sources[0], "\n".join(sources[1:])])
    by_reference = Segmenter.of_references()
    with pytest.raises(ce.DataError, match="is not the text of its reference: 0% of"):
        by_reference("said by nobody .\n" * 9, targets)
    tokens = [line.split() for line in targets]
    assert segmenter(tokens, [f"{line}\n" for line in sources]).lines == targets
    with pytest.raises(TypeError, match="a list of segments, not a single string"):
        segmenter(targets, "a source")


def test_links_cannot_segment():
    aligner = ce.Aligner.from_links([], [[(0, 0)]])
    with pytest.raises(ce.DataError, match="needs a model of 'align train'"):
        ce.segment("a", ["b"], aligner)
    with pytest.raises(TypeError, match="sources and an aligner, or references"):
        ce.segment("a", ["b"])
    with pytest.raises(TypeError, match="either"):
        ce.segment("a", ["b"], references=["c"])


# References


def edits(first: Sequence[str], second: Sequence[str]) -> int:
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        previous, row[0] = row[0], i
        for j, b in enumerate(second, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (a != b))
    return row[-1]


def least_edits(output: Sequence[str], references: Sequence[Sequence[str]]) -> int:
    """Over all ways to cut the output: Levenshtein's distance to the references in a row."""
    return edits(output, [word for line in references for word in line])


def test_references_are_matched_as_with_least_edits():
    _, references = document(30, 10)
    generator = random.Random(2)
    words = [w for line in references for w in line.split()]
    output = [
        generator.choice(words) if generator.random() < 0.1 else word
        for word in words
        if generator.random() > 0.1
    ]
    found = ce.segment(" ".join(output), references=references, tokenize="none")
    least = least_edits(output, [line.split() for line in references])
    own = sum(
        edits(line.split(), reference.split())
        for line, reference in zip(found.lines, references, strict=True)
    ) + sum(piece.words for piece in found.extra)
    assert least <= own <= least * 1.05


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        ("今天天气很好。|我们去公园散步。|他没有来。|她在看一本书。|明天会下雨。", ""),
        ("今日 は 天気 が いい 。|公園 に 行き ます 。|彼 は 来 なかっ た 。", " "),
        ("昨日は寒かった|公園に行きます|彼は来なかった|コーヒーを買った|本を読んでいる", " "),
        ("วันนี้อากาศดีมาก|พวกเราไปเดินเล่นที่สวนสาธารณะ|ฉันซื้อกาแฟหนึ่งแก้ว|เขาไม่ได้มา|เธอกำลังอ่านหนังสือ", " "),
    ],
    ids=["Chinese", "Japanese, tokenised", "Japanese, no stops", "Thai"],
)  # fmt: skip
def test_scripts_without_spaces_are_cut_by_characters(lines, joined):
    references = lines.split("|")
    found = ce.segment(joined.join(references), references=references)
    assert found.lines == references
    left = references[:1] + references[2:]
    assert ce.segment(joined.join(left), references=references).missing == (1,)
    assert Segmenter.of_references("13a", references).name == "reference-char"
    assert Segmenter.of_references("13a", ["In 北京 and 上海 it rained."]).name == "reference-13a"


def test_a_summary_counts_documents_together():
    outputs = ["a b c.", "a b c. What is this here? d e f"]
    found = [ce.segment(output, references=["a b c.", "d e f"]) for output in outputs]
    assert summary(found) == (
        "4 reference lines: 3 have text, 1 has none (25.0%); 1 piece of the output (5 words) "
        "belongs to no line"
    )


# Scores


def test_scores_of_unaligned_documents_are_those_of_their_cut_lines():
    pairs = {" ".join(p.source): " ".join(p.target) for p in generate(1040, seed=2)}
    sources, targets = list(pairs), list(pairs.values())
    source, reference = sources[:40], targets[:40]
    cut = ["" if n in {4, 5, 20} else text for n, text in enumerate(reference)]
    with ce.Aligner.train(sources[40:], targets[40:]) as aligner:
        scores = {
            "rep": partial(ce.rep, references=reference),
            "letter_rep": partial(ce.letter_rep, references=reference),
            "drop": partial(ce.drop, references=reference, sources=source, aligner=aligner),
            "soft": partial(ce.soft_drop, references=reference, sources=source, aligner=aligner),
            "left": partial(ce.omissions, references=None, sources=source, aligner=aligner),
        }
        for name, score in scores.items():
            peers = {"peers": [reference, cut]} if name == "left" else {}
            expected = score(cut, **peers)
            if peers:
                peers = {"peers": [" ".join(reference), "\n".join(filter(None, cut))]}
            found = score(" ".join(filter(None, cut)), unaligned=True, **peers)
            assert float(found) == float(expected), name
            assert "|seg:" in str(found.signature)


def test_unaligned_outputs_need_something_to_cut_by():
    with pytest.raises(TypeError, match="sources and a model, or references"):
        ce.compare({"a": "x y", "b": "x"}, None, ["a", "b"], unaligned=True)
    with pytest.raises(
        ce.DataError,
        match="a: the output is not the text of its reference: 0% of its words fit their line; is",
    ):
        ce.compare({"a": "u v w", "b": "u v w"}, ["x", "y"], metrics=["rep"], unaligned=True)


def test_a_line_of_a_source_has_a_limit_and_an_output_has_none(monkeypatch):
    monkeypatch.setattr("coverage_eval.documents.segment.MAX_LINE_WORDS", 4)
    lines = ["the old dog", "a cat sleeps now"]
    assert ce.segment(" ".join(lines), references=lines).lines == lines
    monkeypatch.setattr(Evidence, "of", None)  # it is not looked for
    with pytest.raises(ce.DataError, match="line 2 of the reference has 5 words; a line has at"):
        ce.segment(" ".join(lines), references=[lines[0], "a cat sleeps here now"])
