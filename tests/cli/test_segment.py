"""``segment``: outputs of documents, from the file to lines that other commands can score."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coverage_eval.core.text import TextTable
from tests.cli.tools import write_grammar
from tests.conftest import RunCli
from tests.grammar import generate


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli) -> Path:
    """A model, 60 lines of source, and an output that lacks five of them and adds a note."""
    folder = tmp_path_factory.mktemp("corpus")
    write_grammar(folder, 1500, 0)
    pairs = {" ".join(p.source): " ".join(p.target) for p in generate(90, seed=3)}
    sources, targets = list(pairs)[:60], list(pairs.values())[:60]
    (folder / "src.txt").write_text("\n".join(sources) + "\n")
    (folder / "ref.txt").write_text("\n".join(targets) + "\n")
    kept = [*targets[:10], *targets[13:40], *targets[42:]]
    (folder / "out.txt").write_text(
        " ".join(kept[:20]) + "\n" + "\n".join(kept[20:]) + f"\n{NOTE}\n"
    )
    run_cli("align", "train", "train.source", "train.target", "-o", "model", cwd=folder)
    return folder


NOTE = "let me know whether you would like any further changes to this version !"
MISSING = {10, 11, 12, 40, 41}
MODEL = ("--src", "src.txt", "--model", "model")


def test_an_output_gets_the_lines_of_its_source(run_cli, corpus):
    done = run_cli("segment", "out.txt", *MODEL, cwd=corpus)
    run_cli("segment", "out.txt", *MODEL, "-o", "pieces.tsv", cwd=corpus)
    lines = done.stdout.splitlines()
    references = (corpus / "ref.txt").read_text().splitlines()
    assert lines == ["" if n in MISSING else text for n, text in enumerate(references)]
    assert done.stderr == (
        "60 source lines: 55 have text, 5 have none (8.3%): lines 11 to 13, 41 to 42; 1 piece of "
        "the output (14 words) belongs to no line; -f tsv shows them\n"
    )
    header, *_, row = (corpus / "pieces.tsv").read_text().splitlines()
    cells = dict(zip(header.split("\t"), row.split("\t"), strict=True))
    assert cells["text"] == NOTE
    text = (corpus / "out.txt").read_text()
    assert text[int(cells["start"]) : int(cells["end"])] == NOTE
    piped = run_cli("segment", "-", *MODEL, cwd=corpus, stdin=text)
    assert piped.stdout == done.stdout
    assert piped.stderr == done.stderr


@pytest.mark.parametrize("form", ["tsv", "jsonl", "json"])
def test_every_format_has_positions_and_probabilities(run_cli, corpus, form):
    printed = run_cli("segment", "out.txt", *MODEL, "-f", form, "-o", "found", cwd=corpus)
    assert printed.stdout == ""
    if form == "json":
        data = json.loads((corpus / "found").read_text())
        assert data["documents"][0]["missing"] == [[11, 13], [41, 42]]
        rows = data["pieces"]
    else:
        rows = list(TextTable(corpus / "found").records())
    assert [str(row["line"]) for row in rows][:60] == [str(n) for n in range(1, 61)]
    text = (corpus / "out.txt").read_text()
    for row in rows:
        assert 0 <= float(row["probability"]) <= 1
        if row["text"]:
            assert text[int(row["start"]) : int(row["end"])] == row["text"]
    assert sum(not row["text"] for row in rows) == 5
    assert rows[60]["text"] == NOTE


def test_a_reference_takes_the_place_of_a_model(run_cli, corpus):
    by_model = run_cli("segment", "out.txt", *MODEL, cwd=corpus)
    by_reference = run_cli("segment", "out.txt", "--ref", "ref.txt", cwd=corpus)
    assert by_reference.stdout == by_model.stdout
    assert by_reference.stderr == by_model.stderr.replace("source lines", "reference lines")
    assert "60 reference lines" in by_reference.stderr


def test_each_row_of_a_table_is_a_document(run_cli, corpus):
    sources = (corpus / "src.txt").read_text().splitlines()
    targets = (corpus / "ref.txt").read_text().splitlines()
    outputs = [[" ".join(targets[:20])], targets[20:33] + targets[34:40], targets[40:]]
    with (corpus / "whole.jsonl").open("w") as file:
        for number, output in enumerate(outputs):
            source = sources[20 * number : 20 * (number + 1)]
            row = {"source": "\n".join(source), "output": "\n".join(output)}
            file.write(json.dumps(row) + "\n")
    texts = ("whole.jsonl:output", "--src", "whole.jsonl:source")
    command = ("segment", *texts, "--model", "model")
    done = run_cli(*command, "-j", 2, cwd=corpus)
    assert done.stdout.splitlines() == [*targets[:33], "", *targets[34:]]
    assert done.stderr.startswith("3 documents, 60 source lines: 59 have text, 1 has none")
    rows = map(json.loads, run_cli(*command, "-f", "jsonl", cwd=corpus).stdout.splitlines())
    missing = [(row["document"], row["line"]) for row in rows if not row["text"]]
    assert missing == [("row 2", 14)]


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
    ("arguments", "said"),
    [
        (["empty.txt", *MODEL], "empty.txt: the output is empty"),
        (["src.txt", *MODEL], "the output is in the source's language: it is not translated"),
        (["other.txt", *MODEL], "not a translation of its source: 0% of its words fit their line"),
        (
            ["gaps.jsonl:o", "--src", "gaps.jsonl:s", "--model", "model"],
            "gaps.jsonl:o: line 2 is not text",
        ),
    ],
)
def test_bad_data_gets_one_line(run_cli, corpus, arguments, said):
    (corpus / "empty.txt").write_text("\n")
    (corpus / "other.txt").write_text("nothing of this was ever said by anybody here .\n" * 20)
    rows = [{"s": "der mann", "o": "the man"}, {"s": "der mann", "o": None}]
    (corpus / "gaps.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run_cli("segment", *arguments, cwd=corpus, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["out.txt"], "give --src FILE with --model FILE, or --ref FILE"),
        (["out.txt", "--src", "src.txt"], "--src goes with --model FILE; 'align train' makes"),
        (["out.txt", "--ref", "ref.txt", "--model", "model"], "--ref needs no --model"),
        ([*MODEL], "Missing argument 'OUTPUT'"),
        (["out.txt", *MODEL, "-o", "out.txt"], "is one of the input files"),
        (["out.txt", *MODEL, "-o", "cut.txt.gz"], "files are written unpacked; choose a name"),
    ],
)
def test_wrong_options_are_refused(run_cli, corpus, arguments, said):
    done = run_cli("segment", *arguments, cwd=corpus, check=False)
    assert done.returncode == 2
    assert said in done.stderr
