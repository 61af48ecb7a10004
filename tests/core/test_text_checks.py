"""Each check must report texts that were spoiled in its way, and no other texts."""

from __future__ import annotations

import gzip
import math
import random
import re
import subprocess
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import coverage_eval as ce
from coverage_eval.checks.check import (
    CHECKS,
    COUNTED,
    COUNTED_WORDS,
    MODEL,
    REFERENCES,
    SOURCE,
    WRITTEN,
    Check,
    check_texts,
    combine,
    run_checks,
)
from coverage_eval.checks.line_order import (
    CHANGE,
    LAGS,
    best_states,
    count_shared,
    look_for_other_order,
    neighbours,
)
from coverage_eval.checks.words import MAX_LETTERS
from coverage_eval.core.batches import Texts
from coverage_eval.core.errors import CorpusWarning, Finding, Severity, warn_of
from coverage_eval.core.files import ListText
from coverage_eval.core.sampled_texts import SampledText, SampledTexts
from coverage_eval.core.texts import open_text, read_parallel
from coverage_eval.core.tokenizers import Tokenizer, tokenize
from tests.core.corrupt import (
    Rows,
    blank,
    confuse,
    glue,
    omit,
    repeat,
    sample,
    shift,
    shift_half,
    shuffle,
    sources,
    spell,
    subwords,
    targets,
    titles,
)

OUTPUT = confuse(targets())


def findings(seen: SampledTexts) -> list[Finding]:
    found = run_checks(CHECKS, {COUNTED: (seen,), WRITTEN: (seen,)}, {COUNTED_WORDS})
    assert not any("\n" in finding.message for finding in found)
    return combine(found, seen.source.name if seen.source else None)


def name(finding: Finding) -> str:
    return finding.kind


def names(seen: SampledTexts) -> list[str]:
    return list(map(name, findings(seen)))


def messages(seen: SampledTexts) -> str:
    return "\n".join(finding.message for finding in findings(seen))


# --- no finding ---


@pytest.mark.parametrize(
    "noise",
    [
        omit,
        repeat,
        confuse,
        lambda rows: [row[::-1] for row in rows],
        lambda rows: confuse(rows, 0.8),
        lambda rows: [[*row, "Ġorġ"] if i % 20 == 0 else row for i, row in enumerate(rows)],
    ],
)
def test_bad_outputs_are_not_taken_for_wrong_files(noise):
    assert names(sample(sources(), targets(), hyp=noise(targets()))) == []


def test_numbers_single_words_and_identical_lines_get_no_warning():
    numbers = [[str(number)] for number in range(200)]
    assert names(sample(None, numbers, hyp=confuse(numbers))) == []
    words = [[word] for row in targets() for word in row if word.isalnum()][:300]
    assert names(sample(None, words, hyp=confuse(words))) == []
    alike = [["yes", "."]] * 100
    assert names(sample([["ja", "."]] * 100, alike, hyp=[*alike[:-1], ["no"]])) == []


def test_a_sample_without_references_or_texts():
    assert names(sample(sources(), None, hyp=omit(targets()))) == []
    assert names(SampledTexts()) == []
    assert names(sample([[]] * 50, [[]] * 50, hyp=[[]] * 50)) == []


@pytest.mark.parametrize(
    ("corpus", "part", "source", "target"),
    [("multi30k-de-en", "test_2016_flickr", "de", "en"), ("small-enja", "train", "ja", "en")],
)
def test_no_false_alarm_on_real_corpora(shared, corpus, part, source, target):
    files = [shared / "data" / corpus / f"{part}.{language}" for language in (source, target)]
    columns = [
        [tokenize(line) for line in column]
        for column in zip(*list(read_parallel(*files))[-3_000:], strict=True)
    ]
    for one, two in (columns, columns[::-1]):
        some = [row or clean[:1] for row, clean in zip(omit(two), two, strict=True)]
        outputs = {"a": some, "b": confuse(two), "c": repeat(two), "d": confuse(two, 0.8)}
        assert names(sample(one, two, **outputs)) == []


def test_no_false_alarm_on_a_real_system(shared):
    files = (shared / "golden/meteor" / name for name in ("hyp.txt", "ref.txt"))
    hypotheses, references = (
        [tokenize(line) for line in column] for column in zip(*read_parallel(*files), strict=True)
    )
    assert names(sample(None, references, hyp=hypotheses)) == []
    assert names(sample(None, references, hyp=shift(hypotheses))) == ["shifted"]
    lowered = [[token.lower() for token in row] for row in hypotheses]
    assert names(sample(None, references, hyp=lowered)) == ["case"]


# --- each kind of fault ---


def reversed_lines(rows: Rows) -> Rows:
    return rows[::-1]


@pytest.mark.parametrize(
    ("spoiled", "check", "said"),
    [
        (lambda rows: [[]] * len(rows), "too-short", "hyp: no segment has a word; an output"),
        (partial(blank, rate=0.6), "too-short", "% of the segments have no word; an output"),
        (lambda rows: [row[: len(row) // 3] for row in rows], "too-short", "of the length of"),
        (blank, "blank", "hyp: 151 blank segments where other texts have words, first segment "),
        (lambda rows: subwords(rows, "{}@@ {}"), "subwords", "tokens are subwords, such as '"),
        (lambda rows: subwords(rows, "{} ##{}"), "subwords", "join the subwords into words first"),
        (lambda rows: subwords(rows, "{} {}"), "other-words", "are in more than one piece in hyp"),
        (spell, "other-words", "tokenise all texts alike"),
        (glue, "untokenised", "of the segments have punctuation attached to words; tokenise all"),
        (shift, "shifted", "hyp: all lines are 1 line early (line N fits line N+1 of ref)"),
        (partial(shift, by=-2), "shifted", "2 lines late (line N fits line N-2 of ref)"),
        (shift_half, "shifted", "lines 251 to 500 are 1 line early (line N fits line N+1 of ref"),
        (shuffle, "out-of-step", "the lines are in another order, or the texts do not belong"),
        (reversed_lines, "out-of-step", "all lines fit their own lines of ref no better"),
        (partial(shift_half, by=9), "out-of-step", "than the lines around them"),
    ],
)
def test_a_spoiled_output_is_named_with_what_to_do(spoiled, check, said):
    seen = sample(sources(), targets(), good=OUTPUT, hyp=spoiled(confuse(targets(), seed=9)))
    (found,) = findings(seen)
    assert (name(found), found.texts) == (check, ("hyp",))
    assert said in found.message


def test_pieces_are_looked_for_in_the_beginning_of_a_long_line():
    pieces = confuse(targets(), seed=9)
    halves = [[[token[:2], token[2:]] for token in row if len(token) > 2] for row in pieces]
    cut = [[piece for half in row for piece in half] for row in halves]
    behind = [["and"] * MAX_LETTERS] * len(cut)

    def found(first: Rows, last: Rows) -> bool:
        texts = [[[*a, *b] for a, b in zip(first, rows, strict=True)] for rows in (last, pieces)]
        return "other-words" in names(sample(None, texts[1], hyp=texts[0]))

    assert found([[]] * len(cut), cut)
    assert not found(behind, cut)  # a line of any length costs what its beginning costs


def test_the_source_or_the_reference_in_place_of_the_output():
    assert names(sample(sources(), targets(), hyp=omit(sources(), 0.1))) == ["copy"]
    assert names(sample(sources(), targets(), hyp=sources())) == ["equal"]
    assert names(sample(sources(), targets(), hyp=targets())) == ["same-as-reference"]
    (both,) = findings(sample(sources(), targets(), hyp=targets(), again=targets()))
    assert both.texts == ("hyp", "again")
    assert names(sample(targets(), targets(), hyp=OUTPUT)) == ["equal"]
    # References in a closely related language share words with the source.
    close = [[s if i % 2 else t for i, (s, t) in enumerate(zip(*pair, strict=False))]
             for pair in zip(sources(), targets(), strict=True)]  # fmt: skip
    assert names(sample(sources(), close, hyp=confuse(close))) == []
    few = targets()[:2]
    assert names(sample(None, few, hyp=few)) == []


def test_two_equal_outputs_are_a_note():
    (found,) = findings(
        sample(sources(), targets(), a=OUTPUT, b=OUTPUT, c=[*confuse(targets())[1:], ["x"]])
    )[-1:]
    assert found.severity == Severity.NOTE
    assert found.message.startswith("a: the same text as b in all 500 segments; check that each is")


def test_a_lower_cased_text_beside_cased_ones():
    assert names(sample(titles(sources()), titles(targets()), hyp=OUTPUT)) == ["case"]
    assert names(sample(titles(sources()), titles(targets()), hyp=titles(OUTPUT))) == []
    assert names(sample(sources(), titles(targets()), hyp=titles(OUTPUT))) == ["case"]


def test_a_script_without_spaces():
    """Which metrics are refused for it is tested in test_unspaced_texts."""
    generator = random.Random(8)
    words = ["".join(generator.choices("日本語文字今明昨私彼人大小", k=2)) for _ in range(300)]
    cut = [generator.choices(words, k=9) for _ in range(100)]
    assert names(sample(cut, targets(100), hyp=OUTPUT[:100])) == []
    assert names(sample(None, cut, hyp=spell(cut))) == ["other-words"]
    assert names(sample(None, cut, hyp=confuse(cut))) == []


@pytest.mark.parametrize(
    ("token", "said"),
    [
        ("fÃ¼r", "wrong encoding"), ("donâ€™t", "wrong encoding"), ("f\ufffdr", "wrong encoding"),
        ("fu\u0308r", "accents"), ("\u200bfor", r"'\u200bfor', have invisible characters"),
        ("&quot;", "as HTML or Moses"), ("it&#39;s", "as HTML"), ("R&amp;D,", "as HTML"),
        ("AT&T", ""), ("a&b;", ""),
        ("für", ""), ("SÃO", ""), ("irmã»", ""), ("क़लम", ""), ("می\u200cخواهم", ""),
    ],
)  # fmt: skip
def test_characters_that_the_eye_forgives(token, said):
    spoiled = [[*row, token] if i % 9 == 0 else row for i, row in enumerate(OUTPUT)]
    seen = sample(sources(), targets(), hyp=spoiled)
    assert names(seen) == ["characters"] * bool(said)
    assert said in messages(seen)
    everywhere = [[[*row, token] for row in rows] for rows in (sources(), targets(), OUTPUT)]
    assert names(sample(*everywhere[:2], hyp=everywhere[2])) == []


@pytest.mark.parametrize("metric", [ce.bleu, ce.meteor, ce.chrf, ce.rep])
@pytest.mark.parametrize("shape", ["{}@@ {}", "{} ##{}", "▁{} {}", "&quot; {} {}", "{}&#39;s {}"])
def test_subwords_and_escapes_are_named_whatever_splits_the_words_that_are_counted(metric, shape):
    outputs, references = (list(map(" ".join, rows)) for rows in (OUTPUT, targets()))
    spoiled = list(map(" ".join, subwords(OUTPUT, shape)))
    said = "as HTML or Moses writes them" if "&" in shape else "are subwords"
    with pytest.warns(CorpusWarning, match=f"the hypothesis: .* of the tokens.*{said}"):
        metric(spoiled, references)
    with pytest.warns(CorpusWarning, match=f"the reference: .* of the tokens.*{said}"):
        metric(outputs, list(map(" ".join, subwords(targets(), shape))))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda text: f"\u200b{text}\ufeff", "have invisible characters; remove them: python"),
        (
            lambda text: text.replace("the", "&quot;the"),
            "Moses writes them; write them as they are",
        ),
        (lambda text: text.replace('"', "“").replace("'", "’"), "curly quotation marks (’ “), wh"),
    ],
)
def test_lines_that_mend_characters_run(tmp_path, spoil, said):
    plain = [f"the {' '.join(row)} 's \"" for row in OUTPUT[:60]]
    plain = [text.replace("the", '"the') if "&" in spoil("the") else text for text in plain]
    (tmp_path / "ref").write_text("\n".join(plain) + "\n", "utf-8")
    spoiled = [
        spoil(text.replace('"the', "the") if "&" in spoil("the") else text) for text in plain
    ]
    (tmp_path / "out").write_text("\n".join(spoiled) + "\n", "utf-8")
    names = (str(tmp_path / "out"), str(tmp_path / "ref"))
    texts = Texts({names[0]: open_text(names[0])}, [open_text(names[1])])
    (found,) = [f for f in check_texts(texts.sample) if f.kind in {"characters", "quotes"}]
    assert said in found.message
    command = found.message.split(": ", 2)[2]
    subprocess.run(command, shell=True, check=True)
    assert (tmp_path / "out.txt").read_text("utf-8").splitlines() == plain
    sound = Texts({names[1]: open_text(names[1])}, [open_text(names[1])])
    assert not [f for f in check_texts(sound.sample) if f.kind in {"characters", "quotes"}]


def test_blank_segments_matter_where_other_texts_speak():
    seen = sample(None, targets(), hyp=[*OUTPUT[:7], [], *OUTPUT[8:]])
    assert "hyp: 1 blank segment where other texts have words, first segment 8;" in messages(seen)
    short = [*targets()[:7], ["oh", "no"], *targets()[8:]]
    assert names(sample(None, short, hyp=[*OUTPUT[:7], [], *OUTPUT[8:]])) == []
    beside = [*targets()[:7], ["oh", "no"], *targets()[8:]]
    both = sample(None, beside, hyp=[*OUTPUT[:7], [], [], *OUTPUT[9:]])
    assert "hyp: 2 blank segments where other texts have words, first segment 8" in messages(both)
    assert names(sample(None, [[]] * 300 + targets()[300:], hyp=[[]] * 300 + OUTPUT[300:])) == []


def test_the_length_of_outputs_without_a_reference():
    short, half = ([row[: len(row) // n] for row in OUTPUT] for n in (3, 2))
    assert "too-short" in names(sample(sources(), None, a=OUTPUT, hyp=short, b=OUTPUT))
    assert names(sample(sources(), None, hyp=[row[:1] for row in OUTPUT])) == ["too-short"]
    assert names(sample(sources(), None, hyp=half)) == []
    # With only two outputs, either may be the wrong one; the source decides.
    shorter = [row[: len(row) * 2 // 5] for row in confuse(OUTPUT, 0.2, seed=9)]
    assert names(sample(sources(), None, a=OUTPUT, hyp=shorter)) == []


@pytest.mark.parametrize(("line", "lag"), [(401, 1), (433, -1), (451, 1)])
def test_a_shift_of_the_last_lines_is_noticed(line, lag):
    end = [*OUTPUT[line:], ["x"]] if lag > 0 else [["x"], *OUTPUT[line - 1 : -1]]
    seen = sample(None, targets(), hyp=[*OUTPUT[: line - 1], *end])
    assert names(seen) == ["shifted"]
    how = "late" if lag < 0 else "early"
    assert f"lines {line} to 500 are 1 line {how} (line N" in messages(seen)


def by_segment(rows: Rows, systems: int = 9, seed: int = 0) -> Rows:
    """A row for each segment and system, each output worded a little otherwise."""
    versions = [confuse(rows, 0.3, seed * systems + number) for number in range(systems)]
    return [row for same in zip(*versions, strict=True) for row in same]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rows", [422, 432, 22, 950])
def test_rows_with_the_same_source_are_one_segment(seed, rows):
    source = [row for row in sources()[:120] for _ in range(9)][:rows]
    first, second = (by_segment(targets()[:120], seed=n)[:rows] for n in (2 * seed, 2 * seed + 1))
    assert names(sample(source, first, hyp=second)) == []
    assert not {"shifted", "reordered"} & {*names(sample(None, first, hyp=second))}


@pytest.mark.parametrize("by", [1, -1, 9])
def test_shifted_rows_of_segments_are_refused(by):
    source = [row for row in sources()[:120] for _ in range(9)]
    first, second = by_segment(targets()[:120]), shift(by_segment(targets()[:120], seed=1), by=by)
    assert "shifted" in names(sample(source, first, hyp=second))


@pytest.mark.parametrize("lines", [72, 122, 422])
def test_a_last_piece_ends_no_run(lines):
    """A few lines are named, and a score still means something."""
    text = targets()[:lines]
    slipped = [*OUTPUT[: lines - 22], [], *OUTPUT[lines - 22 : lines - 1]]
    (found,) = (f for f in findings(sample(None, text, hyp=slipped)) if name(f) == "shifted")
    assert f"lines {lines - 21} to {lines} are 1 line late" in found.message
    assert found.severity == (Severity.FATAL if lines == 72 else Severity.WARNING)


def slip(rows: list[str], first: int, size: int, lag: int, *, merged: bool) -> list[str]:
    """Lines from number ``first`` on that are some lines late or early, and then right again."""
    start, end = first - 1, first - 1 + size
    if lag < 0:
        late = ["" if not merged else "the", *([""] * (-lag - 1)), *rows[start : end + lag]]
        return [*rows[:start], *late, *rows[end:]]
    joined = [*rows[:start], *rows[start + lag : end], *([""] * lag), *rows[end:]]
    if merged:
        joined[start - 1] = " ".join(rows[start - 1 : start + lag])
    return joined


def slipped(output: Sequence[str], reference: Sequence[str]) -> list[str]:
    """What is said of slips in whole texts, of which a sample is checked."""
    texts = Texts({"hyp": ListText("hyp", output)}, [ListText("ref", reference)])
    seen = SampledTexts.tokenize(texts.sample, tokenize, tokenize)
    return [found.message for found in look_for_other_order(seen)]


@pytest.mark.parametrize(("lag", "merged"), [(-2, True), (-1, False), (1, True), (2, False)])
@pytest.mark.parametrize(
    ("lines", "first", "size"),
    [(500, 201, 60), (500, 123, 20), (4000, 1001, 100), (4000, 3979, 22), (9000, 5000, 3000)],
)  # fmt: skip
def test_lines_that_have_slipped_are_named_with_their_numbers(lines, first, size, lag, merged):
    reference = [" ".join(row) for row in targets(lines)]
    output = [" ".join(row) for row in confuse(targets(lines))]
    assert size < 3000 or slipped(output, reference) == []
    (said,) = slipped(slip(output, first, size, lag, merged=merged), reference)
    numbers = re.search(r"lines ([\d,]+) to ([\d,]+) are (.*) \(line N fits line N(.\d)", said)
    assert numbers is not None
    assert numbers[4] == f"{lag:+d}"
    found_first, found_last = (int(numbers[n].replace(",", "")) for n in (1, 2))
    # A line that is odd, at an end of the stretch, belongs to it or not.
    assert abs(found_first - first) <= 3
    assert abs(found_last - (first + size - 1)) <= 3


def test_slips_of_the_cases_are_named(shared):
    case = shared / "cases" / "local-slip"
    read = {path.name: path.read_text("utf-8").splitlines() for path in case.iterdir()}
    for name, last in (("h100", "1,100"), ("h300", "1,300"), ("h600", "1,600")):
        (said,) = slipped(read[name], read["ref"])
        assert f"hyp: lines 1,001 to {last} are 1 line late (line N fits line N-1 of ref)" in said
    (said,) = slipped(read["batch60"], read["ref500"])
    assert "hyp: lines 201 to 260 are 1 line late" in said


def test_no_slip_in_real_outputs_but_one(shared):
    """In one output of the TED talks of WMT21, lines 183 to 199 are one line late."""
    for name in ("wmt23.en-de", "wmt23.zh-en", "ted.zh-en"):
        with gzip.open(
            shared / "data" / "labels" / f"{name}.tsv.gz", "rt", encoding="utf-8"
        ) as file:
            rows = [line.rstrip("\n").split("\t") for line in file][1:]
        for system in {row[0] for row in rows}:
            texts = [(row[3], row[4]) for row in rows if row[0] == system]
            output, reference = zip(*texts, strict=True)
            said = slipped(output, reference) if any(reference) else []
            assert ("lines 183 to 199 are 1 line late" in "".join(said)) == bool(said)
            assert bool(said) == (system == "metricsystem5"), system


def test_a_further_reference_out_of_step():
    references = [SampledText("ref", targets()), SampledText("ref2", shift(OUTPUT))]
    seen = SampledTexts([SampledText("hyp", OUTPUT)], references, lines=range(1, len(OUTPUT) + 1))
    assert [found.texts for found in findings(seen)] == [("ref2",)]


@pytest.mark.parametrize("spoiled", [shift, shuffle, reversed_lines])
def test_sources_out_of_step(spoiled):
    for reference, text in ((targets(), "ref"), (None, "hyp")):
        (found,) = findings(sample(spoiled(sources()), reference, hyp=OUTPUT))
        assert name(found) == "out-of-step"
        assert f"{text}: long lines of src do not have long translations" in found.message


# --- how checks are run ---


def found(*texts: str, **more: Any) -> list[Finding]:
    return [Finding.of_text(text, "odd", "mend it", "equal", **more) for text in texts]


def test_one_finding_explains_another_in_the_same_text_in_the_source_or_everywhere():
    second = [
        Finding.of_text(text, label, "do", "copy", Severity.FATAL)
        for text, label in (("a", "x"), ("b", "y"))
    ]
    explains = {"copy"}
    both = combine([*found("a", suppresses=explains), *second], "src")
    assert [finding.message for finding in both] == ["b: y; do", "a: odd; mend it"]
    for texts in (("src",), ("a", "b"), ("",)):
        (explained,) = combine([*found(*texts, suppresses=explains), *second], "src")
        assert explained.kind == "equal"
    known = Finding("said before", texts=("a",), suppresses=frozenset(explains))
    assert [item.texts for item in combine([known, *second])] == [("b",), ("a",)]
    # Nothing is explained by what is explained itself.
    third = Finding.of_text("a", "z", "do", "case")
    first = found("a", suppresses=explains)
    explained = second[0]._replace(suppresses=frozenset({"case"}))
    assert len(combine([explained, third])) == 1
    assert combine([*first, explained, third]) == [*first, third]
    # The order is that of the table of checks: a later finding explains nothing.
    assert len(combine([third, explained])) == 2


def test_what_one_check_finds_in_several_texts_is_one_finding():
    (joined,) = combine(found("a", "b", "a"))
    assert joined.message == "a (odd), b (odd): mend it"
    assert (joined.texts, joined.labels) == (("a", "b"), ("odd", "odd"))
    (many,) = combine(found(*"abcdefghi"))
    assert many.texts == tuple("abcdefghi")
    assert "and 7 more texts" in many.message
    assert len(combine([*found("a"), *found("b", severity=Severity.NOTE)])) == 2


def test_a_check_is_entered_where_there_is_what_it_looks_at():
    few = SampledTexts([SampledText("a", [["b", "c"]])], lines=[1])
    more = SampledTexts(few.hypotheses, few.hypotheses, few.hypotheses[0], range(1, 21))

    def look(_: SampledTexts) -> list[Finding]:
        return found("a")

    for item in (
        Check(look, min_segments=2),
        Check(look, needs={SOURCE}),
        Check(look, needs={REFERENCES}),
    ):
        assert run_checks([item], {COUNTED: (few,)}, set()) == []
        assert run_checks([item], {COUNTED: (more,)}, set()) == found("a")
    assert run_checks([Check(look, min_tokens=3)], {COUNTED: (more,)}, set()) == []
    assert run_checks([Check(look, MODEL)], {COUNTED: (more,)}, set()) == []


def test_findings_are_warned_of_unless_they_are_notes():
    found = [Finding("a"), Finding("b", Severity.NOTE)]
    with pytest.warns(CorpusWarning) as caught:
        warn_of(found, stacklevel=1)
    assert [str(warning.message) for warning in caught] == ["a"]
    assert {warning.filename for warning in caught} == {__file__}


WORDS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=4), min_size=2, max_size=8)


@given(WORDS, WORDS)
def test_shared_words_against_a_plain_count(one, two):
    size = min(len(one), len(two))
    texts = SampledTexts(lines=range(1, size + 1))
    first, second = SampledText("a", one[:size]), SampledText("b", two[:size])
    having = Counter(word for row in second.words for word in row)
    weights = {word: math.log((1 + size) / max(having[word], 1)) for word in "abcdef"}
    found = count_shared(first, second, neighbours(texts, first))
    for place, lag in enumerate((0, *LAGS)):
        for row in range(size):
            other = row + lag
            if not 0 <= other < size or one[row] == one[other]:
                other = row
            words, others = first.words[row], second.words[other]
            shared = sum(weights[word] for word in words & others)
            both = sum(weights[word] for word in [*words, *others])
            assert found[place, row] == pytest.approx(2 * shared / both if both else 0)


@given(
    arrays(np.float64, st.tuples(st.just(5), st.integers(1, 6)), elements=st.integers(-9, 9)),
)
def test_runs_are_those_of_the_best_reading(gains):
    """Against all readings of a few rows."""

    def worth(states):
        changes = sum(a != b for a, b in pairwise(states)) + (states[0] not in {0, 4})
        return sum(gains[s, row] for row, s in enumerate(states)) - CHANGE * changes

    best = max(map(worth, product(range(5), repeat=gains.shape[1])))
    assert worth(best_states(gains).tolist()) == pytest.approx(best)


TOKENS = st.text(min_size=0, max_size=6) | st.sampled_from(
    ["a", "the", ".", "a@@", "日本語", "House", "it's", "\ud800", "\u2028", "a\nb"]
)
ROWS = st.lists(st.tuples(*[st.lists(TOKENS, max_size=6)] * 4), min_size=1, max_size=60)


@given(ROWS, st.integers(1, 8))
def test_any_tokens_give_the_same_findings_of_one_line_each(rows, n):
    columns = [list(column) for column in zip(*(rows * n), strict=True)]
    seen = [findings(sample(columns[0], columns[1], a=columns[2], b=columns[3])) for _ in range(2)]
    assert seen[0] == seen[1]
    assert all(len(finding.message.splitlines()) == 1 for finding in seen[0])


@pytest.mark.parametrize(
    "value",
    [
        "None",
        "nan",
        "NaN",
        "null",
        "NULL",
        "N/A",
        "n/a",
        "NA",
        "#N/A",
        "#REF!",
        "\\N",
        "<NO_REF>",
        "<NA>",
        "[deleted]",
        "{{mt}}",
    ],
)
@pytest.mark.parametrize("tokens", [str.split, Tokenizer("13a"), Tokenizer("intl", lowercase=True)])
def test_a_value_that_stands_for_a_missing_text_is_named_in_any_text(value, tokens):
    spoiled = [*targets()[:7], tokens(value), *targets()[8:]]
    said = "' is the whole text where others have words (1 times, first in segment 8)"
    assert said in messages(sample(None, spoiled, hyp=OUTPUT))
    assert said in messages(sample(None, targets(), hyp=[*OUTPUT[:7], tokens(value), *OUTPUT[8:]]))
    everywhere = [[*rows[:7], tokens(value), *rows[8:]] for rows in (targets(), OUTPUT)]
    assert said not in messages(sample(None, everywhere[0], hyp=everywhere[1]))


def test_a_reference_of_marks_alone_stands_for_a_missing_one():
    said = "'-' is the whole text where others have words"
    assert said in messages(sample(None, [*targets()[:7], ["-"], *targets()[8:]], hyp=OUTPUT))
    assert said not in messages(sample(None, targets(), hyp=[*OUTPUT[:7], ["-"], *OUTPUT[8:]]))
    everywhere = [[*rows[:7], ["-"], *rows[8:]] for rows in (targets(), OUTPUT)]
    assert said not in messages(sample(None, everywhere[0], hyp=everywhere[1]))


@pytest.mark.parametrize("mark", ["UNK", "eng_Latn", "[EOS]", "END"])
def test_a_mark_in_capitals_does_not_make_a_text_a_cased_one(mark):
    assert "capital" not in messages(sample(None, targets(), hyp=[[mark, *row] for row in OUTPUT]))


@pytest.mark.parametrize(
    "value", ["No", "Nancy", "[1] and [2]", "(Applause)", "error 404", "<a> b"]
)
def test_a_short_text_is_no_missing_one(value):
    spoiled = [*targets()[:7], value.split(), *targets()[8:]]
    assert "is the whole text" not in messages(sample(None, spoiled, hyp=OUTPUT))
