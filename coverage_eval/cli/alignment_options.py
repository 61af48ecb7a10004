"""One options object for everything aligned: where links come from, and what counts of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import click

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.cli.aligner_options import (
    fast_align_option,
    symmetrize_option,
    threads_option,
)
from coverage_eval.cli.options import gathered, given_options, listed_options, word_options
from coverage_eval.cli.overwriting import OutputFile
from coverage_eval.data.files import (
    Text,
    check_readable_again,
    check_source,
    check_stdin,
    check_target,
    read_parallel,
)
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError
from coverage_eval.metrics.drop import DEFAULT_DENOMINATOR, DENOMINATORS, StopWords
from fast_align_wrapper.links import DEFAULT_SYMMETRIZATION

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class AlignmentOptions:
    """The source, an aligner and what counts of its links, as the command line names them.

    Attributes:
        src: The source text.
        model: A model file.
        train_src: Source side of a training text.
        train_tgt: Its target side.
        save_model: Where to keep the trained model.
        src_ref_align: Links of source and reference, one file a reference.
        src_hyp_align: Links of source and hypothesis, one file a system.
        symmetrize: How links of both directions are joined.
        sink: Whether ``<SINK>`` is appended to every source.
        stopwords: Source words that do not count.
        denominator: What DROP is a percentage of.
        tokenize: The tokeniser; None for the model's.
        src_tokenize: The source's.
        lowercase: Whether every side is lowercased.
        fast_align: A compiled fast_align.
        threads: Threads of the aligner.
    """

    src: Text | None = None
    model: str | None = None
    train_src: str | None = None
    train_tgt: str | None = None
    save_model: str | None = None
    src_ref_align: tuple[str, ...] = ()
    src_hyp_align: tuple[str, ...] = ()
    symmetrize: str = DEFAULT_SYMMETRIZATION
    sink: bool = False
    stopwords: str | None = None
    denominator: str = DEFAULT_DENOMINATOR
    tokenize: str | None = None
    src_tokenize: str | None = None
    lowercase: bool = False
    fast_align: str | None = None
    threads: int | None = None

    @property
    def has_model(self) -> bool:
        """Whether a model is named, or the text to train one on."""
        return self.model is not None or None not in {self.train_src, self.train_tgt}

    @property
    def has_links(self) -> bool:
        """Whether files of links are named."""
        return bool(self.src_ref_align or self.src_hyp_align)

    @property
    def is_given(self) -> bool:
        """Whether links come from anywhere."""
        return self.has_model or self.has_links

    @property
    def tokens(self) -> Tokenizer:
        """How texts are cut into words where no aligner has its own way."""
        return Tokenizer(self.tokenize or "none", self.lowercase)

    @property
    def of_model(self) -> dict[str, Any]:
        """How a model is used, by the options of :meth:`coverage_eval.Aligner.load`."""
        return {
            "symmetrize": self.symmetrize,
            "tokenize": self.tokenize,
            "src_tokenize": self.src_tokenize,
            "lowercase": self.lowercase or None,
            "sink": self.sink,
        }

    def check(self, texts: Sequence[Text], *, needs_reference_links: bool = True) -> None:
        """Refuse what is wrong before any file is read: at most one origin of links, whole.

        Args:
            texts: The other files that the command names.
            needs_reference_links: Whether links of the reference must be there, too.

        Raises:
            click.UsageError: The first thing that is wrong.
        """
        training = (self.train_src, self.train_tgt)
        links = (*self.src_ref_align, *self.src_hyp_align)
        files = (*texts, self.src, *training, self.stopwords, *links)
        together = bool(self.src_ref_align) == bool(self.src_hyp_align)
        of_models = {"symmetrize", "tokenize", "src_tokenize"}
        for_models = listed_options(of_models & given_options()) if self.has_links else ""
        of_links = {"sink", "stopwords", "denominator"}
        for_links = "" if self.is_given else listed_options(of_links & given_options())
        wrong = {
            "--train-src and --train-tgt go together": any(training) and not all(training),
            "give only one of: --model; --train-src with --train-tgt; --src-ref-align with "
            "--src-hyp-align": (self.model is not None) + any(training) + self.has_links > 1,
            "--src-ref-align and --src-hyp-align go together": self.has_links
            and not (together if needs_reference_links else self.src_hyp_align),
            "--src is needed to align the texts": self.has_model and self.src is None,
            "--save-model goes with --train-src": self.save_model is not None and not all(training),
            f"{for_models} is not for links from files, which are taken as they are": for_models,
            f"{for_links} is for figures of links: name a model, or files of links": for_links,
        }
        for message, applies in wrong.items():
            if applies:
                raise click.UsageError(message)
        try:
            check_stdin(*files)
        except DataError as error:
            raise click.UsageError(str(error)) from None

    def check_files(self, texts: Sequence[Text]) -> None:
        """Refuse files that are not there, after :meth:`check` and before minutes of training.

        Args:
            texts: The other files that the command names.

        Raises:
            DataError: The first of them.
        """
        check_source(*texts, self.src, self.train_src, self.train_tgt, self.stopwords)

    def settings(self) -> dict[str, Any]:
        """Settings of metrics of links, by the names of their fields.

        Raises:
            DataError: As :meth:`StopWords.read`.
        """
        words = StopWords.read(self.stopwords) if self.stopwords else StopWords()
        return {"stopwords": words, "denominator": self.denominator}

    def make(self, equip: Callable[..., None] | None = None) -> Aligner | None:
        """The aligner; None if no origin of links is named.

        Args:
            equip: Adds to a newly trained model what a command needs beside it, before it is
                saved; it is given the model, a function that reads the training text again, and
                the options of training.

        Raises:
            DataError: Unreadable files, or ``save_model`` cannot be written, which is found before
                the training.
            AlignerError: A damaged model, or the aligner failed.
        """
        if self.has_links:
            return Aligner.from_links(self.src_ref_align, self.src_hyp_align, sink=self.sink)
        if self.model is not None:
            return Aligner.load(
                self.model, **self.of_model, fast_align=self.fast_align, threads=self.threads
            )
        return self._train(equip) if self.has_model else None

    def _train(self, equip: Callable[..., None] | None) -> ModelAligner:
        assert self.train_src is not None
        assert self.train_tgt is not None
        if self.save_model is not None:
            check_target(self.save_model)
        if equip is not None:
            check_readable_again(self.train_src, self.train_tgt)
        read = partial(read_parallel, self.train_src, self.train_tgt)
        options: dict[str, Any] = {
            "sink": self.sink,
            "fast_align": self.fast_align,
            "threads": self.threads,
            "progress": True,
        }
        aligner = Aligner.train_pairs(
            read(),
            symmetrize=self.symmetrize,
            tokenize=self.tokenize or "none",
            src_tokenize=self.src_tokenize,
            lowercase=self.lowercase,
            **options,
        )
        if equip is not None:
            equip(aligner, read, **options)
        if self.save_model is not None:
            aligner.save(self.save_model)
        return aligner


_model_option = click.option(
    "--model", metavar="FILE", help="Align by this model, made by 'align train'."
)
_sink_option = click.option(
    "--sink", is_flag=True, help="Append <SINK> to every source; it does not count."
)
_OF_LINKS = (
    symmetrize_option,
    click.option(
        "--stopwords", metavar="FILE",
        help="Leave the source words in this file, one a line, out of account.",
    ),
    click.option(
        "--denominator", default=DEFAULT_DENOMINATOR, show_default=True,
        type=click.Choice(DENOMINATORS),
        help="Relate DROP to the source words aligned with the reference, or to all source words.",
    ),
)  # fmt: skip
_MODEL_OPTIONS = (
    click.option("--src", metavar="FILE", help="Read the source text from this file."),
    _model_option,
    click.option("--train-src", metavar="FILE", help="Train a model on this source text."),
    click.option("--train-tgt", metavar="FILE", help="Train it on this target side."),
    click.option(
        "--save-model", metavar="FILE", type=OutputFile(),
        help="Keep the trained model in this file.",
    ),
    _sink_option,
    fast_align_option,
    threads_option,
)  # fmt: skip
_LINK_OPTIONS = (
    click.option(
        "--src-ref-align", metavar="FILE", multiple=True,
        help="Take links of source and reference from this file, one line for each segment, "
        "made by any aligner; give it once for each reference.",
    ),
    click.option(
        "--src-hyp-align", metavar="FILE", multiple=True,
        help="Take links of source and hypothesis from this file; give it once for each "
        "system, in their order.",
    ),
    *_OF_LINKS,
)  # fmt: skip


def alignment_options(
    words_of: str = "every side", *, links: bool = True, frozen: bool = False
) -> Callable[[F], Callable[..., Any]]:
    """Add the options; the command receives them as one ``alignment``.

    Args:
        words_of: What ``--tokenize`` and ``--lowercase`` apply to, in the words of the help.
        links: Whether the command has to do with links; else there are none of their options.
        frozen: Leave out what names files of texts or links, or trains: a model file is all.
    """
    options = (*_MODEL_OPTIONS, *(_LINK_OPTIONS if links else ()))
    if frozen:
        options = (_model_option, _sink_option, *(_OF_LINKS if links else ()))
    return gathered("alignment", AlignmentOptions, (*options, word_options(words_of)))
