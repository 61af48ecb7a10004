"""Make the README's pictures of the report that ``demo`` writes: part of ``make figures``."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.browser.conftest import FLAGS, find_chromium
from tests.conftest import COMMAND, ROOT

PICTURES = {
    "report_scores": ("demo/report.html", "#which", "#picture"),
    "report_segments": ("report.html#sort=DROP&whose=dropping&descending=yes&segment=30",
                        "#where", "#browser"),
}  # fmt: skip
"""File → the report and the view it shows, the element at its top, and the one at its end."""

WIDTH = 1480
"""Pixels; the scores of three systems fit."""

SCHEMES: dict[Literal["light", "dark"], str] = {"light": "", "dark": "_dark"}
"""The reader's colour scheme, and what it adds to the file's name."""


def main() -> None:
    """Write the pictures, each in light and dark."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        _make_reports(folder)
        chromium = find_chromium()
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        for (file, (view, top, end)), scheme in product(PICTURES.items(), SCHEMES):
            page = browser.new_page(
                viewport={"width": WIDTH, "height": 590}, reduced_motion="reduce",
                color_scheme=scheme,
            )  # fmt: skip
            page.goto(f"{folder.as_uri()}/{view}")
            page.wait_for_selector("html[data-ready]", state="attached")
            page.wait_for_timeout(500)
            first, last = (page.locator(element).bounding_box() for element in (top, end))
            assert first is not None
            assert last is not None
            height = last["y"] + last["height"] - first["y"] + 12
            above = page.evaluate("scrollY")
            clip = {"x": 0, "y": first["y"] + above, "width": WIDTH, "height": height}
            taken = page.screenshot(clip=clip, full_page=True)
            picture = Image.open(BytesIO(taken)).convert("RGB").quantize(256)
            picture.save(ROOT / "notebooks/figures" / f"{file}{SCHEMES[scheme]}.png", optimize=True)
        browser.close()


def _make_reports(folder: Path) -> None:
    """Run ``demo``, and README's command above its second picture."""
    path = f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    (report,) = re.findall(
        r"^coverage-eval report .*?report\.html$", page, re.MULTILINE | re.DOTALL
    )
    for command in ("coverage-eval demo --folder demo", report):
        subprocess.run(
            ["/bin/sh", "-ec", command], cwd=folder, check=True, capture_output=True,
            env={**os.environ, "PATH": path},
        )  # fmt: skip


if __name__ == "__main__":
    main()
