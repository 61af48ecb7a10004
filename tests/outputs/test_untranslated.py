"""Text that is left in the source's language: planted in many ways, and what translations keep."""

from __future__ import annotations

import csv
import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.checks.check import check
from coverage_eval.core.batches import Row, Texts
from coverage_eval.core.texts import read_parallel
from coverage_eval.outputs.output_errors import OutputError, OutputErrorFinder, find_output_errors
from coverage_eval.outputs.parsed_segment import ParsedSegment
from coverage_eval.outputs.shared_runs import MAX_GAP, shared_runs
from coverage_eval.outputs.untranslated import MAX_RUNS
from tests.grammar import generate

PAIRS = [(" ".join(pair.source), " ".join(pair.target)) for pair in generate(400, seed=3)]

SOURCE = (
    "Die Regierung hat gestern beschlossen, dass die Steuern im nächsten Jahr nicht erhöht werden."
)
TARGET = "The government decided yesterday that taxes will not be raised next year."


def left_in(output: str, source: str, *references: str, others: tuple[str, ...] = ()) -> list[str]:
    """What the first of some systems leaves untranslated, learnt from nothing but this segment."""
    row = Row((output, *others), references, source)
    found = OutputErrorFinder.learn([row]).find_row(row)[0]
    return [error.detail for error in found if error.kind == "untranslated"]


def spoil(source: str, target: str, how: str) -> str:
    words, of_source = target.split(), source.split()
    half, of_half = len(words) // 2, len(of_source) // 2
    return {
        "all": source,
        "first half": " ".join(of_source[:of_half] + words[half:]),
        "second half": " ".join(words[:half] + of_source[of_half:]),
        "beside": f"{source} ( {target} )",
        "in capitals": source.upper(),
    }[how]


@pytest.mark.parametrize(
    ("how", "least"),
    [("all", 1), ("first half", 0.8), ("second half", 0.8), ("beside", 1), ("in capitals", 0.95)],
)
@pytest.mark.parametrize("share", [0.1, 0.6, 1])
def test_planted_parts_are_found_whatever_their_share(how, least, share):
    chosen = Random(1).sample(range(len(PAIRS)), int(share * len(PAIRS)))
    pairs = [pair for pair in PAIRS if len(pair[0].split()) >= 8]
    rows = [
        (n in chosen, Row((spoil(source, target, how) if n in chosen else target,), (), source))
        for n, (source, target) in enumerate(pairs)
    ]
    finder = OutputErrorFinder.learn([row for _, row in rows])
    found = [any(e.kind == "untranslated" for e in finder.find_row(row)[0]) for _, row in rows]
    planted = [is_planted for is_planted, _ in rows]
    assert not [
        n for n, (was, name) in enumerate(zip(planted, found, strict=True)) if name and not was
    ]
    assert sum(found) >= least * sum(planted)


def test_one_segment_is_enough():
    assert left_in(SOURCE, SOURCE, TARGET) == ["a copy of the source"]
    assert left_in(SOURCE, SOURCE) == ["a copy of the source"]
    paragraph, other = f"{SOURCE} Das ist gut.", "That is good."
    assert left_in(f"{SOURCE} {other}", paragraph)
    assert left_in(f"{TARGET} Aber das war gestern.", f"{SOURCE} Aber das war gestern.")
    assert not left_in(TARGET, SOURCE)


@pytest.mark.parametrize(
    "kept",
    ["Angela Merkel", "die Frankfurter Allgemeine Zeitung", "12,5 % und 13,7 %", "3:1, 2:0, 4:4",
     "https://example.org/die-steuern-und-die-regierung", "git commit -m 'die Steuern'",
     "Zeitgeist", "„Alle Menschen werden Brüder“", '"Alle Menschen werden Brüder"',
     "Bundesministerium für Bildung", "mail@die-steuern.de",
     "(Müller et al. 2019, Die Lage der Regierung)"],
)  # fmt: skip
def test_what_translations_keep_is_no_error(kept):
    """Names, titles, numbers, addresses, code, loanwords, quotations, citations."""
    assert not left_in(f"{TARGET} {kept}", f"{SOURCE} {kept}")


@pytest.mark.parametrize(
    "kept",
    ["angela merkel", "frankfurter allgemeine zeitung", "bundesministerium für bildung",
     "verein der freunde des zoos", "president's cup : candystripes"],
)  # fmt: skip
def test_names_in_lower_case_are_no_error_among_others(kept):
    """Nothing but the words themselves tells names there."""
    pairs = [(source.lower(), target.lower()) for source, target in PAIRS]
    long = (f"{SOURCE} {SOURCE} {kept}".lower(), f"{TARGET} {TARGET} {kept}".lower())
    rows = [Row((target,), (), source) for source, target in [*pairs, long]]
    *_, (found,) = map(OutputErrorFinder.learn(rows).find_row, rows)
    assert not found


def test_a_list_of_names_has_no_language():
    authors = "Müller A, Schmidt B, Lefèvre C, Øster D, Nakamura E, 2019; 12 (3): 4–5"
    rows = [Row((target,), (), source) for source, target in [*PAIRS, (authors, authors)]]
    *_, (found,) = map(OutputErrorFinder.learn(rows).find_row, rows)
    assert "wrong-language" not in {error.kind for error in found}


def test_a_reference_or_most_systems_excuse_a_run():
    output, said = (
        f"{TARGET} Wir schaffen das und das ist gut so.",
        "Wir schaffen das und das ist gut so.",
    )
    source = f"{SOURCE} {said}"
    assert left_in(output, source, f"{TARGET} We can do it.")
    assert not left_in(output, source, f"They decided so. {said}")
    assert not left_in(output, source, others=(f"Taxes: {said}", f"No taxes, she says. {said}"))
    assert left_in(output, source, others=(f"Taxes will stay. {said}", TARGET, f"{TARGET} Well."))


def test_of_many_runs_a_message_quotes_five():
    (detail,) = left_in(f"{TARGET} {SOURCE} " * 400, f"{SOURCE} " * 400, TARGET)
    assert detail.count("'Die Regierung hat") == 5
    assert detail.endswith(f" and {MAX_RUNS - 5} more")


def test_a_part_at_the_end_of_a_long_line_is_found():
    """The languages are learnt from the beginning, and the whole line is looked at."""
    found = left_in(f"{TARGET} " * 1000 + SOURCE, f"{SOURCE} " * 1001, f"{TARGET} " * 1001)
    assert found
    assert "Die Regierung hat" in found[0]


def test_the_spans_are_those_of_the_source_words():
    source = f"{SOURCE} Das Wetter wird morgen wieder besser."
    row = Row((f"{TARGET} Das Wetter wird morgen wieder besser.",), (), source)
    (errors,) = OutputErrorFinder.learn([row]).find_row(row)
    cut = [source[start:end] for start, end in errors[0].source_spans]
    assert cut == ["Das", "Wetter", "wird", "morgen", "wieder", "besser"]


@given(*[st.lists(st.sampled_from("abcd"), max_size=25)] * 2)
def test_shared_runs_are_in_both_texts_and_apart(output, source):
    output_words, source_words = (ParsedSegment.of(" ".join(words)) for words in (output, source))
    end = 0
    for run in shared_runs(output_words, source_words):
        assert run.start >= end
        end = run.end
        assert run.end - run.start >= 2
        ours, theirs = output[run.start : run.end], source[run.source_start : run.source_end]
        assert ours[:2] == theirs[:2]
        assert ours[-2:] == theirs[-2:]
        assert abs(len(ours) - len(theirs)) <= MAX_GAP * len(ours)
    if source and output == source and len(set(source)) > 1:
        assert shared_runs(output_words, source_words)[0][:2] == (0, len(output))


def named(systems: dict[str, list[str]], references: list[str]) -> tuple[dict[str, set[str]], str]:
    """The names of errors by system, and what is said."""
    texts = Texts.from_lists(systems, references)
    errors = find_output_errors(texts)
    kinds = {name: {e.kind for some in own.values() for e in some} for name, own in errors.items()}
    found = check(texts.sample, output_errors=errors)
    assert found == check(texts.sample)  # it has all segments
    return kinds, " ".join(finding.message for finding in found)


def test_without_a_source_references_tell_the_language():
    sources, targets = (list(texts[:60]) for texts in zip(*PAIRS, strict=True))
    other = [f"well , {target}" for target in targets]
    kinds, said = named({"s": sources, "h": other}, targets)
    assert (kinds["s"], kinds["h"]) == ({"wrong-language"}, {"preamble"})
    kinds, said = named({"h": targets, "i": other}, sources)
    assert kinds == {"h": set(), "i": set()}
    assert "in de, and the outputs are in en" in said


def test_one_long_output_does_not_tell_the_language_of_short_ones():
    references = ["a house"] * 30 + ["the garden"]
    for odd in (
        "da " * 40,
        "是" * 200,
        "x,y," * 90,
        "der große Hund läuft durch den schönen Garten",
    ):
        kinds, said = named({"h": [*references[:30], odd]}, references)
        assert kinds["h"] <= {"loop", "wrong-language"}
        assert "the outputs are in" not in said


def test_real_captions_and_paragraphs(shared):
    data = shared / "data/multi30k-de-en"
    pairs = list(read_parallel(data / "test_2016_flickr.de", data / "test_2016_flickr.en"))  # type: ignore[arg-type]
    finder = OutputErrorFinder.learn([Row((target,), (), source) for source, target in pairs])

    def has(output: str, source: str) -> bool:
        errors: tuple[OutputError, ...] = finder.find_row(Row((output,), (), source))[0]
        return not {error.kind for error in errors}.isdisjoint({"untranslated", "wrong-language"})

    assert not any(has(target, source) for source, target in pairs)
    assert sum(has(spoil(s, t, "second half"), s) for s, t in pairs) >= 0.94 * len(pairs)
    with (shared / "data/wmt23-en-de/outputs.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    finder = OutputErrorFinder.learn([Row((row["output"],), (), row["source"]) for row in rows])
    assert not any(has(row["output"], row["source"]) for row in rows)
    planted = []
    for row in rows:
        sentences, of_source = (re.split(r"(?<=[.!?]) ", row[key]) for key in ("output", "source"))
        if 1 < len(sentences) == len(of_source):
            middle = len(sentences) // 2
            sentences[middle] = of_source[middle]
            planted.append(has(" ".join(sentences), row["source"]))
    assert sum(planted) >= 7 / 8 * len(planted)
