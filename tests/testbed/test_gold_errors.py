"""The gold file of injected errors: written files are read back, malformed lines are errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.errors import DataError
from coverage_eval.testbed.gold_errors import GoldError, read_gold_errors

positions = st.integers(0, 300)
errors = st.builds(
    GoldError,
    segment=st.integers(1, 10**6),
    kind=st.text(),
    hypothesis=st.tuples(positions, positions).map(lambda ends: (min(ends), max(ends))),
    source=st.none() | st.lists(positions).map(tuple),
    removed=st.text(),
)


@given(st.lists(errors))
def test_written_files_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, some: list[GoldError]
) -> None:
    path = tmp_path_factory.mktemp("gold") / "gold.jsonl"
    path.write_text("".join(f"{error.to_json()}\n" for error in some), encoding="utf-8")
    assert list(read_gold_errors(path)) == some


def test_the_form_of_a_line() -> None:
    error = GoldError(7, "omission-phrase", (2, 2), (3, 4), "the dog")
    assert json.loads(error.to_json()) == {
        "segment": 7,
        "kind": "omission-phrase",
        "hypothesis": [2, 2],
        "source": [3, 4],
        "removed": "the dog",
    }


GOOD = {"segment": 1, "kind": "addition", "hypothesis": [0, 1], "source": []}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "Expecting value"),
        ("[1]", "not an object"),
        (json.dumps({**GOOD, "segment": 0}), "segment is not a number from 1"),
        (json.dumps({**GOOD, "segment": True}), "segment is not a number from 1"),
        (json.dumps({**GOOD, "kind": 1}), "not texts"),
        (json.dumps({**GOOD, "hypothesis": [1, 0]}), "ends before it begins"),
        (json.dumps({**GOOD, "hypothesis": [1]}), "not enough values"),
        (json.dumps({**GOOD, "source": [-1]}), "source is not a list of positions"),
        (json.dumps({**GOOD, "source": [1.0]}), "source is not a list of positions"),
        ('{"segment": 1}', "'hypothesis' is missing"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_malformed_lines_are_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n{line}\n")
    with pytest.raises(DataError, match=r"gold\.jsonl: line 2: is not a line") as caught:
        list(read_gold_errors(path))
    assert message in str(caught.value)
