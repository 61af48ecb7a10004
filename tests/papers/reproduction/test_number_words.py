"""The number-words task: examples, training and its continuation, and the command."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from coverage_eval.attention.losses import cross_entropy, sparsemax_loss
from coverage_eval.errors import DataError
from coverage_eval.papers.reproduction.number_words import (
    LETTERS,
    SYMBOLS,
    DigitsResult,
    DigitsSettings,
    TrainedReader,
    draw_examples,
    spell,
)

SMALL = DigitsSettings(examples=3600, batch=60, shortest=1, longest=2, size=16, rate=0.03, valid=40)


def test_the_letters_of_an_example_spell_its_digits():
    examples = draw_examples(np.random.default_rng(1), 200, shortest=2, longest=4)
    assert {len(number) for number in examples.numbers} == {2, 3, 4}
    for number, letters, symbols in zip(
        examples.numbers, examples.letters, examples.symbols, strict=True
    ):
        assert "".join(LETTERS[i - 1] for i in letters if i > 0) == spell(number)
        assert "".join(SYMBOLS[i] for i in symbols if i >= 0) == number + "#"
    assert spell("0918") == "zero nine one eight"


def test_the_table_has_means_intervals_and_a_verdict():
    def reader(attention, seed, symbols):
        return TrainedReader(attention, seed, symbols, symbols / 2, 3.0, "")

    result = DigitsResult(
        (reader("softmax", 1, 70.0), reader("sparsemax", 1, 90.0), reader("softmax", 2, 80.0)),
        DigitsSettings(),
    )
    soft, sparse = result.rows()
    # Student's t at 97.5% with one degree of freedom is 12.7062; the standard error here is 5.
    assert soft[:3] == ["softmax", 75.0, 75.0]
    assert soft[3] == pytest.approx(5 * 12.7062, rel=1e-5)
    assert sparse[:4] == ["sparsemax", 98.0, 90.0, None]
    assert result.verdicts()[-1] == "Sparsemax above softmax with 1 of 1 seeds (symbols)."
    assert "seed:1,2|examples:100000" in result.signatures()[0]


@pytest.mark.needs("torch")
def test_the_model_follows_the_reports_equation():
    """Eq. 12 in NumPy, for one example without padding."""
    torch = pytest.importorskip("torch", reason="PyTorch is in the extra 'torch'")
    from coverage_eval.papers.reproduction.number_words_training import DigitReader

    torch.manual_seed(3)
    model = DigitReader("softmax", 5).double()
    weights = {name: value.detach().numpy() for name, value in model.named_parameters()}
    assert all((w == 0).all() for name, w in weights.items() if "bias" in name)
    assert max(np.abs(w).max() for w in weights.values()) <= 0.2
    letters = np.array([3, 1, 4, 1, 5])

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    def gru(x, h, prefix, suffix):
        into, back = (
            weights[f"{prefix}weight_ih{suffix}"] @ x,
            weights[f"{prefix}weight_hh{suffix}"] @ h,
        )
        reset, update = sigmoid(into[:5] + back[:5]), sigmoid(into[5:10] + back[5:10])
        return (1 - update) * np.tanh(into[10:] + reset * back[10:]) + update * h

    h, memory = np.zeros(5), []
    for letter in letters:
        h = gru(weights["embedding.weight"][letter], h, "encoder.", "_l0")
        memory.append(h)
    memory, s = np.array(memory), h
    a, u = weights["attention.scorer.query_weight"], weights["attention.scorer.memory_weight"]
    scores, attention = model(torch.from_numpy(letters)[None], 3)
    for step in range(3):
        e = np.tanh(a @ s + memory @ u.T) @ weights["attention.scorer.energy"]
        alpha = np.exp(e) / np.exp(e).sum()
        s = gru(alpha @ memory, s, "decoder.", "")
        np.testing.assert_allclose(attention[0, step].detach().numpy(), alpha, atol=1e-12)
        np.testing.assert_allclose(
            scores[0, step].detach().numpy(), weights["out.weight"] @ s, atol=1e-12
        )


@pytest.mark.needs("torch")
@pytest.mark.parametrize("attention", ["softmax", "sparsemax"])
def test_padding_changes_nothing(attention):
    torch = pytest.importorskip("torch", reason="PyTorch is in the extra 'torch'")
    from coverage_eval.papers.reproduction.number_words_training import DigitReader

    model = DigitReader(attention, 6)
    alone, _ = model(torch.tensor([[2, 7, 1]]), 2)
    among, alpha = model(torch.tensor([[2, 7, 1, 0, 0], [4, 4, 4, 4, 4]]), 2)
    assert torch.allclose(alone[0], among[0], atol=1e-6)
    assert (alpha[0, :, 3:] == 0).all()


@pytest.mark.needs("torch")
@pytest.mark.parametrize(
    ("layer", "loss_of"), [("softmax", cross_entropy), ("sparsemax", sparsemax_loss)]
)
def test_the_loss_is_the_output_layers_over_real_symbols(layer, loss_of):
    torch = pytest.importorskip("torch", reason="PyTorch is in the extra 'torch'")
    from coverage_eval.papers.reproduction import number_words_training as training

    settings = replace(SMALL, longest=4, output_layer=layer)
    examples = settings.draw(5, [7])
    torch.manual_seed(3)
    model = training.DigitReader("sparsemax", 6)
    with torch.no_grad():
        scores, _ = model(torch.from_numpy(examples.letters), examples.symbols.shape[1])
    real = examples.symbols >= 0
    assert not real.all(), "padding counts for nothing"
    expected = loss_of(scores.numpy()[real], np.eye(len(SYMBOLS))[examples.symbols[real]])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    found = training._step(model, optimizer, examples, settings)
    assert found == pytest.approx(expected.mean(), rel=1e-5)


@pytest.mark.needs("torch")
def test_models_learn_and_a_killed_training_continues_to_the_same_result(tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="PyTorch is in the extra 'torch'")
    from coverage_eval.papers.reproduction import number_words_training as training

    whole = training.reproduce_digits(tmp_path / "whole", SMALL, [1])
    log = [
        json.loads(line)
        for line in (tmp_path / "whole/sparsemax/seed-1/epochs.jsonl").read_text().splitlines()
    ]
    assert log[-1]["loss"] < 0.7 * log[0]["loss"]
    assert log[-1]["symbols"] > log[0]["symbols"] + 10

    real, calls = training._step, []

    def killed(*arguments):
        calls.append(1)
        if len(calls) == 85:  # in the second training, after its first checkpoint
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(training, "_step", killed)
    with pytest.raises(KeyboardInterrupt):
        training.reproduce_digits(tmp_path / "broken", SMALL, [1])
    assert not (tmp_path / "broken/digits.csv").exists()
    broken = training.reproduce_digits(tmp_path / "broken", SMALL, [1], resume=True)
    assert len(calls) == 85 + 40  # steps 21 to 60 of the second training, and none of the first
    assert broken == whole
    for name in ("digits.csv", "softmax.attention.jsonl", "sparsemax.attention.jsonl"):
        assert (tmp_path / "broken" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.needs("torch")
def test_folders_with_another_run_or_other_files_are_refused(tmp_path):
    pytest.importorskip("torch", reason="PyTorch is in the extra 'torch'")
    from coverage_eval.papers.reproduction.number_words_training import reproduce_digits

    run = tmp_path / "run"
    reproduce_digits(run, SMALL, [])
    with pytest.raises(DataError, match="already has a run; continue it with --resume"):
        reproduce_digits(run, SMALL, [1])
    with pytest.raises(DataError, match="the run began with examples 3600, not 100000"):
        reproduce_digits(run, DigitsSettings(), [1], resume=True)
    (tmp_path / "else").mkdir()
    (tmp_path / "else/file").write_text("x")
    with pytest.raises(DataError, match="is not a run"):
        reproduce_digits(tmp_path / "else", SMALL, [1])


@pytest.mark.needs("torch")
def test_the_command_writes_a_run_and_adds_seeds_to_it(tmp_path, run_cli):
    pytest.importorskip("torch", reason="PyTorch is in the extra 'torch'")
    folder = tmp_path / "run"
    sizes = {"examples": 100, "batch": 20, "shortest": 1, "longest": 2, "size": 4, "valid": 20}
    options = [f"--{name}={value}" for name, value in sizes.items()]
    done = run_cli("reproduce", "digits", "-o", folder, "--seeds", 1, *options, "-f", "csv")
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [(row["attention"], row["printed"]) for row in rows] == [
        ("softmax", "75.0"), ("sparsemax", "98.0"),
    ]  # fmt: skip
    for name in ("digits.csv", "manifest.json", "softmax.png", "sparsemax.png"):
        assert (folder / name).stat().st_size > 0
    more = run_cli("reproduce", "digits", "-o", folder, "--seeds", 2, *options, "--resume")
    assert "seed:1,2|" in more.stdout
    assert len((folder / "digits.csv").read_text().splitlines()) == 5
    other = run_cli(
        "reproduce", "digits", "-o", folder, *options, "--output-layer=sparsemax", "--resume",
        check=False,
    )  # fmt: skip
    assert "the run began with output_layer softmax, not sparsemax" in other.stderr
    wrong = run_cli("reproduce", "digits", "-o", folder, "--shortest", 30, check=False)
    assert wrong.returncode == 2
    assert "--longest is below --shortest" in wrong.stderr
