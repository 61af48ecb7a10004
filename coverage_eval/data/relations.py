"""Checks of a hypothesis against the reference, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from coverage_eval.data.findings import Finding, percent, shown
from coverage_eval.data.forms import forms_of
from coverage_eval.data.order import out_of_step
from coverage_eval.data.sample import FEWEST_SEGMENTS, Sample, Text
from coverage_eval.data.sides import FEWEST_CASED

NEARER_SOURCE = 0.25
"""A hypothesis shares so many more of its words with the source than the reference does; copies
have 0.9, and true translations, names and numbers included, 0.06 at most."""


def _nearer_source(sample: Sample, output: Text, wanted: Text) -> str | None:
    source = sample.source_text
    if source is None:
        return None
    rows = [
        row
        for row in zip(output.words, source.words, wanted.words, strict=True)
        if row[0] and row[1]
    ]
    if len(rows) < FEWEST_SEGMENTS:
        return None
    to_source = fmean(len(h & s) / len(h) for h, s, _ in rows)
    to_wanted = fmean(len(h & r) / len(h) for h, _, r in rows)
    usual = fmean(len(r & s) / max(len(r), 1) for _, s, r in rows)
    if to_source <= max(to_wanted, usual + NEARER_SOURCE):
        return None
    return (
        f"{percent(to_source)} of its words are in the source {source.name}, "
        f"{percent(to_wanted)} in {wanted.name}; check that it is a translation"
    )


CUT_OTHERWISE = 0.04
"""Words of one text that the other has only across its spaces ("don't" for "do n't"). Outputs of
real systems have 0.4 %, Japanese sentences by the same segmenter 0.2 %; texts whose longer words
were cut in two 9 %, untokenised ones 10 to 20 %, ones in letters 70 %."""


def _crossing(one: Text, other: Text) -> tuple[float, str]:
    """Share of words that another text has in pieces, and one of them."""
    words = crossing = 0
    example = ""
    for row, against in zip(one.rows, other.rows, strict=True):
        known = set(against)
        joined, spaced = "".join(against), " ".join(against)
        for token in row:
            if len(token) > 1:
                words += 1
                if token not in known and token in joined and token not in spaced:
                    crossing += 1
                    example = example or token
    return crossing / max(words, FEWEST_CASED), example


def _cut_otherwise(_: Sample, output: Text, wanted: Text) -> str | None:
    if not output.has_enough:
        return None
    for one, other in ((output, wanted), (wanted, output)):
        share, example = _crossing(one, other)
        if share > CUT_OTHERWISE:
            return (
                f"{percent(share)} of the words of {one.name}, such as {shown(example)}, are in "
                f"more than one piece in {other.name}; tokenise both alike"
            )
    return None


def check_relations(sample: Sample) -> Iterator[Finding]:
    """How each hypothesis, or further reference, stands to the first reference.

    The first check that speaks of a text explains what the others would say of it.
    """
    source = sample.source_text
    for wanted in sample.wanted[:1]:
        for text in (*sample.outputs, *sample.wanted[1:]):
            if source is not None and text.key == source.key:
                continue  # said of equal texts
            message = _nearer_source(sample, text, wanted)
            if message is not None:
                yield Finding("nearer-source", f"{text.name}: {message}")
                continue
            for name, check in (("cut-otherwise", _cut_otherwise), ("out-of-step", out_of_step)):
                message = check(sample, text, wanted)
                if message is not None:
                    # Subwords and words, say, do not compare; the form was named already.
                    if forms_of(text).keys() == forms_of(wanted).keys():
                        yield Finding(name, f"{text.name}: {message}")
                    break
