"""What all commands share: help, formats, output files, exit statuses."""

from __future__ import annotations

import inspect
import json
import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from coverage_eval.cli.commands.own_metric import metric_command
from coverage_eval.cli.main import SECTIONS
from coverage_eval.quality.sacre import BLEU
from tests.cli.tools import ALL_COMMANDS
from tests.rows import score_of

HYP = "a b a b\nc\n\n"
REF = "a b\nc d\ne\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    hyp, ref = tmp_path / "hyp", tmp_path / "ref"
    hyp.write_text(HYP)
    ref.write_text(REF)
    return hyp, ref


def test_the_list_of_commands_shows_the_first_line_of_their_help():
    for lines in SECTIONS.values():
        for name, line in lines.items():
            help_text = ALL_COMMANDS[f"coverage-eval {name}"].help
            assert help_text is not None
            assert help_text.strip().splitlines()[0].strip() == line


def test_help_lists_all_commands_without_importing_them(run_cli):
    text = run_cli("--help").stdout
    for name in (name for lines in SECTIONS.values() for name in lines):
        assert re.search(rf"^  {name} ", text, re.MULTILINE)
    for path, command in ALL_COMMANDS.items():
        *groups, name = path.split()
        if groups:
            shown = run_cli(*groups[1:], "--help").stdout.split()
            first = inspect.cleandoc(command.help or "").partition("\n\n")[0]
            assert f"{name} {' '.join(first.split())}" in " ".join(shown)


@pytest.mark.parametrize("path", ALL_COMMANDS)
def test_examples_in_help_are_valid_commands(path):
    command = ALL_COMMANDS[path]
    assert command.help is not None
    _, marked, block = inspect.cleandoc(command.help).partition("\b\nExample:\n")
    assert marked, f"{path} --help has no example"
    lines = block.split("\n\n")[0].replace("\\\n", " ").splitlines()
    examples = [" ".join(line.split()) for line in lines]
    assert any(f"{line} ".startswith(f"{path} ") for line in examples)
    for line in examples:
        name = max((name for name in ALL_COMMANDS if f"{line} ".startswith(f"{name} ")), key=len)
        used = ALL_COMMANDS[name]
        assert not isinstance(used, click.Group)
        # Parse options and count arguments, without opening files.
        parser = used.make_parser(click.Context(used))
        values, rest, _ = parser.parse_args(shlex.split(line.removeprefix(name)))
        assert not rest
        given = {key for key, value in values.items() if value not in (None, ())}
        assert {p.name for p in used.params if p.required} <= given


@pytest.mark.parametrize("path", ALL_COMMANDS)
def test_help_is_whole_sentences_and_files_are_FILE(path):  # noqa: N802
    for option in ALL_COMMANDS[path].params:
        if not isinstance(option, click.Option) or option.name == "help":
            continue
        assert option.help
        assert re.fullmatch(r"[A-Z][^\n]*[.)](  \[[^\n]*\])?", option.help), option.help
        if isinstance(option.type, click.Path):
            assert option.metavar in {"FILE", "FOLDER"}
        if isinstance(option.type, click.types.StringParamType):
            assert option.metavar, f"{path} {option.opts}: TEXT does not say what to give"


def test_the_version_says_what_is_there(run_process):
    version, aligner, extras = run_process("--version").stdout.splitlines()
    assert version.startswith("coverage-eval, version 0.1.0, Python 3.")
    assert re.fullmatch(
        r"word aligner: fast_align \(coverage-eval\) 0\.1\.0 \(/.*/fast_align\)", aligner
    )
    assert re.fullmatch(r"extras: .*; not installed: .*", extras)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("rep", "Missing argument 'HYP'"),
        ("rep hyp ref -n 0", "0 is not in the range 1<=x<=50"),
        ("rep hyp ref --nonsense", "No such option"),
        ("rep hyp ref --confidence --sentence-level", "--confidence is for the corpus score"),
        ("rep hyp ref --confidence --worst 3", "leave --worst out"),
        ("rep hyp ref -o x.png", "-o x.png: the ending says what is written: .csv, .json, .jsonl"),
        ("rep hyp ref -o x.html", "a page is made by 'coverage-eval report'"),
        ("rep hyp ref -f csv -o x.json", "-o x.json is not -f csv"),
    ],
)  # fmt: skip
def test_usage_errors_exit_2(run_cli, files, line, said):
    result = run_cli(*line.split(), cwd=files[0].parent, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr


def test_text_is_the_signature_and_the_score(run_cli, files):
    settings = "refs:1|n:2|w1:1.0|w2:2.0|norm:refwords|case:mixed|tok:none|version:0.1.0"
    line = f"REP|{settings} = 20.00\n"
    assert run_cli("rep", *files).stdout == line
    assert run_cli("rep", *files, "-b", "-w", 4).stdout == "20.0000\n"


def test_json_has_statistics_and_interval(run_cli, files):
    result = run_cli("rep", *files, "-f", "json", "--confidence", "--resamples", 50)
    (score,) = json.loads(result.stdout)["scores"]
    assert score["metric"] == "REP"
    assert score["score"] == 20.0
    assert score["segments"] == 3
    assert score["statistics"] == {"repeated_ngrams": 1, "repeated_words": 0, "reference_words": 5}
    assert score["confidence"]["low"] <= 20.0 <= score["confidence"]["high"]
    assert (score["confidence"]["resamples"], score["confidence"]["seed"]) == (50, 12345)


def test_csv_has_a_row_for_each_segment(run_cli, files):
    lines = run_cli("rep", *files, "--sentence-level", "-f", "csv").stdout.splitlines()
    assert lines[0] == "segment,score,marks"
    assert lines[1:] == ['1,50.0,"a b (2x, 1x in the reference) at 1,3"', "2,0.0,", "3,0.0,"]


def test_output_file_appears_complete_or_not_at_all(run_cli, files, tmp_path):
    target = tmp_path / "out" / "score.txt"
    result = run_cli("rep", *files, "-o", target, check=False)
    assert result.returncode == 1
    assert str(target) in result.stderr
    target.parent.mkdir()
    assert run_cli("rep", *files, "-o", target).stdout == ""
    assert target.read_text().endswith("= 20.00\n")
    run_cli("rep", files[0], tmp_path / "missing", "-o", target, check=False)
    assert target.read_text().endswith("= 20.00\n")
    assert [path.name for path in target.parent.iterdir()] == ["score.txt"]


def test_the_output_does_not_depend_on_the_hash_seed(run_process, tmp_path):
    (tmp_path / "hyp").write_text("a b c a b c a b d d e e\n" * 20)
    (tmp_path / "ref").write_text("a b c d e\n" * 20)
    one, two = (
        run_process("rep", "hyp", "ref", "--sentence-level", "-f", "json", cwd=tmp_path,
                env={"PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2")
    )  # fmt: skip
    assert one == two


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize(
    ("middle", "message"),
    [(b"gr\xfcn\n", "hyp: line 901: not valid UTF-8"), (b"", "hyp has 1800, ref has 1801; ")],
)
def test_an_error_in_the_middle_is_the_same_with_processes(
    run_cli, tmp_path, jobs, middle, message
):
    (tmp_path / "hyp").write_bytes(b"a a\n" * 900 + middle + b"a\n" * 900)
    (tmp_path / "ref").write_bytes(b"a\n" * 1801)
    result = run_cli("rep", "hyp", "ref", "-j", jobs, cwd=tmp_path, check=False)
    assert result.returncode == 1
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("hyp", "ref", "message"),
    [
        (b"a\n", b"a\nb\n", "unequal numbers of lines: hyp has 1, ref has 2; "),
        (b"\xff\n", b"a\n", "hyp: line 1: not valid UTF-8 (byte 0xff); "),
        (b"", b"", "hyp and ref: no segments: the file is empty"),
        (b"a\n", b"\n", "REP: the reference has no words at all, "),
    ],
)
def test_bad_data_exits_1_with_one_line(run_cli, tmp_path, hyp, ref, message):
    (tmp_path / "hyp").write_bytes(hyp)
    (tmp_path / "ref").write_bytes(ref)
    result = run_cli("rep", "hyp", "ref", cwd=tmp_path, check=False)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith(f"coverage-eval: error: {message}")
    assert result.stderr.count("\n") == 1


def test_strict_makes_warnings_errors(run_cli, tmp_path):
    """They are one line each on standard error, and in JSON."""
    (tmp_path / "same").write_text("".join(f"a house number {i} .\n" for i in range(40)))
    found = run_cli("rep", "same", "same", "-f", "json", cwd=tmp_path)
    (warning,) = json.loads(found.stdout)["warnings"]
    assert found.stderr == f"coverage-eval: warning: {warning}\n"
    assert warning.startswith("same: the same text as same in all 40 segments")
    result = run_cli("rep", "same", "same", "--strict", "-o", "out", cwd=tmp_path, check=False)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"coverage-eval: error: {warning}\n"
    assert not (tmp_path / "out").exists()


def test_bleu_with_the_settings_of_the_papers_scripts(run_cli, files):
    by_hand = ("--tokenize", "none", "--lowercase", "--smooth", "none")
    hypotheses, references = (path.read_text().splitlines() for path in files)
    score = score_of(BLEU(tokenize="none", lowercase=True, smooth="none"), hypotheses, references)
    assert run_cli("bleu", *files, *by_hand).stdout == f"{score}\n"
    assert "|case:lc|" in str(score)
    assert "|tok:none|smooth:none|" in str(score)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("length-ratio", "hyp --src src"),
        ("tng", "hyp -s src"),
        ("tail-loop", "hyp"),
        ("rep-letters", "hyp ref"),
    ],
)
def test_a_command_asks_for_the_texts_that_its_metric_needs(run_cli, tmp_path, name, line):
    """Also of metrics without a reference, as a user's own may be."""
    for file, text in {"hyp": "a a b", "ref": "a b", "src": "x y"}.items():
        (tmp_path / file).write_text(f"{text}\n")
    files = [str(tmp_path / word) if word in {"hyp", "ref", "src"} else word
             for word in line.split()]  # fmt: skip
    done = CliRunner().invoke(metric_command(name), [*files, "-b", "-w", "6"])
    assert done.exit_code == 0, done.output
    texts = ["--ref", "ref", "--src", "src", "-m", name, "--resamples", 0]
    assert run_cli("compare", "hyp", *texts, "-b", "-w", 6, cwd=tmp_path).stdout == done.stdout
    if len(files) > 1:
        assert CliRunner().invoke(metric_command(name), files[:1]).exit_code == 2


NUMBERS = {
    f"{path} {option.opts[-1]}": option
    for path, command in ALL_COMMANDS.items()
    for option in command.params
    if isinstance(option.type, click.types.IntParamType | click.types.FloatParamType)
}


def test_every_numeric_option_has_a_range():
    """None accepts a number with which no command can compute."""
    assert len(NUMBERS) > 30
    for name, option in NUMBERS.items():
        assert isinstance(option.type, click.IntRange | click.FloatRange), name
        for value in ("nan", "inf", "-inf", "1e308", "-1e308"):
            with pytest.raises(click.BadParameter):
                option.type.convert(value, option, None)
