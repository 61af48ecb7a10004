"""``ce.compare`` and the command ``compare`` give the same columns, figures and findings."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

import coverage_eval as ce
from coverage_eval.comparison.table import comparison_report
from coverage_eval.core.formats import render

OUTPUTS = ("careful", "repeating", "dropping")
REF, SRC, MODEL = ("--ref", "test.en"), ("--src", "test.de"), ("--model", "model")
FEW = ("--resamples", "50")
RAW = ("--ref", "raw.ref")


def _raw(text: str) -> str:
    """Text that is not tokenised."""
    return f"{text[:1].upper()}{text[1:]}."


SETS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "a model": ((*REF, *SRC, *MODEL, *FEW), {"sources": "test.de", "model": True}),
    "no reference, and a model": (
        (*SRC, *MODEL, *FEW),
        {"references": None, "sources": "test.de", "model": True},
    ),
    "a test": (
        (*REF, "-m", "rep", "--baseline", "dropping", "--resamples", "70"),
        {"metrics": "rep", "baseline": "dropping", "resamples": 70},
    ),
    "a tokeniser": (
        (*REF, *FEW, "-m", "rep,bleu", "--tokenize", "13a", "--lowercase"),
        {"metrics": ["rep", "bleu"], "tokenize": "13a", "lowercase": True},
    ),
    "text that is not tokenised": ((*RAW, *FEW), {"references": "raw.ref", "raw": True}),
    "documents, by the source": (
        (*REF, *SRC, *MODEL, *FEW, "--unaligned"),
        {"sources": "test.de", "model": True, "unaligned": True},
    ),
    "several processes, no resamples": ((*REF, "--resamples", "0", "-j", "2"),
                                        {"jobs": 2, "resamples": 0}),
}  # fmt: skip
"""Options of the command, and what says the same to the function."""


@pytest.fixture(scope="module")
def texts(demonstration: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first segments of the demonstration, and the same as they are written."""
    folder = tmp_path_factory.mktemp("texts")
    names = {"test.de": "test.de", "test.en": "test.en", **{f"{n}.en": n for n in OUTPUTS}}
    for source, target in names.items():
        lines = (demonstration / source).read_text(encoding="utf-8").splitlines()[:120]
        (folder / target).write_text("".join(f"{x}\n" for x in lines), encoding="utf-8")
        raw = folder / ("raw.ref" if target == "test.en" else f"raw.{target}")
        raw.write_text("".join(f"{_raw(x)}\n" for x in lines), encoding="utf-8")
        (folder / f"joined.{target}").write_text(_joined(lines), encoding="utf-8")
    (folder / "model").write_bytes((demonstration / "model").read_bytes())
    return folder


def _joined(lines: Iterable[str]) -> str:
    """A document that lacks three of the lines."""
    return " ".join(line for number, line in enumerate(lines) if number not in {7, 8, 30})


def _in_python(folder: Path, said: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The data of the function's comparison, and its findings."""
    options = {"references": "test.en", "sources": None, "resamples": 50, **said}
    raw, model = options.pop("raw", False), options.pop("model", False)
    systems = {
        name: ce.read_segments(folder / (f"raw.{name}" if raw else name)) for name in OUTPUTS
    }
    read = [name and ce.read_segments(folder / name) for name in
            (options.pop("references"), options.pop("sources"))]  # fmt: skip
    aligner = ce.Aligner.load(folder / "model") if model else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        comparison = ce.compare(
            {
                name: _joined(lines) if options.get("unaligned") else list(lines)
                for name, lines in systems.items()
            },
            *[text and list(text) for text in read],
            aligner,
            **options,
        )
    found = [finding.message for finding in comparison.result.findings]
    return json.loads(render(comparison_report(comparison), "json")), found


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_columns_figures_and_findings_are_the_same(run_cli, texts, name):
    arguments, said = SETS[name]
    kind = "raw." if said.get("raw") else "joined." if said.get("unaligned") else ""
    files = [f"{name}={kind}{name}" for name in OUTPUTS]
    done = run_cli("compare", *arguments, *files, "-f", "json", cwd=texts)
    printed = json.loads(done.stdout)
    printed.pop("model", None)
    warned = printed.pop("warnings")
    remarks = printed.pop("remarks", [])
    expected, findings = _in_python(texts, said)
    assert printed == expected
    # Messages name files here and lists there, as in "raw.ref" and "the reference".
    names = {"test.en": "the reference", "raw.ref": "the reference", "test.de": "the source"}

    def unnamed(message: str) -> str:
        for file, text in names.items():
            message = message.replace(file, text)
        return message

    lines = [line.removeprefix("coverage-eval: ") for line in done.stderr.splitlines()]
    notes = [line.removeprefix("note: ") for line in lines if line.startswith("note: ")]
    warnings_there = [re.sub("^(warning|error): ", "", line) for line in lines
                      if not line.startswith("note: ")]  # fmt: skip
    assert list(map(unnamed, [*warnings_there, *remarks])) == findings
    assert warnings_there == warned
    assert {*notes} <= {*remarks}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--ref", "test.en"), {"references": "test.en"}),
        (("--peer", "careful", "--peer", "repeating"), {"peers": ["careful", "repeating"]}),
        (("--additions",), {"additions": True}),
        (("--unaligned", "--peer", "careful"), {"unaligned": True, "peers": ["careful"]}),
    ],
)
def test_omissions_are_the_same(run_cli, texts, arguments, said):
    line = ("omissions", "dropping", *SRC, *MODEL, *arguments, "-f", "json")
    (expected,) = json.loads(run_cli(*line, cwd=texts).stdout)["scores"]
    read = {name: list(ce.read_segments(texts / name)) for name in (*OUTPUTS, "test.en", "test.de")}
    options = dict(said)
    references = read.get(options.pop("references", ""))
    peers = [read[name] for name in options.pop("peers", ())]
    with warnings.catch_warnings(), ce.Aligner.load(texts / "model") as aligner:
        warnings.simplefilter("ignore")
        score = ce.omissions(
            read["dropping"], references, read["test.de"], aligner, peers=peers, **options
        )
        assert score.to_dict() == expected
        assert score.segment_scores is not None
        assert len(score.segment_scores()) == len(read["dropping"])
