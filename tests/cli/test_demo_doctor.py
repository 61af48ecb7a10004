"""``demo`` finds the errors that were injected; ``doctor`` finds what is missing."""

from __future__ import annotations

import json
import re
import shlex
import sys
from importlib import metadata
from pathlib import Path

import pytest

from coverage_eval.cli.commands.doctor import diagnose
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def demo(demonstration: Path) -> tuple[str, Path]:
    """What ``demo --folder`` printed, and the folder."""
    return demonstration.with_suffix(".txt").read_text(encoding="utf-8"), demonstration


def row(text: str, name: str) -> list[float]:
    (line,) = re.findall(rf"^{name} .*", text, re.MULTILINE)
    return [float(number) for number in re.findall(r"\d+\.\d+", line)]


def test_it_scores_the_translations_of_appendix_b(demo):
    rep = {name: row(demo[0], name)[0] for name in ("softmax", "sparsemax", "csparsemax")}
    assert rep["csparsemax"] < rep["sparsemax"] < rep["softmax"]
    assert "'contempt contempt'" in demo[0]


def test_the_aligner_finds_the_known_links(demo):
    assert row(demo[0], "grow-diag-final-and")[0] < 10


def test_each_score_finds_its_error(demo):
    careful, repeating, dropping = (
        row(demo[0], name) for name in ("careful", "repeating", "dropping")
    )
    for column, worst in ((0, repeating), (1, dropping), (2, dropping)):  # REP, DROP, SoftDROP
        others = [r[column] for r in (careful, repeating, dropping) if r is not worst]
        assert worst[column] > 2 * max(others)
    assert careful[3] > max(repeating[3], dropping[3])  # BLEU


def test_the_commands_it_shows_give_its_figures(demo, run_cli):
    text, folder = demo
    shown = re.findall(r"^  coverage-eval (.*)$", text, re.MULTILINE)
    assert len(shown) == 2
    rep, drop = (run_cli(*line.split(), "-b").stdout.strip() for line in shown)
    assert float(rep) == row(text, "repeating")[0]
    assert float(drop) == row(text, "dropping")[1]
    assert {path.name for path in folder.iterdir()} >= {
        "train.de",
        "test.links",
        "model",
        "report.html",
    }


def test_it_replaces_no_file_of_the_user(run_cli, tmp_path):
    for name in ("test.de", "model", "report.html"):
        folder = tmp_path / f"with {name}"
        folder.mkdir()
        (folder / name).write_text("mine\n")
        done = run_cli("demo", "--folder", folder, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"{folder / name}: exists already" in done.stderr
        assert [path.read_text() for path in folder.iterdir()] == ["mine\n"]


def test_it_is_the_same_every_time_and_in_json(demo, run_cli, tmp_path):
    text, folder = demo
    run_cli("demo", "-f", "json", "-o", tmp_path / "demo.json")
    *tables, where = json.loads((tmp_path / "demo.json").read_text())["tables"]
    assert [len(table["rows"]) for table in tables] == [4, 3, 3]
    for table in tables:
        assert table["title"] in " ".join(text.split())  # a pipe wraps it
        for name, *others in (item.values() for item in table["rows"]):
            figures = [round(value, 2) for value in others if isinstance(value, float)]
            assert row(text, name) == figures
    (report,) = re.findall(r"/.*\.html", where["notes"][0])
    assert Path(report).read_bytes() == (folder / "report.html").read_bytes()


def test_doctor_finds_every_package_or_says_how_to_install_it(run_cli):
    findings = {item["part"]: item for item in json.loads(run_cli("doctor", "-f", "json").stdout)}
    assert findings["coverage-eval"]["found"] == "0.1.0"
    assert findings["fast_align"]["ok"]
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("\nall = ")[0]
    core, extras = re.split(r"dependencies\]?", project)[1:]
    needed = dict.fromkeys(re.findall(r'^    "([\w.-]+)', core, re.MULTILINE), str(ROOT))
    for extra, packages in re.findall(r"^(\w+) = \[(.*)\]", extras, re.MULTILINE):
        for name in re.findall(r'"([\w.-]+)', packages):
            needed.setdefault(name, f"{ROOT}[{extra}]")
    if sys.version_info >= (3, 14):
        del needed["backports.zstd"]
    assert {"jinja2", "wcwidth", "transformers", "pyspark"} <= needed.keys()
    for name, added in needed.items():
        assert findings[name]["ok"] or findings[name]["remedy"].endswith(f" install '{added}'")


def _diagnose(
    monkeypatch: pytest.MonkeyPatch, requirements: list[str] | Exception
) -> dict[str, tuple[str | None, str | None]]:
    """What is found, and the remedy, by part, if the package's metadata has these requirements."""

    def requires(name: str) -> list[str]:
        if isinstance(requirements, Exception):
            raise requirements
        return requirements

    monkeypatch.setattr(metadata, "requires", requires)
    return {part.part: (part.found, part.remedy) for part in diagnose()}


@pytest.mark.parametrize(
    ("receipt", "remedy"),
    [
        ("uv-receipt.toml", f"uv pip install --python {shlex.quote(sys.executable)}"),
        ("pipx_metadata.json", "pipx runpip coverage-eval install"),
        ("pyvenv.cfg", "pip install"),
    ],
)
def test_doctor_names_the_installer_of_its_environment(receipt, remedy, tmp_path, monkeypatch):
    (tmp_path / receipt).touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    found = _diagnose(monkeypatch, ['no-such-package<3,>=2.2; extra == "meteor"'])
    assert found["no-such-package"] == (None, f"{remedy} '{ROOT}[meteor]'")


def test_doctor_reads_limits_and_markers(monkeypatch):
    limited = ["numpy>=0.1,<1", 'old; python_version < "3.2"', 'new; python_version < "3.99"']
    found = _diagnose(monkeypatch, limited)
    assert re.search(r"pip install '.+' \(a release below 1 is needed\)$", str(found["numpy"][1]))
    assert "old" not in found
    assert found["new"][0] is None
    found = _diagnose(monkeypatch, metadata.PackageNotFoundError("coverage-eval"))
    assert "these files are not installed" in str(found["coverage-eval"][1])


def test_doctor_finds_a_missing_aligner(run_cli, tmp_path):
    text = run_cli("doctor", env={"FAST_ALIGN": str(tmp_path / "nothing")}).stdout
    assert re.search(r"^fast_align +missing", text, re.MULTILINE)


def test_doctor_tries_any_program_that_is_named_as_aligner(run_cli):
    output = run_cli("doctor", "-f", "json", env={"FAST_ALIGN": "/bin/true"}).stdout
    finding = next(item for item in json.loads(output) if item["part"] == "fast_align")
    assert not finding["ok"]
    assert "it does not align" in finding["remedy"]
    assert "FAST_ALIGN" in finding["remedy"]
