# SPDX-License-Identifier: Apache-2.0
"""What rotates tensors of other devices: PyTorch's operations, here on the CPU and, where there is
one, on a GPU."""

import pytest
import torch

import eigen_rope_torch as er
import matrices
from eigen_rope_torch import _formula

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("pairing", matrices.PAIRINGS)
@pytest.mark.parametrize("direction", ["forward", "backward", "inverse"])
@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_formula_is_the_definition(table, device, pairing, direction, width, dtype):
    x = torch.randn(2, 3, 4, 11).to(dtype)
    cos, sin = table(3, 1, width, dtype=torch.promote_types(dtype, torch.float32))
    expected = matrices.rotate(x.double(), cos, sin, pairing, direction, 8, 1)
    here = [t.to(device) for t in (x, cos, sin)]
    y = _formula.rotate(*here, pairing, direction, 8, 1, -1, "copy")
    assert y.device.type == device
    error = 2**-8 if dtype is torch.bfloat16 else 1e-14
    torch.testing.assert_close(
        y.double().cpu(), torch.from_numpy(expected), rtol=error, atol=10 * error
    )
    zero = _formula.rotate(*here, pairing, direction, 8, 1, -1, "zero")
    assert not zero[..., [0, 9, 10]].any()
    assert torch.equal(zero[..., 1:9], y[..., 1:9])


@pytest.mark.parametrize("axis", [-1, -2, -3])
def test_formula_rotates_along_any_axis(table, axis):
    x = torch.randn(4, 6, 8, dtype=torch.float64)
    shape = [1, 6, 1]
    shape[axis] = x.shape[axis] // 2
    cos, sin = table(*shape)
    options = ("split_half", "forward", -1, 0, axis)
    torch.testing.assert_close(
        _formula.rotate(x, cos, sin, *options, "copy"), er.rotate(x, cos, sin, axis=axis)
    )


@pytest.mark.parametrize("pairing", matrices.PAIRINGS)
@pytest.mark.parametrize("width", [4, 8])
def test_table_gradient_is_what_autograd_makes_of_the_formula(table, pairing, width):
    x, g = torch.randn(2, 2, 3, 4, 8, dtype=torch.float64)
    cos, sin = (t.requires_grad_() for t in table(3, 1, width))
    y = _formula.rotate(x, cos, sin, pairing, "forward", -1, 0, -1, "copy")
    expected = torch.autograd.grad(y, (cos, sin), g)
    for made in (
        _formula.table_gradient(x, g, cos.detach(), pairing, -1, 0, -1),
        torch.ops.eigen_rope.table_gradient(x, g, cos.detach(), pairing, -1, 0, -1),
    ):
        for ours, theirs in zip(made, expected, strict=True):
            torch.testing.assert_close(ours, theirs)


if torch.cuda.is_available():

    def test_operators_on_a_gpu(table):
        x = torch.randn(2, 3, 4, 8)
        cos, sin = table(3, 1, 4, dtype=torch.float32)
        there = [t.cuda().requires_grad_() for t in (x, cos, sin)]
        here = [t.requires_grad_() for t in (x, cos, sin)]
        g = torch.randn_like(x)
        ours = torch.autograd.grad(er.rotate(*there), there, g.cuda())
        theirs = torch.autograd.grad(er.rotate(*here), here, g)
        for a, b in zip(ours, theirs, strict=True):
            torch.testing.assert_close(a.cpu(), b)
        moved = x.detach().cuda()
        torch.testing.assert_close(
            er.rotate_(moved, *(t.detach() for t in there[1:])).cpu(), er.rotate(*here).detach()
        )
        rates = torch.rand(4, dtype=torch.float64)
        for a, b in zip(
            er.table(rates.cuda(), torch.arange(5).cuda()),
            er.table(rates, torch.arange(5)),
            strict=True,
        ):
            assert torch.equal(a.cpu(), b)
        with pytest.raises(ValueError, match="cos must be on x's device"):
            er.rotate(there[0], *here[1:])
        half = torch.compile(lambda a, c, s: er.rotate(a * 2, c, s), fullgraph=True)
        torch.testing.assert_close(half(*there).cpu(), 2 * er.rotate(*here))
