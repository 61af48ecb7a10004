"""Dumps nearly in a known form: padded stacks, one array of JSON, scores and marks beside texts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from coverage_eval.attention_maps import load
from coverage_eval.core.errors import DataError

SOURCES, HYPOTHESES = ["a b c d", "e f", "g"], ["x y z", "u v", "w q r"]
GENERATOR = np.random.default_rng(0)
MAPS = [
    GENERATOR.dirichlet(np.ones(len(source.split())), len(hypothesis.split()))
    for source, hypothesis in zip(SOURCES, HYPOTHESES, strict=True)
]


def with_eos(maps):
    return [np.pad(item, ((0, 1), (0, 1)), constant_values=0.25) for item in maps]


def padded(maps, filling: float, more: int = 0):
    rows, columns = (max(item.shape[axis] for item in maps) + more for axis in (0, 1))
    stack = np.full((len(maps), rows, columns), filling)
    for item, whole in zip(maps, stack, strict=True):
        whole[: item.shape[0], : item.shape[1]] = item
    return stack


def read(path: Path, **options):
    return load(
        path, sources=SOURCES, hypotheses=HYPOTHESES, orientation="target-source", **options
    )


def check(found, maps, eos: bool = False) -> None:
    assert [(item.tgt_eos, item.src_eos) for item in found] == [(eos, eos)] * len(maps)
    for item, expected in zip(found, maps, strict=True):
        np.testing.assert_allclose(item.weights, expected)


@pytest.mark.filterwarnings("ignore:.*far from summing to 1")
@pytest.mark.parametrize("filling", [0.0, np.nan])
@pytest.mark.parametrize("more", [0, 1, 5])
@pytest.mark.parametrize("eos", [False, True])
def test_padding_is_cut_to_the_words(tmp_path, filling, more, eos):
    maps = with_eos(MAPS) if eos else MAPS
    stack = padded(maps, filling, more)
    np.save(tmp_path / "stack.npy", stack)
    check(read(tmp_path / "stack.npy"), maps, eos)
    (tmp_path / "stack.json").write_text(json.dumps(stack.tolist(), indent=1))
    check(read(tmp_path / "stack.json"), maps, eos)
    np.save(tmp_path / "turned.npy", stack.transpose(0, 2, 1))
    turned = load(tmp_path / "turned.npy", sources=SOURCES, hypotheses=HYPOTHESES,
                  orientation="source-target")  # fmt: skip
    check(turned, maps, eos)


def test_weights_behind_the_words_are_no_padding(tmp_path):
    stack = padded(MAPS, 0.0, 2)
    stack[1, 4, 1] = 0.001
    np.save(tmp_path / "stack.npy", stack)
    with pytest.raises(DataError, match="part 2 of a stack: a matrix of 5 target rows"):
        read(tmp_path / "stack.npy")


@pytest.mark.parametrize("indent", [None, 1])
def test_one_json_array_of_matrices_is_a_stack(tmp_path, indent):
    path = tmp_path / "maps.json"
    path.write_text(json.dumps([item.tolist() for item in MAPS], indent=indent))
    check(read(path), MAPS)
    records = [
        {"attention": item.tolist(), "source": s.split(), "hypothesis": h.split()}
        for item, s, h in zip(MAPS, SOURCES, HYPOTHESES, strict=True)
    ]
    path.write_text(json.dumps(records, indent=indent))
    check(load(path), MAPS)


@pytest.mark.parametrize("ending", ["npy", "npz"])
def test_arrays_of_objects_are_refused_with_the_line_that_saves_them(tmp_path, ending):
    path = tmp_path / f"objects.{ending}"
    objects = np.empty(len(MAPS), dtype=object)
    objects[:] = MAPS
    np.save(path, objects) if ending == "npy" else np.savez(path, objects)
    with pytest.raises(DataError, match="Python objects, which is not read") as caught:
        read(path)
    code = str(caught.value).partition("python -c ")[2].strip('"')
    subprocess.run([sys.executable, "-c", code], check=True)  # as a user who trusts the file would
    check(read(tmp_path / "objects.safe.npz"), MAPS)


@pytest.mark.parametrize("score", ["-0.512 ||| ", "3 ||| ", "-1e-05 ||| "])
def test_a_score_before_the_text_is_no_word(tmp_path, score):
    path = tmp_path / "scored"
    path.write_text(f"{score}the cat sleeps ||| 0-0 1-1 2-2\n{score}he ||| 0-0\n")
    words = [item.hypothesis_words for item in load(path, sources=["a b c", "d"])]
    assert words == [("the", "cat", "sleeps"), ("he",)]


@pytest.mark.parametrize("brackets", ["[]", "()"])
def test_opennmts_sources_are_read_from_lists_and_tuples(tmp_path, brackets):
    path, (start, end) = tmp_path / "log", brackets
    path.write_text(
        f"SENT 1: {start}'ein', \"Haus'\"{end}\nPRED 1: a house\n\n{'ein':>15}{'Haus':>11}\n"
        f"{'a':>10} *0.9000000  0.1000000 \n{'house':>10}  0.1000000 *0.9000000 \n"
        f"{'</s>':>10}  0.5000000 *0.5000000 \n"
    )
    assert load(path)[0].source == ("ein", "Haus'")


@pytest.mark.parametrize("first", [0, 1])
def test_fairseqs_lines_count_from_0_or_1(tmp_path, first):
    path = tmp_path / "log"
    path.write_text("".join(
        f"S-{n + first}\ta b\nH-{n + first}\t-1\tx y\nA-{n + first}\t0-{n} 1-1\n" for n in (1, 0)
    ))  # fmt: skip
    assert [item.weights[1].sum() for item in load(path)] == [1, 2]
    path.write_text("A-2\t0-0\n")
    with pytest.raises(DataError, match="no line A-0, but there is A-2"):
        load(path)
