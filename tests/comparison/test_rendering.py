"""The table as text, JSON, CSV, LaTeX, Markdown and picture: figures, marks, notes, signatures."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coverage_eval.comparison.compare import compare
from coverage_eval.comparison.external_scores import ExternalScores
from coverage_eval.comparison.gate import describe_worse, find_worse
from coverage_eval.comparison.report.picture import draw_scores
from coverage_eval.comparison.table import Comparison, comparison_report
from coverage_eval.core.formats import render
from coverage_eval.core.latex import escape_latex
from coverage_eval.core.layout import cell_lines
from coverage_eval.core.report import format_p

REFERENCES = ["a red house stands here", "the dog sleeps all day", "we saw it last year"]
SYSTEMS = {
    "soft_max": ["a red red house stands here", "the dog sleeps all day", "we saw it it it"],
    "50% & more": REFERENCES,
    "*{x}|[y]": ["a red house stands here", "the dog the dog", "we saw"],
}


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(SYSTEMS, REFERENCES, metrics=("bleu", "rep"), resamples=50, seed=1)


def test_text_has_figures_intervals_p_values_and_signatures(comparison):
    text = render(comparison_report(comparison), "text")
    lines = text.splitlines()
    assert lines[:2] == [" ".join(comparison.statements.write()), ""]
    assert re.split(r"\s{2,}", lines[2]) == ["system", "BLEU ↑", "REP ↓"]
    (row,) = (line.split() for line in lines if re.match("50% & more  ", line))
    assert row[-2:] == ["100.00", "0.00"]
    for signature in comparison.signatures.values():
        assert signature in lines
    assert "95% interval (percentile bootstrap, 50 resamples, seed 1; upper end of REP: " in text
    assert "Holm-corrected over all pairs of systems and all columns)." in text
    for system, cells in comparison.rows.items():
        for cell in cells.values():
            interval = cell.score.interval
            assert interval is not None
            assert f"{interval.low:.2f}–{interval.high:.2f}" in text
            if system != comparison.baseline:
                assert cell.adjusted is not None
                assert format_p(cell.adjusted) in text


def test_on_a_terminal_the_table_has_two_lines_of_footnote_and_no_signature():
    texts = [f"{n} {text}" for n in range(20) for text in REFERENCES]
    worse = [text.replace("red", "old old") for text in texts]
    nearly = [*texts[:-1], f"{texts[-1]} x"]
    found = compare({"all": nearly, "worse": worse}, texts, metrics=["bleu", "rep"], resamples=50)
    brief = render(comparison_report(found, signature=False), "text").splitlines()
    blank = [number for number, line in enumerate(brief) if not line]
    assert tuple(brief[: blank[0]]) == found.statements.write()
    assert brief[blank[-1] + 1 :] == [
        "*: p < 0.05.",
        "60 segments; low–high: 95% interval; p: against all, Holm-corrected for 2 tests.",
    ]  # fmt: skip
    assert str(found) == "\n".join(brief)


def test_json_has_the_schema_of_scores(comparison):
    found = json.loads(render(comparison_report(comparison, comparison.break_down()), "json"))
    assert (found["baseline"], found["segments"]) == ("soft_max", 3)
    assert (found["test"], found["resamples"], found["seed"]) == ("randomization", 50, 1)
    assert len(found["scores"]) == 6
    first, *_, last = found["scores"]
    assert (first["system"], first["metric"], first["p_value"]) == ("soft_max", "BLEU", None)
    cell = comparison.rows["*{x}|[y]"]["rep"]
    assert last["score"] == cell.score.score
    assert last["signature"] == str(cell.score.signature)
    assert last["confidence"]["level"] == 0.95
    assert (last["difference"], last["p_value"]) == (cell.difference, cell.p_value)
    assert (last["p_value_holm"], last["best"]) == (cell.adjusted, False)
    names = [table["name"] for table in found["breakdowns"]]
    assert names == ["output-position", "repeated-ngrams"]
    assert found["breakdowns"][1]["rows"][0]["system"] == "soft_max"


def test_csv_has_a_row_for_each_system_and_metric(comparison):
    rows = list(csv.DictReader(io.StringIO(render(comparison_report(comparison), "csv"))))
    assert [(row["system"], row["metric"]) for row in rows] == [
        (system, name) for system in SYSTEMS for name in ("BLEU", "REP")
    ]
    assert float(rows[1]["score"]) == comparison.rows["soft_max"]["rep"].score.score
    assert rows[0]["p"] == ""
    assert rows[2]["p_holm"] == str(comparison.rows["50% & more"]["bleu"].adjusted)
    assert [row["better"] for row in rows[:2]] == ["higher", "lower"]
    assert [row["best"] for row in rows] == ["no", "no", "yes", "yes", "no", "no"]


def test_latex_has_escaped_names_and_a_caption_without_advice(comparison):
    text = render(comparison_report(comparison), "latex")
    for part in (
        r"\begin{tabular}{lrr}",
        r" & BLEU$\uparrow$ & REP$\downarrow$ \\",
        r"50\% \& more & 100.00 & 0.00 \\",  # no test tells them from the next
        r"soft\_max & ",
        r"{}*\{x\}\textbar{}[y] & ",
        r"\bottomrule",
        r"\caption{BLEU and REP scores. 3 segments; "
        r"low\textendash{}high: 95\% interval (bootstrap, 50 resamples); tests against soft\_max",
        r"REP\textbar\allowbreak{}refs:1\textbar\allowbreak{}n:2\textbar\allowbreak{}w1:1.0",
    ):
        assert part in text
    assert r"\textbf" not in text
    assert "$p" not in text
    plain = comparison.to_latex(signatures=False)
    assert r"\allowbreak" not in plain
    assert "\n% REP|refs:1|n:2|w1:1.0" in plain


def test_a_figure_is_bold_if_a_test_tells_it_from_the_next():
    """BLEU of the first is best by far; by REP the two that never repeat are alike."""
    texts = [f"{n} {text}" for n in range(20) for text in REFERENCES]
    worse = [text.replace("dog", "dog dog") for text in texts]
    systems = {"repeats": worse, "good": texts, "short": [text[:-2] for text in texts]}
    how = {"metrics": ("bleu", "rep"), "seed": 1}
    tested = compare(systems, texts, **how, resamples=200)
    text = render(comparison_report(tested), "latex")
    assert r"good & \textbf{100.00}" in text
    assert text.count(r"\textbf") == 1
    assert r"\rlap{$^{*}$}" in text
    assert "Bold: best figure, told from the next by a test." in text
    assert [*tested.order] == ["short", "repeats", "good"]  # the last is the reference
    untested = render(comparison_report(compare(systems, texts, **how, resamples=0)), "latex")
    assert untested.count(r"\textbf") == 3
    assert "Bold: best figure. " in untested


_SPECIAL = re.compile(r"(?<!\\)[#$%&_^~]")


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_escaped_text_has_no_special_character_and_balanced_braces(text):
    escaped = re.sub(r"\$\\(times|uparrow|downarrow|alpha|beta)\$", "", escape_latex(text))
    assert not _SPECIAL.search(escaped)
    bare = re.sub(r"\\[{}]", "", escaped)
    depth = 0
    for character in bare:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    commands = set(re.findall(r"\\(?:[a-z]+|.)", escaped))
    known = {"textbackslash", "textasciicircum", "textasciitilde", "textless", "textgreater",
             "textbar", "char", *"{}$&#%_"}  # fmt: skip
    assert commands <= {f"\\{name}" for name in known}
    assert "--" not in escaped
    assert "\n" not in escaped


def test_figures_that_a_test_tells_apart_are_printed_with_digits_that_do():
    """No "0.00*" stands beside "0.00", in the table, the gate, the page or the picture."""
    texts = [f"words of {n}" for n in range(40)]
    values = {"a": [0.001] * 40, "b": [0.004] * 40, "c": [0.001] * 40, "d": [0.2] * 40}
    found = compare(
        dict.fromkeys(values, texts), [f"the {text}" for text in texts], resamples=400, seed=1,
        metrics=[ExternalScores("wer", values, higher_is_better=False)],
    )  # fmt: skip
    cells = [found.score_cell("wer", system) for system in found.rows]
    assert [cell_lines(cell, 2)[0] for cell in cells] == ["0.001", "0.004", "0.001", "0.20"]
    assert [cell.significant for cell in cells] == [False, True, False, True]
    (told, _) = describe_worse(found, find_worse(found, {"wer": 0.0}))
    assert told.startswith("b is worse than a: wer 0.004 against 0.001 (+0.003, ")
    drawn = draw_scores(found, "wer", None).rows
    assert [row[0].figure for row in drawn.values()] == ["0.001", "0.001", "0.004", "0.20"]
    (axes,) = found.plot_differences()
    assert [text.get_text() for text in axes.texts[:3]] == ["+0.20*", "+0.003*", "+0.00"]
