"""The scripts of ``notebooks/reproduction`` import one another by name, so tests do, too."""

from __future__ import annotations

import sys

from tests.conftest import ROOT

SCRIPTS = ROOT / "notebooks" / "reproduction"
sys.path.insert(0, str(SCRIPTS))
