"""What a command finds suspicious about its input while it scores it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from coverage_eval.alignment.aligner import Aligner, GivenLinks, ModelAligner
from coverage_eval.cli.messages import say
from coverage_eval.errors import DataError
from coverage_eval.metrics.base import Metric
from coverage_eval.preflight import (
    Finding,
    Sample,
    Sampler,
    check_given_links,
    check_model,
    check_texts,
)
from coverage_eval.tables.table import Printable
from coverage_eval.text.corpus import Text, read_parallel, source_name
from coverage_eval.text.rows import Row, read_rows
from coverage_eval.text.tokenizers import Tokenizer

_OF_WORDS = {"untokenised", "unsegmented"}
"""Checks of whether a text was cut into words."""


class InputWatch:
    """Reads a test set to be scored, keeping some of it, and then says what looks wrong.

    Args:
        systems: Name of a system → the text of its hypotheses.
        references: The texts of the references.
        source: The text of the source, if there is one.
    """

    def __init__(
        self, systems: Mapping[str, Text], references: Sequence[Text], source: Text | None
    ) -> None:
        self._systems = systems
        self._references = references
        self._source = source
        self._sampler: Sampler[Row] = Sampler()

    def rows(self) -> Iterator[Row]:
        """The rows of the test set; to be read once."""
        texts = (list(self._systems.values()), self._references, self._source)
        return self._sampler.watch(read_rows(*texts))

    def pairs(self) -> Iterator[tuple[str, str]]:
        """The same of a source and its translation, which stands for a reference."""
        assert self._source is not None
        pairs = read_parallel(self._source, *self._references)
        rows = self._sampler.watch(Row((), (target,), source) for source, target in pairs)
        return ((str(row.source), str(row.references[0])) for row in rows)

    def objection(self, metric: Metric[Any]) -> str | None:
        """Why a metric is not for the references, with their names; None if it is."""
        found = metric.objection(self._sampler.rows)
        names = ", ".join(map(source_name, self._references))
        return None if found is None else f"{names}: {found}"

    def check(
        self,
        tokens: Tokenizer | None,
        aligner: Aligner | None = None,
        metrics: Iterable[Metric[Any]] = (),
    ) -> tuple[list[Finding], dict[str, float]]:
        """What was seen, and figures about the model if there is one.

        Args:
            tokens: How the texts are cut into words; None if it is right that they are not.
            aligner: What links them.
            metrics: What the texts are scored by.
        """
        cut = tokens or Tokenizer("13a")
        source_tokens = cut
        if aligner:
            # The sides are compared in one case, whatever the model's text was.
            source_tokens = replace(aligner.source_tokens, lowercase=cut.lowercase)
        findings = check_texts(self._sample(cut, source_tokens))
        if tokens is None:
            findings = [finding for finding in findings if finding.check not in _OF_WORDS]
        objections = dict.fromkeys(map(self.objection, metrics))
        findings += [Finding("metric-does-not-fit", said) for said in objections if said]
        if isinstance(aligner, GivenLinks):
            findings += check_given_links(aligner.columns)
        if not isinstance(aligner, ModelAligner) or self._source is None:
            return findings, {}
        sample = self._sample(aligner.tokens, aligner.source_tokens)
        of_model, figures = check_model(sample, aligner.model)
        return [*findings, *of_model], figures

    def _sample(self, tokens: Tokenizer, source_tokens: Tokenizer) -> Sample:
        return Sample.from_rows(
            self._sampler,
            hypotheses=list(self._systems),
            references=list(map(source_name, self._references)),
            source=None if self._source is None else source_name(self._source),
            tokens=tokens,
            source_tokens=source_tokens,
        )


def echo_findings(findings: Sequence[Finding], *, strict: bool = False) -> list[str]:
    """Print a warning for each finding, and return them.

    Raises:
        DataError: There is a finding, and warnings are errors.
    """
    messages = [finding.message for finding in findings]
    if messages and strict:
        raise DataError("; ".join(messages))
    for message in messages:
        say(message, "warning")
    return messages


def warn(
    printable: Printable, findings: Sequence[Finding], figures: dict[str, float], *, strict: bool
) -> Printable:
    """Print a warning for each finding; JSON has them, and the figures, too.

    Raises:
        DataError: There is a finding, and warnings are errors.
    """
    messages = echo_findings(findings, strict=strict)
    if not isinstance(printable.data, dict):
        return printable
    more: dict[str, Any] = {"warnings": messages, **({"model": figures} if figures else {})}
    return replace(printable, data=printable.data | more)
