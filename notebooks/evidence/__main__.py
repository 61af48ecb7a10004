"""Evidence on real text: ``make evidence`` prints the tables and writes them with their pictures.

    python notebooks/evidence DATA

DATA is a folder with the corpora ``multi30k-de-en`` and ``small-enja``. Correct translations are
made from references (:class:`corpora.Translator`) and get errors at known places. The tables show
which scores find the segments with errors.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import chain, starmap
from pathlib import Path

from corpora import SCORED, Corpus, Translator, load_corpora, train
from documents import document_tables, draw_documents
from figure import draw, draw_witnesses
from flags import false_alarms, labelled_tables
from named import clean_text, planted_errors
from questions import when_it_misleads, which_score
from repetitions import Areas, repetition_areas, repetition_table
from scores import Spoilt
from settings import link_agreement, links, training_size, units, without_training_text
from systems import eight_systems, equal_systems, what_is_good
from variants import Explored, explore, parts_tables, tuning_table
from witnesses import witness_tables

from coverage_eval.data.files import atomic_write
from coverage_eval.plotting.saving import save_figure
from coverage_eval.tables.formats import render
from coverage_eval.tables.table import Printable, Table

HERE = Path(__file__).parent.parent

HEAD = """# Which score to choose: evidence on real text

`make evidence` writes this file and draws its pictures. The texts are German-English captions
(Multi30k) and Japanese-English sentences (small_parallel_enja; we add the last fifth of its
training text to the test set). We make correct outputs from the references. If the source word has
other translations, one of these replaces its translation (30% of such words). We leave out 30% of
the words without a link, add frequent words (5%), and swap neighbours (5%). Then we put errors into
these outputs at known places: into 5% of the words, unless a table says otherwise. AUROC is the
probability that a segment with an error gets a more suspicious score than a segment without one;
0.5 is guessing. Errors that people have labelled are harder to find, and length tells less about
real systems, because they translate more freely. Therefore trust the order of the scores here, not
their values.
"""


def tables(corpus: Corpus) -> Iterator[tuple[str, Table]]:
    """All tables of one corpus, by name."""
    aligner = train(corpus.training)
    translator = Translator(corpus, aligner)
    rows = translator.rows()
    yield "questions", which_score(corpus, aligner, rows)
    spoilt = Spoilt.of(rows)
    yield "links", links(corpus, aligner, spoilt)
    yield "units", units(corpus, spoilt)
    yield "training", training_size(corpus, spoilt)
    yield "agreement", link_agreement(corpus)
    others = [translator.translate(seed) for seed in (2, 3, 4)]
    yield "without", without_training_text(corpus, spoilt, others)
    yield "misleading", when_it_misleads(corpus, aligner, rows)
    some = translator.shortened(SCORED)
    yield "rates", what_is_good(aligner, some)
    yield "systems", eight_systems(aligner, translator)
    yield "equal", equal_systems(aligner, some)
    for number, table in enumerate(false_alarms(corpus, aligner)):
        yield f"false alarms {number}", table
    yield "named errors", planted_errors(corpus, aligner)
    by_damage, by_size, by_rate = document_tables(corpus, aligner, translator)
    yield "documents", by_damage
    yield "document sizes", by_size
    yield "document rates", by_rate


Computed = tuple[dict[str, Table], list[Table], list[Explored], dict[str, Areas]]


def compute(corpus: Corpus) -> Computed:
    """All tables of one corpus; some have both directions. It runs in a separate process."""
    witnesses = witness_tables(corpus, train(corpus.training))
    print(f"{corpus.name}: witnesses", file=sys.stderr, flush=True)
    found = {}
    for name, table in tables(corpus):
        print(f"{corpus.name}: {name}", file=sys.stderr, flush=True)
        found[name] = table
    explored = []
    repeated: dict[str, Areas] = {}
    for one in (corpus, corpus.flipped()):
        aligner = train(one.training, for_omissions=False)
        explored.append(explore(one, aligner, every_unit=one is corpus))
        repeated |= repetition_areas(one, aligner)
        print(f"{one.name}: variants", file=sys.stderr, flush=True)
    return found, witnesses, explored, repeated


def main() -> None:
    """Print all tables, and write them and the pictures."""
    parser = argparse.ArgumentParser(description="Evidence on real text.")
    parser.add_argument("data", type=Path, help="folder of the corpora")
    parser.add_argument(
        "--most", type=int, help="use only this many test segments, to try things out"
    )
    parser.add_argument("--folder", type=Path, default=HERE, help="where to write")
    arguments = parser.parse_args()
    corpora = load_corpora(arguments.data, arguments.most)
    with ProcessPoolExecutor(len(corpora)) as pool:
        computed = list(pool.map(compute, corpora))
    found = {corpus.name: own for corpus, (own, *_) in zip(corpora, computed, strict=True)}
    witnesses = [table for _, own, _, _ in computed for table in own]
    explored = [item for _, _, own, _ in computed for item in own]
    repeated = {name: areas for _, _, _, own in computed for name, areas in own.items()}
    variants = [repetition_table(repeated), *parts_tables(explored), tuning_table(explored)]
    labelled = [clean_text(arguments.data, corpora), *labelled_tables(arguments.data, corpora[0])]
    listed = chain(
        _by_name(found),
        (("witnesses", table) for table in witnesses),
        (("variants", table) for table in variants),
        (("flags", table) for table in labelled),
    )
    text = "\n\n".join([HEAD.rstrip("\n"), *starmap(_text, listed)])
    print(text)
    (arguments.folder / "figures").mkdir(parents=True, exist_ok=True)
    with atomic_write(arguments.folder / "evidence.md") as file:
        file.write(f"{text}\n")
    pictured = (
        {corpus: own[name] for corpus, own in found.items()} for name in ("training", "rates")
    )
    pictures = arguments.folder / "figures"
    save_figure(draw(*pictured), pictures / "evidence.png")
    rates = {corpus: own["document rates"] for corpus, own in found.items()}
    save_figure(draw_documents(rates), pictures / "evidence_documents.png")
    if witnesses:
        save_figure(draw_witnesses(witnesses[::2]), pictures / "evidence_witnesses.png")


def _by_name(found: Mapping[str, Mapping[str, Table]]) -> Iterator[tuple[str, Table]]:
    """The tables, grouped by name."""
    for name in next(iter(found.values())):
        for own in found.values():
            yield name, own[name]


_DIGITS = {
    "rates": 2,
    "systems": 2,
    "flags": 1,
    "false": 1,
    "named": 1,
    "documents": 2,
    "document": 2,
}
"""Digits after the decimal point, of tables with percentages."""


def _text(name: str, table: Table) -> str:
    return render(
        Printable((table,)), "markdown", width=_DIGITS.get(name.split(" ", maxsplit=1)[0], 3)
    )


if __name__ == "__main__":
    main()
