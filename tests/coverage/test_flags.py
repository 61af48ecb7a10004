"""One figure and one flag, whoever asks: for one system and many, alone and beside others."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import coverage_eval as ce
from coverage_eval.comparison.evidence import flagged_segments
from coverage_eval.comparison.report.html import make_report
from coverage_eval.core.batches import Texts
from coverage_eval.core.counting import count
from coverage_eval.core.texts import read_segments
from coverage_eval.coverage.omission_finder import OmissionFinder
from coverage_eval.coverage.omissions import Additions, FittedFinder, Omissions, UncoveredWords
from coverage_eval.coverage.training import train_for_omissions
from coverage_eval.outputs.output_errors import find_output_errors
from coverage_eval.spark import Job
from tests.comparison.test_report_data import read_blocks
from tests.coverage.conftest import measured
from tests.coverage.test_peers import BAD, PEERS, SOURCES, TARGETS, corrupt

SYSTEMS = {
    "bad": [*BAD[:-2], "", SOURCES[-1]],
    "right": TARGETS,
    "one": PEERS[0],
    "two": PEERS[1],
    "added": corrupt("addition", 5)[0],
}


@pytest.mark.parametrize("kind", [Omissions, Additions])
def test_other_systems_change_no_figure(special, kind: type[UncoveredWords]):
    together = measured(Texts.from_lists(SYSTEMS, None, SOURCES), o=kind(special))
    for name, outputs in SYSTEMS.items():
        alone = measured(Texts.from_lists({name: outputs}, None, SOURCES), o=kind(special))
        assert together.statistics_of("o", name).tolist() == alone.statistics_of("o").tolist()


def test_a_figure_is_a_formula_of_sums(special):
    """Score less what complete translations score; all words of what translates nothing."""
    result = measured(Texts.from_lists(SYSTEMS, None, SOURCES), o=Omissions(special))
    model = OmissionFinder(special).model
    found = OmissionFinder(special).find_texts(SYSTEMS["bad"], SOURCES)
    words = [len(source.split()) for source in SOURCES]
    usual = model.null.usual_scores(np.array(words))
    lost = [max(0.0, one.score - n) for one, n in zip(found, usual, strict=True)]
    expected = np.minimum(lost, words)
    expected[-2:] = words[-2:]
    for n, one in enumerate(found):
        if one.is_certain:
            expected[n] = words[n]
    assert [one.uncovered for one in found] == pytest.approx(expected)
    assert result.score("o", "bad").score == pytest.approx(100 * expected.sum() / sum(words))


def test_a_text_that_comes_twice_is_judged_as_one_that_comes_once(special):
    for kind in (Omissions, Additions):
        once, twice = (
            measured(Texts.from_lists({"x": BAD * n}, None, SOURCES * n), o=kind(special))
            for n in (1, 2)
        )
        assert twice.score("o").score == pytest.approx(once.score("o").score)
        one, two = once.fitted["o"], twice.fitted["o"]
        assert isinstance(one, FittedFinder)
        assert isinstance(two, FittedFinder)
        assert one.finder.nulls == two.finder.nulls


def test_certain_errors_raise_no_other_probability(special):
    """Beside 20 empty outputs, the others keep theirs."""
    outputs = ["" if n % 10 == 0 else text for n, text in enumerate(TARGETS)]
    whole = OmissionFinder(special).find_texts(TARGETS, SOURCES)
    found = OmissionFinder(special).find_texts(outputs, SOURCES)
    pairs = [(a, b) for a, b in zip(whole, found, strict=True) if not b.is_certain]
    assert len(pairs) == 180
    before, after = sum(a.probability for a, _ in pairs), sum(b.probability for _, b in pairs)
    assert after == pytest.approx(before, rel=0.1)


def test_all_who_ask_get_the_same_flags(special, tmp_path: Path, run_cli, monkeypatch):
    """Python, command, table, JSON, filter, gate, comparison, report and a job of Spark."""
    monkeypatch.chdir(tmp_path)
    special.save("m")
    Path("src").write_text("\n".join(SOURCES) + "\n")
    for name, outputs in SYSTEMS.items():
        Path(name).write_text("\n".join(outputs) + "\n")
    compared = ce.compare(SYSTEMS, None, SOURCES, special, metrics=["omissions"], resamples=0)
    page = read_blocks(make_report(compared).html)
    for name in ("bad", "right", "added"):
        outputs, finder = SYSTEMS[name], OmissionFinder(special)
        found = finder.find_texts(outputs, SOURCES)
        flags = [one.is_flagged for one in found]
        peers = [other for key, other in SYSTEMS.items() if key != name]
        assert [one.is_flagged for one in finder.find_texts(outputs, SOURCES, peers=peers)] == flags
        checked = finder.check(zip(SOURCES, outputs, strict=True))
        assert [one.is_flagged for one in checked] == flags
        assert flagged_segments(compared.result, "omissions", name).tolist() == flags
        explained = compared.result.explanations_of("omissions", name)
        assert [bool(one.detail["reason"]) for one in explained] == flags
        assert page[f"flags/Omissions/{name}"] == flags
        command = ("omissions", name, "--src", "src", "--model", "m")
        run_cli(*command, "--sentence-level", "-o", "all.csv")
        with Path("all.csv").open(encoding="utf-8", newline="") as opened:
            assert [bool(row["reason"]) for row in csv.DictReader(opened)] == flags
        printed = json.loads(run_cli(*command, "--sentence-level", "-f", "json").stdout)
        assert [bool(row["reason"]) for row in printed["scores"][0]["sentences"]] == flags
        fitted = measured(Texts.from_lists({name: outputs}, None, SOURCES), o=Omissions(special))
        job = Job("output", (), source="src").with_fitted(fitted.fitted)
        batches = pa.table({"output": outputs, "src": SOURCES}).to_batches(max_chunksize=70)
        rows = [row["o"] for batch in job.score_batches(batches, "m") for row in batch.to_pylist()]
        assert [bool(row["reason"]) for row in rows] == flags
        gate = run_cli(*command, "--fail-above", "100", "--reject", "bad.jsonl")
        assert f"{sum(flags)} of 200 segments are flagged" in gate.stdout
        assert f"{sum(flags)} of 200 segments are flagged" in gate.stderr
        rejected = [
            json.loads(line)["segment"] for line in Path("bad.jsonl").read_text().splitlines()
        ]
        assert rejected == [n for n, flag in enumerate(flags, start=1) if flag]
    assert sum(flags) < 20 < sum(page["flags/Omissions/bad"])


def test_peers_change_the_ranking_of_segments_alone(special):
    alone = OmissionFinder(special).find_texts(BAD, SOURCES)
    peered = OmissionFinder(special).find_texts(BAD, SOURCES, peers=PEERS)
    assert [one.score for one in alone] != [one.score for one in peered]
    for one, other in zip(alone, peered, strict=True):
        assert (one.uncovered, one.probability) == (other.uncovered, other.probability)
        assert one.is_flagged == other.is_flagged


def test_lines_longer_than_what_a_model_knows_are_named_before_the_figure(special):
    longest = OmissionFinder(special).model.null.longest
    line = " ".join(SOURCES * 3).split()
    for words, is_named in ((longest, False), (longest + 1, True)):
        texts = Texts.from_lists({"x": TARGETS}, None, [" ".join(line[:words])] * len(TARGETS))
        found = [one.message for one in Omissions(special).check(texts.sample)]
        assert [message.startswith("200 of 200 segments have more") for message in found] == [
            True
        ] * is_named
    assert not Omissions(special).check(Texts.from_lists({"x": TARGETS}, None, SOURCES).sample)


@pytest.mark.slow
def test_figures_agree_with_peoples_labels(shared):
    """Half of WMT23 en-de, by a model of captions: the worst system, and few wrong flags."""
    file = shared / "data" / "wmt23-en-de" / "outputs.tsv"
    with file.open(encoding="utf-8", newline="") as opened:
        records = list(csv.DictReader(opened, delimiter="\t", quoting=csv.QUOTE_NONE))
    systems = list(dict.fromkeys(record["system"] for record in records))
    own = {name: [one for one in records if one["system"] == name] for name in systems}
    texts = {name: [one["output"] for one in lines] for name, lines in own.items()}
    labels = np.array([[int(one["omissions"]) > 0 for one in own[name]] for name in systems])
    captions = [
        list(read_segments(shared / "data" / "multi30k-de-en" / f"train.{side}"))[:12_000]
        for side in ("en", "de")
    ]
    with train_for_omissions(*captions, tokenize="13a") as aligner:
        sources = [one["source"] for one in own[systems[0]]]
        compared = ce.compare(texts, None, sources, aligner, metrics=["omissions"], resamples=0)
    statistics = compared.result.statistics["omissions"]
    flags, uncovered = statistics[:, :, 1] > 0, statistics[:, :, 0].sum(axis=1)
    assert flags[systems.index("refA")].mean() <= 0.03
    assert (flags & labels).sum() / flags.sum() >= 0.8
    assert uncovered.argmax() == labels.mean(axis=1).argmax()


def test_named_errors_count_as_omissions(special):
    outputs = [*TARGETS[:60], *SOURCES[60:64], "", *TARGETS[65:100]]
    texts = Texts.from_lists({"x": outputs}, None, SOURCES[:100])
    result = count(texts, {"o": Omissions(special)}, keep_texts=True)
    named = find_output_errors(texts, special)
    kinds = {n: [error.kind for error in errors] for n, errors in named["x"].items()}
    assert {n for n, own in kinds.items() if own == ["untranslated"]} >= set(range(60, 64))
    assert kinds[64] == ["empty"]
    statistics = result.statistics_of("o")[60:65]
    assert statistics[:, 0].tolist() == statistics[:, 2].tolist()
    assert result.explanations("o")[62][0].probability > 0.99
