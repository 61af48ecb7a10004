"""atools against the symmetrisation in Python, and the other commands of atools."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fast_align_wrapper.links import SYMMETRIZATIONS, format_links, symmetrize

LINKS = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=14)


@pytest.mark.parametrize("method", SYMMETRIZATIONS[2:])
@settings(max_examples=10)
@given(pairs=st.lists(st.tuples(LINKS, LINKS), min_size=10, max_size=30))
def test_both_symmetrizations_agree(tools, tmp_path_factory, method, pairs):
    folder = tmp_path_factory.mktemp("atools")
    for name, side in (("f", 0), ("r", 1)):
        text = "".join(format_links(sorted(pair[side], reverse=True)) + "\n" for pair in pairs)
        (folder / name).write_text(text)
    done = tools.atools("-c", method, "-i", folder / "f", "-j", folder / "r")
    assert done.lines == [format_links(symmetrize(*pair, method)) for pair in pairs]


def test_commands_on_one_input(tools, tmp_path):
    (tmp_path / "links").write_text("2-1 0-0 0-0\n\n1-3\n")
    assert tools.atools("-c", "convert", "-i", tmp_path / "links").lines == ["0-0 2-1", "", "1-3"]
    assert tools.atools("-c", "invert", "-i", tmp_path / "links").lines == ["0-0 1-2", "", "3-1"]
    shown = tools.atools("-c", "display", "-i", tmp_path / "links").stdout.decode()
    assert shown == "*.\n..\n.*\n\n\n....\n...*\n\n"


def test_standard_input_and_long_links(tools):
    far = "0-0 99999-99999 5-100000"
    done = tools.atools("-c", "convert", "-i", "-", stdin=far.encode())
    assert done.lines == ["0-0 5-100000 99999-99999"]


def test_fmeasure_by_hand(tools, tmp_path):
    (tmp_path / "gold").write_text("0-0 1-1 2-2\n0-0\n")
    (tmp_path / "test").write_text("0-0 1-2\n0-0 1-1 2-2\n")
    done = tools.atools("-c", "fmeasure", "-i", tmp_path / "gold", "-j", tmp_path / "test")
    assert done.lines == ["P: 0.4", "R: 0.5", "F: 0.444444"]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["-c", "convert", "-i", "bad"], 1, "bad:2: '1_2' is not a link 'source-target'"),
        (["-c", "union", "-i", "one", "-j", "two"], 1, "only 1 lines in one"),
        (["-c", "union", "-i", "one"], 2, "-j LINKS is needed for union"),
        (["-c", "onion", "-i", "one"], 2, "unknown command 'onion'"),
    ],
)
def test_errors_are_one_line(tools, tmp_path, monkeypatch, arguments, status, message):
    monkeypatch.chdir(tmp_path)
    Path("one").write_text("0-0\n")
    Path("two").write_text("0-0\n1-1\n")
    Path("bad").write_text("0-0\n0-0 1_2\n")
    done = tools.atools(*arguments, check=False)
    assert done.status == status
    assert message in done.stderr
    assert done.stderr.startswith("atools: ")
    assert done.stderr.count("\n") == 1


def test_a_long_chain_grows_in_linear_time(tools, tmp_path):
    """Full passes would take minutes: each of 50,000 adds one link."""
    length = 50_000
    (tmp_path / "forward").write_text(" ".join(f"{i}-{length - i}" for i in range(length + 1)))
    (tmp_path / "reverse").write_text(f"{length}-0")
    done = tools.atools(
        "-c", "grow-diag", "-i", str(tmp_path / "forward"), "-j", str(tmp_path / "reverse")
    )
    assert len(done.stdout.split()) == length + 1
