# SPDX-License-Identifier: Apache-2.0
"""The example, and every block of Python in the page and in the README, run as they stand."""

import re
import runpy
from pathlib import Path

import pytest
import torch

FOLDER = Path(__file__).parents[1]
PAGES = [FOLDER / "README.md", FOLDER.parents[1] / "docs" / "torch.md"]


def blocks(page):
    return "\n".join(re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_run(page):
    code = blocks(page)
    assert code.count("import eigen_rope_torch") >= 1
    exec(compile(code, str(page), "exec"), {"__name__": page.name})


def test_one_rounding_is_nearer():
    example = runpy.run_path(str(FOLDER / "examples" / "one_rounding.py"))
    theirs, ours = example["errors"]()
    assert ours < 0.75 * theirs
    # What is left is half a unit in the last place of bfloat16 at most, a quarter on average.
    assert ours < 2.0**-9
    assert 0 <= example["generations"](4) <= 4
    assert torch.is_grad_enabled()
