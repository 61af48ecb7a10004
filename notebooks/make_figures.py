"""``make figures``: run and store the notebooks, and draw the pictures of README and site.

If a cell's metadata have ``"figure": NAME``, its last output is a picture, which is also written to
``notebooks/figures/NAME``. If they have ``"output": "none"``, its output is too large for a file (a
whole report) and is not stored.
"""

from __future__ import annotations

import base64
import re
from io import BytesIO
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from PIL import Image

from coverage_eval import plotting
from coverage_eval.attention_maps import load, merge_subwords
from coverage_eval.plotting.saving import save_figure

HERE = Path(__file__).parent
NOTEBOOKS = sorted(HERE.glob("*.ipynb"))


def run(path: Path, *, timeout: int = 300) -> Any:
    """Run a notebook from top to bottom in a new kernel; raise if a cell fails."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=timeout, resources={"metadata": {"path": str(HERE)}})
    return client.execute()


def pictures(notebook: Any) -> dict[str, bytes]:
    """File name → picture (PNG) of the cells that are marked with ``figure``."""
    found = {}
    for cell in notebook.cells:
        name = cell.metadata.get("figure")
        if name is None:
            continue
        data = [output.data for output in cell.outputs if "data" in output]
        (picture,) = [item["image/png"] for item in data if "image/png" in item]
        found[name] = base64.b64decode(picture)
    return found


def text_of(notebook: Any) -> list[str]:
    """Each cell's output as text that is the same on every machine; a picture is "picture"."""
    shown = []
    for cell in notebook.cells:
        parts = []
        for output in cell.get("outputs", []):
            data = output.get("data", {"text/plain": output.get("text", "")})
            parts.append("picture" if "image/png" in data else "".join(data["text/plain"]))
        whole = "" if cell.metadata.get("output") == "none" else "".join(parts)
        shown.append(re.sub(r"model:[0-9a-f]{12}", "model:…", whole))
    return shown


def small(picture: bytes) -> bytes:
    """The same picture in a smaller file, with all its colours."""
    written = BytesIO()
    Image.open(BytesIO(picture)).convert("RGB").save(written, "PNG", optimize=True)
    return written.getvalue()


def store(path: Path) -> None:
    """Run a notebook; store its outputs in its file, and its marked pictures in separate files."""
    notebook = run(path)
    for name, data in pictures(notebook).items():
        (HERE / "figures" / name).write_bytes(small(data))
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.metadata.pop("execution", None)  # times
        if cell.metadata.get("output") == "none":
            cell.outputs = []
        for output in cell.outputs:
            output.get("metadata", {}).clear()
            if "image/png" in output.get("data", {}):
                reduced = small(base64.b64decode(output.data["image/png"]))
                output.data["image/png"] = base64.b64encode(reduced).decode()
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, path)


def draw_attention() -> None:
    """Store the picture of the page on attention: two models' maps of one sentence, in words."""
    systems = ("softmax", "csparsemax")
    files = [HERE / f"reproduction/own_sentences/{name}.jsonl" for name in systems]
    first, second = (merge_subwords(load(file))[3] for file in files)
    axes = plotting.attention_heatmaps_side_by_side((first, second), systems=systems)
    save_figure(axes[0], HERE / "figures/attention_pair.svg", tight=True)


def main() -> None:
    """Write notebooks and pictures."""
    for path in NOTEBOOKS:
        store(path)
    draw_attention()


if __name__ == "__main__":
    main()
