# SPDX-License-Identifier: Apache-2.0
"""Loads the operators beside this file, and says in one sentence what they refuse."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import tensorflow as tf

SCALARS = (tf.float16, tf.bfloat16, tf.float32, tf.float64)
REBUILD = "build it again with scripts/build_tensorflow.sh"


def _load():
    library = Path(__file__).parent / "libeigen_rope_tensorflow.so"
    if not library.exists():
        raise ImportError(
            f"[rope] eigen_rope_tensorflow must have its operators beside it, got no {library}; "
            f"{REBUILD}"
        )
    from ._built import TENSORFLOW

    # Another version may have all symbols and other classes behind them, so it is not tried.
    if tf.__version__ != TENSORFLOW:
        raise ImportError(
            "[rope] eigen_rope_tensorflow must run with the TensorFlow that it was compiled for, "
            f"{TENSORFLOW}, got {tf.__version__}; {REBUILD}"
        )
    try:
        return tf.load_op_library(str(library))
    except tf.errors.OpError as error:
        reason = error.message.splitlines()[0]
        raise ImportError(
            "[rope] eigen_rope_tensorflow must fit the TensorFlow that is installed, "
            f"{tf.__version__}, got: {reason}; {REBUILD}"
        ) from None


_module = _load()
rotate = _module.eigen_rope_rotate
table_gradient = _module.eigen_rope_table_gradient
table = _module.eigen_rope_table
rates = _module.eigen_rope_rates

# What TensorFlow raises where an operator refuses its arguments: eagerly, and in a graph.
REFUSED = (tf.errors.OpError, TypeError, ValueError, AttributeError, OverflowError)

# What TensorFlow writes around an operator's sentence.
_SENTENCE = re.compile(
    r"\[rope\] .*?(?= for '\{\{node| \[Op:|\s*\n|$)",
)


def sentence(error, tensors, options):
    """The error to raise instead of `error`: of its class, with the operator's sentence alone, or
    with one about the argument that the operator could not be given.

    tensors and options are the arguments by their names.
    """
    found = _SENTENCE.search(str(error))
    if found is not None:
        return _like(error, found.group())
    return _about_options(options) or _about_tensors(tensors) or error


def _like(error, text):
    if isinstance(error, tf.errors.OpError):
        return type(error)(None, None, text)
    return type(error)(text) if type(error) in (TypeError, ValueError) else ValueError(text)


def _about_options(options):
    for name, value in options.items():
        if name in ("pairing", "direction", "scaling"):
            if not isinstance(value, (str, bytes)):
                return TypeError(f"[rope] {name} must be a string, got {value!r}")
        elif value is not None and not isinstance(value, (int, np.integer)):
            return TypeError(f"[rope] {name} must be an integer, got {value!r}")
        elif value is not None and not -(2**63) <= value < 2**63:
            return ValueError(f"[rope] {name} must fit 64 bits, got {value}")
    return None


def no_tensor(name, value):
    """Why a value cannot be made a tensor, as an error to raise; None if it can."""
    if isinstance(value, tf.RaggedTensor):
        return TypeError(
            f"[rope] {name} must be dense, got a RaggedTensor; give its flat_values, with a "
            "row of the table for each of them"
        )
    if isinstance(value, (tf.SparseTensor, tf.IndexedSlices)):
        return TypeError(f"[rope] {name} must be dense, got a {type(value).__name__}")
    if type(value).__name__ == "KerasTensor":
        return TypeError(
            f"[rope] {name} must be a tensor, got a KerasTensor; use the layer RotaryEmbedding in "
            "a functional model"
        )
    try:
        tf.convert_to_tensor(value)
    except REFUSED:
        return TypeError(f"[rope] {name} must be a tensor, got {type(value).__name__}")
    return None


def _about_tensors(tensors):
    for name, value in tensors.items():
        reason = no_tensor(name, value)
        if reason is not None:
            return reason
        dtype = tf.convert_to_tensor(value).dtype
        if dtype not in SCALARS:
            return TypeError(
                f"[rope] {name} must be of float16, bfloat16, float32 or float64, got {dtype.name}"
            )
    if "sin" not in tensors:
        return None
    cos, sin = (tf.convert_to_tensor(tensors[name]).dtype for name in ("cos", "sin"))
    if cos != sin:
        return TypeError(f"[rope] sin must have the type of cos, {cos.name}, got {sin.name}")
    return None
