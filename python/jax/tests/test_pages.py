# SPDX-License-Identifier: Apache-2.0
"""Every block of Python on the page runs, one after the other, in JAX as it starts: of 32 bits."""

import re
import subprocess
import sys

import recorded

PAGE = recorded.REPOSITORY / "docs" / "jax.md"


def test_the_page_runs():
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 5
    subprocess.run(
        [sys.executable, "-P", "-c", "\n".join(blocks)], check=True, cwd=recorded.REPOSITORY
    )
