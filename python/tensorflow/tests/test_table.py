# SPDX-License-Identifier: Apache-2.0
"""Tables: exact at any position, and differentiable; rates of other people's scalings."""

import mpmath
import numpy as np
import pytest
import tensorflow as tf

import eigen_rope_tensorflow as er
import recorded

FAR = [0, 1, 127_000, 1_048_575, -3, 2**40]


@pytest.mark.parametrize("dtype", [tf.float64, tf.float32, tf.float16, tf.bfloat16])
def test_entries_are_rounded_once(dtype):
    rates = np.array([1.0, 0.1, 10000.0**-0.75])
    cos, sin = er.table(rates, np.array(FAR), attention_factor=1.25, dtype=dtype)
    assert cos.dtype == sin.dtype == dtype
    scalar = dtype.as_numpy_dtype
    with mpmath.workdps(60):
        for i, position in enumerate(FAR):
            for k, rate in enumerate(rates.tolist()):
                angle = mpmath.mpf(rate) * position
                for entry, value in (
                    (cos[i, k].numpy(), mpmath.cos(angle)),
                    (sin[i, k].numpy(), mpmath.sin(angle)),
                ):
                    exact = value * mpmath.mpf(1.25)
                    off = abs(mpmath.mpf(float(entry)) - exact)
                    for towards in (-4, 4):
                        neighbour = np.nextafter(entry, scalar(towards))
                        assert off <= abs(mpmath.mpf(float(neighbour)) - exact)


def test_shape_is_that_of_positions_and_pairs():
    rates = tf.random.uniform((5,))
    for shape in ((), (3,), (2, 3), (2, 1, 3), (0,), (2, 0)):
        cos, sin = er.table(rates, tf.zeros(shape, tf.int64))
        assert cos.shape == sin.shape == (*shape, 5)
        assert cos.dtype == tf.float32


@pytest.mark.parametrize(
    "kind",
    [tf.int8, tf.uint8, tf.int16, tf.uint16, tf.int32, tf.int64, tf.float32, tf.float64],
)
def test_positions_of_any_type(kind):
    positions = tf.cast([[3, 5], [7, 11]], kind)
    rates = tf.constant([1.0, 0.25], tf.float64)
    cos, _ = er.table(rates, positions, dtype=tf.float64)
    expected = tf.cos(tf.cast(positions, tf.float64)[..., None] * rates)
    np.testing.assert_allclose(cos, expected, atol=1e-15)


def test_numbers_of_python_keep_their_digits():
    cos, _ = er.table([0.1], [2**40 + 1, 3], dtype=tf.float64)
    with mpmath.workdps(40):
        expected = float(mpmath.cos(mpmath.mpf(0.1) * (2**40 + 1)))
    assert cos[0, 0].numpy() == expected
    cos, _ = er.table([0.1], [0.3], dtype=tf.float64)
    assert cos[0, 0].numpy() == np.cos(0.1 * 0.3)


def test_low_rates_add_digits():
    # One third to 32 digits; at 2^40 the digits that a double lacks move the angle by 2e-5.
    with mpmath.workdps(40):
        third = mpmath.mpf(1) / 3
        low = float(third - mpmath.mpf(float(third)))
        expected = float(mpmath.cos(third * 2**40))
    cos, _ = er.table([1 / 3], [2**40], dtype=tf.float64, low_rates=[low])
    assert cos.numpy().item() == pytest.approx(expected, abs=1e-15)
    without, _ = er.table([1 / 3], [2**40], dtype=tf.float64)
    assert without.numpy().item() != pytest.approx(expected, abs=1e-6)


def made(rates, positions, factor):
    return tf.stack(er.table(rates, positions, attention_factor=factor, dtype=tf.float64))


def test_gradients_in_rates_positions_and_factor(random):
    given = [
        tf.constant(random.random(size=4)),
        tf.constant(9 * random.random(size=(2, 3))),
        tf.constant(1.25, tf.float64),
    ]

    @tf.function
    def first(*given):
        with tf.GradientTape() as tape:
            tape.watch(given)
            y = tf.reduce_sum(made(*given) ** 3)
        return tf.concat([tf.reshape(t, (-1,)) for t in tape.gradient(y, given)], 0)

    for function in (made, first):
        ours, numeric = tf.test.compute_gradient(function, given, delta=1e-4)
        for a, b in zip(ours, numeric, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_tangents_and_jacobians(random):
    rates = tf.constant(random.random(size=4))
    positions = tf.constant(9 * random.random(size=3))
    v = tf.constant(random.normal(size=4))
    with tf.autodiff.ForwardAccumulator(rates, v) as accumulator:
        cos, sin = er.table(rates, positions, dtype=tf.float64)
    angle = positions[:, None] * rates
    turned = positions[:, None] * v
    np.testing.assert_allclose(accumulator.jvp(cos), -tf.sin(angle) * turned, atol=1e-13)
    np.testing.assert_allclose(accumulator.jvp(sin), tf.cos(angle) * turned, atol=1e-13)
    for vectorized in (True, False):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(rates)
            cos, _ = er.table(rates, positions, dtype=tf.float64)
        jacobian = tape.jacobian(cos, rates, experimental_use_pfor=vectorized)
        expected = tf.linalg.diag(-tf.sin(angle) * positions[:, None])
        np.testing.assert_allclose(jacobian, expected, atol=1e-13)


def test_integer_positions_have_no_gradient():
    rates, positions = tf.constant([0.5], tf.float64), tf.constant([3])
    with tf.GradientTape() as tape:
        tape.watch((rates, positions))
        cos, _ = er.table(rates, positions)
    of_rates, of_positions = tape.gradient(cos, (rates, positions))
    assert of_rates.numpy() == pytest.approx(-3 * np.sin(1.5), rel=1e-6)
    assert of_positions is None


def test_a_learned_base_gets_its_gradient(random):
    x = tf.constant(random.normal(size=(6, 2, 8)))
    exponents = -tf.range(4, dtype=tf.float64) / 4
    positions = tf.range(6)

    def gradient(make):
        base = tf.Variable(10000.0, dtype=tf.float64)
        with tf.GradientTape() as tape:
            cos, sin = make(base**exponents)
            y = tf.reduce_sum(er.rotate(x, cos[:, None], sin[:, None]) ** 3)
        return tape.gradient(y, base)

    def formula(rates):
        angle = tf.cast(positions, tf.float64)[:, None] * rates
        return tf.cos(angle), tf.sin(angle)

    ours = gradient(lambda rates: er.table(rates, positions, dtype=tf.float64))
    np.testing.assert_allclose(ours, gradient(formula), rtol=1e-10)


def arguments_of(case):
    """Scaling, parameters and length of a recorded case, in the library's words."""
    p = case["params"]
    kind = case["type"]
    dims = p.get("dim") or p["head_dim"]
    of_all = {"rotary_dims": dims, "base": p["base"], "length": p.get("seq_len", 0)}
    if kind == "default":
        return kind, {**of_all, "rotary_dims": int(dims * p.get("partial", 1))}
    if kind == "dynamic":
        return kind, {**of_all, "factor": p["factor"], "original_context": p["max_pos"]}
    if kind == "proportional":
        return kind, {**of_all, "rotated_pairs": int(dims * p["partial"]) // 2}
    ours = {
        "factor": "factor",
        "mixed_b": "mixed_b",
        "low": "low_freq_factor",
        "high": "high_freq_factor",
        "original": "original_context",
        "orig": "original_context",
        "beta_fast": "beta_fast",
        "beta_slow": "beta_slow",
        "mscale": "mscale",
        "mscale_all_dim": "mscale_all_dim",
        "short_factor": "short_factor",
        "long_factor": "long_factor",
    }
    given = {ours[name]: value for name, value in p.items() if name in ours}
    if "truncate" in p:
        given["ends"] = "rounded" if p["truncate"] else "exact"
    return "ntk" if kind.startswith("ntk") else kind, {**of_all, **given}


SCALINGS = {k: v for k, v in recorded.index("scaling/inv_freq.json").items() if k[0] != "_"}


@pytest.mark.parametrize("name", SCALINGS)
def test_rates_of_scalings(name):
    """Formulas of other systems in 50-digit arithmetic, recorded to 20 digits."""
    case = SCALINGS[name]
    scaling, parameters = arguments_of(case)
    rates, m = er.rates(scaling, **parameters)
    assert rates.dtype == m.dtype == tf.float64
    np.testing.assert_allclose(rates, [float(r) for r in case["inv_freq"]], rtol=1e-14)
    assert m.numpy() == pytest.approx(float(case["attention_factor"]), rel=1e-14)


def test_parameters_are_numbers_lists_and_words():
    rates, m = er.rates(
        "longrope",
        rotary_dims=8,
        short_factor=[1.0, 2.0, 4.0, 8.0],
        long_factor=[8.0, 4.0, 2.0, 1.0],
        original_context=16,
        factor=2.0,
        length=8,
    )
    powers = 10000.0 ** (-np.arange(4) / 4)
    np.testing.assert_allclose(rates, powers / [1, 2, 4, 8], rtol=1e-15)
    assert m.numpy() == pytest.approx(np.sqrt(1 + np.log(2) / np.log(16)))
    longer, _ = er.rates(
        "longrope",
        rotary_dims=8,
        short_factor=[1.0, 2.0, 4.0, 8.0],
        long_factor=[8.0, 4.0, 2.0, 1.0],
        original_context=16,
        factor=2.0,
        length=17,
    )
    np.testing.assert_allclose(longer, powers / [8, 4, 2, 1], rtol=1e-15)
