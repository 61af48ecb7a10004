"""Scores of outputs whose lines do not match, in Python."""

from functools import partial

import pytest

import coverage_eval as ce
from tests.grammar import generate


def test_scores_of_unaligned_documents_are_those_of_their_cut_lines():
    pairs = {" ".join(p.source): " ".join(p.target) for p in generate(1040, seed=2)}
    sources, targets = list(pairs), list(pairs.values())
    source, reference = sources[:40], targets[:40]
    cut = ["" if n in {4, 5, 20} else text for n, text in enumerate(reference)]
    with ce.Aligner.train(sources[40:], targets[40:]) as aligner:
        scores = {
            "rep": partial(ce.rep, references=reference),
            "letter_rep": partial(ce.letter_rep, references=reference),
            "drop": partial(ce.drop, references=reference, sources=source, aligner=aligner),
            "soft": partial(ce.soft_drop, references=reference, sources=source, aligner=aligner),
            "left": partial(ce.omissions, references=None, sources=source, aligner=aligner),
        }
        for name, score in scores.items():
            peers = {"peers": [reference, cut]} if name == "left" else {}
            expected = score(cut, **peers)
            if peers:
                peers = {"peers": [" ".join(reference), "\n".join(filter(None, cut))]}
            found = score(" ".join(filter(None, cut)), unaligned=True, **peers)
            assert float(found) == float(expected), name
            assert "|seg:" in str(found.signature)


def test_unaligned_outputs_need_something_to_cut_by():
    with pytest.raises(TypeError, match="sources and a model, or references"):
        ce.compare({"a": "x y", "b": "x"}, None, ["a", "b"], unaligned=True)
    with pytest.raises(
        ce.DataError,
        match="a: the output is not the text of its reference: 0% of its words fit their line; is",
    ):
        ce.compare({"a": "u v w", "b": "u v w"}, ["x", "y"], metrics=["rep"], unaligned=True)
