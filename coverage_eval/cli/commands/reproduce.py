"""``coverage-eval reproduce``: the papers' experiments, run again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from coverage_eval.cli.help import option
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import (
    Command,
    Group,
    Output,
    OutputFile,
    PictureFile,
    WholeRange,
    options_as,
    options_of,
    output_option,
    output_options,
)
from coverage_eval.cli.output import print_lines, show
from coverage_eval.comparison.comparison import present_comparison
from coverage_eval.data.files import read_segments
from coverage_eval.errors import MissingDependencyError
from coverage_eval.papers.reproduction.multilabel import read_labelled
from coverage_eval.papers.reproduction.number_words import DigitsSettings, draw_attention
from coverage_eval.papers.reproduction.sparsemax_regression import (
    RegressionSettings,
    cross_validate_regularizers,
    iris_data,
    reproduce_regression,
)
from coverage_eval.papers.reproduction.timing import CLASSES, reproduce_timing
from coverage_eval.plotting.saving import save_figure
from coverage_eval.settings import files_setting, setting

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
    """Name the extra to install if an import fails inside."""
    try:
        yield
    except MissingDependencyError:
        raise
    except ImportError as error:
        raise MissingDependencyError(
            f"this needs PyTorch and tokenizers ({error.name} is missing): "
            "pip install 'coverage-eval[nmt]'"
        ) from error


run_folder_option = option(
    "-o", "--output", "folder", metavar="RUN", required=True, help="Keep everything in this folder."
)
resume_option = option("--resume", is_flag=True, help="Continue the run in the folder.")


@click.group("reproduce", cls=Group)
def command() -> None:
    """Run the papers' experiments again and compare with the printed figures.

    \b
    Example:
      coverage-eval reproduce regression
    """


@command.command("regression")
@option(
    "--data", metavar="FILE",
    help="Use this data set: Mulan's .arff with its .xml beside it, MNIST's "
    "train-images-idx3-ubyte with its labels beside it, or LIBSVM.  [default: Iris]",
)  # fmt: skip
@option("--test", metavar="FILE", goes_with=["data"],
        help="Its test set.  [default: a random tenth of the data]")  # fmt: skip
@options_as("chosen", RegressionSettings)
@option("--plot", "picture", metavar="FILE", type=PictureFile(),
        help="Also draw the divergence by regularizer (Figure 1): .png, .svg or .pdf.")  # fmt: skip
@output_options(width=3)
def regression(
    data: str | None,
    test: str | None,
    picture: str | None,
    output: Output,
    chosen: RegressionSettings,
) -> None:
    """Softmax and sparsemax regression (Madsen et al. 2017, Tables 2 and 3, Figure 1).

    Iris is in the package. The report's other data sets are read from your copy of the published
    files. If a file's name begins with mnist, train-images, scene, emotions or cal500, the printed
    figures stand beside yours.

    \b
    Example:
      coverage-eval reproduce regression --splits 20
      coverage-eval reproduce regression --data scene-train.arff --test scene-test.arff
    """
    train, held_out = (read_labelled(path) if path else None for path in (data, test))
    result = reproduce_regression(train, held_out, chosen)
    curves = None
    if picture:
        from coverage_eval.plotting.transformation_plots import regularizer_curves

        curves = cross_validate_regularizers(train, chosen)
        axes = regularizer_curves(
            curves.penalties, curves.means, curves.half_widths, title=curves.data
        )
        save_figure(axes, picture, tight=True)
    show(result.present(curves), output)


@command.command("digits")
@run_folder_option
@resume_option
@option("--seeds", default=5, type=WholeRange(1),
        help="Number of seeds, counted from 1.")  # fmt: skip
@options_as("settings", DigitsSettings)
@output_options(width=1, file=False)
def digits(folder: str, resume: bool, seeds: int, output: Output, settings: DigitsSettings) -> None:
    """Translate spelled numbers into digits with softmax and sparsemax attention (Figures 2 and 3).

    The report (Madsen et al. 2017, section 3.3) gives the model, the optimiser and the number of
    examples. The lengths come from its draft; we chose the sizes and the clipping norm. A killed
    run continues with --resume to the same result, and can get more seeds. RUN gets the accuracy
    during training (digits.csv), logs, and both pictures of attention.

    \b
    Example:
      coverage-eval reproduce digits -o digits --seeds 5
    """
    if settings.longest < settings.shortest:
        raise click.UsageError("--longest is below --shortest")
    import coverage_eval.torch  # noqa: F401  (says what to install)
    from coverage_eval.papers.reproduction.number_words_training import reproduce_digits

    run, wanted = Path(folder), range(1, seeds + 1)
    result = reproduce_digits(run, settings, wanted, resume=resume)
    for attention, axes in draw_attention(run):
        save_figure(axes, run / f"{attention}.png", tight=True)
    show(result.present(), output)


@dataclass(frozen=True)
class _Timing:
    """Options of the measurement."""

    numbers: tuple[int, ...] = setting(
        (),
        "Use random scores of this many classes; give it once for each number.  "
        f"[default: {', '.join(map(str, CLASSES))}]",
        flag="--classes",
        multiple=True,
        type=WholeRange(2),
        metavar="K",
    )
    examples: int = setting(1000, "Number of rows of random scores.", min=1)
    files: tuple[str, ...] = files_setting(
        "Also time this data set: Mulan's .arff with its .xml beside it, or LIBSVM; give it once "
        "for each data set.",
        flag="--data",
    )
    repeats: int = setting(5, "Number of measurements.", min=1)


@command.command("timing")
@options_of(_Timing)
@output_options
def timing(
    numbers: tuple[int, ...], examples: int, files: tuple[str, ...], repeats: int, output: Output
) -> None:
    """Measure how much more sparsemax costs than softmax (Madsen et al. 2017, Table 4).

    The command times the forward and backward pass of both losses by number of classes, and 100
    epochs of regression on Iris and on --data. It uses NumPy, and also PyTorch and a GPU if they
    are available. If a file has the name of a data set in the table (mnist, scene, emotions,
    cal500), the printed ratio stands beside yours.

    \b
    Example:
      coverage-eval reproduce timing --data scene.arff --data mnist.scale
    """
    data = [iris_data(), *map(read_labelled, files)]
    result = reproduce_timing(
        classes=numbers or CLASSES, examples=examples, data=data, repeats=repeats
    )
    show(result.present(), output)


@dataclass(frozen=True)
class _Training:
    """Options of an experiment that trains systems, besides its corpora and folder."""

    preset_name: str = setting(
        "small", "Preset of sizes and training settings.", flag="--preset", choices=_PRESETS
    )
    size: int | None = setting(None, "Size of word vectors and layers.", min=2)
    epochs: int | None = setting(None, "Number of epochs.", min=1)
    halve_from: int | None = setting(
        None, "Halve the learning rate after this epoch and after each later one.", min=1
    )
    merges: int | None = setting(
        None, "Number of operations of byte pair encoding to learn.", min=0
    )
    seed: int = setting(1, "Seed of parameters, order of batches and dropout.", min=0)
    scoring: str = setting(
        "bilinear", "Score attention in this way; the paper uses bilinear.",
        choices=("bilinear", "additive"),
    )  # fmt: skip
    beam: int = setting(10, "Number of hypotheses that the search keeps.", min=1)
    tune_by: str = setting(
        "beam",
        "Choose the weights of COVPENALTY by decoding the validation text with each of 36 pairs, "
        "or by rescoring its n-best lists.",
        choices=("beam", "lists"),
    )
    tune_on: int | None = setting(
        None, "Decode only the first N validation sentences with each pair.", metavar="N", min=1
    )
    dataset: str = setting(
        "De-En", "Column of the printed table to compare with.", choices=_DATASETS
    )
    names: tuple[str, ...] = setting(
        (), "Only make this row of the table; give it once for each row.", flag="--system",
        multiple=True, metavar="NAME",
    )  # fmt: skip
    device: str = setting("cpu", "PyTorch's device: cpu, cuda, cuda:1.", metavar="DEVICE")


_training_options = options_of(
    _Training,
    *(
        option(
            f"--{name.replace('_', '-')}", metavar="FILE", required=True,
            help=f"Read the {what}, tokenised.",
        )
        for name, what in _CORPORA.items()
    ),
    run_folder_option,
    resume_option,
)  # fmt: skip


@command.command("table1", cls=Command)
@_training_options
@output_options(file=False)
def table1(output: Output, **options: Any) -> None:
    """Train, decode and score the eight systems of Table 1 (Malaviya et al. 2018).

    A killed run continues with --resume to the same result. Rows with COVPENALTY use the model of
    the row without it; if you change --tune-by or --tune-on, they are decoded again. Texts must be
    tokenised, and lowercased if you want that.

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

    With --resume, RUN can be the folder of table1: parts that both tables share are reused.
    --system 'PREDICTED c = 0.4' (or 0.6, 0.8) makes a row with a value from the authors' logs.

    \b
    Example:
      coverage-eval reproduce table2 --train-src train.de --train-tgt train.en \\
        --valid-src val.de --valid-tgt val.en --test-src test.de --test-ref test.en -o run --resume
    """
    _reproduce("table2", output, options)


@command.command("figure2", cls=Command)
@click.argument("run", metavar="RUN")
@option(
    "--system", "names", nargs=2, default=("softmax", "csparsemax"),
    metavar="NAME NAME", help="Draw these two systems.",
)  # fmt: skip
@option(
    "--index", "number", type=WholeRange(1),
    help="Draw this segment of the test set, counted from 1.  [default: the segment in which the "
    "first system repeats most and the second repeats nothing]",
)  # fmt: skip
@option(
    "-o", "--output", "picture", metavar="FILE", required=True,
    type=PictureFile(), help="Write this file, a .png, .svg or .pdf.",
)  # fmt: skip
def figure2(run: str, names: tuple[str, str], number: int | None, picture: str) -> None:
    """Draw two systems' attention for a sentence in which one of them repeats words (Figure 2).

    RUN is the folder of 'reproduce table1'.

    \b
    Example:
      coverage-eval reproduce figure2 run -o figure2.pdf
    """
    with needs_torch():
        from coverage_eval.papers.reproduction.run_folder import RunFolder
        from coverage_eval.papers.reproduction.run_results import draw_figure2

    axes = draw_figure2(RunFolder.existing(Path(run)), number, names)
    save_figure(axes[0], picture, tight=True)


@command.command("translate", cls=Command)
@click.argument("run", metavar="RUN")
@click.argument("text", metavar="TEXT")
@option("--system", "name", required=True, metavar="NAME",
        help="Translate with the system of this row of a table.")  # fmt: skip
@option(
    "--attention", metavar="FILE", type=OutputFile(),
    help="Write the attention to this .npz or .jsonl file, for 'attention' and 'report'.",
)  # fmt: skip
@output_option
def translate(run: str, text: str, name: str, attention: str | None, output: str | None) -> None:
    """Translate TEXT with a trained system of a run, as its test set was translated.

    TEXT has one segment per line, tokenised like the run's texts.

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
    """Copy the parts of a run that may be published: no weights, no text of the corpora.

    These are the tables with their signatures, the manifest, the log of every epoch, the
    translations of the test set, and the scores of all hypotheses of the n-best lists. The command
    prints the names of the files.

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
