"""A finder as part of a pipeline: pairs in, probabilities and reasons out."""

from __future__ import annotations

import json
from itertools import islice

import pytest

import coverage_eval as ce
from coverage_eval.core.errors import DataError
from coverage_eval.coverage.omission_finder import CERTAIN
from tests.grammar import generate

PAIRS = [(" ".join(pair.source), " ".join(pair.target)) for pair in generate(60, seed=2)]
GERMAN = "der hund läuft mit einem roten hut über die wiese und springt in den kleinen see"
HALF = "the dog runs with a red hat über die wiese und springt in den kleinen see"


@pytest.fixture(scope="module")
def pairs():
    half = [(source, " ".join(output.split()[: len(output.split()) // 2])) for source, output in
            PAIRS[:10]]  # fmt: skip
    odd = [(PAIRS[10][0], ""), (PAIRS[11][0], None), (PAIRS[12][0], "I cannot translate this.")]
    return [*half, *odd, *PAIRS[13:]]


def test_pairs_are_judged_as_lists_and_as_the_command_does(special, pairs, tmp_path, run_cli):
    finder = ce.OmissionFinder(special)
    checked = list(finder.check(iter(pairs)))
    sources, outputs = map(list, zip(*pairs, strict=True))
    found = finder.find_texts(outputs, sources)
    assert [one.probability for one in checked] == [one.probability for one in found]
    assert [one.reasons for one in checked] == [one.reasons for one in found]
    assert {one.reasons[0] for one in checked[10:12]} == {"empty"}
    assert [one.probability for one in checked[10:12]] == [CERTAIN, CERTAIN]
    assert checked[12].reasons[0].startswith("refusal") or checked[12].reasons == ("omission",)
    special.save(tmp_path / "m.model")
    lines = [json.dumps({"src": source, "mt": output}) for source, output in pairs]
    (tmp_path / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")
    bad = tmp_path / "bad.jsonl"
    run_cli(
        "omissions", f"{tmp_path}/t.jsonl:mt", "-s", f"{tmp_path}/t.jsonl:src",
        "--model", str(tmp_path / "m.model"), "--reject", str(bad),
    )  # fmt: skip
    rejected = [json.loads(line) for line in bad.read_text(encoding="utf-8").splitlines()]
    of_check = [one for one in checked if one.reasons]
    assert [row["reason"] for row in rejected] == ["; ".join(one.reasons) for one in of_check]
    assert [row["probability"] for row in rejected] == pytest.approx(
        [one.probability for one in of_check]
    )
    assert None in [row["mt"] for row in rejected]  # as it was


def test_spans_are_characters_of_the_source(special, pairs):
    checked = list(ce.OmissionFinder(special).check(pairs))
    for (source, _), one in zip(pairs, checked, strict=True):
        for start, end in one.spans:
            assert source[start:end] == source[start:end].strip()
            assert 0 <= start < end <= len(source)
    assert checked[10].spans == ((0, len(pairs[10][0])),)


def test_an_adapted_finder_judges_one_pair_as_it_judges_many(special, pairs):
    finder = ce.OmissionFinder(special).adapt_to(pairs)
    many = list(finder.check(pairs))
    assert [one for pair in pairs for one in finder.check([pair])] == many
    assert many == list(ce.OmissionFinder(special).check(pairs))
    assert not list(finder.check([]))
    with pytest.raises(DataError, match="no segments to adapt to"):
        ce.OmissionFinder(special).adapt_to([])


def test_a_text_of_which_every_output_is_cut_short_has_marks(special):
    """So many errors are expected there that the weakest run is probably one."""
    pairs = [(" ".join(pair.source), pair.target[:2]) for pair in generate(1500, seed=3)]
    cut = [(source, " ".join(output)) for source, output in pairs]
    finder = ce.OmissionFinder(special).adapt_to(cut)
    assert finder.nulls[0].min_strength(12) == 0
    assert all(one.spans for one in finder.check(cut) if one.reasons)


def test_a_stream_is_read_as_it_is_used(special):
    read = 0

    def endless():
        nonlocal read
        while True:
            read += 1
            yield PAIRS[read % len(PAIRS)]

    finder = ce.OmissionFinder(special).adapt_to(PAIRS)
    assert len(list(islice(finder.check(endless()), 100))) == 100
    assert read < 5000


def test_source_words_left_untranslated_are_marked(special):
    finder = ce.OmissionFinder(special)
    *_, checked = finder.check([*PAIRS, (GERMAN, HALF)])
    assert checked.reasons[0].startswith("untranslated")
    assert checked.probability == CERTAIN
    (span,) = checked.spans
    assert GERMAN[slice(*span)] == "über die wiese und springt in den kleinen see"
