"""REP and BLEU of the outputs of four real systems, printed in Appendix B of the paper."""

from __future__ import annotations

from coverage_eval.metrics.rep import REP
from coverage_eval.metrics.sacrebleu_adapters import BLEU
from coverage_eval.papers.printed import SYSTEMS, load_appendix_b
from coverage_eval.tables.table import Cell, Table


def score_appendix_b() -> Table:
    """Scores of the four systems of Malaviya et al. (2018), and what they repeat."""
    examples = load_appendix_b()
    rep, bleu = REP(), BLEU.acl2018()
    rows: list[tuple[Cell, ...]] = []
    for system in SYSTEMS:
        columns = (examples.outputs(system), examples.references)
        repeated = [
            text
            for pair in zip(*columns, strict=True)
            for text in {(m.kind, str(m)): m.text for m in rep.evidence(*pair)}.values()
        ]
        scores = [metric.corpus_score(*columns) for metric in (rep, bleu)]
        rows.append((system, *map(float, scores), ", ".join(f"'{ngram}'" for ngram in repeated)))
    return Table(
        ("system", "REP", "BLEU", "repeated"),
        tuple(rows),
        "Four systems of Malaviya et al. (2018), Appendix B: what they repeat",
        signatures=tuple(str(score.signature) for score in scores),
    )
