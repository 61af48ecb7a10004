"""A file in any format, written as its toolkit writes it, is loaded as the original attention."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coverage_eval.attention_maps import FORMATS, AttentionMap, load
from coverage_eval.attention_maps.dumps import Dump
from coverage_eval.attention_maps.load import recognise
from coverage_eval.core.errors import DataError
from tests.attention_maps import writers
from tests.attention_maps.writers import CASES, SAMPLES, Case, Sample, sample


def save(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "dump"
    path.write_bytes(content)
    return path


def texts(case: Case, samples: tuple[Sample, ...] = SAMPLES) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if case.texts in {"src", "both"}:
        given["sources"] = [s.source for s in samples]
    if case.texts == "both":
        given["hypotheses"] = [s.hypothesis for s in samples]
    if case.orientation:
        given["orientation"] = case.orientation
    return given


def check(case: Case, item: AttentionMap, s: Sample) -> None:
    assert (item.tgt_eos, item.src_eos, item.hard) == (case.tgt_eos, case.src_eos, case.hard)
    assert item.source_words == s.source
    assert item.hypothesis_words == s.hypothesis
    if case.hard:
        expected = np.zeros_like(s.words)
        for source, target in s.links:
            expected[target, source] = 1
    else:
        rows, columns = len(s.hypothesis) + case.tgt_eos, len(s.source) + case.src_eos
        expected = s.weights[:rows, :columns]
    np.testing.assert_allclose(item.weights, expected, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_a_file_is_recognised_and_read(name, tmp_path):
    case = CASES[name]
    path = save(tmp_path, case.write(SAMPLES))
    assert recognise(Dump(path)).name == case.format
    maps = load(path, **texts(case))
    assert len(maps) == len(SAMPLES)
    for item, s in zip(maps, SAMPLES, strict=True):
        check(case, item, s)
    named = load(path, input_format=case.format, **texts(case))
    assert all(np.array_equal(a.weights, b.weights) for a, b in zip(maps, named, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_texts_of_the_wrong_length_are_refused(name, tmp_path):
    case = CASES[name]
    path = save(tmp_path, case.write(SAMPLES))
    hypotheses = [s.hypothesis for s in SAMPLES]
    sources = [s.source for s in SAMPLES]
    with pytest.raises(DataError, match=r"3 attention maps.*2 segments"):
        load(path, **texts(case) | {"sources": sources[:2], "hypotheses": hypotheses})
    longer = [(*s.source, "x", "y") for s in SAMPLES]
    if not case.hard:
        with pytest.raises(DataError, match=r"dump.*(does not fit|which of them are EOS)"):
            load(path, **texts(case) | {"sources": longer, "hypotheses": hypotheses})


def test_every_format_is_tested():
    assert {case.format for case in CASES.values()} == set(FORMATS)


def test_text_formats_may_be_compressed(tmp_path):
    case = CASES["fairseq-soft"]
    path = tmp_path / "dump.gz"
    path.write_bytes(gzip.compress(case.write(SAMPLES)))
    for item, s in zip(load(path, **texts(case)), SAMPLES, strict=True):
        check(case, item, s)


def test_fairseq_needs_every_id(tmp_path):
    content = writers.fairseq_soft(SAMPLES).replace(b"A-1\t", b"B-1\t")
    with pytest.raises(DataError, match="no line A-1"):
        load(save(tmp_path, content))


def test_fairseq_nbest_lists_give_the_first_translation(tmp_path):
    line = b"A-0\t0-0\n"
    content = writers.fairseq_hard(SAMPLES[:1]) + b"H-0\t-9\tworse\n" + line
    assert load(save(tmp_path, content))[0].hypothesis_words == SAMPLES[0].hypothesis


def test_fairseq_tokens_whose_subwords_were_joined_are_not_used(tmp_path):
    """--remove-bpe joins the subwords of H and S, so there are fewer tokens than rows."""
    content = writers.fairseq_soft(SAMPLES[:1]).replace(b"@@ ", b"")
    item = load(save(tmp_path, content))[0]
    assert item.hypothesis is None
    assert item.source is None
    assert (item.tgt_eos, item.src_eos) == (True, True)


def test_fairseq_before_0_9_has_a_row_for_each_index_but_the_last(tmp_path):
    path = save(tmp_path, b"A-0\t0 2 2 3\n")
    item = load(path, sources=["a b c"])[0]
    assert np.argwhere(item.weights).tolist() == [[0, 0], [1, 2], [2, 2]]
    assert item.weights.shape == (3, 3)


def test_marian_text_that_does_not_fit_the_rows_is_not_used(tmp_path):
    """With built-in SentencePiece, Marian prints detokenised text."""
    item = load(save(tmp_path, b"Hello, world! ||| 0.5,0.5 0.9,0.1 0.1,0.9 1e-05,1 0,1\n"))[0]
    assert item.hypothesis is None
    assert item.hypothesis_words == ("1", "2", "3", "4")
    assert item.weights[3, 0] == 1e-5
    with pytest.raises(DataError, match="line 1: not rows of weights, all of one length"):
        load(save(tmp_path, b"a b ||| 0.5,0.5 0.5 0,1\n"))


def test_tokens_of_an_opennmt_log_may_look_like_weights_and_may_be_truncated(tmp_path):
    s = sample("internationalisation 0.1234567 a,b", "Internationalisierung *** 0.1234567", 7)
    content = writers.opennmt_log([s])
    item = load(save(tmp_path, content))[0]
    assert item.source == s.source
    np.testing.assert_allclose(item.weights, s.weights[:, :-1], atol=1e-6)
    bare = "\n".join(line for line in content.decode().splitlines() if "SENT" not in line)
    path = save(tmp_path, bare.encode())
    assert load(path)[0].source is None
    assert load(path, sources=[s.source], hypotheses=[s.hypothesis])[0].source == s.source


def test_hard_links_need_the_source(tmp_path):
    with pytest.raises(DataError, match="how long the source is; give the source text"):
        load(save(tmp_path, b"a b ||| 0-0 1-1\n"))
    with pytest.raises(DataError, match=r"line 1: link 5-1.*outside"):
        load(save(tmp_path, b"a b ||| 0-0 5-1\n"), sources=["x y"])


def test_the_texts_show_where_eos_is_in_json_without_flags(tmp_path):
    record = {"attention": [[0.5, 0.5], [1, 0], [0, 1]], "source": ["a", "b"]}
    path = save(tmp_path, json.dumps(record).encode())
    with pytest.raises(DataError, match="give the hypothesis text"):
        load(path)
    assert load(path, hypotheses=["x y"])[0].tgt_eos
    assert not load(path, hypotheses=["x y z"])[0].tgt_eos
    with pytest.raises(DataError, match="does not fit"):
        load(path, hypotheses=["x"])


def test_bare_arrays_need_their_orientation(tmp_path):
    path = tmp_path / "map.npy"
    np.save(path, np.full((3, 2), 0.5))
    texts = {"sources": ["a b"], "hypotheses": ["x y z"]}
    with pytest.raises(DataError, match=r"bare arrays do not say .* target-source or source-"):
        load(path, **texts)
    assert load(path, **texts, orientation="target-source")[0].weights.shape == (3, 2)
    with pytest.raises(DataError, match="2 target rows and 3 source columns does not fit"):
        load(path, **texts, orientation="source-target")


def test_entries_that_are_not_weights_are_refused(tmp_path):
    for weight in ("1.5", "-0.5", "NaN", "Infinity", "1e400"):
        path = save(
            tmp_path, b'{"attention": [[%s]], "tgt_eos": false, "src_eos": false}' % weight.encode()
        )
        with pytest.raises(DataError, match=r"line 1.*weights are from 0 to 1"):
            load(path)


def test_the_error_for_an_unknown_format_quotes_its_beginning(tmp_path):
    with pytest.raises(DataError, match=r"not recognised \(it begins 'just text'\)"):
        load(save(tmp_path, b"just text\n"))
    with pytest.raises(DataError, match="the file is empty"):
        load(save(tmp_path, b"\n\n"))
    with pytest.raises(DataError, match="no such file"):
        load(tmp_path / "none")
    with pytest.raises(DataError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(DataError, match="'nonsense' is not one of"):
        load(save(tmp_path, b"x"), input_format="nonsense")
