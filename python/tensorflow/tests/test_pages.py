# SPDX-License-Identifier: Apache-2.0
"""Every block of Python in the page and in the README, run as it stands."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1]
PAGES = [FOLDER / "README.md", FOLDER.parents[1] / "docs" / "tensorflow.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S))
    assert code.count("import eigen_rope_tensorflow") >= 1
    exec(compile(code, str(page), "exec"), {"__name__": page.name})
