# SPDX-License-Identifier: Apache-2.0
"""Two devices on the CPU and double, and what the tests share: random arrays and tables."""

import os
import sys
from pathlib import Path

os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "")
    + " --xla_force_host_platform_device_count=2"
    + " --xla_backend_optimization_level=0"  # programs that run once
)
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[2] / "tests"))
jax.config.update("jax_enable_x64", True)


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@pytest.fixture
def table(rng):
    """table(*shape): cosines and sines of random angles, with a magnitude that differs from 1."""

    def make(*shape, dtype=np.float64, m=1.25):
        angle = rng.uniform(-3, 3, shape)
        return tuple((m * f(angle)).astype(dtype) for f in (np.cos, np.sin))

    return make
