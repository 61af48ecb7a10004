"""``coverage-eval audit``."""

from __future__ import annotations

import click

from coverage_eval.cli.click_options import option
from coverage_eval.cli.command import Command
from coverage_eval.cli.output import print_lines, show
from coverage_eval.cli.output_options import OutputOptions, output_options
from coverage_eval.cli.parameters import InputFile
from coverage_eval.core.report import Report, Style
from coverage_eval.core.web_page import html_page
from coverage_eval.papers.audits import AUDITS, TABLES_OF_AUDITS, run_audit, run_audits
from coverage_eval.papers.claims import audit_report, audits_report, whole_report
from coverage_eval.papers.own_systems import judge_files
from coverage_eval.papers.printed import TABLES, compare_scores

NAMES = {
    **AUDITS,
    "all": "All of these, with every fact that does not hold: text or one HTML page",
    "claims": "The claims of section 5 on your own systems and seeds",
}


@click.command("audit", cls=Command, lists={"Audits": NAMES}, endings=(".html",))
@click.argument("name", required=False, metavar="[NAME]", type=click.Choice(list(NAMES)))
@option(
    "--scores", metavar="FILE", type=InputFile(), multiple=True,
    help="Compare your own table with the printed one: a CSV file whose first line is "
    "system,dataset,metric,value. With claims, a file for each seed; repeatable.",
)  # fmt: skip
@option(
    "--sparse", metavar="SYSTEM", multiple=True,
    help="With claims: this system of yours counts as a sparse model; repeatable.",
)  # fmt: skip
@output_options
def audit(
    name: str | None, scores: tuple[str, ...], sparse: tuple[str, ...], output: OutputOptions
) -> None:
    """Check what the papers print and claim, or judge their claims on your systems.

    Without NAME all audits run, and the claims that do not hold are printed. With NAME the command
    prints the claims of one audit, and the facts that do not hold; -f csv and -f json have every
    fact. What a paper prints and what we compute have a column each.
    The verdicts are confirmed, contradicted, not decidable and not checked. What is claimed on
    average or in general is confirmed in spite of exceptions; a contradicted claim is a finding, so
    the exit status is 0. With -b it prints for each claim the number of facts that do not hold.

    A table for --scores has the printed names, in lines such as csparsemax,De-En,BLEU,29.85. The
    command prints the difference of each cell, and for each pair of systems and each metric whether
    the same system is better.

    claims judges what section 5 says on your systems: --scores names a file for each seed, as
    compare -f csv writes it, or one with a column seed. All systems but the paper's sparse models
    and those of --sparse are the others. A sign test over seeds says which comparisons are won and
    lost: a claim is confirmed if all that decide it are won, and contradicted if one is lost. The
    sizes stand beside. Sentences about absent systems are not decidable.

    \b
    Example:
      coverage-eval audit table1
      coverage-eval audit all -o audit.html
      coverage-eval audit table1 --scores ours.csv
      coverage-eval audit claims --scores seed1.csv --scores seed2.csv \\
        --sparse mine
    """
    if name == "claims":
        if not scores:
            raise click.UsageError("claims are judged on your figures: name them with --scores")
        report = judge_files(scores, sparse)
    elif sparse:
        raise click.UsageError("--sparse goes with claims")
    else:
        report = _report(name, scores)
    if output.output and output.output.lower().endswith(".html"):
        print_lines(html_page(report, Style(output.digits)), output.output)
    else:
        show(report, output)


def _report(name: str | None, scores: tuple[str, ...]) -> Report:
    """What the papers print, or a user's table beside it."""
    if scores and name not in {*TABLES_OF_AUDITS, None}:
        raise click.UsageError(
            f"--scores goes with {', '.join(TABLES_OF_AUDITS)}, claims, or no NAME"
        )
    if len(scores) > 1:
        raise click.UsageError("several files of --scores go with claims")
    if scores:
        return compare_scores(scores[0], TABLES_OF_AUDITS[name] if name else TABLES)
    if name in AUDITS:
        return audit_report(run_audit(name))
    audits = list(run_audits().values())
    return whole_report(audits) if name else audits_report(audits)
