"""``audit run``: everything that can be checked in finished runs.

Trained models are replayed in NumPy. The scores of the tables are recomputed from the translations
and compared with the printed ones: the direction of every effect, and the paper's claims. Several
runs must be the same experiment with different seeds. Then means are compared, with intervals by
Student's t, and p-values are corrected for the number of comparisons (Holm, 1979).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path
from statistics import fmean

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.data.dataset import Dataset, make_rows
from coverage_eval.data.files import check_source, read_segments
from coverage_eval.errors import DataError
from coverage_eval.metrics.measure import measure
from coverage_eval.metrics.sacrebleu_adapters import BLEU
from coverage_eval.metrics.significance import holm
from coverage_eval.papers.audit_tables import claims_of_table1, claims_of_table2
from coverage_eval.papers.claims import Audit, Claim, Fact, Verdict, equal
from coverage_eval.papers.printed import (
    Key,
    PrintedCell,
    PrintedTable,
    load_table,
    mean_and_half_width,
)
from coverage_eval.papers.reproduction.paper_systems import TABLES
from coverage_eval.papers.reproduction.run_folder import VALID_HYPOTHESES, WORD_ALIGNER, RunFolder
from coverage_eval.papers.reproduction.run_results import (
    FORMS,
    hypotheses_of,
    table_file,
    table_metrics,
)
from coverage_eval.papers.user_scores import read_scores
from coverage_eval.tables.table import SIGNIFICANT
from fast_align_wrapper.files import file_sha256
from fast_align_wrapper.text import Segment

TITLE = "Trained models replayed in NumPy, their scores recomputed and set beside the printed ones"

_CLAIMS = {"table1": claims_of_table1, "table2": claims_of_table2}


def comparison_claims(runs: Sequence[RunFolder], table: str) -> tuple[Claim, ...]:
    """A claim about directions for each metric, then the paper's claims about the runs' figures.

    Args:
        runs: A run, or several with different seeds and the same corpora and settings.
        table: ``table1`` or ``table2``; there are no claims about a table that no run has.

    Raises:
        DataError: The runs differ in corpora or settings, or two have the same seed.
    """
    first = runs[0]
    for run in runs[1:]:
        if run.manifest["corpora"] != first.manifest["corpora"]:
            raise DataError(f"{run.path}: this run used other texts than {first.path}")
        if replace(run.settings, seed=first.settings.seed) != first.settings:
            raise DataError(f"{run.path}: this run had other settings than {first.path}")
    seeds = [run.settings.seed for run in runs]
    if len(set(seeds)) < len(seeds):
        raise DataError(f"two runs have the same seed: {', '.join(map(str, seeds))}")
    claims: list[Claim] = []
    for form, (printed, scores) in scores_by_form(runs, table).items():
        prefix = f"{FORMS[form]}: " if form else ""
        claims += _directions(printed, scores, prefix)
        claims += _claims_of_paper(printed, scores, prefix)
    return tuple(claims)


def scores_by_form(
    runs: Sequence[RunFolder], table: str
) -> dict[str, tuple[PrintedTable, list[dict[Key, float]]]]:
    """The scores of each run by form of its translations, with the part of the table they have.

    Args:
        runs: Runs of one experiment.
        table: ``table1`` or ``table2``.

    Returns:
        For each of :data:`FORMS` that the runs have, the printed table without the cells that a
        run lacks, and a mapping from cell to score for each run.
    """
    found = {}
    for form in FORMS:
        scores = [
            read_scores(path, [load_table(table)])
            for run in runs
            if (path := run.path / f"{table_file(table, form)}.scores.csv").exists()
        ]
        if not scores:
            continue
        printed = load_table(table)
        cells = {k: cell for k, cell in printed.cells.items() if all(k in item for item in scores)}
        printed = replace(
            printed,
            systems=tuple(s for s in printed.systems if any(k[0] == s for k in cells)),
            columns=tuple(c for c in printed.columns if any(k[1:] == c for k in cells)),
            cells=cells,
        )
        found[form] = (printed, scores)
    return found


@dataclass(frozen=True)
class Effect:
    """One system against another by one metric, over seeds.

    Attributes:
        pair: The systems.
        metric: The metric, on the run's data set.
        printed: How much better the first system is in print.
        gains: How much better it is in each of our seeds.
        p_value: p-value of Student's t for a mean gain of 0; None with one seed.
        adjusted: The same, Holm-corrected over all effects of the table.
    """

    pair: tuple[str, str]
    metric: str
    printed: float
    gains: tuple[float, ...]
    p_value: float | None = None
    adjusted: float | None = None

    @property
    def outcome(self) -> str:
        """Whether the direction is the printed one, and whether it is beyond chance."""
        ours = fmean(self.gains)
        product = ours * self.printed
        direction = "same" if product > 0 else "tie" if product == 0 else "opposite"
        if self.adjusted is None:
            return direction
        if len(self.gains) < MIN_SEEDS:
            return f"{direction}, too few seeds"
        return direction + (", beyond chance" if self.adjusted < SIGNIFICANT else ", within chance")


MIN_SEEDS = 3
"""With fewer seeds nothing is said to be beyond chance: the interval of two means little."""


def effects_of(printed: PrintedTable, scores: Sequence[Mapping[Key, float]]) -> list[Effect]:
    """Every pair of a table's systems by every metric, corrected for the number of effects.

    Args:
        printed: The table, or the part of it that the scores have.
        scores: The scores of each seed.
    """
    effects = []
    for dataset, metric in printed.columns:
        for pair in combinations(printed.systems, 2):
            keys = [(system, dataset, metric) for system in pair]
            if all(key in printed.cells for key in keys):
                theirs = printed.improvement(metric, *(printed.value(*key) for key in keys))
                gains = (printed.improvement(metric, *(item[k] for k in keys)) for item in scores)
                effects.append(Effect(pair, metric, theirs, tuple(gains)))
    if len(scores) == 1:
        return effects
    p_values = [_t_test(effect.gains) for effect in effects]
    corrected = zip(effects, p_values, holm(p_values), strict=True)
    return [replace(effect, p_value=p, adjusted=adjusted) for effect, p, adjusted in corrected]


def _t_test(gains: Sequence[float]) -> float:
    """p-value of Student's t for a mean of 0; if all gains are equal, 0, or 1 if they are 0.

    Equal scores can differ by rounding, which SciPy would take for a variance.
    """
    if max(gains) - min(gains) < 1e-9:
        return float(abs(gains[0]) < 1e-9)
    from scipy.stats import ttest_1samp  # slow to import, and not needed for a single seed

    return float(ttest_1samp(gains, 0.0).pvalue)


def _directions(
    printed: PrintedTable, scores: Sequence[Mapping[Key, float]], prefix: str
) -> Iterator[Claim]:
    effects = effects_of(printed, scores)
    for dataset, metric in printed.columns:
        facts = tuple(_fact(effect) for effect in effects if effect.metric == metric)
        if facts:
            yield Claim(
                f"{prefix}of two systems, the one with the better {metric} is the printed one",
                f"{printed.citation.place}, {dataset}",
                facts,
                f"Positive: the first system is better. {_note(effects)}",
            )


def _note(effects: Sequence[Effect]) -> str:
    """What this number of seeds shows, for all metrics together."""
    seeds = len(effects[0].gains)
    if seeds == 1:
        return "Ours: one seed, so there is no interval."
    excluding = [e for e in effects if e.p_value is not None and e.p_value < SIGNIFICANT]
    kept = [e for e in excluding if e.adjusted is not None and e.adjusted < SIGNIFICANT]

    def count(found: Sequence[Effect]) -> str:
        opposite = sum(effect.outcome.startswith("opposite") for effect in found)
        return f"{len(found)}, {opposite} of them in the opposite direction"

    text = (
        f"Ours: mean of {seeds} seeds, with its 95% interval by Student's t. Of the "
        f"{len(effects)} intervals of all metrics, those that exclude 0: {count(excluding)} (about "
        f"{SIGNIFICANT * len(effects):.0f} would by chance); after Holm's correction: "
        f"{count(kept)}."
    )
    few = f" With fewer than {MIN_SEEDS} seeds no difference counts."
    return text + few * (seeds < MIN_SEEDS)


def _fact(effect: Effect) -> Fact:
    ours, half = mean_and_half_width(effect.gains)
    shown = f"{ours:+.2f}" + ("" if half is None else f" ± {half:.2f}")
    what, same = " against ".join(effect.pair), ours * effect.printed > 0
    return Fact(what, f"{effect.printed:+.2f}", shown, effect.outcome, same, decisive=False)


def _claims_of_paper(
    printed: PrintedTable, scores: Sequence[Mapping[Key, float]], prefix: str
) -> Iterator[Claim]:
    """What section 5 says, checked on our means, if all systems and metrics are there."""
    whole = load_table(printed.name)
    if printed.systems != whole.systems or printed.metrics != whole.metrics:
        return

    def claims(figures: Mapping[Key, float]) -> Iterable[Claim]:
        cells = {key: PrintedCell(f"{figures[key]:.2f}", figures[key]) for key in printed.cells}
        return _CLAIMS[printed.name](replace(printed, cells=cells))

    means = {key: fmean(item[key] for item in scores) for key in printed.cells}
    for claim, *by_seed in zip(claims(means), *map(claims, scores), strict=True):
        note = claim.note
        if len(scores) > 1:
            verdicts = [one.verdict for one in by_seed]
            held = len(verdicts) - verdicts.count(Verdict.FAILS)
            exceptions = verdicts.count(Verdict.EXCEPTIONS)
            note += f" The verdict is on the means; in single seeds it holds in {held} of "
            note += f"{len(verdicts)}" + (f", {exceptions} with exceptions." if exceptions else ".")
        yield replace(claim, text=f"{prefix}over our figures: {claim.text}", note=note.strip())


def score_claims(
    run: RunFolder,
    *,
    ref: str | Path | None = None,
    src: str | Path | None = None,
    model: str | Path | None = None,
    valid_ref: str | Path | None = None,
) -> Iterator[Claim]:
    """A claim for each table: recomputing its scores from the translations gives the same figures.

    A table without scores or translations is skipped. DROP needs the source and the
    aligner's model, METEOR its data; without the references nothing can be recomputed.

    Args:
        run: A run, or its kept files.
        ref: The reference of the test set; by default the one in the run's folder.
        src: The source of the test set; by default the one in the run's folder.
        model: The word aligner that makes DROP's links; by default the run's.
        valid_ref: The target side of the validation text, on which penalties were chosen.

    Raises:
        DataError: A text is not the one that the run used, or a file is damaged.
    """
    texts = _texts_of(run, {"test_ref": ref, "test_src": src, "valid_tgt": valid_ref})
    aligner_path = Path(model) if model else run.path / "prepared" / WORD_ALIGNER
    aligned = "test_src" in texts and (model is not None or aligner_path.exists())
    if "valid_tgt" in texts:
        yield from _tuning_claims(run, texts["valid_tgt"])
    tables = {
        table_file(table, form): hypotheses_of(run, TABLES[table], form)
        for table, form in product(_CLAIMS, FORMS)
        if (run.path / f"{table_file(table, form)}.csv").exists()
    }
    tables = {name: hypotheses for name, hypotheses in tables.items() if hypotheses}
    claim = "the translations of the test set have the scores that {} gives them"
    if not tables or "test_ref" not in texts:
        missing = "the references are not here; name them with --ref"
        for name in tables:
            yield Claim(claim.format(name), run.path.name, (), unchecked=missing)
        return
    kept = {name: _kept_scores(run.path / f"{name}.csv") for name in tables}
    outputs = {
        f"{name}: {system}": lines
        for name, hypotheses in tables.items()
        for system, lines in hypotheses.items()
    }
    rows = make_rows(outputs, texts["test_ref"], texts.get("test_src"))
    # The tables share two thirds of their translations, so each distinct one is scored once.
    places: dict[tuple[int, Segment], int] = {}
    for number, row in enumerate(rows):
        for line in row.hypotheses:
            places.setdefault((number, line), len(places))
    distinct = [rows[number]._replace(hypotheses=(line,)) for number, line in places]
    dataset = Dataset(lambda: distinct, [run.path.name], ["the reference"], "the source")
    with Aligner.load(aligner_path) if aligned else nullcontext() as aligner:
        metrics, no_meteor = table_metrics(aligner)
        result = measure(dataset, {metric.name: metric for metric in metrics})
    for name, scores in kept.items():
        facts = []
        for system, lines in tables[name].items():
            chosen = [places[pair] for pair in enumerate(lines)]
            for metric in metrics:
                if (system, metric.name) in scores:
                    score = metric.score(result.statistics_of(metric.name)[chosen])
                    was = scores[system, metric.name]
                    facts.append(equal(f"{system}: {metric.name}", was, score.score, digits=4))
        notes = [f"METEOR is not recomputed: {no_meteor}."] if no_meteor else []
        notes += [] if aligned else ["DROP is not recomputed: it needs --src and --model."]
        absent = dict.fromkeys(system for system, _ in scores if system not in tables[name])
        notes += [f"There are no translations of {', '.join(absent)}."] if absent else []
        unchecked = "" if facts else "no score of the table can be recomputed"
        yield Claim(claim.format(name), run.path.name, tuple(facts), " ".join(notes), unchecked)


def _texts_of(run: RunFolder, named: Mapping[str, str | Path | None]) -> dict[str, list[str]]:
    """The texts of a run's corpora that are named, or that are in its folder."""
    texts = {}
    for option, name in named.items():
        path = Path(name) if name else run.path / option.replace("_", ".")
        if name or path.exists():
            check_source(path)
            known = run.manifest.get("corpora", {}).get(option)
            if not isinstance(known, dict) or known.get("sha256") != file_sha256(path):
                raise DataError(f"{path}: is not the text that {run.path} was made with")
            texts[option] = list(read_segments(path))
    return texts


def _tuning_claims(run: RunFolder, references: Sequence[str]) -> Iterator[Claim]:
    """The claim that the chosen weights of penalties have the BLEU that the manifest says."""
    facts = []
    for system in TABLES["table1"]:
        kept = run.path / f"{system.folder}.{VALID_HYPOTHESES}.gz"
        paths = [p for p in (run.system(system.folder) / VALID_HYPOTHESES, kept) if p.exists()]
        if paths:
            lines = list(read_segments(paths[0]))
            bleu = BLEU(tokenize="none", lowercase=True).corpus_score(
                lines, references[: len(lines)]
            )
            was = run.manifest["made"][system.folder]["valid BLEU"]
            facts.append(equal(f"{system.name}: BLEU", was, bleu.score, digits=4))
    if facts:
        claim = "with the chosen weights of COVPENALTY, the validation text has the recorded BLEU"
        yield Claim(claim, run.path.name, tuple(facts))


def _kept_scores(path: Path) -> dict[tuple[str, str], float]:
    """System and metric → the figure in ``TABLE.csv``."""
    try:
        rows = csv.DictReader(read_segments(path), strict=True)
        return {(row["system"], row["metric"]): float(row["score"]) for row in rows}
    except (KeyError, TypeError, ValueError, csv.Error) as error:
        raise DataError(f"{path}: is not a table of a run's scores") from error


def audit_runs(
    paths: Sequence[str | Path],
    *,
    segments: int = 100,
    ref: str | Path | None = None,
    src: str | Path | None = None,
    model: str | Path | None = None,
    valid_ref: str | Path | None = None,
) -> Audit:
    """Replay the models of runs in NumPy, recompute their scores, and compare with print.

    >>> import coverage_eval as ce
    >>> try:
    ...     ce.audit_runs(["seed1", "seed2"])
    ... except ce.DataError as error:
    ...     print(error)
    seed1: is not the folder of a run: it has no manifest.json

    The files that ``reproduce keep`` writes contain neither models nor the test set; ``ref``,
    ``src`` and ``model`` let their scores be recomputed.

    Args:
        paths: Folders of runs: one, or several with different seeds and the same corpora.
        segments: Test sentences to replay for each system.
        ref: The reference of the test set.
        src: The source of the test set, for DROP.
        model: The word aligner of the run, for DROP.
        valid_ref: The target side of the validation text, for the weights of penalties.

    Raises:
        DataError: A folder has no run, or nothing finished, or runs do not belong together.
        ImportError: PyTorch is needed to read models, and is not installed.
    """
    runs = [RunFolder.existing(Path(path)) for path in paths]
    claims = []
    for run in runs:
        if (run.path / "models").is_dir():
            from coverage_eval.papers.reproduction.trained_system import replay_claim

            claims.append(replay_claim(run, segments=segments))
        claims += score_claims(run, ref=ref, src=src, model=model, valid_ref=valid_ref)
    claims += [claim for table in _CLAIMS for claim in comparison_claims(runs, table)]
    if not claims:
        raise DataError(f"{paths[0]}: no system is finished yet")
    return Audit("run", TITLE, tuple(claims))
