"""The command ``coverage-eval``: its commands by name, and how errors end."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module

import click

from coverage_eval.cli.help import HelpCommand
from coverage_eval.cli.messages import ENCODING_FALLBACK, discard, say, wrap
from coverage_eval.core.errors import CoverageEvalError, ReadingNote
from coverage_eval.core.escapes import escape_controls
from coverage_eval.registry import METRICS
from coverage_eval.version import __version__
from fast_align_wrapper import AlignerError

SECTIONS = {
    "Find errors": {
        "omissions": "Find source words that an output leaves out, or words that it adds.",
        "segment": "Cut an output by its source's lines, and find the lines that are missing.",
        "rep": METRICS["rep"].summary,
        "drop": METRICS["drop"].summary,
    },
    "Compare systems": {
        "compare": "Compare systems: scores, intervals and paired tests in one table.",
        "report": "Write an HTML report: which system is worse, by how much, and where.",
    },
    "Score as others do": {"bleu": METRICS["bleu"].summary, "meteor": METRICS["meteor"].summary},
    "Align words, read attention": {
        "align": "Word alignment: train a model, align text, symmetrise and evaluate links.",
        "attention": "Score, draw and convert attention maps of MT toolkits.",
    },
    "Check the papers": {
        "audit": "Check what the papers print and claim, or judge their claims on your systems."
    },
    "Try it": {"demo": "Try coverage-eval on bundled texts with known errors."},
}
"""The commands as --help shows them, each with its line there.

Each but bleu is in the module of the same name, which is imported when the command is used, so that
--help stays fast.
"""


def _commands() -> dict[str, str]:
    """Every command with its line in --help; a user's own metric has a command, too."""
    metrics = {name: entry.summary for name, entry in METRICS.items() if entry.command}
    return {name: line for lines in SECTIONS.values() for name, line in lines.items()} | metrics


class LazyGroup(HelpCommand, click.Group):
    """A group that imports a command's module only when that command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """All commands."""
        return list(_commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command, or None if there is none of that name."""
        if cmd_name not in _commands():
            return None
        # Those of other metrics that the project has take options of their own.
        if cmd_name == "bleu" or not any(cmd_name in lines for lines in SECTIONS.values()):
            from coverage_eval.cli.commands.own_metric import metric_command

            return metric_command(cmd_name)
        module = import_module(f"coverage_eval.cli.commands.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command as click does; for a metric without one, say that it is a column."""
        name = args[0]
        if name in METRICS and name not in _commands():
            ctx.fail(f"{name} is a column: coverage-eval compare -m {name} --ref REF FILE...")
        return super().resolve_command(ctx, args)

    def sections(self) -> dict[str, list[tuple[str, str]]]:
        """The commands by what a user wants to do; those of a user's own metrics come last."""
        sections = {title: list(lines.items()) for title, lines in SECTIONS.items()}
        ours = [item for lines in sections.values() for item in lines]
        users = [item for item in _commands().items() if item not in ours]
        return sections | ({"Your metrics": users} if users else {})


SACREBLEU_OPTIONS = {
    "-c": "-ci is --confidence; 'compare' always has intervals.",
    "-l": "-lc is --lowercase.",
    "-n": "Give --ref once for each reference.",
    "-t": "-tok is --tokenize. Texts are files: sacrebleu -t wmt23 -l en-de --echo src > SRC",
    "--confidence-n": "It is --resamples.",
    "--force": "Tokenised text is only warned of.",
    "--lowercase": "METEOR and the aligner ignore case.",
    "--num-refs": "Give --ref once for each reference.",
    "--paired-ar": "'compare' tests all pairs of systems.",
    "--paired-bs": "'compare' tests all pairs of systems.",
    "--paired-bs-n": "It is --resamples.",
    "--tokenize": "METEOR has --norm; elsewhere words are the model's, as 'align train' made it.",
    "--width": "It is --digits.",
}
"""Options that users of sacreBLEU type where there are none, and what to type."""


_EXTRAS = {
    "meteor": ("pycocoevalcap", "snowballstemmer"),
    "parquet": ("pyarrow",),
    "spark": ("pyspark", "pyarrow"),
    "torch": ("torch",),
}
"""Extra → the packages that it installs."""


def _show_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    """Print the version, the word aligner and the extras that are installed."""
    if not asked:
        return
    from importlib.util import find_spec

    from fast_align_wrapper.process import find_fast_align

    try:
        binary = find_fast_align()
        aligner = f"{binary.version or 'another build'} ({binary.path})"
    except AlignerError as error:
        aligner = f"missing: {error}"
    present = [name for name, needs in _EXTRAS.items() if all(map(find_spec, needs))]
    missing = ", ".join(name for name in _EXTRAS if name not in present) or "none"
    python = ".".join(map(str, sys.version_info[:3]))
    click.echo(f"coverage-eval, version {__version__}, Python {python}")
    click.echo(f"word aligner: {aligner}")
    click.echo(f"extras: {', '.join(present) or 'none'}; not installed: {missing}")
    ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, default=False, is_eager=True, expose_value=False,
    callback=_show_version,
    help="Show the version, the word aligner and the extras, and exit.",
)  # fmt: skip
def cli() -> None:
    """Find the words that a machine translation repeats or leaves out.

    \b
    Example:
      coverage-eval rep hyp.txt ref.txt --sentence-level
      coverage-eval compare --ref ref.txt a.txt b.txt
    """


def _prepare_process() -> None:
    """Settings of a process that runs one command."""
    # A service may start with some streams closed. Then no file that is opened later gets their
    # numbers; what is printed on a closed standard output is an error, because nobody gets it.
    for name, mode in {"stdin": "r", "stdout": "w", "stderr": "w"}.items():
        if getattr(sys, name) is None:
            how = os.O_RDWR if name == "stderr" else os.O_RDONLY
            setattr(sys, name, os.fdopen(os.open(os.devnull, how), mode))
    # OpenBLAS allocates memory for each of its threads when NumPy is imported. Without memory or
    # threads it prints many lines, or tries for ever.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # A user's setting for windows may name what is not installed; no command opens a window.
    os.environ["MPLBACKEND"] = "agg"
    # kill and a closed terminal end the run as Ctrl-C does, with clean-up; nohup has its way.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, lambda received, _: sys.exit(128 + received))


def _show_usage(error: click.ClickException) -> None:
    """Show how a command is called, as click does, and the error as all others are shown."""
    text, message = io.StringIO(), error.format_message()
    error.show(text)
    usage = text.getvalue().removesuffix(f"Error: {message}\n")
    lines = map(escape_controls, usage.rstrip().split("\n"))
    sys.stderr.writelines(f"{wrap(line, sys.stderr)}\n" for line in lines if usage)
    say(" ".join(message.split("\n")), "error")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; a user's mistake ends in one line on stderr and exit status 1.

    Args:
        argv: The arguments without the command's name; by default those of the process.

    Returns:
        The exit status: 0, 1 for bad data, 2 for a usage error, 3 for a closed gate, 130 after
        Ctrl-C.

    Raises:
        SystemExit: SIGTERM or SIGHUP asked the process to end.
    """
    if argv is None:
        _prepare_process()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # not a notebook's
            stream.reconfigure(errors=ENCODING_FALLBACK)
    shown: set[str] = set()

    def show_warning(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in shown:  # a file may be read twice
            shown.add(str(message))
            say(str(message), "note" if isinstance(message, ReadingNote) else "warning")

    arguments = sys.argv[1:] if argv is None else list(argv)
    with warnings.catch_warnings():
        warnings.showwarning = show_warning
        return _run(arguments)


def _run(argv: Sequence[str]) -> int:
    """Run a command line and return its exit status."""
    try:
        done = cli.main(argv, prog_name="coverage-eval", standalone_mode=False, obj=argv)
        return int(done or 0)
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption) and error.option_name in SACREBLEU_OPTIONS:
            hint = SACREBLEU_OPTIONS[error.option_name]
            error = click.UsageError(f"{error.message} {hint}", error.ctx)
        _show_usage(error)
        return error.exit_code
    except click.Abort:
        say("interrupted", "error")
        return 128 + signal.SIGINT
    except (CoverageEvalError, AlignerError, Warning) as error:  # warnings with --strict
        say(str(error), "error")
    except OSError as error:
        from tempfile import gettempdir

        # Final files and standard output are named where they are written.
        is_full = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
        file = error.filename or (f"temporary files in {gettempdir()}" if is_full else "")
        try:
            sys.stdout.flush()
        except OSError:  # what click printed, such as help, is still in its buffer
            discard(sys.stdout)
            file = "standard output"
        say(f"{file}: {error.strerror}" if file else str(error.strerror or error), "error")
    except MemoryError:
        say("out of memory; allow this process more, or give it less text at once", "error")
    except (ImportError, SystemError) as error:
        # An extension written in C turns Ctrl-C during its import into an error of its own.
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        say("interrupted", "error")
        return 128 + signal.SIGINT
    return 1
