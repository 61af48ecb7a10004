"""Options that name where links come from: a model, or files of links."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from coverage_eval.align.aligner import AlignerSettings
from coverage_eval.cli.options import (
    given_options,
    listed_options,
    options_as,
    refuse,
)
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import Text, check_source, check_stdin
from coverage_eval.core.settings import file_setting

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class AlignmentOptions(AlignerSettings):
    """Where links come from, and which of them count."""

    src: Text | None = file_setting(
        "Read the source text from this file.", flags=("-s", "--src"), group="Options"
    )

    def check(self, texts: Sequence[Text]) -> None:
        """Refuse wrong combinations of options before any file is read.

        Args:
            texts: The other files that the command reads.

        Raises:
            click.UsageError: The first thing that is wrong.
        """
        given = given_options()
        for_models = listed_options(given & _FOR_MODELS) if self.has_links else ""
        for_links = listed_options(given & {"sink"}) if not self.is_given else ""
        refuse({
            "give only one of: --model; --ref-links with --links":
                self.model and self.has_links,
            "--ref-links and --links go together":
                bool(self.ref_links) != bool(self.links),
            "--src is needed to align the texts": self.model and self.src is None,
            f"{for_models} is not for links from files, which are taken as they are": for_models,
            f"{for_links} needs links: give a model, or files of links": for_links,
        })  # fmt: skip
        links = (*self.ref_links, *self.links)
        try:
            check_stdin(*texts, self.src, *links)
        except DataError as error:
            raise click.UsageError(str(error)) from None

    def require(self, label: str, needs: Collection[str], purpose: str = "") -> None:
        """Raise a usage error if there are no links, or not those that a metric needs.

        Args:
            label: The metric, for the message.
            needs: What it needs.
            purpose: An option of the training, followed by a space.
        """
        if "coverages" in needs and self.has_links:
            raise click.UsageError(f"{label} needs a model: links have no probabilities")
        if not self.is_given:
            files = "" if "coverages" in needs else "; or --ref-links A with --links B"
            raise click.UsageError(
                f"{label} needs {'' if self.src else '--src, and '}--model M, made by "
                f"'coverage-eval align train SRC TGT {purpose}-o M'{files}"
            )

    def check_files(self, texts: Sequence[Text]) -> None:
        """Raise a data error for the first of these or our files that is missing."""
        check_source(*texts, self.src)


WORDS = ("tokenize", "src_tokenize")
"""Options that say how texts are cut into words."""

_FOR_MODELS = {"symmetrize", "tokenize", "src_tokenize"}
OF_DROP = {"sink", "symmetrize"}
"""Options that only the command of DROP has."""
OF_LINKS = {"ref_links", "links"} | OF_DROP
"""Options that a command that reads only coverages lacks."""


def alignment_options(
    words_of: str = "every side", *, without: Set[str] = frozenset()
) -> Callable[[F], Callable[..., Any]]:
    """Add the options; the command receives them as one ``alignment``.

    Args:
        words_of: Which sides ``--tokenize`` applies to, for the help.
        without: Fields without an option.
    """
    return options_as(
        "alignment", AlignmentOptions, without=without, group="Alignment", sides=words_of
    )
