"""Each check must report texts that were spoiled in its way, and no other texts."""

from __future__ import annotations

import random
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.data import input_checks
from coverage_eval.data.files import CorpusWarning, read_parallel
from coverage_eval.data.input_checks import (
    Finding,
    check_tokenised,
    most_serious_first,
    warn_of,
    why_untokenised,
)
from coverage_eval.data.line_checks import (
    LAGS,
    check_lines,
    check_second_output,
    correlation,
    count_shared,
    find_moved,
    share_words,
    where,
)
from coverage_eval.data.sample import Sample, SampledText
from fast_align_wrapper.text import tokenize
from tests.data.spoil import (
    Rows,
    blank,
    capitalize,
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


def check_texts(seen: Sample) -> list[Finding]:
    return input_checks.check_texts(seen) + check_lines(seen)


def names(seen: Sample) -> list[str]:
    return [finding.check for finding in check_texts(seen)]


def messages(seen: Sample) -> str:
    found = [finding.message for finding in check_texts(seen)]
    assert not any("\n" in message for message in found)
    return "\n".join(found)


# --- no finding ---


def reversed_words(rows: Rows) -> Rows:
    return [row[::-1] for row in rows]


def partly_right(rows: Rows) -> Rows:
    generator = random.Random(6)
    return [row if generator.random() < 0.4 else confuse([row])[0] for row in rows]


@pytest.mark.parametrize(
    "noise",
    [
        omit,
        repeat,
        confuse,
        reversed_words,
        partly_right,
        lambda rows: confuse(rows, 0.8),
        lambda rows: [[*row, "&amp;"] if i == 7 else row for i, row in enumerate(rows)],
    ],
)
def test_bad_outputs_are_not_taken_for_wrong_files(noise):
    assert names(sample(sources(), targets(), hyp=noise(targets()))) == []


@pytest.mark.parametrize("number", [1, 2, 5, 10, 19, 20, 30, 60])
def test_short_texts_get_no_warning(number):
    few = (sources()[:number], targets()[:number])
    assert names(sample(*few, hyp=omit(few[1]))) == []
    assert names(sample(*few, a=few[1][:1] * number, b=confuse(few[1]))) in ([], ["out-of-step"])


@pytest.mark.parametrize(
    ("spoiled", "check"), [(shift, "shifted"), (shuffle, "out-of-step"), (glue, "cut-otherwise")]
)
def test_checks_of_shares_need_twenty_segments(spoiled, check):
    for number, found in ((19, []), (20, [check])):
        few = (sources()[:number], targets()[:number])
        assert names(sample(*few, hyp=spoiled(OUTPUT[:number]))) == found


def test_checks_of_case_need_two_hundred_tokens():
    for number, found in ((20, []), (21, ["case"])):  # tokens: 192 and 202
        seen = sample(None, targets()[:number], hyp=capitalize(OUTPUT[:number]))
        assert names(seen) == found


def test_numbers_single_words_and_identical_lines_get_no_warning():
    numbers = [[str(number)] for number in range(200)]
    assert names(sample(None, numbers, hyp=confuse(numbers))) == []
    words = [[word] for row in targets() for word in row][:300]
    assert names(sample(None, words, hyp=confuse(words))) == []
    alike = [["yes", "."]] * 100
    assert names(sample([["ja", "."]] * 100, alike, hyp=[*alike[:-1], ["no"]])) == []


def test_a_sample_without_references_or_texts():
    assert names(sample(sources(), None, hyp=omit(targets()))) == []
    assert names(Sample()) == []
    assert names(sample([[]] * 50, [[]] * 50, hyp=[[]] * 50)) == []


CORPORA = [
    *(("multi30k-de-en", part, "de", "en") for part in ("val", "test_2016_flickr", "train")),
    ("multi30k-de-en", "test_2017_flickr", "de", "en"),
    *(("small-enja", part, "ja", "en") for part in ("dev", "test", "train")),
]


@pytest.mark.parametrize(("corpus", "part", "source", "target"), CORPORA)
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


# --- outputs that say nothing ---


def test_blank_outputs_are_reported():
    assert messages(sample(None, targets(), hyp=[[]] * 500)).startswith(
        "hyp: no segment has a word;"
    )
    assert names(sample(None, targets()[:1], hyp=[["."]])) == ["says-little"]
    assert names(sample(None, None, hyp=[[]] * 5)) == ["says-little"]
    seen = sample(None, targets(), hyp=blank(OUTPUT, 0.6))
    assert names(seen) == ["says-little"]
    share = sum(not row for row in seen.hypotheses[0].rows) / 5
    assert f"hyp: {share:.0f}% of the segments have no word" in messages(seen)
    seen = sample(None, targets(), good=OUTPUT, hyp=blank(OUTPUT))
    assert [(f.check, f.text) for f in check_texts(seen)] == [("blank", "hyp")]
    assert "hyp: 151 of 500 segments looked at are blank" in messages(seen)
    # One blank segment is enough, unless the other texts say hardly anything there, either.
    seen = sample(None, targets(), hyp=[*OUTPUT[:7], [], *OUTPUT[8:]])
    assert "hyp: 1 of 500 segments looked at are blank" in messages(seen)
    assert "first segment 8;" in messages(seen)
    short = [*targets()[:7], ["oh", "no"], *targets()[8:]]
    assert names(sample(None, short, hyp=[*OUTPUT[:7], [], *OUTPUT[8:]])) == []
    assert names(sample(None, [[]] * 300 + targets()[300:], hyp=[[]] * 300 + OUTPUT[300:])) == []


def test_outputs_that_are_much_too_short_are_reported():
    short = [row[: len(row) // 3] for row in OUTPUT]
    third = names(sample(None, targets(), hyp=short))
    assert third == ["says-little"]
    # As many words, but shorter ones: the length in words, as in tables, is another figure.
    letters = [["o"] * len(row) for row in OUTPUT]
    assert "of the length of ref, in bytes;" in messages(sample(None, targets(), hyp=letters))
    assert names(sample(sources(), None, a=OUTPUT, hyp=short, b=OUTPUT)) == [
        "says-little",
        "equal-outputs",
    ]
    assert names(sample(sources(), None, hyp=[row[:1] for row in OUTPUT])) == ["says-little"]
    assert names(sample(sources(), None, hyp=[row[: len(row) // 2] for row in OUTPUT])) == []
    assert names(sample(None, targets(), hyp=[row[: len(row) * 3 // 4] for row in OUTPUT])) == []
    # With only two outputs, either may be the wrong one; the source decides.
    shorter = [row[: len(row) * 2 // 5] for row in confuse(OUTPUT, 0.2, seed=9)]
    assert names(sample(sources(), None, a=OUTPUT, hyp=shorter)) == []


# --- an output in the place of a reference ---


def test_an_output_given_as_a_reference_is_reported():
    other = confuse(OUTPUT, 0.1, seed=12)
    texts = [SampledText(name, rows) for name, rows in (("b.txt", other), ("ref", targets()))]
    seen = Sample([SampledText("a.txt", OUTPUT)], texts, None, range(0, 500, 50))
    (found,) = check_second_output(seen)
    assert found.check == "second-output"
    assert found.message.endswith("type coverage-eval compare --ref ref a.txt b.txt")
    # Two human translations, equally far from the output.
    texts = [SampledText("one", targets()), SampledText("two", confuse(targets(), 0.3, seed=8))]
    seen = Sample(
        [SampledText("hyp", confuse(targets(), 0.2))], texts[::-1], None, range(0, 500, 50)
    )
    assert list(check_second_output(seen)) == []
    # Three texts, equally far from each other.
    texts = [SampledText(name, confuse(targets(), seed=n)) for n, name in enumerate("abc", 20)]
    assert list(check_second_output(Sample(texts[:1], texts[1:], None, range(0, 500, 50)))) == []


def test_few_segments_do_not_tell_an_output_from_a_reference():
    few = SampledText("a", OUTPUT[:19])
    assert list(check_second_output(Sample([few], [few, SampledText("b", OUTPUT[:19])]))) == []


def test_findings_are_sorted_and_warned_of_by_gravity():
    checks = ["equal-outputs", "unknown check", "says-little"]
    found = most_serious_first(Finding(check, check) for check in checks)
    assert [finding.check for finding in found] == ["says-little", "unknown check", "equal-outputs"]
    with pytest.warns(CorpusWarning) as caught:
        warn_of(found, stacklevel=1)
    assert [str(warning.message) for warning in caught] == ["says-little", "unknown check"]
    assert {warning.filename for warning in caught} == {__file__}


# --- the form of a text ---


@pytest.mark.parametrize("mark", ["{}@@ {}", "▁{} {}", "{}￭ {}", "{} ￭{}", "{} ##{}"])
def test_subword_marks(mark):
    seen = sample(sources(), targets(), hyp=subwords(OUTPUT, mark))
    assert names(seen) == ["subword-marks"]
    assert messages(seen).startswith("hyp (")


def test_byte_level_marks_but_not_a_maltese_letter():
    byte_level = [["Ġ" + token for token in row] for row in OUTPUT]
    # The mark Ġ is a capital letter.
    assert names(sample(None, targets(), hyp=byte_level)) == ["subword-marks", "case"]
    maltese = [["Ġorġ", *row] if i % 20 == 0 else row for i, row in enumerate(OUTPUT)]
    assert names(sample(None, targets(), hyp=maltese)) == []


def test_subword_marks_are_found_in_few_segments_and_name_all_texts():
    rows = [["ein", "Haus@@", "halt"], ["zwei", "Haus@@", "tiere"]]
    assert messages(sample(rows, None, hyp=rows)).startswith(
        "hyp (33% of the tokens, such as 'Haus@@'), src (33% of the tokens"
    )


@pytest.mark.parametrize("token", ["@@", "##", "a@@b", "#", "#tag"])
def test_tokens_that_are_not_subwords(token):
    assert names(sample(None, targets(), hyp=[[*row, token] for row in OUTPUT])) == []


def test_html_entities_of_the_web():
    spoiled = [[*row, "&nbsp;"] if i % 50 == 0 else row for i, row in enumerate(OUTPUT)]
    assert names(sample(sources(), targets(), hyp=spoiled)) == ["html-entities"]


@pytest.mark.parametrize(
    ("token", "check"),
    [
        ("fÃ¼r", "wrong-encoding"), ("donâ€™t", "wrong-encoding"), ("f\ufffdr", "wrong-encoding"),
        ("fu\u0308r", "decomposed"), ("か\u3099", "decomposed"),
        ("\u200bfor", "invisible"), ("for\u200f", "invisible"), ("\ufefffor", "invisible"),
        ("für", ""), ("SÃO", ""), ("irmã»", ""), ("année", ""), ("क़लम", ""),
        ("می\u200cخواهم", ""), ("…", ""),
    ],
)  # fmt: skip
def test_characters_that_the_eye_forgives(token, check):
    spoiled = [[*row, token] if i % 9 == 0 else row for i, row in enumerate(OUTPUT)]
    assert names(sample(sources(), targets(), hyp=spoiled)) == ([check] if check else [])
    everywhere = [[[*row, token] for row in rows] for rows in (sources(), targets(), OUTPUT)]
    assert names(sample(*everywhere[:2], hyp=everywhere[2])) == []


def test_moses_entities_are_found_only_if_another_text_has_none():
    def add(rows: Rows, token: str) -> Rows:
        return [[*row, token] if i % 9 == 0 else row for i, row in enumerate(rows)]

    escaped = (add(sources(), "&apos;"), add(targets(), "&apos;s"))
    assert names(sample(*escaped, hyp=add(OUTPUT, "&quot;"))) == []
    seen = sample(*escaped, hyp=add(OUTPUT, "'s"))
    assert names(seen) == ["html-entities"]
    assert "but not in hyp" in messages(seen)


def test_untokenised_text():
    seen = sample(sources(), targets(), hyp=glue(OUTPUT))
    assert names(seen) == ["untokenised"]
    assert "hyp (" in messages(seen)
    assert [why_untokenised(text) is not None for text in seen.texts] == [True, False, False]
    # Abbreviations keep their full stop.
    short = [["dr.", *row] for row in OUTPUT]
    assert names(sample(sources(), [["dr.", *row] for row in targets()], hyp=short)) == []


@pytest.mark.parametrize(("number", "told"), [(19, []), (20, ["tokenised"])])
def test_tokenised_text_for_metrics_with_their_own_tokeniser(number, told):
    cut = [["a", "dog", "."]] * number
    for rows in (cut, cut + [["a", "dog."]] * (number - 1)):
        found = check_tokenised(sample(None, None, hyp=rows), ["BLEU"], alone=True)
        assert [finding.check for finding in found] == told
    half = sample(None, None, hyp=cut + [["a", "dog."]] * number)
    assert list(check_tokenised(half, ["BLEU"], alone=True)) == []


@pytest.mark.parametrize(("number", "found"), [(19, []), (20, ["untokenised"])])
def test_untokenised_text_is_told_from_twenty_segments_on(number, found):
    assert names(sample(None, None, hyp=[["a", "dog."]] * number)) == found


def test_untokenised_and_shifted_texts_get_both_warnings():
    seen = sample(glue(sources()), glue(targets()), hyp=shift(glue(OUTPUT)))
    assert names(seen) == ["untokenised", "shifted"]


def test_a_script_without_spaces():
    generator = random.Random(8)
    words = ["".join(generator.choices("日本語文字今明昨私彼人大小", k=2)) for _ in range(300)]
    cut = [generator.choices(words, k=9) for _ in range(100)]
    whole = [["".join(row) + "。"] for row in cut]
    assert names(sample(cut, targets(100), hyp=OUTPUT[:100])) == []
    assert names(sample(whole, targets(100), hyp=OUTPUT[:100])) == ["unsegmented"]
    assert names(sample(None, cut, hyp=whole)) == ["unsegmented"]
    assert names(sample(None, cut, hyp=spell(cut))) == ["cut-otherwise"]
    assert names(sample(None, cut, hyp=confuse(cut))) == []
    third = SampledText("some", [["".join(words[:5]), "a", "b"] for _ in range(100)])
    assert input_checks.why_unsegmented(third) == "10 letters per token"
    less = SampledText("few", [*third.rows, ["a"]])
    assert input_checks.why_unsegmented(less) is None


def test_a_long_token_is_cut_in_messages():
    assert input_checks.shown("x" * 24) == f"'{'x' * 24}'"
    assert input_checks.shown("x" * 25) == f"'{'x' * 24}…'"


@pytest.mark.parametrize(("shared", "many"), [(5, False), (6, True)])
def test_names_shared_with_the_own_line_excuse_odd_lengths(shared, many):
    text = SampledText("one", [[str(i) for i in range(shared)]])
    assert share_words(text, text, [0]) == many


# --- texts compared with each other ---


def test_a_lower_cased_text_beside_cased_ones():
    assert names(sample(titles(sources()), titles(targets()), hyp=OUTPUT)) == ["case"]
    assert names(sample(titles(sources()), titles(targets()), hyp=titles(OUTPUT))) == []
    assert names(sample(sources(), titles(targets()), hyp=titles(OUTPUT))) == ["case"]


def test_capitals_that_differ_from_the_reference():
    first = capitalize(targets())
    assert names(sample(None, first, hyp=titles(OUTPUT))) == ["case"]
    assert names(sample(None, first, hyp=capitalize(OUTPUT))) == []
    # The reference begins with capitals, the output has them on names only.
    proper = [[token.title() if token == "the" else token for token in row] for row in OUTPUT]
    wanted = [[token.title() if token == "the" else token for token in row] for row in first]
    assert names(sample(None, wanted, hyp=capitalize(proper))) == []
    assert names(sample(None, wanted, hyp=proper)) == ["case"]
    # A third of the words have capitals, as in German, and the output shouts.
    nouns = [[w.title() if n % 3 == 0 else w for n, w in enumerate(row)] for row in OUTPUT]
    loud = [[token.upper() for token in row] for row in nouns]
    assert names(sample(None, nouns, hyp=loud)) == ["case"]


def test_equal_texts():
    seen = sample(sources(), targets(), a=OUTPUT, b=OUTPUT, c=confuse(targets(), seed=9))
    assert messages(seen) == (
        "a and b: the same text in all 500 segments looked at; check that each is the file you "
        "meant"
    )
    assert names(sample(sources(), targets(), hyp=targets())) == ["equal"]
    assert names(sample(sources(), targets(), hyp=sources())) == ["equal"]
    assert names(sample(targets(), targets(), hyp=OUTPUT)) == ["equal"]
    few = targets()[:2]
    assert names(sample(None, few, hyp=few)) == []


def test_a_hypothesis_nearer_to_the_source():
    assert names(sample(sources(), targets(), hyp=omit(sources(), 0.1))) == ["nearer-source"]
    assert "nearer-source" in names(sample(sources(), [[]] * 500, hyp=omit(sources(), 0.1)))
    # References in a closely related language share words with the source.
    close = [[s if i % 2 else t for i, (s, t) in enumerate(zip(*pair, strict=False))]
             for pair in zip(sources(), targets(), strict=True)]  # fmt: skip
    assert names(sample(sources(), close, hyp=confuse(close))) == []


def test_texts_tokenised_differently():
    assert names(sample(sources(), targets(), hyp=spell(OUTPUT))) == ["cut-otherwise"]
    assert names(sample(sources(), targets(), hyp=subwords(OUTPUT, "{} {}"))) == ["cut-otherwise"]
    assert "of the words of ref, such as 'the', are in" in messages(
        sample(None, [["the", "dog", "."]] * 99, hyp=[["t", "he", "dog", "."]] * 99)
    )
    joined = [" ".join(row).replace("the ", "the").split(" ") for row in OUTPUT]
    assert names(sample(sources(), targets(), hyp=joined)) == ["cut-otherwise"]


# --- the order of lines ---


@pytest.mark.parametrize(
    ("spoiled", "told"),
    [
        (shift, "line N fits line N+1 of ref better than line N, throughout"),
        *(
            (
                partial(shift, by=lag),
                f"line N fits line N{lag:+d} of ref better than line N, through",
            )
            for lag in (-2, -1, 2)
        ),
        (lambda rows: shift(rows, 7), "shares no more words with its own line of ref"),
        (shuffle, "shares no more words with its own line of ref"),
        (shift_half, "from line 251 on, line n fits line n+1 of ref better than line n"),
        (lambda rows: shift_half(rows, 9), "lines around it, from about line 251 on"),
    ],
)
def test_lines_out_of_step(spoiled, told):
    seen = sample(sources(), targets(), good=OUTPUT, hyp=spoiled(confuse(targets(), seed=9)))
    assert names(seen) == ["shifted" if " fits line" in told else "out-of-step"]
    assert told in messages(seen)
    assert messages(seen).startswith("hyp: ")


def test_lines_that_are_half_shifted_and_half_shuffled():
    """No single shift explains most of the bad pieces."""
    half = len(OUTPUT) // 2
    seen = sample(None, targets(), hyp=[*shuffle(OUTPUT[:half]), *shift(OUTPUT[half:])])
    assert names(seen) == ["out-of-step"]


@pytest.mark.parametrize(("pieces", "found"), [(1, []), (2, ["shifted"])])
def test_a_fifth_of_the_pieces_out_of_step_is_reported(pieces, found):
    rows = [*shift(OUTPUT[: 50 * pieces]), *OUTPUT[50 * pieces :]]
    assert names(sample(None, targets(), hyp=rows)) == found


@pytest.mark.parametrize("line", [401, 433, 466])
@pytest.mark.parametrize("lag", [1, -1])
def test_a_shift_of_the_last_lines_is_noticed_and_its_line_named(line, lag):
    output = confuse(targets(), seed=9)
    end = [*output[line:], ["x"]] if lag > 0 else [["x"], *output[line - 1 : -1]]
    seen = sample(None, targets(), hyp=[*output[: line - 1], *end])
    assert names(seen) == ["shifted"]
    assert f"from line {line} on, line n fits line n{lag:+d} of ref better" in messages(seen)
    assert f"find the {'missing' if lag > 0 else 'extra'} line there" in messages(seen)


def test_messages_say_where_pieces_are_bad():
    seen = sample(None, targets(), hyp=OUTPUT)
    blocks = list(seen.blocks)
    assert where(seen, blocks, blocks) == "throughout"
    assert where(seen, blocks[-2:], blocks) == f"from about line {blocks[-2] + 1} on"
    assert where(seen, blocks[1:3], blocks) == f"in 2 of {len(blocks)} places"


def test_pieces_with_few_segments_that_have_words_are_not_compared():
    rows = [row if i % 3 == 0 else [] for i, row in enumerate(shift(OUTPUT))]
    assert names(sample(None, targets(), hyp=rows)) == ["says-little"]


def test_a_further_reference_out_of_step():
    references = [SampledText("ref", targets()), SampledText("ref2", shift(OUTPUT))]
    seen = Sample([SampledText("hyp", OUTPUT)], references, None, range(0, 500, 50))
    assert [f.message.split(":")[0] for f in check_texts(seen)] == ["ref2"]


def test_an_output_that_repeats_one_sentence():
    rows = [["i", "do", "not", "know"]] * 500
    assert names(sample(None, targets(), hyp=rows)) == ["says-little", "out-of-step"]


@pytest.mark.parametrize("spoiled", [shift, shuffle, lambda rows: shift(rows, -2), shift_half])
def test_sources_out_of_step(spoiled):
    assert names(sample(spoiled(sources()), targets(), hyp=OUTPUT)) == ["source-out-of-step"]
    assert names(sample(spoiled(sources()), None, hyp=OUTPUT)) == ["source-out-of-step"]


def test_sources_of_any_length_that_share_names_are_in_step():
    generator = random.Random(10)
    one = [[f"name{i}", *["x"] * generator.randrange(1, 20)] for i in range(400)]
    two = [[f"name{i}", *["y"] * generator.randrange(1, 20)] for i in range(400)]
    assert names(sample(one, two, hyp=confuse(two, 0.1))) == []
    assert names(sample([row[1:] for row in one], two, hyp=confuse(two, 0.1))) == [
        "source-out-of-step"
    ]
    # Names that neighbouring lines share equally often do not show where a line belongs.
    one, two = ([[f"name{i // 2}", *row[1:]] for i, row in enumerate(rows)] for rows in (one, two))
    assert names(sample(one, two, hyp=confuse(two, 0.1))) == ["source-out-of-step"]


WORDS = st.lists(st.frozensets(st.sampled_from("abcdef")), min_size=3, max_size=8)


@given(WORDS, WORDS)
def test_shared_words_against_a_plain_count(one, two):
    size = min(len(one), len(two))
    weights = {letter: 1.0 + number for number, letter in enumerate("abcdef")}
    own, others = count_shared(one[:size], two[:size], weights)

    def mean(lag: int) -> float:
        values = [
            sum(
                weight
                for word, weight in weights.items()
                if word in one[i] and word in two[i + lag]
            )
            for i in range(size)
            if 0 <= i + lag < size
        ]
        return sum(values) / len(values)

    assert own == pytest.approx(mean(0))
    assert others == pytest.approx([mean(lag) for lag in LAGS])


def test_moved_columns_and_correlations_by_hand():
    assert correlation([1, 2], [2, 4]) == pytest.approx(1)
    assert correlation([1, 1], [1, 2]) == 0
    assert find_moved("abcd", "ABCD", 1) == ("abc", "BCD")
    assert find_moved("abcd", "ABCD", -2) == ("cd", "AB")


# --- any text ---

TOKENS = st.text(min_size=0, max_size=6) | st.sampled_from(
    [
        "a",
        "the",
        ".",
        "a@@",
        "&amp;",
        "&nbsp;",
        "日本語",
        "House",
        "it's",
        "\ud800",
        "\u2028",
        "a\nb",
    ]
)
ROWS = st.lists(st.tuples(*[st.lists(TOKENS, max_size=6)] * 4), max_size=60)


@given(ROWS, st.integers(1, 8))
def test_any_tokens_give_the_same_findings_of_one_line_each(rows, n):
    columns = [list(column) for column in zip(*(rows * n), strict=True)] or [[]] * 4
    seen = [
        check_texts(sample(columns[0], columns[1], a=columns[2], b=columns[3])) for _ in range(2)
    ]
    assert seen[0] == seen[1]
    assert all(len(finding.message.splitlines()) == 1 for finding in seen[0])


def test_unequal_texts_are_refused():
    with pytest.raises(ValueError, match=r"unequal numbers of segments: \{'a': 1, 'ref': 2\}"):
        Sample([SampledText("a", [["x"]])], [SampledText("ref", [["x"], ["y"]])])
