"""``coverage-eval reproduce``: experiments of the papers, run again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

import click

from coverage_eval.cli.help import option
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import (
    Command,
    FiniteRange,
    Group,
    Output,
    OutputFile,
    PictureFile,
    WholeRange,
    add_options,
    output_option,
    output_options,
)
from coverage_eval.cli.output import print_lines, save_figure, show
from coverage_eval.comparison.presentation import present_comparison
from coverage_eval.data.files import read_segments
from coverage_eval.errors import MissingDependencyError
from coverage_eval.papers.reproduction.multilabel import read_labelled
from coverage_eval.papers.reproduction.number_words import DigitsSettings, draw_attention
from coverage_eval.papers.reproduction.sparsemax_regression import (
    BATCH,
    EPOCHS,
    RegressionSettings,
    cross_validate_regularizers,
    iris_data,
    reproduce_regression,
)
from coverage_eval.papers.reproduction.timing import CLASSES, reproduce_timing

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
    """Name the extra to install if an import inside fails."""
    try:
        yield
    except MissingDependencyError:
        raise
    except ImportError as error:
        raise MissingDependencyError(
            f"this needs PyTorch and tokenizers ({error.name} is missing): "
            "pip install 'coverage-eval[nmt]'"
        ) from error


@click.group("reproduce", cls=Group)
def command() -> None:
    """Run the papers' experiments again and compare with the printed figures.

    \b
    Example:
      coverage-eval reproduce regression
    """


@command.command("regression")
@option("--data", metavar="FILE",
              help="Take this data set: Mulan's .arff with its .xml beside it, MNIST's "
              "train-images-idx3-ubyte with its labels beside it, or LIBSVM.  "
              "[default: Iris]")  # fmt: skip
@option("--test", metavar="FILE",
              help="Take its test set from this file.  "
              "[default: a random tenth of the data]")  # fmt: skip
@option("--splits", default=5, show_default=True, type=WholeRange(1),
              help="Draw this many random splits; the report has one.")  # fmt: skip
@option("--seed", default=0, show_default=True, type=WholeRange(0),
              help="Seed splits and folds with this number.")  # fmt: skip
@option("--epochs", default=EPOCHS, show_default=True, type=WholeRange(1),
              help="Run Adam for this many epochs.")  # fmt: skip
@option("--batch", default=BATCH, show_default=True, type=WholeRange(1),
              help="Take this many examples a step of Adam.")  # fmt: skip
@option("--plot", "picture", metavar="FILE", type=PictureFile(),
              help="Draw the divergence by regularizer too (Figure 1), as .png, .svg "
              "or .pdf.")  # fmt: skip
@output_options(width=3)
def regression(
    data: str | None, test: str | None, picture: str | None, output: Output, **settings: int
) -> None:
    """Softmax and sparsemax regression (Madsen et al. 2017, Tables 2 and 3, Figure 1).

    Iris is in the package. The other data sets of the report are read from your copy in the form
    in which they are published; the printed figures are set beside by how the file's name begins
    (mnist or train-images, scene, emotions, cal500).

    \b
    Example:
      coverage-eval reproduce regression --splits 20
      coverage-eval reproduce regression --data scene-train.arff --test scene-test.arff
    """
    if test and not data:
        raise click.UsageError("--test goes with --data")
    train, held_out = (read_labelled(path) if path else None for path in (data, test))
    chosen = RegressionSettings(**settings)
    result = reproduce_regression(train, held_out, chosen)
    if picture:
        from coverage_eval.plotting.canvas import figure_of
        from coverage_eval.plotting.transformation_plots import regularizer_curves

        curves = cross_validate_regularizers(train, chosen)
        axes = regularizer_curves(
            curves.penalties, curves.means, curves.half_widths, title=curves.data
        )
        save_figure(figure_of(axes), picture, tight=True)
    show(result.present(), output)


_iris = copy(regression)
_iris.hidden = True
command.add_command(_iris, "iris")  # its name until version 0.1; to go with the next


@command.command("digits")
@option("-o", "--output", "folder", metavar="RUN", required=True,
              help="Keep everything in this folder.")  # fmt: skip
@option("--resume", is_flag=True, help="Go on with the run that is in the folder.")
@option(
    "--seeds", default=5, show_default=True, type=WholeRange(1),
    help="Train with this many seeds, from 1.",
)  # fmt: skip
@option(
    "--examples", default=100_000, show_default=True, type=WholeRange(1),
    help="Train on this many examples.",
)  # fmt: skip
@option("--batch", default=100, show_default=True, type=WholeRange(1),
              help="Take a step of this many examples.")  # fmt: skip
@option("--shortest", default=5, show_default=True, type=WholeRange(1),
              help="Draw numbers of this many digits at least.")  # fmt: skip
@option("--longest", default=20, show_default=True, type=WholeRange(1),
              help="Draw numbers of this many digits at most.")  # fmt: skip
@option("--size", default=32, show_default=True, type=WholeRange(1),
              help="Give embeddings, states and the attention's layer this size.")  # fmt: skip
@option("--rate", default=0.005, show_default=True, type=FiniteRange(0, min_open=True),
              help="Learning rate of Adam.")  # fmt: skip
@option("--clip", default=1.0, show_default=True, type=FiniteRange(0, min_open=True),
              help="Shorten a step's gradient to this norm.")  # fmt: skip
@option("--valid", default=300, show_default=True, type=WholeRange(1),
              help="Measure accuracy on this many examples.")  # fmt: skip
@output_options(width=1, file=False)
def digits(folder: str, resume: bool, seeds: int, output: Output, **settings: Any) -> None:
    """Spelled numbers into digits, by softmax and sparsemax attention (Figures 2 and 3).

    The report (Madsen et al. 2017, section 3.3) gives the model, the optimiser and the number of
    examples; lengths are from its draft; sizes and the limit of gradients are ours. A killed run
    continues with --resume to the same result, and seeds may be added. RUN has accuracy by training
    (digits.csv), logs, and both pictures of attention.

    \b
    Example:
      coverage-eval reproduce digits -o digits --seeds 5
    """
    if settings["longest"] < settings["shortest"]:
        raise click.UsageError("--longest is below --shortest")
    import coverage_eval.torch  # noqa: F401  (says what to install)
    from coverage_eval.papers.reproduction.number_words_training import reproduce_digits
    from coverage_eval.plotting.canvas import figure_of

    run, wanted = Path(folder), range(1, seeds + 1)
    result = reproduce_digits(run, DigitsSettings(**settings), wanted, resume=resume)
    for attention, axes in draw_attention(run):
        save_figure(figure_of(axes), run / f"{attention}.png", tight=True)
    show(result.present(), output)


@command.command("timing")
@option(
    "--classes", "numbers", multiple=True, type=WholeRange(2), metavar="K",
    help=f"Take random scores of this many classes; may be repeated.  "
    f"[default: {', '.join(map(str, CLASSES))}]",
)  # fmt: skip
@option(
    "--examples", default=1000, show_default=True, type=WholeRange(1),
    help="Take this many rows of random scores.",
)  # fmt: skip
@option(
    "--data", "files", multiple=True, metavar="FILE",
    help="Time this data set too: Mulan's .arff with its .xml beside it, or LIBSVM; may be "
    "repeated.",
)  # fmt: skip
@option(
    "--repeats", default=5, show_default=True, type=WholeRange(1),
    help="Measure this many times.",
)  # fmt: skip
@output_options
def timing(
    numbers: tuple[int, ...], examples: int, files: tuple[str, ...], repeats: int, output: Output
) -> None:
    """Measure how much more sparsemax costs than softmax (Madsen et al. 2017, Table 4).

    Forward and backward of both losses by number of classes, and 100 epochs of regression on Iris
    and on data sets that are given: in NumPy, and in PyTorch where it is installed, on a graphics
    card too. A file named as a data set of the table (mnist, scene, emotions, cal500) is compared
    with its printed ratio.

    \b
    Example:
      coverage-eval reproduce timing --data scene.arff --data mnist.scale
    """
    data = [iris_data(), *map(read_labelled, files)]
    result = reproduce_timing(
        classes=numbers or CLASSES, examples=examples, data=data, repeats=repeats
    )
    show(result.present(), output)


_OPTIONS = (
    *(
        option(
            f"--{name.replace('_', '-')}", metavar="FILE", required=True,
            help=f"Read the {what}, tokenised.",
        )
        for name, what in _CORPORA.items()
    ),
    option("-o", "--output", "folder", metavar="RUN", required=True,
                 help="Keep everything in this folder."),
    option("--resume", is_flag=True, help="Go on with the run that is in the folder."),
    option("--preset", "preset_name", default="small", show_default=True,
                 type=click.Choice(_PRESETS), help="Take sizes and training settings from it."),
    option("--size", type=WholeRange(2),
                 help="Take word vectors and layers of this size instead."),
    option("--epochs", type=WholeRange(1), help="Train for this many epochs instead."),
    option("--halve-from", type=WholeRange(1),
                 help="Halve the learning rate after this epoch and each further one."),
    option("--merges", type=WholeRange(0),
                 help="Learn this many operations of byte pair encoding instead."),
    option("--seed", default=1, show_default=True, type=WholeRange(0),
                 help="Seed parameters, order of batches and dropout with this number."),
    option("--scoring", default="bilinear", show_default=True,
                 type=click.Choice(["bilinear", "additive"]),
                 help="Score attention so: bilinear is the paper's."),
    option("--beam", default=10, show_default=True, type=WholeRange(1),
                 help="Keep this many hypotheses of each sentence."),
    option("--tune-by", default="beam", show_default=True,
                 type=click.Choice(["beam", "lists"]),
                 help="Choose the weights of COVPENALTY by decoding the validation text with "
                 "each of 36 pairs, or by rescoring its n-best lists."),
    option("--tune-on", metavar="N", type=WholeRange(1),
                 help="Decode only its first N sentences with each pair."),
    option("--dataset", default="De-En", show_default=True, type=click.Choice(_DATASETS),
                 help="Set the scores beside this column of the printed table."),
    option("--system", "names", multiple=True, metavar="NAME",
                 help="Only make this row of the table; may be repeated."),
    option("--device", default="cpu", show_default=True, metavar="DEVICE",
                 help="Compute there, as PyTorch names it: cpu, cuda, cuda:1."),
)  # fmt: skip
_training_options = partial(add_options, options=_OPTIONS)


@command.command("table1", cls=Command)
@_training_options
@output_options(file=False)
def table1(output: Output, **options: Any) -> None:
    """Train, decode and score the eight systems of Table 1 (Malaviya et al. 2018).

    A killed run continues with --resume to the same result. Rows with COVPENALTY are decoded from
    the model of the row without; with another --tune-by or --tune-on than before they are decoded
    again. Texts must be tokenised; lowercase them first if you want that.

    \b
    Example:
      coverage-eval reproduce table1 --train-src train.de --train-tgt train.en \\
        --valid-src val.de --valid-tgt val.en --test-src test.de --test-ref test.en -o run
    """
    _reproduce("table1", output, options)


@command.command("table2", cls=Command)
@_training_options
@output_options(file=False)
def table2(output: Output, **options: Any) -> None:
    """Train, decode and score csparsemax with the fertilities of Table 2.

    The folder may be that of table1, with --resume: the parts that both tables share are reused.
    Named with --system, there are also the values of c from the authors' logs: 'PREDICTED c = 0.4',
    0.6 and 0.8.

    \b
    Example:
      coverage-eval reproduce table2 --train-src train.de --train-tgt train.en \\
        --valid-src val.de --valid-tgt val.en --test-src test.de --test-ref test.en -o run --resume
    """
    _reproduce("table2", output, options)


@command.command("figure2", cls=Command)
@click.argument("run", metavar="RUN")
@option(
    "--system", "names", nargs=2, default=("softmax", "csparsemax"), show_default=True,
    metavar="NAME NAME", help="Draw these two systems.",
)  # fmt: skip
@option(
    "--index", "number", type=WholeRange(1),
    help="Draw this segment of the test set, counted from 1.  [default: the one in which the first "
    "system repeats most and the second nothing]",
)  # fmt: skip
@option(
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
        from coverage_eval.papers.reproduction.run_folder import RunFolder
        from coverage_eval.papers.reproduction.run_results import draw_figure2
    from coverage_eval.plotting.canvas import figure_of

    axes = draw_figure2(RunFolder.existing(Path(run)), number, names)
    save_figure(figure_of(axes[0]), picture, tight=True)


@command.command("translate", cls=Command)
@click.argument("run", metavar="RUN")
@click.argument("text", metavar="TEXT")
@option("--system", "name", required=True, metavar="NAME",
              help="Translate by this row of a table.")  # fmt: skip
@option(
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
        from coverage_eval.papers.reproduction.decoding import best_texts, write_attention
        from coverage_eval.papers.reproduction.paper_systems import find_system
        from coverage_eval.papers.reproduction.run_folder import RunFolder
        from coverage_eval.papers.reproduction.trained_system import TrainedSystem
    trained = TrainedSystem.load(RunFolder.existing(Path(run)), find_system(name))
    pieces, lists = trained.translate(read_segments(text))
    if attention is not None:
        write_attention(Path(attention), pieces, lists)
    print_lines(best_texts(lists), output, as_is=True)


@command.command("keep", cls=Command)
@click.argument("run", metavar="RUN")
@option("-o", "--output", "folder", metavar="FOLDER", required=True,
              help="Write the files into this folder.")  # fmt: skip
def keep(run: str, folder: str) -> None:
    """Copy what may be published of a run: no weights, no text of the corpora.

    These are the tables with their signatures, the manifest, the log of every epoch, the
    translations of the test set, and the scores of all hypotheses of the n-best lists. The names of
    the files written are printed.

    \b
    Example:
      coverage-eval reproduce keep run -o results
    """
    with needs_torch():
        from coverage_eval.papers.reproduction.run_folder import RunFolder
        from coverage_eval.papers.reproduction.run_results import keep_results
    print_lines(map(str, keep_results(RunFolder.existing(Path(run)), Path(folder))))


def _reproduce(table: str, output: Output, options: dict[str, Any]) -> None:
    if options["tune_on"] is not None and options["tune_by"] != "beam":
        raise click.UsageError(
            "--tune-on goes with --tune-by beam: lists are made of all sentences"
        )
    with needs_torch():
        from coverage_eval.papers.reproduction.experiment import reproduce_table
    corpora = {name: options.pop(name) for name in _CORPORA}
    result = reproduce_table(table, corpora, Path(options.pop("folder")), **options)
    if result.note:
        say(f"no METEOR in the table: {result.note}", "note")
    show(present_comparison(result.comparison), output)
