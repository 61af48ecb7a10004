"""Errors of whole outputs: found where they were planted, and nowhere else."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from coverage_eval.checks.check import combine
from coverage_eval.core.batches import Row, Texts
from coverage_eval.core.errors import Finding
from coverage_eval.core.texts import read_parallel
from coverage_eval.outputs.output_errors import (
    KINDS,
    OutputError,
    OutputErrorFinder,
    error_findings,
    find_output_errors,
)
from coverage_eval.outputs.parsed_segment import Vocabulary
from tests.grammar import generate
from tests.outputs.language_model_rows import RIGHTLY_EQUAL, PlantedRow, plant

PAIRS = [
    (" ".join(pair.source), " ".join(pair.target)) for pair in generate(1200, seed=4)
]  # more than half of them have more than six words
ROWS = plant(PAIRS[:600], "en")


def kinds_of(finder: OutputErrorFinder, row: Row) -> list[str]:
    (errors,) = finder.find_row(row)
    return [error.kind for error in errors]


def check_planted(rows: list[PlantedRow], *, joined: bool = False, truncated: float = 0.8) -> None:
    """All are found but some of the halved outputs, and hardly a good one."""
    if joined:  # as tables are read
        rows = [row._replace(output=" ".join(row.output.split())) for row in rows]
    finder = OutputErrorFinder.learn([row.row for row in rows])
    found, planted, false = Counter[str](), Counter[str](), []
    for row in rows:
        kinds = kinds_of(finder, row.row)
        planted[row.kind] += 1
        found[row.kind] += row.kind in kinds
        if not row.kind and kinds:
            false.append((row, kinds))
    assert not [row for row, _ in false if row.source in RIGHTLY_EQUAL]
    assert len(false) <= 0.01 * planted[""], false
    for kind in KINDS:
        assert found[kind] >= (truncated if kind == "truncated" else 1) * planted[kind], kind


@pytest.mark.parametrize("joined", [False, True])
def test_planted_errors_are_found(joined):
    check_planted(ROWS, joined=joined)
    check_planted(plant([pair[::-1] for pair in PAIRS[:600]], "de", seed=1), joined=joined)


@pytest.mark.parametrize(
    ("corpus", "part", "source", "target"),
    [
        ("multi30k-de-en", "test_2016_flickr", "de", "en"),
        ("multi30k-de-en", "test_2016_flickr", "en", "de"),
        ("small-enja", "test", "en", "ja"),
        ("small-enja", "dev", "ja", "en"),
    ],
)
def test_planted_errors_are_found_in_real_text(shared, corpus, part, source, target):
    files = [shared / "data" / corpus / f"{part}.{language}" for language in (source, target)]
    rows = plant(list(read_parallel(*files))[:500], target)  # type: ignore[arg-type]
    check_planted(rows, truncated=0.75 if target == "ja" else 0.8)  # of eight words on average


def test_real_systems_and_people_have_none_but_short_outputs(shared):
    lines = (shared / "data/wmt23-en-de/outputs.tsv").read_text("utf-8").split("\n")[1:-1]
    rows = [line.split("\t") for line in lines]
    for system in sorted({row[0] for row in rows}):
        own = [Row((row[3],), (), row[2]) for row in rows if row[0] == system]
        finder = OutputErrorFinder.learn(own)
        found = Counter(kind for row in own for kind in kinds_of(finder, row))
        # Of one system's, four outputs have half of the usual length, and raters marked omissions.
        assert found == ({"truncated": 4} if system == "NLLB_MBR_BLEU" else {}), system


def finder_of(rows: list[Row]) -> OutputErrorFinder:
    return OutputErrorFinder.learn([*rows, *(Row((t,), (), s) for s, t in PAIRS[:300])])


@pytest.mark.parametrize(
    ("source", "output", "kind"),
    [
        ("...", "", ""),
        ("Guten Tag", "!?", "empty"),
        ("der Mann sucht den Hund", "Der Mann sucht den Hund", "untranslated"),
        ("Maria Montessori", "Maria Montessori", ""),
        ("siehe https://example.org/der-mann-sucht", "https://example.org/der-mann-sucht", ""),
        ("Tut mir leid, das kann ich nicht.", "Sorry, I can't do that.", ""),
        ("der mann sieht den hund", "I'm sorry, but I can't translate it.", "refusal"),
        ("der mann sieht den hund", "I'm sorry, but I can't do that, and nobody can.", "refusal"),
        ("przykro mi , ale nie moge tego zrobic", "I'm sorry, but I can't see the dog", ""),
        ("** wichtig **", "** important **", ""),
        ("der Hund", "**the dog**", "markup"),
        ("der Hund schläft", '"the dog sleeps"', "markup"),
        ("der Hund schläft", " “The dog” is “sleeping”\n", "markup"),
        ("der Hund 'schläft'", '"the dog sleeps"', ""),
        ("– der Hund schläft", '"the dog sleeps"', ""),
        ("der `Hund` schläft", "``` the dog sleeps ```", "markup"),
        ("der `Hund` schläft", "the ``dog`` sleeps", ""),
        ("```der Hund schläft```", "``` the dog sleeps ```", ""),
        ("der Hund schläft", 'the "dog sleeps"', ""),
        ("2 * 3 ** 4 ** 5", "2 * 3 ** 4 ** 5", ""),
        ("der ____ Hund", "the _____ dog", ""),
        ("der Hund schläft", "<translation>the dog sleeps</translation>", "special-token"),
        ("ja ja ja ja ja ja ja ja", "yes yes yes yes yes yes yes yes", ""),
        ("guten tag, herr. guten tag, herr.", "good day to you, sir. good day to you, sir.", ""),
        ("Er geht, und er geht.", "he walks away now he walks away now", ""),
        ("guten tag, herr.", "good day to you, sir. good day to you, sir.", "loop"),
        ("ja", "yes yes yes yes yes yes yes yes", "loop"),
        ("der alte mann", "старый человек", "wrong-language"),
        ("der hund schläft heute", "der hund schläft heute (the dog sleeps)", "untranslated"),
        ("der Mann : der Hund schläft", "Sure, here you are: the man : the dog sleeps", "preamble"),
        ("der alte mann sucht heute den hund .", "Sorry, I can't do that.", "refusal"),
        ("der mann sieht den hund", "i 'm sorry , but i cannot translate this text .", "refusal"),
        ("der mann sieht den hund", "i &apos;m sorry , but i can not help with it .", "refusal"),
        ("der mann sieht den hund", "sorry , i ca n't help with this request .", "refusal"),
        ("der mann sieht den hund", "申し訳 あり ませ ん が 、 翻訳 でき ませ ん 。", "refusal"),
        ("der mann sieht den hund", "很 抱歉 ， 我 无法 翻译 这 句 话 。", "refusal"),
        ("der mann sagt heute : i can 't .", "i 'm sorry , but i can 't , says the text", ""),
        ("der hund schläft heute .", "the dog sleeps . translator 's note : literal", "note"),
        ("der hund schläft heute .", "</s>", "empty"),
        ("der hund schläft heute .", "the dog sleeps today .<|im_end|>", "special-token"),
        ("der hund schläft heute .", "English: the dog sleeps today .", "preamble"),
        ("Englisch: der hund schläft heute .", "English: the dog sleeps today .", ""),
        ("sudo apt-get install der hund", "sudo apt-get install der hund", ""),
        ("for (mann in hund) { return mann; }", "for (mann in hund) { return mann; }", ""),
        ("der mann (alt) sucht den hund .", "der mann (alt) sucht den hund .", "untranslated"),
    ],
)  # fmt: skip
def test_single_outputs(source, output, kind):
    row = Row((output,), (), source)
    assert kinds_of(finder_of([row]), row)[:1] == ([kind] if kind else [])


def test_unknown_words_of_a_system_are_learnt_not_listed():
    """A habit in a language that no list has, and one that its sources explain."""
    habit = "Tässä se tulee nyt : "
    rows = [Row((habit + t,), (), s) for s, t in PAIRS[300:306]]
    finder = finder_of(rows)
    assert all(kinds_of(finder, row) == ["preamble"] for row in rows)
    rows = [Row((t,), (), s) for s, t in PAIRS[:30] for _ in range(3)]  # sources that come again
    assert not any(kinds_of(OutputErrorFinder.learn(rows), row) for row in rows)
    rows = [Row((habit + t,), (), "anbei folgt : " + s) for s, t in PAIRS[300:306]]
    finder = finder_of(rows)
    assert not any(kinds_of(finder, row) for row in rows)


def test_outputs_in_another_language_are_found_among_few_and_many():
    """A tenth of 200, one of two, and the only one beside a reference or a model's words."""
    long = [target for _, target in PAIRS if len(set(target.split())) >= 8][:200]
    other = "un vieux monsieur dort souvent dans sa petite maison {} ."
    mixed = [text if n % 10 else other.format(n) for n, text in enumerate(long)]
    sources = [f"これ は 文 {n} です" for n in range(len(long))]
    known = frozenset(" ".join(long).split())
    beside: list[tuple[list[Row], Vocabulary | None]] = [
        ([Row((text,), (), s) for text, s in zip(mixed, sources, strict=True)], None),
        ([Row((t,), (r,), s) for t, r, s in zip(mixed, long, sources, strict=True)], None),
        ([Row((t,), (r,)) for t, r in zip(mixed, long, strict=True)], None),
        ([Row((mixed[0],), (), sources[0])], (known, known)),
        ([Row((mixed[0],), (), sources[0], (long[0], long[1]))], None),
    ]
    for rows, vocabulary in beside:
        finder = OutputErrorFinder.learn(rows, vocabulary)
        kinds = [[error.kind for error in finder.find_row(row)[0]] for row in rows]
        named = [n for n, some in enumerate(kinds) if "wrong-language" in some]
        assert named == list(range(0, len(rows), 10))


def test_without_a_source_only_the_output_is_judged():
    outputs = [
        "", "a house", "**a dog**", "no " * 30, "I'm sorry, but I can't do that",
        "वह धीरे धीरे धीरे", "the red house by the old river " * 40,
    ]  # fmt: skip
    rows = [Row((text,)) for text in outputs]
    finder = OutputErrorFinder.learn(rows)
    found = [" ".join(kinds_of(finder, row)) for row in rows]
    assert found == ["empty", "", "markup", "loop", "", "wrong-language", "loop"]
    blank = [Row(("",), ("",)), Row(("",), ("a house",))]
    assert [kinds_of(finder, row) for row in blank] == [[], ["empty"]]


def test_findings_count_and_name_the_first_segments():
    dataset = Texts.from_lists(
        {"good": [t for _, t in PAIRS[:600]], "llm": [row.output for row in ROWS]},
        sources=[s for s, _ in PAIRS[:600]],
    )
    dataset_sources = [row.source for row in ROWS]
    assert dataset_sources[len(RIGHTLY_EQUAL) :] == [s for s, _ in PAIRS[len(RIGHTLY_EQUAL) : 600]]
    found = find_output_errors(dataset)
    assert found == find_output_errors(dataset, jobs=2)
    findings = error_findings(found, 600)
    assert {finding.texts for finding in findings} == {("llm",)}
    empty = [number for number, row in enumerate(ROWS, start=1) if row.kind == "empty"]
    (said,) = (finding.message for finding in findings if "(empty)" in finding.message)
    first = ", ".join(map(str, empty[:5]))
    assert said == (
        "llm: 6 of 600 outputs have no words where other texts have some (empty): segments "
        f"{first} and 1 more"
    )
    several = error_findings({"one": found["llm"], "other": found["llm"]}, 600)
    joined = [item for item in combine(several) if len(item.texts) > 1]
    assert len(joined) == len(findings) - 1  # a command that strips marks is of one file
    (said,) = (finding.message for finding in joined if "(empty)" in finding.message)
    assert said == (
        f"one (6 of 600: segments {first} and 1 more), other (6 of 600: segments {first} and 1 "
        "more): outputs have no words where other texts have some (empty)"
    )
    few = {"llm": {7: [OutputError("truncated", "30% of the usual length")]}}
    assert not error_findings(few, 600)  # correct outputs may look like it
    assert all(str(*found["llm"][number - 1]) == "empty" for number in empty)


@pytest.mark.parametrize("check", ["unknown-words", "blank", "shifted"])
@pytest.mark.parametrize("kind", ["untranslated", "empty", "refusal"])
def test_copies_explain_words_of_another_language_and_empty_outputs_blanks(kind, check):
    """In the output itself, and in no other; nothing explains that lines are shifted."""
    (named,) = error_findings({"llm": {7: [OutputError(kind)]}}, 10)
    others = [Finding.of_text(name, "seen", "look at it", check) for name in ("llm", "good")]
    (left,) = (f for f in combine([named, *others]) if f.kind == check)
    is_explained = (kind, check) in {
        ("untranslated", "unknown-words"),
        ("empty", "blank"),
    }
    assert left.texts == (("good",) if is_explained else ("llm", "good"))


@pytest.mark.parametrize(
    ("said", "sources"),
    [
        ("oh my god .", ["ach du lieber !", "herrje !", "meine güte !", "um himmels willen !"]),
        ("thank you .", ["danke .", "merci .", "vielen dank .", "ich danke dir ."]),
    ],
)
@pytest.mark.parametrize("more", [False, True])
def test_synonyms_of_subtitles_are_neither_refusals_nor_preambles(said, sources, more):
    """Alone, and before a line; a refusal of as many other lines is one."""
    others = [Row((t,), (), s) for s, t in PAIRS[:300]]
    after = PAIRS[400:412] if more else [("", "")] * 12
    rows = [
        Row((f"{said} {target}".strip(),), (), f"{sources[n % 4]} {source}".strip())
        for n, (source, target) in enumerate(after)
    ]
    finder = OutputErrorFinder.learn([*others, *rows])
    assert not any(kinds_of(finder, row) for row in rows)
    rows = [Row((f"{said} {target}".strip(),), (), source) for (_, target), (source, _) in
            zip(after, PAIRS[400:412], strict=True)]  # fmt: skip
    finder = OutputErrorFinder.learn([*others, *rows])
    kind = "preamble" if more else "refusal"
    assert sum(kinds_of(finder, row)[:1] == [kind] for row in rows) >= 11


def test_a_sentence_of_usual_length_said_of_a_tenth_of_the_sources_is_a_refusal():
    """Its lengths are as those of translations; but no word of the sources is in half of them."""
    said = "the old man sees the small house today ."
    rows = [Row((t,), (), s) for s, t in PAIRS[:450]]
    as_long = [s for s, _ in PAIRS[450:] if abs(len(s) - len(said)) <= 9][:50]
    constant = [Row((said,), (), source) for source in as_long]
    finder = OutputErrorFinder.learn([*rows, *constant])
    assert all(kinds_of(finder, row) == ["refusal"] for row in constant)
    assert not any("refusal" in kinds_of(finder, row) for row in rows)
    # Fifty translations of sources that have a word in common are none.
    alike = [Row((said,), (), f"der alte mann {source}") for source in as_long]
    finder = OutputErrorFinder.learn([*rows, *alike])
    assert not any("refusal" in kinds_of(finder, row) for row in alike)


@pytest.mark.parametrize(
    "text", ["a $ 5 fee , a $ 6 fee , a $ 7 fee , a $ 8 fee , a $ 9 fee", "hey hey hey hey hey hey",
             "in 1990 , in 1991 , in 1992 , in 1993 , in 1994 , in 1995 , in 1996 , in 1997 ,"],
)  # fmt: skip
def test_a_loop_that_the_reference_has_is_none(text):
    """With a source that lacks it, and without a source."""
    finder = finder_of([])
    source = "das sagt er , und mehr davon"
    for given in (source, None):
        assert kinds_of(finder, Row((text,), (text,), given)) == []
        assert "loop" in kinds_of(finder, Row((f"{text} " * 9,), (text,), given))
    assert "loop" in kinds_of(finder, Row(("hey " * 9,), ("hey you",), None))


def _words_drawn(seed: int) -> str:
    """One to three words that no text here has."""
    chance = Random(seed)
    return " ".join(
        "".join(chance.choices("bdfgkpqvwxz", k=5)) for _ in range(chance.randint(1, 3))
    )


@pytest.mark.parametrize("has_source", [True, False])
@pytest.mark.parametrize("compared", ["reference", "system", "peer"])
def test_words_that_most_outputs_begin_or_end_with_and_no_other_text_has_are_named(
    has_source, compared
):
    """The other text is another's, without every third of its words; its heads may be common."""
    for seed, (kind, share) in enumerate(
        [("preamble", 1), ("note", 1), ("preamble", 0.6), ("note", 0.6)]
    ):
        said = _words_drawn(seed)
        rows, padded = [], []
        for number, (source, target) in enumerate(PAIRS[:60]):
            other = " ".join(word for n, word in enumerate(target.split()) if n % 3 < 2)
            padded.append(number % 5 < 5 * share)
            text = target
            if padded[-1]:
                text = f"{said} {target}" if kind == "preamble" else f"{target} {said}"
            rows.append(
                Row(
                    (text, other) if compared == "system" else (text,),
                    (other,) if compared == "reference" else (),
                    source if has_source else None,
                    (other,) if compared == "peer" else (),
                )
            )
        finder = OutputErrorFinder.learn(rows)
        for row, is_padded in zip(rows, padded, strict=True):
            kinds, *of_others = [
                [error.kind for error in errors] for errors in finder.find_row(row)
            ]
            assert (kind in kinds) == is_padded, row
            assert all({"preamble", "note"}.isdisjoint(of_other) for of_other in of_others)


@pytest.mark.parametrize(
    ("output", "other"),
    [
        ("the movie was {}", "the film was {}"),  # another word in the same place
        ("{} these days", "{} today"),
        ("the {}", "{}"),  # a word that the others have elsewhere
        ("{} .", "{}"),  # no word
        ("the {}", "der hund"),  # another language
        ("well {}", ""),  # no text to be compared with
        ("{}です", "{}だ"),  # an ending
    ],
)
def test_other_words_for_the_same_are_no_preambles(output, other):
    rows = [
        Row((output.format(target), other.format(f"{target} the {target}")), (), source)
        for source, target in ((source, target.rstrip(" .!?")) for source, target in PAIRS[:60])
    ]
    finder = OutputErrorFinder.learn(rows)
    for row in rows:
        assert {"preamble", "note"}.isdisjoint(e.kind for e in finder.find_row(row)[0])


@pytest.mark.parametrize("share", [1, 0.6])
@pytest.mark.parametrize(("kind", "form"), [("preamble", "{} {}"), ("note", "{1} {0}")])
def test_words_that_a_model_lacks_are_padding_of_a_single_system_too(kind, form, share):
    sources, targets = ([*side] for side in zip(*PAIRS[:60], strict=True))
    words = [frozenset(" ".join(side).split()) for side in (sources, targets)]
    is_padded = [number % 5 < 5 * share for number in range(len(targets))]
    rows = [
        Row((form.format("xyzzy !", target) if padded else target,), (), source)
        for source, target, padded in zip(sources, targets, is_padded, strict=True)
    ]
    known = (words[0], words[1])
    finder = OutputErrorFinder.learn(rows, known)
    assert [kind in kinds_of(finder, row) for row in rows] == is_padded
    said = [row._replace(source=f"xyzzy {row.source}") for row in rows]
    lacks_most = (words[0], frozenset(targets[0].split()[:1]))
    for learnt, vocabulary in (
        (said, known), (rows, (words[0], words[1] | {"xyzzy"})), (rows, lacks_most), (rows, None)
    ):  # fmt: skip
        finder = OutputErrorFinder.learn(learnt, vocabulary)
        assert not any(kind in kinds_of(finder, row) for row in learnt)
