"""The commands ``coverage-eval align``: output, messages, exit statuses, files."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from pathlib import Path

import pytest

from coverage_eval.align.aligner import Aligner
from fast_align_wrapper.links import parse_links

SOURCES = ["ein haus", "ein rotes haus", "", "das haus ist rot", "rot ist schön"] * 30
TARGETS = ["a house", "a red house", "nothing", "the house is red", "red is nice"] * 30
LINKS = ["0-0 1-1", "0-0 1-1 2-2", "", "0-0 1-1 2-2 3-3", "0-0 1-1 2-2"]


def write_lines(path: Path, lines) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory, run_cli):
    """A folder with a text, a model trained on it, and the text's links."""
    folder = tmp_path_factory.mktemp("align")
    write_lines(folder / "src", SOURCES)
    write_lines(folder / "tgt", TARGETS)
    done = run_cli("align", "train", "src", "tgt", "-o", "model", cwd=folder)
    assert done.stdout == ""
    assert done.stderr.startswith("model: model ")
    assert done.stderr.endswith(", trained on 150 pairs\n")
    assert sorted(path.name for path in folder.iterdir()) == ["model", "src", "tgt"]
    write_lines(folder / "fwd", LINKS * 30)
    return folder


def test_apply_prints_one_line_per_pair(files, run_cli):
    done = run_cli("align", "apply", "model", "src", "tgt", cwd=files)
    assert done.stdout == "".join(f"{line}\n" for line in LINKS * 30)
    assert done.stderr == ""


def test_apply_reads_standard_input_and_gzip_and_writes_files(files, tmp_path, run_cli):
    with gzip.open(tmp_path / "tgt.gz", "wt") as file:
        file.write("a red house\n\n")
    done = run_cli(
        "align", "apply", files / "model", "-", "tgt.gz", "-o", "out", "--symmetrize", "reverse",
        stdin="rotes haus\nhaus\n", cwd=tmp_path,
    )  # fmt: skip
    assert done.stdout == ""
    assert parse_links((tmp_path / "out").read_text().split("\n")[0]) == ((0, 1), (1, 2))
    assert (tmp_path / "out").read_text().split("\n")[1:] == ["", ""]


def test_symmetrize_joins_links_by_each_method(files, run_cli, tmp_path):
    write_lines(tmp_path / "fwd", ["0-0 1-1", "0-1", ""])
    write_lines(tmp_path / "rev", ["0-0 2-2", "1-0", ""])
    run = lambda *more: run_cli("align", "symmetrize", "fwd", "rev", *more, cwd=tmp_path).stdout  # noqa: E731
    assert run() == "0-0 1-1 2-2\n0-1 1-0\n\n"
    assert run("--symmetrize", "intersect") == "0-0\n\n\n"
    assert run("--symmetrize", "reverse", "-o", "out") == ""
    assert (tmp_path / "out").read_text() == "0-0 2-2\n1-0\n\n"


def test_the_model_records_its_tokeniser_and_apply_uses_it(tmp_path, run_cli):
    write_lines(tmp_path / "src", ["Ein Haus.", "Das Haus."] * 10)
    write_lines(tmp_path / "tgt", ["A house.", "The house."] * 10)
    run_cli("align", "train", "src", "tgt", "-o", "model", "--tokenize", "13a", cwd=tmp_path)
    done = run_cli("align", "apply", "model", "src", "tgt", cwd=tmp_path)
    assert done.stdout.split("\n")[0] == "0-0 1-1 2-2"


@pytest.fixture
def gold(tmp_path):
    write_lines(tmp_path / "links", ["0-0 1-1 2-2", "0-1"])
    write_lines(tmp_path / "gold", ["0-0 1-1 3-3", "0p1"])
    return tmp_path


def test_aer_in_every_format(gold, run_cli):
    done = run_cli("align", "aer", "links", "gold", cwd=gold)
    assert done.stdout == (
        "AER|null:no|version:0.1.0 = 28.57\n"
        "precision|null:no|version:0.1.0 = 75.00\n"
        "recall|null:no|version:0.1.0 = 66.67\n"
        "F1|null:no|version:0.1.0 = 70.59\n"
    )
    done = run_cli("align", "aer", "links", "gold", "-b", "-w", 3, cwd=gold)
    assert done.stdout == "28.571\n"
    scores = json.loads(run_cli("align", "aer", "links", "gold", "-f", "json", cwd=gold).stdout)
    assert [score["metric"] for score in scores["scores"]] == ["AER", "precision", "recall", "F1"]
    assert scores["scores"][0]["segments"] == 2
    done = run_cli("align", "aer", "links", "gold", "--sentence-level", "-f", "csv", cwd=gold)
    header, *rows = done.stdout.splitlines()
    assert header == "segment,score,precision,recall,F1"
    assert rows[1].startswith("2,0.0,100.0,,")
    done = run_cli("align", "aer", "links", "gold", "--confidence", "--resamples", 50, cwd=gold)
    assert done.stdout.count("[") == 4


def test_the_lines_that_change_gold_links(tmp_path, run_cli):
    """The warning's line, typed as it is, makes them those that were meant."""
    pairs = ["0-1 1-0 2-3", "0-2", "1-0 3-1", "0-0 2-1"] * 10
    write_lines(tmp_path / "links", pairs)
    flipped = (" ".join(link[::-1] for link in line.split()) for line in pairs)
    later = (re.sub("[0-9]", lambda digit: str(int(digit[0]) + 1), line) for line in pairs)
    for gold in (flipped, later):
        write_lines(tmp_path / "GOLD", gold)
        warned = run_cli("align", "aer", "links", "GOLD", "-b", cwd=tmp_path)
        line = " ".join(warned.stderr.split()).partition("perl ")[2]
        subprocess.run(f"perl {line}", shell=True, cwd=tmp_path, check=True)
        done = run_cli("align", "aer", "links", "NEW", "-b", cwd=tmp_path)
        assert (done.stdout, done.stderr) == ("0.00\n", "")


@pytest.mark.parametrize("change", ["swapped", "from one"])
def test_links_that_count_or_point_otherwise_are_named_wherever_links_are_read(
    files, tmp_path, run_cli, change
):
    """Two commands compare files of links, two have the texts."""
    links = [*(["0-1 1-0 2-3", "0-2", "1-0 3-1", "0-0 2-1"] * 10)]
    other = {
        "swapped": [" ".join(link[::-1] for link in line.split()) for line in links],
        "from one": [re.sub(r"\d", lambda d: str(int(d[0]) + 1), line) for line in links],
    }[change]
    write_lines(tmp_path / "links", links)
    write_lines(tmp_path / "other", other)
    write_lines(tmp_path / "src", ["a b c d"] * 40)
    write_lines(tmp_path / "hyp", ["x y z v"] * 40 if change == "from one" else ["x y z"] * 40)
    given = ("--src", "src", "--ref-links", "links", "--links", "other")
    said = {"swapped": "perl -pe 's/(\\d+)([-sp?])(\\d+)/$3$2$1/g or "
            "s/^(\\d+\\s+\\K)(\\d+)(\\s+)(\\d+)/$4$3$2/' other > NEW",
            "from one":
            "s/(\\d+)([-sp?])(\\d+)/($1-1).$2.($3-1)/ge' other > NEW"}[change]  # fmt: skip
    if change == "swapped":  # three words of the output, four of the source
        write_lines(tmp_path / "other", ["0-0 1-3"] * 40)
        write_lines(tmp_path / "links", ["0-0 3-1"] * 40)
    for arguments in (
        ("drop", "hyp", "hyp", *given), ("compare", "hyp", "-r", "hyp", "-m", "drop", *given),
        ("align", "aer", "links", "other"), ("align", "symmetrize", "links", "other"),
    ):  # fmt: skip
        done = run_cli(*arguments, cwd=tmp_path, check=False)
        assert said in " ".join(done.stderr.split()), arguments


def test_a_joined_corpus_is_read_as_two_texts(files, tmp_path, run_cli):
    write_lines(tmp_path / "joined", map(" ||| ".join, zip(SOURCES, TARGETS, strict=True)))
    run_cli("align", "train", "joined", "-o", "model", cwd=tmp_path)
    assert (tmp_path / "model").read_bytes() == (files / "model").read_bytes()
    done = run_cli(
        "align", "apply", "model", "-", stdin="a ||| b ||| c\n", cwd=tmp_path, check=False
    )
    assert "standard input: line 1 has 2 marks ' ||| '" in done.stderr


def error_of(run_cli, status, *arguments, cwd, **options):
    done = run_cli("align", *arguments, check=False, cwd=cwd, **options)
    assert done.returncode == status
    assert done.stdout == ""
    return done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "src", "short", "-o", "new"),
         "unequal numbers of lines: short has 1, src has 150; line N of one file must belong to "
         "line N of the other"),
        (("train", "src", "missing", "-o", "new"), "missing: no such file"),
        (("train", "blank", "blank", "-o", "new"),
         "cannot train: no pair of segments has words on both sides"),
        (("apply", "missing", "src", "tgt"), "missing: no such file"),
        (("apply", "src", "src", "tgt"),
         "src: no model of 'align train', or damaged (File is not a zip file)"),
        (("symmetrize", "fwd", "short"),
         "short: line 1: 'house' is not a link 'source-target', such as 0-0"),
        (("aer", "fwd", "empty"),
         "unequal numbers of lines: fwd has 150, empty has 0; line N of one file must belong to "
         "line N of the other"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_status_1(files, tmp_path, run_cli, arguments, message):
    for name in ("src", "tgt", "fwd", "model"):
        (tmp_path / name).write_bytes((files / name).read_bytes())
    write_lines(tmp_path / "short", ["house"])
    write_lines(tmp_path / "blank", [""])
    write_lines(tmp_path / "empty", [])
    before = sorted(tmp_path.iterdir())
    found = error_of(run_cli, 1, *arguments, cwd=tmp_path)
    assert found == f"coverage-eval: error: {message}\n"
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "src", "tgt"), "Missing option '-o' / '--output'"),
        (("train", "src", "tgt", "-o", "-"), "the model is written to a file"),
        (("train", "-", "-", "-o", "new"), "'-' (standard input) is named more than once"),
        (("apply", "model", "src"), "Missing argument 'TGT'"),
        (("fit",), "No such command 'fit'"),
    ],
)
def test_wrong_usage_is_status_2(files, run_cli, arguments, message):
    assert message in error_of(run_cli, 2, *arguments, cwd=files)


def test_the_line_that_swaps_links_runs_on_naacls_format_and_on_links_with_scores(
    tmp_path, run_cli
):
    links = [*(["0-1 1-0 2-3", "0-2", "1-0 3-1", "0-0 2-1"] * 10)]
    pairs = [[link.split("-") for link in line.split()] for line in links]
    write_lines(tmp_path / "links", links)
    numbered = [
        f"{i} {int(t) + 1} {int(s) + 1} S" for i, line in enumerate(pairs, 1) for s, t in line
    ]
    scored = [" ".join(f"{t}-{s}:0.93" for s, t in line) for line in pairs]
    for other in (numbered, scored):
        write_lines(tmp_path / "other", other)
        said = run_cli("align", "aer", "other", "links", cwd=tmp_path, check=False).stderr
        line = re.search(r"perl -pe '.*' ", said)[0]
        swapped = subprocess.run(
            f"{line} other", shell=True, cwd=tmp_path, text=True, stdout=-1, check=True
        )
        (tmp_path / "new").write_text(swapped.stdout)
        assert run_cli("align", "aer", "new", "links", "-b", cwd=tmp_path).stdout == "0.00\n"


def test_raw_training_text_is_split_and_so_is_what_the_model_is_given(run_cli, tmp_path):
    """Chinese by letters, English by 13a; README's line then needs no option."""
    pairs = [("我喜欢狗，也喜欢猫。", "I like dogs, and cats."), ("他不在家。", "He is not in.")]
    for name, side in zip(("zh", "en"), zip(*pairs * 60, strict=True), strict=True):
        (tmp_path / name).write_text("\n".join(side) + "\n", encoding="utf-8")
    done = run_cli("align", "train", "zh", "en", "-o", "m", cwd=tmp_path)
    assert "note: zh is not tokenised: char splits it" in done.stderr
    assert "note: en is not tokenised: 13a splits it" in done.stderr
    scored = run_cli("drop", "en", "en", "--src", "zh", "--model", "m", "-b", cwd=tmp_path)
    assert float(scored.stdout) == 0
    assert "not tokenised" not in scored.stderr


def test_links_are_of_words_at_plain_spaces(run_cli, tmp_path):
    """As fast_align has them: a no-break space is inside a word."""
    with Aligner.train_pairs([(f"a{n}", f"b{n}") for n in range(60)], tokenize="none") as aligner:
        aligner.save(tmp_path / "model")
    (tmp_path / "src").write_text("a1\u00a0a2 a3\na4\t\u00a0 a5\n", encoding="utf-8")
    (tmp_path / "tgt").write_text("b2 b1\u2003b3\nb4 b5\n", encoding="utf-8")
    done = run_cli("align", "apply", "model", "src", "tgt", cwd=tmp_path)
    assert done.stdout == "0-0 0-1 1-1\n0-0 2-1\n"
    (tmp_path / "links").write_text(done.stdout)
    given = ("--ref-links", "links", "--links", "links", "--src", "src")
    assert " = 0.00" in run_cli("drop", "tgt", "tgt", *given, cwd=tmp_path).stdout
