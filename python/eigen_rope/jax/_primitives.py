# SPDX-License-Identifier: Apache-2.0
"""Three primitives of JAX, with all that its transformations ask of one.

With R the rotation and T the same rotation with zeros outside the window, all derivatives are
primitives again, so they have derivatives of any order, forward and backward:

    rotate          dy = R dx + T(x; dcos, dsin), and for the inverse dy = R dx - R T(y; dcos, dsin)
                    transposed: dx = R^T g,  d(cos, sin) = table_gradient(x, g)
    table_gradient  bilinear in x and g: <v, table_gradient(x, g)> = <g, T(x; v)>
    table           with angle t: dcos = -sin dt,  dsin = cos dt

All arrays of a rotation have the same number of axes, and each axis is as long as y's, or 1: of x
as well, so that vmap adds an axis to every operand, and nothing is moved or repeated in memory.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from eigen_rope.jax import _formula

_MOST_AXES = 8  # of the library
_TRANSPOSED = {"forward": "backward", "backward": "forward"}


def _primitive(name: str, multiple_results: bool = False) -> Any:
    """A primitive that runs, outside of any transformation, as a compiled program of its own."""
    primitive = Primitive(name)
    primitive.multiple_results = multiple_results

    @functools.cache
    def compiled(**params: Any) -> Any:
        return jax.jit(functools.partial(primitive.bind, **params))

    def run(*operands: Any, **params: Any) -> Any:
        # Without jit, too, as JAX's own primitives do.
        with jax.disable_jit(False):
            return compiled(**params)(*operands)

    primitive.def_impl(run)
    return primitive


_rotate_p = _primitive("eigen_rope_rotate")
_table_gradient_p = _primitive("eigen_rope_table_gradient", multiple_results=True)
_table_p = _primitive("eigen_rope_table", multiple_results=True)


def _varying(t: Any) -> frozenset[Any]:
    """The axes of a mesh along which the devices of a shard_map have arrays of their own."""
    aval = jax.typeof(t) if hasattr(jax, "typeof") else None
    manual = getattr(aval, "mat", None)
    found = getattr(aval, "vma", frozenset()) if manual is None else manual.varying
    return frozenset(found)


def _aligned(*operands: Any) -> Sequence[Any]:
    """The operands as a shard_map wants those of one operation: all of them vary likewise."""
    axes = [_varying(t) for t in operands]
    everything = frozenset().union(*axes)
    if all(own == everything for own in axes):
        return operands
    if hasattr(jax.lax, "pcast"):
        vary = functools.partial(jax.lax.pcast, to="varying")
    else:
        vary = jax.lax.pvary
    return [
        t if own == everything else vary(t, tuple(everything - own))
        for t, own in zip(operands, axes, strict=True)
    ]


def rotate(x: Any, cos: Any, sin: Any, **params: Any) -> Any:
    """rotary_dims and axis are not negative; outside is copy or zero."""
    return _rotate_p.bind(*_aligned(x, cos, sin), **params)


def _table_gradient(x: Any, g: Any, **params: Any) -> Any:
    return _table_gradient_p.bind(*_aligned(x, g), **params)


def table(rates: Any, positions: Any, *, attention_factor: float, dtype: Any) -> Any:
    """rates [terms, groups, pairs] and positions [groups or 1, ...] to [groups, ..., pairs]."""
    operands = _aligned(rates, positions)
    return _table_p.bind(*operands, attention_factor=attention_factor, dtype=dtype)


# Shapes.


def _together(*shapes: Sequence[Any]) -> tuple[Any, ...]:
    full = []
    for extents in zip(*shapes, strict=True):
        longer = [extent for extent in extents if not _is_one(extent)]
        full.append(longer[0] if longer else 1)
    return tuple(full)


def _is_one(extent: Any) -> bool:
    return isinstance(extent, int) and extent == 1


def _rotate_shape(x: Any, cos: Any, sin: Any, *, axis: int, **_: Any) -> Any:
    full = list(_together(x.shape, cos.shape))
    full[axis] = x.shape[axis]
    return x.update(shape=tuple(full), weak_type=False)


def _table_gradient_shape(x: Any, g: Any, *, shape: Any, dtype: Any, **_: Any) -> Any:
    return [x.update(shape=shape, dtype=dtype, weak_type=False)] * 2


def _table_shape(rates: Any, positions: Any, *, dtype: Any, attention_factor: float) -> Any:
    shape = (rates.shape[1], *positions.shape[1:], rates.shape[2])
    return [jax.core.ShapedArray(shape, dtype)] * 2


_rotate_p.def_abstract_eval(_rotate_shape)
_table_gradient_p.def_abstract_eval(_table_gradient_shape)
_table_p.def_abstract_eval(_table_shape)


# On the CPU: the handlers of src/jax. Neighbouring axes that are alike in all arrays are one axis
# to them, so the library's limit of eight counts axes that differ.


def _merged(shapes: Sequence[Sequence[Any]], axis: int) -> tuple[list[tuple[Any, ...]], int]:
    """The shapes with fewer axes, and where the axis of the features is then."""
    merged: list[list[Any]] = [[] for _ in shapes]
    new_axis = 0
    before: Any = None
    for i, extents in enumerate(zip(*shapes, strict=True)):
        ones = tuple(_is_one(extent) for extent in extents)
        if i == axis:
            new_axis = len(merged[0])
            before = None
        elif all(ones):
            continue
        elif ones == before:
            for shape, extent in zip(merged, extents, strict=True):
                shape[-1] = shape[-1] * extent
            continue
        else:
            before = ones
        for shape, extent in zip(merged, extents, strict=True):
            shape.append(extent)
    return [tuple(shape) for shape in merged], new_axis


def _call(name: str, results: Sequence[Any], aliases: dict[int, int] | None = None) -> Any:
    return jax.ffi.ffi_call(name, results, vmap_method="sequential", input_output_aliases=aliases)


def _window(axis: int, rotary_dims: int, offset: int) -> dict[str, Any]:
    return {
        "axis": np.int64(axis),
        "rotary_dims": np.int64(rotary_dims),
        "offset": np.int64(offset),
    }


def _rotate_cpu(
    x: Any,
    cos: Any,
    sin: Any,
    *,
    pairing: str,
    direction: str,
    rotary_dims: int,
    offset: int,
    axis: int,
    outside: str,
    donate: bool,
) -> Any:
    full = list(_together(x.shape, cos.shape))
    full[axis] = x.shape[axis]
    in_place = donate and x.shape == tuple(full)
    if in_place and x.ndim <= _MOST_AXES:
        # XLA copies an x that is reshaped on its way to a result in its memory.
        (of_x, of_table, of_y), new_axis = (x.shape, cos.shape, x.shape), axis
    else:
        (of_x, of_table, of_y), new_axis = _merged((x.shape, cos.shape, full), axis)
    call = _call(
        "eigen_rope_jax_rotate",
        [jax.ShapeDtypeStruct(of_y, x.dtype)],
        {0: 0} if in_place else None,
    )
    (y,) = call(
        x.reshape(of_x),
        cos.reshape(of_table),
        sin.reshape(of_table),
        pairing=pairing,
        direction=direction,
        outside=outside,
        **_window(new_axis, rotary_dims, offset),
    )
    return y.reshape(tuple(full))


def _table_gradient_cpu(
    x: Any,
    g: Any,
    *,
    shape: tuple[Any, ...],
    dtype: Any,
    pairing: str,
    rotary_dims: int,
    offset: int,
    axis: int,
) -> Any:
    (of_x, of_g, of_table), new_axis = _merged((x.shape, g.shape, shape), axis)
    call = _call("eigen_rope_jax_table_gradient", [jax.ShapeDtypeStruct(of_table, dtype)] * 2)
    window = _window(new_axis, rotary_dims, offset)
    sums = call(x.reshape(of_x), g.reshape(of_g), pairing=pairing, **window)
    return [t.reshape(shape) for t in sums]


def _table_cpu(rates: Any, positions: Any, *, attention_factor: float, dtype: Any) -> Any:
    groups, *outer = positions.shape
    count = functools.reduce(lambda a, b: a * b, outer, 1)
    flat = jax.ShapeDtypeStruct((rates.shape[1], count, rates.shape[2]), dtype)
    call = _call("eigen_rope_jax_table", [flat] * 2)
    made = call(
        rates, positions.reshape(groups, count), attention_factor=np.float64(attention_factor)
    )
    return [t.reshape(rates.shape[1], *outer, rates.shape[2]) for t in made]


def _table_elsewhere(rates: Any, positions: Any, *, attention_factor: float, dtype: Any) -> Any:
    """Exact tables are made by the host, and moved: one copy of tokens * pairs entries."""
    shape = (rates.shape[1], *positions.shape[1:], rates.shape[2])
    result = jax.ShapeDtypeStruct(shape, dtype)
    host = functools.partial(table_on_host, attention_factor=attention_factor, dtype=dtype)
    return jax.pure_callback(host, [result] * 2, rates, positions, vmap_method="sequential")


def table_on_host(
    rates: Any, positions: Any, *, attention_factor: float, dtype: Any
) -> list[np.ndarray[Any, Any]]:
    """The primitive `table` for arrays of numpy."""
    import eigen_rope

    rates, positions = np.asarray(rates), np.asarray(positions)
    shape = (rates.shape[1], *positions.shape[1:], rates.shape[2])
    made = [np.empty(shape, dtype) for _ in range(2)]
    if made[0].size == 0:
        return made
    for group in range(rates.shape[1]):
        terms = rates[:, group].astype(np.float64)
        high = terms.sum(0)
        low = [math.fsum([*column, -sum_]) for column, sum_ in zip(terms.T, high, strict=True)]
        frequencies = eigen_rope.Frequencies.__new__(eigen_rope.Frequencies)
        pairs = list(zip(high.tolist(), low, strict=True))
        frequencies.__setstate__((pairs, (attention_factor, 0.0)))
        ids = eigen_rope.Positions.ids(positions[min(group, positions.shape[0] - 1)].reshape(-1))
        cache = eigen_rope.Cache(frequencies, ids, dtype=np.dtype(dtype).name, layout="sd")
        for entries, of_group in zip(made, (cache.cos, cache.sin), strict=True):
            entries[group] = of_group.reshape(shape[1:])
    return made


def _lowered(primitive: Any, on_cpu: Callable[..., Any], elsewhere: Callable[..., Any]) -> None:
    several = primitive.multiple_results
    for function, platform in ((elsewhere, None), (on_cpu, "cpu")):
        rule = mlir.lower_fun(function, multiple_results=several)
        mlir.register_lowering(primitive, rule, platform=platform)


_lowered(_rotate_p, _rotate_cpu, _formula.rotate)
_lowered(_table_gradient_p, _table_gradient_cpu, _formula.table_gradient)
_lowered(_table_p, _table_cpu, _table_elsewhere)


# Derivatives.


def _is_zero(tangent: Any) -> bool:
    return type(tangent) is ad.Zero or tangent.dtype == jax.dtypes.float0


def _instantiated(tangent: Any, like: Any) -> Any:
    return jnp.zeros_like(like) if _is_zero(tangent) else tangent


def _added(parts: Sequence[Any]) -> Any:
    return functools.reduce(lambda a, b: a + b, parts)


def _rotate_jvp(primals: Any, tangents: Any, *, outside: str, donate: bool, **params: Any) -> Any:
    x, cos, sin = primals
    dx, dcos, dsin = tangents
    y = rotate(x, cos, sin, outside=outside, donate=donate, **params)
    parts = []
    if not _is_zero(dx):
        parts.append(rotate(dx, cos, sin, outside=outside, donate=donate, **params))
    if not (_is_zero(dcos) and _is_zero(dsin)):
        entries = _instantiated(dcos, cos), _instantiated(dsin, sin)
        if params["direction"] == "inverse":
            turn = {**params, "direction": "forward"}
            wrong = rotate(y, *entries, outside="zero", donate=False, **turn)
            parts.append(rotate(-wrong, cos, sin, outside="copy", donate=True, **params))
        else:
            parts.append(rotate(x, *entries, outside="zero", donate=False, **params))
    return y, _added(parts)


def _rotate_transpose(
    g: Any,
    x: Any,
    cos: Any,
    sin: Any,
    *,
    pairing: str,
    direction: str,
    rotary_dims: int,
    offset: int,
    axis: int,
    outside: str,
    donate: bool,
) -> Any:
    of_x = ad.is_undefined_primal(x)
    of_table = [ad.is_undefined_primal(t) for t in (cos, sin)]
    if type(g) is ad.Zero:
        operands = (x, cos, sin)
        return [ad.Zero(t.aval) if ad.is_undefined_primal(t) else None for t in operands]
    window = {"pairing": pairing, "rotary_dims": rotary_dims, "offset": offset, "axis": axis}
    if of_x and not any(of_table):
        entries, turn = (cos, sin), _TRANSPOSED.get(direction, "forward")
        if direction == "inverse":
            entries = _formula.inverse_table(
                cos, sin, pairing=pairing, rotary_dims=rotary_dims, axis=axis
            )
        dx = rotate(g, *entries, direction=turn, outside=outside, donate=donate, **window)
        return [_formula.sum_to(dx, x.aval.shape), None, None]
    if of_x or direction == "inverse":
        raise ValueError(
            "[rope] a rotation must be linear in what it is transposed in, which is x, or the table"
        )
    like = next(t for t in (cos, sin) if ad.is_undefined_primal(t)).aval
    pair = (x, g) if direction == "forward" else (g, x)
    sums = _table_gradient(*pair, shape=like.shape, dtype=like.dtype, **window)
    return [None, *(t if wanted else None for t, wanted in zip(sums, of_table, strict=True))]


def _table_gradient_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    x, g = primals
    dx, dg = tangents
    pairs = [pair for pair, t in (((dx, g), dx), ((x, dg), dg)) if not _is_zero(t)]
    parts = [_table_gradient(*pair, **params) for pair in pairs]
    return _table_gradient(x, g, **params), [_added(t) for t in zip(*parts, strict=True)]


def _table_gradient_transpose(
    v: Any, x: Any, g: Any, *, shape: Any, dtype: Any, axis: int, **params: Any
) -> Any:
    entries = [jnp.zeros(shape, dtype) if type(t) is ad.Zero else t for t in v]
    turn: dict[str, Any] = {"axis": axis, "outside": "zero", "donate": False, **params}
    if ad.is_undefined_primal(x):
        dx = rotate(g, *entries, direction="backward", **turn)
        return [_formula.sum_to(dx, x.aval.shape), None]
    dg = rotate(x, *entries, direction="forward", **turn)
    return [None, _formula.sum_to(dg, g.aval.shape)]


def _table_jvp(primals: Any, tangents: Any, *, attention_factor: float, dtype: Any) -> Any:
    rates, positions = primals
    d_rates, d_positions = tangents
    cos, sin = table(rates, positions, attention_factor=attention_factor, dtype=dtype)
    wide = jnp.promote_types(rates.dtype, jnp.promote_types(dtype, jnp.float32))

    def of_rates(t: Any) -> Any:
        sums = jnp.sum(t.astype(wide), 0)
        return sums.reshape(t.shape[1], *[1] * (positions.ndim - 1), t.shape[2])

    parts = []
    if not _is_zero(d_rates):
        parts.append(positions.astype(wide)[..., None] * of_rates(d_rates))
    if not _is_zero(d_positions):
        parts.append(d_positions.astype(wide)[..., None] * of_rates(rates))
    angle = _added(parts)
    # By the entries that the rotation reads.
    return [cos, sin], [
        (-sin.astype(wide) * angle).astype(dtype),
        (cos.astype(wide) * angle).astype(dtype),
    ]


ad.primitive_jvps[_rotate_p] = _rotate_jvp
ad.primitive_jvps[_table_gradient_p] = _table_gradient_jvp
ad.primitive_jvps[_table_p] = _table_jvp
ad.primitive_transposes[_rotate_p] = _rotate_transpose
ad.primitive_transposes[_table_gradient_p] = _table_gradient_transpose


# vmap: an axis more, where the operand that is mapped has it.


def _mapped(operands: Sequence[Any], dims: Sequence[int | None]) -> tuple[int, Any]:
    """Where the first operand that is mapped has the axis, and how long it is."""
    return next(
        (dim, t.shape[dim]) for t, dim in zip(operands, dims, strict=True) if dim is not None
    )


def _with_axis(t: Any, dim: int | None, place: int) -> Any:
    return jnp.expand_dims(t, place) if dim is None else jnp.moveaxis(t, dim, place)


def _rotate_batched(operands: Any, dims: Any, *, axis: int, **params: Any) -> Any:
    place, size = _mapped(operands, dims)
    x, cos, sin = (_with_axis(t, dim, place) for t, dim in zip(operands, dims, strict=True))
    if (dims[1] is None) != (dims[2] is None):
        # A cosine and its sine lie at the same place of two arrays.
        shape = (*cos.shape[:place], size, *cos.shape[place + 1 :])
        cos, sin = jnp.broadcast_to(cos, shape), jnp.broadcast_to(sin, shape)
    y = rotate(x, cos, sin, axis=axis + (place <= axis), **params)
    return y, place


def _table_gradient_batched(
    operands: Any, dims: Any, *, shape: Any, axis: int, **params: Any
) -> Any:
    place, size = _mapped(operands, dims)
    x, g = (_with_axis(t, dim, place) for t, dim in zip(operands, dims, strict=True))
    shape = (*shape[:place], size, *shape[place:])
    sums = _table_gradient(x, g, shape=shape, axis=axis + (place <= axis), **params)
    return sums, (place, place)


def _table_batched(operands: Any, dims: Any, **params: Any) -> Any:
    rates, positions = operands
    of_rates, of_positions = dims
    if of_rates is None:
        return table(rates, jnp.moveaxis(positions, of_positions, 1), **params), (1, 1)
    size = rates.shape[of_rates]
    rates = jnp.moveaxis(rates, of_rates, 1)
    terms, _, groups, pairs = rates.shape
    rates = rates.reshape(terms, size * groups, pairs)
    if of_positions is not None or positions.shape[0] != 1:
        positions = _with_axis(positions, of_positions, 0)
        outer = positions.shape[2:]
        positions = jnp.broadcast_to(positions, (size, groups, *outer))
        positions = positions.reshape(size * groups, *outer)
    made = table(rates, positions, **params)
    return [t.reshape(size, groups, *t.shape[1:]) for t in made], (0, 0)


batching.primitive_batchers[_rotate_p] = _rotate_batched
batching.primitive_batchers[_table_gradient_p] = _table_gradient_batched
batching.primitive_batchers[_table_p] = _table_batched
