"""``--shard``: a command counts a part of its texts, and ``merge`` prints what parts add up to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import click

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.cli.alignment_options import AlignmentOptions
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import given_options, listed_options
from coverage_eval.cli.output import Output, show
from coverage_eval.cli.warnings import echo_findings, warn
from coverage_eval.scale.results import Results
from coverage_eval.scale.shards import Shard, TextDigest
from coverage_eval.tables.table import Printable
from coverage_eval.text.files import check_target
from coverage_eval.text.rows import Row

_OF_MERGE = {"output_format", "width", "score_only", "details", "plot"}
_NOT_IN_PARTS = {
    "train_src": "every part would train a model: train it once with 'coverage-eval align train', "
    "and give --model to every part",
    "compat": "--compat reads files as the paper's script does, in one piece: no --shard",
    "guarded": "--fail-if-worse looks at the whole text, not at a part: no --shard",
    "calibrates": "--calibrate needs the whole text: calibrate once without --shard, which keeps "
    "the probabilities in the model file",
}


class Sharding:
    """What ``--shard`` asks for: all segments, or some of them for a part file."""

    def __init__(self, shard: Shard | None = None) -> None:
        self.shard = shard
        self._digest = TextDigest()

    def check(self, output: Output) -> None:
        """Refuse what parts cannot have, before any file is read.

        Raises:
            click.UsageError: The first thing that is wrong.
        """
        if self.shard is None:
            return
        if output.output in {None, "-"}:
            raise click.UsageError("--shard writes a part: name its file with -o")
        given = given_options()
        if unfit := given & _OF_MERGE:
            names = listed_options(name.replace("output_format", "format") for name in unfit)
            raise click.UsageError(
                f"{names} is not for --shard, which writes a part, but for merge"
            )
        for name, message in _NOT_IN_PARTS.items():
            if name in given:
                raise click.UsageError(message)

    def check_target(self, output: Output) -> None:
        """Refuse now a part file that could not be written when all is counted.

        Raises:
            DataError: It cannot be written.
        """
        if self.shard is not None:
            check_target(str(output.output))

    def make_aligner(
        self, alignment: AlignmentOptions, equip: Callable[..., None] | None = None
    ) -> Aligner | None:
        """The aligner, for the segments that are counted."""
        aligner = alignment.make(equip)
        if aligner is None or self.shard is None:
            return aligner
        return aligner.for_every(self.shard.of, self.shard.number - 1)

    def take(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows to be counted, of all rows."""
        if self.shard is None:
            return iter(rows)
        return self.shard.take(self._digest.watch(rows))

    def finish(
        self,
        command: str,
        results: Results,
        present: Callable[[Results], Printable],
        output: Any,
        *,
        strict: bool,
    ) -> None:
        """Print what was counted, or write it to a part file.

        Args:
            command: The command's name.
            results: What was counted.
            present: Makes what is printed of it; the same that ``merge`` uses.
            output: The options of output.
            strict: Whether warnings are errors.
        """
        if self.shard is None:
            printable = warn(
                present(results), results.findings, dict(results.figures), strict=strict
            )
            show(printable, output)
            return
        from coverage_eval.scale.part_files import ShardPart, write_part

        echo_findings(results.findings, strict=strict)
        write_part(output.output, ShardPart(command, self.shard, self._digest.value, results))
        say(f"{output.output}: part {self.shard}, {results.segments:,} segments")


def _parse(_: click.Context, __: click.Parameter, value: str | None) -> Sharding:
    try:
        return Sharding(None if value is None else Shard.parse(value))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


shard_option = click.option(
    "--shard", "sharding", metavar="I/N", callback=_parse,
    help="Count every N-th segment from the I-th on, and write what was counted to the file of -o; "
    "'coverage-eval merge' joins the N parts, and prints what one run would have printed.",
)  # fmt: skip
