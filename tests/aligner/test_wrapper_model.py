"""The model file and the frozen model: same training same bytes, same model same links."""

from __future__ import annotations

import json
import random
import zipfile
from itertools import pairwise

import pytest

from coverage_eval.errors import DataError
from fast_align_wrapper import FastAlign
from fast_align_wrapper.binaries import find_fast_align
from tests.aligner.fake_aligners import someone_elses

VOCABULARY = [f"w{n}" for n in range(25)]


def make_text(pairs, seed):
    generator = random.Random(seed)
    sources, targets = [], []
    for _ in range(pairs):
        words = generator.choices(VOCABULARY, k=generator.randrange(8))
        sources.append(" ".join(words))
        kept = [word.upper() for word in words if generator.random() < 0.9]
        targets.append(" ".join(kept if generator.random() < 0.8 else kept[::-1]))
    return sources, targets


@pytest.fixture(scope="module")
def text():
    return make_text(400, seed=5)


@pytest.fixture(scope="module")
def model(text):
    with FastAlign.train(*text) as trained:
        yield trained


@pytest.fixture(scope="module")
def links(model, text):
    return list(model.align(*text))


def test_the_same_training_gives_the_same_bytes(tmp_path, text, model):
    model.save(tmp_path / "one")
    for threads in (1, 2, 8):
        with FastAlign.train(*text, threads=threads) as again:
            again.save(tmp_path / "two")
            assert again.hash == model.hash
        assert (tmp_path / "two").read_bytes() == (tmp_path / "one").read_bytes()


def test_token_lists_are_the_same_as_strings(text, model):
    sides = [[segment.split() for segment in side] for side in text]
    with FastAlign.train(*sides) as again:
        assert again.hash == model.hash


@pytest.mark.parametrize(
    "change",
    [{"iterations": 4}, {"p0": 0.1}, {"alpha": 0.02}, {"tension": 3.0, "optimize_tension": False},
     {"favor_diagonal": False}, {"variational_bayes": False}],
    ids=str,
)  # fmt: skip
def test_every_setting_moves_the_hash(text, model, change):
    with FastAlign.train(*text, **change) as other:
        assert other.hash != model.hash
        assert len(other.hash) == 12


@pytest.mark.parametrize(
    ("change", "message"),
    [({"iterations": 0}, "iterations must be at least 1, not 0"),
     ({"p0": 1.0}, "p0 must be a probability below 1, not 1.0"),
     ({"alpha": 0.0}, "alpha must be above 0, not 0.0"),
     ({"tension": float("nan")}, "tension must be above 0, not nan"),
     ({"symmetrize": "both"}, "unknown symmetrization 'both'"),
     ({"links": {"both": "x"}}, "links are forward, reverse or symmetrized")],
)  # fmt: skip
def test_impossible_settings(text, change, message):
    with pytest.raises(ValueError, match=message):
        FastAlign.train(*text, **change)


@pytest.mark.parametrize("diagonal", [True, False])
def test_another_fast_align_gives_the_same_links(tmp_path, text, diagonal):
    fake = someone_elses(tmp_path / "fast_align", find_fast_align().path)
    found = []
    for fast_align in (None, fake):
        paths = {name: tmp_path / name for name in ("forward", "reverse", "symmetrized")}
        options = {"favor_diagonal": diagonal, "fast_align": fast_align, "p0": 0.05}
        with FastAlign.train(*text, links=paths, **options) as trained:
            written = [path.read_text() for path in paths.values()]
            found.append((written, list(trained.align(*text))))
            unknown = trained.align(["w1"] * 3, ["new", "W1", "new new"], symmetrize="forward")
            found[-1][1].extend(unknown)
            assert trained.manifest.has_full_tables == (fast_align is None)
    assert found[0] == found[1]


def test_a_loaded_model_is_the_same(tmp_path, text, model, links):
    model.save(tmp_path / "one")
    with FastAlign.load(tmp_path / "one") as loaded:
        assert loaded.manifest == model.manifest
        loaded.save(tmp_path / "two")
        assert list(loaded.align(*text)) == links
    assert (tmp_path / "two").read_bytes() == (tmp_path / "one").read_bytes()


def test_chunks_do_not_change_links(text, model, links):
    cuts = [0, 1, 2, 57, 58, 200, 399, 400]
    chunked = []
    for start, end in pairwise(cuts):
        chunked += model.align(*(side[start:end] for side in text))
    assert chunked == links


def test_permuted_segments_have_permuted_links(text, model, links):
    order = list(range(len(links)))
    random.Random(1).shuffle(order)
    permuted = model.align(*([side[place] for place in order] for side in text))
    assert list(permuted) == [links[place] for place in order]


def test_no_segments_have_no_links(model):
    assert list(model.align([], [])) == []
    assert list(model.posteriors([], [])) == []


def test_directions_agree_with_single_ones(text, model):
    rows = list(model.align_directions(*text))
    assert [one.links for one, _ in rows] == list(model.align(*text, symmetrize="forward"))
    assert [two.links for _, two in rows] == list(model.align(*text, symmetrize="reverse"))
    scored = list(model.align_with_scores(*text, symmetrize="union"))
    assert [row.scores for row in scored] == [(one.score, two.score) for one, two in rows]
    empty = [not source or not target for source, target in zip(*text, strict=True)]
    assert any(empty)
    assert [row.scores == (None, None) for row in scored] == empty


def test_training_links_of_a_single_direction(tmp_path, text):
    paths = {name: tmp_path / name for name in ("reverse", "symmetrized")}
    with FastAlign.train(*text, symmetrize="reverse", links=paths):
        assert paths["symmetrized"].read_bytes() == paths["reverse"].read_bytes()


def test_unequal_texts_are_refused_while_streaming(model):
    with pytest.raises(DataError, match="unequal numbers of segments: 2 sources and 1 targets"):
        list(model.align(["w1", "w2"], ["W1"]))


def test_a_closed_model_says_so(text):
    model = FastAlign.train(*text)
    model.close()
    with pytest.raises(DataError, match="this model was closed; load it again"):
        model.align(["w1"], ["W1"])


def fails_to_load(path):
    with pytest.raises(DataError) as caught, FastAlign.load(path) as model:
        list(model.align(["w1"], ["W1"], symmetrize="forward"))
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


def test_what_is_no_model(tmp_path):
    path = tmp_path / "model"
    assert fails_to_load(path) == "no such file"
    assert fails_to_load(tmp_path) == "is a folder; name a text file"
    path.write_text("w1 ||| W1\n")
    assert fails_to_load(path) == "is not an aligner model, or damaged (File is not a zip file)"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.txt", "x")
    assert fails_to_load(path) == "is not an aligner model: it has no manifest.json"
    for content in ("[1]", '{"format": "something else"}'):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("manifest.json", content)
        assert fails_to_load(path) == "is not an aligner model of coverage-eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", "{")
    assert fails_to_load(path).startswith("is not an aligner model, or damaged (Expecting")


def rewrite(path, change_manifest=None, drop=(), replace=None):
    """Write the model again with something changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name not in drop}
    if change_manifest is not None:
        values = json.loads(members["manifest.json"])
        change_manifest(values)
        members["manifest.json"] = json.dumps(values).encode()
    members.update(replace or {})
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def damaged(name, value):
    def change(values):
        place = values
        *parents, last = name.split("/")
        for parent in parents:
            place = place[parent]
        place[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (damaged("format_version", 2), "is an aligner model of format version 2; this "
         "coverage-eval reads version 1: train it again"),
        (damaged("forward/tension", 5.0), "damaged aligner model: manifest: the hash differs"),
        (damaged("forward/tension", float("nan")),
         "damaged aligner model: manifest: forward: not finite"),
        (damaged("tables/..", "x"), "damaged aligner model: manifest: other tables than expected"),
        (damaged("pairs", "x"), "damaged aligner model: manifest: a value of another type"),
        (damaged("tokenize", "x"), "damaged aligner model: manifest: unknown tokenizer 'x'"),
        (damaged("settings/p0", 2), "damaged aligner model: manifest: p0 must be a probability "
         "below 1, not 2"),
        (damaged("settings", None), None),
        (damaged("reverse", {}), None),
        (damaged("more", 1), None),
    ],
)  # fmt: skip
def test_damaged_manifests(tmp_path, model, change, message):
    path = tmp_path / "model"
    model.save(path)
    rewrite(path, change)
    found = fails_to_load(path)
    if message is None:
        assert found.startswith("damaged aligner model: manifest: ")
    else:
        assert found == message


def test_missing_and_exchanged_tables(tmp_path, model):
    path = tmp_path / "model"
    model.save(path)
    rewrite(path, drop=["reverse.full"])
    assert fails_to_load(path) == "damaged aligner model: reverse.full is missing"
    model.save(path)
    rewrite(path, replace={"forward.params": b"a\tb\t-1\n"})
    assert fails_to_load(path) == "damaged aligner model: forward.params is not what was saved"


def test_every_cut_or_flipped_byte_is_noticed_or_harmless(tmp_path, text, model):
    path = tmp_path / "model"
    model.save(path)
    data = path.read_bytes()
    expected = list(model.align(*text, symmetrize="forward"))
    messages = []
    for place in range(0, len(data), len(data) // 12):
        flipped = bytearray(data)
        flipped[place] ^= 0x55
        for content in (data[:place], bytes(flipped)):
            path.write_bytes(content)
            try:
                with FastAlign.load(path) as loaded:
                    assert list(loaded.align(*text, symmetrize="forward")) == expected
            except DataError as error:
                messages.append(str(error))
    assert len(messages) > 12
    assert all(message.startswith(f"{path}: ") for message in messages)


def test_a_model_is_written_completely_or_not_at_all(tmp_path, model):
    with pytest.raises(DataError, match="cannot be written"):
        model.save(tmp_path / "nowhere" / "model")
    path = tmp_path / "model"
    path.write_text("old")
    (path.parent / "folder").mkdir()
    with pytest.raises(DataError, match="is a folder"):
        model.save(tmp_path / "folder")
    assert path.read_text() == "old"
    assert sorted(item.name for item in tmp_path.iterdir()) == ["folder", "model"]
