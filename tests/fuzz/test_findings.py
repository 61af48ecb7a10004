"""Tests of ``make fuzz`` itself: failures are found and kept."""

import os
import random
import resource
import subprocess
import sys

import pytest

from tests.fuzz.aligner import build
from tests.fuzz.findings import Campaign, Run, objections
from tests.fuzz.mutation import mutate
from tests.fuzz.settings import KINDS, attack_settings, leaves


@pytest.mark.parametrize(
    ("run", "found"),
    [
        (Run(0, b"score", ""), []),
        (Run(1, b"", "coverage-eval: error: x: no such file\n"), []),
        (Run(-11, b"", ""), ["exit status -11"]),
        (Run(1, b"", "Traceback (most recent call last):\n"), ["a traceback"]),
        (Run(99, b"", "ERROR: AddressSanitizer: heap"), ["exit status 99", "a sanitizer's report"]),
        (Run(1, b"", "line\n" * 7), ["7 lines of messages"]),
        (Run(1, b"", "\x1b[31m\n"), ["control characters in messages"]),
        (Run(0, b"\xc2\x9b", ""), ["control characters in output"]),
        (Run(0, b"\xc2\x9b", "", prints_data=True), []),
        (Run(1, b"half", ""), ["output of a run that failed"]),
        (Run(0, b"", "", 1 << 30), ["1024 MiB for 100 bytes"]),
    ],
)
def test_objections_to_a_run(run, found):
    assert objections(run, 100) == found


def test_failing_input_is_kept(tmp_path):
    campaign = Campaign(tmp_path)
    campaign.judge("rep", {"hyp": b"a", "ref": b"b"}, Run(-6, b"", "first\nlast\n"))
    (kept,) = tmp_path.iterdir()
    assert {path.name: path.read_bytes() for path in kept.iterdir()} == {"hyp": b"a", "ref": b"b"}
    assert campaign.failures == [f"{kept}: exit status -6: first / last"]


def test_mutations_are_repeatable_and_varied():
    data = b"the house is red\n" * 5
    damaged = [mutate(data, random.Random(seed), [b"other"]) for seed in range(200)]
    assert damaged == [mutate(data, random.Random(seed), [b"other"]) for seed in range(200)]
    assert len(set(damaged)) > 150


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts threads as processes")
def test_refused_threads_under_the_sanitizer():
    """The user may have four threads. Root has no such limit, so the tool then runs as nobody."""
    tool = build("asan")
    text = b"das haus ||| the house\n" * 1000
    done = subprocess.run(
        [*tool.prefix, tool.folder / "fast_align", "-i", "-", "-I", "2", "--threads", "32"],
        check=False, capture_output=True, input=text, timeout=60,
        user=65534 if os.geteuid() == 0 else None,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (4, 4)),
    )  # fmt: skip
    assert b"warning: the system refuses 32 threads" in done.stderr
    assert (done.returncode, done.stdout.count(b"\n")) == (0, 1000), done.stderr


def test_every_leaf_of_a_manifest_has_a_place():
    places = list(leaves({"a": [1, {"b": None}], "c": {}}))
    assert places == [("a",), ("a", 0), ("a", 1), ("a", 1, "b"), ("c",)]


@pytest.mark.parametrize("kind", KINDS)
def test_campaigns_of_settings_find_nothing_in_a_few_runs(kind):
    found = attack_settings(kind, 60, seed=3, most=4)
    assert (found.runs, found.failures) == (4, [])
