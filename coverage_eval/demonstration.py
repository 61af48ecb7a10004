"""A demonstration on bundled texts, in a few seconds.

The texts are of a small German–English grammar, whose links are known: the aligner finds them, and
REP and DROP find errors that were put into outputs at known rates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path

from coverage_eval.align.aligner import Aligner, ModelAligner
from coverage_eval.align.gold import AER, Gold
from coverage_eval.compare.table import Comparison, compare
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import read_segments, write_lines
from coverage_eval.core.show.table import Cell, Table
from coverage_eval.core.text_metric import TextMetric
from coverage_eval.coverage.drop import DROP, SoftDROP
from coverage_eval.quality.sacre import BLEU
from coverage_eval.repetition.rep import REP
from fast_align_wrapper.links import DEFAULT_SYMMETRIZATION, parse_links

RATES = {"careful": (0.0, 0.0), "repeating": (0.06, 0.0), "dropping": (0.0, 0.1)}
"""Name of an output → shares of words repeated and left out, 0 to 1."""

TEXTS = ("train.de", "train.en", "test.de", "test.en", "test.links",
         *(f"{name}.en" for name in RATES))  # fmt: skip
"""Training text, test set with its true links, and outputs, one segment per line."""


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
    texts = demonstration_texts()
    if folder is not None:
        for path in filter(None, (folder / "model", report)):
            if path.exists() and not (folder / "train.de").exists():
                raise DataError(f"{path}: exists already; name a new folder")
        _write(texts, folder)
    aligner = Aligner.train_pairs(zip(texts["train.de"], texts["train.en"], strict=True))
    if folder is not None:
        aligner.save(folder / "model")
    yield _alignment(aligner, texts)
    metrics = (REP(), DROP(aligner), SoftDROP(aligner), BLEU(tokenize="none"))
    yield _outputs(metrics, texts)
    if report is not None and write_report is not None:
        outputs = {name: texts[f"{name}.en"] for name in RATES}
        write_report(compare(outputs, texts["test.en"], texts["test.de"], metrics=metrics), report)
        read = "Read where the errors are, in a browser:"
        yield Table((), (), read, notes=(f"  {report}",))
    if folder is not None:
        commands = (
            f"  coverage-eval rep {folder}/repeating.en {folder}/test.en",
            f"  coverage-eval drop {folder}/dropping.en {folder}/test.en "
            f"--src {folder}/test.de --model {folder}/model",
        )
        yield Table((), (), "Continue by hand:", notes=commands)


def demonstration_texts() -> dict[str, list[str]]:
    """The lines of each of :data:`TEXTS`."""
    found = {}
    for name in TEXTS:
        with as_file(files("coverage_eval") / "demo" / f"{name}.gz") as path:
            found[name] = list(read_segments(path))
    return found


def _alignment(aligner: ModelAligner, texts: Mapping[str, Sequence[str]]) -> Table:
    pairs = list(zip(texts["test.de"], texts["test.en"], strict=True))
    gold = [Gold(parse_links(line), ()) for line in texts["test.links"]]
    rows = []
    metric = AER()
    for method in ("forward", "reverse", DEFAULT_SYMMETRIZATION):
        links = aligner.model.align(pairs, method)
        rows.append((method, metric.score(metric.count(zip(links, gold, strict=True))).score))
    title = (
        f"Word aligner, trained on {len(texts['train.de']):,} German-English pairs from a small "
        f"grammar: alignment error rate on {len(pairs)} other pairs with known links"
    )
    return Table(("links", "AER"), tuple(rows), title, notes=(f"model {aligner.model.hash}",))


def _outputs(metrics: Sequence[TextMetric], texts: Mapping[str, Sequence[str]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, rates in RATES.items():
        columns = (texts[f"{name}.en"], texts["test.en"], texts["test.de"])
        scores = [metric.corpus_score(*columns) for metric in metrics]
        repetitions, omissions = (f"{100 * rate:.0f}%" for rate in rates)
        rows.append((name, repetitions, omissions, *map(float, scores)))
    return Table(
        ("output", "repeated", "left out", "REP", "DROP", "SoftDROP", "BLEU"),
        tuple(rows),
        "Three outputs with known shares of words repeated and left out: what the scores find",
        signatures=tuple(str(score.signature) for score in scores),
    )


def _write(texts: Mapping[str, Sequence[str]], folder: Path) -> None:
    """Write the texts; another file with one of these names is kept, which is an error."""
    for name, lines in texts.items():
        path = folder / name
        content = "".join(f"{line}\n" for line in lines).encode()
        if path.exists() and not (path.is_file() and path.read_bytes() == content):
            raise DataError(f"{path}: exists already and differs; name a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in texts.items():
        write_lines(folder / name, lines)
