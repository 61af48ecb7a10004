"""Evidence on real text: ``make evidence`` prints the tables, and writes them and the figure.

    python notebooks/evidence DATA

DATA is a folder with the corpora ``multi30k-de-en`` and ``small-enja``. Correct translations are
made from references (:class:`corpora.Translator`), errors are put into them at known places, and
scores are asked which segments have them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from corpora import Corpus, Translator, load_corpora, train
from questions import when_it_misleads, which_score
from scores import Spoilt
from settings import links, training_size, units, without_training_text
from systems import eight_systems, what_is_good

from coverage_eval.tables.formats import render
from coverage_eval.tables.printout import Printout
from coverage_eval.tables.table import Table

HERE = Path(__file__).parent.parent


def tables(corpus: Corpus) -> Iterator[Table]:
    """All tables of one corpus."""
    aligner = train(corpus.training)
    translator = Translator(corpus, aligner)
    rows = translator.rows()
    yield which_score(corpus, aligner, rows)
    spoilt = Spoilt.of(rows)
    yield links(corpus, aligner, spoilt)
    yield units(corpus, spoilt)
    yield training_size(corpus, spoilt)
    yield without_training_text(
        corpus, spoilt, [translator.translate(seed) for seed in range(20, 23)]
    )
    yield when_it_misleads(corpus, aligner, rows)
    yield what_is_good(corpus, aligner, translator)
    yield eight_systems(corpus, aligner, translator)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--most", type=int, help="test segments, to try things out")
    arguments = parser.parse_args()
    for corpus in load_corpora(arguments.data, arguments.most):
        for table in tables(corpus):
            print(render(Printout((table,)), "markdown", width=3), end="\n\n", flush=True)
            print(f"{time.process_time():.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
