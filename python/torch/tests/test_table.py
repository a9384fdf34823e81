# SPDX-License-Identifier: Apache-2.0
"""Tables: exact at any position, and differentiable in rates and positions."""

import mpmath
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

import eigen_rope_torch as er

FAR = [0, 1, 127_000, 1_048_575, -3, 2**40]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_entries_are_rounded_once(dtype):
    rates = torch.tensor([1.0, 0.1, 10000.0**-0.75], dtype=torch.float64)
    cos, sin = er.table(rates, torch.tensor(FAR), attention_factor=1.25, dtype=dtype)
    with mpmath.workdps(60):
        for i, position in enumerate(FAR):
            for k, rate in enumerate(rates.tolist()):
                angle = mpmath.mpf(rate) * position
                for entry, value in (
                    (cos[i, k], mpmath.cos(angle)),
                    (sin[i, k], mpmath.sin(angle)),
                ):
                    exact = value * mpmath.mpf(1.25)
                    off = abs(mpmath.mpf(entry.item()) - exact)
                    for towards in (-1, 1):
                        neighbour = torch.nextafter(entry, torch.full_like(entry, towards * 4.0))
                        assert off <= abs(mpmath.mpf(neighbour.item()) - exact)


def test_shape_is_that_of_positions_and_pairs():
    rates = torch.rand(5)
    for shape in ((), (3,), (2, 3), (2, 1, 3), (0,), (2, 0)):
        cos, sin = er.table(rates, torch.zeros(shape, dtype=torch.int64))
        assert cos.shape == sin.shape == (*shape, 5)
        assert cos.dtype is torch.float32


@pytest.mark.parametrize(
    "kind",
    [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.float32, torch.float64],
)
def test_positions_of_any_type(kind):
    positions = torch.tensor([[3, 5], [7, 11]]).to(kind)
    rates = torch.tensor([1.0, 0.25], dtype=torch.float64)
    cos, _ = er.table(rates, positions.t(), dtype=torch.float64)
    expected = torch.cos(positions.t().double()[..., None] * rates)
    torch.testing.assert_close(cos, expected)


def test_low_rates_add_digits():
    # One third to 32 digits; at 2^40 the digits that a double lacks move the angle by 2e-5.
    with mpmath.workdps(40):
        third = mpmath.mpf(1) / 3
        low = float(third - mpmath.mpf(float(third)))
        expected = float(mpmath.cos(third * 2**40))
    rates = torch.tensor([1 / 3], dtype=torch.float64)
    position = torch.tensor([2**40])
    cos, _ = er.table(
        rates, position, dtype=torch.float64, low_rates=torch.tensor([low], dtype=torch.float64)
    )
    assert cos.item() == pytest.approx(expected, abs=1e-15)
    assert er.table(rates, position, dtype=torch.float64)[0].item() != pytest.approx(
        expected, abs=1e-6
    )


def test_derivatives_in_rates_and_positions():
    rates = torch.rand(4, dtype=torch.float64, requires_grad=True)
    positions = torch.rand(2, 3, dtype=torch.float64).mul(9).requires_grad_()

    def made(r, p):
        return er.table(r, p, attention_factor=1.25, dtype=torch.float64)

    assert gradcheck(
        made,
        (rates, positions),
        check_forward_ad=True,
        check_batched_grad=True,
        check_batched_forward_grad=True,
    )
    assert gradgradcheck(made, (rates, positions), check_fwd_over_rev=True, check_batched_grad=True)


def test_a_learned_base_gets_its_gradient():
    x = torch.randn(6, 2, 8, dtype=torch.float64)
    exponents = -torch.arange(4, dtype=torch.float64) / 4
    positions = torch.arange(6)

    def loss(base, make):
        cos, sin = make(base**exponents)
        return er.rotate(x, cos[:, None], sin[:, None]).pow(3).sum()

    def exact(rates):
        return er.table(rates, positions, dtype=torch.float64)

    def formula(rates):
        angle = positions[:, None] * rates
        return angle.cos(), angle.sin()

    base = torch.tensor(10000.0, dtype=torch.float64, requires_grad=True)
    ours, theirs = (torch.autograd.grad(loss(base, make), base)[0] for make in (exact, formula))
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("values", [[float("nan")], [float("inf")]])
def test_what_is_not_finite_is_refused(values):
    good = torch.ones(1, dtype=torch.float64)
    bad = torch.tensor(values, dtype=torch.float64)
    with pytest.raises((RuntimeError, ValueError), match=r"\[rope\] .*finite"):
        er.table(good, bad)
    with pytest.raises((RuntimeError, ValueError), match=r"\[rope\] .*finite"):
        er.table(bad, good)
