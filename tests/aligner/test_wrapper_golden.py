"""The wrapper with our aligner against the reference tool.

Golden files: clab/fast_align at cab1e9a, one thread, ``-d -o -v``, on the Multi30k training corpus.
At most one line in 10,000 may differ (floating-point ties).
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from coverage_eval.alignment.link_files import read_links
from coverage_eval.data.files import read_parallel
from fast_align_wrapper import FastAlign
from fast_align_wrapper.links import parse_links


def text(shared: Path, name: str):
    folder = shared / "data" / "multi30k-de-en"
    return read_parallel(folder / f"{name}.de", folder / f"{name}.en")


def differing(found, expected):
    rows = list(zip(found, expected, strict=True))
    return sum(one != two for one, two in rows), len(rows) / 10_000


@pytest.fixture(scope="module")
def trained(shared: Path, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    with FastAlign.train(text(shared, "train")) as model:
        links = {
            method: list(model.training_links(method))
            for method in ("forward", "reverse", "grow-diag-final-and")
        }
        model.save(folder / "model")
    with FastAlign.load(folder / "model") as loaded:
        yield loaded, links


@pytest.mark.parametrize(
    ("ours", "golden"),
    [
        ("forward", "train.fwd.al.gz"),
        ("reverse", "train.rev.al.gz"),
        ("grow-diag-final-and", "train.grow-diag-final-and.al.gz"),
    ],
)
def test_links_of_the_training_text(shared: Path, trained, ours, golden):
    different, allowed = differing(
        trained[1][ours], read_links(shared / "golden" / "fast_align" / golden)
    )
    assert different <= allowed


def test_forced_links_and_scores(shared: Path, trained):
    pairs = text(shared, "test_2016_flickr")
    rows = list(trained[0].align_directions(pairs))
    for place, name in enumerate(("fwd", "rev")):
        path = shared / "golden" / "fast_align" / f"test_2016_flickr.{name}.full.gz"
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
            golden = [line.rstrip("\n").rsplit(" ||| ", 2)[1:] for line in file]
        links = [parse_links(links) for links, _ in golden]
        different, allowed = differing([row[place].links for row in rows], links)
        assert different <= allowed
        scores = [float(score) for _, score in golden]
        assert [row[place].score for row in rows] == pytest.approx(scores, rel=2e-5)


def test_forced_symmetrised_links(shared: Path, trained):
    pairs = text(shared, "test_2016_flickr")
    golden = read_links(shared / "golden" / "fast_align" / "test_2016_flickr.gdfa.al.gz")
    different, allowed = differing(trained[0].align(pairs), golden)
    assert different <= allowed


def test_the_model_has_the_numbers_of_the_reference_log(trained):
    manifest = trained[0].manifest
    assert manifest.forward.tension == pytest.approx(7.21604, abs=1e-5)
    assert manifest.forward.length_multiplier == pytest.approx(1.07117, abs=1e-5)
    assert manifest.reverse.length_multiplier == pytest.approx(0.961227, abs=1e-6)
    assert manifest.forward.log_likelihood[-1] == pytest.approx(-984935, rel=1e-5)
    assert (manifest.pairs, manifest.empty_pairs) == (29000, 0)
    assert (manifest.source_tokens, manifest.target_tokens) == (360706, 377534)
