"""Evidence on real text: ``make evidence`` measures it, and writes tables, page and pictures.

    python notebooks/evidence DATA    # measures and writes tables/*.csv; 20 minutes
    python notebooks/evidence         # fills ../evidence.md from page.md and the tables, and draws

DATA is a folder with the corpora ``multi30k-de-en`` and ``small-enja``, and ``wmt23-en-de`` if it
is there. Correct translations are made from references (:class:`corpora.Translator`) and get errors
at known places. The tables show which scores find the segments with errors.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from pathlib import Path

import pandas as pd
from areas import Areas, Found, by_case, case_differences, score_differences
from corpora import SCORED, Corpus, Translator, demonstration_text, load_corpora, train
from documents import document_tables
from figure import pictures
from flags import false_alarms, line_lengths
from gates import gates_table
from intervals import intervals_table, least_held
from loops import loop_tables
from named import clean_text, planted_errors, untranslated
from padding import padding_tables
from peers import peer_tables, people_areas
from people import labels_table, people_tables
from questions import RIGHT, when_it_misleads, which_score
from repetitions import repetition_areas
from scores import Spoilt
from settings import link_agreement, links, training_size, units, without_training_text
from systems import equal_systems, what_is_good
from truth import known_truth
from variants import Explored, explore, parts_table, tuning_table

from coverage_eval.plotting.saving import save_figure

sys.path.append(str(Path(__file__).parents[1]))
from filling import fill

HERE = Path(__file__).parent
Tables = dict[str, pd.DataFrame]


def of_corpus(corpus: Corpus) -> Tables:
    """The tables of one corpus, by name."""
    aligner = train(corpus.training)
    translator = Translator(corpus, aligner)
    rows = translator.rows()
    spoilt = Spoilt.of(rows)
    others = [translator.translate(seed) for seed in (2, 3, 4)]
    some = translator.shortened(SCORED)
    kinds = which_score(aligner, rows)
    training = training_size(corpus, spoilt)
    test_set = without_training_text(corpus, spoilt, others)
    usual: dict[str, tuple[Found, str]] = {
        "links": (links(aligner, spoilt), aligner.symmetrize),
        "units": (units(corpus, spoilt), "words"),
        "training": (training, list(training)[-1]),
        "test_set": (test_set, next(iter(test_set))),
        "misleading": (when_it_misleads(corpus, aligner, rows), RIGHT),
    }
    with_peers = peer_tables(corpus, aligner)
    differences = {
        "kinds": score_differences(kinds),
        **{name: case_differences(*found) for name, found in usual.items()},
        "peers": with_peers.pop("differences"),
    }
    return {
        "kinds": by_case(kinds),
        **{name: by_case(found) for name, (found, _) in usual.items()},
        "differences": pd.concat(differences, names=["table"]).reset_index(level=0),
        "agreement": link_agreement(corpus),
        "levels": what_is_good(aligner, some),
        "equal": equal_systems(aligner, some),
        "false_alarms": false_alarms(corpus, aligner),
        "named": planted_errors(corpus, aligner),
        **document_tables(corpus, aligner, translator),
        **with_peers,
    }


def measure(corpus: Corpus) -> tuple[Tables, list[Explored], Found]:
    """All that is measured on one corpus; some in both directions. Runs in a separate process."""
    found = of_corpus(corpus)
    for table in found.values():
        table.insert(0, "corpus", corpus.name)
    print(f"{corpus.name}: measured", file=sys.stderr, flush=True)
    explored: list[Explored] = []
    repeated: dict[str, Mapping[str, Areas]] = {}
    for direction in (corpus,) if corpus.is_trial else (corpus, corpus.flipped()):
        aligner = train(direction.training, for_omissions=False)
        explored.append(explore(direction, aligner))
        repeated |= repetition_areas(direction, aligner)
        print(f"{direction.name}: variants", file=sys.stderr, flush=True)
    return found, explored, repeated


def measure_all(data: Path, max_rows: int | None) -> Tables:
    """Every table by name; those of people's labels only where these texts are."""
    corpora = load_corpora(data, max_rows)
    with ProcessPoolExecutor(len(corpora)) as pool:
        found, explored, repeated = zip(*pool.map(measure, corpora), strict=True)
    every = list(chain.from_iterable(explored))
    texts = (demonstration_text(), ("captions", corpora[0].training, corpora[0].test))
    repetitions = {bed: areas for of_beds in repeated for bed, areas in of_beds.items()}
    return {
        **{
            name: pd.concat([tables[name] for tables in found if name in tables])
            for name in found[0]
        },
        "repetitions": by_case(repetitions),
        "repetition_differences": score_differences(repetitions),
        "parts": parts_table(every),
        "tuning": tuning_table(every),
        "clean": clean_text(data, corpora),
        "gates": pd.concat([gates_table(*text) for text in texts]),
        "line_lengths": pd.concat([line_lengths(*text) for text in texts]),
        "intervals": intervals_table(data, corpora[0]),
        "untranslated": untranslated(data, corpora[0]),
        **people_areas(data, corpora[0]),
        **people_tables(data),
        **known_truth(data, corpora[0]),
        **padding_tables(corpora[0]),
        **loop_tables(data),
    }


def filled(tables: Path) -> str:
    """The page, with the figures of the tables in a folder."""
    found = _read(tables)
    more = {"intervals least": least_held(found["intervals"])}
    blocks = {"people's labels": labels_table(found["people_labels"])}
    return fill((HERE / "page.md").read_text(encoding="utf-8"), {**found, **more}, **blocks)


def _read(tables: Path) -> Tables:
    return {path.stem: pd.read_csv(path) for path in tables.glob("*.csv")}


def main() -> None:
    """Measure, or write the page and the pictures from what was measured."""
    parser = argparse.ArgumentParser(description="Evidence on real text.")
    parser.add_argument("data", type=Path, nargs="?", help="folder of the corpora, to measure")
    parser.add_argument(
        "--most", type=int, help="measure little, on this many test segments, to try things out"
    )
    parser.add_argument("--tables", type=Path, default=HERE / "tables", help="folder of the tables")
    arguments = parser.parse_args()
    if arguments.data is not None:
        arguments.tables.mkdir(parents=True, exist_ok=True)
        for name, table in measure_all(arguments.data, arguments.most).items():
            table.to_csv(arguments.tables / f"{name}.csv", index=False, float_format="%.6g")
        return
    (HERE.parent / "evidence.md").write_text(filled(arguments.tables), encoding="utf-8")
    for name, picture in pictures(_read(arguments.tables)).items():
        save_figure(picture, HERE.parent / "figures" / f"{name}.png")


if __name__ == "__main__":
    main()
