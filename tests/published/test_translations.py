"""Appendix B as packaged against the transcription of the paper."""

from __future__ import annotations

import re
from pathlib import Path

from coverage_eval.published.translations import SYSTEMS, load_appendix_b


def test_counts_and_a_spot_check() -> None:
    appendix = load_appendix_b()
    assert len(appendix.examples) == 8
    assert all(tuple(example.outputs) == SYSTEMS for example in appendix.examples)
    assert appendix.sources[0] == "überlassen sie das ruhig uns ."
    assert appendix.references[3] == "we can see that phosphorus is really critical ."
    assert appendix.outputs("softmax")[2] == "and we use this word with such contempt contempt ."
    assert appendix.outputs("csparsemax")[1] == "like that , you know ."
    assert "Appendix B" in str(appendix.citation)


def test_every_line_is_the_transcription_s(shared: Path) -> None:
    paper = shared / "papers" / "malaviya-2018-sparse-constrained-attention.md"
    text = paper.read_text("utf-8").partition("B Examples of Translations")[2]
    lines = [re.sub("</?i>", "", line) for line in text.splitlines() if "\t" in line]
    ours = []
    for example in load_appendix_b().examples:
        ours += [f"input\t{example.source}", f"reference\t{example.reference}"]
        ours += [f"{system}\t{output}" for system, output in example.outputs.items()]
    assert ours == [line.rstrip() for line in lines]
