# SPDX-License-Identifier: Apache-2.0
"""torch.func, torch.compile, torch.export, and what torch.library checks of an operator."""

import pytest
import torch
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap
from torch.library import opcheck

import eigen_rope_torch as er

OPS = torch.ops.eigen_rope
OPTIONS = (-1, 0, -1)


@pytest.fixture
def arguments(table):
    """x, cos, sin of float32."""
    return torch.randn(2, 3, 4, 8), *table(3, 1, 4, dtype=torch.float32)


def looped(function, *stacked):
    return torch.stack([function(*items) for items in zip(*stacked, strict=True)])


def test_vmap_over_any_argument(table):
    x = torch.randn(5, 2, 3, 4, 8)
    cos, sin = table(5, 3, 1, 4, dtype=torch.float32)
    assert torch.equal(vmap(er.rotate)(x, cos, sin), looped(er.rotate, x, cos, sin))
    alone = x[0], cos[0], sin[0]
    assert torch.equal(
        vmap(lambda c: er.rotate(alone[0], c, alone[2]))(cos),
        looped(lambda c: er.rotate(alone[0], c, alone[2]), cos),
    )
    assert torch.equal(
        vmap(lambda t: er.rotate(t, *alone[1:]))(x), looped(lambda t: er.rotate(t, *alone[1:]), x)
    )
    # An axis that lies elsewhere, and features on another axis.
    moved = vmap(lambda t: er.rotate(t, *alone[1:]), in_dims=2)(x.movedim(0, 2))
    assert torch.equal(moved, looped(lambda t: er.rotate(t, *alone[1:]), x))
    along = vmap(lambda t: er.rotate(t, cos[0, 0, :, :, None], sin[0, 0, :, :, None], axis=-2))
    z = torch.randn(5, 3, 8, 2)
    assert torch.equal(
        along(z),
        looped(lambda t: er.rotate(t, cos[0, 0, :, :, None], sin[0, 0, :, :, None], axis=-2), z),
    )


def test_vmap_of_tables():
    rates, positions = torch.rand(5, 4, dtype=torch.float64), torch.arange(15).reshape(5, 3)
    for in_dims in ((0, 0), (0, None), (None, 0)):

        def pick(t, dim, i):
            return t if dim is None else t[i]

        fixed = [
            t if dim == 0 else t[0] for t, dim in zip((rates, positions), in_dims, strict=True)
        ]
        made = vmap(er.table, in_dims=in_dims)(*fixed)
        for i in range(5):
            expected = er.table(*(pick(t, dim, i) for t, dim in zip(fixed, in_dims, strict=True)))
            assert all(torch.equal(a[i], b) for a, b in zip(made, expected, strict=True))


def test_vmap_of_in_place(arguments):
    x, cos, sin = arguments
    ours = vmap(lambda t: er.rotate_(t * 1.0, cos, sin))(x)
    assert torch.equal(ours, er.rotate(x, cos, sin))


def test_gradients_of_torch_func(table):
    x, (cos, sin) = torch.randn(3, 2, 8, dtype=torch.float64), table(3, 1, 4)

    def loss(x, cos, sin):
        return er.rotate(x, cos, sin).pow(3).sum()

    leaves = [t.clone().requires_grad_() for t in (x, cos, sin)]
    expected = torch.autograd.grad(loss(*leaves), leaves)
    for ours, theirs in zip(grad(loss, argnums=(0, 1, 2))(x, cos, sin), expected, strict=True):
        torch.testing.assert_close(ours, theirs)
    in_place = grad(lambda *t: er.rotate_(t[0] * 1.0, *t[1:]).pow(3).sum(), argnums=(0, 1, 2))
    for ours, theirs in zip(in_place(x, cos, sin), expected, strict=True):
        torch.testing.assert_close(ours, theirs)
    batch = grad(lambda x, c, s: vmap(er.rotate)(x, c, s).pow(3).sum(), argnums=(0, 1, 2))
    for ours, theirs in zip(batch(x, cos, sin), expected, strict=True):
        torch.testing.assert_close(ours, theirs)
    by_sample = vmap(grad(loss), in_dims=(0, 0, 0))(x, cos, sin)
    torch.testing.assert_close(by_sample, expected[0])


def test_jacobians_and_hessians(table):
    x, (cos, sin) = torch.randn(2, 4, dtype=torch.float64), table(2, 2)

    def turned(cos):
        return er.rotate(x, cos, sin)

    torch.testing.assert_close(jacfwd(turned)(cos), jacrev(turned)(cos))

    def loss(cos):
        return turned(cos).pow(3).sum()

    second = hessian(loss)(cos)
    torch.testing.assert_close(second, jacrev(jacrev(loss))(cos))
    torch.testing.assert_close(second, jacfwd(jacfwd(loss))(cos))
    assert second.abs().max() > 0


def test_jvp_of_a_linear_function(arguments):
    x, cos, sin = arguments
    dx = torch.randn_like(x)
    _, dy = jvp(lambda t: er.rotate(t, cos, sin), (x,), (dx,))
    assert torch.equal(dy, er.rotate(dx, cos, sin))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("requires_grad", [False, True])
def test_library_checks(table, dtype, requires_grad):
    x = torch.randn(2, 3, 4, 8).to(dtype)
    cos, sin = table(3, 1, 4, dtype=torch.float32)
    leaves = [t.requires_grad_(requires_grad) for t in (x, cos, sin)]
    opcheck(OPS.rotate.default, (*leaves, "split_half", "forward", *OPTIONS, "copy"))
    opcheck(
        OPS.rotate.default,
        (
            leaves[0].transpose(1, 2),
            cos.transpose(0, 1),
            sin.transpose(0, 1),
            "interleaved",
            "backward",
            *OPTIONS,
            "zero",
        ),
    )
    changed = x.detach().clone() if not requires_grad else x * 1.0
    opcheck(
        OPS.rotate_.default,
        (changed.detach(), cos.detach(), sin.detach(), "split_half", "forward", *OPTIONS),
    )
    opcheck(
        OPS.table_gradient.default,
        (leaves[0], x.detach() * 2, cos.detach(), "split_half", *OPTIONS),
    )
    rates = torch.rand(4, dtype=torch.float64, requires_grad=requires_grad)
    opcheck(OPS.table.default, (rates, torch.arange(3), None, 1.25, dtype))


def test_compile_without_graph_breaks(arguments):
    def layer(x, cos, sin):
        q = er.rotate(x * 2, cos, sin)
        k = er.rotate_(x * 3, cos, sin)
        return er.rotate_inverse(q + k, cos, sin)

    compiled = torch.compile(layer, fullgraph=True)
    torch.testing.assert_close(compiled(*arguments), layer(*arguments))
    leaves = [t.clone().requires_grad_() for t in arguments]
    ours, theirs = (torch.autograd.grad(f(*leaves).pow(2).sum(), leaves) for f in (compiled, layer))
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b)


def test_compile_of_an_input_in_place(arguments):
    x, cos, sin = arguments
    expected = er.rotate(x, cos, sin)
    torch.compile(lambda *t: er.rotate_(*t), fullgraph=True)(x, cos, sin)
    assert torch.equal(x, expected)


def test_compile_with_lengths_that_change(table):
    rates = torch.rand(4, dtype=torch.float64)

    def decode(x, positions):
        cos, sin = er.table(rates, positions)
        return er.rotate(x, cos[:, None], sin[:, None])

    compiled = torch.compile(decode, fullgraph=True, dynamic=True)
    for tokens in (1, 5, 9, 64):
        x, positions = torch.randn(tokens, 2, 8), torch.arange(tokens)
        torch.testing.assert_close(compiled(x, positions), decode(x, positions))


def test_compile_in_inference_mode(arguments):
    with torch.inference_mode():
        x, cos, sin = (t.clone() for t in arguments)
        expected = er.rotate_(er.rotate(x, cos, sin), cos, sin)
        compiled = torch.compile(
            lambda *t: er.rotate_(er.rotate(*t), *t[1:]), fullgraph=True, backend="aot_eager"
        )
        assert torch.equal(compiled(x, cos, sin), expected)


def test_export(arguments):
    class Layer(torch.nn.Module):
        def forward(self, x, cos, sin):
            return er.rotate(x, cos, sin)

    exported = torch.export.export(Layer(), arguments)
    assert any(node.target is OPS.rotate.default for node in exported.graph.nodes)
    assert torch.equal(exported.module()(*arguments), er.rotate(*arguments))
