"""Normal coverages against NumPy, and their file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.errors import DataError
from coverage_eval.omissions.normal_coverage import NormalCoverage

segments = st.lists(
    st.lists(st.tuples(st.sampled_from("abcdefé\ud800"), st.floats(0, 1)), max_size=6), min_size=1
).filter(any)


@given(segments)
def test_figures_are_numpys(text: list[list[tuple[str, float]]]) -> None:
    """Of each word's occurrences, weighed once each, and the rare words', weighed once in all."""
    normal = NormalCoverage.learn(
        ([word for word, _ in line], np.array([value for _, value in line], dtype=float))
        for line in text
    )
    found: dict[str, list[float]] = {}
    for word, value in (item for line in text for item in line):
        found.setdefault(word, []).append(value)
    most = max(2, min(map(len, found.values())))
    rare = [value for values in found.values() if len(values) <= most for value in values]
    assert normal.other == pytest.approx((np.mean(rare), np.std(rare)), abs=2e-4)
    for word, values in found.items():
        sample = [*values, *rare]
        weights = [1.0] * len(values) + [1 / len(rare)] * len(rare)
        mean = np.average(sample, weights=weights)
        spread = np.sqrt(np.average((np.array(sample) - mean) ** 2, weights=weights))
        assert normal.words[word] == pytest.approx((mean, spread), abs=2e-4)
    means, spreads = normal.of(["never", *found])
    assert (means[0], spreads[0]) == normal.other
    assert len(means) == len(spreads) == 1 + len(found)


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    normal = NormalCoverage.learn([(["a", "\ud800", "b"], np.array([0.25, 0.5, 1.0]))])
    normal.save(tmp_path / "file")
    loaded = NormalCoverage.load(tmp_path / "file")
    assert loaded == normal
    assert loaded.digest == normal.digest
    assert [len(part) for part in normal.of([])] == [0, 0]


@pytest.mark.parametrize("content", ["", "[]", '{"other": [1, 2]}', '{"other": [1], "words": {}}',
                                     '{"other": [1, 2], "words": {"a": 1}}'])  # fmt: skip
def test_other_files_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "file").write_text(content)
    with pytest.raises(DataError, match="file of the model has no normal coverages"):
        NormalCoverage.load(tmp_path / "file")


def test_no_words() -> None:
    with pytest.raises(DataError, match="no word to learn"):
        NormalCoverage.learn([([], np.array([]))])
