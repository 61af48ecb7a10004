"""Comparisons of outputs whose lines do not match, in Python."""

from __future__ import annotations

import pytest

import coverage_eval as ce
from coverage_eval.testbed.grammar import generate


def test_a_comparison_of_unaligned_outputs_is_that_of_their_cut_lines() -> None:
    pairs = {" ".join(p.source): " ".join(p.target) for p in generate(2060, seed=1)}
    sources, targets = list(pairs), list(pairs.values())
    cut = ["" if n in {4, 5, 20} else text for n, text in enumerate(targets[:40])]
    whole = {"a": " ".join(filter(None, cut)), "b": [*targets[:20], *targets[20:40]]}
    with ce.Aligner.train(sources[40:], targets[40:]) as aligner:
        texts = (targets[:40], sources[:40], aligner)
        settings = {"metrics": ["rep", "softdrop"], "resamples": 0}
        expected = ce.compare({"a": cut, "b": targets[:40]}, *texts, **settings)
        found = ce.compare(whole, *texts, unaligned=True, **settings)
    assert [[float(cell.score) for cell in row.values()] for row in found.rows.values()] == [
        [float(cell.score) for cell in row.values()] for row in expected.rows.values()
    ]
    assert all(f"|seg:model-{aligner.model.hash}" in said for said in found.signatures.values())
    by_reference = ce.compare(whole, targets[:40], metrics=["rep"], unaligned=True, resamples=0)
    assert "|seg:reference-13a" in by_reference.signatures["REP"]


def test_unaligned_outputs_need_something_to_cut_by() -> None:
    with pytest.raises(TypeError, match="sources and a model, or references"):
        ce.compare({"a": "x y", "b": "x"}, None, ["a", "b"], unaligned=True)
    with pytest.raises(ce.DataError, match="a: the output is not a translation"):
        ce.compare({"a": "u v w", "b": "u v w"}, ["x", "y"], metrics=["rep"], unaligned=True)
