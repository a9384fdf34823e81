# SPDX-License-Identifier: Apache-2.0
"""Rotations of tensors, and the tables that they read.

    cos, sin = table(rates, positions)           exact, and differentiable in both
    y = rotate(x, cos[:, None], sin[:, None])    x [..., tokens, heads, D], any strides
    rotate_(x, cos[:, None], sin[:, None])       the same in x's own memory

A table's axes are those of x, the last ones where it has fewer; each is as long as x's, or 1. Its
last axis has one entry for each pair, or one for each rotated element.
"""

from __future__ import annotations

import torch
from torch import Tensor

from . import _ops


def _window(x: Tensor, rotary_dims: int | None, axis: int) -> tuple[int, int]:
    """The width, -1 for a whole row, and the axis counted from the last, as operators take them."""
    return -1 if rotary_dims is None else rotary_dims, axis if axis < 0 else axis - x.dim()


def rotate(
    x: Tensor,
    cos: Tensor,
    sin: Tensor,
    pairing: str = "split_half",
    *,
    direction: str = "forward",
    rotary_dims: int | None = None,
    offset: int = 0,
    axis: int = -1,
) -> Tensor:
    """Returns x with each pair (a, b) turned: c a - s b and c b + s a.

    x has any strides and up to 8 axes, of float16, bfloat16, float32 or float64. cos and sin have
    x's type, or float32 where x has 16 bits; float32 tables round such a result once.

    pairing is split_half, interleaved, quarter or interleaved_to_split_half, for the whole row or
    for `rotary_dims` elements from `offset`; other elements are copied. direction is forward,
    backward (the transpose) or inverse. axis is the axis of x that rows lie along.

    The result has the strides of torch.empty_like(x). It has derivatives of any order in x, cos
    and sin. Errors are RuntimeError or ValueError with one sentence.
    """
    width, along = _window(x, rotary_dims, axis)
    arguments = (x, cos, sin, pairing, direction, width, offset, along, "copy")
    if (
        torch.compiler.is_compiling()
        or torch.is_inference_mode_enabled()
        or torch._C._are_functorch_transforms_active()
        or _ops.differentiated(x, cos, sin)
    ):
        return _ops.rotate(*arguments)
    # A decode step: what records derivatives takes longer than the rotation of a token.
    with _ops.below_autograd():
        return _ops.rotate(*arguments)


def rotate_(
    x: Tensor,
    cos: Tensor,
    sin: Tensor,
    pairing: str = "split_half",
    *,
    direction: str = "forward",
    rotary_dims: int | None = None,
    offset: int = 0,
    axis: int = -1,
) -> Tensor:
    """Rotates x in its own memory and returns it; the arguments are those of rotate().

    x may be a view with any strides, but not repeat elements, overlap the table, or be a leaf that
    requires grad. Nothing is written where something is refused. Backward needs the table alone;
    where the table requires grad, a copy of x is kept for it.
    """
    width, along = _window(x, rotary_dims, axis)
    compiling = torch.compiler.is_compiling()
    transformed = torch._C._are_functorch_transforms_active()
    of_table = cos.requires_grad or sin.requires_grad
    if transformed or (compiling and (x.requires_grad or of_table)):
        # Compilers and torch.func rewrite changes in place, for which they need PyTorch's own.
        before = x.clone() if of_table or transformed else x
        return x.copy_(
            _ops.rotate(before, cos, sin, pairing, direction, width, offset, along, "copy")
        )
    arguments = (x, cos, sin, pairing, direction, width, offset, along)
    if compiling or _ops.differentiated(x, cos, sin):
        _ops.rotate_(*arguments)
        return x
    if not x.is_inference():
        torch.autograd.graph.increment_version(x)
    elif not torch.is_inference_mode_enabled():
        raise RuntimeError(
            "[rope] x must not be a tensor of inference mode outside of it; rotate a copy of it"
        )
    with _ops.below_autograd():
        _ops.rotate_(*arguments)
    return x


def rotate_backward(
    x: Tensor,
    cos: Tensor,
    sin: Tensor,
    pairing: str = "split_half",
    *,
    rotary_dims: int | None = None,
    offset: int = 0,
    axis: int = -1,
) -> Tensor:
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
    )


def rotate_inverse(
    x: Tensor,
    cos: Tensor,
    sin: Tensor,
    pairing: str = "split_half",
    *,
    rotary_dims: int | None = None,
    offset: int = 0,
    axis: int = -1,
) -> Tensor:
    """Returns what rotate() turns into x: the transpose over the determinant of the table.

    It differs from rotate_backward() where the table has an attention factor.
    """
    return rotate(
        x, cos, sin, pairing, direction="inverse", rotary_dims=rotary_dims, offset=offset, axis=axis
    )


def table(
    rates: Tensor,
    positions: Tensor,
    *,
    attention_factor: float = 1.0,
    dtype: torch.dtype = torch.float32,
    low_rates: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Returns cos and sin of positions times rates, times the attention factor.

    rates is [pairs] in radians per token, of float32 or float64. positions has any shape, of
    integers or floats; the result is [*positions.shape, pairs]. Angles are reduced exactly at any
    position, and entries are rounded once to dtype. low_rates are what rates of float64 have no
    room for. rates and positions of a floating type have derivatives of any order.

    Rates and positions that are not finite are refused with RuntimeError.
    """
    if rates.dim() != 1:
        raise ValueError(f"[rope] rates must have one axis, got shape {tuple(rates.shape)}")
    if positions.dtype in (torch.float16, torch.bfloat16):
        raise ValueError(
            "[rope] positions must be of integers, float32 or float64, as 16 bits "
            f"cannot count tokens, got {positions.dtype}"
        )
    if not positions.dtype.is_floating_point and positions.dtype != torch.int32:
        positions = positions.long()
    low = None if low_rates is None else low_rates.double().contiguous()
    return _ops.table(
        rates.double().contiguous(), positions.contiguous(), low, float(attention_factor), dtype
    )
