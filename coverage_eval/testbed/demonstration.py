"""The main job on input that the package brings along, in a few seconds.

Appendix B of the paper shows what four real systems printed; a corpus of a small grammar, whose
links are known, shows that the aligner finds them and that REP and DROP find errors put into
outputs at known rates.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coverage_eval.alignment.aligner import DEFAULT_SYMMETRIZATION, Aligner, ModelAligner
from coverage_eval.alignment.gold_links import Gold
from coverage_eval.metrics.aer import AER
from coverage_eval.metrics.drop import DROP
from coverage_eval.metrics.rep import REP
from coverage_eval.metrics.sacrebleu_adapters import BLEU
from coverage_eval.metrics.soft_drop import SoftDROP
from coverage_eval.published.appendix_b import SYSTEMS, load_appendix_b
from coverage_eval.tables.table import Cell, Table
from coverage_eval.testbed.grammar import Pair, generate, paraphrase
from coverage_eval.testbed.injected_errors import omit_words, repeat_phrases
from coverage_eval.text.files import atomic_write

__all__ = ["demonstrate", "write_texts"]

TRAINING_PAIRS = 4000
TEST_PAIRS = 500
SEED = 2018

# Output → repetitions per word, share of words left out.
RATES = {"careful": (0.0, 0.0), "repeating": (0.03, 0.0), "dropping": (0.0, 0.1)}


@dataclass(frozen=True)
class _Texts:
    """The grammar's corpus and the outputs made from its test set."""

    training: list[Pair]
    test: list[Pair]
    outputs: dict[str, list[str]]

    @property
    def sources(self) -> list[str]:
        return [" ".join(pair.source) for pair in self.test]

    @property
    def references(self) -> list[str]:
        return [" ".join(pair.target) for pair in self.test]


def demonstrate(folder: Path | None = None) -> Iterator[Table]:
    """Run the demonstration, a table at a time.

    Args:
        folder: Write the texts and the model there too, to go on with by hand.

    Raises:
        AlignerError: The aligner failed, as all errors of
            :class:`~fast_align_wrapper.FastAlign`.
    """
    yield _appendix_b()
    texts = _make_texts()
    aligner = Aligner.train_pairs((pair.source, pair.target) for pair in texts.training)
    if folder is not None:
        write_texts(texts, folder)
        aligner.save(folder / "model")
    yield _alignment(aligner, texts)
    yield _outputs(aligner, texts)
    if folder is not None:
        yield _commands(folder)


def _appendix_b() -> Table:
    examples = load_appendix_b()
    rep, bleu = REP(), BLEU.acl2018()
    rows: list[tuple[Cell, ...]] = []
    for system in SYSTEMS:
        columns = (examples.outputs(system), examples.references)
        repeated = [
            " ".join(item.ngram)
            for pair in zip(*columns, strict=True)
            for item in rep.evidence(*pair)
        ]
        scores = [metric.corpus_score(*columns) for metric in (rep, bleu)]
        rows.append((system, *map(float, scores), ", ".join(f"'{ngram}'" for ngram in repeated)))
    return Table(
        ("system", "REP", "BLEU", "repeated"),
        tuple(rows),
        "Four systems of Malaviya et al. (2018), Appendix B: what they repeat",
        signatures=tuple(str(score.signature) for score in scores),
    )


def _make_texts() -> _Texts:
    pairs = generate(TRAINING_PAIRS + TEST_PAIRS, SEED)
    test = pairs[TRAINING_PAIRS:]
    # Translators differ, in training text as in outputs; a synonym takes the place of one word.
    translator = random.Random(SEED)  # noqa: S311 (not for secrets)
    training = [
        replace(pair, target=tuple(paraphrase(pair.target, 0.3, translator)))
        for pair in pairs[:TRAINING_PAIRS]
    ]
    outputs = {}
    for name, (repetitions, omissions) in RATES.items():
        generator = random.Random(f"{SEED} {name}")  # noqa: S311 (not for secrets)
        lines = []
        for pair in test:
            words = paraphrase(pair.target, 0.5, generator)
            words = omit_words(words, omissions, generator)
            lines.append(" ".join(repeat_phrases(words, repetitions, generator)))
        outputs[name] = lines
    return _Texts(training, test, outputs)


def _alignment(aligner: ModelAligner, texts: _Texts) -> Table:
    pairs = [(pair.source, pair.target) for pair in texts.test]
    gold = [Gold(pair.links, ()) for pair in texts.test]
    rows = []
    metric = AER()
    for method in ("forward", "reverse", DEFAULT_SYMMETRIZATION):
        links = aligner.model.align(pairs, method)
        rows.append((method, metric.score(metric.count(zip(links, gold, strict=True))).score))
    title = (
        f"Word aligner, trained on {TRAINING_PAIRS:,} German-English pairs of a small grammar: "
        f"alignment error rate on {TEST_PAIRS} others, whose links are known"
    )
    return Table(("links", "AER"), tuple(rows), title, notes=(f"model {aligner.model.hash}",))


def _outputs(aligner: ModelAligner, texts: _Texts) -> Table:
    metrics = (REP(), DROP(aligner), SoftDROP(aligner), BLEU(tokenize="none"))
    rows: list[tuple[Cell, ...]] = []
    for name, hypotheses in texts.outputs.items():
        columns = (hypotheses, texts.references, texts.sources)
        scores = [metric.corpus_score(*columns) for metric in metrics]
        repetitions, omissions = (f"{100 * rate:.0f} %" for rate in RATES[name])
        rows.append((name, repetitions, omissions, *map(float, scores)))
    return Table(
        ("output", "repeated", "left out", "REP", "DROP", "SoftDROP", "BLEU"),
        tuple(rows),
        "Three outputs with repetitions and omissions put in per word: what the scores find",
        signatures=tuple(str(score.signature) for score in scores),
    )


def _commands(folder: Path) -> Table:
    """What to type next; a table of notes alone."""
    commands = (
        f"  coverage-eval rep {folder}/repeating.en {folder}/test.en",
        f"  coverage-eval drop {folder}/dropping.en {folder}/test.en "
        f"--src {folder}/test.de --model {folder}/model",
    )
    return Table((), (), "Go on by hand:", notes=commands)


def write_texts(texts: _Texts, folder: Path) -> None:
    """Write corpus and outputs as text files, one segment a line."""
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "train.de", (pair.source for pair in texts.training))
    _write(folder / "train.en", (pair.target for pair in texts.training))
    _write(folder / "test.de", (pair.source for pair in texts.test))
    _write(folder / "test.en", (pair.target for pair in texts.test))
    links = ([f"{i}-{j}" for i, j in pair.links] for pair in texts.test)
    _write(folder / "test.links", links)
    for name, lines in texts.outputs.items():
        _write(folder / f"{name}.en", (line.split(" ") for line in lines))


def _write(path: Path, rows: Iterator[Sequence[str]]) -> None:
    with atomic_write(path) as file:
        file.writelines(" ".join(row) + "\n" for row in rows)
