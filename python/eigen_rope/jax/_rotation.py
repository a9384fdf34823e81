# SPDX-License-Identifier: Apache-2.0
"""Rotations of arrays of JAX, and the tables that they read."""

from __future__ import annotations

import math
import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike, DTypeLike

from eigen_rope._core import Frequencies, Pairing
from eigen_rope.jax import _formula, _primitives

_SCALARS = tuple(jnp.dtype(t) for t in (jnp.float16, jnp.bfloat16, jnp.float32, jnp.float64))
_WIDE = _SCALARS[2:]
_NAMES = "float16, bfloat16, float32 or float64"


def rotate(
    x: ArrayLike,
    cos: ArrayLike,
    sin: ArrayLike,
    pairing: str | Pairing = "split_half",
    *,
    direction: str = "forward",
    rotary_dims: int | None = None,
    offset: int = 0,
    axis: int = -1,
    donate: bool = False,
) -> jax.Array:
    """Returns x with each pair (a, b) turned: c a - s b and c b + s a.

    x has any number of axes, of float16, bfloat16, float32 or float64. cos and sin have x's type,
    or float32 where x has 16 bits. Their axes are the last ones of x; each is as long as x's, or
    1, and `axis` has one entry for each pair, or one for each rotated element.

    pairing is split_half, interleaved, quarter or interleaved_to_split_half, for the whole row or
    for `rotary_dims` elements from `offset`; other elements are copied. A Pairing of eigen_rope
    says all of this at once. direction is forward, backward (the transpose) or inverse. axis is
    the axis of x that rows lie along.

    With donate, the result takes x's memory inside a jit where nothing else needs x: where x was
    made there, or is an argument that is donated. Elsewhere XLA copies x first.

    It has derivatives of any order in x, cos and sin, forward and backward.

    Raises:
        ValueError: for shapes, windows and names that do not fit, in one sentence.
        TypeError: for other scalars, and for what is no array.
    """
    x, cos, sin = (_array(t, name) for t, name in ((x, "x"), (cos, "cos"), (sin, "sin")))
    if isinstance(pairing, Pairing):
        if (rotary_dims, offset, axis) != (None, 0, -1):
            raise ValueError(
                "[rope] rotary_dims, offset and axis must be those of the Pairing, got others "
                "beside it"
            )
        rotary_dims, offset, axis = pairing.rotary_dims, pairing.offset, pairing.axis
        pairing = pairing.kind
    window = _window(x, cos, sin, pairing, direction, rotary_dims, offset, axis)
    # A table of fewer axes than x has its own last ones.
    cos, sin = (t.reshape((1,) * (x.ndim - t.ndim) + t.shape) for t in (cos, sin))
    return _primitives.rotate(
        x, cos, sin, direction=direction, outside="copy", donate=bool(donate), **window
    )


def rotate_backward(
    x: ArrayLike,
    cos: ArrayLike,
    sin: ArrayLike,
    pairing: str | Pairing = "split_half",
    *,
    rotary_dims: int | None = None,
    offset: int = 0,
    axis: int = -1,
    donate: bool = False,
) -> jax.Array:
    """Returns the transposed rotation of x, the gradient of rotate(): c a + s b and c b - s a."""
    return rotate(
        x,
        cos,
        sin,
        pairing,
        direction="backward",
        rotary_dims=rotary_dims,
        offset=offset,
        axis=axis,
        donate=donate,
    )


def rotate_inverse(
    x: ArrayLike,
    cos: ArrayLike,
    sin: ArrayLike,
    pairing: str | Pairing = "split_half",
    *,
    rotary_dims: int | None = None,
    offset: int = 0,
    axis: int = -1,
    donate: bool = False,
) -> jax.Array:
    """Returns what rotate() turns into x: the transpose over the determinant of the table.

    It differs from rotate_backward() where the table has an attention factor.
    """
    return rotate(
        x,
        cos,
        sin,
        pairing,
        direction="inverse",
        rotary_dims=rotary_dims,
        offset=offset,
        axis=axis,
        donate=donate,
    )


def table(
    rates: ArrayLike | Frequencies,
    positions: ArrayLike,
    *,
    attention_factor: float = 1.0,
    dtype: DTypeLike = jnp.float32,
    low_rates: ArrayLike | None = None,
) -> tuple[jax.Array, jax.Array]:
    """Returns cos and sin of positions times rates, times the attention factor.

    rates is [pairs] in radians per token, of float32 or float64. positions has any shape, of
    integers or floats; the results are [*positions.shape, pairs]. Angles are reduced exactly at any
    position, and entries are rounded once to dtype. rates and positions of a floating type have
    derivatives of any order.

    An array of numpy of float64 keeps all its bits, with jax_enable_x64 and without. low_rates are
    what rates have no room for. Frequencies of eigen_rope, such as those of a model's
    configuration, have both, and their own attention factor.

    Raises:
        ValueError: for shapes that do not fit, in one sentence.
        TypeError: for other scalars, and for what is no array.
        jax.errors.JaxRuntimeError: for rates and positions that are not finite.
    """
    if isinstance(rates, Frequencies):
        if low_rates is not None or attention_factor != 1.0:
            raise ValueError(
                "[rope] low_rates and attention_factor must be those of the Frequencies, got "
                "others beside them"
            )
        pairs, (attention_factor, _) = rates.__getstate__()
        rates, low_rates = (np.array(t, np.float64) for t in zip(*pairs, strict=True))
    factor = _factor(attention_factor)
    terms = _terms(rates, "rates")
    if low_rates is not None:
        low = _terms(low_rates, "low_rates")
        if low.shape[1:] != terms.shape[1:]:
            raise ValueError(
                f"[rope] low_rates must have the shape of rates {terms.shape[1:]}, got "
                f"{low.shape[1:]}"
            )
        terms = jnp.concatenate((terms, low.astype(terms.dtype)))
    cos, sin = _primitives.table(
        terms[:, None], _positions(positions)[None], attention_factor=factor, dtype=_entry(dtype)
    )
    return cos[0], sin[0]


def _array(value: Any, name: str) -> jax.Array:
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        raise TypeError(f"[rope] {name} must be an array, got {type(value).__name__}")
    if value.dtype not in _SCALARS:
        raise TypeError(f"[rope] {name} must be of {_NAMES}, got {value.dtype}")
    return jnp.asarray(value)


def _index(value: Any, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"[rope] {name} must be a whole number, got {type(value).__name__}"
        ) from None


def _window(
    x: jax.Array,
    cos: jax.Array,
    sin: jax.Array,
    pairing: str,
    direction: str,
    rotary_dims: int | None,
    offset: int,
    axis: int,
) -> dict[str, Any]:
    """What the primitives take of these; refuses what would compute something else."""
    if pairing not in _formula.PAIRINGS:
        names = ", ".join(_formula.PAIRINGS)
        raise ValueError(f"[rope] pairing must be one of {names}, got {pairing}")
    if direction not in _formula.DIRECTIONS:
        names = ", ".join(_formula.DIRECTIONS)
        raise ValueError(f"[rope] direction must be one of {names}, got {direction}")
    if cos.shape != sin.shape or cos.dtype != sin.dtype:
        raise ValueError(
            f"[rope] sin must have cos's shape {cos.shape} and type {cos.dtype}, got {sin.shape} "
            f"and {sin.dtype}"
        )
    if cos.dtype != x.dtype and not (x.dtype.itemsize == 2 and cos.dtype == jnp.float32):
        raise TypeError(
            f"[rope] the table must have x's type {x.dtype}, or float32 for an x of 16 bits, got "
            f"{cos.dtype}"
        )
    rank, axis, offset = x.ndim, _index(axis, "axis"), _index(offset, "offset")
    if not -rank <= axis < rank:
        raise ValueError(f"[rope] axis must be in [{-rank}, {rank - 1}], got {axis}")
    last = axis if axis < 0 else axis - rank  # counted from the last, which is -1
    row = x.shape[last]
    width = row - offset if rotary_dims is None else _index(rotary_dims, "rotary_dims")
    step = 4 if pairing == "quarter" else 2
    if width <= 0 or width % step != 0:
        raise ValueError(
            f"[rope] rotary_dims must be positive and divisible by {step}, got {width}"
        )
    if offset < 0 or offset + width > row:
        raise ValueError(f"[rope] the window must lie in a row of {row}, got {width} from {offset}")
    if not -last <= cos.ndim <= rank or cos.shape[last] not in (width // 2, width):
        raise ValueError(
            f"[rope] the table must have {width // 2} or {width} entries on axis {last} and at "
            f"most {rank} axes, got shape {cos.shape}"
        )
    for i in range(-cos.ndim, 0):
        if i != last and cos.shape[i] != 1 and cos.shape[i] != x.shape[i]:
            raise ValueError(
                f"[rope] the table must have 1 or {x.shape[i]} on axis {i}, got {cos.shape[i]}"
            )
    return {"pairing": pairing, "rotary_dims": width, "offset": offset, "axis": rank + last}


def _factor(value: Any) -> float:
    if isinstance(value, jax.core.Tracer):
        raise TypeError(
            "[rope] attention_factor must be a number while tracing, got an array that is traced: "
            "multiply cos and sin by it"
        )
    try:
        factor = float(value)
    except TypeError:
        raise TypeError(
            f"[rope] attention_factor must be a number, got {type(value).__name__}"
        ) from None
    if not math.isfinite(factor):
        raise ValueError(f"[rope] attention_factor must be finite, got {factor}")
    return factor


def _terms(rates: Any, name: str) -> jax.Array:
    """[terms, pairs], whose sums over the first axis are the rates."""
    if not hasattr(rates, "shape") or not hasattr(rates, "dtype"):
        raise TypeError(f"[rope] {name} must be an array, got {type(rates).__name__}")
    if rates.dtype not in _WIDE:
        raise TypeError(f"[rope] {name} must be of float32 or float64, got {rates.dtype}")
    if len(rates.shape) != 1 or rates.shape[0] == 0:
        raise ValueError(f"[rope] {name} must have one axis of pairs, got shape {rates.shape}")
    if rates.dtype == np.float64 and not jax.config.jax_enable_x64:
        # JAX would round them to float32. Three floats have room for a double.
        rest, parts = np.asarray(rates), []
        for _ in range(3):
            parts.append(rest.astype(np.float32))
            rest = rest - parts[-1]
        return jnp.asarray(np.stack(parts))
    return jnp.asarray(rates)[None]


def _positions(positions: Any) -> jax.Array:
    if isinstance(positions, int | float) and not isinstance(positions, bool):
        positions = np.asarray(positions)
    if not hasattr(positions, "shape") or not hasattr(positions, "dtype"):
        raise TypeError(f"[rope] positions must be an array, got {type(positions).__name__}")
    dtype = positions.dtype
    if dtype in _WIDE or dtype in (jnp.int32, jnp.int64):
        return _same_positions(positions)
    if dtype in (jnp.int8, jnp.int16, jnp.uint8, jnp.uint16):
        return jnp.asarray(positions).astype(jnp.int32)
    raise TypeError(
        "[rope] positions must be of int8 to int64, uint8, uint16, float32 or float64, as others "
        f"cannot count tokens, got {dtype}"
    )


def _same_positions(positions: Any) -> jax.Array:
    """An array of JAX of the same numbers, of which int64 and float64 may have no room there."""
    made = jnp.asarray(positions)
    if made.dtype != positions.dtype and not np.array_equal(np.asarray(made), positions):
        raise ValueError(
            f"[rope] positions of {positions.dtype} must fit {made.dtype} without jax_enable_x64, "
            f"got {np.max(np.abs(positions))}"
        )
    return made


def _entry(dtype: Any) -> Any:
    refused = TypeError(f"[rope] dtype must be {_NAMES}, got {dtype}")
    try:
        entry = jnp.dtype(dtype)
    except TypeError:
        raise refused from None
    if entry not in _SCALARS:
        raise refused
    if entry == jnp.float64 and not jax.config.jax_enable_x64:
        raise TypeError("[rope] dtype float64 must come with jax_enable_x64, which is off")
    return entry
