"""Readers of labels and of gold files, on files written after the descriptions of their formats."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.data.files import CorpusWarning, read_segments
from coverage_eval.data.mqm import marked_words, read_translations, without_marks
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError
from coverage_eval.testbed.gold_errors import GoldError, read_gold_errors
from coverage_eval.testbed.labels import Judgement, Labels, read_labels, write_texts

MQM = "system doc docSegId globalSegId rater source target category severity".replace(" ", "\t")
HALOMI = (
    "src_lang", "tgt_lang", "src_text", "mt_text", "omit_spans", "hall_spans", "class_hall",
    "class_omit",
)  # fmt: skip


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")
    return path


def mqm(path: Path, *rows: str) -> Path:
    """Rows of ``system segment rater | source | target | category | severity``."""
    lines = [MQM]
    for row in rows:
        key, *rest = (cell.strip() for cell in row.split("|"))
        system, segment, rater = key.split()
        lines.append("\t".join([system, "doc", "1", segment, rater, *rest]))
    return write(path, *lines)


def by_key(labels: Labels) -> dict[tuple[str, int], Judgement]:
    return {item.key: item for item in labels.judgements}


HOSTILE = '"Ja", sagte <er>: "nein'


def test_mqm_with_several_raters_and_hostile_quotes(tmp_path):
    path = mqm(
        tmp_path / "mqm.tsv",
        'A 7 r1 | "Ja", sagte <v><er></v>: "nein | "Yes | Accuracy/Omission | Major',
        f'A 7 r2 | {HOSTILE} | "Yes | No-error | no-error',
        'A 7 r3 | "Ja", sagte <er>: <v>"nein</v> | "Yes | Accuracy/Omission | Minor',
        f'B 7 r1 | {HOSTILE} | <v>"No</v>" | Accuracy/Mistranslation | Critical',
        f'B 7 r2 | {HOSTILE} | "No" | no-error | No-error',
    )
    found = by_key(read_labels(path))
    first, second = found["A", 7], found["B", 7]
    assert (first.positive, first.grade, first.raters) == (True, 2 / 3, (True, False, True))
    assert first.source_text == HOSTILE
    assert first.target_text == '"Yes'
    assert first.words == {2, 3}
    assert first.source_words == 4
    assert (second.positive, second.grade, second.raters) == (False, 0.0, (False, False))
    assert second.target_text == '"No"'
    assert second.words == frozenset()
    assert first.source == second.source


def test_mqm_of_other_categories(tmp_path):
    rows = (
        "A 1 r | a b | <v>c</v> | Accuracy/Addition | Minor",
        "A 2 r | <v>a</v> b | c | Accuracy/Omission | Minor",
    )
    path = mqm(tmp_path / "mqm.tsv", *rows)
    kinds = ("addition", "accuracy", "accuracy/omission", "Omission")
    marked = [[item.positive for item in read_labels(path, k).judgements] for k in kinds]
    assert marked == [[True, False], [True, True], [False, True], [False, True]]
    # An addition marks nothing in the source, so the affected words are not known.
    assert by_key(read_labels(path, "addition"))["A", 1].words is None
    with pytest.raises(DataError, match=r"no error of the kind 'repetition'; .*Accuracy/Addition"):
        read_labels(path, "repetition")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("A 1 r | a <v>b | c | Accuracy/Omission | Minor", "line 3: marks <v> and </v>"),
        ("A x r | a b | c | Accuracy/Omission | Minor", "line 3: invalid literal"),
        ("A 1 r | a b", "line 3: 6 fields where the header has 9"),
    ],
)
def test_damaged_mqm(tmp_path, row, message):
    path = mqm(tmp_path / "mqm.tsv", "A 1 q | a b | d | no-error | no-error", row)
    with pytest.raises(DataError, match=message):
        read_labels(path)


def test_mqm_files_in_which_raters_changed_the_texts(tmp_path):
    """As in newstest2020: the texts of most rows count, and marks of other sources do not."""
    path = mqm(
        tmp_path / "mqm.tsv",
        "A 1 r1 | a b c | <v>d apparently</v> | Accuracy/Addition | Minor",
        "A 1 r2 | a <v>b</v> c | d | Accuracy/Omission | Major",
        "A 1 r3 | a b c | d | no-error | no-error",
        "A 2 r1 | <v>a a</v> b c | d | Accuracy/Omission | Major",
        "B 2 r2 | a b c | d | no-error | no-error",
        "C 2 r3 | a b c | d | no-error | no-error",
        "B 1 r1 | a b c | e | no-error | no-error",
    )
    message = re.escape(
        f"{path}: raters changed the source or the translation of 4 of 5 translations (the first: "
        "line 2); the texts of most rows are used"
    )
    with pytest.warns(CorpusWarning, match=message):
        found = by_key(read_labels(path))
    assert (found["A", 1].target_text, found["A", 1].words) == ("d", {1})
    assert (found["A", 2].source_text, found["A", 2].words) == ("a b c", None)
    assert [found[key].grade for key in (("A", 1), ("A", 2), ("B", 1))] == [
        pytest.approx(1 / 3),
        1.0,
        0.0,
    ]
    with pytest.warns(CorpusWarning, match=message):
        systems, shared = read_translations(path).columns(["A"])
    assert list(read_segments(systems["A"])) == ["d", "d"]
    assert list(read_segments(shared["source"])) == ["a b c", "a b c"]


def test_mqm_of_the_first_years(tmp_path):
    """Columns had other names, and omissions were marked in the translation."""
    row = "A 1 r1 | a b c | <v>d</v> | Accuracy/Omission | Major"
    path = mqm(tmp_path / "mqm.tsv", row, "B 1 r2 | a b c | d | No-error | No-error")
    path.write_text(path.read_text().replace("docSegId\tglobalSegId", "doc_id\tseg_id"))
    found = by_key(read_labels(path))
    assert (found["A", 1].positive, found["A", 1].words) == (True, None)
    assert (found["A", 1].target_text, found["B", 1].positive) == ("d", False)


def halomi(path: Path, *rows: dict[str, str], **more: str) -> Path:
    """Write rows as pandas does: quoted where needed."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, [*HALOMI, *more], delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows({**dict.fromkeys(HALOMI, ""), **more, **row} for row in rows)
    path.write_text(buffer.getvalue(), encoding="utf-8", newline="")
    return path


def row(source: str, marked: str, omit: str, pair: str = "deu_Latn-eng_Latn") -> dict[str, str]:
    src, tgt = pair.split("-")
    return {
        "src_lang": src, "tgt_lang": tgt, "src_text": source, "mt_text": f'"{source}"',
        "omit_spans": marked, "class_omit": omit, "class_hall": "1_No_hallucination",
    }  # fmt: skip


def test_halomi(tmp_path):
    path = halomi(
        tmp_path / "halomi.tsv",
        row('"Er" kam,\tging', '"Er" <<<kam,\tging>>>', "3_Partial_omission"),
        row("ganz und gar", "", "1_No_omission"),
        row("alles", "alles", "4_Full_omission"),
        row("na", "<<<na>>>", "2_Small_omission", "yor_Latn-spa_Latn"),
    )
    labels = read_labels(path)
    assert labels.systems == ("deu_Latn-eng_Latn", "yor_Latn-spa_Latn")
    first, clean, unmarked = labels.of_system("deu_Latn-eng_Latn").judgements
    assert first.source_text == '"Er" kam,\tging'
    assert first.target_text == '""Er" kam,\tging"'
    assert (first.grade, first.words, first.source_words) == (2, {1, 2}, 3)
    assert (clean.positive, clean.words, clean.source_words) == (False, frozenset(), 3)
    assert (unmarked.grade, unmarked.words) == (3, None)
    assert [item.segment for item in (first, clean, unmarked)] == [1, 2, 3]
    (other,) = labels.of_system("yor_Latn-spa_Latn").judgements
    assert (other.segment, other.grade, other.positive) == (1, 1, True)
    assert not any(item.positive for item in read_labels(path, "hallucination").judgements)
    with pytest.raises(DataError, match="not of repetition"):
        read_labels(path, "repetition")
    with pytest.raises(DataError, match="no labels of 'x'; there are: deu_Latn-eng_Latn, yor"):
        labels.of_system("x")


def test_only_natural_translations_of_halomi_count(tmp_path):
    rows = (row("a", "a", "1_No"), {**row("b", "b", "1_No"), "perturbation": "perturbed"})
    path = halomi(tmp_path / "full.tsv", *rows, perturbation="natural")
    assert [item.source_text for item in read_labels(path).judgements] == ["a"]


@pytest.mark.parametrize(
    ("marked", "degree", "message"),
    [("<<<a", "2_Small", "marks <<< and >>>"), ("a", "none", "class_omit 'none' does not begin")],
)
def test_damaged_halomi(tmp_path, marked, degree, message):
    path = halomi(tmp_path / "halomi.tsv", row("a", "a", "1_No"), row("a", marked, degree))
    with pytest.raises(DataError, match=f"line 3: {message}"):
        read_labels(path)


def test_an_unclosed_quote_is_an_error(tmp_path):
    path = write(tmp_path / "halomi.tsv", "\t".join(HALOMI), '"never\tends')
    with pytest.raises(DataError, match="line 2: unexpected end of data"):
        read_labels(path)


def test_plain_labels(tmp_path):
    path = write(
        tmp_path / "labels.tsv",
        "system\tsegment\tlabel\tsource\twords\traters",
        'a"\t2\t0.5\ts1\t1 3\t1 0',
        'a"\t1\t0\ts1\t\t0 0',
    )
    first, second = read_labels(path).judgements
    assert (first.key, first.grade, first.words, first.raters) == (
        ('a"', 2), 0.5, {0, 2}, (True, False)
    )  # fmt: skip
    assert (second.key, second.positive, second.words) == (('a"', 1), False, frozenset())
    assert first.source == second.source == "s1"
    bare = write(tmp_path / "bare", "0", "1", "0.5")
    assert [(i.segment, i.grade) for i in read_labels(bare).judgements] == [
        (1, 0),
        (2, 1),
        (3, 0.5),
    ]
    named = write(tmp_path / "named", "label\tomission\trepetition", "0\t1\t0")
    for kind, expected in (("omission", True), ("repetition", False)):
        assert read_labels(named, kind).judgements[0].positive is expected


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["segment\tlabel", "1\tyes"], "line 2: could not convert string to float: 'yes'"),
        (["segment\tlabel", "1\tnan"], "line 2: label 'nan' is not a number from 0"),
        (["segment\tlabel", "1\t-1"], "line 2: label '-1' is not a number from 0"),
        (["segment\tlabel", "0\t1"], "line 2: segments and words are counted from 1"),
        (["label\twords", "1\t0 1"], "line 2: segments and words are counted from 1"),
        (["segment\tlabel", "1"], "line 2: 1 fields where the header has 2"),
        (["label\tlabel", "1\t1"], "line 1: two columns label"),
        (["segment\tlabel"], "no row under the header"),
        (["segment\tvalue", "1\t1"], "line 1: not a known format of labels"),
        (["0", "1", "x"], "line 3: could not convert"),
        ([], "line 1: not a known format of labels"),
    ],
)
def test_damaged_plain_labels(tmp_path, lines, message):
    with pytest.raises(DataError, match=message):
        read_labels(write(tmp_path / "labels.tsv", *lines))


def test_injected_gold(tmp_path):
    path = write(
        tmp_path / "gold.jsonl",
        '{"segment": 4, "kind": "omission-word", "hypothesis": [2, 2], "source": [3]}',
        '{"segment": 4, "kind": "omission-word", "hypothesis": [5, 5], "source": [0, 3]}',
        '{"segment": 2, "kind": "early-stop", "hypothesis": [1, 1], "source": null}',
        '{"segment": 9, "kind": "repetition-tail", "hypothesis": [1, 4], "source": [2]}',
    )
    labels = read_labels(path)
    assert not labels.complete
    found = [(i.segment, i.grade, i.words) for i in labels.judgements]
    assert found == [(2, 1, None), (4, 2, {0, 3})]
    assert [i.segment for i in read_labels(path, "repetition").judgements] == [9]
    assert [i.segment for i in read_labels(path, "early-stop").judgements] == [2]
    with pytest.raises(DataError, match="kinds are: early-stop, omission-word, repetition-tail"):
        read_labels(path, "addition")


def test_human_scores_need_one_score_at_least(tmp_path):
    path = write(tmp_path / "x.seg.score", "a None", "a -2", "a -5.5")
    found = read_labels(path)
    assert [(i.segment, i.grade, i.positive) for i in found.judgements] == [
        (2, 2.0, True),
        (3, 5.5, True),
    ]
    assert found.grade == "points below 0, the best score"
    best = write(tmp_path / "best", "a 90", "a 95")
    assert [(i.grade, i.positive) for i in read_labels(best).judgements] == [(5, True), (0, False)]
    with pytest.raises(DataError, match="no segment has a score"):
        read_labels(write(tmp_path / "none", "a None"))


def test_extracted_texts_come_with_their_labels(tmp_path):
    path = mqm(
        tmp_path / "mqm.tsv",
        "A 7 r1 | a <v>b</v> c | x | Accuracy/Omission | Major",
        "A 7 r2 | a b c | x | no-error | no-error",
        "B 7 r1 | a b c | y z | no-error | no-error",
        "B 9 r1 | d | w | no-error | no-error",
    )
    labels = read_labels(path)
    write_texts(labels, tmp_path / "out")
    assert (tmp_path / "out/src.txt").read_text() == "a b c\na b c\nd\n"
    assert (tmp_path / "out/hyp.txt").read_text() == "x\ny z\nw\n"
    again = read_labels(tmp_path / "out/labels.tsv").judgements
    assert [item.segment for item in again] == [1, 2, 3]
    for attribute in ("positive", "grade", "system", "raters", "words"):
        for one, other in zip(labels.judgements, again, strict=True):
            assert getattr(other, attribute) == getattr(one, attribute)
    assert again[0].source == again[1].source != again[2].source
    with pytest.raises(DataError, match="has no texts"):
        write_texts(read_labels(tmp_path / "out/labels.tsv"), tmp_path / "more")
    assert not (tmp_path / "more").exists()


TEXT = st.text(st.characters(exclude_characters="<>\n\t\r", exclude_categories=["Cs"]), max_size=8)


@given(st.lists(st.tuples(TEXT, st.booleans()), max_size=6))
def test_marks_are_removed_and_marked_characters_are_known(parts):
    marked = "".join(f"<v>{text}</v>" if inside else text for text, inside in parts)
    text, inside = without_marks(marked, "<v>", "</v>")
    assert text == "".join(part for part, _ in parts)
    assert inside == [flag for part, flag in parts for _ in part]


def test_marked_words_are_found_by_any_tokeniser():
    text, inside = without_marks("Hello,<v> wor</v>ld! 你<v>好</v>", "<v>", "</v>")
    assert marked_words(text, inside, Tokenizer()) == ({1, 2}, 3)
    assert marked_words(text, inside, Tokenizer("13a")) == ({2, 4}, 5)
    assert marked_words(text, inside, Tokenizer("zh", lowercase=True)) == ({2, 5}, 6)
    assert marked_words("a &quot; b", [True] * 10, Tokenizer("13a")) is None
    assert marked_words("", [], Tokenizer()) == (frozenset(), 0)


positions = st.integers(0, 300)
errors = st.builds(
    GoldError,
    segment=st.integers(1, 10**6),
    kind=st.text(),
    hypothesis=st.tuples(positions, positions).map(lambda ends: (min(ends), max(ends))),
    source=st.none() | st.lists(positions).map(tuple),
    removed=st.text(),
)


@given(st.lists(errors))
def test_written_files_are_read_back(tmp_path_factory, some):
    path = tmp_path_factory.mktemp("gold") / "gold.jsonl"
    path.write_text("".join(f"{error.to_json()}\n" for error in some), encoding="utf-8")
    assert list(read_gold_errors(path)) == some


def test_the_form_of_a_line():
    error = GoldError(7, "omission-phrase", (2, 2), (3, 4), "the dog")
    assert json.loads(error.to_json()) == {
        "segment": 7,
        "kind": "omission-phrase",
        "hypothesis": [2, 2],
        "source": [3, 4],
        "removed": "the dog",
    }


GOOD = {"segment": 1, "kind": "addition", "hypothesis": [0, 1], "source": []}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "Expecting value"),
        ("[1]", "not an object"),
        (json.dumps({**GOOD, "segment": 0}), "segment is not a number from 1"),
        (json.dumps({**GOOD, "segment": True}), "segment is not a number from 1"),
        (json.dumps({**GOOD, "kind": 1}), "not texts"),
        (json.dumps({**GOOD, "hypothesis": [1, 0]}), "ends before it begins"),
        (json.dumps({**GOOD, "hypothesis": [1]}), "not enough values"),
        (json.dumps({**GOOD, "source": [-1]}), "source is not a list of positions"),
        (json.dumps({**GOOD, "source": [1.0]}), "source is not a list of positions"),
        ('{"segment": 1}', "'hypothesis' is missing"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_malformed_lines_are_named(tmp_path, line, message):
    path = tmp_path / "gold.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n{line}\n")
    with pytest.raises(DataError, match=r"gold\.jsonl: line 2: is not a line") as caught:
        list(read_gold_errors(path))
    assert message in str(caught.value)
