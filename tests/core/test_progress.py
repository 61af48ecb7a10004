"""A terminal sees one bar, of known length from start to end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coverage_eval.core.progress import split_progress, track
from tests.cli.tools import on_a_terminal

LINKS = ("--src", "test.de", "--model", "model")
RUNS = {
    "finding errors": ("omissions", "dropping.en", *LINKS),
    "comparing documents": (
        "compare", "--ref", "test.en", "--unaligned", *LINKS, "careful.en", "dropping.en"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_one_bar_goes_from_start_to_end(name: str, demonstration: Path) -> None:
    shown, _ = on_a_terminal(*RUNS[name], cwd=demonstration, stream="stderr", TERM="xterm")
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    label = name.split(maxsplit=1)[0]
    shares = [int(share) for share in re.findall(rf"{label}[^\r\n]*? (\d+)%", shown)]
    assert len(shares) == shown.count("%")  # each has this label, and its length is known
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] == 100
    assert len(set(shares)) > 3


def test_works_that_follow_each_other_share_one_progress() -> None:
    seen: list[float] = []
    first, second, third = split_progress(seen.append, 1, 0, 3)
    assert list(track("abcd", first, 4)) == list("abcd")
    second(1.0)
    assert list(track(["ab", "cd"], third, 4, len)) == ["ab", "cd"]
    assert list(track([], third, 0)) == []
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0.0625, 1.0)
    assert 0.25 in seen
