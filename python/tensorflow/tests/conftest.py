# SPDX-License-Identifier: Apache-2.0
"""What the tests share: where the definition and the recorded answers are, tables, and a seed."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
PYTHON = Path(__file__).parents[2]
# The rotation as numpy computes it, the reader of other systems' answers, and what calls leave in
# memory.
sys.path.append(str(PYTHON / "tests"))


@pytest.fixture(autouse=True)
def seed():
    import tensorflow as tf

    tf.random.set_seed(1)


@pytest.fixture
def random():
    return np.random.default_rng(1)


@pytest.fixture
def table(random):
    """table(*shape): cosines and sines of random angles, with a magnitude that differs from 1."""
    import tensorflow as tf

    def make(*shape, dtype=tf.float64, m=1.25):
        angle = 0.5 * random.normal(size=shape)
        return tuple(tf.constant(m * f(angle), dtype) for f in (np.cos, np.sin))

    return make
