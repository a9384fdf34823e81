# SPDX-License-Identifier: Apache-2.0
"""The code of the pages runs, block after block, in a folder that has a model's config.json."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest
import recorded

PAGES = ["docs/python.md", "python/README.md", "docs/cookbook.md"]
CONFIG = recorded.REPOSITORY / "tests/data/models/hugging_face/llama_3_1.json"


def blocks(page):
    """Return (line, code) of each block of Python."""
    text = (recorded.REPOSITORY / page).read_text()
    return [
        (text[: match.start(1)].count("\n") + 1, match[1])
        for match in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ]


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(CONFIG, tmp_path / "config.json")
    # What the short ones leave to their readers.
    names = {"tokens": 16, "q": np.ones((1, 16, 4, 128), np.float32), "__name__": "page"}
    found = blocks(page)
    assert found
    for line, code in found:
        exec(compile("\n" * (line - 1) + code, page, "exec"), names)
