"""Hard input for the aligner: empty sides, odd characters, huge lines, bad files, signals."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.aligner.conftest import Pair, write_corpus

FLAGS = ["-d", "-o", "-v"]
PLAIN: list[Pair] = [("das haus", "the house"), ("das buch", "the book"), ("ein buch", "a book")]


def random_corpus(pairs: int, seed: int = 1) -> list[Pair]:
    """Word-by-word translations with some words dropped, so that there is something to learn."""
    generator = random.Random(seed)
    corpus = []
    for _ in range(pairs):
        words = [
            f"w{int(generator.paretovariate(0.7)) % 300}" for _ in range(generator.randint(1, 20))
        ]
        target = [word.upper() for word in words if generator.random() < 0.9] or ["X"]
        corpus.append((" ".join(words), " ".join(target)))
    return corpus


@pytest.mark.parametrize("division", [["--threads", 2], ["--threads", 8], ["--memory", 5000]])
def test_threads_and_memory_limit_do_not_change_output(tools, tmp_path, division):
    pairs = [*random_corpus(400), (" ".join(["lang"] * 700), " ".join(f"t{i}" for i in range(90)))]
    corpus = write_corpus(tmp_path / "corpus", [*pairs, ("", "leer"), *random_corpus(100, seed=2)])
    first = tools.train_both(corpus, tmp_path / "one", *FLAGS, "--threads", 1)
    other = tools.train_both(corpus, tmp_path / "other", *FLAGS, *division)
    assert first == other


def test_one_direction_equals_both(tools, tmp_path):
    corpus = write_corpus(tmp_path / "corpus", random_corpus(300))
    both = tools.train_both(corpus, tmp_path / "out", *FLAGS)
    for direction, flags in (("forward", []), ("reverse", ["-r"])):
        saved = tmp_path / direction
        done = tools.fast_align("-i", corpus, *FLAGS, *flags, "-p", saved)
        assert done.stdout == both[f"{direction}-links"]
        assert saved.read_bytes() == both[f"{direction}-params"]


def test_forced_alignment_does_not_depend_on_threads(tools, tmp_path):
    corpus = write_corpus(tmp_path / "corpus", random_corpus(3000))
    tools.fast_align("-i", corpus, *FLAGS, "-p", tmp_path / "params")
    runs = []
    for threads in (1, 2, 8):
        post = tmp_path / f"post{threads}"
        options = ["-i", corpus, "-f", tmp_path / "params", "-d", "--threads", threads]
        lines = tools.fast_align(*options, "--posteriors", post).stdout
        runs.append((lines, post.read_bytes()))
    assert runs[0] == runs[1] == runs[2]


@settings(max_examples=30, deadline=None)
@given(text=st.binary(max_size=60))
def test_any_bytes_give_links_or_one_line_of_error(tools, tmp_path_factory, text):
    path = tmp_path_factory.mktemp("bytes") / "corpus"
    path.write_bytes(b"a b ||| c d\n" + text + b"\na ||| c\n")
    done = tools.fast_align("-i", path, *FLAGS, check=False)
    if done.status == 0:
        assert done.stdout.count(b"\n") == path.read_bytes().count(b"\n")
        assert "nan" not in done.stderr
    else:
        assert done.status == 1
        assert f"{path}:" in done.stderr
        assert done.stderr.count("\n") == 1
        assert not done.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["-i", "malformed"], 1, "malformed:2: no '|||' between source and target"),
        (["-i", "missing"], 1, "missing: cannot open: No such file or directory"),
        (["-i", "empty"], 1, "empty: no pair to train on: each of the 2 lines"),
        (["-i", "good", "-p", "no/where"], 1, "no/where: cannot write: No such file or directory"),
        (["-i", "good", "-f", "nothing"], 1, "nothing: no parameters in the file"),
        (["-i", "good", "-f", "good"], 1, "good:1: not 'word TAB word TAB log probability'"),
        (["-i", "good", "-f", "number"], 1, "number:1: '0.1x' is not a log probability"),
        (["-i", "\x1b[2J\x85ü"], 1, r"fast_align: \x1b[2J\xc2\x85ü: cannot open: "),
        ([], 2, "-i FILE is needed"),
        (["-i", "good", "-I", "0"], 2, "-I takes a whole number from 1"),
        (["-i", "good", "--both"], 2, "--both needs an output"),
    ],
)
def test_errors_are_one_line_and_leave_nothing(
    tools, tmp_path, monkeypatch, arguments, status, message
):
    monkeypatch.chdir(tmp_path)
    files = {
        "good": "a ||| b\n",
        "malformed": "a ||| b\nc d\n",
        "nothing": "",
        "empty": " ||| a\n ||| \n",
        "number": "a\tb\t0.1x\n",
    }
    for name, content in files.items():
        Path(name).write_text(content)
    done = tools.fast_align(*arguments, check=False)
    assert done.status == status
    assert message in done.stderr
    assert done.stderr.startswith("fast_align: ")
    assert done.stderr.count("\n") == 1
    assert not done.stdout
    assert {path.name for path in tmp_path.iterdir()} == set(files)


def test_forced_mode_answers_line_by_line(tools, tmp_path):
    """Scripts write one line and wait for its answer before they write the next."""
    corpus = write_corpus(tmp_path / "corpus", PLAIN)
    tools.fast_align("-i", corpus, *FLAGS, "-p", tmp_path / "params")
    command = [tools.folder / "fast_align", "-i", "-", "-d", "-f", tmp_path / "params"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as run:
        assert run.stdin
        assert run.stdout
        for source, target in PLAIN:
            run.stdin.write(f"{source} ||| {target}\n".encode())
            answer = run.stdout.readline().decode()
            assert answer.startswith(f"{source} ||| {target} ||| 0-0 1-1 ||| -")
        run.stdin.close()
