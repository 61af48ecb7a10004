"""Outputs whose lines do not match: ``segment`` and --unaligned, from the error to a report."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from coverage_eval.core.tables import TextTable
from tests.cli.tools import on_a_terminal, write_grammar
from tests.comparison.systems import read_blocks
from tests.conftest import RunCli
from tests.grammar import generate

MISSING = {10, 11, 12, 40}
NOTE = "let me know whether you would like any further changes to this version !"
MODEL = ("--src", "src.txt", "--model", "model")
OF_DOCUMENTS = {"MissingLines", "ExtraText"}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli) -> Path:
    """A source, a reference, an output that lacks four lines, and the lines as they should be."""
    folder = tmp_path_factory.mktemp("corpus")
    write_grammar(folder, 1000, 0)
    pairs = {" ".join(p.source): " ".join(p.target) for p in generate(90, seed=3)}
    sources, targets = list(pairs)[:60], list(pairs.values())[:60]
    cut = ["" if n in MISSING else text for n, text in enumerate(targets)]
    for name, lines in (("src", sources), ("ref", targets), ("cut", cut)):
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    (folder / "out.txt").write_text("\n".join(filter(None, cut)) + "\n")
    kept = list(filter(None, cut))
    (folder / "added.txt").write_text("\n".join([" ".join(kept[:20]), *kept[20:], NOTE]) + "\n")
    train = ("align", "train", "train.source", "train.target", "--prepare-for", "omissions")
    run_cli(*train, "-o", "model", cwd=folder)
    return folder


def test_an_output_gets_the_lines_of_its_source(run_cli, corpus):
    done = run_cli("segment", "added.txt", *MODEL, cwd=corpus)
    lines = done.stdout.splitlines()
    references = (corpus / "ref.txt").read_text().splitlines()
    assert lines == ["" if n in MISSING else text for n, text in enumerate(references)]
    assert done.stderr == (
        "60 source lines: 56 have text, 4 have none (6.7%): lines 11 to 13, 41; 1 piece of "
        "the output (14 words) belongs to no line; -f tsv shows them\n"
    )
    text = (corpus / "added.txt").read_text()
    piped = run_cli("segment", "-", *MODEL, cwd=corpus, stdin=text)
    assert (piped.stdout, piped.stderr) == (done.stdout, done.stderr)


def test_a_terminal_shows_what_is_missing_and_not_the_text(corpus):
    shown, messages = on_a_terminal("segment", "added.txt", *MODEL, cwd=corpus)
    assert shown == ""
    assert "lines 11 to 13, 41" in messages
    assert "-o FILE writes the lines" in messages


@pytest.mark.parametrize("form", ["tsv", "csv", "json"])
def test_every_format_has_positions(run_cli, corpus, form):
    run_cli("segment", "added.txt", *MODEL, "-o", f"found.{form}", cwd=corpus)
    if form == "json":
        data = json.loads((corpus / "found.json").read_text())
        assert data["documents"][0]["missing"] == [[11, 13], [41, 41]]
        rows = data["pieces"]
    else:
        rows = TextTable(corpus / f"found.{form}").rows
    assert [str(row["line"]) for row in rows][:60] == [str(n) for n in range(1, 61)]
    text = (corpus / "added.txt").read_text()
    for row in rows:
        if row["text"]:
            assert text[int(row["start"]) : int(row["end"])] == row["text"]
    assert sum(not row["text"] for row in rows) == len(MISSING)
    assert rows[60]["text"] == NOTE


def test_a_reference_takes_the_place_of_a_model(run_cli, corpus):
    by_model = run_cli("segment", "added.txt", *MODEL, cwd=corpus)
    by_reference = run_cli("segment", "added.txt", "--ref", "ref.txt", cwd=corpus)
    assert by_reference.stdout == by_model.stdout
    assert by_reference.stderr == by_model.stderr.replace("source lines", "reference lines")
    assert "60 reference lines" in by_reference.stderr


def test_an_empty_document_among_others_is_data(run_cli, corpus):
    (corpus / "empty.jsonl").write_text(
        json.dumps({"s": "der mann\ndas haus", "o": ""}) + "\n"
        + json.dumps({"s": "der mann sieht das haus .", "o": "the man sees the house ."}) + "\n"
    )  # fmt: skip
    columns = ("empty.jsonl:o", "--src", "empty.jsonl:s", "--model", "model")
    done = run_cli("segment", *columns, cwd=corpus)
    assert done.stdout == "\n\nthe man sees the house .\n"
    assert "warning: row 1: the output is empty" in done.stderr
    strict = run_cli("segment", *columns, "--strict", cwd=corpus, check=False)
    assert (strict.returncode, strict.stdout) == (1, "")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("segment empty.txt", "empty.txt: the output is empty"),
        ("segment src.txt", "the output is in the source's language: it is not translated"),
        ("segment other.txt", "not a translation of its source: 0% of its words fit their line"),
        ("segment gaps.jsonl:o --src gaps.jsonl:s", "gaps.jsonl:o: row 2 is not text"),
        ("omissions gaps.jsonl:r --unaligned --src gaps.jsonl:s --ref gaps.jsonl:r",
         "gaps.jsonl:r: row 1 has 1 lines and gaps.jsonl:s has 2"),
        ("omissions gaps.jsonl:r --unaligned --src gaps.jsonl:s --ref more.jsonl:r",
         "more.jsonl:r has 3 documents and gaps.jsonl:s has 2"),
    ],
)  # fmt: skip
def test_bad_data_gets_one_line(run_cli, corpus, line, said):
    (corpus / "empty.txt").write_text("\n")
    (corpus / "other.txt").write_text("nothing of this was ever said by anybody here .\n" * 20)
    (corpus / "gaps.jsonl").write_text(
        '{"s": "der\\nmann", "r": "the man", "o": "the man"}\n{"s": "a", "r": "b", "o": null}\n'
    )
    (corpus / "more.jsonl").write_text('{"r": "a\\ndog"}\n' * 3)
    texts = ("--model", "model") if "--src" in line else MODEL
    done = run_cli(*line.split(), *texts, cwd=corpus, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("segment added.txt", "give --src FILE with --model FILE, or --ref FILE"),
        ("segment added.txt --src src.txt", "--src goes with --model FILE; 'align train' makes"),
        ("segment added.txt --ref ref.txt --model model", "--ref needs no --model"),
        ("segment src.txt --ref ref.txt -o src.txt", "is one of the input files"),
        ("segment out.txt --ref ref.txt -o cut.txt.gz", "files are written unpacked; choose a"),
        ("compare a=cut.txt --ref ref.txt -m missing-lines", "missing-lines needs --unaligned"),
    ],
)
def test_wrong_options_are_refused(run_cli, corpus, line, said):
    done = run_cli(*line.split(), cwd=corpus, check=False)
    assert done.returncode == 2
    assert said in done.stderr


def test_the_error_says_what_to_type_and_then_a_report_is_made(run_cli, corpus):
    report = ("report", "--ref", "ref.txt", *MODEL, "-m", "bleu", "-o", "report.html")
    refused = run_cli(*report, "out.txt", cwd=corpus, check=False)
    assert refused.returncode == 1
    assert "unequal numbers of lines: out.txt has 56, ref.txt has 60; line N" in refused.stderr
    assert refused.stderr.endswith("were joined, cut or left out, add --unaligned\n")
    assert refused.stderr.count("\n") == 1
    run_cli(*report, "out.txt", "--unaligned", cwd=corpus)
    assert (corpus / "report.html").stat().st_size > 1000


def test_no_hint_is_given_where_there_is_nothing_to_cut_by(run_cli, corpus):
    done = run_cli("align", "apply", "model", "src.txt", "out.txt", cwd=corpus, check=False)
    assert done.returncode == 1
    assert "unequal numbers of lines" in done.stderr
    assert "unaligned" not in done.stderr


def test_omissions_lists_passages_before_words(run_cli, corpus):
    command = ("omissions", "out.txt", *MODEL, "--unaligned", "--sentence-level", "--worst", 60)
    done = run_cli(*command, cwd=corpus)
    words = [len(line.split()) for line in (corpus / "src.txt").read_text().splitlines()]
    lines = done.stdout.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("lines 11 to 13"))
    assert f"{sum(words[10:13])} words, nothing like them in the output" in lines[first]
    assert lines[first + 1].startswith(f"line 41, {words[40]} words, nothing like it")
    assert "line 12 of lines 11 to 13" in done.stdout.split("segment", 1)[1]
    data = json.loads(run_cli(*command, "-f", "json", cwd=corpus).stdout)
    kinds = [(one["kind"], one["first"], one["last"]) for one in data["passages"]]
    assert kinds == [("passage", 11, 13), ("sentence", 41, 41)]
    score = 100 * sum(words[n] for n in MISSING) / sum(words)
    assert data["documents"] == [
        {"document": "out.txt", "score": pytest.approx(score), "extra": 0.0}
    ]
    marked = {one["segment"]: one["marks"] for one in data["scores"][0]["sentences"]}
    found = [(n, mark["kind"], mark["amount"]) for n in (11, 12, 13, 41) for mark in marked[n]]
    kinds = ("passage", "passage continued", "passage continued", "sentence")
    amounts = (sum(words[10:13]), 0.0, 0.0, words[40])
    assert found == [*zip((11, 12, 13, 41), kinds, amounts, strict=True)]
    source = (corpus / "src.txt").read_text().splitlines()[10]
    assert (marked[11][0]["start"], marked[11][0]["end"]) == (0, len(source))
    assert marked[11][0]["detail"]["last"] == 13


@pytest.fixture(scope="module")
def noted(corpus: Path) -> str:
    """An output that lacks four lines, has a preface and says its line 58 again at the end."""
    lines = [line for line in (corpus / "cut.txt").read_text().splitlines() if line]
    again = (corpus / "ref.txt").read_text().splitlines()[57]
    whole = ["Certainly, here comes what you wanted.", *lines, again]
    (corpus / "noted.txt").write_text("\n".join(whole) + "\n")
    return again


def test_passages_are_marks_of_details_and_report(run_cli, corpus, noted):
    systems = ("a=noted.txt", "b=ref.txt", "--unaligned", "--ref", "ref.txt", *MODEL)
    done = run_cli("compare", *systems, "-f", "json", cwd=corpus)
    run_cli("compare", *systems, "--sentence-level", "-o", "details.jsonl", cwd=corpus)
    scores = {(o["metric"], o["system"]): o["score"] for o in json.loads(done.stdout)["scores"]}
    words = [len(line.split()) for line in (corpus / "src.txt").read_text().splitlines()]
    missing = 100 * sum(words[n] for n in MISSING) / sum(words)
    assert scores["MissingLines", "a"] == pytest.approx(missing)
    assert scores["MissingLines", "b"] == scores["ExtraText", "b"] == 0
    _, *records = map(json.loads, (corpus / "details.jsonl").read_text().splitlines())
    marks = {
        name: [
            (one["segment"], mark["kind"], mark["side"], mark["text"])
            for one in records
            for mark in one["metrics"][name]["marks"]
        ]
        for name in OF_DOCUMENTS
    }
    kinds = ["passage", "passage continued", "passage continued", "sentence"]
    assert [mark[:3] for mark in marks["MissingLines"]] == [
        (n, kind, "source") for n, kind in zip((11, 12, 13, 41), kinds, strict=True)
    ]
    assert marks["ExtraText"] == [
        (1, "added passage", "output", "Certainly, here comes what you wanted."),
        (60, "repeated passage", "output", noted),
    ]
    run_cli("report", *systems, "-o", "report.html", cwd=corpus)
    page = (corpus / "report.html").read_text()
    assert re.search(r"has .*% of its words in no line and lacks \d+", page)
    views = (
        page.partition('<section id="documents"')[2].partition("</section>")[0].split("<details>")
    )
    rows = [re.findall(r'<tr id="d\d-1-\d+" class="(\w+)"', view) for view in views[1:]]
    assert [one.count("missing") for one in rows] == [len(MISSING), 0]
    assert [set(one) for one in rows] == [{"kept", "missing", "extra", "again"}, {"kept"}]
    blocks = read_blocks(page)
    errors = {kind["key"]: kind["error"] for kind in blocks["contents"]["kinds"]}
    assert [errors[key] for key in ("missing-text", "added-text", "repeated-text")] == [
        "omission", "addition", "repetition",
    ]  # fmt: skip
    assert blocks["segments/0"][59]["outputs"][0]["marks"][-1]["text"] == noted


def test_each_row_of_a_table_is_a_document(run_cli, corpus):
    """Scores are pooled over rows, and the gate keeps documents, by what they lack or add."""
    source, target = ((corpus / f"{name}.txt").read_text().splitlines() for name in ("src", "ref"))
    blocks = [range(20), range(20, 40), range(40, 60)]
    kept = [[target[n] for n in block if n not in {21, 22, 45}] for block in blocks]
    kept[2] += ["I hope this helps you a lot, dear reader!", target[58]]
    with (corpus / "rows.jsonl").open("w") as file:
        for block, output in zip(blocks, kept, strict=True):
            row = {"s": [source[n] for n in block], "r": [target[n] for n in block], "o": output}
            file.write(json.dumps({name: "\n".join(cell) for name, cell in row.items()}) + "\n")
    line = ("omissions", "rows.jsonl:o", "--src", "rows.jsonl:s", "--model", "model")
    line = (*line, "--unaligned", "--fail-above", "5", "--keep", "kept")
    done = run_cli(*line, "-f", "json", cwd=corpus, check=False)
    assert done.returncode == 3
    assert "2 of 3 documents lack more than 5% of the source's words: row 2, row 3" in done.stderr
    data = json.loads(done.stdout)
    assert [(p["document"], p["first"], p["last"]) for p in data["passages"]] == [
        ("row 2", 2, 3), ("row 3", 6, 6),
    ]  # fmt: skip
    assert [piece["repeats"] for piece in data["additions"]] == [None, 19]
    assert json.loads((corpus / "kept").read_text())["document"] == "row 1"
    assert "row 2, lines 2 to 3" in run_cli(*line, cwd=corpus, check=False).stdout
    done = run_cli(*line, "--additions", cwd=corpus, check=False)
    assert "1 of 3 documents have more than 5% of their words beside" in done.stderr
    cut = ["" if n in {21, 22, 45} else text for n, text in enumerate(target)]
    command = ("segment", "rows.jsonl:o", "--src", "rows.jsonl:s", "--model", "model")
    done = run_cli(*command, "-j", 2, cwd=corpus)
    assert done.stdout.splitlines() == cut
    assert done.stderr.startswith("3 documents, 60 source lines: 57 have text, 3 have none")
    found = map(json.loads, run_cli(*command, "-f", "jsonl", cwd=corpus).stdout.splitlines())
    missing = [(row["document"], row["line"]) for row in found if not row["text"]]
    assert missing == [("row 2", 2), ("row 2", 3), ("row 3", 6)]
    # What the lines of all rows in files have.
    (corpus / "pooled.txt").write_text("\n".join(cut) + "\n")
    rows = ("rows.jsonl:o", "rows.jsonl:r", "--unaligned")
    pooled = run_cli("rep", "pooled.txt", "ref.txt", "-b", cwd=corpus).stdout
    assert run_cli("rep", *rows, "-b", cwd=corpus).stdout == pooled


def test_text_that_no_score_sees_is_a_warning(run_cli, corpus):
    loop = "they said that it was so , and " * 60
    (corpus / "loop.txt").write_text((corpus / "ref.txt").read_text() + loop + "\n")
    said = run_cli("bleu", "loop.txt", "ref.txt", "--unaligned", cwd=corpus).stderr
    (line,) = (line for line in said.splitlines() if "belongs to no line" in line)
    assert line.startswith("coverage-eval: warning: loop.txt: ")
    assert line.endswith("belongs to no line, and counts in no score but ExtraText")
