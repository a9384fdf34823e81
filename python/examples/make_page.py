#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the notebook and makes the page of it, docs/notebook.md and its pictures.

usage: make_page.py [--check]    in the folder of the repository, by the Python of
                                 python/examples/requirements.txt; --check changes nothing, and
                                 fails unless the page is what the notebook gives

The notebook itself is kept without its output. A cell that draws says in its metadata what can be
seen (`alt`). Pictures differ from machine to machine in their last bits, so only the text is
compared.
"""

from __future__ import annotations

import base64
import difflib
import os
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

NOTEBOOK = Path("python/examples/llama_3_1.ipynb")
PAGE = Path("docs/notebook.md")
IMAGES = Path("docs/images")


def executed() -> Any:
    """Return the notebook with its output."""
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    if any(cell.get("outputs") for cell in notebook.cells):
        raise SystemExit(f"{NOTEBOOK} must be kept without output: clear it")
    # The kernel is asked through a file and not through the network.
    config = Config({"KernelManager": {"transport": "ipc"}})
    NotebookClient(notebook, kernel_name="python3", timeout=300, config=config).execute()
    return notebook


def page_of(notebook: Any) -> tuple[str, dict[str, bytes]]:
    """Return the page, and its pictures by their names."""
    parts, pictures = [], {}
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            if output.get("name") == "stderr":
                continue
            text = output.get("text") or output.get("data", {}).get("text/plain", "")
            png = output.get("data", {}).get("image/png")
            if png:
                name = f"notebook_{len(pictures) + 1}.png"
                pictures[name] = base64.b64decode(png)
                parts.append(f"![{cell.metadata['alt']}](images/{name})")
            elif text.strip():
                parts.append("\n".join("    " + line for line in text.rstrip().splitlines()))
    parts.append(f"The notebook itself is `{NOTEBOOK}`.")
    return "\n\n".join(parts) + "\n", pictures


def main() -> None:
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        raise SystemExit(__doc__)
    page, pictures = page_of(executed())
    if check:
        before = PAGE.read_text()
        if before != page:
            lines = difflib.unified_diff(before.splitlines(), page.splitlines(), lineterm="")
            print("\n".join(lines))
            raise SystemExit(f"{PAGE} is not what the notebook gives; make_page.py makes it again")
        return
    PAGE.write_text(page)
    for name, picture in pictures.items():
        (IMAGES / name).write_bytes(picture)


if __name__ == "__main__":
    main()
