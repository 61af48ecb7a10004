"""Model files: equal training gives equal bytes, and a loaded model gives the same links."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import pytest

from fast_align_wrapper import AlignerDataError, FastAlign
from fast_align_wrapper.links import SYMMETRIZATIONS, symmetrize
from fast_align_wrapper.model import _digest, extract_table, read_manifest
from fast_align_wrapper.process import find_fast_align
from tests.aligner.fake_aligners import someone_elses

VOCABULARY = [f"w{n}" for n in range(25)]


def make_text(pairs, seed):
    generator = random.Random(seed)
    text = []
    for _ in range(pairs):
        words = generator.choices(VOCABULARY, k=generator.randrange(8))
        kept = [word.upper() for word in words if generator.random() < 0.9]
        target = " ".join(kept if generator.random() < 0.8 else kept[::-1])
        text.append((" ".join(words), target))
    return text


@pytest.fixture(scope="module")
def text():
    return make_text(400, seed=5)


@pytest.fixture(scope="module")
def model(text):
    with FastAlign.train(text) as trained:
        yield trained


@pytest.fixture(scope="module")
def links(model, text):
    return list(model.align(text))


def test_the_same_training_gives_the_same_bytes(tmp_path, text, model):
    model.save(tmp_path / "one")
    for threads in (1, 2, 8):
        with FastAlign.train(text, threads=threads) as again:
            again.save(tmp_path / "two")
            assert again.hash == model.hash
        assert (tmp_path / "two").read_bytes() == (tmp_path / "one").read_bytes()


@pytest.mark.parametrize(
    "change",
    [{"iterations": 4}, {"p0": 0.1}, {"alpha": 0.02}, {"tension": 3.0, "optimize_tension": False},
     {"favor_diagonal": False}, {"variational_bayes": False}],
    ids=str,
)  # fmt: skip
def test_every_setting_changes_the_hash(text, model, change):
    with FastAlign.train(text, **change) as other:
        assert other.hash != model.hash
        assert len(other.hash) == 12


@pytest.mark.parametrize("diagonal", [True, False])
def test_another_fast_align_gives_the_same_links_and_scores(tmp_path, text, diagonal, monkeypatch):
    links, scores = [], []
    for is_ours in (True, False):
        if not is_ours:
            fake = someone_elses(tmp_path / "fast_align", find_fast_align().path)
            monkeypatch.setenv("FAST_ALIGN", str(fake))
        with FastAlign.train(text, favor_diagonal=diagonal, p0=0.05) as trained:
            unknown = [("w1", "new"), ("w1", "W1"), ("w1", "new new")]
            links.append([list(trained.training_links(method)) for method in SYMMETRIZATIONS])
            links[-1] += [list(trained.align(text)), list(trained.align(unknown, "forward"))]
            scores.append([score or 0.0 for score in trained.scores(text)])
            assert ("forward.full" in trained.manifest.tables) == is_ours
    assert links[0] == links[1]
    assert scores[0] == pytest.approx(scores[1], rel=1e-5)
    assert [score == 0 for score in scores[0]] == [not all(pair) for pair in text]


def test_a_loaded_model_is_the_same(tmp_path, text, model, links):
    model.save(tmp_path / "one")
    with FastAlign.load(tmp_path / "one") as loaded:
        assert loaded.manifest == model.manifest
        loaded.save(tmp_path / "two")
        assert list(loaded.align(text)) == links
    assert (tmp_path / "two").read_bytes() == (tmp_path / "one").read_bytes()


def test_training_links_are_joined_and_not_kept_with_the_model(tmp_path, text):
    """The links of every method are golden files of ``test_carried_golden.py``."""
    with FastAlign.train(text) as model:
        joined = list(model.training_links("grow-diag-final-and"))
        assert list(model.training_links()) == joined
        both = zip(model.training_links("forward"), model.training_links("reverse"), strict=True)
        assert joined == [symmetrize(*pair, "grow-diag-final-and") for pair in both]
        with pytest.raises(ValueError, match="unknown symmetrization 'both'"):
            model.training_links("both")
        model.save(tmp_path / "model")
    with FastAlign.load(tmp_path / "model") as loaded, pytest.raises(AlignerDataError) as caught:
        loaded.training_links()
    assert str(caught.value) == "links of the training text are not kept in the model file"


@pytest.mark.parametrize("method", SYMMETRIZATIONS)
def test_the_aligner_joins_links_as_python_does(text, model, method):
    both = zip(model.align(text, "forward"), model.align(text, "reverse"), strict=True)
    assert list(model.align(text, method)) == [symmetrize(*pair, method) for pair in both]


def test_the_vocabulary_is_that_of_the_training_text(tmp_path):
    odd = ["|||", "<eps>", "a b", "\\", "␛", "\ud800", "é\n"]
    pairs = [([f"s{n}", *odd], [f"t{n}", *odd, "w"]) for n in range(9)] + [("left out", "")]
    with FastAlign.train(pairs) as model:
        model.save(tmp_path / "model")
    with FastAlign.load(tmp_path / "model") as loaded:
        sources, targets = loaded.vocabulary()
    assert sources == {*odd, *(f"s{n}" for n in range(9))}
    assert targets == {*odd, *(f"t{n}" for n in range(9)), "w"}


def test_notes_are_kept_and_do_not_change_the_hash(tmp_path, text, model):
    notes = {"tokenize": "13a"}

    def filling():
        for pair in text:
            notes["last"] = list(pair)
            yield pair

    with FastAlign.train(filling(), notes=notes) as noted:
        noted.save(tmp_path / "model")
    assert noted.hash == model.hash
    assert model.manifest.notes == {}
    with FastAlign.load(tmp_path / "model") as loaded:
        assert loaded.manifest.notes == {"tokenize": "13a", "last": list(text[-1])}
        assert loaded.manifest == noted.manifest
    with pytest.raises(TypeError, match="not JSON serializable"):
        FastAlign.train(text, notes={"tokenize": {1}})


def fails_to_load(path):
    with pytest.raises(AlignerDataError) as caught, FastAlign.load(path) as model:
        list(model.align([("w1", "W1")], symmetrize="forward"))
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


def test_files_that_are_not_models_are_errors(tmp_path):
    path = tmp_path / "model"
    assert fails_to_load(path) == "no such file"
    assert fails_to_load(tmp_path) == "is a folder; name a model file"
    path.write_text("w1 ||| W1\n")
    assert fails_to_load(path) == "no model of 'align train', or damaged (File is not a zip file)"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.txt", "x")
    assert fails_to_load(path) == "is not an aligner model: it has no valid manifest.json"
    for content in ("[1]", '{"format": "something else"}'):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("manifest.json", content)
        assert fails_to_load(path) == "is not an aligner model of coverage-eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", "{")
    assert fails_to_load(path).startswith("no model of 'align train', or damaged (Expecting")


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
        node = values
        *parents, last = name.split("/")
        for parent in parents:
            node = node[parent]
        node[last] = value

    return change


def forged(name, value):
    def change(values):
        values[name] = value
        values["digest"] = _digest(values)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (damaged("format_version", 5), "made by another version; train it again with: "
         "coverage-eval align train SRC TGT -o MODEL"),
        (damaged("forward/tension", 5.0), "damaged aligner model: manifest: the digest differs"),
        (damaged("notes", {"case": "lc"}), "damaged aligner model: manifest: the digest differs"),
        (damaged("pairs", "x"), "damaged aligner model: manifest: the digest differs"),
        (damaged("attached", {"x": "0" * 64}),
         "damaged aligner model: manifest: the digest differs"),
        (forged("attached", {"../x": "0" * 64}),
         "damaged aligner model: manifest: an attached file with an invalid name"),
        (forged("tables", {"../x": "0" * 64}),
         "damaged aligner model: manifest: unexpected names of tables"),
    ],
)  # fmt: skip
def test_damaged_manifests_are_errors(tmp_path, model, change, message):
    path = tmp_path / "model"
    model.save(path)
    rewrite(path, change)
    assert fails_to_load(path) == message


def test_attached_files_are_kept_with_a_model(tmp_path, text, model, links):
    first, second = tmp_path / "first", tmp_path / "second"
    model.save(first)
    plain = first.read_bytes()
    with FastAlign.load(first) as loaded:
        assert loaded.attachment("table.json") is None
        assert loaded.attached_model("other.model") is None
        loaded.attach("table.json", lambda path: path.write_text("old"))
        loaded.attach("table.json", lambda path: path.write_text("{}"))
        loaded.attach("other.model", model.save)
        loaded.save(second)
        assert loaded.hash == model.hash
        for name in ("../x", "", "X", ".x"):
            with pytest.raises(ValueError, match="not the name of an attachment"):
                loaded.attach(name, model.save)
    with FastAlign.load(second) as loaded:
        assert loaded.attachment("table.json").read_text() == "{}"
        with loaded.attached_model("other.model") as other:
            assert list(other.align(text)) == links
        loaded.save(first)
    assert first.read_bytes() == second.read_bytes() != plain
    rewrite(second, replace={"attached/table.json": b"[]"})
    with FastAlign.load(second) as loaded, pytest.raises(AlignerDataError, match="not what was"):
        loaded.attachment("table.json")


def test_missing_and_replaced_tables_are_errors(tmp_path, model):
    path = tmp_path / "model"
    model.save(path)
    rewrite(path, drop=["reverse.full"])
    assert fails_to_load(path) == "damaged aligner model: reverse.full is missing"
    model.save(path)
    rewrite(path, replace={"forward.params": b"a\tb\t-1\n"})
    assert fails_to_load(path) == "damaged aligner model: forward.params is not what was saved"


def test_no_flipped_bit_changes_a_table(tmp_path):
    """One bit of every ninth byte is flipped; each table is either as saved or refused."""
    path, table = tmp_path / "model", tmp_path / "table"
    with FastAlign.train([("a b", "A B"), ("b", "B")]) as small:
        small.save(path)
    data = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        saved = {name: archive.read(name) for name in archive.namelist()}
    noticed = 0
    positions = range(0, len(data), 9)
    for position in positions:
        flipped = bytearray(data)
        flipped[position] ^= 1 << position % 8
        path.write_bytes(flipped)
        try:
            for name, sha256 in read_manifest(path).tables.items():
                extract_table(path, name, sha256, table)
                assert table.read_bytes() == saved[name]
        except AlignerDataError:
            noticed += 1
    assert noticed > len(positions) // 2


def test_a_model_is_written_completely_or_not_at_all(tmp_path, model):
    with pytest.raises(AlignerDataError, match="cannot be written"):
        model.save(tmp_path / "nowhere" / "model")
    path = tmp_path / "model"
    path.write_text("old")
    (path.parent / "folder").mkdir()
    with pytest.raises(AlignerDataError, match="is a folder"):
        model.save(tmp_path / "folder")
    assert path.read_text() == "old"
    assert sorted(item.name for item in tmp_path.iterdir()) == ["folder", "model"]


def test_the_table_has_the_probabilities_of_posteriors(tmp_path):
    """Without the preference for the diagonal, posteriors are shares of p(t | s) and of NULL's."""
    pairs = [("a b", "x y"), ("a", "x"), ("b |||", "y z")] * 5
    with FastAlign.train(pairs, favor_diagonal=False) as model:
        model.save(tmp_path / "model")
    with FastAlign.load(tmp_path / "model") as loaded:
        table = {(given, generated): math.exp(value) for given, generated, value in loaded.table()}
        (posterior,) = loaded.posteriors([("a |||", "z")])
    joint = [0.92 / 2 * table.get((given, "z"), 1e-9) for given in ("a", "|||")]
    null = 0.08 * table.get(("<eps>", "z"), 1e-9)
    assert posterior.matrix[0] == pytest.approx(np.array(joint) / (sum(joint) + null), rel=1e-3)


def test_a_killed_process_leaves_its_model_to_the_next(tmp_path, model, monkeypatch):
    """Loading a model changes no signal handler; a folder that a living process uses stays."""
    path, temporary = tmp_path / "model", tmp_path / "temporary"
    model.save(path)
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    program = (
        "import signal\n"
        "from fast_align_wrapper import FastAlign\n"
        f"model = FastAlign.load({str(path)!r})\n"
        "assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL\n"
        "print('ready', flush=True)\n"
        "signal.pause()\n"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(temporary)},
    )  # fmt: skip
    with run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"ready\n"
        (folder,) = temporary.iterdir()
        with FastAlign.load(path) as loaded:
            assert next(loaded.align([("a", "x")])) is not None
            assert folder.exists()
        run.send_signal(signal.SIGTERM)
    assert run.returncode == -signal.SIGTERM
    assert folder.exists()
    with FastAlign.load(path):
        assert not folder.exists()
    assert not any(temporary.iterdir())
