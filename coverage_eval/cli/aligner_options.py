"""Options of the commands that run the word aligner."""

from __future__ import annotations

import click

from coverage_eval.cli.options import FiniteRange, WholeRange
from coverage_eval.cli.sizes import parse_size
from fast_align_wrapper.links import DEFAULT_SYMMETRIZATION, SYMMETRIZATIONS
from fast_align_wrapper.process import DEFAULT_TIMEOUT, MOST_SECONDS

threads_option = click.option(
    "--threads", type=WholeRange(1),
    help="Run the aligner in so many threads; the result does not depend on it.  "
    "[default: all cores]",
)  # fmt: skip
memory_option = click.option(
    "--memory", type=parse_size, metavar="SIZE",
    help="Limit the aligner's index to this, such as 2G.  [default: half of the machine's memory]",
)  # fmt: skip
fast_align_option = click.option(
    "--fast-align", metavar="FILE", type=click.Path(),
    help="Run this fast_align executable, or the one in this folder.  "
    "[default: FAST_ALIGN, or the one included]",
)  # fmt: skip
timeout_option = click.option(
    "--timeout", type=FiniteRange(0, MOST_SECONDS, min_open=True), default=DEFAULT_TIMEOUT,
    show_default=True, help="Give up after so many seconds without a sign of life of the aligner.",
)  # fmt: skip
symmetrize_option = click.option(
    "--symmetrize", default=DEFAULT_SYMMETRIZATION, show_default=True,
    type=click.Choice(SYMMETRIZATIONS), help="Join the links of the two directions in this way.",
)  # fmt: skip
