"""Run the notebooks that have pictures and write those of their marked cells: ``make figures``.

A cell whose metadata have ``"figure": NAME`` ends in a picture, which is written to
``notebooks/figures/NAME``. The notebooks themselves stay without outputs.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent


def run(path: Path, *, timeout: int = 300) -> Any:
    """Run a notebook from top to bottom in a new kernel; an error in a cell raises."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=timeout, resources={"metadata": {"path": str(HERE)}})
    return client.execute()


def pictures(notebook: Any) -> dict[str, bytes]:
    """The pictures of marked cells, as PNG, by their file names."""
    found = {}
    for cell in notebook.cells:
        name = cell.metadata.get("figure")
        if name is None:
            continue
        data = [output.data for output in cell.outputs if "data" in output]
        (picture,) = [item["image/png"] for item in data if "image/png" in item]
        found[name] = base64.b64decode(picture)
    return found


def main() -> None:
    """Write all pictures."""
    folder = HERE / "figures"
    folder.mkdir(exist_ok=True)
    for path in sorted(HERE.glob("*.ipynb")):
        if not any("figure" in cell.metadata for cell in nbformat.read(path, as_version=4).cells):
            continue
        for name, data in pictures(run(path)).items():
            (folder / name).write_bytes(data)
            print(f"{path.name}: {folder / name}")


if __name__ == "__main__":
    main()
