"""``make evidence``: it runs on any text of its form, and the site quotes what it wrote."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from coverage_eval.metrics.omissions import OmissionFinder
from coverage_eval.testbed.grammar import generate
from coverage_eval.testbed.injected_texts import Spoiling, spoil_text
from tests.conftest import ROOT

TABLES = 11


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Corpora of the grammar where the real ones are expected."""
    folder = tmp_path_factory.mktemp("data")
    layouts = {
        "multi30k-de-en": ("de", ["test_2016_flickr", "test_2017_flickr", "val"]),
        "small-enja": ("ja", ["test", "dev"]),
    }
    for corpus, (source, tests) in layouts.items():
        (folder / corpus).mkdir()
        for seed, (name, size) in enumerate([("train", 3000), *((name, 40) for name in tests)]):
            pairs = generate(size, seed)
            for side, lines in (
                (source, [" ".join(pair.source) for pair in pairs]),
                ("en", [" ".join(pair.target) for pair in pairs]),
            ):
                (folder / corpus / f"{name}.{side}").write_text("\n".join(lines) + "\n")
    return folder


def test_it_prints_what_it_writes(data: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "notebooks" / "evidence"), str(data), "--most", "120",
         "--folder", str(tmp_path)],
        capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "evidence.md").read_text(encoding="utf-8")
    assert written.split() == done.stdout.split()
    assert (tmp_path / "figures" / "evidence.png").read_bytes().startswith(b"\x89PNG")
    titles = re.findall(r"^\*\*(.*), (de-en|ja-en)\*\*$", written, re.MULTILINE)
    assert len(titles) == len(set(titles)) == 2 * TABLES
    assert written.count("**Which score finds repetitions: mean AUROC") == 1
    assert written.count("**What the finder's score is made of, with") == 2
    assert written.count("**Tuned on one pair of languages, reported on the other") == 1
    # words said twice are REP's to see, and omissions are not
    rows = dict(re.findall(r"^\| (phrases twice|phrases left out) +\| +(\S+) ", written, re.M))
    assert float(rows["phrases twice"]) > 0.8 > float(rows["phrases left out"])


def test_the_kept_variants_are_what_the_finder_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables would else be of another score than users get."""
    monkeypatch.syspath_prepend(ROOT / "notebooks" / "evidence")
    corpora, coverages, variants = map(import_module, ("corpora", "coverages", "variants"))
    training, test = (
        [(" ".join(pair.source), " ".join(pair.target)) for pair in generate(size, seed)]
        for size, seed in ((600, 1), (60, 2))
    )
    corpus = corpora.Corpus("de-en", corpora.sampled(training, len(training)), test)
    aligner = corpora.train(corpus.training)
    translator = corpora.Translator(corpus, aligner)
    monkeypatch.setattr(coverages, "sampled", lambda pairs, _: pairs)
    bed = coverages.make_bed(corpus, translator, aligner, variants.BOTH)
    kind, repair, _ = coverages.KINDS[0]
    spoilt, _ = spoil_text(translator.rows(), Spoiling(kind, (0.05,), repair, seed=7), aligner)
    for referenced, kept in ((True, variants.KEPT), (False, variants.KEPT_WITHOUT)):
        rows = spoilt if referenced else [row._replace(references=()) for row in spoilt]
        found = OmissionFinder.of(aligner, referenced=referenced).find(rows)
        assert [one.score for one in found] == pytest.approx(kept.scores(bed, 0), abs=0.01)


def test_the_site_quotes_tables_that_there_are() -> None:
    """The site takes them from the evidence by their titles."""
    written = (ROOT / "notebooks" / "evidence.md").read_text(encoding="utf-8")
    pages = (ROOT / "notebooks" / "docs" / "pages").glob("*.md")
    quoted = [
        title
        for page in pages
        for title in re.findall(r"^<!-- evidence: (.*) -->$", page.read_text(), re.MULTILINE)
    ]
    assert len(quoted) >= 5
    for title in quoted:
        assert f"\n**{title}**\n\n|" in written, title
