# SPDX-License-Identifier: Apache-2.0
"""Derivatives, backward and forward, first and second, batched, against finite differences."""

import pytest
import torch
from torch.autograd import forward_ad, gradcheck, gradgradcheck

import eigen_rope_torch as er
import matrices

WIDTHS = {"pairs": 4, "elements": 8}


def inputs(table, width):
    x = torch.randn(2, 3, 2, 11, dtype=torch.float64)
    return tuple(t.requires_grad_() for t in (x, *table(3, 1, width)))


@pytest.mark.parametrize("pairing", matrices.PAIRINGS)
@pytest.mark.parametrize("direction", ["forward", "backward", "inverse"])
@pytest.mark.parametrize("entries", WIDTHS)
def test_of_x_cos_and_sin(table, pairing, direction, entries):
    def turned(x, cos, sin):
        return er.rotate(x, cos, sin, pairing, direction=direction, rotary_dims=8, offset=1)

    leaves = inputs(table, WIDTHS[entries])
    assert gradcheck(
        turned,
        leaves,
        check_forward_ad=True,
        check_batched_grad=True,
        check_batched_forward_grad=True,
    )
    assert gradgradcheck(
        turned,
        leaves,
        check_fwd_over_rev=True,
        check_rev_over_rev=True,
        check_batched_grad=True,
        fast_mode=True,
    )


def test_along_another_axis(table):
    x = torch.randn(3, 8, 2, dtype=torch.float64, requires_grad=True)
    cos, sin = (t.requires_grad_() for t in table(3, 4, 1))
    assert gradcheck(lambda *t: er.rotate(*t, axis=1), (x, cos, sin), check_forward_ad=True)
    assert gradgradcheck(lambda *t: er.rotate(*t, axis=1), (x, cos, sin))


@pytest.mark.parametrize("direction", ["forward", "backward", "inverse"])
def test_in_place(table, direction):
    def turned(x, cos, sin):
        return er.rotate_(x * 1.0, cos, sin, direction=direction, rotary_dims=8)

    leaves = inputs(table, 4)
    assert gradcheck(turned, leaves, check_forward_ad=True)
    assert gradgradcheck(turned, leaves)


def test_in_place_of_a_view_changes_its_base(table):
    leaves = inputs(table, 4)

    def whole(x, cos, sin, inplace):
        base = x * 1.0
        part = base[:, :, 1:, 1:9]
        turned = (er.rotate_ if inplace else er.rotate)(part, cos, sin)
        if not inplace:
            base = torch.cat(
                (base[:, :, :1], torch.cat((base[:, :, 1:, :1], turned, base[:, :, 1:, 9:]), -1)), 2
            )
        return base.square().sum()

    ours = torch.autograd.grad(whole(*leaves, True), leaves)
    theirs = torch.autograd.grad(whole(*leaves, False), leaves)
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b)


def test_in_place_is_seen_by_other_uses(table):
    x, cos, sin = inputs(table, 4)
    y = x.exp()  # exp keeps its result for its backward
    er.rotate_(y, cos, sin, rotary_dims=8)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    z = torch.zeros(3, 2, 8, dtype=torch.float64)
    version = z._version
    er.rotate_(z, cos.detach(), sin.detach())
    assert z._version == version + 1
    with torch.inference_mode():
        er.rotate_(z, cos.detach(), sin.detach())
    assert z._version == version + 2


def test_backward_keeps_x_only_for_a_learned_table(table):
    x, cos, sin = inputs(table, 4)
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.shape), lambda _: None):
        er.rotate(x, cos.detach(), sin.detach(), rotary_dims=8)
    assert x.shape not in kept
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.shape), lambda _: None):
        er.rotate(x, cos, sin, rotary_dims=8)
    assert x.shape in kept


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sums_of_16_bits_are_rounded_once(dtype):
    # 4096 rows share a table's row: a sum in 16 bits would stop growing at 256 or 2048.
    x = torch.ones(4096, 8, dtype=dtype)
    cos, sin = (t.requires_grad_() for t in (torch.ones(4), torch.zeros(4)))
    er.rotate(x, cos, sin).sum().backward()
    assert torch.equal(cos.grad, torch.full((4,), 8192.0))
    assert torch.equal(sin.grad, torch.zeros(4))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradient_of_a_broadcast_table_has_its_shape(table, dtype):
    x = torch.randn(2, 3, 2, 8, dtype=dtype)
    for shape in ((4,), (3, 1, 4), (1, 1, 4), (2, 1, 2, 4)):
        cos, sin = (t.requires_grad_() for t in table(*shape, dtype=dtype))
        er.rotate(x, cos, sin).square().sum().backward()
        assert cos.grad.shape == sin.grad.shape == shape


def test_forward_mode_without_torch_func(table):
    x, cos, sin = (t.detach() for t in inputs(table, 4))
    dx, dcos = torch.randn_like(x), torch.randn_like(cos)
    with forward_ad.dual_level():
        y = er.rotate(
            forward_ad.make_dual(x, dx), forward_ad.make_dual(cos, dcos), sin, rotary_dims=8
        )
        dy = forward_ad.unpack_dual(y).tangent
    # Bilinear, but for what is copied: R(x + dx, c + dc) - R(x, c) - R(dx, dc).
    both = er.rotate(x + dx, cos + dcos, sin, rotary_dims=8)
    second = er.rotate(dx, dcos, torch.zeros_like(sin), rotary_dims=8)
    expected = both - er.rotate(x, cos, sin, rotary_dims=8) - second
    torch.testing.assert_close(dy[..., :8], expected[..., :8])
    assert torch.equal(dy[..., 8:], dx[..., 8:])
