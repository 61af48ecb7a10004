"""``make fuzz``: run all campaigns for some time, and print inputs and failures."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from collections.abc import Callable
from functools import partial

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tests.fuzz.aligner import SANITIZERS, attack_aligner
from tests.fuzz.commands import TARGETS, attack_commands
from tests.fuzz.findings import Campaign
from tests.fuzz.settings import KINDS, attack_limits, attack_settings

MIN = 10
"""A campaign with fewer inputs proves nothing, so it fails."""


def main() -> int:
    """Run all campaigns, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for each of the campaigns")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.seconds:g} seconds each", flush=True)
    failed = False
    campaigns: dict[str, Callable[[], Campaign]] = {
        f"aligner, {name}": partial(attack_aligner, name, options.seconds, options.seed)
        for name in SANITIZERS
    }
    campaigns[f"commands ({len(TARGETS)} targets)"] = partial(
        attack_commands, 2 * options.seconds, options.seed
    )
    for kind in KINDS:
        campaigns[f"commands, other {kind}"] = partial(
            attack_settings, kind, options.seconds, options.seed
        )
    campaigns["aligner, limits of threads and memory"] = partial(
        attack_limits, options.seconds, options.seed
    )
    for name, attack in campaigns.items():
        found = attack()
        print(f"{name}: {found.runs:,} inputs, {len(found.failures)} failures", flush=True)
        for failure in found.failures:
            print(f"  {failure}", flush=True)
        failed |= bool(found.failures) or found.runs < MIN
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
