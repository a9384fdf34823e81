# SPDX-License-Identifier: Apache-2.0
"""The rotation as operations of PyTorch: what tensors that are not on the CPU are rotated with.

With a pair (a, b) -> (A, B), and tables of cosines c and sines s:

    y_A = c_A x_a - s_A x_b        y_B = c_B x_b + s_B x_a

It follows the definition and the argument names of the operators; x of any rank, any strides.
"""

from __future__ import annotations

import torch
from torch import Tensor

# Which slots of a window a pair reads and writes, as pair_slots() in choices/pairing.hpp has them.
PAIRINGS = ("split_half", "interleaved", "quarter", "interleaved_to_split_half")
DIRECTIONS = ("forward", "backward", "inverse")


def _halves(width: int) -> tuple[slice, slice]:
    return slice(0, width // 2), slice(width // 2, width)


def _evens_and_odds(width: int) -> tuple[slice, slice]:
    return slice(0, width, 2), slice(1, width, 2)


def _members(t: Tensor, kind: str) -> tuple[Tensor, Tensor]:
    """The first and the second members of the pairs of a window on the last axis."""
    if kind == "quarter":
        quarters = t.unflatten(-1, (2, 2, -1))
        return quarters[..., 0, :].flatten(-2), quarters[..., 1, :].flatten(-2)
    first, second = (_halves if kind == "split_half" else _evens_and_odds)(t.shape[-1])
    return t[..., first], t[..., second]


def _joined(first: Tensor, second: Tensor, kind: str) -> Tensor:
    """The inverse of _members()."""
    if kind == "quarter":
        pieces = [m.unflatten(-1, (2, -1)) for m in (first, second)]
        return torch.stack(pieces, -2).flatten(-3)
    if kind == "split_half":
        return torch.cat((first, second), -1)
    return torch.stack((first, second), -1).flatten(-2)


def slots(pairing: str) -> tuple[str, str]:
    """How the pairs lie in what is read and in what is written."""
    if pairing == "interleaved_to_split_half":
        return "interleaved", "split_half"
    return pairing, pairing


def table_members(
    cos: Tensor, sin: Tensor, rotary_dims: int, pairing: str
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """c_A, c_B, s_A, s_B of a table whose entries are on the last axis, of either width."""
    if cos.shape[-1] != rotary_dims:
        return cos, cos, sin, sin
    kind = slots(pairing)[1]
    return *_members(cos, kind), *_members(sin, kind)


def inverse_table(cos: Tensor, sin: Tensor, rotary_dims: int, pairing: str, axis: int):
    """The table whose forward rotation is the transpose of the inverse rotation by `cos`, `sin`.

    For a pair, R = [[c_A, -s_A], [s_B, c_B]], and the transpose of its inverse is
    [[c_B, -s_B], [s_A, c_A]] / (c_A c_B + s_A s_B).
    """
    last = [t.movedim(axis, -1) for t in (cos, sin)]
    c_a, c_b, s_a, s_b = table_members(*last, rotary_dims, pairing)
    det = c_a * c_b + s_a * s_b
    if cos.shape[axis] != rotary_dims:
        inverse = (c_a / det, s_a / det)
    else:
        kind = slots(pairing)[1]
        inverse = (_joined(c_b / det, c_a / det, kind), _joined(s_b / det, s_a / det, kind))
    return tuple(t.movedim(-1, axis) for t in inverse)


def window(row: int, rotary_dims: int, offset: int) -> int:
    """The width of the window in a row of `row` elements."""
    return rotary_dims if rotary_dims >= 0 else row - offset


def check(
    x: Tensor,
    cos: Tensor,
    sin: Tensor,
    pairing: str,
    direction: str,
    rotary_dims: int,
    offset: int,
    axis: int,
) -> None:
    """Refuses what would compute something else, before anything is written."""
    if pairing not in PAIRINGS:
        raise ValueError(f"[rope] pairing must be one of {', '.join(PAIRINGS)}, got {pairing}")
    if direction not in DIRECTIONS:
        raise ValueError(
            f"[rope] direction must be one of {', '.join(DIRECTIONS)}, got {direction}"
        )
    for name, t in (("cos", cos), ("sin", sin)):
        if t.device != x.device:
            raise ValueError(f"[rope] {name} must be on x's device {x.device}, got {t.device}")
    if cos.shape != sin.shape or cos.dtype != sin.dtype:
        raise ValueError(
            f"[rope] sin must have cos's shape {tuple(cos.shape)} and type {cos.dtype}, got "
            f"{tuple(sin.shape)} and {sin.dtype}"
        )
    if not x.dtype.is_floating_point or x.dtype.itemsize < 2:
        raise ValueError(
            f"[rope] x must be of float16, bfloat16, float32 or float64, got {x.dtype}"
        )
    if cos.dtype != x.dtype and not (x.dtype.itemsize == 2 and cos.dtype == torch.float32):
        raise ValueError(
            f"[rope] the table must have x's type {x.dtype}, or float32 for an x of 16 bits, got "
            f"{cos.dtype}"
        )
    if not -x.dim() <= axis <= -1:
        raise ValueError(f"[rope] axis must be in [{-x.dim()}, -1], got {axis}")
    width = window(x.shape[axis], rotary_dims, offset)
    step = 4 if pairing == "quarter" else 2
    if width <= 0 or width % step != 0:
        raise ValueError(
            f"[rope] rotary dims must be positive and divisible by {step}, got {width}"
        )
    if offset < 0 or offset + width > x.shape[axis]:
        raise ValueError(
            f"[rope] the window must lie in a row of {x.shape[axis]}, got {width} from {offset}"
        )
    if (
        not 1 <= cos.dim() <= x.dim()
        or cos.dim() < -axis
        or cos.shape[axis] not in (width // 2, width)
    ):
        raise ValueError(
            f"[rope] the table must have {width // 2} or {width} entries on axis {axis}, got shape "
            f"{tuple(cos.shape)}"
        )
    for i in range(-cos.dim(), 0):
        if i != axis and cos.shape[i] not in (1, x.shape[i]):
            raise ValueError(
                f"[rope] the table must have 1 or {x.shape[i]} on axis {i}, got {cos.shape[i]}"
            )


def rotate(
    x: Tensor,
    cos: Tensor,
    sin: Tensor,
    pairing: str,
    direction: str,
    rotary_dims: int,
    offset: int,
    axis: int,
    outside: str,
) -> Tensor:
    """The operator `rotate` by operations of PyTorch, with one rounding to x's type."""
    check(x, cos, sin, pairing, direction, rotary_dims, offset, axis)
    row = x.shape[axis]
    width = window(row, rotary_dims, offset)
    if direction == "inverse":
        wide = [t.to(torch.promote_types(t.dtype, torch.float32)) for t in (cos, sin)]
        cos, sin = inverse_table(*wide, width, pairing, axis)
    read, written = slots(pairing) if direction == "forward" else slots(pairing)[::-1]
    compute = torch.promote_types(x.dtype, torch.float32)
    # A table of fewer axes than x has its own last ones; moving the axis needs all of them.
    cos, sin = (t[(None,) * (x.dim() - t.dim())].movedim(axis, -1).to(compute) for t in (cos, sin))
    features = x.movedim(axis, -1)
    a, b = _members(features[..., offset : offset + width].to(compute), read)
    c_a, c_b, s_a, s_b = table_members(cos, sin, width, pairing)
    if direction == "forward":
        first, second = c_a * a - s_a * b, c_b * b + s_b * a
    else:
        first, second = c_a * a + s_b * b, c_b * b - s_a * a
    turned = _joined(first, second, written).to(x.dtype)
    y = torch.empty_like(x)
    rows = y.movedim(axis, -1)
    for part in (slice(0, offset), slice(offset + width, row)):
        if outside == "copy":
            rows[..., part] = features[..., part]
        else:
            rows[..., part] = 0
    rows[..., offset : offset + width] = turned
    return y


def table_gradient(
    x: Tensor, g: Tensor, like: Tensor, pairing: str, rotary_dims: int, offset: int, axis: int
) -> tuple[Tensor, Tensor]:
    """The operator `table_gradient` by operations of PyTorch, summed in double."""
    check(x, like, like, pairing, "forward", rotary_dims, offset, axis)
    width = window(x.shape[axis], rotary_dims, offset)
    read, written = slots(pairing)
    rows = [t.movedim(axis, -1)[..., offset : offset + width].double() for t in (x, g)]
    a, b = _members(rows[0], read)
    g_a, g_b = _members(rows[1], written)
    if like.shape[axis] == width:
        of_cos = _joined(g_a * a, g_b * b, written)
        of_sin = _joined(-g_a * b, g_b * a, written)
    else:
        of_cos, of_sin = g_a * a + g_b * b, g_b * a - g_a * b
    return tuple(
        t.movedim(-1, axis).sum_to_size(like.shape).to(like.dtype).contiguous()
        for t in (of_cos, of_sin)
    )
