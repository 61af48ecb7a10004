"""A demonstration on bundled texts, in a few seconds.

The texts are of a small German–English grammar; errors were put into two of the outputs at known
rates.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import mkdtemp
from textwrap import wrap

from coverage_eval.align.aligner import Aligner
from coverage_eval.comparison.compare import compare
from coverage_eval.comparison.report.html import make_report
from coverage_eval.core.errors import CorpusWarning, DataError
from coverage_eval.core.report import Table
from coverage_eval.core.texts import read_segments
from coverage_eval.core.writing import write_lines

RATES = {"careful": (0.0, 0.0), "repeating": (0.06, 0.0), "dropping": (0.0, 0.1)}
"""Name of an output → shares of words repeated and left out, 0 to 1."""

TEXTS = ("train.de", "train.en", "test.de", "test.en", "test.links",
         *(f"{name}.en" for name in RATES))  # fmt: skip
"""Training text, test set with its true links, and outputs, one segment per line."""


def demonstrate(folder: Path | None = None) -> Iterator[Table]:
    """Write the texts, a model and a report; yield three commands, each with its result.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     [table.notes[-1] for table in demonstrate(Path(folder))][:2]
    ['REP = 5.69', 'SoftDROP = 9.37']

    Args:
        folder: Where the files are written; by default a new temporary folder.

    Raises:
        DataError: The folder has other files with these names; they are kept.
        AlignerError: The aligner failed, as :class:`~fast_align_wrapper.FastAlign` raises it.
    """
    folder = folder or Path(mkdtemp(prefix="coverage-eval-demo-"))
    texts = demonstration_texts()
    model, report = folder / "model", folder / "report.html"
    for path in (model, report):
        if path.exists() and not (folder / "train.de").exists():
            raise DataError(f"{path}: exists already; name a new folder")
    _write(texts, folder)
    aligner = Aligner.train_pairs(zip(texts["train.de"], texts["train.en"], strict=True))
    aligner.save(model)
    outputs = {name: texts[f"{name}.en"] for name in RATES}
    metrics = ["bleu", "rep", "drop", "softdrop"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)  # the errors are meant
        compared = compare(outputs, texts["test.en"], texts["test.de"], aligner, metrics=metrics)
    make_report(compared, title="Three outputs with known errors").save(report)
    reference = f"{folder}/test.en"
    by_model = f"--src {folder}/test.de --model {model}"
    for name, metric, command in (
        ("repeating", "rep", f"rep {folder}/repeating.en {reference}"),
        ("dropping", "softdrop", f"drop {folder}/dropping.en {reference} --soft {by_model}"),
    ):
        score = compared.rows[name][metric].score
        notes = (*_shell(command), f"{score.metric} = {score.score:.2f}")
        yield Table((), (), notes=notes, signatures=(str(score.signature),))
    systems = " ".join(f"{name}={folder}/{name}.en" for name in RATES)
    command = f"report --ref {reference} {by_model} -m {','.join(metrics)} {systems} -o {report}"
    notes = (*_shell(command), *compared.statements.write(), f"→ {report}")
    yield Table((), (), notes=notes, signatures=tuple(compared.signatures.values()))


def _shell(command: str) -> list[str]:
    """A command in lines of 58 columns, each with a space before it, so that nothing wraps it.

    An option and its value stay together.
    """
    joined = re.sub(r"( -\S+) (?!-)", "\\1\N{NO-BREAK SPACE}", f"$ coverage-eval {command}")
    lines = wrap(
        joined, 56, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    lines = [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
    return [*(f" {line} \\" for line in lines[:-1]), f" {lines[-1]}"]


def demonstration_texts() -> dict[str, list[str]]:
    """The lines of each of :data:`TEXTS`."""
    found = {}
    for name in TEXTS:
        with as_file(files("coverage_eval") / "demo" / f"{name}.gz") as path:
            found[name] = list(read_segments(path))
    return found


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
