"""What looks wrong with the texts of a test set, and the tokeniser that fits them.

The checks read a sample of the rows that were scored. They know the metrics only by what these say
of themselves: the tokeniser, the aligner, caveats and objections.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from coverage_eval.alignment.aligner import Aligner, GivenLinks, ModelAligner
from coverage_eval.alignment.alignment_checks import check_given_links, check_model
from coverage_eval.data.dataset import Dataset, Row
from coverage_eval.data.input_checks import (
    Finding,
    check_texts,
    check_tokenised,
    most_serious_first,
    why_untokenised,
)
from coverage_eval.data.line_checks import check_lines, check_second_output
from coverage_eval.data.sample import Sample, SampledText
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.metrics.measure import Metric, aligner_of

_OF_WORDS = {"untokenised", "unsegmented"}
"""The checks for untokenised text."""


def check_inputs(
    dataset: Dataset,
    metrics: Iterable[Metric] = (),
    *,
    tokens: Tokenizer | None = None,
    aligner: Aligner | None = None,
) -> tuple[list[Finding], dict[str, float]]:
    """Find probable mistakes in texts that were read, and how well a model knows them.

    Args:
        dataset: The texts, read at least once.
        metrics: The metrics that score them.
        tokens: The tokeniser; by default that of the metrics, if they have one.
        aligner: The aligner; by default that of the metrics.

    Returns:
        The findings, most serious first, and figures of
        :func:`~coverage_eval.alignment.alignment_checks.check_model` if there is a model.

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
    sample = Sample.of(dataset, words, source_tokens)
    findings = check_texts(sample) + check_lines(sample)
    if tokens is None:
        findings = [finding for finding in findings if finding.check not in _OF_WORDS]
    untouched = [metric.name for metric in metrics if metric.reads_untouched_text]
    if untouched:
        alone = len(untouched) == len(metrics)
        untokenized = Sample.of(dataset, Tokenizer(), Tokenizer())
        findings += check_tokenised(untokenized, untouched, alone=alone)
    caveats = dict.fromkeys(metric.caveat for metric in metrics)
    findings += [Finding("plain-model", said) for said in caveats if said]
    for metric in metrics:
        findings += metric.remarks(
            dataset.sampler.rows, dataset.systems, has_all=dataset.sampler.has_all
        )
    names = ", ".join(dataset.references)
    objections = dict.fromkeys(metric.objection(dataset.sampler.rows) for metric in metrics)
    findings += [Finding("metric-does-not-fit", f"{names}: {said}") for said in objections if said]
    if isinstance(aligner, GivenLinks):
        findings += check_given_links(aligner.columns)
    if not isinstance(aligner, ModelAligner) or dataset.source is None:
        return most_serious_first(findings), {}
    sample = Sample.of(dataset, aligner.tokens, aligner.source_tokens)
    of_model, unknown = check_model(sample, aligner.model)
    return most_serious_first([*findings, *of_model]), unknown


def second_outputs(dataset: Dataset) -> Iterator[Finding]:
    """Find outputs given as references, for a command that takes a list of files."""
    if len(dataset.references) > 1:
        tokens = Tokenizer("13a")
        yield from check_second_output(Sample.of(dataset, tokens, tokens))


LOOKED_AT = 2000
"""Segments that decide whether texts are tokenised, and whether a metric fits them."""


def fit_words(
    rows: Iterable[Row], aligner: Aligner | None
) -> tuple[str, Aligner | None, list[Finding]]:
    """The tokeniser of REP and DROP where nobody chose one.

    Tokenised text, and text of fewer than twenty segments, is split at spaces. Other text gets the
    tokeniser of the aligner's model; without a model, or with a model that names no tokeniser,
    ``13a``. A model whose training text was already tokenised aligns with ``13a``, too, if it
    then knows more words.

    Args:
        rows: The texts, some of them or all.
        aligner: What links them; given links count words separated by spaces.

    Returns:
        The tokeniser's name, the aligner with it, and a note if text is tokenised.
    """
    none = Tokenizer()
    rows = list(islice(rows, LOOKED_AT))
    texts = zip(*((*row.hypotheses, *row.references) for row in rows), strict=True)
    is_raw = any(why_untokenised(SampledText("", [none(s) for s in text])) for text in texts)
    if isinstance(aligner, GivenLinks) or not is_raw:
        return "none", aligner, []
    name = "13a"
    if isinstance(aligner, ModelAligner):
        if aligner.tokens.name != "none":
            name = aligner.tokens.name
        else:
            words, known = replace(aligner.tokens, name=name), aligner.model.vocabulary()[1]
            unknown = [
                sum(token not in known for row in rows for token in tokens(row.hypotheses[0]))
                for tokens in (words, aligner.tokens)
            ]
            aligner = aligner.tokenized_by(name) if unknown[0] < unknown[1] else aligner
    said = f"the texts are not tokenised: REP and DROP tokenise them with {name}"
    return name, aligner, [Finding("words-cut", f"{said} (--tokenize none turns this off)")]
