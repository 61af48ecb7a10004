"""Options of the source and of what links it to other texts, and which of them go together."""

from __future__ import annotations

from collections.abc import Collection

import click

from coverage_eval.cli.click_options import Decorator, option, option_group
from coverage_eval.cli.parameters import InputFile, TextType
from coverage_eval.core.files import Text
from coverage_eval.core.metric import Metric
from fast_align_wrapper.links import DEFAULT_SYMMETRIZATION, SYMMETRIZATIONS

source_option = option(
    "-s", "--src", metavar="FILE", type=TextType(), help="Read the source text from this file."
)

model_option = option(
    "--model", metavar="FILE", type=InputFile(),
    help="Align with this model, made by 'align train'.",
)  # fmt: skip

links_options = option_group(
    option(
        "--ref-links", metavar="FILE", multiple=True, type=TextType(), group="Alignment",
        help="Read links of source and reference from this text, one line per segment, made by any "
        "aligner; give it once for each reference.",
    ),
    option(
        "--links", metavar="FILE", multiple=True, type=TextType(), group="Alignment",
        help="Read links of source and hypothesis from this text; give it once for each system, in "
        "their order.",
    ),
)  # fmt: skip


sink_option = option(
    "--sink", is_flag=True, group="Advanced",
    help="Append the word <SINK> to every source; it is not scored.",
)  # fmt: skip


def symmetrize_option(group: str) -> Decorator:
    """The option for joining links, in a group of the help."""
    return option(
        "--symmetrize", default=DEFAULT_SYMMETRIZATION, type=click.Choice(SYMMETRIZATIONS),
        group=group, help="Join the links of the two directions by this heuristic.",
    )  # fmt: skip


def check_links(
    *,
    src: Text | None,
    model: str | None,
    ref_links: Collection[Text] = (),
    links: Collection[Text] = (),
) -> None:
    """Refuse options of links that do not go together.

    Args:
        src: The source text.
        model: The file of the model.
        ref_links: Texts of links between source and references.
        links: Texts of links between source and outputs.

    Raises:
        click.UsageError: The first thing that is wrong.
    """
    if model and (ref_links or links):
        raise click.UsageError("give only one of: --model; --ref-links with --links")
    if bool(ref_links) != bool(links):
        raise click.UsageError("--ref-links and --links go together")
    if model and src is None:
        raise click.UsageError("--src is needed to align the texts")


def require_links(
    name: str, kind: type[Metric], *, src: Text | None, model: str | None, has_links: bool
) -> None:
    """Refuse a metric that lacks its links.

    Args:
        name: The metric's name in messages.
        kind: Its class.
        src: The source text.
        model: The file of the model.
        has_links: Whether there are texts of links.

    Raises:
        click.UsageError: The message says what to give.
    """
    needs_model = "coverages" in kind.needs
    if needs_model and has_links:
        raise click.UsageError(f"{name} needs a model: links have no probabilities")
    if (needs_model or "links" in kind.needs) and not (model or has_links):
        purpose = f"--prepare-for {kind.model_purpose} " if kind.model_purpose else ""
        files = "" if needs_model else "; or --ref-links A with --links B"
        raise click.UsageError(
            f"{name} needs {'' if src else '--src, and '}--model M, made by "
            f"'coverage-eval align train SRC TGT {purpose}-o M'{files}"
        )


def check_unaligned(
    *,
    unaligned: bool,
    ref: Collection[Text],
    src: Text | None = None,
    model: str | None = None,
) -> None:
    """Refuse outputs of other lines if there is nothing to cut them by.

    Raises:
        click.UsageError: The message says what to give.
    """
    if unaligned and not (ref or (src and model)):
        raise click.UsageError("--unaligned needs --src with --model M, or --ref")
