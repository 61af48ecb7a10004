"""Readers of the LIBSVM and Mulan formats, on made-up data."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.errors import DataError
from coverage_eval.papers.reproduction.multilabel import (
    read_idx,
    read_labelled,
    read_libsvm,
    read_mulan,
)

LIBSVM = """# a comment
1,3 1:0.5 3:-2e-1
2 2:1 # the rest of a line is ignored

 3:4.5
3,1
"""
ARFF = """% made for a test
@relation moods
@attribute tempo numeric
@attribute key {major,minor}
@attribute beats {2,3,4}
@attribute calm {0,1}
@attribute 'quite sad' {0,1}
@data
120.5,major,4,1,0
60,minor,3,1,1
90,minor,2,0,0
"""
XML = """<?xml version="1.0"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
  <label name="calm"><label name="quite sad"/></label>
</labels>
"""


def write(folder, **files):
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")
    return folder


def test_libsvm_is_read(tmp_path):
    path = write(tmp_path, scene_txt=LIBSVM) / "scene.txt"
    data = read_labelled(path)
    assert (data.name, data.classes) == ("scene", ("1", "2", "3"))
    assert data.features.tolist() == [[0.5, 0, -0.2], [0, 1, 0], [0, 0, 4.5], [0, 0, 0]]
    assert data.labels.tolist() == [
        [True, False, True], [False, True, False], [False, False, False], [True, False, True],
    ]  # fmt: skip
    third = 1 / 3
    np.testing.assert_allclose(
        data.targets, [[0.5, 0, 0.5], [0, 1, 0], [third, third, third], [0.5, 0, 0.5]]
    )
    packed = tmp_path / "scene.txt.gz"
    packed.write_bytes(gzip.compress(LIBSVM.encode()))
    assert read_libsvm(packed).features.tolist() == data.features.tolist()


def test_libsvm_may_count_from_0_and_its_labels_are_sorted_as_numbers(tmp_path):
    path = write(tmp_path, d="10 0:1 2:3\n-1 1:2\n9.5 0:4\n") / "d"
    data = read_libsvm(path)
    assert data.features.tolist() == [[1, 0, 3], [0, 2, 0], [4, 0, 0]]
    assert data.classes == ("-1", "9.5", "10")


EXAMPLES = st.lists(
    st.tuples(
        st.sets(st.integers(0, 6), min_size=1),
        st.dictionaries(st.integers(1, 9), st.floats(-1e6, 1e6, width=32), min_size=1),
    ),
    min_size=1,
    max_size=8,
)


@given(EXAMPLES)
def test_libsvm_is_read_as_scikit_learn_reads_it(tmp_path_factory, examples):
    load = pytest.importorskip("sklearn.datasets").load_svmlight_file
    path = tmp_path_factory.mktemp("svm") / "data"
    lines = (
        ",".join(map(str, sorted(labels)))
        + "".join(f" {i}:{value!r}" for i, value in sorted(values.items()))
        for labels, values in examples
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    data = read_libsvm(path)
    features, labels = load(str(path), multilabel=True, zero_based=False)
    np.testing.assert_allclose(data.features, features.toarray())
    found = [
        {float(name) for name, marked in zip(data.classes, row, strict=True) if marked}
        for row in data.labels
    ]
    assert found == [set(row) for row in labels]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 3", "'3' is not a feature"),
        ("1 a:3", "'a:3' is not a feature"),
        ("1 -1:3", "'-1:3' is not a feature"),
        ("1 1:x", "'x' is not a number"),
        ("1 1:nan", "'nan' is not a finite number"),
        ("one 1:2", "'one' is not a number"),
        ("1, 1:2", "'' is not a number"),
        ("1 2:1 2:3", "feature 2 occurs twice"),
        (f"1 {'9' * 5000}:1", "is not a feature"),
    ],
)
def test_bad_lines_of_libsvm_are_refused(tmp_path, line, message):
    path = write(tmp_path, d=f"1 1:1\n{line}\n") / "d"
    with pytest.raises(DataError, match=message) as caught:
        read_libsvm(path)
    assert f"{path}: line 2: " in str(caught.value)


@pytest.mark.parametrize("lines", ["1 99999999:1\n", "".join(f"{n} 1:1\n" for n in range(9000))])
def test_files_that_need_too_large_an_array_are_refused(tmp_path, lines):
    path = write(tmp_path, d=lines) / "d"
    with pytest.raises(DataError, match="too many for an array"):
        read_libsvm(path)


def test_files_without_examples_are_refused(tmp_path):
    path = write(tmp_path, d="# nothing\n") / "d"
    with pytest.raises(DataError, match="no examples"):
        read_libsvm(path)
    with pytest.raises(DataError, match="no such file"):
        read_libsvm(tmp_path / "absent")


def test_mulan_is_read(tmp_path):
    write(tmp_path, emotions_arff=ARFF, emotions_xml=XML)
    data = read_labelled(tmp_path / "emotions.arff")
    assert (data.name, data.classes) == ("emotions", ("calm", "quite sad"))
    # Nominal values that are numbers keep their value; others are counted from 0.
    assert data.features.tolist() == [[120.5, 0, 4], [60, 1, 3], [90, 1, 2]]
    assert data.labels.tolist() == [[True, False], [True, True], [False, False]]
    other = write(tmp_path, one_xml='<labels><label name="calm"/></labels>') / "one.xml"
    assert read_mulan(tmp_path / "emotions.arff", other).features.shape == (3, 4)


@pytest.mark.parametrize(
    ("arff", "xml", "message"),
    [
        (ARFF, None, "no such file; it names the labels"),
        (None, XML, "no such file"),
        (ARFF, "<labels", "not an XML file"),
        (ARFF, "<labels/>", "names no labels"),
        (ARFF, '<labels><label name="sad"/></labels>', "'sad' is not an attribute of"),
        (
            ARFF,
            '<labels><label name="calm"/><label name="tempo"/></labels>',
            "'tempo' has values other than 0 and 1",
        ),
        (ARFF.replace("60,", "{0 60}"), XML, "not an ARFF file"),
        (ARFF.replace("60,minor", "60,blue"), XML, "not an ARFF file"),
        (ARFF.replace("key {major,minor}", "key string"), XML, "not an ARFF file"),
        ("nothing", XML, "not an ARFF file"),
        (ARFF.partition("120.5")[0], XML, "no examples"),
        (ARFF.replace("60,minor", "?,minor"), XML, "has a value that is missing or not finite"),
        (ARFF.replace("60,minor", "60,?"), XML, "has a value that is missing or not finite"),
    ],
)
def test_bad_mulan_files_are_refused(tmp_path, arff, xml, message):
    files = {"d_arff": arff, "d_xml": xml}
    write(tmp_path, **{name: text for name, text in files.items() if text is not None})
    with pytest.raises(DataError, match=message) as caught:
        read_mulan(tmp_path / "d.arff")
    assert "\n" not in str(caught.value)


def test_pictures_without_examples_are_one_line(tmp_path):
    for sizes in ((0, 28, 28), (2, 0, 28)):
        head = b"".join(size.to_bytes(4, "big") for size in sizes)
        (tmp_path / "x-images-idx3-ubyte").write_bytes(b"\0\0\x08\x03" + head)
        (tmp_path / "x-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01" + bytes(4))
        with pytest.raises(DataError, match="x-images-idx3-ubyte: has no example"):
            read_idx(tmp_path / "x-images-idx3-ubyte")
