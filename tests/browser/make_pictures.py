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

PICTURES = {"report_sentence": (560, "#examples .example:not([hidden])"), "report": (1440, "")}
"""File → the width of the window, and what is taken of it; by default its first screen."""

HEIGHT = 900

SCHEMES: dict[Literal["light", "dark"], str] = {"light": "", "dark": "_dark"}
"""The reader's colour scheme, and what it adds to the file's name."""


def main() -> None:
    """Write the pictures, each in light and dark, with two dots a pixel."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        subprocess.run([COMMAND, "demo", "--folder", folder], check=True, capture_output=True)
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        for (file, (width, element)), scheme in product(PICTURES.items(), SCHEMES):
            page = browser.new_page(
                viewport={"width": width, "height": HEIGHT}, device_scale_factor=2,
                reduced_motion="reduce", color_scheme=scheme,
            )  # fmt: skip
            page.goto(f"{folder.as_uri()}/report.html")
            page.wait_for_selector("html[data-ready]", state="attached")
            page.locator("#picture tr[data-system='dropping'] td").last.click()
            page.add_style_tag(content="#examples .example { padding: 14px 18px; }")
            taken = page.locator(element).screenshot() if element else page.screenshot()
            picture = Image.open(BytesIO(taken)).convert("RGB").quantize(256)
            picture.save(ROOT / "notebooks/figures" / f"{file}{SCHEMES[scheme]}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
