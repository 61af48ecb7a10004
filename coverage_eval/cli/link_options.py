"""Options that name where links come from: a model, files of links or coverage, an encoder."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, TypeVar

import click

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.cli.options import (
    NoFile,
    Option,
    WholeRange,
    add_options,
    click_options,
    file_setting,
    given_options,
    listed_options,
    options_as,
    output_file_setting,
)
from coverage_eval.data.files import (
    Text,
    check_readable_again,
    check_source,
    check_stdin,
    check_target,
    read_parallel,
)
from coverage_eval.data.tokenizers import TOKENIZERS, Tokenizer
from coverage_eval.errors import DataError
from coverage_eval.metrics.drop import DEFAULT_DENOMINATOR, DENOMINATORS, StopWords
from coverage_eval.metrics.score import setting
from fast_align_wrapper.links import DEFAULT_SYMMETRIZATION, SYMMETRIZATIONS

F = TypeVar("F", bound=Callable[..., Any])


def _files(help_text: str) -> Any:
    """A field for the names of files, one each time the option is given."""
    return setting((), help_text, metavar="FILE", multiple=True)


@dataclass(frozen=True)
class AlignmentOptions:
    """Where links come from, and which of them count."""

    src: Text | None = file_setting(  # noqa: RUF009
        "Read the source text from this file.", flags=("-s", "--src"), group="Options"
    )
    model: str | None = file_setting(
        "Align with this model, made by 'align train'.", group="Options"
    )
    train_src: str | None = file_setting("Train a model on this source text.")
    train_tgt: str | None = file_setting("Train it on this target text.")
    save_model: str | None = output_file_setting("Save the trained model to this file.")
    sink: bool = setting(
        False, "Append the word <SINK> to every source; it is not scored.", group="Advanced"
    )
    fast_align: str | None = file_setting(
        "Run this fast_align executable, or the one in this folder.  "
        "[default: FAST_ALIGN, or the one included]",
        type=click.Path(),
        group="Advanced",
    )
    threads: int | None = setting(
        None,
        "Run the aligner in this many threads; the result does not depend on it.  "
        "[default: all cores]",
        type=WholeRange(1, 1024),
        group="Advanced",
    )
    src_ref_align: tuple[str, ...] = _files(
        "Read links of source and reference from this file, one line per segment, made by any "
        "aligner; give it once for each reference."
    )
    src_hyp_align: tuple[str, ...] = _files(
        "Read links of source and hypothesis from this file; give it once for each system, in "
        "their order."
    )
    coverage: tuple[str, ...] = _files(
        "Read soft links of source and hypothesis from this file, made by any aligner or "
        "attention: JSON Lines, for each segment a row [source words] or a matrix [target "
        "words][source words]. Give it once for each system, in their order, and then for each "
        "peer."
    )
    ref_coverage: tuple[str, ...] = _files(
        "Read soft links of source and reference from this file; give it once for each reference."
    )
    encoder: str | None = setting(
        None,
        "Align with the vectors of this Hugging Face encoder, such as "
        "bert-base-multilingual-cased. It must be on this machine; its alignment quality was not "
        "measured.",
        metavar="NAME",
        type=NoFile(),
        group="Advanced",
    )
    encoder_layer: int = setting(
        8, "Use the vectors of this layer of --encoder.", least=0, group="Advanced"
    )
    symmetrize: str = setting(
        DEFAULT_SYMMETRIZATION,
        "Join the links of the two directions by this heuristic.",
        choices=SYMMETRIZATIONS,
    )
    stopwords: str | None = file_setting(
        "Ignore the source words in this file, one per line.", group="Metrics"
    )
    denominator: str = setting(
        DEFAULT_DENOMINATOR,
        "Divide by the source words aligned with the reference, or by all source words.",
        choices=DENOMINATORS,
        group="Metrics",
    )
    tokenize: str | None = setting(
        None,
        "Apply one of sacreBLEU's tokenisers to {sides}.  [default: none, or the model's]",
        choices=TOKENIZERS,
        group="Metrics",
    )
    src_tokenize: str | None = setting(
        None, "Apply another tokeniser to the source.", choices=TOKENIZERS, group="Metrics"
    )
    lowercase: bool = setting(False, "Lowercase {sides}.", group="Metrics")

    @property
    def has_model(self) -> bool:
        """Whether there is a model, text to train one on, or an encoder."""
        trains = None not in {self.train_src, self.train_tgt}
        return self.model is not None or trains or self.encoder is not None

    @property
    def has_links(self) -> bool:
        """Whether there are files of links."""
        return bool(self.src_ref_align or self.src_hyp_align)

    @property
    def has_coverage(self) -> bool:
        """Whether there are files of soft links."""
        return bool(self.coverage or self.ref_coverage)

    @property
    def is_taken(self) -> bool:
        """Whether links of either kind come from files, which are taken as they are."""
        return self.has_links or self.has_coverage

    @property
    def is_given(self) -> bool:
        """Whether there are links from anywhere."""
        return self.has_model or self.is_taken

    @property
    def tokens(self) -> Tokenizer:
        """The tokeniser of texts, unless the aligner has its own."""
        return Tokenizer(self.tokenize or "none", self.lowercase)

    @property
    def of_model(self) -> dict[str, Any]:
        """Options of :meth:`coverage_eval.Aligner.load`."""
        return {
            "symmetrize": self.symmetrize,
            "tokenize": self.tokenize,
            "src_tokenize": self.src_tokenize,
            "lowercase": self.lowercase or None,
            "sink": self.sink,
        }

    def check(self, texts: Sequence[Text], *, needs_reference_links: bool = True) -> None:
        """Refuse wrong combinations of options before any file is read.

        Args:
            texts: The other files that the command reads.
            needs_reference_links: Whether links of the hypothesis need links of the reference.

        Raises:
            click.UsageError: The first thing that is wrong.
        """
        training = (self.train_src, self.train_tgt)
        links = (*self.src_ref_align, *self.src_hyp_align, *self.coverage, *self.ref_coverage)
        together = bool(self.src_ref_align) == bool(self.src_hyp_align)
        given = given_options()
        for_models = listed_options(given & _FOR_MODELS) if self.is_taken else ""
        for_links = "" if self.is_given else listed_options(given & _FOR_LINKS)
        unfit = {"symmetrize", "sink"} if self.encoder else {"encoder_layer"}
        for_encoder = listed_options(unfit & given)
        origins = [self.model, any(training), self.has_links, self.has_coverage, self.encoder]
        wrong = {
            "--train-src and --train-tgt go together": any(training) and not all(training),
            "give only one of: --model; --train-src with --train-tgt; --src-ref-align with "
            "--src-hyp-align; --coverage; --encoder": sum(map(bool, origins)) > 1,
            f"{for_encoder} is not for --encoder": self.encoder and for_encoder,
            "--encoder-layer goes with --encoder": not self.encoder and for_encoder,
            "--ref-coverage goes with --coverage": bool(self.ref_coverage) and not self.coverage,
            "--src-ref-align and --src-hyp-align go together": self.has_links
            and not (together if needs_reference_links else self.src_hyp_align),
            "--src is needed to align the texts": self.has_model and self.src is None,
            "--coverage needs --src": self.has_coverage and self.src is None,
            "--save-model goes with --train-src": self.save_model is not None and not all(training),
            f"{for_models} is not for links from files, which are taken as they are": for_models,
            f"{for_links} needs links: give a model, or files of links": for_links,
        }
        for message, applies in wrong.items():
            if applies:
                raise click.UsageError(message)
        try:
            check_stdin(*texts, self.src, *training, self.stopwords, *links)
        except DataError as error:
            raise click.UsageError(str(error)) from None

    def check_fits(self, label: str, needs: Collection[str]) -> None:
        """Raise a usage error if a metric cannot use links of this kind.

        Args:
            label: The metric, for the message.
            needs: What it needs.
        """
        if "links" in needs and self.has_coverage:
            raise click.UsageError(
                f"{label} needs links, and --coverage gives soft links: use 'drop --soft', or "
                "softdrop in 'compare'"
            )
        if "coverages" in needs and self.has_links:
            raise click.UsageError(
                f"{label} needs a model or --coverage: links have no probabilities"
            )

    def check_files(self, texts: Sequence[Text]) -> None:
        """Raise a data error for the first file that is missing, before minutes of training.

        Args:
            texts: The other files that the command reads.
        """
        check_source(*texts, self.src, self.train_src, self.train_tgt, self.stopwords)

    def settings(self) -> dict[str, Any]:
        """Settings of metrics of links, by the names of their fields.

        Raises:
            DataError: As :meth:`StopWords.read`.
        """
        words = StopWords.read(self.stopwords) if self.stopwords else StopWords()
        return {"stopwords": words, "denominator": self.denominator}

    def make(self, add_data: Callable[..., None] | None = None) -> Aligner | None:
        """Make the aligner; None if there are no links.

        Args:
            add_data: Adds to a newly trained model the data that a command needs, before the model
                is saved. It gets the model, a function that reads the training text again, and the
                options of training.

        Raises:
            DataError: A file cannot be read, or ``save_model`` cannot be written, which is found
                before the training.
            AlignerError: A damaged model, or the aligner failed.
        """
        if self.has_links:
            return Aligner.from_links(self.src_ref_align, self.src_hyp_align, sink=self.sink)
        if self.has_coverage:
            return Aligner.from_posteriors(self.ref_coverage, self.coverage, sink=self.sink)
        words: dict[str, Any] = {
            "tokenize": self.tokenize or "none",
            "src_tokenize": self.src_tokenize,
            "lowercase": self.lowercase,
        }
        if self.encoder is not None:
            return Aligner.from_encoder(self.encoder, layer=self.encoder_layer, **words)
        if self.model is not None:
            return Aligner.load(
                self.model, **self.of_model, fast_align=self.fast_align, threads=self.threads
            )
        if self.train_src is None or self.train_tgt is None:
            return None
        if self.save_model is not None:
            check_target(self.save_model)
        if add_data is not None:
            check_readable_again(self.train_src, self.train_tgt)
        read = partial(read_parallel, self.train_src, self.train_tgt)
        options: dict[str, Any] = {
            "sink": self.sink,
            "fast_align": self.fast_align,
            "threads": self.threads,
            "progress": True,
        }
        aligner: ModelAligner = Aligner.train_pairs(
            read(), symmetrize=self.symmetrize, **words, **options
        )
        if add_data is not None:
            add_data(aligner, read, **options)
        if self.save_model is not None:
            aligner.save(self.save_model)
        return aligner


WORDS = ("tokenize", "src_tokenize", "lowercase")
"""Options that say how texts are cut into words."""

_FOR_MODELS = {"symmetrize", "tokenize", "src_tokenize"}
_FOR_LINKS = {"sink", "stopwords", "denominator"}
_OF_LINKS = {"src_ref_align", "src_hyp_align", "symmetrize", "stopwords", "denominator"}
_FROZEN = {"model", "sink", "symmetrize", "stopwords", "denominator", *WORDS}
"""Options of a command that reads a model file, and its texts from elsewhere."""


def alignment_options(
    words_of: str = "every side", *, links: bool = True, coverage: bool = True, frozen: bool = False
) -> Callable[[F], Callable[..., Any]]:
    """Add the options; the command receives them as one ``alignment``.

    Args:
        words_of: Which sides ``--tokenize`` and ``--lowercase`` apply to, for the help.
        links: Whether the command reads links.
        coverage: Whether it reads soft links.
        frozen: Leave out the options that train, and those that name files of texts or links.
    """
    names = {item.name for item in fields(AlignmentOptions)}
    unfit = (names - _FROZEN if frozen else set()) | (set() if links else _OF_LINKS)
    unfit |= set() if coverage else {"coverage", "ref_coverage"}
    options = click_options(AlignmentOptions, without=unfit, group="Alignment", sides=words_of)
    return options_as("alignment", AlignmentOptions, options)


def single_options(*names: str) -> Option:
    """Add the options of some fields of the class, which the command receives one by one."""
    unfit = {item.name for item in fields(AlignmentOptions)}.difference(names)
    options = click_options(AlignmentOptions, without=unfit, sides="every side")
    return partial(add_options, options=options)
