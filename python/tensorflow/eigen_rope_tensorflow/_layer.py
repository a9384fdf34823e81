# SPDX-License-Identifier: Apache-2.0
"""The rotation of queries or keys as a layer of Keras 3, with exactly made tables."""

from __future__ import annotations

import functools

import keras
import tensorflow as tf

from . import _ops


def _require_tensorflow():
    backend = keras.config.backend()
    if backend != "tensorflow":
        raise ValueError(
            "[rope] RotaryEmbedding must run on Keras's backend tensorflow, got "
            f"{backend}; set KERAS_BACKEND=tensorflow before Keras is imported"
        )


# A table up to this size is kept, and is part of the graphs that read it.
_KEPT_ENTRIES = 1 << 20


def _placed(entries, rank, sequence, features):
    """[tokens, pairs], or [batch, tokens, pairs], with the axes of x."""
    if entries.shape.rank not in (2, 3):
        raise ValueError(
            "[rope] positions must be [tokens] or [batch, tokens], got a tensor of "
            f"{entries.shape.rank - 1} axes"
        )
    if entries.shape.rank == 3 and 0 in (sequence, features):
        raise ValueError(
            "[rope] positions of each sequence must be of inputs whose axis 0 is the batch, got "
            f"tokens on axis {sequence} and features on axis {features}"
        )
    axes = ([0] if entries.shape.rank == 3 else []) + [sequence, features]
    if sequence > features:
        entries = tf.linalg.matrix_transpose(entries)
        axes.sort()
    shape = [1] * rank
    for i, axis in enumerate(axes):
        known = entries.shape[i]
        shape[axis] = tf.shape(entries)[i] if known is None else known
    return tf.reshape(entries, shape)


@functools.lru_cache(maxsize=16)
def _kept_table(rates, m, start, tokens, dtype, *axes):
    """The table of consecutive tokens, which all layers of a model share."""
    with tf.device("/CPU:0"):
        positions = tf.range(start, start + tokens)
        entries = _ops.table(rates, positions, attention_factor=m, dtype=dtype)
        return tuple(_placed(t, *axes) for t in entries)


def _axis(name, axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"[rope] {name} must be in [{-rank}, {rank - 1}], got {axis}")
    return axis % rank


@keras.saving.register_keras_serializable(package="eigen_rope")
class RotaryEmbedding(keras.layers.Layer):
    """Turns the pairs of each row by the angles of its token's position.

    layer = RotaryEmbedding(base=500000.0, scaling={"name": "llama3", "factor": 8.0,
                                                    "original_context": 8192})
    q, k = layer(q), layer(k)                       # [batch, tokens, heads, D]
    q = layer(q, start_index=past)                  # tokens behind a cache of `past`
    q = layer(q, positions=positions)               # [tokens] or [batch, tokens]

    Args:
        pairing: split_half, interleaved, quarter or interleaved_to_split_half.
        base: the base of the rates, base^(-2 k / rotary_dims) for pair k.
        scaling: None, or a dict of the scaling's `name` and its parameters, as rates() takes them.
        rates: radians per token for each pair, instead of base and scaling.
        attention_factor: m, which multiplies cosines and sines; None for that of the scaling.
        rotary_dims, offset: the window of each row; the rest is copied. None for whole rows.
        sequence_axis: the axis of tokens.
        feature_axis: the axis of rows.

    Tables are made of float64, exact at any position, and are float32 for every dtype policy but
    float64. So float16 and bfloat16 are rounded once. The layer has no weights. It is not compiled
    by XLA, which jit_compile="auto" in compile() respects.
    """

    def __init__(
        self,
        pairing="split_half",
        *,
        base=10000.0,
        scaling=None,
        rates=None,
        attention_factor=None,
        rotary_dims=None,
        offset=0,
        sequence_axis=1,
        feature_axis=-1,
        **kwargs,
    ):
        _require_tensorflow()
        # Keras would cast positions of float32 to 16 bits, which cannot count tokens.
        kwargs.setdefault("autocast", False)
        super().__init__(**kwargs)
        if rates is not None and scaling is not None:
            raise ValueError("[rope] rates must not be given beside scaling, got both")
        if scaling is not None and (not isinstance(scaling, dict) or "name" not in scaling):
            raise ValueError(
                f"[rope] scaling must be a dict with the name of a scaling, got {scaling!r}"
            )
        self.pairing = pairing
        self.base = base
        self.scaling = None if scaling is None else dict(scaling)
        self.rates = None if rates is None else [float(rate) for rate in rates]
        self.attention_factor = attention_factor
        self.rotary_dims = rotary_dims
        self.offset = offset
        self.sequence_axis = sequence_axis
        self.feature_axis = feature_axis
        self.supports_masking = True
        self.supports_jit = False

    def build(self, inputs_shape):
        rank = len(inputs_shape)
        features = _axis("feature_axis", self.feature_axis, rank)
        if _axis("sequence_axis", self.sequence_axis, rank) == features:
            raise ValueError(
                f"[rope] sequence_axis must be another axis than feature_axis, got {features} twice"
            )
        row = inputs_shape[features]
        if row is None and self.rotary_dims is None:
            raise ValueError(
                "[rope] inputs must have a known extent on feature_axis, got None; or name "
                "rotary_dims"
            )
        width = row - self.offset if self.rotary_dims is None else self.rotary_dims
        with tf.init_scope():
            rates, m = self._frequencies(width)
        self._rates = rates
        self._m = m if self.attention_factor is None else float(self.attention_factor)

    def _frequencies(self, width):
        if self.rates is not None:
            if 2 * len(self.rates) != width:
                raise ValueError(
                    f"[rope] rates must be one for each of {width // 2} pairs, got "
                    f"{len(self.rates)}"
                )
            return tuple(self.rates), 1.0
        parameters = dict(self.scaling or {})
        scaling = parameters.pop("name", "default")
        parameters = {"rotary_dims": width, "base": self.base, **parameters}
        rates, m = _ops.rates(scaling, **parameters)
        return tuple(rates.numpy().tolist()), float(m)

    def call(self, inputs, start_index=0, positions=None):
        x = tf.convert_to_tensor(inputs)
        if x.dtype.is_floating:
            x = tf.cast(x, self.compute_dtype)
        rank = x.shape.rank
        sequence = self.sequence_axis % rank
        features = self.feature_axis % rank
        dtype = tf.float64 if x.dtype == tf.float64 else tf.float32
        return _ops.rotate(
            x,
            *self._table(x, start_index, positions, dtype, (rank, sequence, features)),
            self.pairing,
            rotary_dims=self.rotary_dims,
            offset=self.offset,
            axis=features - rank,
        )

    def _table(self, x, start_index, positions, dtype, axes):
        if positions is None:
            tokens = x.shape[axes[1]]
            small = tokens is not None and tokens * len(self._rates) <= _KEPT_ENTRIES
            if small and isinstance(start_index, int):
                key = (self._rates, self._m, start_index, tokens, dtype, *axes)
                if tf.executing_eagerly():
                    return _kept_table(*key)
                with tf.init_scope():
                    if tf.executing_eagerly():
                        return _kept_table(*key)
            count = tf.range(tf.shape(x)[axes[1]] if tokens is None else tokens)
            start = _ops.converted(start_index, "start_index", tf.int64)
            if not start.dtype.is_integer:
                raise TypeError(
                    f"[rope] start_index must be an integer, got a tensor of {start.dtype.name}"
                )
            positions = tf.cast(start, tf.int64)[..., None] + tf.cast(count, tf.int64)
        entries = _ops.table(self._rates, positions, attention_factor=self._m, dtype=dtype)
        return (_placed(t, *axes) for t in entries)

    def compute_output_shape(self, inputs_shape):
        return inputs_shape

    def get_config(self):
        return {
            **super().get_config(),
            "pairing": self.pairing,
            "base": self.base,
            "scaling": self.scaling,
            "rates": self.rates,
            "attention_factor": self.attention_factor,
            "rotary_dims": self.rotary_dims,
            "offset": self.offset,
            "sequence_axis": self.sequence_axis,
            "feature_axis": self.feature_axis,
        }
