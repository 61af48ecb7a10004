"""The list of checks of texts, and the tokeniser that fits them.

The checks read a sample of the rows that were scored. They know the metrics only by what these say
of themselves: the tokeniser, the aligner, remarks and objections.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from coverage_eval.align import checks as by_model
from coverage_eval.align.aligner import Aligner, GivenLinks, ModelAligner
from coverage_eval.align.model_text import OTHER_TOKENS
from coverage_eval.core import checks as texts
from coverage_eval.core import line_checks as lines
from coverage_eval.core.checks import Check, Finding, Gravity, Inputs
from coverage_eval.core.dataset import Row, RowSample
from coverage_eval.core.measure import Metric, aligner_of
from coverage_eval.core.sample import Sample, SampledText
from coverage_eval.core.tokenizers import Tokenizer


def _orders(inputs: Inputs, kind: str) -> Iterator[tuple[str, str]]:
    """Texts whose lines are in a wrong order of this kind."""
    yield from ((text, said) for found, text, said in inputs.orders if found == kind)


def _objections(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Metrics that are not for texts in this language."""
    for metric in inputs.metrics:
        if said := metric.objection(inputs.rows):
            yield from ((text.name, said) for text in inputs.words.references)


_MEANINGLESS, _DOUBT = Gravity.MEANINGLESS, Gravity.DOUBT
_WHICH_FILE = "check that each is the file you meant"
_WHICH_MODEL = "check that it is the model for these languages, tokeniser and case"
_TOKENISE = "tokenise all texts alike, or add --tokenize 13a"
_OTHER_ORDER = "the lines are in another order, or the texts do not belong together"
_WRONG_WORDS = (
    "equal", "copy", "swapped-sides", "wrong-model", "subwords", "unsegmented", "other-tokens",
)  # fmt: skip

CHECKS = (
    Check("subwords", _DOUBT, texts.look_for_subwords, "join the subwords into words first"),
    Check("unsegmented", _DOUBT, partial(texts.look_at_words, why=texts.why_unsegmented),
          "split all texts alike, or add --tokenize char (for the source, --src-tokenize)"),
    Check("other-tokens", _MEANINGLESS, by_model.look_for_other_tokens, OTHER_TOKENS),
    Check("untokenised", _DOUBT, partial(texts.look_at_words, why=texts.why_untokenised),
          _TOKENISE, ("other-tokens",)),
    Check("characters", _DOUBT, texts.look_for_characters, "convert all texts alike, to UTF-8 NFC"),
    Check("equal", _DOUBT, partial(texts.look_for_equal_texts, outputs=False), _WHICH_FILE),
    Check("equal-outputs", Gravity.NOTE, partial(texts.look_for_equal_texts, outputs=True),
          _WHICH_FILE),
    Check("copy", _DOUBT, texts.look_for_copies, "check that it is a translation", ("equal",)),
    Check("swapped-sides", _MEANINGLESS, by_model.look_for_swapped_sides,
          "swap source and target, or give the model of the other direction"),
    Check("case", _DOUBT, texts.look_for_case, "lower-case all texts or none", ("subwords",)),
    Check("wrong-model", _MEANINGLESS, partial(by_model.look_for_unknown_words, most=True),
          _WHICH_MODEL, ("swapped-sides", "other-tokens")),
    Check("unknown-words", _DOUBT, partial(by_model.look_for_unknown_words, most=False),
          _WHICH_MODEL, (*_WRONG_WORDS, "untokenised")),
    Check("small-model", _DOUBT, by_model.look_for_training,
          "a few thousand pairs of the same kind of text are enough"),
    Check("no-links", _DOUBT, by_model.look_for_links, "is it the right file?"),
    Check("says-little", Gravity.VOID, texts.look_for_little,
          "an output that says little has few errors to count, so low scores mean nothing",
          ("says-little",)),
    Check("blank", _DOUBT, texts.look_for_blanks,
          "they have no errors to count, so find out why the system gave no output",
          ("says-little", "empty", "segmented", "much-extra")),
    Check("other-words", _DOUBT, lines.look_for_other_words, _TOKENISE,
          (*_WRONG_WORDS, "untokenised")),
    Check("shifted", _MEANINGLESS, partial(_orders, kind=lines.SHIFTED),
          "lines are shifted: find the missing or extra line", (*_WRONG_WORDS, "small-model")),
    Check("reordered", _MEANINGLESS, partial(_orders, kind=lines.REORDERED), _OTHER_ORDER,
          (*_WRONG_WORDS, "small-model", "unknown-words")),
    Check("out-of-step", _DOUBT, partial(_orders, kind=lines.OUT_OF_STEP), _OTHER_ORDER,
          (*_WRONG_WORDS, "small-model", "unknown-words", "other-words", "shifted", "reordered")),
    Check("language", _DOUBT, _objections),
)  # fmt: skip
"""All checks, in the order in which one finding may explain another."""


def check_inputs(
    taken: RowSample,
    metrics: Iterable[Metric] = (),
    *,
    tokens: Tokenizer | None = None,
    aligner: Aligner | None = None,
    known: Iterable[Finding] = (),
) -> tuple[list[Finding], dict[str, float]]:
    """Find probable mistakes in texts that were read, and how well a model knows them.

    Args:
        taken: A sample of the texts.
        metrics: The metrics that score them.
        tokens: The tokeniser; by default that of the metrics, if they have one.
        aligner: The aligner; by default that of the metrics.
        known: What was found before.

    Returns:
        The findings, also those known before, most serious first; and figures of
        :func:`~coverage_eval.align.checks.unknown_words` if there is a model.

    Raises:
        AlignerError: The aligner failed.
    """
    metrics = list(metrics)
    aligner = aligner or aligner_of(metrics)
    if tokens is None:
        tokenizers = [metric.tokens for metric in metrics if hasattr(metric, "tokens")]
        tokens = tokenizers[0] if tokenizers else aligner.tokens if aligner else None
    words = tokens or Tokenizer("13a")
    source_tokens = words
    if aligner:
        # Both sides are compared in the same case, whatever the model's case.
        source_tokens = replace(aligner.source_tokens, lowercase=words.lowercase)
    sample = Sample.of(taken, words, source_tokens)
    orders, modelled, unknown = [*lines.find_orders(sample)], None, {}
    if isinstance(aligner, ModelAligner) and taken.source is not None:
        modelled = Sample.of(taken, aligner.tokens, aligner.source_tokens)
        orders += by_model.find_orders_by_model(aligner.model, modelled)
        unknown = by_model.unknown_words(aligner.model, modelled)
    else:
        orders += lines.find_orders_of_lengths(sample)
    inputs = Inputs(sample, tokens is not None, metrics, taken.rows, aligner, modelled, orders)
    remarks = (finding for metric in metrics for finding in metric.remarks)
    return texts.run_checks(CHECKS, inputs, dict.fromkeys([*known, *remarks])), unknown


def fit_words(rows: Sequence[Row], aligner: Aligner | None) -> tuple[str, list[Finding]]:
    """The tokeniser of REP where nobody chose one.

    Tokenised text, and text of fewer than twenty segments, is split at spaces. Other text gets the
    tokeniser of the aligner's model; without a model, or with a model that names no tokeniser,
    ``13a``.

    Args:
        rows: The texts, some of them or all.
        aligner: What links them; given links count words separated by spaces.

    Returns:
        The tokeniser's name, and a note if text is tokenised.
    """
    none = Tokenizer()
    columns = zip(*((*row.hypotheses, *row.references) for row in rows), strict=True)
    sampled = (SampledText("", [none(segment) for segment in column]) for column in columns)
    is_raw = any(map(texts.why_untokenised, sampled))
    if isinstance(aligner, GivenLinks) or not is_raw:
        return "none", []
    name = "13a" if aligner is None or aligner.tokens.name == "none" else aligner.tokens.name
    said = f"the texts are not tokenised: REP tokenises them with {name}"
    said += " (--tokenize none turns this off)"
    return name, [Finding("words-cut", said, gravity=Gravity.NOTE)]
