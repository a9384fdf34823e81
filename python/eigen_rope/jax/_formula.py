# SPDX-License-Identifier: Apache-2.0
"""The rotation as operations of JAX: what arrays that are not on the CPU are rotated with.

With a pair (a, b) -> (A, B), and tables of cosines c and sines s:

    y_A = c_A x_a - s_A x_b        y_B = c_B x_b + s_B x_a

All arrays have the same number of axes, and each axis is as long as y's, or 1. The window's width
and the axis are those of the primitives.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

PAIRINGS = ("split_half", "interleaved", "quarter", "interleaved_to_split_half")
DIRECTIONS = ("forward", "backward", "inverse")


def _members(t: jax.Array, slots: str) -> tuple[jax.Array, jax.Array]:
    """The first and the second members of the pairs of a window on the last axis."""
    *outer, width = t.shape
    if slots == "interleaved":
        pairs = t.reshape(*outer, width // 2, 2)
        return pairs[..., 0], pairs[..., 1]
    blocks = 2 if slots == "quarter" else 1
    halves = t.reshape(*outer, blocks, 2, width // (2 * blocks))
    flat = (*outer, width // 2)
    return halves[..., 0, :].reshape(flat), halves[..., 1, :].reshape(flat)


def _joined(first: jax.Array, second: jax.Array, slots: str) -> jax.Array:
    """The inverse of _members()."""
    *outer, pairs = first.shape
    if slots == "interleaved":
        return jnp.stack((first, second), -1).reshape(*outer, 2 * pairs)
    blocks = 2 if slots == "quarter" else 1
    halves = [t.reshape(*outer, blocks, pairs // blocks) for t in (first, second)]
    return jnp.stack(halves, -2).reshape(*outer, 2 * pairs)


def _slots(pairing: str) -> tuple[str, str]:
    """How the pairs lie in what is read and in what is written."""
    if pairing == "interleaved_to_split_half":
        return "interleaved", "split_half"
    return pairing, pairing


def _table_members(t: jax.Array, rotary_dims: int, pairing: str) -> tuple[jax.Array, jax.Array]:
    """The entries of A and of B, of a table of either width on the last axis."""
    return _members(t, _slots(pairing)[1]) if t.shape[-1] == rotary_dims else (t, t)


def inverse_table(
    cos: jax.Array, sin: jax.Array, *, pairing: str, rotary_dims: int, axis: int
) -> tuple[jax.Array, jax.Array]:
    """The table whose forward rotation is the transpose of the inverse rotation by `cos`, `sin`.

    For a pair, R = [[c_A, -s_A], [s_B, c_B]], and the transpose of its inverse is
    [[c_B, -s_B], [s_A, c_A]] / (c_A c_B + s_A s_B).
    """
    wide = jnp.promote_types(cos.dtype, jnp.float32)
    entries = [jnp.moveaxis(t.astype(wide), axis, -1) for t in (cos, sin)]
    (c_a, c_b), (s_a, s_b) = (_table_members(t, rotary_dims, pairing) for t in entries)
    det = c_a * c_b + s_a * s_b
    inverse = [(c_b / det, c_a / det), (s_b / det, s_a / det)]
    if cos.shape[axis] == rotary_dims:
        made = [_joined(first, second, _slots(pairing)[1]) for first, second in inverse]
    else:
        made = [first for first, _ in inverse]
    c, s = (jnp.moveaxis(t, -1, axis).astype(cos.dtype) for t in made)
    return c, s


def rotate(
    x: jax.Array,
    cos: jax.Array,
    sin: jax.Array,
    *,
    pairing: str,
    direction: str,
    rotary_dims: int,
    offset: int,
    axis: int,
    outside: str,
    donate: bool = False,
) -> jax.Array:
    """The primitive `rotate`, with one rounding to x's type."""
    del donate
    wide = jnp.promote_types(x.dtype, jnp.float32)
    cos, sin = cos.astype(wide), sin.astype(wide)
    if direction == "inverse":
        cos, sin = inverse_table(cos, sin, pairing=pairing, rotary_dims=rotary_dims, axis=axis)
        # The transpose of the transpose of the inverse.
        direction = "backward"
    read, written = _slots(pairing) if direction == "forward" else _slots(pairing)[::-1]
    rows = jnp.moveaxis(x, axis, -1)
    cos, sin = jnp.moveaxis(cos, axis, -1), jnp.moveaxis(sin, axis, -1)
    a, b = _members(rows[..., offset : offset + rotary_dims].astype(wide), read)
    c_a, c_b = _table_members(cos, rotary_dims, pairing)
    s_a, s_b = _table_members(sin, rotary_dims, pairing)
    if direction == "forward":
        first, second = c_a * a - s_a * b, c_b * b + s_b * a
    else:
        first, second = c_a * a + s_b * b, c_b * b - s_a * a
    turned = _joined(first, second, written).astype(x.dtype)
    rest = [rows[..., :offset], rows[..., offset + rotary_dims :]]
    if outside == "zero":
        rest = [jnp.zeros_like(t) for t in rest]
    rest = [jnp.broadcast_to(t, (*turned.shape[:-1], t.shape[-1])) for t in rest]
    return jnp.moveaxis(jnp.concatenate((rest[0], turned, rest[1]), -1), -1, axis)


def table_gradient(
    x: jax.Array,
    g: jax.Array,
    *,
    shape: tuple[int, ...],
    dtype: jnp.dtype,
    pairing: str,
    rotary_dims: int,
    offset: int,
    axis: int,
) -> tuple[jax.Array, jax.Array]:
    """The primitive `table_gradient`, summed in the widest type that JAX has."""
    wide = jax.dtypes.canonicalize_dtype(jnp.float64)
    read, written = _slots(pairing)
    rows = [jnp.moveaxis(t, axis, -1)[..., offset : offset + rotary_dims] for t in (x, g)]
    (a, b), (g_a, g_b) = (
        _members(t.astype(wide), slots) for t, slots in zip(rows, (read, written), strict=True)
    )
    if shape[axis] == rotary_dims:
        sums = (_joined(g_a * a, g_b * b, written), _joined(-g_a * b, g_b * a, written))
    else:
        sums = (g_a * a + g_b * b, g_b * a - g_a * b)
    of_cos, of_sin = (sum_to(jnp.moveaxis(t, -1, axis), shape).astype(dtype) for t in sums)
    return of_cos, of_sin


def sum_to(t: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """The sums along the axes where `shape` has 1 and t has more."""
    axes = tuple(i for i, (own, to) in enumerate(zip(t.shape, shape, strict=True)) if own != to)
    return jnp.sum(t, axes, keepdims=True) if axes else t
