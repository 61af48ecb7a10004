"""A demonstration on bundled input, in a few seconds.

A corpus from a small grammar has known links: the aligner finds them, and REP and DROP find errors
that were put into outputs at known rates.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.alignment.gold_links import Gold
from coverage_eval.comparison.comparison import Comparison, compare
from coverage_eval.data.files import atomic_write
from coverage_eval.errors import DataError
from coverage_eval.metrics.aer import AER
from coverage_eval.metrics.drop import DROP, SoftDROP
from coverage_eval.metrics.evaluation import TextMetric
from coverage_eval.metrics.rep import REP
from coverage_eval.metrics.sacrebleu_adapters import BLEU
from coverage_eval.tables.table import Cell, Table
from coverage_eval.testbed.grammar import Pair, generate, paraphrase
from coverage_eval.testbed.injection import inject_lines
from fast_align_wrapper.links import DEFAULT_SYMMETRIZATION, format_links

TRAINING_PAIRS = 4000
TEST_PAIRS = 500
SEED = 2018

RATES = {"careful": (0.0, 0.0), "repeating": (0.06, 0.0), "dropping": (0.0, 0.1)}
"""Name of an output → shares of words repeated and left out, 0 to 1."""


def demonstrate(
    folder: Path | None = None,
    report: Path | None = None,
    write_report: Callable[[Comparison, Path], None] | None = None,
) -> Iterator[Table]:
    """Run the demonstration, one table at a time.

    >>> *_, outputs = demonstrate()
    >>> [row[0] for row in outputs.rows]
    ['careful', 'repeating', 'dropping']

    Args:
        folder: Also write the texts and the model here, to try commands by hand.
        report: Also write the HTML report of the three outputs to this file.
        write_report: Writes it.

    Raises:
        DataError: The folder has other files with these names; they are kept.
        AlignerError: The aligner failed, as :class:`~fast_align_wrapper.FastAlign` raises it.
    """
    texts = make_texts()
    if folder is not None:
        for path in filter(None, (folder / "model", report)):
            if path.exists() and not (folder / "train.de").exists():
                raise DataError(f"{path}: exists already; name a new folder")
        write_texts(texts, folder)
    aligner = Aligner.train_pairs((pair.source, pair.target) for pair in texts.training)
    if folder is not None:
        aligner.save(folder / "model")
    yield _alignment(aligner, texts)
    metrics = (REP(), DROP(aligner), SoftDROP(aligner), BLEU(tokenize="none"))
    yield _outputs(metrics, texts)
    if report is not None and write_report is not None:
        comparison = compare(texts.outputs, texts.references, texts.sources, metrics=metrics)
        write_report(comparison, report)
        read = "Read where the errors are, in a browser:"
        yield Table((), (), read, notes=(f"  {report}",))
    if folder is not None:
        commands = (
            f"  coverage-eval rep {folder}/repeating.en {folder}/test.en",
            f"  coverage-eval drop {folder}/dropping.en {folder}/test.en "
            f"--src {folder}/test.de --model {folder}/model",
        )
        yield Table((), (), "Continue by hand:", notes=commands)


def _alignment(aligner: ModelAligner, texts: GrammarTexts) -> Table:
    pairs = [(pair.source, pair.target) for pair in texts.test]
    gold = [Gold(pair.links, ()) for pair in texts.test]
    rows = []
    metric = AER()
    for method in ("forward", "reverse", DEFAULT_SYMMETRIZATION):
        links = aligner.model.align(pairs, method)
        rows.append((method, metric.score(metric.count(zip(links, gold, strict=True))).score))
    title = (
        f"Word aligner, trained on {len(texts.training):,} German-English pairs from a small "
        f"grammar: alignment error rate on {len(texts.test)} other pairs with known links"
    )
    return Table(("links", "AER"), tuple(rows), title, notes=(f"model {aligner.model.hash}",))


def _outputs(metrics: Sequence[TextMetric], texts: GrammarTexts) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, hypotheses in texts.outputs.items():
        columns = (hypotheses, texts.references, texts.sources)
        scores = [metric.corpus_score(*columns) for metric in metrics]
        repetitions, omissions = (f"{100 * rate:.0f}%" for rate in RATES[name])
        rows.append((name, repetitions, omissions, *map(float, scores)))
    return Table(
        ("output", "repeated", "left out", "REP", "DROP", "SoftDROP", "BLEU"),
        tuple(rows),
        "Three outputs with known shares of words repeated and left out: what the scores find",
        signatures=tuple(str(score.signature) for score in scores),
    )


@dataclass(frozen=True)
class GrammarTexts:
    """A corpus from the grammar, and outputs made from its test set.

    Attributes:
        training: Pairs to train an aligner on.
        test: Further pairs, with their true links.
        outputs: A translation of the test set for each of :data:`RATES`.
    """

    training: list[Pair]
    test: list[Pair]
    outputs: dict[str, list[str]]

    @property
    def sources(self) -> list[str]:
        """The source side of the test set."""
        return [" ".join(pair.source) for pair in self.test]

    @property
    def references(self) -> list[str]:
        """The target side of the test set."""
        return [" ".join(pair.target) for pair in self.test]


def make_texts() -> GrammarTexts:
    """Make the texts; they are the same every time."""
    pairs = generate(TRAINING_PAIRS + TEST_PAIRS, SEED)
    test = pairs[TRAINING_PAIRS:]
    # Translators differ, in the training text and in outputs: some words become synonyms.
    translator = random.Random(SEED)  # noqa: S311 (not for secrets)
    training = [
        replace(pair, target=tuple(paraphrase(pair.target, 0.3, translator)))
        for pair in pairs[:TRAINING_PAIRS]
    ]
    outputs = {}
    for name, (repetitions, omissions) in RATES.items():
        translator = random.Random(f"{SEED} {name}")  # noqa: S311 (not for secrets)
        lines = [" ".join(paraphrase(pair.target, 0.5, translator)) for pair in test]
        lines = inject_lines(lines, "omission-word", omissions, SEED)
        outputs[name] = inject_lines(lines, "repetition-phrase", repetitions, SEED)
    return GrammarTexts(training, test, outputs)


def write_texts(texts: GrammarTexts, folder: Path) -> None:
    """Write corpus and outputs as text files, one line per segment.

    The files are ``train.de`` and ``train.en``, ``test.de`` and ``test.en``, the true links
    ``test.links``, and ``careful.en``, ``repeating.en`` and ``dropping.en``.

    Raises:
        DataError: The folder has another file with one of these names; it is kept.
    """
    files: dict[str, Iterable[str]] = {
        "train.de": (" ".join(pair.source) for pair in texts.training),
        "train.en": (" ".join(pair.target) for pair in texts.training),
        "test.de": texts.sources,
        "test.en": texts.references,
        "test.links": (format_links(pair.links) for pair in texts.test),
        **{f"{name}.en": lines for name, lines in texts.outputs.items()},
    }
    contents = {folder / name: "".join(f"{x}\n" for x in lines) for name, lines in files.items()}
    for path, content in contents.items():
        if path.exists() and not (path.is_file() and path.read_bytes() == content.encode()):
            raise DataError(f"{path}: exists already and differs; name a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in contents.items():
        with atomic_write(path) as file:
            file.write(content)
