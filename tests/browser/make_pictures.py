"""Make the README's pictures of the report that ``demo`` writes: part of ``make figures``."""

from __future__ import annotations

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
    "report_scores": ("", "#which", 760),
    "report_segments": ("#sort=DROP&whose=dropping&descending=yes"
                            "&show=repeating&show=dropping&segment=458", "#where", 600),
}  # fmt: skip
"""File → the view it shows, the element at its top, and its height in pixels."""

SCHEMES: dict[Literal["light", "dark"], str] = {"light": "", "dark": "_dark"}
"""The reader's colour scheme, and what it adds to the file's name."""


def main() -> None:
    """Write the pictures, each in light and dark."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        subprocess.run([COMMAND, "demo", "--folder", folder], check=True, capture_output=True)
        chromium = find_chromium()
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        for (name, (fragment, top, height)), scheme in product(PICTURES.items(), SCHEMES):
            page = browser.new_page(
                viewport={"width": 1100, "height": height}, reduced_motion="reduce",
                color_scheme=scheme,
            )  # fmt: skip
            page.goto(f"{(Path(folder) / 'report.html').as_uri()}{fragment}")
            page.wait_for_selector("html[data-ready]", state="attached")
            page.evaluate("top => document.querySelector(top).scrollIntoView()", top)
            # The next part's heading would stand at the lower edge.
            page.evaluate("document.getElementById('how').style.visibility = 'hidden'")
            page.wait_for_timeout(500)
            picture = Image.open(BytesIO(page.screenshot())).convert("RGB").quantize(256)
            picture.save(ROOT / "notebooks/figures" / f"{name}{SCHEMES[scheme]}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
