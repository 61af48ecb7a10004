"""The main job on input that the package brings along, in a few seconds.

Appendix B of the paper shows what four real systems printed; a corpus of a small grammar, whose
links are known, shows that the aligner finds them and that REP and DROP find errors put into
outputs at known rates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.alignment.gold_links import Gold
from coverage_eval.comparison.comparison import compare
from coverage_eval.errors import DataError
from coverage_eval.metrics.aer import AER
from coverage_eval.metrics.drop import DROP, SoftDROP
from coverage_eval.metrics.measure import Metric
from coverage_eval.metrics.rep import REP
from coverage_eval.metrics.sacrebleu_adapters import BLEU
from coverage_eval.published.translations import SYSTEMS, load_appendix_b
from coverage_eval.tables.table import Cell, Table
from coverage_eval.testbed.grammar_texts import RATES, GrammarTexts, make_texts, write_texts
from fast_align_wrapper.links import DEFAULT_SYMMETRIZATION


def demonstrate(folder: Path | None = None, report: Path | None = None) -> Iterator[Table]:
    """Run the demonstration, a table at a time.

    >>> *_, outputs = demonstrate()
    >>> [row[0] for row in outputs.rows]
    ['careful', 'repeating', 'dropping']

    Args:
        folder: Write the texts and the model there too, to go on with by hand.
        report: Write the HTML report of the three outputs to this file.

    Raises:
        DataError: The folder has other files of their names, which are kept.
        AlignerError: The aligner failed, as all errors of
            :class:`~fast_align_wrapper.FastAlign`.
    """
    yield _appendix_b()
    texts = make_texts()
    if folder is not None:
        for path in filter(None, (folder / "model", report)):
            if path.exists() and not (folder / "train.de").exists():
                raise DataError(f"{path}: is there already; name a new folder")
        write_texts(texts, folder)
    aligner = Aligner.train_pairs((pair.source, pair.target) for pair in texts.training)
    if folder is not None:
        aligner.save(folder / "model")
    yield _alignment(aligner, texts)
    metrics = (REP(), DROP(aligner), SoftDROP(aligner), BLEU(tokenize="none"))
    yield _outputs(metrics, texts)
    if report is not None:
        yield _write_report(metrics, texts, report)
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


def _alignment(aligner: ModelAligner, texts: GrammarTexts) -> Table:
    pairs = [(pair.source, pair.target) for pair in texts.test]
    gold = [Gold(pair.links, ()) for pair in texts.test]
    rows = []
    metric = AER()
    for method in ("forward", "reverse", DEFAULT_SYMMETRIZATION):
        links = aligner.model.align(pairs, method)
        rows.append((method, metric.score(metric.count(zip(links, gold, strict=True))).score))
    title = (
        f"Word aligner, trained on {len(texts.training):,} German-English pairs of a small "
        f"grammar: alignment error rate on {len(texts.test)} others, whose links are known"
    )
    return Table(("links", "AER"), tuple(rows), title, notes=(f"model {aligner.model.hash}",))


def _outputs(metrics: Sequence[Metric], texts: GrammarTexts) -> Table:
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


def _write_report(metrics: Sequence[Metric], texts: GrammarTexts, path: Path) -> Table:
    """The report of the outputs, and where it is; a table of notes alone."""
    comparison = compare(texts.outputs, texts.references, texts.sources, metrics=metrics)
    comparison.to_report(title="Three outputs with known errors").save(path)
    return Table((), (), "Read where the errors are, in a browser:", notes=(f"  {path}",))


def _commands(folder: Path) -> Table:
    """What to type next; a table of notes alone."""
    commands = (
        f"  coverage-eval rep {folder}/repeating.en {folder}/test.en",
        f"  coverage-eval drop {folder}/dropping.en {folder}/test.en "
        f"--src {folder}/test.de --model {folder}/model",
    )
    return Table((), (), "Go on by hand:", notes=commands)
