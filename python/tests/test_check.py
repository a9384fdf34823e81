# SPDX-License-Identifier: Apache-2.0
"""The gradient check, on functions whose gradients are known to be right or wrong."""

from __future__ import annotations

import numpy as np
import pytest

import eigen_rope as er

X = np.random.default_rng(7).uniform(0.5, 2.0, (3, 4))


def test_a_right_gradient_passes_by_the_complex_step():
    report = er.check_gradient(lambda v: np.exp(v) * v, lambda v, g: np.exp(v) * (v + 1) * g, X)
    assert report, report
    assert (report.verdict, report.method, report.coverage) == (
        "passed",
        "complex_step",
        "every_entry",
    )
    assert report.checked == X.size**2
    assert report.worst.bound < 1e-12


@pytest.mark.parametrize("error", [1e-6, 1.0])
def test_one_wrong_entry_is_found(error):
    def vjp(v, g):
        gradient = 2 * v * g
        gradient[1, 2] += error * g[1, 2]
        return gradient

    report = er.check_gradient(lambda v: v * v, vjp, X, names=["weights"])
    assert not report
    assert report.verdict == "failed"
    assert (report.worst.argument, report.worst.place) == ("weights", [1, 2])
    assert report.worst.output_place == [1, 2]
    assert report.worst.difference == pytest.approx(error, rel=1e-6)
    assert "d f[1, 2] / d weights[1, 2]" in str(report)


def test_several_arguments_and_numbers():
    def f(a, b, c):
        return a @ b * c

    def vjp(a, b, c, g):
        return g @ b.T * c, a.T @ g * c, np.sum(g * (a @ b))

    report = er.check_gradient(f, vjp, (X, X.T.copy(), 0.75))
    assert report, report


def test_a_gradient_that_is_given():
    assert er.check_gradient(lambda v: np.sum(v * v), 2 * X, X)
    assert not er.check_gradient(lambda v: np.sum(v * v), 2.001 * X, X)


def test_a_function_that_takes_no_complex_numbers():
    report = er.check_gradient(
        np.hypot, lambda a, b, g: (a / np.hypot(a, b) * g, b / np.hypot(a, b) * g), (X, X + 1)
    )
    assert report, report
    assert report.method == "central_differences"


def test_kinks_and_infinities_have_verdicts_of_their_own():
    at_kink = er.check_gradient(np.abs, lambda v, g: np.sign(v) * g, np.array([0.0, 1.0]))
    assert at_kink.verdict == "inconclusive"
    infinite = er.check_gradient(lambda v: v, lambda v, g: g * np.nan, X)
    assert infinite.verdict == "not_finite"


def test_the_rotation_and_its_table():
    rates = np.array([1.0, 0.3, 0.1])
    positions = er.Positions.range(1, 5)
    x = np.random.default_rng(2).standard_normal((5, 2, 6))

    def f(x, rates):
        cache = er.Cache(er.Frequencies.explicit_rates(rates), positions, dtype="f8", layout="tnd")
        return er.rotate(x, cache, "interleaved")

    def vjp(x, rates, g):
        cache = er.Cache(er.Frequencies.explicit_rates(rates), positions, dtype="f8", layout="tnd")
        d = er.gradients(g, cache, "interleaved", x=x, wanted=["angle", "dx"])
        return d.dx, er.rate_gradients(d, positions, layout="tnd")

    report = er.check_gradient(f, vjp, (x, rates), names=["x", "rates"])
    assert report, report
    wrong = er.check_gradient(
        f,
        lambda x, r, g: (vjp(x, r, g)[0], 1.01 * vjp(x, r, g)[1]),
        (x, rates),
        names=["x", "rates"],
    )
    assert wrong.worst.argument == "rates"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_adjoint(dtype):
    cache = er.Cache(er.Frequencies(er.Powers(8)), er.Positions.range(0, 3), dtype=dtype)
    x = np.ones((1, 3, 2, 8), dtype)

    def forward(v):
        return er.rotate(v, cache, "quarter")

    assert er.check_adjoint(forward, lambda w: er.rotate_backward(w, cache, "quarter"), x)
    assert not er.check_adjoint(forward, lambda w: er.rotate(w, cache, "quarter"), x)


def test_errors():
    with pytest.raises(
        ValueError, match=r"^\[rope\] the gradient of x must have shape \[3, 4\], got \[4\]$"
    ):
        er.check_gradient(lambda v: v, lambda v, g: g[0], X)
    with pytest.raises(ValueError, match=r"^\[rope\] the claim must have one gradient"):
        er.check_gradient(lambda v: v, lambda v, g: (g, g), X)
    with pytest.raises(ValueError, match=r"^\[rope\] method must be one of automatic, "):
        er.check_gradient(lambda v: v, lambda v, g: g, X, method="autodiff")
    with pytest.raises(TypeError, match=r"^\[rope\] .* must be of float32 or float64, got int64$"):
        er.check_gradient(lambda v: v, lambda v, g: g, np.arange(3))
    with pytest.raises(ZeroDivisionError):
        er.check_gradient(lambda v: v, lambda v, g: 1 // 0, X)
