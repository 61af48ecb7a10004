"""The options by which commands read gold links."""

from __future__ import annotations

from functools import partial

import click

from coverage_eval.alignment.gold_links import GOLD_FORMATS
from coverage_eval.cli.options import FiniteRange, add_options

gold_options = partial(
    add_options,
    options=(
        click.option(
            "--gold-format", "form", default="auto", show_default=True,
            type=click.Choice(GOLD_FORMATS),
            help="Read gold links in this form, which is recognised if it is not named.",
        ),
        click.option(
            "--one-based", is_flag=True,
            help="Take the positions of Pharaoh or Talp gold links to count from 1.",
        ),
        click.option(
            "--reversed", "swapped", is_flag=True, help="Take gold links to be target-source."
        ),
    ),
)  # fmt: skip
"""The command receives what :func:`~coverage_eval.alignment.gold_links.read_gold` takes."""

threshold_option = click.option(
    "--threshold", type=FiniteRange(0, 1, max_open=True),
    help="Link what has more weight than this; by default each target word's most attended word.",
)  # fmt: skip
