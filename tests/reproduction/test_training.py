"""Beam search against an exhaustive search, and a run from end to end, twice."""

from __future__ import annotations

import csv
import filecmp
import json
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("tokenizers", reason="tokenizers are not installed")

from coverage_eval.attention import attend_with_credit, coverage_penalty, penalized_score
from coverage_eval.attention_maps import load
from coverage_eval.core.texts import read_segments
from coverage_eval.core.tokenizers import SINK
from tests.conftest import ROOT
from tests.reproduction.conftest import SCRIPTS

from corpus import END, UNKNOWN_ID, BytePairs, Minibatch, PieceText, Vocabulary  # isort: skip
from corpus import make_minibatches  # isort: skip
from model import Translator  # isort: skip
from search import Penalties, beam_search  # isort: skip
from systems import Settings, System, find_systems  # isort: skip

SOURCE, TARGET = Vocabulary([SINK, *"abc"]), Vocabulary("xy")
SMALL = Settings(embedding=6, hidden=8, initial=0.9, dropout=0.0)
SYSTEMS = [
    System("softmax"),
    System("sparsemax", "sparsemax", coverage=True),
    System("csoftmax", "constrained_softmax", fertility=1.3, exhaustion=0.2),
    System("csparsemax", "constrained_sparsemax", fertility=1.3, exhaustion=0.2),
]
PENALTIES = [Penalties(), Penalties(alpha=0.8), Penalties(beta=0.6), Penalties(0.4, 1.0)]


def _model(system: System, scoring: str = "bilinear") -> Translator:
    torch.manual_seed(0)
    settings = replace(SMALL, scoring=scoring)
    model = Translator(settings, system, len(SOURCE), len(TARGET)).double().eval()
    with torch.no_grad():
        model.output.bias[END] += 2.0  # translations short enough to list all of them
    return model


def _batch(sources: list[str], targets: list[tuple[str, ...]] | None = None) -> Minibatch:
    pieces = [(*source, SINK) for source in sources]
    bounds = [np.append(np.full(len(s), 1.3), np.inf) for s in sources]
    text = PieceText(pieces, targets or [()] * len(sources))
    (batch,) = make_minibatches(text, SOURCE, TARGET, bounds, size=len(sources))
    return replace(batch, fertilities=batch.fertilities.double())


@torch.no_grad()
def _score(
    model: Translator, source: str, numbers: tuple[int, ...], penalties: Penalties
) -> tuple[float, float, np.ndarray]:
    """log P, penalised score and attention of one translation, alone and given in full."""
    pieces = tuple(TARGET.pieces[number] for number in numbers)
    batch = _batch([source], [pieces])
    after = torch.tensor([[*numbers, END]])
    attentional, attention = model.decode(batch)
    logs = model.output(attentional).log_softmax(-1)
    log = float(logs.gather(2, after[:, :, None]).sum())
    covered = attention[0].numpy().sum(axis=0)[:-1]
    penalty = coverage_penalty(covered, beta=penalties.beta, epsilon=penalties.epsilon)
    score = float(penalized_score(log, len(numbers), penalty, alpha=penalties.alpha))
    return log, score, attention[0].numpy()


@pytest.mark.parametrize("penalties", PENALTIES, ids=str)
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_hypotheses_in_a_batch_get_the_scores_of_each_alone(system, penalties):
    model, sources = _model(system), ["abc", "c", "ba"]
    batch = _batch(sources)
    for row, found in zip(
        batch.rows, beam_search(model, batch, size=3, penalties=penalties), strict=True
    ):
        assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
        for hypothesis in found:
            log, score, attention = _score(model, sources[row], hypothesis.numbers, penalties)
            assert hypothesis.log_probability == pytest.approx(log, abs=1e-6)
            assert hypothesis.score == pytest.approx(score, abs=1e-6)
            np.testing.assert_allclose(hypothesis.attention, attention, atol=1e-6)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_a_wide_beam_finds_the_best_of_all_translations(system):
    """There are 81 translations of 4 pieces, so a beam of 81 prunes none up to that length."""
    model = _model(system)
    pieces = [UNKNOWN_ID, 4, 5]
    everything = [n for length in range(5) for n in product(pieces, repeat=length)]
    scored = {n: _score(model, "ab", n, Penalties())[0] for n in everything}
    best = sorted(scored.items(), key=lambda item: -item[1])[:5]
    (found,) = beam_search(model, _batch(["ab"]), size=81)
    short = [h for h in found if len(h.numbers) <= 4][:5]
    assert [h.numbers for h in short] == [numbers for numbers, _ in best]


@pytest.mark.parametrize("system", SYSTEMS[2:], ids=lambda system: system.name)
def test_the_models_attention_is_the_numpy_reference(system):
    """From the model's scores, step by step, with what is left of the fertilities."""
    model = _model(system)
    seen: list[np.ndarray] = []
    model.attention.scorer.register_forward_hook(lambda *a: seen.append(a[-1].detach().numpy()))
    with torch.no_grad():
        _, attention = model.decode(_batch(["abc"], [("x", "y", "x")]))
    scores = np.concatenate(seen)
    bounds, used = np.array([1.3, 1.3, 1.3, np.inf]), np.zeros(4)
    for step, ours in zip(scores, attention[0].numpy(), strict=True):
        left = bounds - used
        bonus = np.where(np.isinf(left), 0.0, 0.2 * left)
        (expected,), _ = attend_with_credit([step + bonus], left, system.transformation)
        np.testing.assert_allclose(ours, expected, atol=1e-7)
        used = used + ours


def test_byte_pairs_split_and_join_again():
    pairs = BytePairs.learn(["low lower lowest new newer"] * 3, 10)
    pieces = pairs.split(["lower", "slow"])
    assert " ".join(pieces).replace("@@ ", "") == "lower slow"
    assert any(piece.endswith("@@") for piece in pieces)


@pytest.fixture(scope="module")
def texts(tmp_path_factory) -> list[str]:
    """Options for some sentences of the Tanaka corpus, and small settings."""
    folder = tmp_path_factory.mktemp("texts")
    texts = []
    for part, first, last in (("train", 0, 250), ("valid", 250, 270), ("test", 270, 300)):
        names = [str(folder / f"{part}.{side}") for side in ("ja", "en")]
        for name in names:
            lines = list(read_segments(ROOT / "notebooks/tanaka" / f"test.{name[-2:]}"))
            text = "".join(f"{line}\n" for line in lines[first:last])
            Path(name).write_text(text, encoding="utf-8")
        texts += [f"--{part}", *names]
    settings = {**json.loads((SCRIPTS / "tiny.json").read_text("utf-8")), "epochs": 2, "hidden": 16}
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    return [*texts, "--settings", str(folder / "settings.json")]


def train(*options: object) -> str:
    """What train.py prints."""
    command = [sys.executable, SCRIPTS / "train.py", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def runs(texts, tmp_path_factory) -> list[Path]:
    """Two runs of three systems."""
    outputs = [tmp_path_factory.mktemp("runs") / f"run{number}" for number in range(2)]
    for run in outputs:
        systems = ("softmax", "softmax + COVPENALTY", "csparsemax")
        options = [word for system in systems for word in ("--system", system)]
        assert "csparsemax" in train(*texts, *options, "-o", run)
    return outputs


def test_two_runs_are_equal_to_the_bit(runs):
    files = [sorted(p.relative_to(run) for p in run.rglob("*") if p.is_file()) for run in runs]
    assert files[0] == files[1]
    assert len(files[0]) > 20
    for name in files[0]:
        assert filecmp.cmp(*(run / name for run in runs), shallow=False), name


def test_a_run_has_its_tables_translations_and_bounded_attention(runs):
    run = runs[0]
    with (run / "table1.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(dict.fromkeys(row["system"] for row in rows)) == [
        "softmax", "softmax + COVPENALTY", "softmax + COVPENALTY, rescoring", "csparsemax",
    ]  # fmt: skip
    outputs = json.loads((run / "manifest.json").read_text("utf-8"))["made"]
    penalized = outputs["softmax-penalized"]
    assert len(penalized["grid"]) == 36
    assert penalized["valid BLEU"] == max(point[2] for point in penalized["grid"])
    for system in find_systems("table1", ["softmax", "csparsemax"]):
        maps = load(run / "private" / f"{system.file}.attention.npz")
        texts = list(read_segments(run / f"{system.file}.test.hyp.gz"))
        assert len(maps) == len(texts) == 30
        for item, text in zip(maps, texts, strict=True):
            np.testing.assert_allclose(item.weights.sum(axis=1), 1, atol=1e-3)
            assert "".join(item.hypothesis_words).replace("@@", "") == text.replace(" ", "")


def test_chosen_epochs_translate_with_their_parameters(texts, runs, tmp_path):
    """The best epoch gives the translations of a whole run, and two test sets give them twice."""
    run = tmp_path / "run"
    again = ["--test", *texts[texts.index("--test") + 1 :][:2]]
    train(*texts, *again, "--system", "softmax", "--decode-after", "1", "2", "-o", run)
    made = [json.loads((x / "manifest.json").read_text("utf-8"))["made"] for x in (run, runs[0])]
    assert made[0]["softmax"] == made[1]["softmax"]
    best = made[0]["softmax"]["best epoch"]
    table = pd.read_csv(run / "softmax.by_epoch.csv.gz", na_filter=False)
    assert len(table) == 2 * 2 * 30
    parameters = [torch.load(run / f"private/softmax{name}.pt")["output.weight"]
                  for name in ("", f".epoch{best}", f".epoch{3 - best}")]  # fmt: skip
    assert torch.equal(parameters[0], parameters[1])
    assert not torch.equal(parameters[0], parameters[2])
    chosen = table[table["epoch"] == best]
    expected = list(read_segments(runs[0] / "softmax.test.hyp.gz"))
    assert chosen["as decoded"].to_list() == 2 * expected
    grid = made[0][f"softmax, epoch {best}"]
    if grid["alpha"] == 1:
        normalized = list(read_segments(runs[0] / "softmax.test.normalized.hyp.gz"))
        assert chosen["with α from validation"].to_list() == 2 * normalized
    epochs = [(x / "softmax.epochs.jsonl").read_text("utf-8") for x in (run, runs[0])]
    assert epochs[0] == epochs[1]
