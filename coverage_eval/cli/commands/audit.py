"""``coverage-eval audit``."""

from __future__ import annotations

import click

from coverage_eval.cli.commands.reproduce import needs_torch
from coverage_eval.cli.help import option
from coverage_eval.cli.options import Command, Output, WholeRange, output_options, refuse
from coverage_eval.cli.output import show
from coverage_eval.papers.audits import AUDITS, TABLES_OF_AUDITS, run_audit, run_audits
from coverage_eval.papers.claims import present_audit, present_audits
from coverage_eval.papers.overview import present_overview
from coverage_eval.papers.printed import TABLES
from coverage_eval.papers.reproduction.run_audit import TITLE, audit_runs
from coverage_eval.papers.user_scores import compare_scores, present_user_scores

RUN, OVERVIEW = "run", "overview"
_TITLES = {
    **AUDITS,
    RUN: TITLE,
    OVERVIEW: "Every table, figure, equation and footnote: its command, and how far it is shown",
}
_NAMES = "\n\n".join(f"{name}: {title}." for name, title in _TITLES.items())


@click.command("audit", cls=Command, epilog=_NAMES)
@click.argument("name", required=False, metavar="[NAME]", type=click.Choice(list(_TITLES)))
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@option(
    "--scores", metavar="FILE",
    help="Compare your own table with the printed one: a CSV file whose first line is "
    "system,dataset,metric,value.",
)  # fmt: skip
@option(
    "--segments", default=100, type=WholeRange(1),
    help="For 'run': replay the translations of this many test sentences.",
)  # fmt: skip
@option(
    "-r", "--ref", metavar="FILE",
    help="For 'run': recompute kept scores against this reference of the test set.",
)  # fmt: skip
@option("-s", "--src", metavar="FILE", help="For 'run': source of the test set, for DROP.")
@option("--model", metavar="DIR",
        help="For 'run': word aligner of a run (prepared/words.model), for DROP.")  # fmt: skip
@option(
    "--valid-ref", metavar="FILE",
    help="For 'run': target side of the validation text, for the weights of penalties.",
)  # fmt: skip
@output_options
def command(
    name: str | None,
    runs: tuple[str, ...],
    scores: str | None,
    segments: int,
    output: Output,
    **texts: str | None,
) -> None:
    """Check the papers' printed tables and claims.

    Without NAME all audits run, and every claim is one line. With NAME the command prints every
    fact behind the claims of one audit. A claim that does not hold is a finding, so the exit
    status is 0. With -b it prints for each claim the number of facts that do not hold.

    A table for --scores has the printed names, in lines such as csparsemax,De-En,BLEU,29.85. Case,
    spaces and text in parentheses do not matter. The command prints the difference of each cell,
    and for each pair of systems and each metric whether the same system is better.

    'audit run RUN' checks what 'reproduce table1' made. It replays the models in NumPy, recomputes
    the scores from the translations, and compares them with the printed ones; for several runs (one
    per seed) it compares the means. The files of 'reproduce keep' are enough for the scores: BLEU,
    METEOR and REP need the test set's --ref, and DROP also its --src and --model. With --valid-ref
    it also checks the choice of COVPENALTY's weights.

    \b
    Example:
      coverage-eval audit table1
      coverage-eval audit table1 --scores ours.csv
      coverage-eval audit run seed1 seed2
    """
    refuse({
        "'run' needs folders, and only 'run' takes folders: audit run RUN":
            (name == RUN) != bool(runs),
        "--ref, --src, --model and --valid-ref go with 'run'": name != RUN and any(texts.values()),
        "--scores cannot be combined with 'run'": name == RUN and scores,
        f"--scores goes with {', '.join(TABLES_OF_AUDITS)}, or no NAME":
            scores and name not in {*TABLES_OF_AUDITS, None, OVERVIEW},
    })  # fmt: skip
    if name == RUN:
        with needs_torch():
            audit = audit_runs(runs, segments=segments, **texts)
        show(present_audit(audit), output)
    elif name == OVERVIEW:
        show(present_overview(), output)
    elif scores:
        tables = TABLES_OF_AUDITS[name] if name else TABLES
        show(present_user_scores(compare_scores(scores, tables)), output)
    elif name:
        show(present_audit(run_audit(name)), output)
    else:
        show(present_audits(list(run_audits().values())), output)
