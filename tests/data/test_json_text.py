"""The one reader of JSON: what is written is read, and what is wrong is said with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.data.tables import parse_object, read_objects
from coverage_eval.errors import DataError

plain = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
objects = st.dictionaries(st.text(max_size=3), plain | st.lists(plain, max_size=3), max_size=3)


@given(st.lists(objects, max_size=3))
def test_written_files_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, written: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.mktemp("json") / "some.jsonl"
    path.write_text("".join(f"{json.dumps(item)}\n" for item in written), encoding="utf-8")
    places = [f"{path}: line {number}" for number in range(1, len(written) + 1)]
    assert list(read_objects(path)) == list(zip(places, written, strict=True))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON: Expecting value"),
        ('{"a": 1, "b": {"c": 2, "c": 3}}', "not JSON: a name is there twice in an object"),
        ('{"a": ' + "[" * 100_000, "not JSON: maximum recursion depth exceeded"),
        ("[1]", "JSON, but not an object {…}"),
        ("null", "JSON, but not an object {…}"),
    ],
)
def test_a_line_that_is_not_an_object_is_named(text: str, said: str) -> None:
    with pytest.raises(DataError) as caught:
        parse_object(text, "some.jsonl: line 7")
    assert str(caught.value).startswith(f"some.jsonl: line 7: {said}")
