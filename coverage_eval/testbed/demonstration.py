"""The main job on input that the package brings along, in a few seconds.

Appendix B of the paper shows what four real systems printed; a corpus of a small grammar, whose
links are known, shows that the aligner finds them and that REP and DROP find errors put into
outputs at known rates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coverage_eval.alignment.aligner import Triple, align_texts, cover_texts, model_settings
from coverage_eval.alignment.gold_links import Gold
from coverage_eval.metrics.aer import AER
from coverage_eval.metrics.bleu import BLEU
from coverage_eval.metrics.drop import DROP
from coverage_eval.metrics.rep import REP
from coverage_eval.metrics.soft_drop import SoftDROP
from coverage_eval.published.translations import SYSTEMS, load_appendix_b
from coverage_eval.testbed.grammar_texts import RATES, Texts, make_texts, write_texts

if TYPE_CHECKING:
    from fast_align_wrapper import FastAlign

__all__ = ["Section", "demonstrate"]

SYMMETRIZE = "grow-diag-final-and"


@dataclass(frozen=True)
class Section:
    """One table of the demonstration.

    Attributes:
        title: What it shows.
        header: Names of the columns.
        rows: Cells, numbers where they are scores.
        notes: Lines below the table, such as signatures.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    notes: tuple[str, ...] = ()


def demonstrate(folder: Path | None = None) -> Iterator[Section]:
    """Run the demonstration, a table at a time.

    Args:
        folder: Write the texts and the model there too, to go on with by hand.

    Raises:
        AlignerError: The aligner failed, as all errors of
            :class:`~fast_align_wrapper.FastAlign`.
    """
    yield _appendix_b()
    texts = make_texts()
    model = _train(texts)
    if folder is not None:
        write_texts(texts, folder)
        model.save(folder / "model")
    yield _alignment(model, texts)
    yield _outputs(model, texts)


def _appendix_b() -> Section:
    examples = load_appendix_b()
    rep, bleu = REP(), BLEU.acl2018()
    rows = []
    for system in SYSTEMS:
        columns = (examples.outputs(system), examples.references)
        repeated = [
            " ".join(item.ngram)
            for pair in zip(*columns, strict=True)
            for item in rep.evidence(*pair)
        ]
        scores = (metric.corpus_score(metric.statistics(*columns)).value for metric in (rep, bleu))
        rows.append((system, *scores, ", ".join(f"'{ngram}'" for ngram in repeated)))
    return Section(
        "Four systems of Malaviya et al. (2018), Appendix B: what they repeat",
        ("system", "REP", "BLEU", "repeated"),
        tuple(rows),
        (str(rep.signature()), str(bleu.signature())),
    )


def _train(texts: Texts) -> FastAlign:
    from fast_align_wrapper import FastAlign

    return FastAlign.train(
        [pair.source for pair in texts.training], [pair.target for pair in texts.training]
    )


def _alignment(model: FastAlign, texts: Texts) -> Section:
    sources, targets = zip(*((pair.source, pair.target) for pair in texts.test), strict=True)
    gold = [Gold(pair.links, ()) for pair in texts.test]
    rows = []
    metric = AER()
    for method in ("forward", "reverse", SYMMETRIZE):
        links = model.align(sources, targets, method)
        value = metric.corpus_score(metric.statistics(zip(links, gold, strict=True))).value
        rows.append((method, value))
    title = (
        f"Word aligner, trained on {len(texts.training):,} German-English pairs of a small "
        f"grammar: alignment error rate on {len(texts.test)} others, whose links are known"
    )
    return Section(title, ("links", "AER"), tuple(rows), (f"model {model.hash}",))


def _outputs(model: FastAlign, texts: Texts) -> Section:
    drop = DROP(alignment=model_settings(model, symmetrize=SYMMETRIZE))
    soft = SoftDROP(alignment=model_settings(model))
    rep, bleu = REP(), BLEU(tokenize="none")
    rows = []
    for name, hypotheses in texts.outputs.items():
        triples = [
            Triple(*row) for row in zip(texts.sources, texts.references, hypotheses, strict=True)
        ]
        scores = (
            rep.corpus_score(rep.statistics(hypotheses, texts.references)),
            drop.corpus_score(
                drop.stream_statistics(align_texts(model, triples, symmetrize=SYMMETRIZE))
            ),
            soft.corpus_score(soft.stream_statistics(cover_texts(model, triples))),
            bleu.corpus_score(bleu.statistics(hypotheses, texts.references)),
        )
        repetitions, omissions = (f"{100 * rate:.0f} %" for rate in RATES[name])
        rows.append((name, repetitions, omissions, *(score.value for score in scores)))
    return Section(
        "Three outputs with repetitions and omissions put in per word: what the scores find",
        ("output", "repeated", "left out", "REP", "DROP", "SoftDROP", "BLEU"),
        tuple(rows),
        tuple(str(metric.signature()) for metric in (rep, drop, soft, bleu)),
    )
