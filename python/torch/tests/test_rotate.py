# SPDX-License-Identifier: Apache-2.0
"""Values: every pairing, direction, window, axis, scalar and stride against the definition."""

import pytest
import torch

import eigen_rope_torch as er
import matrices

# One rounding of the result and, for 16 bits, of nothing else: tables are float.
EPSILON = {torch.float64: 2e-15, torch.float32: 1e-6, torch.float16: 1e-3, torch.bfloat16: 8e-3}


def assert_is(y, expected, dtype=torch.float64):
    expected = torch.from_numpy(expected)
    assert y.dtype == dtype
    torch.testing.assert_close(
        y.double(), expected, rtol=EPSILON[dtype], atol=EPSILON[dtype] * expected.abs().max().item()
    )


@pytest.mark.parametrize("pairing", matrices.PAIRINGS)
@pytest.mark.parametrize("direction", ["forward", "backward", "inverse"])
@pytest.mark.parametrize("entries", ["pairs", "elements"])
def test_turns_pairs_as_defined(table, pairing, direction, entries):
    x = torch.randn(2, 3, 4, 13, dtype=torch.float64)
    cos, sin = table(3, 1, 4 if entries == "pairs" else 8)
    y = er.rotate(x, cos, sin, pairing, direction=direction, rotary_dims=8, offset=2)
    assert_is(y, matrices.rotate(x, cos, sin, pairing, direction, 8, 2))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_rounds_the_result_once(table, dtype):
    x = torch.randn(5, 2, 64).to(dtype)
    cos, sin = table(5, 1, 32, dtype=torch.float32)
    expected = matrices.rotate(x.double(), cos, sin)
    y = er.rotate(x, cos, sin)
    assert_is(y, expected, dtype)
    if dtype is not torch.float32:
        # Float products and sums lie within 2^-22 of the value, so few results can differ from the
        # value that is rounded once from double.
        once = torch.from_numpy(expected).to(dtype)
        assert (y == once).double().mean() > 0.999


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_takes_a_table_of_the_same_scalar(table, dtype):
    x = torch.randn(3, 2, 16).to(dtype)
    cos, sin = table(3, 1, 8, dtype=dtype)
    assert_is(
        er.rotate(x, cos, sin), matrices.rotate(x.double(), cos.double(), sin.double()), dtype
    )


@pytest.mark.parametrize("axis", [-1, -2, -3, 0, 1])
def test_rotates_along_any_axis(table, axis):
    x = torch.randn(4, 6, 8, dtype=torch.float64)
    shape = [1, 6, 1]
    last = axis - 3 if axis >= 0 else axis
    shape[last] = x.shape[axis] // 2
    cos, sin = table(*shape)
    expected = matrices.rotate(x.movedim(axis, -1), cos.movedim(axis, -1), sin.movedim(axis, -1))
    y = er.rotate(x, cos, sin, axis=axis)
    assert_is(y.movedim(axis, -1).contiguous(), expected)


def views(x):
    """Tensors of x's values that lie in memory in other ways."""
    fused = torch.randn(2, 3, 3, 4, 8, dtype=x.dtype)
    fused[:, :, 1] = x
    yield "part of a fused projection", fused[:, :, 1]
    yield "heads before tokens", x.transpose(1, 2).contiguous().transpose(1, 2)
    yield "every second feature", torch.stack((x, x), -1).flatten(-2)[..., ::2]
    yield "features slowest", x.permute(3, 0, 1, 2).contiguous().permute(1, 2, 3, 0)


def test_strides_do_not_change_values_and_are_kept(table):
    x = torch.randn(2, 3, 4, 8, dtype=torch.float64)
    cos, sin = table(3, 1, 4)
    expected = matrices.rotate(x, cos, sin)
    for name, view in views(x):
        before = view.data_ptr(), view.stride()
        y = er.rotate(view, cos, sin)
        assert_is(y, expected)
        assert y.stride() == torch.empty_like(view).stride(), name
        assert er.rotate_(view, cos, sin) is view
        assert (view.data_ptr(), view.stride()) == before, name
        assert_is(view, expected)


def test_results_have_the_strides_of_empty_like(table):
    generator = torch.Generator().manual_seed(3)
    for _ in range(200):
        rank = int(torch.randint(1, 5, (), generator=generator))
        sizes = torch.randint(1, 4, (rank,), generator=generator).tolist()
        sizes[-1] = 2 * sizes[-1]
        order = torch.randperm(rank, generator=generator)
        x = torch.randn([sizes[i] for i in order], generator=generator)
        x = x.permute(*torch.argsort(order).tolist())
        if rank > 1 and int(torch.randint(2, (), generator=generator)):
            x = torch.cat((x, x), 0)[: x.shape[0]]
        cos, sin = table(x.shape[-1] // 2, dtype=torch.float32)
        assert er.rotate(x, cos, sin).stride() == torch.empty_like(x).stride()


def test_repeated_elements_can_be_read(table):
    x = torch.randn(1, 1, 8, dtype=torch.float64).expand(3, 2, 8)
    cos, sin = table(1, 1, 4)
    wide = cos.expand(3, 2, 4), sin.expand(3, 2, 4)
    expected = matrices.rotate(x, cos, sin)
    assert_is(er.rotate(x, *wide), expected)
    ones = torch.ones(1, dtype=torch.float64).expand(3, 2, 8)
    assert_is(er.rotate(ones, cos, sin), matrices.rotate(ones, cos, sin))
    assert_is(er.rotate(x, wide[0], sin.contiguous().expand(3, 2, 4).contiguous()), expected)


def test_empty_tensors_stay_empty(table):
    cos, sin = table(1, 1, 4)
    for shape in ((0, 2, 8), (3, 0, 8)):
        x = torch.empty(shape, dtype=torch.float64)
        assert er.rotate(x, cos, sin).shape == shape
        assert er.rotate_(x, cos, sin).shape == shape


def test_inverse_undoes_forward_and_backward_does_not(table):
    x = torch.randn(3, 2, 8, dtype=torch.float64)
    cos, sin = table(3, 1, 4, m=1.25)
    y = er.rotate(x, cos, sin)
    torch.testing.assert_close(er.rotate_inverse(y, cos, sin), x)
    torch.testing.assert_close(er.rotate_backward(y, cos, sin), 1.25**2 * x)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_do_not_change_bits(table, threads):
    x = torch.randn(2, 700, 8, 128)
    cos, sin = table(700, 1, 64, dtype=torch.float32)
    before = torch.get_num_threads()
    expected = er.rotate(x[:1, :1], cos[:1], sin[:1])
    try:
        torch.set_num_threads(threads)
        y = er.rotate(x, cos, sin)
        one_by_one = torch.stack([er.rotate(x[:, t], cos[t], sin[t]) for t in range(700)], 1)
    finally:
        torch.set_num_threads(before)
    assert torch.equal(y, one_by_one)
    assert torch.equal(y[:1, :1], expected)
