# SPDX-License-Identifier: Apache-2.0
"""What TensorFlow makes of the operators: functions, saved models, vectorization, pipelines."""

import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
import tensorflow as tf

import eigen_rope_tensorflow as er
import matrices


def python(code, *arguments, **environment):
    """The output of a program of its own."""
    done = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stdout.strip(), done.stderr


def test_functions_know_shapes(table):
    cos, sin = table(3, 1, 4, dtype=tf.float32)

    @tf.function(input_signature=[tf.TensorSpec((None, 3, None, 8))])
    def turned(x):
        y = er.rotate(x, cos, sin)
        assert y.shape.as_list() == [None, 3, None, 8]
        made = er.table(tf.ones(5), tf.zeros((2, 3)))
        assert made[0].shape == made[1].shape == (2, 3, 5)
        return y

    x = tf.random.normal((2, 3, 4, 8))
    assert (turned(x) == er.rotate(x, cos, sin)).numpy().all()
    unknown = tf.function(er.rotate, input_signature=[tf.TensorSpec(None)] * 3)
    assert (unknown(x, cos, sin) == er.rotate(x, cos, sin)).numpy().all()
    assert unknown.get_concrete_function().output_shapes.rank is None


SAVE = """
    import sys, tensorflow as tf
    import eigen_rope_tensorflow as er

    class Model(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec((None, None, 2, 8))])
        def __call__(self, x):
            cos, sin = er.table([1.0, 0.1, 0.01, 0.001], tf.range(tf.shape(x)[1]))
            return er.rotate(x, cos[:, None], sin[:, None], "interleaved")

    tf.saved_model.save(Model(), sys.argv[1])
"""


def test_saved_models(tmp_path):
    assert python(SAVE, tmp_path)[0] == 0
    without = """
        import sys, tensorflow as tf
        try:
            tf.saved_model.load(sys.argv[1])
        except Exception as error:
            print("EigenRope>" in str(error))
    """
    assert python(without, tmp_path)[1] == "True"
    model = tf.saved_model.load(tmp_path)
    x = tf.random.normal((2, 3, 2, 8))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = model(x)
    angle = np.arange(3)[:, None, None] * np.array([1.0, 0.1, 0.01, 0.001])
    table = np.cos(angle), np.sin(angle)
    np.testing.assert_allclose(y, matrices.rotate(x, *table, "interleaved"), atol=1e-6)
    expected = matrices.rotate(np.ones(x.shape), *table, "interleaved", "backward")
    np.testing.assert_allclose(tape.gradient(y, x), expected, atol=1e-6)


def test_xla_is_refused_by_tensorflow(table):
    """The sentence that docs/tensorflow.md quotes."""
    x, (cos, sin) = tf.zeros((3, 2, 8), tf.float64), table(3, 1, 4)
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        tf.function(er.rotate, jit_compile=True)(x, cos, sin)
    assert "Detected unsupported operations" in error.value.message
    assert (
        "No registered 'EigenRope>Rotate' OpKernel for XLA_CPU_JIT devices" in error.value.message
    )


def test_vectorized_map_is_one_operator(random, table):
    x = tf.constant(random.normal(size=(5, 3, 2, 8)))
    one, many = table(3, 1, 4), table(5, 3, 1, 4)
    each = tf.stack([er.rotate(x[i], many[0][i], many[1][i]) for i in range(5)])
    for axis in (-1, 2):

        def turned(x, cos, sin, axis=axis):
            return er.rotate(x, cos, sin, axis=axis)

        @tf.function
        def mapped(x, many, turned=turned):
            of_x = tf.vectorized_map(lambda x: turned(x, *one), x)
            of_both = tf.vectorized_map(lambda t: turned(*t), (x, *many))
            of_cos = tf.vectorized_map(lambda cos: turned(x[0], cos, one[1]), many[0])
            return of_x, of_both, of_cos

        of_x, of_both, of_cos = mapped(x, many)
        np.testing.assert_array_equal(of_x, er.rotate(x, *one, axis=-1))
        np.testing.assert_array_equal(of_both, each)
        np.testing.assert_array_equal(
            of_cos, tf.stack([er.rotate(x[0], each_cos, one[1]) for each_cos in many[0]])
        )
        graph = mapped.get_concrete_function(x, many).graph
        kinds = [op.type for op in graph.get_operations()]
        assert "EigenRope>Rotate" in kinds
        assert not any("While" in kind for kind in kinds)


def test_vectorized_map_of_gradients_and_tables(random, table):
    x = tf.constant(random.normal(size=(5, 3, 2, 8)))
    cos, sin = table(5, 3, 1, 4)
    rates = tf.constant(random.random(size=(5, 4)))
    positions = tf.constant(random.random(size=(5, 3)))

    def gradient(given):
        with tf.GradientTape() as tape:
            tape.watch(given)
            y = tf.reduce_sum(er.rotate(*given) ** 3)
        return tape.gradient(y, given)

    def tables(given):
        return er.table(*given, dtype=tf.float64)

    for function, given in ((gradient, (x, cos, sin)), (tables, (rates, positions))):
        together = tf.vectorized_map(function, given)
        for i in range(5):
            for a, b in zip(together, function(tuple(t[i] for t in given)), strict=True):
                np.testing.assert_allclose(a[i], b, atol=1e-12)
    together = tf.vectorized_map(lambda p: tables((rates[0], p)), positions)
    np.testing.assert_array_equal(together[0], tables((rates[0], positions))[0])


def test_maps_scans_and_pipelines(random, table):
    x = tf.constant(random.normal(size=(5, 3, 8)))
    cos, sin = table(3, 4)
    expected = er.rotate(x, cos, sin)

    def turned(x):
        return er.rotate(x, cos, sin)

    np.testing.assert_array_equal(tf.map_fn(turned, x), expected)
    sums = tf.scan(lambda sum, one: turned(sum + one), x, tf.zeros_like(x[0]))
    np.testing.assert_array_equal(sums[1], turned(turned(x[0]) + x[1]))
    dataset = tf.data.Dataset.from_tensor_slices(x).map(turned, tf.data.AUTOTUNE).batch(5)
    np.testing.assert_array_equal(next(iter(dataset)), expected)

    @tf.function
    def again(x):
        for _ in tf.range(3):
            x = turned(x)
        return x

    np.testing.assert_allclose(again(x), turned(turned(expected)), atol=1e-13)


def test_devices_and_recomputed_gradients(random, table):
    x = tf.constant(random.normal(size=(3, 2, 8)))
    cos, sin = table(3, 1, 4)
    with tf.device("/CPU:0"):
        expected = er.rotate(x, cos, sin)
    recomputed = tf.recompute_grad(lambda x: er.rotate(x, cos, sin) ** 2)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = recomputed(x)
    np.testing.assert_allclose(tape.gradient(y, x), 2 * x * 1.25**2, atol=1e-12)
    strategy = tf.distribute.OneDeviceStrategy("/CPU:0")
    np.testing.assert_array_equal(strategy.run(lambda: er.rotate(x, cos, sin)), expected)


def test_one_thread_is_enough():
    """No dead-lock with one thread in each pool, nor inside functions that run in parallel."""
    code = """
        import tensorflow as tf
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        import eigen_rope_tensorflow as er
        x = tf.random.normal((4, 600, 8, 128))
        cos, sin = er.table(tf.ones(64), tf.range(600))

        @tf.function
        def many(x):
            return tf.add_n([er.rotate(i * x, cos[:, None], sin[:, None]) for i in range(8)])

        y = many(x)
        data = tf.data.Dataset.from_tensors(x).repeat(8).map(many, 4)
        print(all(bool(tf.reduce_all(y == each)) for each in data))
    """
    assert python(code)[1] == "True"


def test_threads_of_a_program_do_not_meet(random, table):
    calls = []
    for _ in range(4):
        x = tf.constant(random.normal(size=(2, 300, 4, 64)), tf.float32)
        cos, sin = table(300, 1, 32, dtype=tf.float32)
        calls.append((x, cos, sin, er.rotate(x, cos, sin)))
    wrong = []

    def work(x, cos, sin, expected):
        for _ in range(50):
            if not (er.rotate(x, cos, sin) == expected).numpy().all():
                wrong.append("another result")
            try:
                er.rotate(x, cos[:2], sin[:2])
                wrong.append("nothing refused")
            except tf.errors.InvalidArgumentError as error:
                if "cos must have 1 or 300" not in error.message:
                    wrong.append(error.message)

    threads = [threading.Thread(target=work, args=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
