"""``coverage-eval reproduce table1`` and ``table2``: the paper's systems on one's own corpus."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click

from coverage_eval.cli.messages import say
from coverage_eval.cli.options import WholeRange, add_options
from coverage_eval.cli.output import Output, output_option, output_options, print_lines, show
from coverage_eval.cli.overwriting import Command, OutputFile
from coverage_eval.cli.picture_files import PictureFile
from coverage_eval.comparison.presentation import present_comparison
from coverage_eval.data.files import read_segments
from coverage_eval.errors import MissingDependencyError
from coverage_eval.report.pictures import save_figure

_CORPORA = {
    "train_src": "source side of the training text",
    "train_tgt": "target side of the training text",
    "valid_src": "source side of the validation text",
    "valid_tgt": "target side of the validation text",
    "test_src": "source side of the test set",
    "test_ref": "reference of the test set",
}
_PRESETS = ("paper", "small", "tiny")
_DATASETS = ("De-En", "Ja-En", "Ro-En")


@contextmanager
def needs_torch() -> Iterator[None]:
    """Name the extra where the imports inside find that a package is missing."""
    try:
        yield
    except MissingDependencyError:
        raise
    except ImportError as error:
        raise MissingDependencyError(
            f"this needs PyTorch and tokenizers ({error.name} is missing): "
            "pip install 'coverage-eval[nmt]'"
        ) from error


_OPTIONS = (
    *(
        click.option(
            f"--{name.replace('_', '-')}", metavar="FILE", required=True,
            help=f"Read the {what}, tokenised.",
        )
        for name, what in _CORPORA.items()
    ),
    click.option("-o", "--output", "folder", metavar="RUN", required=True,
                 help="Keep everything in this folder."),
    click.option("--resume", is_flag=True, help="Go on with the run that is in the folder."),
    click.option("--preset", "preset_name", default="small", show_default=True,
                 type=click.Choice(_PRESETS), help="Take sizes and training settings from it."),
    click.option("--size", type=WholeRange(2),
                 help="Take word vectors and layers of this size instead."),
    click.option("--epochs", type=WholeRange(1), help="Train for so many epochs instead."),
    click.option("--halve-from", type=WholeRange(1),
                 help="Halve the learning rate after this epoch and each further one."),
    click.option("--merges", type=WholeRange(0),
                 help="Learn so many operations of byte pair encoding instead."),
    click.option("--seed", default=1, show_default=True, type=WholeRange(0),
                 help="Seed parameters, order of batches and dropout with this number."),
    click.option("--scoring", default="bilinear", show_default=True,
                 type=click.Choice(["bilinear", "additive"]),
                 help="Score attention so: bilinear is the paper's."),
    click.option("--beam", default=10, show_default=True, type=WholeRange(1),
                 help="Keep so many hypotheses of each sentence."),
    click.option("--tune-by", default="beam", show_default=True,
                 type=click.Choice(["beam", "lists"]),
                 help="Choose the weights of COVPENALTY by decoding the validation text with "
                 "each of 36 pairs, or by rescoring its n-best lists."),
    click.option("--tune-on", metavar="N", type=WholeRange(1),
                 help="Decode only its first N sentences with each pair."),
    click.option("--dataset", default="De-En", show_default=True, type=click.Choice(_DATASETS),
                 help="Set the scores beside this column of the printed table."),
    click.option("--system", "names", multiple=True, metavar="NAME",
                 help="Only make this row of the table; may be repeated."),
    click.option("--device", default="cpu", show_default=True, metavar="DEVICE",
                 help="Compute there, as PyTorch names it: cpu, cuda, cuda:1."),
)  # fmt: skip
_training_options = partial(add_options, options=_OPTIONS)


@click.command("table1", cls=Command)
@_training_options
@output_options(file=False)
def table1(output: Output, **options: Any) -> None:
    """Train, decode and score the eight systems of Table 1 (Malaviya et al. 2018).

    A killed run goes on with --resume to the same result. Rows with COVPENALTY are decoded from
    the model of the row without; with another --tune-by or --tune-on than before they are decoded
    again. Texts must be tokenised; lowercase them first if that is wanted.

    \b
    Example:
      coverage-eval reproduce table1 --train-src train.de --train-tgt train.en \\
        --valid-src val.de --valid-tgt val.en --test-src test.de --test-ref test.en -o run
    """
    _reproduce("table1", output, options)


@click.command("table2", cls=Command)
@_training_options
@output_options(file=False)
def table2(output: Output, **options: Any) -> None:
    """Train, decode and score csparsemax with the fertilities of Table 2.

    The folder may be that of table1, with --resume: what both tables share is there already.
    Named with --system, there are also the values of c from the authors' logs: 'PREDICTED c = 0.4',
    0.6 and 0.8.

    \b
    Example:
      coverage-eval reproduce table2 --train-src train.de --train-tgt train.en \\
        --valid-src val.de --valid-tgt val.en --test-src test.de --test-ref test.en -o run --resume
    """
    _reproduce("table2", output, options)


@click.command("figure2", cls=Command)
@click.argument("run", metavar="RUN")
@click.option(
    "--system", "names", nargs=2, default=("softmax", "csparsemax"), show_default=True,
    metavar="NAME NAME", help="Draw these two systems.",
)  # fmt: skip
@click.option(
    "--index", "number", type=WholeRange(1),
    help="Draw this segment of the test set, counted from 1.  [default: the one in which the first "
    "system repeats most and the second nothing]",
)  # fmt: skip
@click.option(
    "-o", "--output", "picture", metavar="FILE", required=True,
    type=PictureFile(), help="Write this file, a .png, .svg or .pdf.",
)  # fmt: skip
def figure2(run: str, names: tuple[str, str], number: int | None, picture: str) -> None:
    """Draw two systems' attention to a sentence that one of them repeats words in (Figure 2).

    RUN is the folder of 'reproduce table1'.

    \b
    Example:
      coverage-eval reproduce figure2 run -o figure2.pdf
    """
    with needs_torch():
        from coverage_eval.nmt.repetition_figure import draw_figure2
        from coverage_eval.nmt.run_folder import RunFolder
    from coverage_eval.plotting.canvas import figure_of

    axes = draw_figure2(RunFolder.existing(Path(run)), number, names)
    save_figure(figure_of(axes[0]), picture, tight=True)


@click.command("translate", cls=Command)
@click.argument("run", metavar="RUN")
@click.argument("text", metavar="TEXT")
@click.option("--system", "name", required=True, metavar="NAME",
              help="Translate by this row of a table.")  # fmt: skip
@click.option(
    "--attention", metavar="FILE", type=OutputFile(),
    help="Write the attention to this file, a .npz or .jsonl, as 'attention' and 'report' read it.",
)  # fmt: skip
@output_option
def translate(run: str, text: str, name: str, attention: str | None, output: str | None) -> None:
    """Translate TEXT by a trained system of a run, as its test set was translated.

    TEXT has one segment a line, tokenised as the run's texts are.

    \b
    Example:
      coverage-eval reproduce translate run mine.de --system csparsemax --attention mine.jsonl
    """
    with needs_torch():
        from coverage_eval.nmt.decoding import best_texts, write_attention
        from coverage_eval.nmt.roster import find_system
        from coverage_eval.nmt.run_folder import RunFolder
        from coverage_eval.nmt.trained_system import TrainedSystem
    trained = TrainedSystem.load(RunFolder.existing(Path(run)), find_system(name))
    pieces, lists = trained.translate(read_segments(text))
    if attention is not None:
        write_attention(Path(attention), pieces, lists)
    print_lines(best_texts(lists), output)


@click.command("keep", cls=Command)
@click.argument("run", metavar="RUN")
@click.option("-o", "--output", "folder", metavar="FOLDER", required=True,
              help="Write the files into this folder.")  # fmt: skip
def keep(run: str, folder: str) -> None:
    """Copy the figures of a run, fit to be published: no weights, no text of the corpora.

    These are the tables with their signatures, the manifest, what is known of every epoch, and the
    scores of all hypotheses of the n-best lists. The names of the files written are printed.

    \b
    Example:
      coverage-eval reproduce keep run -o results
    """
    with needs_torch():
        from coverage_eval.nmt.keeping import keep_results
        from coverage_eval.nmt.run_folder import RunFolder
    print_lines(map(str, keep_results(RunFolder.existing(Path(run)), Path(folder))))


def _reproduce(table: str, output: Output, options: dict[str, Any]) -> None:
    if options["tune_on"] is not None and options["tune_by"] != "beam":
        raise click.UsageError(
            "--tune-on goes with --tune-by beam: lists are made of all sentences"
        )
    with needs_torch():
        from coverage_eval.nmt.reproduction import reproduce_table
    corpora = {name: options.pop(name) for name in _CORPORA}
    result = reproduce_table(table, corpora, Path(options.pop("folder")), **options)
    if result.note:
        say(f"no METEOR in the table: {result.note}", "note")
    show(present_comparison(result.comparison), output)
