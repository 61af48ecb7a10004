"""Links from an encoder's vectors, by a tiny encoder; both papers' methods in plain loops."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

import coverage_eval as ce  # noqa: E402
from coverage_eval.alignment.aligner import Aligner  # noqa: E402
from coverage_eval.alignment.encoder import METHODS, link_pieces  # noqa: E402
from coverage_eval.data.dataset import Row  # noqa: E402
from coverage_eval.errors import DataError, MissingDependencyError  # noqa: E402
from coverage_eval.metrics.omission_finder import OmissionFinder  # noqa: E402

WORDS = ["das", "haus", "ist", "rot", "the", "house", "is", "red"]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an encoder for eight words of two languages; its layers do nothing.

    A word and its translation have the same embedding, so the links are known.
    """
    folder = tmp_path_factory.mktemp("encoder")
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    (folder / "vocab.txt").write_text("\n".join([*special, *WORDS, "##s", "##chen"]) + "\n")
    tokenizer = transformers.BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=False)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=15, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=32,
    )  # fmt: skip
    model = transformers.BertModel(config).eval()
    with torch.no_grad():
        embeddings = model.embeddings
        embeddings.position_embeddings.weight.zero_()
        embeddings.token_type_embeddings.weight.zero_()
        # Each word and its translation are far from all other words.
        values = 0.01 * torch.randn(15, 16)
        for n in range(4):
            for place in (5 + n, 9 + n):
                values[place, 3 * n] += 20.0
        embeddings.word_embeddings.weight.copy_(values)
        for layer in model.encoder.layer:
            for part in (layer.attention.output.dense, layer.output.dense):
                part.weight.zero_()
                part.bias.zero_()
    model.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("method", METHODS)
def test_words_that_mean_the_same_are_linked(encoder, method):
    aligner = Aligner.from_encoder(str(encoder), layer=1, method=method, batch_size=2)
    rows = [
        Row(("red is the house", ""), ("the house is red",), "das haus ist rot"),
        Row(("the house", "is"), ("the",), "das haus ist", ("house is",)),
    ]
    first, second = aligner.align(rows)
    assert first.references == (((0, 0), (1, 1), (2, 2), (3, 3)),)
    assert set(first.hypotheses[0]) == {(3, 0), (2, 1), (0, 2), (1, 3)}
    assert first.hypotheses[1] == ()
    assert second.hypotheses[1] == ((2, 0),)
    covered = list(aligner.cover(rows))
    assert covered[1].hypotheses[0] == pytest.approx([1, 1, 0], abs=0.01)
    assert len(covered[1].hypotheses) == 2
    assert covered[1].peers[0] == pytest.approx([0, 1, 1], abs=0.01)
    assert covered[0].lengths == (4, 0)
    assert list(aligner.cover(rows, "target"))[1].hypotheses[1] == pytest.approx([1], abs=0.01)


def test_words_may_have_several_pieces_or_none(encoder):
    aligner = Aligner.from_encoder(str(encoder), layer=1)
    (row,) = aligner.cover([Row(("house houses",), (), "\u200d haus")])
    assert row.source == ["\u200d", "haus"]
    assert row.hypotheses[0] == pytest.approx([0, 1], abs=0.05)


def test_an_encoder_gives_scores_and_is_signed(encoder):
    aligner = Aligner.from_encoder(str(encoder), layer=2)
    score = ce.drop(["the house is"], ["the house is red"], ["das haus ist rot"], aligner)
    assert score.score == 25
    assert "|aligner:encoder|model:" in str(score.signature)
    assert "|layer:2|sym:softmax|" in str(score.signature)
    (found,) = OmissionFinder.of(aligner).find_texts(["the"], ["das haus ist rot"])
    assert [mark.text for mark in found.marks] == ["haus ist rot"]
    other = Aligner.from_encoder(str(encoder), layer=0)
    assert other.settings["model"] == aligner.settings["model"]


def test_nothing_is_downloaded(encoder):
    loaders = (transformers.AutoTokenizer, transformers.AutoModel)
    with ExitStack() as stack:
        loads = [
            stack.enter_context(mock.patch.object(x, "from_pretrained", wraps=x.from_pretrained))
            for x in loaders
        ]
        Aligner.from_encoder(str(encoder), layer=1)
    for load in loads:
        load.assert_called_once_with(str(encoder), local_files_only=True)


def test_commands_accept_an_encoder(run_cli, encoder, tmp_path):
    texts = {"src": "das haus ist rot", "ref": "the house is red", "hyp": "the house is"}
    for name, line in texts.items():
        (tmp_path / name).write_text(f"{line}\n")
    by = ("--src", "src", "--encoder", encoder, "--encoder-layer", 1)
    assert run_cli("drop", "hyp", "ref", *by, "-b", cwd=tmp_path).stdout == "25.00\n"
    done = run_cli("omissions", "hyp", *by, "--sentence-level", "-f", "csv", cwd=tmp_path)
    assert done.stderr.startswith("coverage-eval: warning: soft links do not tell")
    assert len(done.stderr.splitlines()) == 1
    table = run_cli("omissions", "hyp", *by, "-f", "csv", cwd=tmp_path).stdout
    assert "|aligner:encoder|" in table
    for more, status, said in (
        (("--model", "m"), 2, "give only one of"),
        (("--symmetrize", "union"), 2, "--symmetrize is not for --encoder"),
        (("--encoder", "no/such"), 1, "encoder no/such: is not in your cache"),
    ):
        done = run_cli("drop", "hyp", "ref", *by, *more, cwd=tmp_path, check=False)
        assert done.returncode == status
        assert said in done.stderr


def test_softmax_equals_awesome_align():
    """Two softmaxes, a threshold, and the harmonic mean, element by element."""
    rng = np.random.default_rng(1)
    source, target = rng.normal(size=(5, 8)), rng.normal(size=(4, 8))
    found = link_pieces(torch.tensor(source), torch.tensor(target), "softmax")
    products = np.exp(source @ target.T)
    for i in range(5):
        for j in range(4):
            forward = products[i, j] / products[i].sum()
            backward = products[i, j] / products[:, j].sum()
            mean = 2 / (1 / forward + 1 / backward) if min(forward, backward) > 1e-3 else 0
            assert found[i, j] == pytest.approx(mean, abs=1e-6)


def simalign(similarity: np.ndarray, *, again: bool) -> np.ndarray:
    """Argmax and itermax in plain loops, as sections 2.2 and 2.3 of the paper describe them."""
    m, n = similarity.shape
    linked = np.zeros((m, n))
    for i in range(m):
        j = max(range(n), key=lambda j: similarity[i, j])
        if max(range(m), key=lambda k: similarity[k, j]) == i:
            linked[i, j] = 1
    if not again or min(m, n) <= 2:
        return linked
    source_done, target_done = linked.any(1), linked.any(0)
    if source_done.all() or target_done.all():
        return linked
    reduced = similarity.copy()
    for i in range(m):
        for j in range(n):
            if source_done[i] and target_done[j]:
                reduced[i, j] = 0
            elif source_done[i] or target_done[j]:
                reduced[i, j] *= 0.9
    more = simalign(reduced, again=False)
    for i in range(m):
        for j in range(n):
            if more[i, j] and not (source_done[i] and target_done[j]):
                linked[i, j] = 1
    return linked


@pytest.mark.parametrize("seed", range(20))
def test_argmax_and_itermax_equal_simalign(seed):
    rng = np.random.default_rng(seed)
    source, target = rng.normal(size=(rng.integers(1, 8), 6)), rng.normal(size=(5, 6))
    if seed % 5 == 0:  # each source word is linked, and one or two target words are not
        source = target[: 3 + seed % 2]
    if seed % 5 == 1:  # one of two source words is linked; so few words are linked only once
        source = target[0] + rng.normal(size=(2, 6)) / 10
    normal = [x / np.linalg.norm(x, axis=1, keepdims=True) for x in (source, target)]
    similarity = (normal[0] @ normal[1].T + 1) / 2
    for method in ("argmax", "itermax"):
        found = link_pieces(torch.tensor(source), torch.tensor(target), method)
        np.testing.assert_array_equal(found, simalign(similarity, again=method == "itermax"))


def test_the_batch_size_does_not_matter(encoder):
    texts = [" ".join(WORDS[n % 4 : n % 4 + 1 + n % 5]) for n in range(40)]
    rows = [Row((text[::-1], text), (), texts[-n]) for n, text in enumerate(texts)]
    found = [
        np.concatenate([one for row in aligner.cover(rows) for one in row.hypotheses])
        for aligner in (
            Aligner.from_encoder(str(encoder), layer=2, batch_size=size) for size in (1, 64)
        )
    ]
    np.testing.assert_allclose(found[0], found[1], atol=1e-5)


def test_errors_say_what_is_wrong(encoder):
    with pytest.raises(MissingDependencyError, match="encoder no/such-one: is not in your cache"):
        Aligner.from_encoder("no/such-one")
    with pytest.raises(ValueError, match="layer is 0 to 2"):
        Aligner.from_encoder(str(encoder))
    with pytest.raises(ValueError, match="method is one of softmax, argmax, itermax, not 'mai'"):
        Aligner.from_encoder(str(encoder), layer=1, method="mai")
    aligner = Aligner.from_encoder(str(encoder), layer=1)
    list(aligner.cover([Row(("the",), (), "das " * 30)]))  # 32 subwords with [CLS] and [SEP]
    with pytest.raises(DataError, match=r"has 33 subwords, and .* takes at most 32"):
        list(aligner.cover([Row(("the",), (), "das " * 31)]))
    with pytest.raises(DataError, match="the source text is needed"):
        list(aligner.cover([Row(("the",))]))


def test_every_device_gives_the_same_links(encoder):
    """The CPU, chosen by name, and a GPU if there is one."""
    rows = [Row(("red is the house",), ("the house is red",), "das haus ist rot")]
    expected = next(Aligner.from_encoder(str(encoder), layer=1).cover(rows))
    for device in ("cpu", *["cuda"] * torch.cuda.is_available()):
        found = next(Aligner.from_encoder(str(encoder), layer=1, device=device).cover(rows))
        np.testing.assert_allclose(found.hypotheses, expected.hypotheses, atol=1e-4)
