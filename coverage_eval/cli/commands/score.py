"""The commands of single metrics, made from the metrics' own settings, and ``omissions``.

They score one output, and may split its segments into two files, or close a gate.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, fields, replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any

import click

from coverage_eval.align.aligner import AlignerSettings
from coverage_eval.cli import options
from coverage_eval.cli.commands.segment import gate_documents, with_passages
from coverage_eval.cli.help import Percentage, add_options, as_object, click_option, option, say
from coverage_eval.cli.output import CLOSED, present_result, present_scores, show, warn
from coverage_eval.comparison.evidence import output_words
from coverage_eval.core.batches import Dataset, Row
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import Column, atomic_write, zip_lines
from coverage_eval.core.machine import DiskList, progress_bar
from coverage_eval.core.measure import Result
from coverage_eval.core.metric import Metric, output_file_setting, setting
from coverage_eval.core.show import Cell, Printable, Table, csv_record, format_p, is_formula
from coverage_eval.core.tables import TextTable
from coverage_eval.core.tokenizers import StopWords
from coverage_eval.coverage.null_scores import DEFAULT_FALSE_ALARMS, judge_flags
from coverage_eval.coverage.omissions import Additions, Omissions
from coverage_eval.coverage.trust import estimate_recall
from coverage_eval.evaluation import Evaluation
from coverage_eval.outputs.named import GUESSES, NamedError, reasons_of
from coverage_eval.registry import METRICS, metric_class

_MAX_NAMED = 20
"""Segments that a closed gate names."""

WORST = 5
"""Flagged segments that are shown without --worst."""


@dataclass(frozen=True)
class SegmentGate:
    """What to do with segments that have an error, and with the run if there are many."""

    keep: str | None = output_file_setting(
        "Write the segments without an error to this file, with all columns of the input: TSV or "
        "CSV by its ending, else JSON Lines."
    )
    reject: str | None = output_file_setting(
        "Write the segments with an error to this file, with the reason in a column 'reason'."
    )

    fail_above: float | None = setting(
        None,
        "End with exit status 3 if significantly more segments have an error than if this "
        "percentage of them had one, or if more have one that is no guess; and name them.",
        metavar="PERCENT",
        type=Percentage(0, 100),
    )

    def __post_init__(self) -> None:
        options.refuse({
            "--keep and --reject write files, not standard output":
                "-" in {self.keep, self.reject},
        })  # fmt: skip

    @property
    def is_given(self) -> bool:
        """Whether something was asked for."""
        return self.fail_above is not None or bool(self.keep or self.reject)

    def write(
        self,
        texts: Dataset,
        reasons: Sequence[str],
        figures: Mapping[str, Sequence[float | None]],
        everything: str | None = None,
    ) -> None:
        """Write the files.

        Args:
            texts: The texts, of one system.
            reasons: Why each segment has an error; empty for those without.
            figures: Columns to add to the rows, such as scores; a column of the input with such a
                name gets another one.
            everything: A file for all segments, with the reasons.
        """
        with_reasons = {"reason": reasons, **figures}
        counted = (texts.systems[0], "what was scored")
        files = (
            (self.keep, (False,), figures),
            (self.reject, (True,), with_reasons),
            (everything, (False, True), with_reasons),
        )
        rows = DiskList(_records(texts) if any(file for file, *_ in files) else ())  # read once
        names = dict.fromkeys(chain.from_iterable(rows))
        for file, wanted, columns in files:
            if file is None:
                continue
            free = free_names(names, columns)
            chosen = (
                {name: column[number] for name, column in columns.items()}
                | {free.get(name, name): cell for name, cell in row.items()}
                for row, number in zip_lines(counted, (rows, range(len(reasons))))
                if bool(reasons[number]) in wanted
            )
            if changed := write_records(file, [*columns, *free.values()], chosen):
                say(
                    f"{file}: {changed} cells that a spreadsheet would run as formulas have an "
                    "apostrophe before them; .tsv and .jsonl have every text as it is",
                    "warning",
                )

    def judge(
        self,
        flagged: Sequence[bool],
        named: Mapping[int, Sequence[NamedError]],
        chances: Sequence[float],
        false_alarms: float,
        error: str,
    ) -> None:
        """End the run if too many segments have an error.

        Args:
            flagged: Whether each segment is flagged.
            named: The errors of whole outputs that have a name, by segment from 0.
            chances: The chance of each segment to be flagged by mistake.
            false_alarms: The share of complete translations that are flagged by mistake.
            error: What the flags are of, such as ``omission``.
        """
        if self.fail_above is None:
            return
        bad = [number for number, flag in enumerate(flagged) if flag or number in named]
        certain = {n for n, own in named.items() if any(one.kind not in GUESSES for one in own)}
        counted = [
            0.0 if number in certain else chances[number] if flagged[number] else 1.0
            for number in bad
        ]
        complete = math.prod(1 - rate for rate in (false_alarms, *GUESSES.values()))
        test = judge_flags(len(flagged), counted, 1 - complete, self.fail_above / 100)
        kinds = Counter({error: sum(flagged)})
        kinds.update(errors[0].kind for errors in named.values())
        listed = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
        said = (
            f"{len(bad)} of {len(flagged)} segments have an error{f' ({listed})' if listed else ''}"
            f"; {test.expected:.1f} would be expected if {self.fail_above:g}% had one, with false "
            f"alarms ({format_p(test.p_value)})"
        )
        if test.is_above:
            more = f" and {len(bad) - _MAX_NAMED} more" if len(bad) > _MAX_NAMED else ""
            numbers = ", ".join(str(number + 1) for number in bad[:_MAX_NAMED])
            say(f"{said}: segments {numbers}{more}", "failed")
            click.get_current_context().exit(CLOSED)
        say(said)


def _table_of(texts: Dataset) -> tuple[TextTable, str] | None:
    """The table and the column that the only output is; None if it is a file of lines."""
    (output,) = texts.given.systems.values()
    if isinstance(output, Column) and isinstance(output.columns, TextTable) and output.name:
        return output.columns, output.name
    return None


def _rows_file(texts: Dataset, output: options.ScoreOutput) -> str | None:
    """The file that gets every row of the output's table with its verdict, if one was asked for.

    It is JSON Lines of --sentence-level, where the output is a column.
    """
    is_jsonl = output.output_format == "jsonl" and output.output != "-"
    wanted = output.sentence_level and output.worst is None and is_jsonl
    return output.output if wanted and _table_of(texts) else None


def _records(texts: Dataset) -> Iterable[dict[str, Any]]:
    """Each segment's row, with all columns of the input; plain files make rows of texts."""
    if found := _table_of(texts):
        table, column = found
        return table.records(column)

    def record(number: int, row: Row) -> dict[str, Any]:
        source = {} if row.source is None else {"source": row.source}
        numbered = enumerate(row.references, start=1)
        references = {f"reference{n if n > 1 else ''}": text for n, text in numbered}
        return {"segment": number, **source, "hypothesis": row.hypotheses[0], **references}

    return map(record, count(1), texts.rows())


def free_names(names: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Names for a user's columns beside columns of ours, so that none hides another.

    >>> free_names(["id", "rep"], ["segment", "rep"])
    {'id': 'id', 'rep': 'input rep'}

    Args:
        names: The user's names.
        taken: Ours.

    Returns:
        The new name of each of the user's columns; most keep their own.
    """
    names, taken = list(names), set(taken)
    free: dict[str, str] = {}
    for name in names:
        new = name
        while new in taken or (new != name and new in {*names, *free.values()}):
            new = f"input {new}"
        free[name] = new
    return free


def write_records(path: str, columns: Sequence[str], records: Iterable[Mapping[str, Any]]) -> int:
    """Write rows as JSON Lines, or as TSV or CSV if the file's name ends so.

    Args:
        path: The file.
        columns: Names of the columns of TSV and CSV, in this order whatever that of a row is.
            Rows may lack some, and have no others.
        records: The rows.

    Returns:
        How many cells have an apostrophe before them in CSV, because a spreadsheet would run them
        as formulas (:func:`~coverage_eval.core.show.is_formula`).

    Raises:
        DataError: The file cannot be written; a cell of TSV has a tab or a line end.
    """
    ending, changed = Path(path).suffix.lower(), 0
    with atomic_write(path) as file:
        if ending not in {".csv", ".tsv"}:
            for record in records:
                file.write(f"{json.dumps(record, ensure_ascii=False, default=str)}\n")
            return 0
        write = csv_record if ending == ".csv" else partial(_tsv_record, path)
        file.write(f"{write(columns)}\n")
        for record in records:
            row = [record.get(name) for name in columns]
            changed += sum(isinstance(cell, str) and is_formula(cell) for cell in row)
            file.write(f"{write(row)}\n")
    return changed if ending == ".csv" else 0


def _tsv_record(path: str, cells: Iterable[object]) -> str:
    texts = ["" if cell is None else str(cell) for cell in cells]
    if any(re.search(r"[\t\n\r]", text) for text in texts):
        raise DataError(
            f"{path}: a text has a tab or a line end, which TSV cannot hold; write .jsonl"
        )
    return "\t".join(texts)


_HELP = """{summary}
{advice}
A text is a file with one segment per line ('-' reads standard input; .gz and .zst files are
unpacked), or a column of a table, such as out.jsonl:mt.{several}

\b
Example:
  coverage-eval {name} {example} --confidence
"""

_DROP_ADVICE = """
DROP misses many omissions, because joining the links of both directions gives untranslated words a
link to a wrong word. Look at --soft beside it, or at the command omissions.
"""

_NO_LINKS, _NO_FILTER = AlignerSettings(), SegmentGate()


def score_command(name: str) -> click.Command:
    """The command of a metric: its settings as options, and the options that all scores share.

    Args:
        name: One of :data:`coverage_eval.registry.METRICS`.
    """
    kinds = {form: metric_class(form) for form in (name, *METRICS[name].forms.values())}
    needs, is_aligned = kinds[name].needs, "aligner" in _names(kinds[name])
    has_references = "references" in needs

    def command(
        texts: Dataset,
        output: options.ScoreOutput,
        documents: str | None = None,
        jobs: int = 1,
        aligner: AlignerSettings = _NO_LINKS,
        gate: SegmentGate = _NO_FILTER,
        **settings: Any,
    ) -> None:
        chosen = name
        for (flag, value), form in METRICS[name].forms.items():
            is_asked = settings.get(flag) == value
            chosen = form if is_asked else chosen
            if is_asked or value is True:
                settings.pop(flag, None)
        kind = kinds[chosen]
        others = set().union(*map(_names, kinds.values())) - _names(kind)
        unfit = options.given_options() & others - {flag for flag, _ in METRICS[name].forms}
        listed = " and ".join(f"--{flag.replace('_', '-')}" for flag in sorted(unfit))
        options.refuse({f"{listed} is not for {kind.name}": unfit})
        if is_aligned:
            joins = "symmetrize" in options.given_options()
            options.refuse({
                "--symmetrize is not for links from files": joins and aligner.has_links,
                f"--symmetrize is not for {kind.name}, which joins no links":
                    joins and "coverages" in kind.needs,
            })  # fmt: skip
            options.check_links(aligner, texts.source, {kind.name: kind.needs})
        if file := settings.get("stopwords"):
            settings["stopwords"] = StopWords.read(file)
        with progress_bar(f"computing {kind.name}") as progress:
            evaluation = Evaluation(
                texts,
                aligner,
                [chosen],
                own_settings={chosen: settings},
                jobs=jobs,
                evidence=output.by_segment,
                progress=progress,
                documents=documents,
            )
            result = evaluation.run()
        printed = present_result(result, output)
        printed = warn(printed, result.findings, result.computed, strict=output.strict)
        rows = None if kind.higher_is_better else _rows_file(texts, output)
        if rows is None:
            show(printed, output)
        if gate.is_given or rows:
            scores = result.segment_scores(chosen)
            reasons = [f"{kind.name}: {score:g}" if score else "" for score in scores]
            gate.write(evaluation.dataset, reasons, {chosen: scores}, rows)

    links = " --model de-en.model" if is_aligned else ""
    source = " --src src.txt" if is_aligned or "sources" in needs else ""
    command.__doc__ = _HELP.format(
        summary=METRICS[name].summary,
        advice=_DROP_ADVICE if is_aligned else "",
        several=" For several references, give --ref several times." if has_references else "",
        name=name,
        example=f"hyp.txt{' ref.txt' if has_references else ''}{links}{source}",
    )
    own_source = ["src"] if source and not is_aligned else []
    named = ["hyp", *(["ref"] if has_references else [])]
    added = [
        options.text_options(*named, options=own_source),
        *_setting_options(name, kinds),
        options.alignment_options() if is_aligned else options.jobs_option,
        options.scoring_options,
    ]
    if kinds[name].higher_is_better is False:  # a segment without an error has the score 0
        gate = as_object("gate", SegmentGate, without={"fail_above"}, group="Output")
        added.append(gate)
    return click.command(name, cls=options.Command)(add_options(command, added))


def _names(kind: type[Metric]) -> set[str]:
    return {item.name for item in fields(kind)}


def _setting_options(name: str, kinds: Mapping[str, type[Metric]]) -> list[Callable[..., Any]]:
    """Options of the fields of all forms of a metric, and those that choose a form."""
    settings: dict[str, Field[Any]] = {}
    for kind in kinds.values():
        settings = {item.name: item for item in fields(kind) if "help" in item.metadata} | settings
    forms = METRICS[name].forms
    choices = {flag: value for flag, value in forms if value is not True}
    own = [click_option(settings[n], choices.get(n), "Metrics") for n in settings]
    flags = [
        option(f"--{flag}", is_flag=True, help=METRICS[form].summary, group="Metrics")
        for (flag, value), form in forms.items()
        if value is True
    ]
    return [*own, *flags]


@click.command("omissions", cls=options.Command)
@options.text_options("hyp", options=("ref",))
@option(
    "--peer", "peers", multiple=True, metavar="FILE",
    help="Rank segments by what this other system's output covers and HYP does not; give it once "
    "for each system. Three or more decide flags, too, without --ref.",
)  # fmt: skip
@option("--additions", is_flag=True, help="Find words of HYP that the source does not support.")
@option(
    "--false-alarms", type=Percentage(0, 50, min_open=True), metavar="PERCENT",
    default=100 * DEFAULT_FALSE_ALARMS, show_default="4%",
    help="Flag a segment if no more than this percentage of complete translations of its length "
    "look as incomplete: more flags find more errors, and more false ones.",
)  # fmt: skip
@option(
    "--trust", is_flag=True, group="Output",
    help="Say how far the flags can be believed on this text: plant errors in some of its segments "
    "and count how many are found.",
)  # fmt: skip
@as_object("gate", SegmentGate, group="Output")
@options.alignment_options(without={*options.OF_DROP, "ref_links", "links"})
@options.signature_option
@options.scoring_options
def omissions(
    texts: Dataset,
    documents: str | None,
    additions: bool,
    false_alarms: float,
    trust: bool,
    gate: SegmentGate,
    aligner: AlignerSettings,
    signature: bool,
    output: options.ScoreOutput,
) -> None:
    """Find source words that an output leaves out, or words that it adds.

    HYP is a file with one segment per line ('-' reads standard input; .gz and .zst files are
    unpacked), or a column of a table: out.jsonl:mt. The command prints how many segments are
    flagged, and the worst of them; outputs that translate nothing, such as copies and refusals,
    count. With --sentence-level it prints each segment's score and the spans of source words that
    are missing; positions count from 1, in JSON from 0. Lists of errors have other errors with a
    name, too.

    Use a model that was made by 'align train --prepare-for omissions'. Other models find few
    omissions unless there is a --ref or --peer. Outputs of other systems rank the segments better,
    and three make flags surer, but an omission that all of them share is not found.

    A segment is flagged if so few complete translations of its length have a span of missing words
    as strong (--false-alarms), and if its score is above that of three or more peers, if there are
    some and no --ref. The model learns this from its training text, and the text at hand
    adapts it: most outputs are taken to be complete. Free translation, another domain than the
    model's, and names left as they are look like omissions, too. The probability of an omission
    follows from this and from the share of flagged segments.

    With --unaligned, whole lines and passages that are missing come first, and --fail-above, --keep
    and --reject judge documents: by the percentage of the source's words in missing lines, or with
    --additions of the output's words that belong to no line.

    \b
    Example:
      coverage-eval omissions hyp.txt --src src.txt --model de-en.model --worst 10
      coverage-eval omissions hyp.txt --src src.txt --model de-en.model --peer a.txt --peer b.txt
      coverage-eval omissions hyp.txt --src src.txt --model de-en.model --fail-above 2
    """
    options.check_links(aligner, texts.source, {})
    options.refuse({
        "omissions needs --model M, made by 'coverage-eval align train SRC TGT --prepare-for "
        "omissions -o M'; without parallel text, train on the source and the outputs themselves":
            aligner.model is None,
        "--additions compares HYP and source; leave out --ref": additions and texts.references,
    })  # fmt: skip
    share = false_alarms / 100
    model = aligner.make()
    assert model is not None
    metric = Omissions(model, share, bool(texts.references))
    if additions:
        metric = Additions(model, share)
    name, error = metric.name, "addition" if additions else "omission"
    with progress_bar("finding errors") as progress:
        evaluation = Evaluation(
            texts,
            metrics=(),
            others={name: metric},
            named=True,
            progress=progress,
            documents=documents,
        )
        result = evaluation.run()
    (named,) = result.computed["named errors"].values()
    flagged = result.statistics_of(name)[:, 0].astype(bool).tolist()
    reasons = reasons_of(named, flagged, error)
    cut = result.computed.get("documents", {}).get(texts.systems[0], ())
    if not output.by_segment:
        printed = _present_flags(result, flagged, reasons, output)
    else:
        shown = None if documents else reasons  # lines that were left out are no empty outputs
        has_error = flagged if documents else [*map(bool, reasons)]
        printed = present_result(result, output, has_error=has_error, reasons=shown)
    if documents:
        printed = with_passages(printed, cut, output)
    printed = warn(printed, result.findings, result.computed, strict=output.strict)
    rows = None if documents else _rows_file(texts, output)
    if rows is None:
        show(printed, output, signed=signature)
    if trust:
        settled = result.metrics[name]
        assert isinstance(settled, Omissions)
        gauged = estimate_recall(settled, result.rows)
        say("; ".join(filter(None, [str(gauged), gauged.doubt])))
    if documents and gate.is_given:
        gate_documents(cut, gate.fail_above, gate.keep, gate.reject, additions=additions)
    elif gate.is_given or rows:
        evidence = list(result.evidence_of(name))
        figures = {
            "score": [item.score for item in evidence],
            "probability": [item.probability for item in evidence],
        }
        chances = [item.detail["chance"][0] for item in evidence]
        gate.write(evaluation.dataset, reasons, figures, rows)
        gate.judge(flagged, named, chances, share, error)


def _present_flags(
    result: Result, flagged: Sequence[bool], reasons: Sequence[str], output: options.ScoreOutput
) -> Printable:
    """How many segments are flagged, and the strongest span of each of the worst."""
    ((name, metric),) = result.metrics.items()
    score = result.score(name, resamples=output.drawn)
    printed = present_scores([score])
    (scores,) = printed.tables
    strength = {
        i: value or 0.0 for i, value in enumerate(result.segment_scores(name)) if flagged[i]
    }
    worst = sorted(strength, key=lambda i: -strength[i])[:WORST]

    def row(index: int) -> tuple[Cell, ...]:
        marks = result.evidence(name)[index][0].marks
        words = marks[0].text if marks else reasons[index]
        said = " ".join(output_words(result, result.systems[0], index))
        return index + 1, _shortened(words, 36), _shortened(said, 30)

    interval = score.interval
    within = f", 95% interval {interval.low:.1f} to {interval.high:.1f}" if interval else ""
    table = Table(
        ("segment", metric.kinds[0].one, "output"),
        [row(index) for index in worst],
        f"{sum(flagged)} of {len(flagged)} segments flagged ({score.score:.1f} %{within})",
        notes=("More of the worst: --worst 20. All segments: --sentence-level -o ALL.jsonl",)
        if worst
        else (),
        signatures=scores.signatures,
    )
    return replace(
        printed, tables=(table,), records=scores, numbers=[row[1] for row in scores.rows]
    )


def _shortened(text: str, width: int) -> str:
    """The beginning of a text, in so many columns of a terminal."""
    from rich.text import Text

    shown = Text(text)
    shown.truncate(width, overflow="ellipsis")
    return shown.plain
