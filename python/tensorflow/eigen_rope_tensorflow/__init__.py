# SPDX-License-Identifier: Apache-2.0
"""Rotary position embedding for TensorFlow on the CPU: operators with gradients of any order, exact
tables, and a layer of Keras.

    import tensorflow as tf
    import eigen_rope_tensorflow as er

    rates, m = er.rates("llama3", rotary_dims=128, base=500000.0, factor=8.0, original_context=8192)
    cos, sin = er.table(rates, tf.range(512), attention_factor=m)     # [tokens, pairs], exact
    y = er.rotate(q, cos[:, None], sin[:, None])                      # q [batch, tokens, heads, D]
    layer = er.RotaryEmbedding()                                      # the same in one layer

The page docs/tensorflow.md has more. Loading a SavedModel needs this module to be imported before.
"""

import contextlib

from . import _gradients, _vectorized  # what they register is all that is wanted of them
from ._ops import rates, rotate, rotate_backward, rotate_inverse, table

# Here, so that importing this module is all that keras.models.load_model() needs. Where Keras is
# not installed, or not its backend, the operators work without it.
with contextlib.suppress(ImportError):
    from ._layer import RotaryEmbedding

__all__ = [
    "RotaryEmbedding",
    "rates",
    "rotate",
    "rotate_backward",
    "rotate_inverse",
    "table",
]

del _gradients, _vectorized, contextlib


def __getattr__(name):
    if name == "RotaryEmbedding":  # why it could not be imported
        from ._layer import RotaryEmbedding

        return RotaryEmbedding
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
