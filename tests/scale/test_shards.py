"""Parts of a text, joined, are the whole: the same bytes, whatever the command and the shards."""

from __future__ import annotations

import json
import re
import shlex
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from coverage_eval.scale.part_files import join_parts, read_part
from coverage_eval.scale.plain_values import from_plain, to_plain
from coverage_eval.scale.shards import Shard
from hypothesis import given, settings
from hypothesis import strategies as st

from coverage_eval.cli import cli
from coverage_eval.errors import DataError
from tests.conftest import RunCli

SOURCES = ["ein haus", "das rote haus", "ein hund schläft", "", "der hund schläft im haus"]
TARGETS = ["a house", "the red house", "a dog sleeps", "", "the dog sleeps in the house"]

COMMANDS = {
    "rep": "rep a tgt --confidence",
    "rep, sentences": "rep a tgt other --sentence-level -n 1",
    "rep, errors": "rep a tgt --sentence-level --errors-only",
    "drop": "drop a tgt --src src --model m --confidence --stopwords stop --denominator source",
    "drop, sentences": "drop a tgt --src src --model m --sentence-level",
    "drop, links": "drop a tgt --src-ref-align links --src-hyp-align links --src src --sink",
    "soft drop": "drop a tgt --src src --model m --soft --sentence-level",
    "bleu": "bleu a tgt --confidence",
    "chrf": "chrf a tgt",
    "meteor": "meteor a tgt --sentence-level",
    "profile": "profile a --ref tgt --src src --model m --confidence",
    "profile, sentences": "profile a --src src --src-hyp-align links --sentence-level",
    "omissions": "omissions a --src src --model m --ref tgt --confidence",
    "omissions, sentences": "omissions a --src src --model m --sentence-level --errors-only "
    "--threshold 0.3",
    "additions": "omissions a --src src --model m --additions --sentence-level",
    "compare": "compare a b --ref tgt --ref other --src src --model m --metrics bleu,rep,drop",
    "compare, breakdowns": "compare a b --ref tgt --src src --model m --frequencies src "
    "--metrics chrf,rep,drop,softdrop,meteor --breakdown all --resamples 50",
    "compare, links": "compare a b --ref tgt --src src --src-ref-align links --metrics drop "
    "--src-hyp-align links --src-hyp-align other-links --breakdown dropped-words",
}

Invoke = Callable[[str], str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    outputs = [" ".join(w for w in t.split() for _ in range(len(w) % 3)) for t in TARGETS]
    texts = {
        "src": SOURCES * 2,
        "tgt": TARGETS * 2,
        "other": [*TARGETS[1:], "x"] * 2,
        "a": [*outputs, *TARGETS],
        "b": ["the dog the dog", "", "a a a", "house", "sleeps in the"] * 2,
        "stop": ["ein"],
        "links": ["0-0", "", "0-0 1-0", "", "0-0"] * 2,
        "other-links": ["0-0", "", "1-2", "", "0-0 4-1"] * 2,
    }
    # The same number of words on all sides of given links.
    texts["links"] = [
        "0-0" if h and s else "" for h, s in zip(texts["a"], texts["src"], strict=True)
    ]
    for name, lines in texts.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    run_cli("align", "train", "src", "tgt", "-o", "m", "--for", "omissions", cwd=folder)
    return folder


@pytest.fixture
def invoke(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    monkeypatch.chdir(folder)

    def run(line: str) -> str:
        done = CliRunner().invoke(cli, shlex.split(line))
        assert done.exit_code == 0, (line, done.output, done.exception)
        return done.stdout

    return run


@pytest.mark.parametrize("name", COMMANDS)
def test_parts_of_every_command_join_to_the_whole(name: str, invoke: Invoke) -> None:
    command = COMMANDS[name]
    if "meteor" in command:
        pytest.importorskip("pycocoevalcap", reason="needs the extra 'meteor'")
    shards = 2 if "--model" in command else 12  # which are more than there are segments
    parts = [f"{number}.part" for number in range(1, shards + 1)]
    for number, part in enumerate(parts, start=1):
        invoke(f"{command} --shard {number}/{shards} -o {part}")
    merged = invoke(f"merge {' '.join(reversed(parts))} -f json")
    assert merged == invoke(f"{command} -f json")


def test_parts_of_a_comparison_have_its_evidence_and_its_picture(
    invoke: Invoke, folder: Path
) -> None:
    command = "compare a b --ref tgt --metrics rep --resamples 20 --breakdown repeated-ngrams"
    for number in (1, 2):
        invoke(f"{command} --shard {number}/2 -o {number}.part")
    invoke(f"{command} --details whole.jsonl --plot whole.svg")
    invoke("merge 2.part 1.part --details joined.jsonl --plot joined.svg")
    for kind in ("jsonl", "svg"):
        assert (folder / f"joined.{kind}").read_bytes() == (folder / f"whole.{kind}").read_bytes()


@pytest.mark.parametrize(
    ("command", "option", "message"),
    [
        ("rep a tgt", "--plot p.svg", "are of a comparison, and not of rep"),
        ("compare a --ref tgt --metrics rep", "--details p.svg", "make the parts with --breakdown"),
    ],
)
def test_what_parts_have_no_evidence_or_picture_of(
    command: str, option: str, message: str, invoke: Invoke, folder: Path
) -> None:
    invoke(f"{command} --shard 1/1 -o only.part")
    done = CliRunner().invoke(cli, ["merge", "only.part", *option.split()])
    assert isinstance(done.exception, DataError)
    assert message in str(done.exception)
    assert not (folder / "p.svg").exists()


_TEXTS = st.lists(st.text("ab \t", max_size=12), min_size=1, max_size=8)


@settings(max_examples=15, deadline=None)
@given(
    texts=_TEXTS,
    shards=st.integers(1, 5),
    command=st.sampled_from(
        [
            "rep hyp ref --sentence-level",
            "bleu hyp ref",
            "chrf hyp ref --confidence",
            "profile hyp --ref ref --src ref --model model",
            "drop hyp ref --src ref --model model --sentence-level",
            "drop hyp ref --src ref --model model --soft",
            "omissions hyp --src ref --model model --sentence-level",
            "compare x=hyp y=ref --ref ref --metrics chrf,bleu --resamples 20 --breakdown all",
            "compare x=hyp y=ref --ref ref --src ref --model model --metrics rep,drop "
            "--resamples 20 --breakdown all",
        ]
    ),
)
def test_any_text_in_any_shards(
    texts: list[str],
    shards: int,
    command: str,
    folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    model = folder / "m"
    folder = tmp_path_factory.mktemp("any")
    (folder / "hyp").write_text("".join(f"{text}\n" for text in texts), newline="\n")
    (folder / "ref").write_text("".join(f"a {text[::2]}\n" for text in texts), newline="\n")
    command = command.replace("--model model", f"--model {model}")
    words = [re.sub("^(.=)?(hyp|ref)$", rf"\g<1>{folder}/\g<2>", word) for word in command.split()]
    runner = CliRunner()
    expected = runner.invoke(cli, [*words, "-f", "json"])
    parts = []
    for number in range(1, shards + 1):
        parts.append(str(folder / f"{number}.part"))
        done = runner.invoke(cli, [*words, "--shard", f"{number}/{shards}", "-o", parts[-1]])
        assert done.exit_code == 0, done.output
    merged = runner.invoke(cli, ["merge", *parts, "-f", "json"])
    assert (merged.stdout, type(merged.exception)) == (expected.stdout, type(expected.exception))


def test_equal_parts_are_equal_files(invoke: Invoke, folder: Path) -> None:
    command = "drop a tgt --src src --model m --sentence-level --shard 2/3"
    invoke(f"{command} -o one.part")
    invoke(f"{command} -o two.part --threads 1")
    assert (folder / "one.part").read_bytes() == (folder / "two.part").read_bytes()


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("rep a tgt -n 3", "another REP or model: REP|"),
        ("rep b tgt", "another text (by its hash)"),
        ("rep a tgt --confidence", "another option (confidence): True against False"),
        ("bleu a tgt", "another command: bleu against rep"),
    ],
)
def test_parts_of_other_command_lines_are_refused(
    other: str, message: str, invoke: Invoke, folder: Path
) -> None:
    invoke("rep a tgt --shard 1/2 -o 1.part")
    invoke(f"{other} --shard 2/2 -o 2.part")
    with pytest.raises(DataError) as caught:
        join_parts([folder / "1.part", folder / "2.part"])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_another_model_is_refused(invoke: Invoke, folder: Path) -> None:
    invoke("align train tgt src -o m2")
    invoke("drop a tgt --src src --model m --shard 1/2 -o 1.part")
    invoke("drop a tgt --src src --model m2 --shard 2/2 -o 2.part")
    with pytest.raises(DataError, match=r"another DROP or model: .*model:.* against .*model:"):
        join_parts([folder / "1.part", folder / "2.part"])


def _refused(folder: Path, *names: str) -> str:
    with pytest.raises(DataError) as caught:
        join_parts([folder / name for name in names])
    return str(caught.value).replace(f"{folder}/", "")


def test_missing_and_double_parts(invoke: Invoke, folder: Path) -> None:
    for number in range(1, 4):
        invoke(f"rep a tgt --shard {number}/3 -o {number}.part")
    invoke("rep a tgt --shard 1/2 -o half.part")
    (folder / "again.part").write_bytes((folder / "1.part").read_bytes())
    assert _refused(folder, "2.part") == "of 3 parts, some are missing: --shard 1/3, 3/3"
    assert _refused(folder, "1.part", "1.part") == "1.part: is named twice"
    double = _refused(folder, "1.part", "2.part", "again.part")
    assert double == "again.part: is shard 1/3, and so is 1.part"
    mixed = _refused(folder, "1.part", "half.part")
    assert mixed == "half.part does not belong to 1.part: another number of shards: 2 against 3"
    assert _refused(folder, "none.part") == "none.part: no such file"
    assert "is not a part" in _refused(folder, "a")


def test_the_installed_command_says_what_is_missing(
    invoke: Invoke, folder: Path, run_cli: RunCli
) -> None:
    invoke("rep a tgt --shard 2/2 -o last.part")
    done = run_cli("merge", "last.part", "-o", "out", check=False, cwd=folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("of 2 parts, some are missing: --shard 1/2\n")
    assert done.stderr.count("\n") == 1
    assert not (folder / "out").exists()


def test_damage_and_other_versions_are_said(invoke: Invoke, folder: Path) -> None:
    invoke("rep a tgt --sentence-level --shard 1/1 -o good.part")
    data = (folder / "good.part").read_bytes()
    bad = folder / "bad.part"
    for end in range(0, len(data), 97):
        bad.write_bytes(data[:end])
        with pytest.raises(DataError, match=r"bad.part: is not a part"):
            read_part(bad)
    _rewrite(folder / "good.part", bad, lambda header: header | {"format_version": 99})
    with pytest.raises(DataError, match="format 99"):
        read_part(bad)
    _rewrite(folder / "good.part", bad, lambda header: header | {"segments": 7})
    with pytest.raises(DataError, match="unequal numbers of segments"):
        read_part(bad)
    evil = {"is": "Popen", "of": {"args": ["false"]}}
    _rewrite(folder / "good.part", bad, lambda header: header | {"facts": evil})
    with pytest.raises(DataError, match="damaged"):
        read_part(bad)


def _rewrite(part: Path, target: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    with zipfile.ZipFile(part) as old, zipfile.ZipFile(target, "w") as new:
        for item in old.infolist():
            data = old.read(item)
            if item.filename == "part.json":
                data = json.dumps(change(json.loads(data))).encode()
            new.writestr(item, data)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("rep a tgt --shard 1/2", "name its file with -o"),
        ("rep a tgt --shard 3/2 -o p", "no shard 3 of 2"),
        ("rep a tgt --shard 0/2 -o p", "no shard 0 of 2"),
        ("rep a tgt --shard one -o p", "not of the form i/n"),
        ("rep a tgt --shard 1/2 -o p -f json -w 3", "--format and --width is not for --shard"),
        ("drop a tgt --src src --train-src src --train-tgt tgt --shard 1/2 -o p", "train it once"),
        ("drop a tgt --src-ref-align links --src-hyp-align links --compat acl2018 --shard 1/2 -o p",
         "in one piece"),
        ("omissions a --src src --model m --calibrate --shard 1/2 -o p", "calibrate once"),
        ("compare --ref tgt a b --metrics rep --fail-if-worse rep --shard 1/2 -o p", "whole text"),
        ("compare a --ref tgt --plot p.png --shard 1/2 -o p", "--plot is not for --shard"),
    ],
)  # fmt: skip
def test_what_parts_cannot_have_is_a_usage_error(
    line: str, message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(cli, shlex.split(line))
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())
    assert not (folder / "p").exists()


def test_unequal_texts_leave_no_part(folder: Path, run_cli: RunCli) -> None:
    (folder / "short").write_text("a\n")
    done = run_cli("rep", "a", "short", "--shard", "1/2", "-o", "p", check=False, cwd=folder)
    assert done.returncode == 1
    assert "unequal numbers of lines" in done.stderr
    assert not (folder / "p").exists()


@given(total=st.integers(0, 100), of=st.integers(1, 20))
def test_shards_share_everything_out_once(total: int, of: int) -> None:
    shards = [Shard(number, of) for number in range(1, of + 1)]
    parts = [list(shard.take(range(total))) for shard in shards]
    assert sorted(item for part in parts for item in part) == list(range(total))
    assert [len(part) for part in parts] == [shard.size(total) for shard in shards]


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@settings(max_examples=30)
@given(_VALUES)
def test_plain_values_come_back(value: Any) -> None:
    assert from_plain(json.loads(json.dumps(to_plain(value)))) == value


def test_plain_values_are_of_known_classes_only() -> None:
    with pytest.raises(TypeError, match="no plain form of PosixPath"):
        to_plain(Path("x"))
    back = from_plain(to_plain(np.array([0.1, 1e-300])))
    assert back.tolist() == [0.1, 1e-300]
