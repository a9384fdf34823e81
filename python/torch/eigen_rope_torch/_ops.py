# SPDX-License-Identifier: Apache-2.0
"""What PyTorch must know of the operators besides their kernels on the CPU.

Each operator has here its result without data (torch.compile), its derivatives (backward and
forward mode), its rule for torch.vmap, and what it does on other devices. The kernels and the
schemas are in src/ops.cpp.

With R the rotation and T the same rotation with zeros outside the window, all derivatives are
operators again, so they have derivatives of any order:

    rotate          dx = R^T g     d(cos, sin) = table_gradient(x, g)
                    dy = R dx + T(x; dcos, dsin)
    table_gradient  bilinear in x and g: <v, table_gradient(x, g)> = <g, T(x; v)>
    table           with angle t: dcos = -sin dt + cos dm / m,  dsin = cos dt + sin dm / m
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import torch
from torch import Tensor
from torch._functorch.utils import enable_single_level_autograd_function, unwrap_dead_wrappers
from torch.autograd import forward_ad
from torch.autograd.function import _SingleLevelFunction

from . import _formula


def _load() -> None:
    for folder in (Path(__file__).parent, *map(Path, _package_folders())):
        library = folder / "libeigen_rope_torch.so"
        if library.exists():
            torch.ops.load_library(str(library))
            return
    raise ImportError(
        f"eigen_rope_torch has no operators in {Path(__file__).parent}; install it "
        "with pip install --no-build-isolation ./python/torch"
    )


def _package_folders() -> list[str]:
    # An editable install keeps the compiled part elsewhere.
    spec = importlib.util.find_spec(__package__)
    return list(spec.submodule_search_locations or ()) if spec is not None else []


_load()

_ops = torch.ops.eigen_rope
rotate = _ops.rotate.default
rotate_ = _ops.rotate_.default
table_gradient = _ops.table_gradient.default
table = _ops.table.default

_TRANSPOSED = {"forward": "backward", "backward": "forward"}
below_autograd = torch._C._AutoDispatchBelowAutograd


def _redispatch(op, keyset, *args):
    """The operator below autograd: its kernel, or the next of torch.func's transforms."""
    keyset &= torch._C._after_autograd_keyset
    with below_autograd():
        if not torch._C._are_functorch_transforms_active():
            return op.redispatch(keyset, *args)
        # Inside a Function nothing is recorded, but what lies below must be.
        with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True):
            return op.redispatch(keyset, *args)


def differentiated(a: Tensor, b: Tensor, c: Tensor) -> bool:
    """Whether a derivative may be asked for, backward or forward."""
    if forward_ad._current_level >= 0:
        return True
    return torch.is_grad_enabled() and (a.requires_grad or b.requires_grad or c.requires_grad)


def _inverse_transposed(x, cos, sin, pairing, rotary_dims, offset, axis):
    """The transpose of the inverse rotation, which is a rotation by another table."""
    width = _formula.window(x.shape[axis], rotary_dims, offset)
    cos, sin = _formula.inverse_table(cos, sin, width, pairing, axis)
    return rotate(x, cos, sin, pairing, "forward", rotary_dims, offset, axis, "copy")


class _Function(_SingleLevelFunction):
    """A function that runs below torch.func's transforms, as an operator's kernel does.

    torch.autograd.Function is for functions that are called above them.
    """

    @classmethod
    def apply(cls, *args):
        if not torch._C._are_functorch_transforms_active():
            return super().apply(*args)
        with enable_single_level_autograd_function():
            return super().apply(*unwrap_dead_wrappers(args))


class _Rotate(_Function):
    """y = R x, in all three directions."""

    @staticmethod
    def forward(keyset, x, cos, sin, *options):
        return _redispatch(rotate, keyset, x, cos, sin, *options)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, x, cos, sin, *ctx.options = inputs
        _save_rotation(ctx, x, cos, sin, output, ctx.needs_input_grad[2:4])

    @staticmethod
    def backward(ctx, g):
        of_x, *of_table = ctx.needs_input_grad[1:4]
        gradients = _rotation_backward(ctx, g, of_x, any(of_table))
        return None, *gradients, *[None] * len(ctx.options)

    @staticmethod
    def jvp(ctx, _, dx, dcos, dsin, *__):
        return _rotation_jvp(ctx, dx, dcos, dsin)


class _RotateInplace(_Function):
    """x = R x. `before` is x, or a copy of it where the table has a gradient."""

    @staticmethod
    def forward(keyset, x, before, cos, sin, *options):
        _redispatch(rotate_, keyset, x, cos, sin, *options)
        return x

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, x, before, cos, sin, *options = inputs
        ctx.mark_dirty(x)
        ctx.options = (*options, "copy")
        _save_rotation(ctx, before, cos, sin, output, ctx.needs_input_grad[3:5])

    @staticmethod
    def backward(ctx, g):
        of_x, _, *of_table = ctx.needs_input_grad[1:5]
        dx, dcos, dsin = _rotation_backward(ctx, g, of_x, any(of_table))
        return None, dx, None, dcos, dsin, *[None] * (len(ctx.options) - 1)

    @staticmethod
    def jvp(ctx, _, dx, __, dcos, dsin, *___):
        # Forward mode asks for the tangent of x to be changed in place, too.
        dy = _rotation_jvp(ctx, dx, dcos, dsin)
        return dy if dx is None else dx.copy_(dy)


def _save_rotation(ctx, x, cos, sin, y, of_table) -> None:
    """Keeps the table, and the rotation's end that the table's derivatives need."""
    forward_mode = forward_ad._current_level >= 0
    end = y if ctx.options[1] == "inverse" else x
    saved = (end if forward_mode or any(of_table) else None, cos, sin)
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*saved)
    if forward_mode:
        ctx.save_for_forward(*saved)


def _rotation_backward(ctx, g, of_x: bool, of_table: bool):
    """The gradients of x, cos and sin that are wanted."""
    if g is None:
        return None, None, None
    kept, cos, sin = ctx.saved_tensors
    pairing, direction, rotary_dims, offset, axis, outside = ctx.options
    window = (rotary_dims, offset, axis)
    dx = dcos = dsin = None
    if direction == "inverse":
        dx = _inverse_transposed(g, cos, sin, pairing, *window)
        if of_table:
            dcos, dsin = table_gradient(kept, -dx, cos, pairing, *window)
    else:
        if of_x:
            dx = rotate(g, cos, sin, pairing, _TRANSPOSED[direction], *window, outside)
        if of_table:
            pair = (kept, g) if direction == "forward" else (g, kept)
            dcos, dsin = table_gradient(*pair, cos, pairing, *window)
    return dx if of_x else None, dcos, dsin


def _rotation_jvp(ctx, dx, dcos, dsin):
    kept, cos, sin = ctx.saved_tensors
    pairing, direction, rotary_dims, offset, axis, outside = ctx.options
    window = (rotary_dims, offset, axis)
    by_table = None
    if dcos is not None or dsin is not None:
        dcos = torch.zeros_like(cos) if dcos is None else dcos
        dsin = torch.zeros_like(sin) if dsin is None else dsin
        turn = "forward" if direction == "inverse" else direction
        by_table = rotate(kept, dcos, dsin, pairing, turn, *window, "zero")
        if direction == "inverse":
            by_table = rotate(-by_table, cos, sin, pairing, "inverse", *window, outside)
    by_x = None if dx is None else rotate(dx, cos, sin, pairing, direction, *window, outside)
    if by_x is None or by_table is None:
        return by_table if by_x is None else by_x
    return by_x + by_table


class _TableGradient(_Function):
    @staticmethod
    def forward(keyset, x, g, like, *options):
        return _redispatch(table_gradient, keyset, x, g, like, *options)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, x, g, ctx.like, *ctx.options = inputs
        ctx.save_for_backward(x, g)
        ctx.save_for_forward(x, g)

    @staticmethod
    def backward(ctx, v_cos, v_sin):
        x, g = ctx.saved_tensors
        pairing, *window = ctx.options
        dx = dg = None
        if ctx.needs_input_grad[1]:
            dx = rotate(g, v_cos, v_sin, pairing, "backward", *window, "zero")
        if ctx.needs_input_grad[2]:
            dg = rotate(x, v_cos, v_sin, pairing, "forward", *window, "zero")
        return None, dx, dg, None, *[None] * len(ctx.options)

    @staticmethod
    def jvp(ctx, _, dx, dg, *__):
        x, g = ctx.saved_tensors
        parts = [
            table_gradient(*pair, ctx.like, *ctx.options)
            for pair in ((dx, g), (x, dg))
            if pair[0] is not None and pair[1] is not None
        ]
        return tuple(sum(t[1:], t[0]) for t in zip(*parts, strict=True)) if parts else (None, None)


class _Table(_Function):
    @staticmethod
    def forward(keyset, rates, positions, low_rates, attention_factor, dtype):
        return _redispatch(table, keyset, rates, positions, low_rates, attention_factor, dtype)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, rates, positions, *_ = inputs
        ctx.save_for_backward(rates, positions, *output)
        ctx.save_for_forward(rates, positions, *output)

    @staticmethod
    def backward(ctx, g_cos, g_sin):
        rates, positions, cos, sin = ctx.saved_tensors
        # In double, and with the entries of the table that the rotation read.
        of_angle = cos.double() * g_sin - sin.double() * g_cos
        of_rates = of_positions = None
        if ctx.needs_input_grad[1]:
            of_rates = (of_angle * positions.double()[..., None]).sum_to_size(rates.shape)
        if ctx.needs_input_grad[2]:
            of_positions = (of_angle * rates).sum(-1).to(positions.dtype)
        return None, of_rates, of_positions, None, None, None

    @staticmethod
    def jvp(ctx, _, d_rates, d_positions, *__):
        rates, positions, cos, sin = ctx.saved_tensors
        angle = 0.0
        if d_rates is not None:
            angle = positions.double()[..., None] * d_rates
        if d_positions is not None:
            angle = angle + d_positions.double()[..., None] * rates
        return (-sin * angle).to(cos.dtype), (cos * angle).to(sin.dtype)


def _refuse_leaf(x: Tensor) -> None:
    for t in (x, x._base):
        if t is not None and t.requires_grad and t.is_leaf:
            raise RuntimeError(
                "[rope] x must not be a leaf that requires grad, which a rotation "
                "in place would overwrite; rotate a copy of it"
            )


def _rotate_autograd(keyset, x, cos, sin, *options):
    if differentiated(x, cos, sin):
        return _Rotate.apply(keyset, x, cos, sin, *options)
    return _redispatch(rotate, keyset, x, cos, sin, *options)


def _rotate_inplace_autograd(keyset, x, cos, sin, *options):
    if differentiated(x, cos, sin):
        if torch.is_grad_enabled():
            _refuse_leaf(x)
        of_table = forward_ad._current_level >= 0 or cos.requires_grad or sin.requires_grad
        before = x.clone() if of_table else x
        _RotateInplace.apply(keyset, x, before, cos, sin, *options)
        return
    torch.autograd.graph.increment_version(x)
    _redispatch(rotate_, keyset, x, cos, sin, *options)


def _table_gradient_autograd(keyset, x, g, like, *options):
    if differentiated(x, g, g):
        return _TableGradient.apply(keyset, x, g, like.detach(), *options)
    return _redispatch(table_gradient, keyset, x, g, like, *options)


def _table_autograd(keyset, rates, positions, low_rates, attention_factor, dtype):
    if differentiated(rates, positions, rates):
        return _Table.apply(keyset, rates, positions, low_rates, attention_factor, dtype)
    return _redispatch(table, keyset, rates, positions, low_rates, attention_factor, dtype)


def _rotate_inplace_elsewhere(x, cos, sin, *options):
    if 0 in x.stride() and x.numel() > 1:
        raise ValueError(
            f"[rope] x must not repeat elements to be written, got strides {x.stride()}"
        )
    x.copy_(_formula.rotate(x, cos, sin, *options, "copy"))


def _table_elsewhere(rates, positions, low_rates, attention_factor, dtype):
    # Exact tables are made on the CPU and moved, which is one copy of tokens * pairs entries.
    low = None if low_rates is None else low_rates.cpu()
    entries = table(rates.cpu(), positions.cpu(), low, attention_factor, dtype)
    return tuple(t.to(positions.device) for t in entries)


def _table_shape(rates, positions, low_rates, attention_factor, dtype):
    shape = (*positions.shape, rates.shape[-1])
    return tuple(positions.new_empty(shape, dtype=dtype) for _ in range(2))


def _with_axis(t: Tensor, dim: int | None, size: int, rank: int) -> Tensor:
    """t with the mapped axis first, and `rank` axes behind it."""
    t = t.movedim(dim, 0) if dim is not None else t.expand(size, *t.shape)
    return t[(slice(None),) + (None,) * (rank + 1 - t.dim())]


def _rotate_vmap(info, in_dims, x, cos, sin, *options):
    size = info.batch_size
    rank = x.dim() - (in_dims[0] is not None)
    x = _with_axis(x, in_dims[0], size, rank)
    if in_dims[1] is not None or in_dims[2] is not None:
        cos = _with_axis(cos, in_dims[1], size, rank)
        sin = _with_axis(sin, in_dims[2], size, rank)
    return rotate(x, cos, sin, *options), 0


def _table_gradient_vmap(info, in_dims, x, g, like, *options):
    size = info.batch_size
    rank = x.dim() - (in_dims[0] is not None)
    logical = like.dim() - (in_dims[2] is not None)
    x, g = (_with_axis(t, dim, size, rank) for t, dim in ((x, in_dims[0]), (g, in_dims[1])))
    entries = _with_axis(like, in_dims[2], size, logical).shape
    like = _with_axis(like, in_dims[2], size, rank)
    sums = table_gradient(x, g, like, *options)
    return tuple(t.reshape(entries) for t in sums), (0, 0)


def _table_vmap(info, in_dims, rates, positions, low_rates, attention_factor, dtype):
    if in_dims[0] is None and in_dims[2] is None:
        positions = positions.movedim(in_dims[1], 0).contiguous()
        return table(rates, positions, low_rates, attention_factor, dtype), (0, 0)

    def item(t, dim, i):
        return t if dim is None or t is None else t.select(dim, i).contiguous()

    made = [
        table(
            item(rates, in_dims[0], i),
            item(positions, in_dims[1], i),
            item(low_rates, in_dims[2], i),
            attention_factor,
            dtype,
        )
        for i in range(info.batch_size)
    ]
    return tuple(torch.stack(t) for t in zip(*made, strict=True)), (0, 0)


_library = torch.library.Library("eigen_rope", "IMPL")
for _name, _autograd, _elsewhere in (
    ("rotate", _rotate_autograd, _formula.rotate),
    ("rotate_", _rotate_inplace_autograd, _rotate_inplace_elsewhere),
    ("table_gradient", _table_gradient_autograd, _formula.table_gradient),
    ("table", _table_autograd, _table_elsewhere),
):
    _library.impl(_name, _autograd, "Autograd", with_keyset=True)
    _library.impl(_name, _elsewhere, "CompositeExplicitAutograd")

torch.library.register_fake("eigen_rope::rotate", lambda x, *_: torch.empty_like(x))
torch.library.register_fake("eigen_rope::rotate_", lambda *_: None)
torch.library.register_fake(
    "eigen_rope::table_gradient",
    lambda x, g, like, *_: tuple(
        torch.empty(like.shape, dtype=like.dtype, device=like.device) for _ in range(2)
    ),
)
torch.library.register_fake("eigen_rope::table", _table_shape)
torch.library.register_vmap("eigen_rope::rotate", _rotate_vmap)
torch.library.register_vmap("eigen_rope::table_gradient", _table_gradient_vmap)
torch.library.register_vmap("eigen_rope::table", _table_vmap)
