"""``meta``: how well scores find known errors, from the texts to the picture."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import roc_auc_score

from coverage_eval.testbed.injection import KINDS, inject_lines
from tests.cli.tools import write_grammar
from tests.conftest import RunCli


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli) -> Path:
    """A text with omissions, its gold file, and scores of its segments in three forms."""
    folder = tmp_path_factory.mktemp("corpus")
    write_grammar(folder, 600, 200)

    def run(*arguments: object) -> None:
        run_cli(*arguments, cwd=folder)

    run("align", "train", "train.source", "train.target", "-o", "model")
    kind = ("--kind", "omission-phrase", "--rate", 0.1, "-o", "hyp", "--gold", "gold")
    run("inject", "test.target", "--src", "test.source", "--model", "model", *kind)
    texts = ("hyp", "test.target", "--src", "test.source", "--model", "model")
    run("drop", *texts, "--sentence-level", "-f", "csv", "-o", "drop.csv")
    run("drop", *texts, "--soft", "--sentence-level", "-f", "json", "-o", "soft.json")
    run("compare", "--ref", *texts[1:], "hyp", "--metrics", "drop,bleu", "--details", "details")
    return folder


TEXTS = ("--src", "test.source", "--hyp", "hyp", "--ref", "test.target")
LABELLED = ("meta", "--labels", "gold")


def test_scores_of_this_package_against_its_gold(run_cli, corpus):
    arguments = ("drop.csv", "soft.json", *TEXTS, "--plot", "curves.png", "--resamples", 50)
    done = run_cli(*LABELLED, *arguments, cwd=corpus)
    assert "200 translations" in done.stdout
    assert "words concerned" in done.stdout
    assert "hyp/src length" in done.stdout
    assert (corpus / "curves.png").read_bytes().startswith(b"\x89PNG")
    files = (*arguments[:2], "--src", "test.source")
    printed = run_cli(*LABELLED, *files, "-f", "json", cwd=corpus).stdout
    data: dict[str, Any] = json.loads(printed)
    by_name = {item["score"]: item for item in data["scores"]}
    gold = {json.loads(line)["segment"] for line in (corpus / "gold").read_text().splitlines()}
    with (corpus / "drop.csv").open(newline="") as file:
        scores = [float(row["score"]) for row in csv.DictReader(file)]
    truth = [n in gold for n in range(1, len(scores) + 1)]
    assert by_name["drop"]["auroc"]["value"] == pytest.approx(roc_auc_score(truth, scores))
    assert data["with_error"] == len(gold)
    assert by_name["soft"]["word_recall"]["value"] > 0.9
    assert by_name["soft"]["p_value_holm"] < 0.05
    records = run_cli(*LABELLED, *files, "-f", "csv", cwd=corpus).stdout.splitlines()
    assert records[0] == "score,figure,value,low,high,p,p_holm"
    figures = {tuple(line.split(",")[:2]): line.split(",")[2] for line in records[1:]}
    assert float(figures["drop", "auroc"]) == by_name["drop"]["auroc"]["value"]


def test_details_of_compare_are_read_as_scores(run_cli, corpus):
    files = ("details", "a=drop.csv", "--resamples", 0)
    found = json.loads(run_cli(*LABELLED, *files, "-f", "json", cwd=corpus).stdout)
    areas = {item["score"]: item["auroc"]["value"] for item in found["scores"]}
    assert areas["DROP"] == areas["a"]
    assert list(areas) == ["DROP", "−BLEU", "a"]
    turned = run_cli(*LABELLED, *files, "--flip", "a", "-f", "json", cwd=corpus).stdout
    assert json.loads(turned)["scores"][-1]["auroc"]["value"] == pytest.approx(1 - areas["a"])


def test_texts_of_a_file_of_labels_can_be_scored(run_cli, tmp_path):
    header = "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity"
    rows = [
        f"{system}\td\t1\t{n}\t{rater}\t"
        + (f"<v>ein</v> \"haus {n}\t\"house\tAccuracy/Omission\tMinor" if system == "B" and n % 2
           else f"ein \"haus {n}\ta \"house {n}\tNo-error\tno-error")
        for n in range(1, 9) for system in "ABC" for rater in ("r1", "r2")
    ]  # fmt: skip
    (tmp_path / "mqm.tsv").write_text("\n".join([header, *rows]) + "\n")
    run_cli("meta", "--labels", "mqm.tsv", "--texts", "out", cwd=tmp_path)
    hyp = ("out/hyp.txt", "--src", "out/src.txt", "--sentence-level", "-f", "csv")
    run_cli("profile", *hyp, "-o", "profile.csv", cwd=tmp_path)
    arguments = ("--labels", "out/labels.tsv", "profile.csv", "--columns", "length-ratio")
    found = run_cli("meta", *arguments, "-f", "json", "--resamples", 20, cwd=tmp_path).stdout
    (score,) = json.loads(found)["scores"]
    assert score["score"] == "−length-ratio"
    for figure in ("auroc", "within_source", "one_rater", "system_kendall", "system_pearson"):
        assert score[figure]["value"] == pytest.approx(1)
    (corpus := tmp_path / "one.tsv").write_text("\n".join([header, *rows]) + "\n")
    shown = run_cli("meta", "--labels", corpus, "--system", "B", "--resamples", 0).stdout
    assert "8 translations, 4 with omission." in shown


def test_labels_are_cut_by_the_tokeniser_in_the_signature(run_cli, tmp_path):
    """Positions of dropped words depend on the tokeniser that compare used."""
    header = "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity"
    source, target = "das haus, das rot ist, brennt", "the house, which is red, burns"
    omission = f"{source[:-6]}<v>brennt</v>\tthe house, which is red\tAccuracy/Omission\tMajor"
    none = f"{source}\t{target}\tNo-error\tno-error"
    rows = [f"A\td\t{n}\t{n}\tr\t{omission if n % 2 else none}" for n in range(1, 21)]
    (tmp_path / "mqm.tsv").write_text("\n".join([header, *rows]) + "\n")
    hyps = ["the house, which is red" if n % 2 else target for n in range(1, 21)]
    for name, lines in {"src": [source] * 20, "ref": [target] * 20, "A": hyps}.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    texts = ("--ref", "ref", "--src", "src", "A", "--tokenize", "13a", "--details", "d.jsonl")
    training = ("--train-src", "src", "--train-tgt", "ref")
    run_cli("compare", *texts, *training, "--metrics", "drop", cwd=tmp_path)
    options = ("--labels", "mqm.tsv", "d.jsonl", "-f", "json", "--resamples", 0)
    found, *_ = json.loads(run_cli("meta", *options, cwd=tmp_path).stdout)["scores"]
    assert found["word_recall"]["value"] > 0
    done = run_cli("meta", *options, "--tokenize", "none", cwd=tmp_path, check=False)
    assert "but the source has 6; name the tokeniser" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["meta"], 2, "give one of --labels and --inject"),
        ([*LABELLED, "--inject", "hyp"], 2, "give one of --labels and --inject"),
        ([*LABELLED, "--model", "model"], 2, "--model is not for --labels"),
        ([*LABELLED, "--rate", "0.1"], 2, "--rate goes with --inject"),
        ([*LABELLED, "--kind", "a", "--kind", "b"], 2, "--labels takes one --kind at a time"),
        ([*LABELLED, "--hyp", "hyp"], 2, "--hyp is for baselines, which need --src or --ref"),
        ([*LABELLED, "drop.csv", "--plot", "x.doc"], 1, "name a file that ends in"),
        ([*LABELLED], 1, "no scores, and no texts for baselines"),
        ([*LABELLED, "missing.csv"], 1, "missing.csv: no such file"),
        ([*LABELLED, "drop.csv", "--columns", "x"], 1, "there is no score 'x'; there are: drop"),
        ([*LABELLED, "drop.csv", "--kind", "repetition"], 1, "its kinds are: omission-phrase"),
        ([*LABELLED, "short.csv"], 1, "has no score in short.csv, which has 1 of them"),
        ([*LABELLED, "drop.csv", "--src", "test.source", "--hyp", "part"], 1, "unequal numbers"),
        (["meta", "--labels", "all", "drop.csv"], 1, "all 200 labels are equal: each says an err"),
        (["meta", "--labels", "long", "drop.csv"], 1, "long: line 201: segment 201 has no score"),
        (["meta", "--labels", "-", "drop.csv"], 1, "standard input: is read several times"),
        (["meta", "--labels", "gold", "--texts", "out"], 1, "gold: has no texts"),
        (["meta", "--labels", "hyp", "drop.csv"], 1, "hyp: line 1: not a known format of labels"),
        (["meta", "--inject", "hyp"], 2, "--inject needs --src"),
        (["meta", "--inject", "hyp", "--src", "hyp", "--plot", "x.png"], 2, "--plot draws one"),
        (["meta", "--inject", "hyp", "--src", "test.source", "--kind", "x"], 2, "unknown kind 'x'"),
        (["meta", "--inject", "hyp", "drop.csv"], 2, "SCORES is not for --inject"),
        (["meta", "--inject", "hyp", "--src", "part"], 1, "unequal numbers of lines"),
        (["meta", "--inject", "hyp", "--src", "test.source", "--metrics", "drop"], 2, "aligner"),
    ],
)  # fmt: skip
def test_errors(run_cli, corpus, arguments, status, said):
    (corpus / "short.csv").write_text("segment,score\n1,2\n")
    (corpus / "part").write_text("a\nb\n")
    (corpus / "all").write_text("1\n" * 200)
    (corpus / "long").write_text("1\n0\n" * 101)
    done = run_cli(*arguments, cwd=corpus, check=False)
    assert done.returncode == status
    assert said in done.stderr
    assert done.stdout == ""
    if status == 1:
        assert len(done.stderr.splitlines()) == 1


def test_injecting_scoring_and_measuring_in_one_command(run_cli, corpus):
    texts = ("--inject", "test.target", "--src", "test.source", "--model", "model")
    kinds = ("--kind", "omission-word", "--kind", "repetition-phrase")
    more = ("--rate", 0, "--rate", 0.1, "--resamples", 0)
    done = run_cli("meta", *texts, *kinds, *more, "-f", "json", cwd=corpus)
    assert "without --ref, the text itself is the reference" in done.stderr
    found = {
        item["kind"]: {score["score"]: score for score in item["scores"]}
        for item in json.loads(done.stdout)["kinds"]
    }
    assert found["repetition-phrase"]["rep"]["auroc"]["value"] > 0.95
    assert found["omission-word"]["softdrop"]["auroc"]["value"] > 0.95
    assert found["omission-word"]["rep"]["auroc"]["value"] < 0.6
    assert found["omission-word"]["softdrop"]["word_auroc"]["value"] > 0.9
    assert found["omission-word"]["−hyp/src length"]["within_source"]["value"] > 0.9
    few = ("--metrics", "rep", *more)
    table = run_cli("meta", *texts, *kinds, *few, "--ref", "test.target", cwd=corpus)
    assert "warning: test.target and test.target: the same text" in table.stderr
    assert table.stdout.splitlines()[0].split()[:2] == ["AUROC", "rep"]
    means = ("--metrics", "drop", *more, "--rate", 0.02)
    one = run_cli("meta", *texts, *kinds[:2], *means, cwd=corpus).stdout
    assert "Means of 3 systems" in one
    assert "Source words that scores point at" in one


def test_kinds_that_do_not_fit_a_text_are_named_and_left_out(run_cli, tmp_path):
    (tmp_path / "hyp").write_text("a b c d e f g h\n")
    (tmp_path / "src").write_text("s t u v w x y z\n")
    texts = ("--inject", "hyp", "--src", "src", "--metrics", "rep", "--resamples", 0)
    rates = ("--rate", 0, "--rate", 0.3)
    done = run_cli("meta", *texts, *rates, "-f", "json", cwd=tmp_path)
    assert "note: no addition: the text has no second segment to take" in done.stderr
    named = re.findall("note: no ([a-z-]+): ", done.stderr)
    kept = [item["kind"] for item in json.loads(done.stdout)["kinds"]]
    assert sorted(named + kept) == sorted(set(KINDS) - {"untranslated"})
    done = run_cli("meta", *texts, *rates, "--kind", "addition", check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")


def test_peers_are_witnesses_of_injected_errors(run_cli, tmp_path):
    """Only other translations are, not the source."""
    lines = write_grammar(tmp_path, 400, 80)
    for name, seed in (("one", 1), ("two", 2)):
        text = "\n".join(inject_lines(lines, "omission-function", 0.05, seed))
        (tmp_path / name).write_text(f"{text}\n")
    training = ("--train-src", "train.source", "--train-tgt", "train.target")
    options = (
        "--inject", "test.target", "--src", "test.source", *training, "--kind", "omission-phrase",
        "--metrics", "omissions-no-ref,rep-peers", "--resamples", 0, "-f", "json",
    )  # fmt: skip

    def area(*more: str) -> float:
        text = run_cli("meta", *options, *more, cwd=tmp_path).stdout
        scores = {row["score"]: row for row in json.loads(text)["scores"]}
        return float(scores["omissions-no-ref"]["auroc"]["value"])

    alone = area()
    assert alone != area("--peer", "one", "--peer", "two") > 0.95
    assert area("--peer", "test.source") != alone
