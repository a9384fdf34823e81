# SPDX-License-Identifier: Apache-2.0
"""What the tests share: tables, tensors with strides, and a seed for each."""

import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))
# The rotation as numpy computes it, and what calls leave in memory.
sys.path.append(str(Path(__file__).parents[2] / "tests"))


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(1)


@pytest.fixture
def table():
    """table(*shape): cosines and sines of random angles, with a magnitude that differs from 1."""

    def make(*shape, dtype=torch.float64, m=1.25):
        angle = torch.randn(*shape, dtype=torch.float64)
        return tuple((m * f(angle)).to(dtype) for f in (torch.cos, torch.sin))

    return make
